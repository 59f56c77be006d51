/* What the host gives cuda_mma's kernels: read by C and by CUDA C++. Everything counts elements. */
#ifndef TSL_CUDA_MMA_SHARED_H
#define TSL_CUDA_MMA_SHARED_H

/* Scalars are f32, or i32 where C is; their bits travel. */
typedef union cuda_mma_scalar {
  float real;
  int integer;
} cuda_mma_scalar;

/* A matrix, and what is moved of it at a time: of A and B, the bytes of a copy, 16, 8 or 4, or 0 where
 * elements come one by one; of C, whether four numbers of a row lie side by side at multiples of their size.
 */
typedef struct cuda_mma_matrix {
  long long offset, row, col;
  int width;
} cuda_mma_matrix;

typedef struct cuda_mma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;
  int parts, part_panels, longer_parts; /* of k; panels of each, and how many parts have one more */
  cuda_mma_matrix a, b, c;
  long long c_part;                 /* from the sums of one part of k to the next's */
  long long a_step, b_step, c_step; /* from product to product of a batch */
  cuda_mma_scalar alpha, beta;
} cuda_mma_arguments;

/* Sums of `parts` parts, each `pitch` sums a row and `part` sums apart, to C. */
typedef struct cuda_mma_fold_arguments {
  long long m, n, pitch, part, c_step /* from product to product of a batch, which has no sums */;
  cuda_mma_matrix c;
  int parts;
  cuda_mma_scalar alpha, beta;
} cuda_mma_fold_arguments;

#endif
