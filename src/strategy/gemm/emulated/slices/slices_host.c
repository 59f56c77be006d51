/* slices on the processor: all threads measure and cut lines and compute C; the products are child plans. */
#include "strategy/gemm/emulated/slices/slices_host.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"

enum { ALIGNED = 64 };

typedef struct slices_launch {
  tsl_slices_job job;
  const tsl_slices_kernel *kernel;
} slices_launch;

static const tsl_slices_kernel *kernel_for(const tsl_device *device) {
#define KERNELS(isa, header, needs, ...) &tsl_slices_kernel_##isa,
  static const tsl_slices_kernel *const kernels[] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(device->capabilities)];
}

static void cut_lines(void *argument, int64_t index, int worker) {
  const slices_launch *launch = argument;
  const int64_t of_a = tsl_ceil_div(launch->job.m, TSL_SLICES_BLOCK);
  const int operand = index >= of_a;
  const int64_t first = (index - (operand ? of_a : 0)) * TSL_SLICES_BLOCK;
  (void)worker;
  launch->kernel->measure(&launch->job, operand, first);
  launch->kernel->cut(&launch->job, operand, first);
}

static void join_row(void *argument, int64_t index, int worker) {
  const slices_launch *launch = argument;
  (void)worker;
  launch->kernel->join(&launch->job, index);
}

static void scale_row(void *argument, int64_t index, int worker) {
  const tsl_slices_job *job = &((const slices_launch *)argument)->job;
  float *c = job->c + index * job->c_row;
  (void)worker;
  for (int64_t j = 0; j < job->n; j++)
    c[j * job->c_col] = job->beta != 0 ? job->beta * c[j * job->c_col] : 0;
}

static int64_t slices_reserve(int64_t *bytes, int64_t more) {
  const int64_t offset = *bytes;
  *bytes += tsl_round_up(more, ALIGNED);
  return offset;
}

static tesela_status multiply_slices(const tsl_work *work, const tsl_slices_job *job, tsl_team team) {
  const tsl_slices_products *products = work->state;
  const int64_t begin = TSL_SLICES_PRODUCTS_MOST - work->config.value[TSL_SLICES_PRODUCTS];
  for (int64_t i = begin; i < TSL_SLICES_PRODUCTS_MOST; i++) {
    const tsl_slices_pair *pair = &tsl_slices_pairs[i];
    const tsl_operands operands = {.a = {.host = job->operands[0].planes + pair->a * job->operands[0].plane},
                                   .b = {.host = job->operands[1].planes + pair->b * job->operands[1].plane},
                                   .c = {.host = job->sums},
                                   .team = team};
    TSL_TRY(work->subplans->run(i == begin ? products->first : products->more, &operands));
  }
  return TESELA_OK;
}

static tesela_status run_all(const tsl_work *work, slices_launch *launch, tsl_team team) {
  tsl_slices_job *job = &launch->job;
  int64_t bytes = 0, scales[2], planes[2];
  void *block;
  for (int o = 0; o < 2; o++) {
    tsl_slices_lines *operand_lines = &job->operands[o];
    operand_lines->plane = tsl_round_up(operand_lines->count * job->depth, ALIGNED);
    scales[o] = slices_reserve(&bytes, operand_lines->count * (int64_t)sizeof(int));
    planes[o] = slices_reserve(&bytes, operand_lines->plane * job->slices * (int64_t)sizeof(uint16_t));
  }
  const int64_t sums = slices_reserve(&bytes, job->m * job->n * (int64_t)sizeof(float));
  TSL_TRY(tsl_scratch_take((size_t)bytes, "slices", &block));
  unsigned char *const memory = block;
  for (int o = 0; o < 2; o++) {
    job->operands[o].scales = (int *)(void *)(memory + scales[o]);
    job->operands[o].planes = (uint16_t *)(void *)(memory + planes[o]);
  }
  job->sums = (float *)(void *)(memory + sums);
  tsl_team_run(team, tsl_ceil_div(job->m, TSL_SLICES_BLOCK) + tsl_ceil_div(job->n, TSL_SLICES_BLOCK),
               cut_lines, launch);
  const tesela_status status = multiply_slices(work, job, team);
  if (status == TESELA_OK)
    tsl_team_run(team, job->m, join_row, launch);
  tsl_scratch_give(block);
  return status;
}

/* Computes C' = B' A' if C's columns are contiguous; the child plans are made for it. */
tesela_status tsl_slices_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_slices_products *products = work->state;
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  const bool is_swapped = products->is_swapped;
  const tsl_slices_lines
      of_a = {.at = a->host, .count = problem->m, .across = a->row_stride, .along = a->col_stride},
      of_b = {.at = b->host, .count = problem->n, .across = b->col_stride, .along = b->row_stride};
  slices_launch launch = {.job = {.operands = {is_swapped ? of_b : of_a, is_swapped ? of_a : of_b},
                                  .m = is_swapped ? problem->n : problem->m,
                                  .n = is_swapped ? problem->m : problem->n,
                                  .k = problem->k,
                                  .depth = tsl_slices_depth(problem),
                                  .slices = tsl_slices_count(&work->config),
                                  .c = c->host,
                                  .c_row = is_swapped ? c->col_stride : c->row_stride,
                                  .c_col = is_swapped ? c->row_stride : c->col_stride,
                                  .alpha = (float)problem->alpha[0],
                                  .beta = (float)problem->beta[0]},
                          .kernel = kernel_for(work->device)};
  if (products->first)
    return run_all(work, &launch, operands->team);
  tsl_team_run(operands->team, launch.job.m, scale_row, &launch);
  return TESELA_OK;
}
