/* What Level 3 does beside products, for each type: copies of factors with both triangles, and small
 * triangles. */
#ifndef TSL_BLAS_LEVEL3_HELPERS_H
#define TSL_BLAS_LEVEL3_HELPERS_H

#include "blas/blas_view.h"

/* The most rows of a triangle that parts take. */
enum { TSL_BLAS_SOLVED_MOST = 16 };

typedef struct tsl_blas_parts {
  /* All of a symmetric or hermitian a of m rows, of which `uplo` is stored, column by column. */
  void (*mirror)(const tsl_blas_view *a, int uplo, bool hermitian, int64_t m, void *out);
  /* A triangle with the zeros beside it, to `out`, which lies as a does: column by column, or row by row
   * where a's columns are side by side. */
  void (*spread)(const tsl_blas_view *a, int uplo, bool unit, int64_t m, const tsl_blas_view *out);
  /* Copies m x n numbers; whether all are finite. */
  bool (*copy)(const tsl_blas_view *from, int64_t m, int64_t n, const tsl_blas_view *target);
  /* c = alpha times what a times is c, a being a triangle of m <= TSL_BLAS_SOLVED_MOST rows, c m x n. */
  void (*solve)(const tsl_blas_view *a, int uplo, bool unit, int64_t m, int64_t n, const double alpha[2],
                const tsl_blas_view *c);
  /* The triangle of c, n x n, = square + its transpose, conjugated where it is hermitian, + beta c. Both lie
   * column by column, or both row by row; `lower` is where memory is a column-major one's. */
  void (*fold)(const void *square, bool lower, bool hermitian, int64_t n, const void *beta, void *c,
               int64_t ld);
  /* The triangle of c, likewise, = square + beta c. */
  void (*put)(const void *square, bool lower, int64_t n, const void *beta, void *c, int64_t ld);
} tsl_blas_parts;

const tsl_blas_parts *tsl_blas_parts_of(tesela_type type);

#endif
