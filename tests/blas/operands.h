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
static inline void (*routine(const type *of, const char *name))(void) {
  char whole[32];
  snprintf(whole, sizeof whole, "%c%s_", of->letter, name);
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

static inline wide load(const type *of, const void *data, int64_t at) {
  const float *f = data;
  const double *d = data;
  if (of->is_single)
    return of->is_complex ? CMPLXL(f[2 * at], f[2 * at + 1]) : f[at];
  return of->is_complex ? CMPLXL(d[2 * at], d[2 * at + 1]) : d[at];
}
static inline void store(const type *of, void *data, int64_t at, wide value) {
  float *f = data;
  double *d = data;
  const int64_t first = of->is_complex ? 2 * at : at;
  if (of->is_single)
    f[first] = (float)creall(value);
  else
    d[first] = (double)creall(value);
  if (of->is_complex && of->is_single)
    f[first + 1] = (float)cimagl(value);
  else if (of->is_complex)
    d[first + 1] = (double)cimagl(value);
}
static inline wide value_of(const type *of) {
  const double re = number();
  return of->is_complex ? CMPLXL(re, number()) : re;
}

/* Elements with a guard on either side, NaN until they are set, and a copy from before the call. */
enum { GUARD = 37 };
typedef struct block {
  const type *of;
  int64_t count;
  char *data, *before;
  bool *written;
} block;

static inline block block_of(const type *of, int64_t count) {
  const size_t bytes = (size_t)(count + 2 * GUARD) * of->size;
  block made = {of, count, malloc(bytes), malloc(bytes), calloc((size_t)count + 1, sizeof(bool))};
  assert_true(made.data && made.before && made.written);
  memset(made.data, 0xff, bytes);
  return made;
}
static inline void *start(const block *of) {
  return of->data + GUARD * of->of->size;
}
static inline void set(block *of, int64_t at, wide value) {
  store(of->of, start(of), at, value);
}
static inline void keep(block *of) {
  memcpy(of->before, of->data, (size_t)(of->count + 2 * GUARD) * of->of->size);
}
/* Returns an element after the call, and marks it as one that the call may write. old() returns the
 * element from before the call. */
static inline wide result(block *of, int64_t at) {
  of->written[at] = true;
  return load(of->of, start(of), at);
}
static inline wide old(const block *of, int64_t at) {
  return load(of->of, of->before + GUARD * of->of->size, at);
}
/* Checks that all other elements are unchanged, and frees the block. */
static inline void release(block *of, const char *what) {
  const size_t size = of->of->size;
  for (int64_t i = -GUARD; i < of->count + GUARD; i++)
    if ((i < 0 || i >= of->count || !of->written[i]) &&
        memcmp(of->data + (size_t)(i + GUARD) * size, of->before + (size_t)(i + GUARD) * size, size) != 0)
      fail_msg("%s: element %lld of %lld was written", what, (long long)i, (long long)of->count);
  free(of->data);
  free(of->before);
  free(of->written);
}

/* A vector of n elements, `inc` apart. */
typedef struct line {
  block in;
  int64_t n, inc;
} line;
static inline int64_t place(const line *of, int64_t i) {
  return of->inc < 0 ? (i - of->n + 1) * of->inc : i * of->inc;
}
static inline line line_of(const type *of, int64_t n, int64_t inc) {
  const int64_t span = n > 0 ? (n - 1) * (inc < 0 ? -inc : inc) + 1 : 0;
  line made = {block_of(of, span), n, inc};
  for (int64_t i = 0; i < n; i++)
    set(&made.in, place(&made, i), value_of(of));
  return made;
}

/* A sum, and the sum of its terms' magnitudes. */
typedef struct sum {
  wide value;
  double size;
} sum;
static inline void add(sum *to, wide a, wide b) {
  to->value += a * b;
  to->size += (double)(cabsl(a) * cabsl(b));
}
static inline void expect(const type *of, wide seen, sum wanted, int64_t terms, const char *what) {
  const double bound = of->unit * ((double)terms + 8) * wanted.size,
               error = (double)cabsl(seen - wanted.value);
  if (!(error <= bound))
    fail_msg("%s: %Lg %+Lgi in place of %Lg %+Lgi, wrong by %g, %g allowed", what, creall(seen), cimagl(seen),
             creall(wanted.value), cimagl(wanted.value), error, bound);
}

#endif
