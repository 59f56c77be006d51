/* Idea: the five loops of a packed product around a tile of C that fills the vector registers.
 * (placeholder header) */
#include "base/memory.h"
#include "base/pool.h"
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/gemm/host_packed/job.h"

#include <math.h>
#include <stdlib.h>

enum { DEPTH, BLOCK };
static const tsl_param params[] = {
    [DEPTH] = {"depth", "products of a panel", 384, {128, 192, 256, 384, 512}},
    [BLOCK] = {"block", "KiB of a block of B", 512, {128, 256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_panels(problem, config->value[DEPTH]);
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  return 1e-6 + tsl_problem_flops(problem) / device->peak_f32;
}

static tesela_status build(tsl_work *work) {
  work->state = (void *)(uintptr_t)tsl_packed_kernels_for(work->problem.c.type, work->device->capabilities);
  return TESELA_OK;
}

static tsl_operand transposed(tsl_operand operand) {
  const int64_t row_stride = operand.row_stride;
  operand.row_stride = operand.col_stride;
  operand.col_stride = row_stride;
  return operand;
}

static int64_t magnitude(int64_t value) {
  return value < 0 ? -value : value;
}

static tsl_operand turned_rows(tsl_operand operand, int64_t rows, size_t size) {
  operand.host = (unsigned char *)operand.host + (rows - 1) * operand.row_stride * (int64_t)size;
  operand.row_stride = -operand.row_stride;
  return operand;
}

static tsl_packed_job job_for(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const int64_t *value = work->config.value;
  const size_t size = tsl_type(problem->c.type)->size;
  tsl_packed_job job = {.kernels = work->state,
                        .size = size,
                        .m = problem->m,
                        .n = problem->n,
                        .k = problem->alpha[0] == 0 && problem->alpha[1] == 0 ? 0 : problem->k,
                        .a = operands->a,
                        .b = operands->b,
                        .c = operands->c,
                        .alpha = {problem->alpha[0], problem->alpha[1]},
                        .beta = {problem->beta[0], problem->beta[1]}};
  if (job.k == 0)
    job.alpha[0] = job.alpha[1] = 0; /* infinity times an empty sum is nothing */
  if (magnitude(job.c.row_stride) < magnitude(job.c.col_stride)) {
    job.m = problem->n;
    job.n = problem->m;
    job.a = transposed(operands->b);
    job.b = transposed(operands->a);
    job.c = transposed(operands->c);
  }
  if (job.c.row_stride < 0) {
    job.a = job.k > 0 ? turned_rows(job.a, job.m, size) : job.a;
    job.c = turned_rows(job.c, job.m, size);
  }
  if (job.c.col_stride < 0) {
    job.b = job.k > 0 ? transposed(turned_rows(transposed(job.b), job.n, size)) : job.b;
    job.c = transposed(turned_rows(transposed(job.c), job.n, size));
  }
  const int64_t panels = tsl_packed_parts(job.k, value[DEPTH]);
  job.depth = tsl_packed_parts(job.k, panels);
  const int64_t strip = job.kernels->vectors * job.kernels->lanes;
  job.columns = value[BLOCK] * 1024 / (job.depth * (int64_t)size) / strip * strip;
  job.columns = job.columns < strip ? strip : job.columns;
  job.rows = 4096;
  job.copies_a = getenv("DA") == NULL;
  job.copies_b = getenv("DB") == NULL || job.b.col_stride != 1;
  return job;
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)stream;
  const tsl_packed_job job = job_for(work, operands);
  const size_t a_bytes = tsl_packed_bytes_of_a(&job, tsl_packed_least(job.rows, job.m), job.depth),
               b_bytes = tsl_packed_bytes_of_b(&job, tsl_packed_least(job.columns, job.n), job.depth);
  void *copies;
  TSL_TRY(tsl_scratch_take(a_bytes + b_bytes, "copies of blocks", &copies));
  unsigned char *a_copy = copies, *b_copy = a_copy + a_bytes;
  for (int64_t row = 0; row < job.m; row += job.rows)
    for (int64_t step = 0; step == 0 || step < job.k; step += job.depth) {
      tsl_packed_block block = {.row = row,
                                .rows = tsl_packed_least(job.rows, job.m - row),
                                .step = step,
                                .depth = tsl_packed_least(job.depth, job.k - step)};
      tsl_packed_copy_a(&job, &block, a_copy);
      for (int64_t column = 0; column < job.n; column += job.columns) {
        block.column = column;
        block.columns = tsl_packed_least(job.columns, job.n - column);
        tsl_packed_copy_b(&job, &block, b_copy);
        tsl_packed_multiply_block(&job, &block, a_copy, b_copy, 0, tsl_packed_slivers(&job, &block));
      }
    }
  tsl_scratch_give(copies);
  return TESELA_OK;
}

const tsl_strategy tsl_gemm_host_packed = {
    .name = "host_packed",
    .idea = "five loops over packed panels around register tiles of C, on all cores",
    .op = TSL_OP_GEMM,
    .rung = 7,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = accuracy,
    .params = params,
    .score = score,
    .build = build,
    .run = run,
};
