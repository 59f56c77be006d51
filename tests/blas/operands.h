/* Operands of BLAS's four types in guarded memory. Elements that no call may read are NaN. Elements
 * that no call may write are compared afterwards. Values are handled as long double complex. */
#ifndef TSL_TESTS_BLAS_OPERANDS_H
#define TSL_TESTS_BLAS_OPERANDS_H

#include "unit/unit.h"

#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex wide;

typedef struct type {
  char letter;
  size_t size;
  bool is_complex, is_single;
  double unit;
} type;
static const type types[] = {{'s', 4, false, true, FLT_EPSILON},
                             {'d', 8, false, false, DBL_EPSILON},
                             {'c', 8, true, true, FLT_EPSILON},
                             {'z', 16, true, false, DBL_EPSILON}};

/* The drop-in's function: a pattern with the type's letter, or with its real one first ("%csum_": scsum_). */
static inline void (*function_of(const char *name))(void) {
  void *address = dlsym(RTLD_DEFAULT, name);
  void (*function)(void);
  if (!address)
    fail_msg("there is no %s", name);
  memcpy(&function, &address, sizeof function);
  return function;
}
static inline void (*routine(const type *element, const char *name))(void) {
  char whole[32];
  snprintf(whole, sizeof whole, "%c%s_", element->letter, name);
  return function_of(whole);
}

/* State of draw(), a reproducible sequence of small numbers. */
static uint64_t state = 1;
static inline unsigned draw(unsigned below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state >> 33) % below;
}
static inline double number(void) {
  return ((double)draw(2001) - 1000) / 512;
}

static inline wide load(const type *element, const void *data, int64_t index) {
  const float *f = data;
  const double *d = data;
  if (element->is_single)
    return element->is_complex ? CMPLXL(f[2 * index], f[2 * index + 1]) : f[index];
  return element->is_complex ? CMPLXL(d[2 * index], d[2 * index + 1]) : d[index];
}
static inline void store(const type *element, void *data, int64_t index, wide value) {
  float *f = data;
  double *d = data;
  const int64_t first = element->is_complex ? 2 * index : index;
  if (element->is_single)
    f[first] = (float)creall(value);
  else
    d[first] = (double)creall(value);
  if (element->is_complex && element->is_single)
    f[first + 1] = (float)cimagl(value);
  else if (element->is_complex)
    d[first + 1] = (double)cimagl(value);
}
static inline wide value_of(const type *element) {
  const double re = number();
  return element->is_complex ? CMPLXL(re, number()) : re;
}

/* Elements with a guard on either side, NaN until they are set, and a copy from before the call. */
enum { GUARD = 37 };
typedef struct block {
  const type *element;
  int64_t count;
  char *data, *before;
  bool *written;
} block;

static inline block block_of(const type *element, int64_t count) {
  const size_t bytes = (size_t)(count + 2 * GUARD) * element->size;
  block made = {element, count, malloc(bytes), malloc(bytes), calloc((size_t)count + 1, sizeof(bool))};
  assert_true(made.data && made.before && made.written);
  memset(made.data, 0xff, bytes);
  return made;
}
static inline void *start(const block *operand) {
  return operand->data + GUARD * operand->element->size;
}
static inline void set(block *operand, int64_t index, wide value) {
  store(operand->element, start(operand), index, value);
}
static inline void keep(block *operand) {
  memcpy(operand->before, operand->data, (size_t)(operand->count + 2 * GUARD) * operand->element->size);
}
/* Returns an element after the call, and marks it as one that the call may write. old() returns the
 * element from before the call. */
static inline wide result(block *operand, int64_t index) {
  operand->written[index] = true;
  return load(operand->element, start(operand), index);
}
static inline wide old(const block *operand, int64_t index) {
  return load(operand->element, operand->before + GUARD * operand->element->size, index);
}
/* Checks that all other elements are unchanged, and frees the block. */
static inline void release(block *operand, const char *what) {
  const size_t size = operand->element->size;
  for (int64_t i = -GUARD; i < operand->count + GUARD; i++)
    if ((i < 0 || i >= operand->count || !operand->written[i]) &&
        memcmp(operand->data + (size_t)(i + GUARD) * size, operand->before + (size_t)(i + GUARD) * size,
               size) != 0)
      fail_msg("%s: element %lld of %lld was written", what, (long long)i, (long long)operand->count);
  free(operand->data);
  free(operand->before);
  free(operand->written);
}

/* A vector of n elements, `inc` apart. */
typedef struct line {
  block in;
  int64_t n, inc;
} line;
static inline int64_t place(const line *vector, int64_t i) {
  return vector->inc < 0 ? (i - vector->n + 1) * vector->inc : i * vector->inc;
}
static inline line line_of(const type *element, int64_t n, int64_t inc) {
  const int64_t span = n > 0 ? (n - 1) * (inc < 0 ? -inc : inc) + 1 : 0;
  line made = {block_of(element, span), n, inc};
  for (int64_t i = 0; i < n; i++)
    set(&made.in, place(&made, i), value_of(element));
  return made;
}

/* A sum, and the sum of its terms' magnitudes. */
typedef struct sum {
  wide value;
  double size;
} sum;
static inline void add(sum *total, wide a, wide b) {
  total->value += a * b;
  total->size += (double)(cabsl(a) * cabsl(b));
}
static inline void expect(const type *element, wide seen, sum wanted, int64_t terms, const char *what) {
  const double bound = element->unit * ((double)terms + 8) * wanted.size,
               error = (double)cabsl(seen - wanted.value);
  if (!(error <= bound))
    fail_msg("%s: %Lg %+Lgi in place of %Lg %+Lgi, wrong by %g, %g allowed", what, creall(seen), cimagl(seen),
             creall(wanted.value), cimagl(wanted.value), error, bound);
}

#endif
