/* Idea: the definition. One loop in C with one running sum, one thread, compiled without optimization
 * (flags.cmake). It is the lowest rung of the ladder: the specification for the other rungs, and the
 * baseline of their speed-ups.
 *
 *   x  | 0 | 1 | 2 | ...
 *        *   *   *              C = alpha (((x0 y0 + x1 y1) + x2 y2) + ...) + beta C
 *   y  | 0 | 1 | 2 | ...
 *
 * No parameters, no limits. Each addition waits for the previous one. Measurements:
 * docs/lab/dot_sequential.md. */
#include "strategy/cost_counts.h"
#include "strategy/host_jobs/low_precision_loops.h"

#include <math.h>

#define REAL float
#define LOOP dot_f32
#include "strategy/dot/ladder/sequential/loop.h"
#undef REAL
#undef LOOP
#define REAL double
#define LOOP dot_f64
#include "strategy/dot/ladder/sequential/loop.h"

/* Predicts the seconds: eight clocks a term, 24 more for conversions of narrow types, and memory traffic. */
static double dot_sequential_score(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)config;
  const double clocks = tsl_type(problem->a.type)->size > 2 ? 8 : 24;
  return fmax(1e-6 * clocks * (double)problem->k / device->clock_mhz,
              tsl_problem_bytes(problem) / device->bandwidth);
}

static void dot_sequential_account(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device, tsl_cost_counts *account) {
  (void)config;
  (void)device;
  const double sums = account->useful * (double)tsl_type(tsl_type(problem->c.type)->sums)->size;
  tsl_cost_counts_operands(problem, account->useful, account->useful, account);
  tsl_cost_counts_result(problem, 1, account);
  account->local = (tsl_moved){.read = sums, .written = sums};
}

static tesela_status dot_sequential_run(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream) {
  (void)stream;
  const tsl_problem *problem = &work->problem;
  (problem->a.type == TESELA_F64           ? dot_f64
   : problem->a.type == TESELA_F32         ? dot_f32
   : tsl_type(problem->c.type)->is_integer ? multiply_integers
                                           : multiply_narrow)(problem, operands);
  return TESELA_OK;
}

const tsl_strategy tsl_dot_sequential = {
    .name = "sequential",
    .idea = "one running sum in C, compiled without optimisation",
    .lifts = "none (the specification)",
    .rung = 1,
    .op = TSL_OP_DOT,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .score = dot_sequential_score,
    .run = dot_sequential_run,
    .supports = {.types = tsl_types_real},
    .resources = {.count_costs = dot_sequential_account},
};
