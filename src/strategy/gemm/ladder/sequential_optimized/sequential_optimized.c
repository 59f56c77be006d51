/* Idea: the triple loop of sequential/triple_loop.h with the compiler's best flags. Beyond `sequential`:
 * registers, vectors and unrolling by the compiler.
 *
 *          B  column j
 *             |  .  line     sum[0..7] += A(i, l..l+7) B(l..l+7, j)     partial sums in a vector register
 *             |  .  line                                                are added up at the end
 *             v  .  line     each step down the column is another
 *   A ---> (i,j) C           line of memory, fetched for one element
 *   row i
 *
 * The order of memory accesses is unchanged, so columns of B still miss the caches in large problems. The
 * instruction set is the best of the device (TESELA_ISA masks). */
#include "strategy/gemm/ladder/sequential_optimized/sequential_optimized_loops.h"

#include "strategy/gemm/ladder/sequential/waiting.h"

static double sequential_optimized_score(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device) {
  (void)config;
  tsl_cost_counts walk = {.useful = tsl_problem_flops(problem) / 2};
  tsl_triple_loop_account(problem, device, &walk);
  const double computed = fmax(walk.useful, tsl_cost_counts_line_clocks(&walk)) / (1e6 * device->clock_mhz);
  const double bytes = tsl_problem_bytes(problem);
  const double fetched = bytes > (double)device->level_bytes[1] ? bytes * device->threads / device->bandwidth
                                                                : 0; /* one thread's bandwidth */
  const double call = 1e-7;
  return call + (computed > fetched ? computed : fetched);
}

static void sequential_optimized_account(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device, tsl_cost_counts *account) {
  (void)config;
  const double lanes = fmax(1, problem->c.type == TESELA_F64 ? device->vector_f64 : device->vector_f32);
  tsl_triple_loop_account(problem, device, account);
  account->sums = lanes;
  account->loads = account->useful * (1 + 1 / lanes); /* a column of B by single elements */
}

static tesela_status sequential_optimized_build(tsl_work *work) {
#define SET(isa, header, needs, ...) &tsl_triple_loops_##isa,
  static const tsl_triple_loops *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  work->state = (void *)(uintptr_t)sets[tsl_isa_best(work->device->capabilities)];
  return TESELA_OK;
}

static tesela_status sequential_optimized_run(const tsl_work *work, const tsl_operands *operands,
                                              tsl_stream *stream) {
  (void)stream;
  const tsl_triple_loops *loops = work->state;
  (work->problem.c.type == TESELA_F64 ? loops->f64 : loops->f32)(&work->problem, operands);
  return TESELA_OK;
}

const tsl_strategy tsl_gemm_sequential_optimized = {
    .name = "sequential_optimized",
    .idea = "the same triple loop, compiled with the compiler's best flags",
    .lifts = "the compiler's caution: registers, vectors, unrolled loops",
    .partner = "sequential",
    .rung = 2,
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .score = sequential_optimized_score,
    .build = sequential_optimized_build,
    .run = sequential_optimized_run,
    .resources = {.count_costs = sequential_optimized_account},
};
