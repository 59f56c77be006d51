#ifndef TSL_VECTOR_VECTOR_TRIANGLE_H
#define TSL_VECTOR_VECTOR_TRIANGLE_H

#include "vector/vector_number.h"

/* Elements of a column off the diagonal, contiguous in rows first to first + count - 1, and its diagonal. */
typedef struct tsl_triangle_elements {
  int64_t first, count;
  void *off_diagonal, *diagonal;
} tsl_triangle_elements;

/* Returns the first row or column of a range of a triangle, a multiple of `unit` or n. All ranges have nearly
 * equal areas. `grows`: later rows or columns are longer. */
int64_t tsl_blocks_begin(int64_t n, int ranges, int64_t range, bool grows, int64_t unit);
/* Computes y += alpha A x for a full triangle by blocks. Returns false, with nothing done, without memory. */
bool tsl_blocks_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_vector_number alpha, tsl_line x, tsl_line y);
/* Computes x = op(A) x, or the solution of op(A) z = x, for a full triangle by blocks. */
void tsl_blocks_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                           bool transposed, bool solves, tsl_line x);

#endif
