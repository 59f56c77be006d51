/* From a problem to panels and blocks. */
#include "strategy/gemm/host_packed/job.h"

/* Where nothing tells how large the caches are. */
enum { LEVEL_2_GUESS = 512 << 10, LEVEL_3_GUESS = 8 << 20 };

static tsl_operand transposed(tsl_operand operand) {
  const int64_t row_stride = operand.row_stride;
  operand.row_stride = operand.col_stride;
  operand.col_stride = row_stride;
  return operand;
}

static int64_t magnitude(int64_t value) {
  return value < 0 ? -value : value;
}

/* The same elements with the last row first. */
static tsl_operand upside_down(tsl_operand operand, int64_t rows, size_t size) {
  operand.host = (unsigned char *)operand.host + (rows - 1) * operand.row_stride * (int64_t)size;
  operand.row_stride = -operand.row_stride;
  return operand;
}

/* C's columns side by side, or at least nearer to each other than its rows: where they are not, the transposed
 * product B' A' is computed. No stride of C is negative: where one is, C's and A's rows, or C's and B's columns, are
 * taken in the opposite order. */
static void orient(tsl_packed_job *job, const tsl_problem *problem, const tsl_operands *operands) {
  const bool is_turned = magnitude(operands->c.row_stride) < magnitude(operands->c.col_stride);
  job->m = is_turned ? problem->n : problem->m;
  job->n = is_turned ? problem->m : problem->n;
  job->a = is_turned ? transposed(operands->b) : operands->a;
  job->b = is_turned ? transposed(operands->a) : operands->b;
  job->c = is_turned ? transposed(operands->c) : operands->c;
  if (job->c.row_stride < 0) {
    job->c = upside_down(job->c, job->m, job->size);
    if (job->k > 0)
      job->a = upside_down(job->a, job->m, job->size);
  }
  if (job->c.col_stride < 0) {
    job->c = transposed(upside_down(transposed(job->c), job->n, job->size));
    if (job->k > 0)
      job->b = transposed(upside_down(transposed(job->b), job->n, job->size));
  }
}

static int64_t at_least(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Panels of equal depth, near `depth`. B's block takes `block` bytes, which a second-level cache holds together with
 * slivers that pass by; A's panel a quarter of the third level. */
static void cut(tsl_packed_job *job, int64_t depth, int64_t block, const tsl_device *device) {
  const int64_t strip = job->kernels->vectors * job->kernels->lanes;
  const int64_t level_3 = (int64_t)(device->level_bytes[2] ? device->level_bytes[2] : LEVEL_3_GUESS);
  job->depth = tsl_packed_parts(job->k, tsl_packed_parts(job->k, depth));
  const int64_t row_bytes = job->depth * (int64_t)job->size;
  const int64_t columns = at_least(block / row_bytes / strip, 1) * strip,
                rows = at_least(level_3 / 4 / row_bytes, 32 * job->kernels->rows);
  job->columns = tsl_packed_parts(tsl_packed_parts(job->n, tsl_packed_parts(job->n, columns)), strip) * strip;
  job->rows = tsl_packed_parts(job->m, tsl_packed_parts(job->m, rows));
}

tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *operands, int64_t depth,
                                  int64_t block, const tsl_device *device) {
  const bool is_empty = problem->k == 0 || (problem->alpha[0] == 0 && problem->alpha[1] == 0);
  tsl_packed_job job = {.kernels = tsl_packed_kernels_for(problem->c.type, device->capabilities),
                        .size = tsl_type(problem->c.type)->size,
                        .k = is_empty ? 0 : problem->k,
                        .alpha = {problem->alpha[0], problem->alpha[1]},
                        .beta = {problem->beta[0], problem->beta[1]},
                        .copies_a = true,
                        .copies_b = true};
  if (is_empty)
    job.alpha[0] = job.alpha[1] = 0; /* infinity times an empty sum is nothing */
  orient(&job, problem, operands);
  cut(&job, depth, block, device);
  return job;
}

int64_t tsl_packed_block_bytes(const tsl_device *device) {
  return (int64_t)(device->level_bytes[1] ? device->level_bytes[1] : LEVEL_2_GUESS) / 2;
}
