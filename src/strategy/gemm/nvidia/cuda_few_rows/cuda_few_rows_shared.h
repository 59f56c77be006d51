/* Arguments of cuda_few_rows's kernel, in elements. sm80_shared.h comes before. */
#ifndef TSL_CUDA_FEW_ROWS_SHARED_H
#define TSL_CUDA_FEW_ROWS_SHARED_H

typedef struct cuda_few_rows_arguments {
  int m, n, k;
  int is_wide;         /* lines of A and B are contiguous and aligned to 16 bytes */
  int ahead;           /* bytes of each line of B that a block prefetches to L2 before it may start */
  sm80_matrix a, b, c; /* `width` is not used */
  sm80_scalars scalars;
} cuda_few_rows_arguments;

#endif
