#include "vector/vector_number.h"

#include <string.h>

/* maximum bytes of a vector of factors */
enum { BYTES = TSL_VECTOR_SMALL * 16 };

static void small_scale(const tsl_vector_kernels *kernels, int64_t n, tsl_vector_number beta, void *y) {
  if (tsl_number_equals_real(beta, 0))
    memset(y, 0, (size_t)(n * kernels->size));
  else if (!tsl_number_equals_real(beta, 1))
    kernels->line->scale(n, beta, y, 1);
}

/* Returns alpha x: x itself, or a copy in `state`, conjugated first. */
static const void *factors(const tsl_vector_kernels *kernels, int64_t n, tsl_vector_number alpha,
                           const void *x, bool conjugate, void *state) {
  const bool is_one = tsl_number_equals_real(alpha, 1);
  if (is_one && !conjugate)
    return x;
  kernels->line->copy(n, x, 1, conjugate, state, 1);
  if (!is_one)
    kernels->line->scale(n, alpha, state, 1);
  return state;
}

void tsl_vector_multiply_small(const tsl_vector_kernels *kernels, bool transposed, int64_t rows,
                               int64_t columns, tsl_vector_number alpha, const void *a, int64_t ld,
                               const void *x, tsl_vector_number beta, void *y) {
  const int64_t count = transposed ? columns : rows;
  _Alignas(64) char own[BYTES];
  small_scale(kernels, count, beta, y);
  if (tsl_number_equals_real(alpha, 0))
    return;
  if (transposed) {
    memset(own, 0, (size_t)(count * kernels->size));
    kernels->column->dot(rows, columns, a, ld, x, own);
    kernels->line->add(count, alpha, own, 1, false, y, 1);
    return;
  }
  kernels->column->add(rows, columns, a, ld, factors(kernels, columns, alpha, x, false, own), y, false);
}

void tsl_vector_ger_small(const tsl_vector_kernels *kernels, int64_t rows, int64_t columns,
                          tsl_vector_number alpha, const void *x, const void *y, bool conjugate_y, void *a,
                          int64_t ld) {
  _Alignas(64) char own[BYTES];
  if (!tsl_number_equals_real(alpha, 0))
    kernels->column->update(rows, columns, x, factors(kernels, columns, alpha, y, conjugate_y, own), a, ld,
                            false);
}

void tsl_vector_symmetric_small(const tsl_vector_kernels *kernels, bool upper, bool hermitian, int64_t n,
                                tsl_vector_number alpha, const void *a, int64_t ld, const void *x,
                                tsl_vector_number beta, void *y) {
  _Alignas(64) char own[BYTES];
  small_scale(kernels, n, beta, y);
  if (!tsl_number_equals_real(alpha, 0))
    kernels->column->symmetric(n, 0, n, a, ld, alpha, factors(kernels, n, alpha, x, false, own), x, y, upper,
                               hermitian);
}
