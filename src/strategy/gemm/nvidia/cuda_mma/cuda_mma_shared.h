/* Arguments of cuda_mma's kernels: read by C and by CUDA C++. All counts are in elements. */
#ifndef TSL_CUDA_MMA_SHARED_H
#define TSL_CUDA_MMA_SHARED_H

/* Bits of alpha or beta: f32, or i32 where C is i32. */
typedef union cuda_mma_scalar {
  float real;
  int integer;
} cuda_mma_scalar;

typedef struct cuda_mma_matrix {
  long long offset, row, col; /* first element; strides between rows and between columns */
  /* A and B: bytes of a copy, 16, 8, 4, or 0 for single elements; C: 1 if four elements are stored at once */
  int width;
} cuda_mma_matrix;

typedef struct cuda_mma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;                 /* tiles in a column and in a row of C */
  int parts, part_panels, longer_parts; /* split-k parts, panels of a part, parts with one more panel */
  cuda_mma_matrix a, b, c;
  long long c_part;                 /* stride between the sums of split-k parts */
  long long a_step, b_step, c_step; /* strides between products of a batch */
  cuda_mma_scalar alpha, beta;
} cuda_mma_arguments;

/* Split-k reduction: adds `parts` matrices to C = m x n. */
typedef struct cuda_mma_fold_arguments {
  long long m, n;
  long long pitch, part; /* elements between rows of a matrix of sums, and between these matrices */
  long long c_step;      /* stride between products of a batch, which is never split */
  cuda_mma_matrix c;
  int parts; /* 0: sums are 0, because k is 0 */
  cuda_mma_scalar alpha, beta;
} cuda_mma_fold_arguments;

#endif
