/* Idea: the definition. One loop in C with one running sum, one thread, no optimisation by the compiler
 * (flags.cmake). Rung 0 of the ladder: the specification that the other rungs are compared with, and the baseline of
 * their speed-ups.
 *
 *   x  | 0 | 1 | 2 | ...
 *        *   *   *              C = alpha (((x0 y0 + x1 y1) + x2 y2) + ...) + beta C
 *   y  | 0 | 1 | 2 | ...
 *
 * Parameters: none. Limits: none; each addition waits for the one before it. */
#include "strategy/account.h"

#include <math.h>

#define REAL float
#define LOOP dot_f32
#include "strategy/dot/sequential/loop.h"
#undef REAL
#undef LOOP
#define REAL double
#define LOOP dot_f64
#include "strategy/dot/sequential/loop.h"

/* Eight clocks a term, since every variable lives in memory; and what memory takes. */
static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  return fmax(8e-6 * (double)problem->k / device->clock_mhz, tsl_problem_bytes(problem) / device->bandwidth);
}

/* The sum lives in memory: it is loaded and stored with each term. */
static void account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_account *account) {
  (void)config;
  (void)device;
  const double sums = account->useful * (double)tsl_type(problem->c.type)->size;
  tsl_account_operands(problem, account->useful, account->useful, account);
  tsl_account_result(problem, 1, account);
  account->local = (tsl_moved){.read = sums, .written = sums};
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)stream;
  (work->problem.c.type == TESELA_F64 ? dot_f64 : dot_f32)(&work->problem, operands);
  return TESELA_OK;
}

const tsl_strategy tsl_dot_sequential = {
    .name = "sequential",
    .idea = "one running sum in C, compiled without optimisation",
    .lifts = "none: the specification",
    .op = TSL_OP_DOT,
    .rung = 0,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .score = score,
    .account = account,
    .run = run,
};
