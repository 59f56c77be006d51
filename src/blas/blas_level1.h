/* Vectors, as BLAS's level 1 calls them. Each takes the type's letter of the call's symbol; increments may be
 * anything. They return whom to forward to, or NULL when the result is there. */
#ifndef TSL_BLAS_BLAS_LEVEL1_H
#define TSL_BLAS_BLAS_LEVEL1_H

#include "blas/blas_vectors.h"

/* A call's vectors; y may be none. */
typedef struct tsl_blas_lines {
  int64_t n;
  const void *x;
  int64_t incx;
  const void *y;
  int64_t incy;
} tsl_blas_lines;

tsl_blas_function *tsl_blas_axpy(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha);
/* `is_real`: of complex elements both components times one real number. */
tsl_blas_function *tsl_blas_scal(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha,
                                 bool is_real);
tsl_blas_function *tsl_blas_copy_vector(tsl_blas_call *call, const tsl_blas_lines *lines);
tsl_blas_function *tsl_blas_swap(tsl_blas_call *call, const tsl_blas_lines *lines);
/* (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y); and the h of a modified rotation's five numbers, false where
 * nothing turns. */
tsl_blas_function *tsl_blas_rot(tsl_blas_call *call, const tsl_blas_lines *lines, const double h[4]);
bool tsl_blas_modified(const double param[5], double h[4]);
tsl_blas_function *tsl_blas_nrm2(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
tsl_blas_function *tsl_blas_asum(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
/* From 1; 0 where there is none. */
tsl_blas_function *tsl_blas_iamax(tsl_blas_call *call, const tsl_blas_lines *lines, int64_t *result);
/* Of the symbol's type, rounded into `result`. */
tsl_blas_function *tsl_blas_plain_dot(tsl_blas_call *call, const tsl_blas_lines *lines, bool conjugate,
                                      void *result);

#endif
