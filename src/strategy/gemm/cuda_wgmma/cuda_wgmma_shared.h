/* What the host gives cuda_wgmma's kernels: read by C and by CUDA C++. */
#ifndef TSL_CUDA_WGMMA_SHARED_H
#define TSL_CUDA_WGMMA_SHARED_H

/* Scalars are f32, or i32 where C is; their bits travel. Strides of C count elements. */
typedef union cuda_wgmma_scalar {
  float real;
  int integer;
} cuda_wgmma_scalar;

typedef struct cuda_wgmma_arguments {
  int m, n, k;
  int tiles_m, tiles_n;                     /* of a cluster: CLUSTER tiles one below the other are one here */
  int band;                                 /* rows of those that blocks take together */
  int parts;                                /* of k; of each of them, a cluster's blocks have parts (flow) */
  int ahead;                                /* panels that are brought to the last cache early (flow) */
  int by_map;                               /* C goes by its map; else by these: */
  long long c_offset, c_row, c_col, c_part; /* c_part: from the sums of one part of k to the next's */
  cuda_wgmma_scalar alpha, beta;
} cuda_wgmma_arguments;

/* Sums of `parts` parts, each `pitch` elements a row and `part` elements apart, to C. */
typedef struct cuda_wgmma_fold_arguments {
  long long m, n, pitch, part;
  long long c_offset, c_row, c_col;
  int parts;
  cuda_wgmma_scalar alpha, beta;
} cuda_wgmma_fold_arguments;

#endif
