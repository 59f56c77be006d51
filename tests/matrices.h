/* Small host matrices for tests, and the definition of a product. */
#ifndef TSL_TESTS_MATRICES_H
#define TSL_TESTS_MATRICES_H

#include "judge/check.h"

/* Allocates a shape's extent, zeros, and stores the address of element (0, 0). The caller frees the result.
 */
void *test_matrix(const tsl_shape *shape, void **origin);

double test_get(const tsl_shape *shape, const void *origin, int64_t row, int64_t col);

void test_set(const tsl_shape *shape, void *origin, int64_t row, int64_t col, double value);

/* Fills all elements at random. */
void test_fill(const tsl_shape *shape, void *origin, tsl_distribution distribution, uint64_t seed);

/* Computes C = alpha A B + beta C in double, rounded once to C's type. */
void test_product(const tsl_problem *problem, const void *a, const void *b, void *c);

#endif
