/* The tree on the host: all threads sum blocks, then the caller joins the lanes and stores the result. */
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/dot/portable/fixed_tree/fixed_tree.h"

#include <math.h>

/* Blocks that one thread finishes before another would wake up; maximum blocks of a task. */
enum { ONE_THREAD_BLOCKS = 1, TASK_BLOCKS = 4 };

typedef struct fixed_tree_job {
  const tsl_operands *operands;
  tsl_tree_function function;
  tesela_type x_type, y_type;
  int64_t k, chunk, blocks, task_blocks; /* terms; terms of a chunk; blocks in all, and of a task */
  tsl_tree_sum *sums;                    /* one for each block */
} fixed_tree_job;

const tsl_tree_functions *tsl_tree_functions_for(unsigned capabilities) {
#define SET(isa, header, needs, ...) &tsl_tree_functions_##isa,
  static const tsl_tree_functions *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_isa_best(capabilities)];
}

/* Joins `count` sums by halves, with zeros up to a power of two, which change nothing. */
static tsl_tree_sum join_by_halves(tsl_tree_sum *sums, int64_t count) {
  int64_t half = 1;
  while (2 * half < count)
    half *= 2;
  for (; half > 0; half /= 2)
    for (int64_t j = 0; j < half; j++)
      sums[j] = tsl_tree_join(sums[j], sums[j + half]);
  return sums[0];
}

static tsl_tree_numbers numbers_from_index(tesela_type type, const void *src, int64_t stride, int64_t first) {
  return (tsl_tree_numbers){type, (const char *)src + first * stride * (int64_t)tsl_type(type)->size, stride};
}

/* Returns the sum of the block whose first term is `first_term`. */
static tsl_tree_sum sum_block(const fixed_tree_job *run, int64_t first_term) {
  tsl_tree_sum sums[TSL_TREE_BLOCK] = {{0, 0}};
  int count = 0;
  for (; count < TSL_TREE_BLOCK && first_term < run->k; count++, first_term += run->chunk) {
    const tsl_tree_numbers x = numbers_from_index(run->x_type, run->operands->a.host,
                                                  run->operands->a.col_stride, first_term),
                           y = numbers_from_index(run->y_type, run->operands->b.host,
                                                  run->operands->b.row_stride, first_term);
    sums[count] = run->function(&x, &y, (int)tsl_min(run->chunk, run->k - first_term));
  }
  return join_by_halves(sums, count);
}

static void sum_blocks(void *argument, int64_t index, int worker) {
  const fixed_tree_job *run = argument;
  const int64_t end = tsl_min((index + 1) * run->task_blocks, run->blocks);
  (void)worker;
  for (int64_t block = index * run->task_blocks; block < end; block++)
    run->sums[block] = sum_block(run, block * TSL_TREE_BLOCK * run->chunk);
}

static tsl_tree_sum join_block_sums(const tsl_tree_sum *sums, int64_t blocks) {
  tsl_tree_sum lane[TSL_TREE_LAST_LANES] = {{0, 0}};
  for (int64_t b = 0; b < blocks; b++)
    lane[b % TSL_TREE_LAST_LANES] = tsl_tree_join(lane[b % TSL_TREE_LAST_LANES], sums[b]);
  return join_by_halves(lane, tsl_min(blocks, TSL_TREE_LAST_LANES));
}

static void store_result_f32(tsl_tree_sum sum, double alpha, double beta, tesela_type type, void *c) {
  double before[2] = {0, 0};
  if (beta != 0)
    tsl_type_load(type, c, before);
  const double scaled = alpha * sum.high;
  const float result = (float)(beta == 0 ? scaled : scaled + beta * before[0]);
  const double rounded[2] = {isnan(result) ? (double)NAN : (double)result, 0};
  tsl_type_store(type, c, rounded);
}

static void store_result_i32(tsl_tree_sum sum, const tsl_problem *problem, uint32_t *c) {
  const uint32_t alpha = (uint32_t)(int64_t)problem->alpha[0], beta = (uint32_t)(int64_t)problem->beta[0],
                 scaled = alpha * (uint32_t)(int64_t)sum.high;
  *c = beta == 0 ? scaled : scaled + beta * *c;
}

static void store_result_f64(tsl_tree_sum sum, double alpha, double beta, double *c) {
  const double high = alpha * sum.high;
  tsl_tree_sum scaled = {high, fma(alpha, sum.low, fma(alpha, sum.high, -high))};
  if (beta != 0) {
    const double product = beta * *c, error = fma(beta, *c, -product);
    const tsl_tree_sum both = tsl_tree_join((tsl_tree_sum){scaled.high, 0}, (tsl_tree_sum){product, 0});
    scaled = (tsl_tree_sum){both.high, scaled.low + (both.low + error)};
  }
  const double result = isfinite(scaled.low) ? scaled.high + scaled.low : scaled.high;
  *c = isnan(result) ? (double)NAN : result;
}

/* Stores C. Scalars have the element type; an empty sum is not scaled. */
static void fixed_tree_store_result(const tsl_problem *problem, int64_t k, tsl_tree_sum sum, void *c) {
  if (problem->c.type == TESELA_F64)
    store_result_f64(sum, k == 0 ? 0 : problem->alpha[0], problem->beta[0], c);
  else if (tsl_type(problem->c.type)->is_integer)
    store_result_i32(sum, problem, c);
  else
    store_result_f32(sum, k == 0 ? 0 : (float)problem->alpha[0], (float)problem->beta[0], problem->c.type, c);
}

tesela_status tsl_tree_run(const tsl_problem *problem, const tsl_operands *operands,
                           const tsl_tree_functions *functions, tsl_team team) {
  const tesela_type type = problem->c.type;
  const int64_t k = problem->alpha[0] == 0 ? 0 : problem->k, chunk = tsl_tree_terms_of_chunk(type);
  const int64_t each = TSL_TREE_BLOCK * chunk, blocks = (k + each - 1) / each;
  tsl_tree_sum few[ONE_THREAD_BLOCKS];
  fixed_tree_job run = {.operands = operands,
                        .function = type == TESELA_F64 ? functions->f64 : functions->f32,
                        .x_type = problem->a.type,
                        .y_type = problem->b.type,
                        .k = k,
                        .chunk = chunk,
                        .blocks = blocks,
                        .task_blocks = blocks,
                        .sums = few};
  void *memory = NULL;
  if (blocks <= ONE_THREAD_BLOCKS) {
    sum_blocks(&run, 0, 0);
  } else {
    TSL_TRY(tsl_scratch_take((size_t)blocks * sizeof *run.sums, "sums of blocks", &memory));
    run.sums = memory;
    run.task_blocks = tsl_min(TASK_BLOCKS, (blocks - 1) / (4 * tsl_team_threads(team)) + 1);
    tsl_team_run(team, (blocks - 1) / run.task_blocks + 1, sum_blocks, &run);
  }
  fixed_tree_store_result(problem, k, join_block_sums(run.sums, blocks), operands->c.host);
  tsl_scratch_give(memory);
  return TESELA_OK;
}
