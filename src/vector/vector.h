/* Vectors, and matrices times vectors, on the host at memory's speed: what BLAS calls levels 1 and 2.
 * Elements are f32, f64, c64 or c128, as the kernels' type says.
 *
 * A vector is element 0's address and the step from one to the next in elements, which may be negative or 0
 * (tsl_vector_at() finds the address as BLAS gives it). Matrices lie column by column. Sizes are not
 * negative, vectors that are written overlap nothing else, and neither memory nor a status is needed from
 * anybody: where there is no memory for copies a slower way takes none. Sums are cut by sizes alone, so that
 * the bits of a result do not depend on the number of threads. */
#ifndef TSL_VECTOR_VECTOR_H
#define TSL_VECTOR_VECTOR_H

#include "base/pool.h"
#include "vector/vector_kernels.h"

#include <stddef.h>

/* Bytes of operands from which on threads are worth waking, and from which on those that are awake are worth
 * asking. */
enum { TSL_VECTOR_TEAM_FROM = 1 << 18, TSL_VECTOR_AWAKE_FROM = 3 << 15 };
/* Vectors of at most so many elements are one piece, which is a kernel's. */
enum { TSL_VECTOR_SHORT = 1 << 14 };

typedef struct tsl_line {
  const void *at; /* written where an operation says so */
  int64_t step;
} tsl_line;

/* Element 0 of n, where BLAS means the far end by a negative step. */
static inline tsl_line tsl_vector_at(const tsl_vector_kernels *kernels, const void *data, int64_t n,
                                     int64_t step) {
  const int64_t first = step < 0 ? (1 - n) * step : 0;
  return (tsl_line){(const char *)data + first * kernels->size, step};
}

/* --- vectors (vector_lines.c); what is not here is a kernel's --- */

void tsl_vector_add(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                    tsl_line x, tsl_line y);
void tsl_vector_scale(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_vector_number a,
                      bool is_real, tsl_line x);
void tsl_vector_copy(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y);
void tsl_vector_swap(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y);
void tsl_vector_rot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x, tsl_line y,
                    const double h[4]);
tsl_vector_number tsl_vector_dot(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x,
                                 bool conjugate, tsl_line y);
/* The root of the sum of squares, which neither overflows nor underflows where the result does not. */
double tsl_vector_norm(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);
double tsl_vector_asum(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);
/* From 0, of n > 0 elements: the first with the largest sum of components' absolute values. One that is no
 * number is passed over unless it is the first. */
int64_t tsl_vector_iamax(const tsl_vector_kernels *kernels, tsl_team team, int64_t n, tsl_line x);

/* --- matrices (matrix.c) --- */

typedef struct tsl_vector_product {
  int64_t rows, columns;
  const void *a;
  int64_t ld;
  bool transposed, conjugate;
  bool skips; /* columns times 0 are not read, where nothing is transposed */
  tsl_vector_number alpha;
  tsl_line x, y;
} tsl_vector_product;

/* y += alpha op(A) x. */
void tsl_vector_multiply(const tsl_vector_kernels *kernels, tsl_team team, const tsl_vector_product *product);

typedef struct tsl_vector_update {
  int64_t rows, columns;
  tsl_vector_number alpha;
  tsl_line x, y;
  bool conjugate_x, conjugate_y;
  void *a;
  int64_t ld;
} tsl_vector_update;

/* A += alpha x y'. Columns for which y is 0 are left alone. */
void tsl_vector_ger(const tsl_vector_kernels *kernels, tsl_team team, const tsl_vector_update *update);

/* --- small matrices (small.c) --- */

/* Of at most so many rows and columns, and vectors that lie side by side: what the functions beside make of
 * them, with nothing in between. A small triangular matrix is the kernel's `diagonal`. */
enum { TSL_VECTOR_SMALL = 64 };
/* y = beta y + alpha A x, or A' x */
void tsl_vector_multiply_small(const tsl_vector_kernels *kernels, bool transposed, int64_t rows,
                               int64_t columns, tsl_vector_number alpha, const void *a, int64_t ld,
                               const void *x, tsl_vector_number beta, void *y);
/* A += alpha x y', or with y conjugated */
void tsl_vector_ger_small(const tsl_vector_kernels *kernels, int64_t rows, int64_t columns,
                          tsl_vector_number alpha, const void *x, const void *y, bool conjugate_y, void *a,
                          int64_t ld);
/* y = beta y + alpha A x of a symmetric or hermitian A */
void tsl_vector_symmetric_small(const tsl_vector_kernels *kernels, bool upper, bool hermitian, int64_t n,
                                tsl_vector_number alpha, const void *a, int64_t ld, const void *x,
                                tsl_vector_number beta, void *y);

/* --- one triangle of a square (vector_triangle.c, vector_blocks.c) --- */

typedef enum tsl_storage { TSL_STORED_FULL, TSL_STORED_PACKED, TSL_STORED_BAND } tsl_storage;

typedef struct tsl_triangle {
  tsl_storage storage;
  bool upper;
  int64_t n, k, ld; /* k: diagonals of a band beside the main one */
  const void *a;    /* written by updates */
  bool hermitian, unit;
  bool conjugate; /* each element is what is stored, conjugated */
} tsl_triangle;

/* y += alpha A x, A symmetric or hermitian. */
void tsl_vector_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_vector_number alpha, tsl_line x, tsl_line y);
/* x = op(A) x, or the solution of op(A) z = x. */
void tsl_vector_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                           bool transposed, bool solves, tsl_line x);
/* A += alpha x x' (alpha real and x' conjugated of a hermitian one); A += alpha x y' + alpha y x' (and
 * conjugated). Of a triangle that conjugates, what is stored is: the updates are those of the conjugated
 * vectors. */
void tsl_vector_rank_one(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                         tsl_vector_number alpha, tsl_line x);
void tsl_vector_rank_two(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                         tsl_vector_number alpha, tsl_line x, tsl_line y);

#endif
