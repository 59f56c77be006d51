/* Tests NUMROC: a single process has all n rows; with 32-bit integers the result is n's lower half. */
#include "scalapack/width.h"

#include "interpose/next_symbol.h"

typedef int64_t numroc(const void *n, const void *block, const void *process, const void *first,
                       const void *processes);

/* With 32-bit integers the upper half of the result is undefined. */
static int64_t call_numroc(numroc *function, int64_t high, int64_t low) {
  /* 64-bit, so that either width reads equal small numbers. */
  const int64_t n = high * ((int64_t)1 << 32) + low, block = 7, zero = 0, one = 1;
  return function(&n, &block, &zero, &zero, &one);
}

/* Returns the bytes of NUMROC's integers, 4 or 8; 0: not found, or it fails the test. */
static int find_width(void) {
  enum { HIGH = 3, LOW = 11, OTHER_HIGH = 5, OTHER_LOW = 13 };
  static tsl_lazy_symbol late;
  numroc *function = (numroc *)tsl_interpose_program(&late, "numroc_");
  if (!function)
    return 0;
  const int64_t first = call_numroc(function, HIGH, LOW),
                second = call_numroc(function, OTHER_HIGH, OTHER_LOW);
  if ((uint32_t)first != LOW || (uint32_t)second != OTHER_LOW)
    return 0;
  return first >> 32 == HIGH && second >> 32 == OTHER_HIGH ? 8 : 4;
}

int tsl_scalapack_width(void) {
  static atomic_int width; /* 0: unknown */
  int known = atomic_load_explicit(&width, memory_order_relaxed);
  if (known == 0) {
    known = find_width();
    atomic_store_explicit(&width, known, memory_order_relaxed);
  }
  return known;
}

int64_t tsl_scalapack_integer(const void *array, int index) {
  if (tsl_scalapack_width() == 8)
    return ((const int64_t *)array)[index];
  return ((const int32_t *)array)[index];
}

tsl_scalapack_word tsl_scalapack_word_of(int64_t value) {
  tsl_scalapack_word word = {.wide = 0};
  if (tsl_scalapack_width() == 8)
    word.wide = value;
  else
    word.narrow = (int32_t)value;
  return word;
}
