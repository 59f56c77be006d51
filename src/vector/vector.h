/* Levels 1 and 2 of BLAS on the host at memory speed. Elements are f32, f64, c64 or c128.
 *
 * A vector is the address of element 0 and the step between elements, negative or 0 included. Matrices are
 * column-major. Sizes are not negative, and written vectors overlap nothing else. Functions cannot fail:
 * without memory for copies a slower way is used. Bits do not depend on the number of threads. */
#ifndef TSL_VECTOR_VECTOR_H
#define TSL_VECTOR_VECTOR_H

#include "core/pool.h"
#include "vector/vector_kernels.h"

#include <stddef.h>

/* Bytes of operands from which waking threads pays, and from which using awake threads pays. */
enum { TSL_VECTOR_TEAM_FROM = 1 << 18, TSL_VECTOR_AWAKE_FROM = 3 << 15 };
/* Maximum elements of a vector that one kernel call handles. */
enum { TSL_VECTOR_SHORT = 1 << 14 };

typedef struct tsl_line {
  const void *at; /* written if the operation says so */
  int64_t step;   /* elements from one element to the next, of any sign or 0 */
} tsl_line;

/* Returns the line of n elements. With a negative step BLAS passes the address of the far end. */
static inline tsl_line tsl_vector_at(const tsl_vector_kernels *kernels, const void *data, int64_t n,
                                     int64_t step) {
  const int64_t first = step < 0 ? (1 - n) * step : 0;
  return (tsl_line){(const char *)data + first * kernels->size, step};
}

/* Computes y += a x. */
void tsl_vector_add(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                    tsl_line x, tsl_line y);
/* Computes x = a x; `is_real`: both components of a complex x are multiplied by a.re alone. */
void tsl_vector_scale(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                      bool is_real, tsl_line x);
void tsl_vector_copy(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y);
void tsl_vector_swap(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y);
/* Computes (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y) for each element; h is real. */
void tsl_vector_rot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y,
                    const double h[4]);
/* Returns the sum of x[i] y[i]; with `conjugate` of conj(x[i]) y[i]. */
tsl_vector_number tsl_vector_dot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x,
                                 bool conjugate, tsl_line y);
/* Returns the root of the sum of squares. Neither overflows nor underflows unless the result does. */
double tsl_vector_norm(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);
/* Returns the sum of the absolute values of all components. */
double tsl_vector_asum(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);
/* Returns the index, from 0, of the first of n > 0 elements with the largest sum of components' absolute
 * values. A NaN is skipped unless it is the first element. */
int64_t tsl_vector_iamax(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);

typedef struct tsl_vector_product {
  int64_t rows, columns;
  const void *a;
  int64_t ld;
  bool transposed, conjugate; /* op(A): conjugate alone is conj(A), with transposed the conjugate transpose */
  bool skips;                 /* columns times 0 are not read, unless transposed */
  tsl_vector_number alpha;
  tsl_line x, y;
} tsl_vector_product;

/* Computes y += alpha op(A) x. */
void tsl_vector_multiply(const tsl_vector_kernels *kernels, tsl_team team, const tsl_vector_product *product);

typedef struct tsl_vector_update {
  int64_t rows, columns;
  tsl_vector_number alpha;
  tsl_line x, y;
  bool conjugate_x, conjugate_y;
  void *a;
  int64_t ld;
} tsl_vector_update;

/* Computes A += alpha x y'. Columns with y = 0 are skipped. */
void tsl_vector_ger(const tsl_vector_kernels *kernels, tsl_team team, const tsl_vector_update *update);

/* Maximum rows and columns of small matrices, for direct functions on contiguous vectors. */
enum { TSL_VECTOR_SMALL = 64 };
/* Computes y = beta y + alpha A x, or A' x. */
void tsl_vector_multiply_small(const tsl_vector_kernels *kernels, bool transposed, int64_t rows,
                               int64_t columns, tsl_vector_number alpha, const void *a, int64_t ld,
                               const void *x, tsl_vector_number beta, void *y);
/* Computes A += alpha x y', or with conjugated y. */
void tsl_vector_ger_small(const tsl_vector_kernels *kernels, int64_t rows, int64_t columns,
                          tsl_vector_number alpha, const void *x, const void *y, bool conjugate_y, void *a,
                          int64_t ld);
/* Computes y = beta y + alpha A x for a symmetric or hermitian A. */
void tsl_vector_symmetric_small(const tsl_vector_kernels *kernels, bool upper, bool hermitian, int64_t n,
                                tsl_vector_number alpha, const void *a, int64_t ld, const void *x,
                                tsl_vector_number beta, void *y);

typedef enum tsl_storage { TSL_STORED_FULL, TSL_STORED_PACKED, TSL_STORED_BAND } tsl_storage;

typedef struct tsl_triangle {
  tsl_storage storage;
  bool upper;
  int64_t n, k, ld; /* k: number of off-diagonals of a band */
  const void *a;    /* written by updates */
  bool hermitian, unit;
  bool conjugate; /* each element is the conjugate of the stored one */
} tsl_triangle;

/* Computes y += alpha A x, A symmetric or hermitian. */
void tsl_vector_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_vector_number alpha, tsl_line x, tsl_line y);
/* Computes x = op(A) x, or the solution of op(A) z = x. */
void tsl_vector_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                           bool transposed, bool solves, tsl_line x);
/* Computes A += alpha x x'; for a hermitian A alpha is real and x' is conjugated. If the triangle conjugates,
 * the stored elements are updated with conjugated vectors. */
void tsl_vector_rank_one(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                         tsl_vector_number alpha, tsl_line x);
/* Computes A += alpha x y' + alpha y x', conjugated for a hermitian A. */
void tsl_vector_rank_two(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                         tsl_vector_number alpha, tsl_line x, tsl_line y);

#endif
