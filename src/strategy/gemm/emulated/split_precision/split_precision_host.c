/* split_precision on the processor: all threads measure and cut lines and compute C; the products are child
 * plans. */
#include "strategy/gemm/emulated/split_precision/split_precision_host.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"

enum { ALIGNED = 64 };

static const tsl_split_kernel *kernel_for(const tsl_device *device) {
#define KERNELS(isa, header, needs, ...) &tsl_split_kernel_##isa,
  static const tsl_split_kernel *const kernels[] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(device->capabilities)];
}

static void cut_lines(void *argument, int64_t index, int worker) {
  const tsl_split_job *job = argument;
  const int64_t of_a = tsl_ceil_div(job->m, TSL_SPLIT_BLOCK);
  const int operand = index >= of_a;
  const int64_t first = (index - (operand ? of_a : 0)) * TSL_SPLIT_BLOCK;
  (void)worker;
  job->kernel->measure(job, operand, first);
  job->kernel->cut(job, operand, first);
}

static void join_row(void *argument, int64_t index, int worker) {
  const tsl_split_job *job = argument;
  (void)worker;
  job->kernel->join(job, index);
}

static void scale_row(void *argument, int64_t index, int worker) {
  const tsl_split_job *job = argument;
  float *c = job->c + index * job->c_row;
  (void)worker;
  for (int64_t j = 0; j < job->n; j++)
    c[j * job->c_col] = job->beta != 0 ? job->beta * c[j * job->c_col] : 0;
}

static tesela_status run_all(const tsl_work *work, tsl_split_job *job, tsl_team team) {
  int64_t bytes = 0, scales[2], planes[2];
  void *block;
  for (int o = 0; o < 2; o++) {
    tsl_split_lines *lines = &job->operands[o];
    lines->plane = tsl_round_up(lines->count * job->depth, ALIGNED);
    scales[o] = tsl_scratch_reserve(&bytes, lines->count * (int64_t)sizeof(int), ALIGNED);
    planes[o] = tsl_scratch_reserve(&bytes, lines->plane * job->parts * (int64_t)sizeof(uint16_t), ALIGNED);
  }
  const int64_t sums = tsl_scratch_reserve(&bytes, job->m * job->n * (int64_t)sizeof(float), ALIGNED);
  TSL_TRY(tsl_scratch_take((size_t)bytes, "split_precision", &block));
  unsigned char *const memory = block;
  for (int o = 0; o < 2; o++) {
    job->operands[o].scales = (int *)(void *)(memory + scales[o]);
    job->operands[o].planes = (uint16_t *)(void *)(memory + planes[o]);
  }
  job->sums = (float *)(void *)(memory + sums);
  tsl_team_run(team, tsl_ceil_div(job->m, TSL_SPLIT_BLOCK) + tsl_ceil_div(job->n, TSL_SPLIT_BLOCK), cut_lines,
               job);
  const tsl_operands parts = {.a = {.host = job->operands[0].planes},
                              .b = {.host = job->operands[1].planes},
                              .c = {.host = job->sums},
                              .team = team};
  const tesela_status status = tsl_split_multiply(
      work, &parts, (const int64_t[2]){job->operands[0].plane, job->operands[1].plane}, NULL);
  if (status == TESELA_OK)
    tsl_team_run(team, job->m, join_row, job);
  tsl_scratch_give(block);
  return status;
}

/* Computes C' = B' A' if C's columns are contiguous; the child plans are made for it. */
tesela_status tsl_split_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_split_state *state = work->state;
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  const bool is_swapped = tsl_split_is_swapped(problem);
  const tsl_split_lines
      of_a = {.at = a->host, .count = problem->m, .across = a->row_stride, .along = a->col_stride},
      of_b = {.at = b->host, .count = problem->n, .across = b->col_stride, .along = b->row_stride};
  tsl_split_job job = {.kernel = kernel_for(work->device),
                       .operands = {is_swapped ? of_b : of_a, is_swapped ? of_a : of_b},
                       .m = is_swapped ? problem->n : problem->m,
                       .n = is_swapped ? problem->m : problem->n,
                       .k = problem->k,
                       .depth = tsl_split_depth(problem, &work->config),
                       .parts = tsl_split_form_of(&work->config)->parts,
                       .c = c->host,
                       .c_row = is_swapped ? c->col_stride : c->row_stride,
                       .c_col = is_swapped ? c->row_stride : c->col_stride,
                       .alpha = (float)problem->alpha[0],
                       .beta = (float)problem->beta[0]};
  if (state->first)
    return run_all(work, &job, operands->team);
  tsl_team_run(operands->team, job.m, scale_row, &job);
  return TESELA_OK;
}
