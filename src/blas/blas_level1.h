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
/* Computes (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y). */
tsl_blas_function *tsl_blas_rot(tsl_blas_call *call, const tsl_blas_lines *lines, const double h[4]);
/* Sets h from a modified rotation's parameters. Returns false for the identity. */
bool tsl_blas_modified(const double param[5], double h[4]);
tsl_blas_function *tsl_blas_nrm2(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
tsl_blas_function *tsl_blas_asum(tsl_blas_call *call, const tsl_blas_lines *lines, double *result);
/* Sets *result to the index of the maximum, from 1; 0: empty. */
tsl_blas_function *tsl_blas_iamax(tsl_blas_call *call, const tsl_blas_lines *lines, int64_t *result);
/* Computes a dot product in the symbol's type. */
tsl_blas_function *tsl_blas_plain_dot(tsl_blas_call *call, const tsl_blas_lines *lines, bool conjugate,
                                      void *result);

#endif
