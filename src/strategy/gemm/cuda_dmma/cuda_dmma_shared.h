/* Arguments of cuda_dmma's kernels. All counts are in elements, real or complex. */
#ifndef TSL_CUDA_DMMA_SHARED_H
#define TSL_CUDA_DMMA_SHARED_H

/* Matrix. is_wide: 16 bytes can be accessed at once, a complex element or a pair of adjacent real ones. */
typedef struct cuda_dmma_matrix {
  long long offset, row, col;
  int is_wide;
} cuda_dmma_matrix;

typedef struct cuda_dmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;
  int parts, part_panels, longer_parts; /* split-k parts, panels of a part, parts with one more panel */
  cuda_dmma_matrix a, b, c;
  long long c_part;                 /* stride between the sums of split-k parts */
  long long a_step, b_step, c_step; /* strides between products of a batch */
  double alpha[2], beta[2];
  long long wanted, wanted_above; /* address of an int, or 0: the result is unused if it is <= wanted_above */
} cuda_dmma_arguments;

/* Split-k reduction: adds `parts` matrices, `part` elements apart, with rows of `pitch` elements, to C. */
typedef struct cuda_dmma_fold_arguments {
  long long m, n, pitch, part, c_step /* stride between products of a batch, which is never split */;
  cuda_dmma_matrix c;
  int parts;
  double alpha[2], beta[2];
  long long wanted, wanted_above;
} cuda_dmma_fold_arguments;

#endif
