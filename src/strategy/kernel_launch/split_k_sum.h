/* Products that cut k into splits in scratch memory, and the launch that adds them (split_k_sum.cl). */
#ifndef TSL_STRATEGY_SPLIT_K_SUM_H
#define TSL_STRATEGY_SPLIT_K_SUM_H

#include "strategy/kernel_launch/launch.h"

#include "strategy/kernel_launch/split_k_sum_shared.h"

typedef struct tsl_split_k_sum {
  int splits, vector; /* k splits; bytes of a vector, to which rows of a split are aligned */
  int shares;         /* items that share a sum: more than 1 for many splits of a small C */
} tsl_split_k_sum;

/* Returns the grid for `batch` products with C of m x n elements; without groups where there is one split. */
tsl_grid tsl_split_k_sum_grid(const tsl_split_k_sum *sum, tesela_type sums, int64_t m, int64_t n,
                              int64_t batch, const tsl_device *device);
/* Compiles the kernel; `defines`: lines for kernel/kernel_elements.h. NULL where there is one split. */
tesela_status tsl_split_k_sum_kernel(tsl_work *work, const tsl_split_k_sum *sum, const char *defines,
                                     tsl_kernel **kernel);
/* Adds the splits to C. The caller sets `arguments` up to split_step, and the predicate. Does nothing where
 * there is one split. */
tesela_status tsl_split_k_sum_run(const tsl_work *work, tsl_kernel *kernel, const tsl_split_k_sum *sum,
                                  tsl_split_k_sum_arguments arguments, const tsl_launch_operands *operands,
                                  tsl_buffer *scratch, tsl_stream *stream);

/* Kernels of a product by two launches, in work->state. */
typedef struct tsl_split_k_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum; /* adds the k splits; NULL where there is one split */
} tsl_split_k_kernels;

/* Sizes of a product by two launches. Its kernel takes A, B, C or the scratch memory, tsl_gemm_arguments, and
 * five strides: `depth`, from split to split of C, and from product to product of A, B and C. */
typedef struct tsl_split_k_product {
  tsl_split_k_sum sum;
  tsl_grid multiply;
  int64_t depth;     /* k of a split, or of what shares it */
  int64_t pitch;     /* numbers between rows of a split of C */
  int numbers, size; /* numbers of an element; bytes of a number of a sum */
} tsl_split_k_product;

/* Returns the bytes of scratch memory for `batch` products with m rows of C. */
uint64_t tsl_split_k_scratch(const tsl_split_k_product *product, int64_t m, int64_t batch);
/* Multiplies, and adds the splits to C. */
tesela_status tsl_split_k_run(const tsl_work *work, const tsl_split_k_product *product,
                              const tsl_launch_operands *operands, tsl_buffer *scratch, tsl_stream *stream);

#endif
