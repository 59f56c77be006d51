#ifndef TSL_BLAS_LEVEL3_HELPERS_H
#define TSL_BLAS_LEVEL3_HELPERS_H

#include "blas/blas_view.h"

/* Maximum rows of a triangle for `solve`. */
enum { TSL_BLAS_SOLVED_MOST = 16 };

typedef struct tsl_blas_parts {
  /* Writes all of a symmetric or hermitian matrix of m rows, column-major; `uplo` of a is stored. */
  void (*mirror)(const tsl_call_matrix *a, int uplo, bool hermitian, int64_t m, void *out);
  /* Writes a triangle and zeros, column-major, or row-major if a's rows are contiguous. */
  void (*spread)(const tsl_call_matrix *a, int uplo, bool unit, int64_t m, const tsl_call_matrix *out);
  /* Copies m x n numbers; returns true if all are finite. */
  bool (*copy)(const tsl_call_matrix *from, int64_t m, int64_t n, const tsl_call_matrix *target);
  /* Solves a x = alpha c into c, m x n. a is a triangle of m <= TSL_BLAS_SOLVED_MOST rows. */
  void (*solve)(const tsl_call_matrix *a, int uplo, bool unit, int64_t m, int64_t n, const double alpha[2],
                const tsl_call_matrix *c);
  /* Computes c's triangle = square + its (conjugate) transpose + beta c, n x n. Both have one storage order;
   * `lower` refers to column-major memory. */
  void (*fold)(const void *square, bool lower, bool hermitian, int64_t n, const double beta[2], void *c,
               int64_t ld);
  /* Computes c's triangle = square + beta c. */
  void (*put)(const void *square, bool lower, int64_t n, const double beta[2], void *c, int64_t ld);
} tsl_blas_parts;

const tsl_blas_parts *tsl_blas_parts_of(tesela_type type);

#endif
