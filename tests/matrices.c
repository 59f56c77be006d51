#include "matrices.h"

#include <stdlib.h>

#include "core/types.h"

void *test_matrix(const tsl_shape *shape, void **origin) {
  const size_t size = tsl_type(shape->type)->size;
  unsigned char *memory = calloc((size_t)tsl_shape_extent(shape) + 1, size);
  *origin = memory + (size_t)tsl_shape_below(shape) * size;
  return memory;
}

double test_get(const tsl_shape *shape, const void *origin, int64_t row, int64_t col) {
  double value[2];
  const int64_t at = row * shape->row_stride + col * shape->col_stride;
  tsl_type_load(shape->type, (const unsigned char *)origin + at * (int64_t)tsl_type(shape->type)->size,
                value);
  return value[0];
}

void test_set(const tsl_shape *shape, void *origin, int64_t row, int64_t col, double value) {
  const double pair[2] = {value, 0};
  const int64_t at = row * shape->row_stride + col * shape->col_stride;
  tsl_type_store(shape->type, (unsigned char *)origin + at * (int64_t)tsl_type(shape->type)->size, pair);
}

void test_fill(const tsl_shape *shape, void *origin, tsl_distribution distribution, uint64_t seed) {
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++)
      test_set(shape, origin, i, j, tsl_random_value(distribution, seed, (uint64_t)(i * shape->cols + j)));
}

void test_product(const tsl_problem *problem, const void *a, const void *b, void *c) {
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++) {
      double sum = 0;
      for (int64_t l = 0; l < problem->k; l++)
        sum += test_get(&problem->a, a, i, l) * test_get(&problem->b, b, l, j);
      sum *= problem->alpha[0];
      if (problem->beta[0] != 0)
        sum += problem->beta[0] * test_get(&problem->c, c, i, j);
      test_set(&problem->c, c, i, j, sum);
    }
}
