/* Records loads, stores and multiply-adds of one group's items, for the traces of `tesela explain`.
 *
 * Arguments: operation (g, t, d), type size, m, n, k; for A, B and C 1 if it lies column by column, else 0;
 * groups x y z, items x y z; the group, or -1; row and column of an element of the result. With group -1 all
 * groups run first, to find the item that stores the element.
 *
 * Each element of A and B has a value of its own, so that a product's factors tell which elements they are.
 * Each element of C is a half, which no element of A or B is.
 *
 * Output, a line each, in order: "A number is_local rows columns name" is an array, before its first use.
 * "L item interval array row column" is a load. "S item
 * interval array row column operand row column" is a store of an element of operand 0 or 1 (-1: of another
 * number). "M item interval row column row column" is
 * a multiply-add of an element of A and one of B. "G group item" is the item that stores the element. "E" is
 * the end. */
#include "detector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lab_multiply_add(double a, double b);

enum { FIRST = 2, ARRAYS = 32 }; /* 0 and 1 are padding and factors */

static struct {
  array *list;
  long rows, cols;
  bool by_columns;
} operands[3];
static const array *known[ARRAYS];
static int known_count;
static bool is_recording;
static long wanted_row, wanted_col;
static int found_group = -1, found_item = -1;

static int find_operand(const array *list) {
  for (int i = 0; i < 3; i++)
    if (operands[i].list == list)
      return i;
  return -1;
}

/* Gets the place of an index: of an operand that lies by columns, rows and columns are exchanged. */
static void find_place(const array *list, long index, long *row, long *col) {
  const int operand = find_operand(list);
  *row = index / list->pitch;
  *col = index % list->pitch;
  if (operand >= 0 && operands[operand].by_columns) {
    *row = index % list->pitch;
    *col = index / list->pitch;
  }
}

static int number_of(const array *list) {
  int i = 0;
  while (i < known_count && known[i] != list)
    i++;
  if (i == known_count && i < ARRAYS) {
    const int operand = find_operand(list);
    known[known_count++] = list;
    printf("A %d %d %ld %ld %s\n", i, list->is_local, operand >= 0 ? operands[operand].rows : list->rows,
           operand >= 0 ? operands[operand].cols : list->pitch, list->name);
  }
  return i;
}

/* Gets the place of a value of operand 0 or 1; false: it is another number. */
static bool decode(int operand, double value, long *row, long *col) {
  const double number = (operand == 0 ? value : -value) - FIRST;
  const long cols = operands[operand].cols;
  if (!operands[operand].list || !(number >= 0 && number < (double)(operands[operand].rows * cols)) ||
      number != (double)(long)number)
    return false;
  *row = (long)number / cols;
  *col = (long)number % cols;
  return true;
}

/* The latest store, which is printed when its value is in memory: at the next event. */
static struct {
  const array *list;
  long index;
  use by;
} pending;

/* Returns true if stores to the array keep elements of A and B, not sums. */
static bool keeps_elements(const array *list) {
  return lab_job.op == 't' || (lab_job.op == 'g' && list->is_local);
}

static void print_pending(void) {
  const array *list = pending.list;
  long row, col, from_row = 0, from_col = 0;
  int from = -1;
  if (!list)
    return;
  pending.list = NULL;
  find_place(list, pending.index, &row, &col);
  const double value = list->element == 8 ? ((double *)(void *)list->start)[pending.index]
                                          : ((float *)(void *)list->start)[pending.index];
  for (int i = 0; i < 2 && from < 0 && keeps_elements(list); i++)
    from = decode(i, value, &from_row, &from_col) ? i : -1;
  printf("S %d %u %d %ld %ld %d %ld %ld\n", pending.by.item, pending.by.interval, number_of(list), row, col,
         from, from_row, from_col);
}

static void note_use(const array *list, long index, bool is_write, const use *by) {
  long row, col;
  find_place(list, index, &row, &col);
  if (!is_recording) {
    if (is_write && list == operands[2].list && row == wanted_row && col == wanted_col) {
      found_group = by->group;
      found_item = by->item;
    }
    return;
  }
  print_pending();
  if (is_write) {
    pending.list = list;
    pending.index = index;
    pending.by = *by;
    return;
  }
  const int number = number_of(list);
  printf("L %d %u %d %ld %ld\n", by->item, by->interval, number, row, col);
}

void lab_multiply_add(double a, double b) {
  long row[2], col[2];
  print_pending();
  if (is_recording && ((decode(0, a, &row[0], &col[0]) && decode(1, b, &row[1], &col[1])) ||
                       (decode(0, b, &row[0], &col[0]) && decode(1, a, &row[1], &col[1]))))
    printf("M %d %u %ld %ld %ld %ld\n", lab_now()->item, lab_now()->interval, row[0], col[0], row[1], col[1]);
}

static void add_operand(int number, const char *name, long rows, long cols, bool by_columns) {
  operands[number].rows = rows;
  operands[number].cols = cols;
  operands[number].by_columns = by_columns;
  array *list =
      by_columns ? lab_add_operand(name, cols, rows, rows) : lab_add_operand(name, rows, cols, cols);
  operands[number].list = list;
  list->is_input = number < 2;
  list->is_result = number == 2;
  for (long i = 0; i < list->count; i++) {
    long row, col;
    find_place(list, i, &row, &col);
    const double code = (double)(FIRST + row * cols + col);
    const double value = (const double[]){code, -code, 0.5}[number];
    if (list->element == 8)
      ((double *)(void *)list->start)[i] = value;
    else
      ((float *)(void *)list->start)[i] = (float)value;
  }
}

int main(int count, char **words) {
  if (count < 18)
    return 2;
  long numbers[17];
  for (int i = 2; i < 18; i++)
    numbers[i - 1] = atol(words[i]);
  const char op = lab_job.op = words[1][0];
  const long m = numbers[2], n = numbers[3], k = numbers[4];
  const bool *by_columns = (const bool[]){numbers[5], numbers[6], numbers[7]};
  lab_job.size = (size_t)numbers[1];
  lab_groups = (lab_vector){(unsigned)numbers[8], (unsigned)numbers[9], (unsigned)numbers[10]};
  lab_items = (lab_vector){(unsigned)numbers[11], (unsigned)numbers[12], (unsigned)numbers[13]};
  int group = (int)numbers[14];
  wanted_row = numbers[15];
  wanted_col = numbers[16];
  lab_start();
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  if (op == 'd') {
    add_operand(0, "x", 1, k, false);
    add_operand(1, "y", 1, k, false);
    add_operand(2, "sums", 1, (long)lab_groups.x, false);
  } else {
    add_operand(0, "A", op == 't' ? n : m, op == 't' ? m : k, by_columns[0]);
    if (op == 'g')
      add_operand(1, "B", k, n, by_columns[1]);
    add_operand(2, "C", m, n, by_columns[2]);
  }
  lab_on_use = note_use;
  if (group < 0) {
    lab_run_all();
    group = found_group;
    printf("G %d %d\n", found_group, found_item);
  }
  is_recording = true;
  if (group >= 0)
    lab_run_group((unsigned)group);
  print_pending();
  printf("E\n");
  return 0;
}
