#ifndef TSL_VECTOR_VECTOR_TRIANGLE_H
#define TSL_VECTOR_VECTOR_TRIANGLE_H

#include "vector/vector_number.h"

/* A column's elements off the diagonal, in rows first to first + count - 1, and its diagonal element. */
typedef struct tsl_triangle_lane {
  int64_t first, count;
  void *beside, *diagonal; /* elements off the diagonal, contiguous; diagonal element */
} tsl_triangle_lane;

tsl_triangle_lane tsl_triangle_column(const tsl_vector_kernels *kernels, const tsl_triangle *triangle,
                                      int64_t j);

/* Compute column by column, for every storage, without memory. */
void tsl_columns_symmetric(const tsl_vector_kernels *kernels, const tsl_triangle *triangle,
                           tsl_vector_number alpha, tsl_line x, tsl_line y);
void tsl_columns_triangular(const tsl_vector_kernels *kernels, const tsl_triangle *triangle, bool transposed,
                            bool solves, tsl_line x);

/* Returns the first row or column of a range of a triangle, a multiple of `unit` or n. All ranges have nearly
 * equal areas. `grows`: later rows or columns are longer. */
int64_t tsl_blocks_begin(int64_t n, int ranges, int64_t range, bool grows, int64_t unit);
/* Compute a full triangle by blocks. Returns false, with nothing done, without memory. */
bool tsl_blocks_symmetric(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                          tsl_vector_number alpha, tsl_line x, tsl_line y);
void tsl_blocks_triangular(const tsl_vector_kernels *kernels, tsl_team team, const tsl_triangle *triangle,
                           bool transposed, bool solves, tsl_line x);

#endif
