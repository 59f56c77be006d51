/* Strategies of two launches: the first leaves partial results in scratch memory, the last, a single group,
 * makes C of them. */
#ifndef TSL_STRATEGY_SPLIT_K_REDUCE_H
#define TSL_STRATEGY_SPLIT_K_REDUCE_H

#include "strategy/cost_counts.h"
#include "strategy/launch.h"

/* What tsl_fold_build() leaves in work->state. */
typedef struct tsl_fold {
  tsl_kernel *first, *last;
  tsl_grid first_grid, last_grid;
} tsl_fold;

/* Compiles `path` (from src/), which has two kernels, for the problem's types (kernel/kernel_elements.h), and
 * keeps them with their grids in a new tsl_fold, which tsl_fold_release() frees. Fails as tsl_launch_build()
 * does. */
tesela_status tsl_fold_build(tsl_work *work, const char *path, const char *first, const tsl_grid *first_grid,
                             const char *last, const tsl_grid *last_grid);
void tsl_fold_release(tsl_work *work);

/* Launches both, with kernel/kernel_gemm.h's struct at the end:
 *   first  A, B, scratch, arguments     left out where k or alpha is 0: then there is nothing to read
 *   last   scratch, C, arguments */
tesela_status tsl_fold_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Counts them: each term of a dot is read once, each group folds its items' numbers of `bytes` bytes in local
 * memory and leaves one in scratch memory. `terms`: that an item takes at once. */
void tsl_fold_account(const tsl_problem *problem, const tsl_grid *first, double bytes, double terms,
                      const tsl_device *device, tsl_cost_counts *account);

/* The same of a dot on all threads of the host. */
void tsl_fold_account_host(const tsl_problem *problem, const tsl_device *device, tsl_cost_counts *account);

/* Groups of `items` work-items along dimension 0; or a refusal when the device does not allow them. */
const char *tsl_fold_grid(const tsl_device *device, int64_t groups, int items, tsl_grid *grid);

#endif
