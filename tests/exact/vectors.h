/* Vectors that are hard to multiply. */
#ifndef TSL_TESTS_EXACT_VECTORS_H
#define TSL_TESTS_EXACT_VECTORS_H

#include "core/types.h"

/* Numbers that the type has, as doubles. */
typedef struct vectors {
  tesela_type type;
  int64_t count;
  double *x, *y;
} vectors;

/* Room for so many terms, all 0. */
void vectors_create(tesela_type type, int64_t count, vectors *out);
void vectors_free(vectors *vectors_in);
/* Rounds a number to the type. */
double vectors_rounded(tesela_type type, double value);

/* Swaps terms at random. */
void vectors_shuffle(vectors *vectors_in, uint64_t seed);

/* Fills all terms. The maker defines the meaning of `measure`. */
typedef void (*vectors_maker)(vectors *vectors_in, double measure, uint64_t seed);
typedef struct vectors_kind {
  const char *name;
  vectors_maker make;
  double f32, f64; /* the measure for each type */
} vectors_kind;
/* Kind `index`; NULL past the end. */
const vectors_kind *vectors_kind_at(int index);

/* A dot of condition number about `measure`, shuffled: algorithm GenDot of Ogita, Rump, Oishi, Accurate Sum
 * and Dot Product, SIAM J. Sci. Comput. 26 (2005). Half of the terms have exponents up to half of its binary
 * logarithm, the others bring the sum down to 0 as their exponents fall. */
void vectors_ill_conditioned(vectors *vectors_in, double measure, uint64_t seed);

#endif
