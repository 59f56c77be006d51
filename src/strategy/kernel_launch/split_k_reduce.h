/* Two launches: the first leaves partial results in scratch memory, the second, one group, reduces them. */
#ifndef TSL_STRATEGY_SPLIT_K_REDUCE_H
#define TSL_STRATEGY_SPLIT_K_REDUCE_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

/* State of such a strategy, in work->state. */
typedef struct tsl_fold {
  tsl_kernel *first, *last;
  tsl_grid first_grid, last_grid;
} tsl_fold;

/* Compiles `path` (from src/) with two kernels for the problem's types. Stores them with their grids in a new
 * tsl_fold, which tsl_fold_release() frees. Fails like tsl_launch_build(). */
tesela_status tsl_fold_build(tsl_work *work, const char *path, const char *first, const tsl_grid *first_grid,
                             const char *last, const tsl_grid *last_grid);
void tsl_fold_release(tsl_work *work);

/* Launches both kernels, with the struct of kernel/kernel_gemm.h as last argument:
 *   first  A, B, scratch, arguments     skipped where k or alpha is 0
 *   last   scratch, C, arguments */
tesela_status tsl_fold_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Counts both launches of a dot. Each group folds numbers of `bytes` bytes in local memory and writes one to
 * scratch memory. `terms`: terms that an item reads at a time. */
void tsl_fold_account(const tsl_problem *problem, const tsl_grid *first, double bytes, double terms,
                      const tsl_device *device, tsl_cost_counts *account);

/* Counts a dot on the host: A and B are read once. */
void tsl_fold_account_host(const tsl_problem *problem, const tsl_device *device, tsl_cost_counts *account);

/* Sets *grid to `groups` groups of `items` work-items along dimension 0. Returns a refusal, or NULL. */
const char *tsl_fold_grid(const tsl_device *device, int64_t groups, int items, tsl_grid *grid);

#endif
