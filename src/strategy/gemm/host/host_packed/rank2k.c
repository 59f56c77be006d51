/* Rank-2k updates: C's triangle = P + P' + beta C with P = alpha A B; P' is transposed (hermitian C:
 * conjugated).
 *
 *   FOLDED  P is computed whole in separate memory; its transpose is added when it is stored to C.
 *   JOINED  One product of twice as many terms: the factors of both are packed into one panel.
 *   TWICE   One product after the other: for long sums the additional traffic of C is negligible.
 *
 *             k   k
 *   JOINED   [ A | B'] [ B ] k        A and B are packed twice each: unchanged, and transposed as the
 *            n         [ A'] k        other factor. */
#include "core/memory.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

/* Returns the row stride of P: an odd number of cache lines, so that columns use all cache sets. */
static int64_t line_of_square(const tsl_problem *problem) {
  const int64_t lane = TSL_CACHE_LINE / (int64_t)tsl_type(problem->c.type)->size,
                lines = tsl_ceil_div_or_one(problem->n, lane);
  return (lines | 1) * lane;
}

static bool is_by_columns(const tsl_operand *c) {
  return tsl_abs(c->row_stride) < tsl_abs(c->col_stride);
}

static bool are_alike(const tsl_problem *problem) {
  return (problem->conjugate_a != problem->conjugate_b) == tsl_is_hermitian(problem->c.structure) ||
         !tsl_type(problem->c.type)->is_complex;
}

/* Chooses the method. FOLDED: a square up to twice the second-level cache, unless terms are few. */
static tsl_packed_sum rank2k_choose(const tsl_problem *problem, int64_t depth, const tsl_device *device) {
  enum { LEVEL_2_GUESS = 512 << 10, ROWS_FOR_EACH_TERM = 4 };
  const int64_t level_2 = device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS,
                size = (int64_t)tsl_type(problem->c.type)->size;
  if (!tsl_is_sum(problem->c.structure) || !tsl_problem_reads(problem, TSL_OPERAND_A))
    return TSL_PACKED_ONE;
  if (tsl_ceil_div_or_one(problem->n, ROWS_FOR_EACH_TERM) <= problem->k &&
      line_of_square(problem) <= 2 * level_2 / size / problem->n)
    return TSL_PACKED_FOLDED;
  return are_alike(problem) && problem->k <= depth / 2 ? TSL_PACKED_JOINED : TSL_PACKED_TWICE;
}

static tsl_operand transposed_operand(const tsl_operand *operand) {
  tsl_operand out = *operand;
  out.row_stride = operand->col_stride;
  out.col_stride = operand->row_stride;
  return out;
}

static tsl_operands operands_of_second(const tsl_operands *operands) {
  tsl_operands out = *operands;
  out.a = transposed_operand(&operands->b);
  out.b = transposed_operand(&operands->a);
  return out;
}

/* Makes the product write a general square in scratch memory, with beta 0, instead of C's triangle. */
static void redirect_to_square(tsl_problem *part, tsl_operands *strides) {
  const int64_t line = line_of_square(part);
  const bool by_columns = is_by_columns(&strides->c);
  part->c.structure = TESELA_GENERAL;
  part->c.triangle = TESELA_WHOLE;
  part->c.row_stride = strides->c.row_stride = by_columns ? 1 : line;
  part->c.col_stride = strides->c.col_stride = by_columns ? line : 1;
  part->beta[0] = part->beta[1] = 0;
}

tsl_packed_sum tsl_packed_part_of_sum(const tsl_problem *problem, int64_t depth, const tsl_device *device,
                                      bool second, tsl_problem *part, tsl_operands *strides) {
  const tsl_packed_sum sum = rank2k_choose(problem, depth, device);
  *part = tsl_problem_half_of_sum(problem, second);
  if (second)
    *strides = operands_of_second(strides);
  if (sum == TSL_PACKED_FOLDED)
    redirect_to_square(part, strides);
  if (sum == TSL_PACKED_JOINED)
    part->k = part->a.cols = part->b.rows = 2 * problem->k;
  return sum;
}

tsl_packed_product tsl_packed_product_for(const tsl_problem *problem, const tsl_operands *strides,
                                          int64_t depth, int64_t resident, const tsl_device *device) {
  tsl_packed_product product;
  tsl_problem part;
  tsl_operands part_strides = *strides;
  product.sum = TSL_PACKED_ONE;
  if (!tsl_is_sum(problem->c.structure)) {
    product.first = tsl_packed_job_for(problem, strides, depth, resident, device);
    return product;
  }
  product.sum = tsl_packed_part_of_sum(problem, depth, device, false, &part, &part_strides);
  product.first = tsl_packed_joined_for(&part, &part_strides, depth, resident, device,
                                        product.sum == TSL_PACKED_JOINED ? problem->k : 0);
  product.c = (tsl_view){.row_stride = strides->c.row_stride,
                         .col_stride = strides->c.col_stride,
                         .structure = problem->c.structure,
                         .triangle = problem->c.triangle};
  product.beta[0] = problem->beta[0];
  product.beta[1] = problem->beta[1];
  if (product.sum == TSL_PACKED_JOINED || product.sum == TSL_PACKED_TWICE) {
    part_strides = *strides;
    tsl_packed_part_of_sum(problem, depth, device, true, &part, &part_strides);
    product.second = tsl_packed_job_for(&part, &part_strides, depth, resident, device);
  }
  return product;
}

enum { ROWS_OF_A_TASK = 32 };

typedef struct fold_task {
  const tsl_packed_kernels *kernels;
  tsl_packed_fold fold;
} fold_task;

static void fold_rows(void *argument, int64_t index, int worker) {
  const fold_task *task = argument;
  (void)worker;
  task->kernels->fold(&task->fold, index * ROWS_OF_A_TASK,
                      tsl_min((index + 1) * ROWS_OF_A_TASK, task->fold.count));
}

static tesela_status run_folded(const tsl_packed_product *product, const tsl_operands *operands,
                                tsl_team team) {
  tsl_packed_job job = product->first;
  const int64_t n = job.views.n, line = job.views.c.row_stride;
  const bool swapped = job.views.is_swapped;
  tsl_operands beside = *operands;
  void *square;
  TSL_TRY(
      tsl_scratch_take((size_t)(n * line * job.size), "a product that its transpose is added to", &square));
  beside.c.host = square;
  tsl_packed_job_bind(&job, &beside);
  const tesela_status status = tsl_packed_run(&job, team);
  fold_task task = {.kernels = job.kernels,
                    .fold = {.square = square,
                             .line = line,
                             .count = n,
                             .c = operands->c.host,
                             .c_row = swapped ? product->c.col_stride : product->c.row_stride,
                             .c_column = swapped ? product->c.row_stride : product->c.col_stride,
                             .is_lower = (product->c.triangle == TESELA_LOWER) != swapped,
                             .is_hermitian = product->c.structure == TESELA_HERMITIAN_SUM,
                             .beta = {product->beta[0], product->beta[1]}}};
  if (status == TESELA_OK)
    tsl_team_run(team, tsl_ceil_div_or_one(n, ROWS_OF_A_TASK), fold_rows, &task);
  tsl_scratch_give(square);
  return status;
}

tesela_status tsl_packed_run_product(const void *job, const tsl_operands *operands) {
  const tsl_packed_product *product = job;
  const tsl_team team = product->first.is_alone ? (tsl_team){0} : operands->team;
  if (product->sum == TSL_PACKED_FOLDED)
    return run_folded(product, operands, team);
  tsl_packed_job first = product->first, second;
  tsl_packed_job_bind(&first, operands);
  if (product->sum == TSL_PACKED_ONE)
    return tsl_packed_run(&first, team);
  const tsl_operands exchanged_operands = operands_of_second(operands);
  second = product->second;
  tsl_packed_job_bind(&second, &exchanged_operands);
  first.second = &second.views;
  TSL_TRY(tsl_packed_run(&first, team));
  return product->sum == TSL_PACKED_TWICE ? tsl_packed_run(&second, team) : TESELA_OK;
}
