/* Launch that adds the k splits of a product in scratch memory (split_k_sum.cl). */
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

#endif
