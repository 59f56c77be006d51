/* Idea: the definition. Substitution, three loops in C, one thread, compiled without optimization
 * (flags.cmake). It is the lowest rung of the ladder: the specification for the other rungs, and the
 * baseline of their speed-ups.
 *
 *   A lower        x(i,j) = (alpha b(i,j) - A(i,0) x(0,j) - ... - A(i,i-1) x(i-1,j)) / A(i,i)
 *   a . .    x . <- row after row of X, from the first;
 *   b c .    x .    for an upper triangle from the last.  The dots outside of the triangle are never read,
 *   d e f    x .    nor is a unit diagonal.
 *
 * No parameters, no limits. */
#include "strategy/cost_counts.h"
#include "strategy/support.h"

#define REAL float
#define SUBSTITUTION solve_f32
#include "strategy/solve/ladder/sequential/substitution.h"
#undef REAL
#undef SUBSTITUTION
#define REAL double
#define SUBSTITUTION solve_f64
#include "strategy/solve/ladder/sequential/substitution.h"
#undef REAL
#undef SUBSTITUTION
#define REAL float
#define SUBSTITUTION solve_c64
#define DIVISION divide_c64
#include "strategy/solve/ladder/sequential/solve_sequential_complex.h"
#undef REAL
#undef SUBSTITUTION
#undef DIVISION
#define REAL double
#define SUBSTITUTION solve_c128
#define DIVISION divide_c128
#include "strategy/solve/ladder/sequential/solve_sequential_complex.h"

/* Predicts the seconds: eight clocks a term, as for products, and two dozen for a division. */
static double solve_sequential_score(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  (void)config;
  const double elements = (double)problem->m * (double)problem->n;
  return (tsl_problem_flops(problem) / 2 * 8 + 24 * elements) / (1e6 * device->clock_mhz);
}

static void solve_sequential_account(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device, tsl_cost_counts *account) {
  (void)config;
  (void)device;
  /* each right-hand side reads the whole triangle with its diagonal */
  const double terms = (double)problem->m * (double)(problem->m + 1) / 2 * (double)problem->n;
  const double sums = terms * (double)tsl_type(problem->c.type)->size;
  tsl_cost_counts_operands(problem, terms, terms, account);
  tsl_cost_counts_result(problem, 1, account);
  account->local = (tsl_moved){.read = sums, .written = sums};
}

static tesela_status solve_sequential_run(const tsl_work *work, const tsl_operands *operands,
                                          tsl_stream *stream) {
  (void)stream;
  const tesela_type type = work->problem.c.type;
  (type == TESELA_F64   ? solve_f64
   : type == TESELA_F32 ? solve_f32
   : type == TESELA_C64 ? solve_c64
                        : solve_c128)(&work->problem, operands);
  return TESELA_OK;
}

static const char *solve_sequential_row_order(const tsl_problem *problem, const tsl_config *config,
                                              const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return "one by one";
}

const tsl_strategy tsl_solve_sequential = {
    .name = "sequential",
    .idea = "substitution in C, compiled without optimisation",
    .lifts = "none (the specification)",
    .rung = 1,
    .op = TSL_OP_SOLVE,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_of_substitution,
    .row_order = solve_sequential_row_order,
    .score = solve_sequential_score,
    .run = solve_sequential_run,
    .supports = {.types = tsl_types_blas, .conjugates = true, .structures = true},
    .resources = {.count_costs = solve_sequential_account},
};
