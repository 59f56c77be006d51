/* Matrices of whole numbers on a grid. */
#include "scalapack/distributed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- element types --- */

static number load_s(const void *array, size_t index) {
  return ((const float *)array)[index];
}
static void store_s(void *array, size_t index, number value) {
  ((float *)array)[index] = (float)creal(value);
}
static number load_d(const void *array, size_t index) {
  return ((const double *)array)[index];
}
static void store_d(void *array, size_t index, number value) {
  ((double *)array)[index] = creal(value);
}
static number load_c(const void *array, size_t index) {
  return ((const float _Complex *)array)[index];
}
static void store_c(void *array, size_t index, number value) {
  ((float _Complex *)array)[index] = (float _Complex)value;
}
static number load_z(const void *array, size_t index) {
  return ((const number *)array)[index];
}
static void store_z(void *array, size_t index, number value) {
  ((number *)array)[index] = value;
}

const element elements[ELEMENTS] = {{"s", sizeof(float), false, load_s, store_s},
                                    {"d", sizeof(double), false, load_d, store_d},
                                    {"c", sizeof(float _Complex), true, load_c, store_c},
                                    {"z", sizeof(number), true, load_z, store_z}};

/* --- numbers --- */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

static uint64_t drawn;

void begin_drawing(uint64_t index) {
  drawn = index << 32;
}

int64_t draw(int64_t end) {
  return (int64_t)(mix(drawn++) % (uint64_t)end);
}

number dealt(const distributed *matrix, const element *type, int64_t i, int64_t j) {
  enum { LEAST = -3, COUNT = 7 };
  const uint64_t bits = mix(matrix->seed ^ mix((uint64_t)i * 0x10001u + (uint64_t)j));
  const double real = LEAST + (int)(bits % COUNT), imaginary = LEAST + (int)(bits >> 32) % COUNT;
  return type->is_complex ? CMPLX(real, imaginary) : real;
}

/* --- where elements lie --- */

enum { CTXT = 1, M, N, IMB, INB, MB, NB, RSRC, CSRC, LLD }; /* type 2 */

/* Along one side: a global index becomes a process and an index of its own. */
static INTEGER process_of(int64_t index, int64_t first_block, int64_t block, INTEGER first,
                          INTEGER processes) {
  return index < first_block ? first : (INTEGER)((first + 1 + (index - first_block) / block) % processes);
}
static int64_t local_of(int64_t index, int64_t first_block, int64_t block, INTEGER processes) {
  if (index < first_block)
    return index;
  const int64_t number_of_block = (index - first_block) / block + 1, inside = (index - first_block) % block;
  const int64_t before = number_of_block / processes; /* blocks of the same process, the first one included */
  if (number_of_block % processes == 0)
    return first_block + (before - 1) * block + inside;
  return before * block + inside;
}
static int64_t local_size(int64_t size, int64_t first_block, int64_t block, INTEGER process, INTEGER first,
                          INTEGER processes) {
  int64_t count = 0;
  for (int64_t i = 0; i < size; i++)
    count += process_of(i, first_block, block, first, processes) == process;
  return count;
}

/* The place in the local array of an element of the whole matrix; -1: another process has it. */
static int64_t find(const distributed *matrix, const grid *on, int64_t i, int64_t j) {
  const INTEGER *is = matrix->fields;
  if (process_of(i, is[IMB], is[MB], is[RSRC], on->rows) != on->row ||
      process_of(j, is[INB], is[NB], is[CSRC], on->cols) != on->col)
    return -1;
  return local_of(i, is[IMB], is[MB], on->rows) + local_of(j, is[INB], is[NB], on->cols) * is[LLD];
}

static bool is_inside(const distributed *matrix, int64_t i, int64_t j) {
  return i >= matrix->i - 1 && i < matrix->i - 1 + matrix->rows && j >= matrix->j - 1 &&
         j < matrix->j - 1 + matrix->cols;
}

static number not_a_number(const element *type) {
  return type->is_complex ? CMPLX(NAN, NAN) : NAN;
}

static void fill(distributed *matrix, const element *type, const grid *on, bool unread) {
  for (size_t at = 0; at < matrix->count; at++)
    type->store(matrix->data, at, not_a_number(type));
  for (int64_t j = 0; j < matrix->cols && !unread; j++)
    for (int64_t i = 0; i < matrix->rows; i++) {
      const int64_t at = find(matrix, on, i + matrix->i - 1, j + matrix->j - 1);
      if (at >= 0)
        type->store(matrix->data, (size_t)at, dealt(matrix, type, i, j));
    }
}

void deal(distributed *matrix, const element *type, const grid *on, int64_t rows, int64_t cols, bool unread) {
  enum { OFFSETS = 9, BLOCKS = 8, GAPS = 4 };
  const bool is_plain = draw(2) == 0, is_large = draw(8) == 0;
  INTEGER *is = matrix->fields;
  *matrix = (distributed){
      .i = (INTEGER)(1 + draw(OFFSETS)), .j = (INTEGER)(1 + draw(OFFSETS)), .rows = rows, .cols = cols};
  is[0] = is_plain ? 1 : 2;
  is[CTXT] = on->context;
  is[M] = (INTEGER)(matrix->i - 1 + rows + draw(OFFSETS));
  is[N] = (INTEGER)(matrix->j - 1 + cols + draw(OFFSETS));
  is[MB] = (INTEGER)(is_large ? is[M] + draw(2) : 1 + draw(BLOCKS));
  is[NB] = (INTEGER)(is_large ? is[N] + draw(2) : 1 + draw(BLOCKS));
  is[IMB] = is_plain ? is[MB] : (INTEGER)(1 + draw(is[MB]));
  is[INB] = is_plain ? is[NB] : (INTEGER)(1 + draw(is[NB]));
  is[RSRC] = (INTEGER)draw(on->rows);
  is[CSRC] = (INTEGER)draw(on->cols);
  const int64_t gap = draw(GAPS) + on->row; /* a local affair */
  const int64_t local_rows = local_size(is[M], is[IMB], is[MB], on->row, is[RSRC], on->rows);
  const int64_t local_cols = local_size(is[N], is[INB], is[NB], on->col, is[CSRC], on->cols);
  is[LLD] = (INTEGER)(local_rows + gap > 0 ? local_rows + gap : 1);
  matrix->seed = (uint64_t)draw(INT32_MAX);
  matrix->count = (size_t)(is[LLD] * local_cols);
  matrix->data = malloc(matrix->count > 0 ? matrix->count * type->size : 1);
  if (!matrix->data)
    abort();
  fill(matrix, type, on, unread);
  if (is_plain) { /* has no size of the first block */
    for (int from = MB; from < FIELDS; from++)
      is[from - 2] = is[from];
  }
}

/* Returns the matrix with a descriptor of type 2, whichever type it has. */
static distributed widened(const distributed *matrix) {
  distributed out = *matrix;
  for (int to = LLD; matrix->fields[0] == 1 && to >= MB; to--)
    out.fields[to] = matrix->fields[to - 2];
  if (matrix->fields[0] == 1) {
    out.fields[IMB] = out.fields[MB];
    out.fields[INB] = out.fields[NB];
  }
  return out;
}

void discard(distributed *matrix) {
  free(matrix->data);
  matrix->data = NULL;
}

static bool is_same(number value, number wanted) {
  return isnan(creal(wanted)) ? isnan(creal(value))
                              : creal(value) == creal(wanted) && cimag(value) == cimag(wanted);
}

int count_wrong(const distributed *matrix, const element *type, const grid *on,
                number (*expected)(const void *state, int64_t i, int64_t j), const void *src) {
  const distributed whole = widened(matrix);
  size_t seen = 0;
  int wrong = 0;
  for (int64_t j = 0; j < whole.fields[N]; j++)
    for (int64_t i = 0; i < whole.fields[M]; i++) {
      const int64_t at = find(&whole, on, i, j);
      if (at < 0)
        continue;
      const number value = type->load(matrix->data, (size_t)at);
      const number wanted =
          is_inside(matrix, i, j) ? expected(src, i - matrix->i + 1, j - matrix->j + 1) : not_a_number(type);
      seen += !isnan(creal(value));
      if (!is_same(value, wanted) && wrong++ == 0)
        fprintf(stderr, "element (%lld, %lld): %g%+gi, not %g%+gi\n", (long long)i, (long long)j,
                creal(value), cimag(value), creal(wanted), cimag(wanted));
    }
  for (size_t at = 0; at < matrix->count; at++) /* none was written between columns */
    seen -= !isnan(creal(type->load(matrix->data, at)));
  return wrong + (seen != 0);
}
