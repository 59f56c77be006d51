/* Correct, not fast: elements are loaded as double complex, added in this type, and rounded once. */
#include "blas/reference_blas.h"

#include "blas/blas_element.h"

typedef tsl_blas_element element;
typedef tsl_blas_wide_complex wide_complex;

static wide_complex product_at(const element *state, const tsl_call *work, int64_t i, int64_t j,
                               wide_complex alpha, wide_complex beta) {
  wide_complex sum = 0;
  if (alpha != 0)
    for (int64_t l = 0; l < work->k; l++)
      sum +=
          tsl_blas_times(state, tsl_blas_load(state, &work->a, i, l), tsl_blas_load(state, &work->b, l, j));
  wide_complex result = alpha == 0 || work->k == 0 ? 0 : tsl_blas_times(state, alpha, sum);
  if (beta != 0)
    result += tsl_blas_times(state, beta, tsl_blas_load(state, &work->c, i, j));
  return result;
}

static void loop_triangle_or_all(const tsl_call *work, int uplo) {
  const element *element_ops = tsl_blas_element_of(work->type);
  const wide_complex alpha = CMPLX(work->alpha[0], work->alpha[1]),
                     beta = CMPLX(work->beta[0], work->beta[1]);
  for (int64_t j = 0; j < work->n; j++)
    for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'U' ? j + 1 : work->m); i++)
      tsl_blas_store(element_ops, &work->c, i, j, product_at(element_ops, work, i, j, alpha, beta));
}

void tsl_blas_loop_gemm(const tsl_call *work) {
  loop_triangle_or_all(work, 0);
}
void tsl_blas_loop_gemmt(const tsl_call *work, int uplo) {
  loop_triangle_or_all(work, uplo);
}

void tsl_blas_loop_dot(tesela_type type, const tsl_blas_sum *sum) {
  const element *element_ops = tsl_blas_element_of(type);
  const tsl_call_matrix x = {sum->x, sum->incx, 0, sum->conjugate}, y = {sum->y, sum->incy, 0, false};
  const int64_t x0 = sum->incx < 0 ? sum->n - 1 : 0, y0 = sum->incy < 0 ? sum->n - 1 : 0;
  wide_complex result = 0;
  /* From the far end: element i lies at (i - (n - 1)) inc. */
  for (int64_t i = 0; i < sum->n; i++)
    result += tsl_blas_times(element_ops, tsl_blas_load(element_ops, &x, i - x0, 0),
                             tsl_blas_load(element_ops, &y, i - y0, 0));
  tsl_blas_element_of(sum->result_type)->store(sum->result, result);
}

void tsl_blas_loop_copy(tesela_type type, int64_t rows, int64_t cols, const void *alpha,
                        const tsl_call_matrix *a, const tsl_call_matrix *b) {
  const element *element_ops = tsl_blas_element_of(type);
  const wide_complex factor = element_ops->load(alpha);
  const bool plain = factor == 1;
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) {
      const wide_complex value = factor == 0 ? 0 : tsl_blas_load(element_ops, a, i, j);
      tsl_blas_store(element_ops, b, i, j,
                     plain || factor == 0 ? value : tsl_blas_times(element_ops, factor, value));
    }
}

void tsl_blas_loop_transpose(tesela_type type, int64_t n, const void *alpha, const tsl_call_matrix *a) {
  const element *element_ops = tsl_blas_element_of(type);
  const wide_complex factor = element_ops->load(alpha);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++) {
      const wide_complex upper = tsl_blas_load(element_ops, a, i, j),
                         lower = tsl_blas_load(element_ops, a, j, i);
      tsl_blas_store(element_ops, a, j, i, factor == 0 ? 0 : tsl_blas_times(element_ops, factor, upper));
      tsl_blas_store(element_ops, a, i, j, factor == 0 ? 0 : tsl_blas_times(element_ops, factor, lower));
    }
}
