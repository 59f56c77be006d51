/* What the host gives cuda_dmma's kernels: read by C and by CUDA C++.
 * Everything counts numbers, real or complex ones. */
#ifndef TSL_CUDA_DMMA_SHARED_H
#define TSL_CUDA_DMMA_SHARED_H

/* A matrix, and whether what is copied at a time, a complex number or a pair of
 * real ones that follow each other as the build says, lies at multiples of 16
 * bytes. */
typedef struct cuda_dmma_matrix {
  long long offset, row, col;
  int is_wide;
} cuda_dmma_matrix;

typedef struct cuda_dmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;
  int parts, part_panels, longer_parts; /* of k; panels of each, and how many parts have one more */
  cuda_dmma_matrix a, b, c;
  long long c_part;                 /* from the sums of one part of k to the next's */
  long long a_step, b_step, c_step; /* from product to product of a batch */
  double alpha[2], beta[2];
  long long wanted, wanted_above; /* the address of an int, and what it must be above unless the run is not
                                     wanted; 0: it is */
} cuda_dmma_arguments;

/* Sums of `parts` parts, each `pitch` elements a row and `part` elements apart,
 * to C. */
typedef struct cuda_dmma_fold_arguments {
  long long m, n, pitch, part, c_step /* from product to product of a batch, which has no sums */;
  cuda_dmma_matrix c;
  int parts;
  double alpha[2], beta[2];
  long long wanted, wanted_above;
} cuda_dmma_fold_arguments;

#endif
