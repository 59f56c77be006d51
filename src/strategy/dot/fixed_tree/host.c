/* The tree on the host: chunks by all threads, then the last lanes and the result by the caller. */
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/dot/fixed_tree/fixed_tree.h"

#include <math.h>

/* So few chunks are done before another thread has woken up; at most so many are one task. */
enum { FEW_CHUNKS = 8, TASK_CHUNKS = 32 };

typedef struct running {
  const tsl_operands *operands;
  tsl_tree_function function;
  int64_t k, size, chunk, chunks, task_chunks;
  tsl_tree_sum *sums; /* one a chunk */
} running;

const tsl_tree_functions *tsl_tree_functions_for(unsigned capabilities) {
  return capabilities & TSL_CAN_AVX512 ? &tsl_tree_functions_avx512
         : capabilities & TSL_CAN_AVX2 ? &tsl_tree_functions_avx2
                                       : &tsl_tree_functions_generic;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void sum_chunks(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const int64_t x_stride = run->operands->a.col_stride, y_stride = run->operands->b.row_stride;
  const int64_t end = least((index + 1) * run->task_chunks, run->chunks);
  (void)worker;
  for (int64_t c = index * run->task_chunks; c < end; c++) {
    const int64_t first = c * run->chunk;
    run->sums[c] = run->function((const char *)run->operands->a.host + first * x_stride * run->size, x_stride,
                                 (const char *)run->operands->b.host + first * y_stride * run->size, y_stride,
                                 (int)least(run->chunk, run->k - first));
  }
}

/* Steps 4 and 5. For f32 the low halves are computed and mean nothing. Lanes that no chunk reached are zero, which
 * changes nothing, and are left out. */
static tsl_tree_sum join_chunks(const tsl_tree_sum *sums, int64_t chunks) {
  tsl_tree_sum lane[TSL_TREE_LAST_LANES] = {{0, 0}};
  int half = 1;
  for (int64_t c = 0; c < chunks; c++)
    lane[c % TSL_TREE_LAST_LANES] = tsl_tree_join(lane[c % TSL_TREE_LAST_LANES], sums[c]);
  while (half < TSL_TREE_LAST_LANES / 2 && 2 * half < chunks)
    half *= 2;
  for (; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      lane[j] = tsl_tree_join(lane[j], lane[j + half]);
  return lane[0];
}

static void finish_f32(tsl_tree_sum sum, double alpha, double beta, float *c) {
  const double scaled = alpha * sum.high;
  const float result = (float)(beta == 0 ? scaled : scaled + beta * (double)*c);
  *c = isnan(result) ? NAN : result;
}

static void finish_f64(tsl_tree_sum sum, double alpha, double beta, double *c) {
  const double high = alpha * sum.high;
  tsl_tree_sum scaled = {high, fma(alpha, sum.low, fma(alpha, sum.high, -high))};
  if (beta != 0) {
    const double product = beta * *c, rest = fma(beta, *c, -product);
    const tsl_tree_sum both = tsl_tree_join((tsl_tree_sum){scaled.high, 0}, (tsl_tree_sum){product, 0});
    scaled = (tsl_tree_sum){both.high, scaled.low + (both.low + rest)};
  }
  const double result = isfinite(scaled.low) ? scaled.high + scaled.low : scaled.high;
  *c = isnan(result) ? (double)NAN : result;
}

/* Scalars are the element type's; an empty sum is not scaled. */
static void finish(const tsl_problem *problem, int64_t k, tsl_tree_sum sum, void *c) {
  if (problem->c.type == TESELA_F64)
    finish_f64(sum, k == 0 ? 0 : problem->alpha[0], problem->beta[0], c);
  else
    finish_f32(sum, k == 0 ? 0 : (float)problem->alpha[0], (float)problem->beta[0], c);
}

tesela_status tsl_tree_run(const tsl_problem *problem, const tsl_operands *operands,
                           const tsl_tree_functions *functions, tsl_pool *pool) {
  const tesela_type type = problem->c.type;
  const bool is_alpha_zero = type == TESELA_F64 ? problem->alpha[0] == 0 : (float)problem->alpha[0] == 0;
  const int64_t k = is_alpha_zero ? 0 : problem->k, chunk = tsl_tree_chunk(type);
  const int64_t chunks = (k + chunk - 1) / chunk;
  tsl_tree_sum few[FEW_CHUNKS];
  running run = {.operands = operands,
                 .function = type == TESELA_F64 ? functions->f64 : functions->f32,
                 .k = k,
                 .size = (int64_t)tsl_type(type)->size,
                 .chunk = chunk,
                 .chunks = chunks,
                 .task_chunks = chunks,
                 .sums = few};
  void *block = NULL;
  if (chunks <= FEW_CHUNKS) {
    sum_chunks(&run, 0, 0);
  } else {
    TSL_TRY(tsl_scratch_take((size_t)chunks * sizeof *run.sums, "sums of chunks", &block));
    run.sums = block;
    run.task_chunks = least(TASK_CHUNKS, (chunks - 1) / (4 * tsl_pool_threads(pool)) + 1);
    tsl_pool_run(pool, (chunks - 1) / run.task_chunks + 1, sum_chunks, &run);
  }
  finish(problem, k, join_chunks(run.sums, chunks), operands->c.host);
  tsl_scratch_give(block);
  return TESELA_OK;
}
