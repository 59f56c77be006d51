/* Small calls of levels 1 and 2, computed without the full path. The symbol and the type are constants of an
 * entry, whose arguments follow. Functions return false without effect for other calls. */
#ifndef TSL_BLAS_BLAS_DIRECT_H
#define TSL_BLAS_BLAS_DIRECT_H

#include "blas/blas_level2.h"
#include "vector/vector.h"

#define DIRECT_FUNCTION static inline __attribute__((always_inline))

/* Returns kernels for short contiguous vectors; NULL: use the full path. */
DIRECT_FUNCTION const tsl_line_kernels *tsl_blas_short_lines(const tsl_blas_symbol *symbol, tesela_type type,
                                                             int64_t n, bool dense) {
  return dense && n > 0 && n <= TSL_VECTOR_SHORT && tsl_blas_is_own(symbol, (double)n)
             ? tsl_vector_kernels_of(type)->line
             : NULL;
}

DIRECT_FUNCTION bool tsl_blas_axpy_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                          tsl_vector_number alpha, const void *x, int64_t incx, void *y,
                                          int64_t incy) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1 && incy == 1);
  if (!kernels || (alpha.re == 0 && alpha.im == 0))
    return false;
  kernels->add(n, alpha, x, 1, false, y, 1);
  return true;
}

DIRECT_FUNCTION bool tsl_blas_scal_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                          tsl_vector_number alpha, void *x, int64_t incx) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1);
  if (!kernels || alpha.re == 1)
    return false;
  kernels->scale(n, alpha, x, 1);
  return true;
}

DIRECT_FUNCTION bool tsl_blas_copy_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                          const void *x, int64_t incx, void *y, int64_t incy) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1 && incy == 1);
  if (kernels)
    kernels->copy(n, x, 1, false, y, 1);
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_swap_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n, void *x,
                                          int64_t incx, void *y, int64_t incy) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1 && incy == 1);
  if (kernels)
    kernels->swap(n, x, 1, y, 1);
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_dot_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                         const void *x, int64_t incx, const void *y, int64_t incy,
                                         bool conjugate, void *result) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1 && incy == 1);
  if (kernels)
    tsl_number_store_as(type, result, kernels->dot(n, x, 1, conjugate, y, 1));
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_nrm2_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                          const void *x, int64_t incx, double *result) {
  const bool is_short = tsl_blas_short_lines(symbol, type, n, incx == 1) != NULL;
  if (is_short)
    *result = tsl_vector_norm(tsl_vector_kernels_of(type), (tsl_team){0}, n, (tsl_line){x, 1});
  return is_short;
}

DIRECT_FUNCTION bool tsl_blas_asum_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                          const void *x, int64_t incx, double *result) {
  const tsl_line_kernels *kernels = tsl_blas_short_lines(symbol, type, n, incx == 1);
  if (kernels)
    *result = kernels->absolutes(n, x, 1);
  return kernels != NULL;
}

/* `first` is the index of element 0. */
DIRECT_FUNCTION bool tsl_blas_iamax_direct(const tsl_blas_symbol *symbol, tesela_type type, int64_t n,
                                           const void *x, int64_t incx, int64_t first, int64_t *result) {
  const bool is_short = tsl_blas_short_lines(symbol, type, n, incx == 1) != NULL;
  if (is_short)
    *result = first + tsl_vector_iamax(tsl_vector_kernels_of(type), (tsl_team){0}, n, (tsl_line){x, 1});
  return is_short;
}

DIRECT_FUNCTION bool blas_direct_is_order(int order) {
  return order == TSL_BLAS_ROW_MAJOR || order == TSL_BLAS_COLUMN_MAJOR;
}
DIRECT_FUNCTION bool blas_direct_is_triangle(int uplo) {
  return uplo == 'U' || uplo == 'L';
}
/* A conjugated transpose is plain for real elements only. */
DIRECT_FUNCTION bool blas_direct_is_trans(tesela_type type, int trans) {
  return trans == 'N' || trans == 'T' || (trans == 'C' && (type == TESELA_F32 || type == TESELA_F64));
}

/* Returns kernels for a small column-major matrix; NULL: use the full path. */
DIRECT_FUNCTION const tsl_vector_kernels *blas_direct_matrix(const tsl_blas_symbol *symbol, tesela_type type,
                                                             int64_t m, int64_t n, int64_t ld, bool dense) {
  return dense && m > 0 && n > 0 && m <= TSL_VECTOR_SMALL && n <= TSL_VECTOR_SMALL && ld >= m &&
                 tsl_blas_is_own(symbol, (double)(m * n))
             ? tsl_vector_kernels_of(type)
             : NULL;
}

/* Returns kernels for a small triangle; NULL: use the full path. */
DIRECT_FUNCTION const tsl_vector_kernels *
blas_direct_triangle(const tsl_blas_symbol *symbol, tesela_type type, int64_t n, int64_t ld, bool dense) {
  return dense && n > 0 && n <= TSL_VECTOR_SMALL && ld >= n && tsl_blas_is_own(symbol, (double)(n * n) / 2)
             ? tsl_vector_kernels_of(type)
             : NULL;
}

/* A row-major matrix is the transpose of a column-major one. */
DIRECT_FUNCTION bool tsl_blas_gemv_direct(const tsl_blas_symbol *symbol, tesela_type type, int order,
                                          int trans, int64_t m, int64_t n, tsl_vector_number alpha,
                                          const void *a, int64_t lda, const void *x, int64_t incx,
                                          tsl_vector_number beta, void *y, int64_t incy) {
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR, is_plain = blas_direct_is_order(order) &&
                                                               blas_direct_is_trans(type, trans) &&
                                                               incx == 1 && incy == 1;
  const int64_t rows = by_rows ? n : m, columns = by_rows ? m : n;
  const tsl_vector_kernels *kernels = blas_direct_matrix(symbol, type, rows, columns, lda, is_plain);
  if (kernels)
    tsl_vector_multiply_small(kernels, (trans != 'N') != by_rows, rows, columns, alpha, a, lda, x, beta, y);
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_ger_direct(const tsl_blas_symbol *symbol, tesela_type type, int order,
                                         bool conjugate, int64_t m, int64_t n, tsl_vector_number alpha,
                                         const void *x, int64_t incx, const void *y, int64_t incy, void *a,
                                         int64_t lda) {
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR,
             is_plain = (order == TSL_BLAS_COLUMN_MAJOR || (by_rows && !conjugate)) && incx == 1 && incy == 1;
  const int64_t rows = by_rows ? n : m, columns = by_rows ? m : n;
  const tsl_vector_kernels *kernels = blas_direct_matrix(symbol, type, rows, columns, lda, is_plain);
  if (kernels)
    tsl_vector_ger_small(kernels, rows, columns, alpha, by_rows ? y : x, by_rows ? x : y, conjugate, a, lda);
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_symv_direct(const tsl_blas_symbol *symbol, tesela_type type, int order,
                                          bool is_hermitian, int uplo, int64_t n, tsl_vector_number alpha,
                                          const void *a, int64_t lda, const void *x, int64_t incx,
                                          tsl_vector_number beta, void *y, int64_t incy) {
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR && !is_hermitian,
             is_plain = (by_rows || order == TSL_BLAS_COLUMN_MAJOR) && blas_direct_is_triangle(uplo) &&
                        incx == 1 && incy == 1;
  const tsl_vector_kernels *kernels = blas_direct_triangle(symbol, type, n, lda, is_plain);
  if (kernels)
    tsl_vector_symmetric_small(kernels, (uplo == 'U') != by_rows, is_hermitian, n, alpha, a, lda, x, beta, y);
  return kernels != NULL;
}

DIRECT_FUNCTION bool tsl_blas_triangle_direct(const tsl_blas_symbol *symbol, tesela_type type, int order,
                                              bool solves, int uplo, int trans, int diag, int64_t n,
                                              const void *a, int64_t lda, void *x, int64_t incx) {
  const bool by_rows = order == TSL_BLAS_ROW_MAJOR,
             is_plain = blas_direct_is_order(order) && blas_direct_is_triangle(uplo) &&
                        (diag == 'U' || diag == 'N') && blas_direct_is_trans(type, trans) && incx == 1;
  const tsl_vector_kernels *kernels = blas_direct_triangle(symbol, type, n, lda, is_plain);
  if (kernels)
    kernels->column->diagonal(
        n, a, lda, (tsl_diagonal){(uplo == 'U') != by_rows, (trans != 'N') != by_rows, diag == 'U', solves},
        x);
  return kernels != NULL;
}

#endif
