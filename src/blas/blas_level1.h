/* BLAS level 1. Functions return the host BLAS function to forward to, or NULL if the result is complete.
 * Increments may have any value. */
#ifndef TSL_BLAS_BLAS_LEVEL1_H
#define TSL_BLAS_BLAS_LEVEL1_H

#include "blas/blas_vectors.h"

/* y may be NULL. */
typedef struct tsl_blas_lines {
  int64_t n;
  const void *x;
  int64_t incx;
  const void *y;
  int64_t incy;
} tsl_blas_lines;

tsl_blas_function *tsl_blas_axpy(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha);
/* Scales x. is_real: multiplies both components of complex elements by one real number. */
tsl_blas_function *tsl_blas_scal(tsl_blas_call *call, const tsl_blas_lines *lines, tsl_vector_number alpha,
                                 bool is_real);
tsl_blas_function *tsl_blas_copy_vector(tsl_blas_call *call, const tsl_blas_lines *lines);
tsl_blas_function *tsl_blas_swap(tsl_blas_call *call, const tsl_blas_lines *lines);
/* Computes (x, y) = (c x + s y, c y - s x). */
tsl_blas_function *tsl_blas_rot(tsl_blas_call *call, const tsl_blas_lines *lines, double c, double s);
/* Modified rotation by the five numbers of rotm, which have the symbol's type. */
tsl_blas_function *tsl_blas_rotm(tsl_blas_call *call, const tsl_blas_lines *lines, const void *param);
tsl_blas_function *tsl_blas_nrm2(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
tsl_blas_function *tsl_blas_asum(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
/* Sets *result to the index of the maximum, where the first element's is `first`; 0: empty. */
tsl_blas_function *tsl_blas_iamax(tsl_blas_call *call, const tsl_blas_lines *lines, int64_t first,
                                  int64_t *result);
/* Computes a dot product in the symbol's type. */
tsl_blas_function *tsl_blas_plain_dot(tsl_blas_call *call, const tsl_blas_lines *lines, bool conjugate,
                                      void *result);

#endif
