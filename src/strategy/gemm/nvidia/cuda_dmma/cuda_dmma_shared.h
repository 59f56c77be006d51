/* Arguments of cuda_dmma's kernels. All counts are in elements, real or complex. */
#ifndef TSL_CUDA_DMMA_SHARED_H
#define TSL_CUDA_DMMA_SHARED_H

typedef struct cuda_dmma_matrix {
  long long offset, row, col; /* first element; strides between rows and between columns */
  int is_wide; /* 16 bytes can be accessed at once: a complex element or a pair of adjacent real ones */
} cuda_dmma_matrix;

typedef struct cuda_dmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;                 /* tiles in a column and in a row of C */
  int parts, part_panels, longer_parts; /* split-k parts, panels of a part, parts with one more panel */
  cuda_dmma_matrix a, b, c;
  long long c_part;                 /* stride between the sums of split-k parts */
  long long a_step, b_step, c_step; /* strides between products of a batch */
  double alpha[2], beta[2];
  long long wanted, wanted_above; /* address of an int, or 0: the result is unused if it is <= wanted_above */
} cuda_dmma_arguments;

/* Split-k reduction: adds `parts` matrices to C = m x n. */
typedef struct cuda_dmma_fold_arguments {
  long long m, n;
  long long pitch, part; /* elements between rows of a matrix of sums, and between these matrices */
  long long c_step;      /* stride between products of a batch, which is never split */
  cuda_dmma_matrix c;
  int parts; /* 0: sums are 0, because k is 0 */
  double alpha[2], beta[2];
  long long wanted, wanted_above; /* address of an int, or 0: nothing is done if it is <= wanted_above */
} cuda_dmma_fold_arguments;

#endif
