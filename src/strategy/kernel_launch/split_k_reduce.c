#include "strategy/kernel_launch/split_k_reduce.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>

tesela_status tsl_fold_build(tsl_work *work, const char *path, const char *first, const tsl_grid *first_grid,
                             const char *last, const tsl_grid *last_grid) {
  tsl_fold fold = {.first_grid = *first_grid, .last_grid = *last_grid};
  void *block;
  tsl_text types = {0};
  tesela_status status;
  tsl_launch_define_types(&work->problem, &types);
  TSL_GO(tsl_text_status(&types));
  TSL_GO(tsl_launch_kernel_with(work, path, first, first_grid->items[0], tsl_text_get(&types), &fold.first));
  TSL_GO(tsl_launch_kernel_with(work, path, last, last_grid->items[0], tsl_text_get(&types), &fold.last));
  TSL_GO(tsl_alloc(sizeof fold, "a fold's launches", &block));
  *(tsl_fold *)block = fold;
  work->state = block;
out:
  tsl_text_free(&types);
  return status;
}

void tsl_fold_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

tesela_status tsl_fold_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_fold *fold = work->state;
  const tsl_device_ops *ops = work->device->ops;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_gemm_argument given = tsl_launch_scalars(work, &sizes);
  const tsl_argument scalars = {.value = &given, .bytes = given.bytes};
  const tsl_argument first[] = {TSL_ARG_BUFFER(operands->a.buffer), TSL_ARG_BUFFER(operands->b.buffer),
                                TSL_ARG_BUFFER(operands->scratch), scalars};
  const tsl_argument last[] = {TSL_ARG_BUFFER(operands->scratch), TSL_ARG_BUFFER(operands->c.buffer),
                               scalars};
  if (sizes.k > 0)
    TSL_TRY(ops->launch(stream, fold->first, &fold->first_grid, first, sizeof first / sizeof *first));
  return ops->launch(stream, fold->last, &fold->last_grid, last, sizeof last / sizeof *last);
}

void tsl_fold_account(const tsl_problem *problem, const tsl_grid *first, double bytes, double terms,
                      const tsl_device *device, tsl_cost_counts *account) {
  const int items = first->items[0];
  const double groups = (double)first->groups[0], k = (double)problem->k, folded = groups * items * bytes;
  tsl_cost_counts_groups(groups, items, fmin(groups * items, ceil(k / terms)), (int64_t)(items * bytes),
                         device, account);
  account->launches = 2;
  account->local = (tsl_moved){.read = 2 * folded, .written = 2 * folded};
  tsl_cost_counts_operands(problem, k, k, account);
  tsl_cost_counts_result(problem, 1, account);
  tsl_cost_counts_copies(groups * bytes, account);
  account->launches = 2;
}

void tsl_fold_account_host(const tsl_problem *problem, const tsl_device *device, tsl_cost_counts *account) {
  account->workers = device->threads;
  tsl_cost_counts_operands(problem, account->useful, account->useful, account);
  tsl_cost_counts_result(problem, 1, account);
}

const char *tsl_fold_grid(const tsl_device *device, int64_t groups, int items, tsl_grid *grid) {
  return tsl_launch_grid(device, groups * items, 1, items, 1, grid);
}
