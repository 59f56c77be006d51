/* Idea: the definition: three loops in C, one thread, no optimization by the compiler (flags.cmake). The
 * specification that other strategies are compared with, and the baseline of their speed-ups.
 *
 *        B  column j
 *           |            C(i,j) = alpha (A(i,0) B(0,j) + A(i,1) B(1,j) + ...) + beta C(i,j)
 *           v
 *   A ---> (i,j) C
 *   row i
 *
 * sequential_run() allocates no memory, so it works when other strategies run out. */
#include "problem/structure.h"
#include "strategy/gemm/ladder/sequential/waiting.h"
#include "strategy/host_jobs/low_precision_loops.h"

#define REAL float
#define TRIPLE_LOOP multiply_f32
#include "strategy/gemm/ladder/sequential/triple_loop.h"
#define REAL double
#define TRIPLE_LOOP multiply_f64
#include "strategy/gemm/ladder/sequential/triple_loop.h"

#define REAL float
#define COMPLEX_LOOP multiply_c64
#include "strategy/gemm/ladder/sequential/sequential_complex.h"
#define REAL double
#define COMPLEX_LOOP multiply_c128
#include "strategy/gemm/ladder/sequential/sequential_complex.h"

#define REAL float
#define PARTS 1
#define NAME(function) function##_f32
#include "strategy/gemm/ladder/sequential/sequential_structured.h"
#define REAL double
#define PARTS 1
#define NAME(function) function##_f64
#include "strategy/gemm/ladder/sequential/sequential_structured.h"
#define REAL float
#define PARTS 2
#define NAME(function) function##_c64
#include "strategy/gemm/ladder/sequential/sequential_structured.h"
#define REAL double
#define PARTS 2
#define NAME(function) function##_c128
#include "strategy/gemm/ladder/sequential/sequential_structured.h"

/* Clocks from one addition to the next: the addition, and the sum's way through memory. */
static const double sum_clocks = 9;
/* Clocks of a run without additions: a plan's general call (200 ns measured at 2.45 GHz). */
static const double run_clocks = 490;

/* Returns the predicted seconds: the call, additions, memory stalls, calls for narrow types or structures. */
static double sequential_score(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  (void)config;
  const double converting = tsl_type(problem->a.type)->size > 2 ? 0 : 16;
  const double looking = tsl_problem_has_structure(problem) ? 64 : 0;
  const double clocks = sum_clocks + converting + looking + tsl_triple_loop_waiting(problem);
  return (run_clocks + tsl_problem_flops(problem) / 2 * clocks) / (1e6 * device->clock_mhz);
}

static void sequential_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  (void)config;
  const double sums = account->useful * (double)tsl_type(problem->c.type)->size;
  tsl_triple_loop_account(problem, device, account);
  account->local = (tsl_moved){.read = sums, .written = sums};
  account->sums = 1;
  account->addition_clocks = sum_clocks;
  account->loads = 3 * account->useful; /* of A, of B, and of the sum in memory */
}

static void run_structured(const tsl_problem *problem, const tsl_operands *operands) {
  const tesela_type type = problem->c.type;
  (type == TESELA_F64   ? multiply_structured_f64
   : type == TESELA_F32 ? multiply_structured_f32
   : type == TESELA_C64 ? multiply_structured_c64
                        : multiply_structured_c128)(problem, operands);
}

static tesela_status sequential_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)stream;
  const tsl_problem *const problem = &work->problem;
  const tesela_type type = problem->a.type;
  if (tsl_problem_has_structure(problem)) {
    run_structured(problem, operands);
    return TESELA_OK;
  }
  (type == TESELA_F64              ? multiply_f64
   : type == TESELA_F32            ? multiply_f32
   : type == TESELA_C64            ? multiply_c64
   : type == TESELA_C128           ? multiply_c128
   : problem->c.type == TESELA_I32 ? multiply_integers
                                   : multiply_narrow)(problem, operands);
  return TESELA_OK;
}

static const char *sequential_row_order(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return "one by one";
}

const tsl_strategy tsl_gemm_sequential = {
    .name = "sequential",
    .idea = "the triple loop in C, compiled without optimisation",
    .lifts = "none (the specification)",
    .rung = 1,
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_in_order,
    .row_order = sequential_row_order,
    .score = sequential_score,
    .run = sequential_run,
    .supports = {.types = tsl_types_every, .conjugates = true, .structures = true},
    .resources = {.count_costs = sequential_account},
};
