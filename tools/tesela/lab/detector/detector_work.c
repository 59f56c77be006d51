/* The detector's program: data of a run, references, and guesses from a wrong result.
 *
 * Arguments: operation, type size, m, n, k, lda, ldb, ldc, alpha, beta; groups x y z, items x y z. Then
 * order, data, tile, and elements of each local argument.
 *
 * Output, a line each: "F|kind|sentence" is a fault, "H|kind|sentence" a guess from the result. "T" is as
 * "F", but uncertain. "W|kind|sentence" is the first wrong element, "C|..." the counts. In sentences "@1234"
 * is a code address, "@@" the address of the next line "A|1234", and "{7:12}" the array at a line and column.
 */
#include "detector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- data and references --- */

static uint64_t seed = 88172645463325252u;
static double next_value(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  if (lab_job.is_real)
    return (double)(seed >> 11) / 9007199254740992.0 - 0.5;
  const int whole = (int)(seed >> 33) % 4 + 1; /* never 0, so that each element counts */
  return seed >> 60 & 1 ? whole : -whole;
}

static double get(const array *list, long index) {
  return list->element == 8 ? ((double *)(void *)list->start)[index] : ((float *)(void *)list->start)[index];
}

static void put(array *list, long index, double value) {
  if (list->element == 8)
    ((double *)(void *)list->start)[index] = value;
  else
    ((float *)(void *)list->start)[index] = (float)value;
}

static void fill(array *list) {
  list->is_input = true;
  for (long i = 0; i < list->count; i++)
    put(list, i, next_value());
}

/* Ways to read or write a matrix: right, rows and columns exchanged, exchanged inside of each tile. */
typedef enum way { RIGHT, SWAPPED, TILE_SWAPPED, WAYS } way;

static void turn(way how, long *row, long *col) {
  const long tile = lab_job.tile, r = *row, c = *col;
  if (how == SWAPPED) {
    *row = c;
    *col = r;
  } else if (how == TILE_SWAPPED) {
    *row = r / tile * tile + c % tile;
    *col = c / tile * tile + r % tile;
  }
}

typedef struct guess {
  way a, b, c;
  long a_pitch, b_pitch, c_pitch;
} guess;

/* Returns element (row, col) of alpha A B + beta C0 under a guess; NaN outside of the operands. */
static double product(const guess *guess, const array *a, const array *b, const double *c0, long row,
                      long col, double *magnitude) {
  double sum = 0, sizes = 0;
  for (long l = 0; l < lab_job.k; l++) {
    long ar = row, ac = l, br = l, bc = col;
    turn(guess->a, &ar, &ac);
    turn(guess->b, &br, &bc);
    const long ai = ar * guess->a_pitch + ac, bi = br * guess->b_pitch + bc;
    if (ai >= a->count || bi >= b->count)
      return NAN;
    sum += get(a, ai) * get(b, bi);
    sizes += fabs(get(a, ai) * get(b, bi));
  }
  const double added = lab_job.beta != 0 ? lab_job.beta * c0[row * lab_job.ldc + col] : 0;
  if (magnitude)
    *magnitude = fabs(lab_job.alpha) * sizes + fabs(added);
  return lab_job.alpha * sum + added;
}

/* Returns true if the guess computes the whole result. */
static bool guess_fits(const guess *guess, const array *a, const array *b, const double *c0, const array *c) {
  for (long row = 0; row < lab_job.m; row++)
    for (long col = 0; col < lab_job.n; col++) {
      long r = row, k = col;
      turn(guess->c, &r, &k);
      const long at = r * guess->c_pitch + k;
      if (at >= c->count || !(get(c, at) == product(guess, a, b, c0, row, col, NULL)))
        return false;
    }
  return true;
}

static void guess_swaps(const array *a, const array *b, const double *c0, const array *c) {
  static const char *const words[] = {"", N_("rows and columns of %s are exchanged"),
                                      N_("rows and columns of %s are exchanged inside of each tile")};
  guess next = {.a_pitch = lab_job.lda, .b_pitch = lab_job.ldb, .c_pitch = lab_job.ldc};
  for (int swaps = 1; swaps < WAYS * WAYS * WAYS; swaps++) {
    char text[3][96] = {"", "", ""};
    const int ways[] = {swaps % WAYS, swaps / WAYS % WAYS, swaps / WAYS / WAYS};
    next.a = (way)ways[0], next.b = (way)ways[1], next.c = (way)ways[2];
    if (!guess_fits(&next, a, b, c0, c))
      continue;
    for (int i = 0; i < 3; i++)
      snprintf(text[i], sizeof text[i], words[ways[i]], i == 0 ? "a" : i == 1 ? "b" : "c");
    printf("H|" N_("swapped indices") "|" N_("%s%s%s%s%s: this gives exactly the result") "\n", text[0],
           *text[0] && (*text[1] || *text[2]) ? ", " : "", text[1], *text[1] && *text[2] ? ", " : "",
           text[2]);
    return;
  }
}

static void guess_strides(const array *a, const array *b, const double *c0, const array *c) {
  static const char *const names[] = {"m", "n", "k", "lda", "ldb", "ldc"};
  const long values[] = {lab_job.m, lab_job.n, lab_job.k, lab_job.lda, lab_job.ldb, lab_job.ldc};
  const long rights[] = {lab_job.lda, lab_job.ldb, lab_job.ldc};
  for (int operand = 0; operand < 3; operand++)
    for (int i = 0; i < 6; i++) {
      guess next = {.a_pitch = lab_job.lda, .b_pitch = lab_job.ldb, .c_pitch = lab_job.ldc};
      long *pitch[] = {&next.a_pitch, &next.b_pitch, &next.c_pitch};
      if (values[i] == rights[operand] || (operand == 2 && values[i] < lab_job.n))
        continue;
      *pitch[operand] = values[i];
      if (guess_fits(&next, a, b, c0, c)) {
        printf("H|" N_("wrong stride") "|" N_(
                   "the rows of %c are taken to be %s = %ld elements apart; %ld would be right") "\n",
               "abc"[operand], names[i], values[i], rights[operand]);
        return;
      }
    }
}

/* Reports the first wrong element. Returns the largest error, as a fraction of the sum of magnitudes. */
static double check_product(const array *a, const array *b, const double *c0, const array *c) {
  const guess right = {.a_pitch = lab_job.lda, .b_pitch = lab_job.ldb, .c_pitch = lab_job.ldc};
  const double unit = lab_job.size == 8 ? 1.2e-16 : 6e-8;
  const double allowed = lab_job.is_real ? (double)(lab_job.k + 4) * unit : 0;
  long wrong = 0, row0 = 0, col0 = 0;
  double worst = 0, got = 0, expected = 0;
  for (long row = 0; row < lab_job.m; row++)
    for (long col = 0; col < lab_job.n; col++) {
      double magnitude;
      const double value = get(c, row * lab_job.ldc + col);
      const double reference = product(&right, a, b, c0, row, col, &magnitude);
      const double error = magnitude > 0 ? fabs(value - reference) / magnitude : fabs(value - reference);
      worst = error > worst ? error : worst;
      if (error <= allowed)
        continue;
      if (wrong++ == 0) {
        row0 = row, col0 = col, got = value, expected = reference;
      }
    }
  if (wrong > 0)
    printf("W|" N_("wrong result") "|" N_(
               "C(%ld, %ld) is %.9g, %.9g would be right; %ld of %ld elements are wrong where m = %ld, n = "
               "%ld, k = %ld, lda = %ld, ldb = %ld, ldc = %ld, alpha = %g, beta = %g") "\n",
           row0, col0, isnan(got) ? fabs(got) : got, expected, wrong, lab_job.m * lab_job.n, lab_job.m,
           lab_job.n, lab_job.k, lab_job.lda, lab_job.ldb, lab_job.ldc, lab_job.alpha, lab_job.beta);
  return wrong > 0 ? worst : 0;
}

static void guess_precision(double error) {
  if (lab_job.size == 8 && lab_job.is_real && error > 1e-13 && error < 1e-4)
    printf(
        "H|" N_("float for double") "|" N_("errors are as large as float's (%.2g of the sum): a sum, a "
                                           "constant or a local array is float; double would be right") "\n",
        error);
}

/* --- operations --- */

static void work_gemm(void) {
  array *a = lab_add_operand("a", lab_job.m, lab_job.k, lab_job.lda),
        *b = lab_add_operand("b", lab_job.k, lab_job.n, lab_job.ldb);
  array *c = lab_add_operand("c", lab_job.m, lab_job.n, lab_job.ldc);
  double *c0 = calloc((size_t)c->count + 1, sizeof *c0);
  fill(a);
  fill(b);
  for (long i = 0; i < c->count; i++) {
    c0[i] = lab_job.beta != 0 ? next_value() : NAN;
    put(c, i, c0[i]);
  }
  c->is_input = lab_job.beta != 0;
  c->is_result = true;
  lab_run_all();
  lab_tell_memory();
  const double error = check_product(a, b, c0, c);
  if (!(error == 0)) {
    guess_precision(error);
    if (lab_job.m == lab_job.n && lab_job.n == lab_job.k && lab_job.beta == 0)
      guess_swaps(a, b, c0, c);
    guess_strides(a, b, c0, c);
  }
  lab_tell_counts((double)lab_job.m * (double)lab_job.n * (double)lab_job.k);
}

static void work_dot(void) {
  array *x = lab_add_operand("x", 1, lab_job.k, lab_job.k),
        *y = lab_add_operand("y", 1, lab_job.k, lab_job.k);
  const long groups = (long)(lab_groups.x * lab_groups.y * lab_groups.z);
  array *sums = lab_add_operand("sums", 1, groups, groups);
  double sum = 0, expected = 0, magnitude = 0;
  fill(x);
  fill(y);
  memset(sums->start, 0xff, (size_t)sums->count * sums->element);
  sums->is_result = true;
  lab_run_all();
  lab_tell_memory();
  for (long i = 0; i < groups; i++)
    sum += get(sums, i);
  for (long i = 0; i < lab_job.k; i++) {
    expected += get(x, i) * get(y, i);
    magnitude += fabs(get(x, i) * get(y, i));
  }
  const double error = fabs(sum - expected) / (magnitude > 0 ? magnitude : 1);
  if (!(error <= (lab_job.is_real ? (double)(lab_job.k + 4) * (lab_job.size == 8 ? 1.2e-16 : 6e-8) : 0))) {
    printf("W|" N_("wrong result") "|" N_("the sum is %.12g, %.12g would be right, for %ld elements") "\n",
           isnan(sum) ? fabs(sum) : sum, expected, lab_job.k);
    guess_precision(error);
  }
  lab_tell_counts((double)lab_job.k);
}

static void work_transpose(void) {
  array *a = lab_add_operand("a", lab_job.n, lab_job.m, lab_job.lda),
        *c = lab_add_operand("c", lab_job.m, lab_job.n, lab_job.ldc);
  long wrong = 0, row0 = 0, col0 = 0;
  bool is_copy = lab_job.m == lab_job.n;
  fill(a);
  memset(c->start, 0xff, (size_t)c->count * c->element);
  c->is_result = true;
  for (long row = 0; row < lab_job.n; row++)
    for (long col = 0; col < lab_job.m; col++)
      put(a, row * lab_job.lda + col, (double)(row * 1000 + col));
  lab_run_all();
  lab_tell_memory();
  for (long row = 0; row < lab_job.m; row++)
    for (long col = 0; col < lab_job.n; col++) {
      const double value = get(c, row * lab_job.ldc + col);
      is_copy &= value == (double)(row * 1000 + col);
      if (!(value == (double)(col * 1000 + row)) && wrong++ == 0)
        row0 = row, col0 = col;
    }
  if (wrong > 0) {
    const double value = get(c, row0 * lab_job.ldc + col0);
    printf("W|" N_("wrong result") "|" N_(
               "C(%ld, %ld) is wrong, A(%ld, %ld) would be right; %ld of %ld elements are wrong") "\n",
           row0, col0, col0, row0, wrong, lab_job.m * lab_job.n);
    if (is_copy)
      printf("H|" N_("swapped indices") "|" N_(
          "the result is A itself: rows and columns were not exchanged") "\n");
    else if (value >= 0 && value < (double)(lab_job.n * 1000))
      printf("H|" N_("wrong element") "|" N_("C(%ld, %ld) has element (%ld, %ld) of A") "\n", row0, col0,
             (long)value / 1000, (long)value % 1000);
  }
  lab_tell_counts((double)lab_job.m * (double)lab_job.n);
}

int main(int count, char **words) {
  if (count < 20)
    return 2;
  lab_job.op = words[1][0];
  lab_job.size = (size_t)atol(words[2]);
  lab_job.m = atol(words[3]), lab_job.n = atol(words[4]), lab_job.k = atol(words[5]);
  lab_job.lda = atol(words[6]), lab_job.ldb = atol(words[7]), lab_job.ldc = atol(words[8]);
  lab_job.alpha = atof(words[9]), lab_job.beta = atof(words[10]);
  lab_groups = (lab_vector){(unsigned)atoi(words[11]), (unsigned)atoi(words[12]), (unsigned)atoi(words[13])};
  lab_items = (lab_vector){(unsigned)atoi(words[14]), (unsigned)atoi(words[15]), (unsigned)atoi(words[16])};
  lab_job.backwards = words[17][0] == 'b';
  lab_job.is_real = words[18][0] == 'r';
  lab_job.tile = atol(words[19]);
  for (int i = 20; i < count && i < 28; i++)
    lab_local_counts[i - 20] = atol(words[i]);
  const bool is_transpose = lab_job.op == 't';
  const long sizes[] = {lab_job.m,
                        lab_job.op == 'd' ? lab_job.k : lab_job.n,
                        lab_job.k,
                        is_transpose ? lab_job.n : lab_job.m,
                        is_transpose ? lab_job.m : lab_job.n,
                        lab_job.lda,
                        lab_job.ldb,
                        lab_job.ldc};
  memcpy(lab_sizes, sizes, sizeof sizes);
  lab_scalars[0] = lab_job.alpha;
  lab_scalars[1] = lab_job.beta;
  lab_start();
  if (lab_job.op == 'g')
    work_gemm();
  else if (lab_job.op == 'd')
    work_dot();
  else
    work_transpose();
  return 0;
}
