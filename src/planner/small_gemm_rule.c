#include "planner/small_gemm_rule.h"

#include "strategy/strategy_list.h"

#include <stdatomic.h>

/* Returns the first strategy that multiplies without a plan. */
static const tsl_strategy *get_direct_strategy(void) {
  static _Atomic(const tsl_strategy *) found;
  const tsl_strategy *strategy = atomic_load_explicit(&found, memory_order_acquire);
  for (int i = 0; !strategy && tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_GEMM && tsl_strategy_at(i)->direct.multiply)
      strategy = tsl_strategy_at(i);
  atomic_store_explicit(&found, strategy, memory_order_release);
  return strategy;
}

/* Limits in multiply-adds and sides. Up to TINY all products with enough rows and columns qualify. Up to
 * SMALL, sides are at least SMALL_LEAST (others have kernels for flat shapes), and threads are few. */
enum { TINY = 32 * 32 * 32, SMALL = 100 * 100 * 100, TINY_SIDE = 64, SMALL_LEAST = 16, FEW_THREADS = 2 };

static bool is_within(const tsl_problem *problem) {
  return problem->m > 0 && problem->n > 0 && problem->k > 0 && problem->m <= TSL_SMALL_GEMM_SIDE &&
         problem->n <= TSL_SMALL_GEMM_SIDE && problem->k <= TSL_SMALL_GEMM_SIDE &&
         problem->m * problem->n * problem->k <= SMALL;
}

static bool small_gemm_rule_is_tiny(const tsl_problem *problem) {
  return problem->m <= TINY_SIDE && problem->n <= TINY_SIDE && problem->k <= TINY_SIDE &&
         problem->m * problem->n * problem->k <= TINY;
}

/* Returns false also if B's rows (A' if C is column-major) map to one set of the first cache. */
static bool is_worthwhile(const tsl_problem *problem, const tsl_device *cpu) {
  const int64_t step = problem->c.col_stride == 1 && problem->b.col_stride == 1 ? problem->b.row_stride
                                                                                : problem->a.col_stride;
  return small_gemm_rule_is_tiny(problem) ||
         (problem->m >= SMALL_LEAST && problem->n >= SMALL_LEAST && problem->k >= SMALL_LEAST &&
          cpu->threads <= FEW_THREADS && step * (int64_t)tsl_type(problem->c.type)->size % 4096 != 0);
}

static bool small_gemm_rule_is_plain(const tsl_problem *problem) {
  const tesela_type type = problem->c.type;
  return problem->op == TSL_OP_GEMM && (type == TESELA_F32 || type == TESELA_F64) &&
         problem->a.type == type && problem->b.type == type && problem->alpha[0] != 0 &&
         tsl_problem_batch(problem) == 1 && !problem->in_place && !tsl_problem_has_structure(problem) &&
         !tsl_problem_has_epilogue(problem);
}

/* Returns true if C and B are row-major, or C and A column-major; with few rows or columns only if short. */
static bool small_gemm_needs_no_gather(const tsl_problem *problem) {
  enum { FEW = 3, SHORT = 24 * 24 };
  const bool by_row = problem->c.col_stride == 1, by_column = problem->c.row_stride == 1;
  return ((problem->m > FEW && problem->n > FEW) || problem->m * problem->n * problem->k <= SHORT) &&
         ((by_row && problem->b.col_stride == 1) || (by_column && problem->a.row_stride == 1));
}

const tsl_strategy *tsl_planner_at_once(const tsl_problem *problem, const tsl_choice *choice) {
  const tsl_strategy *strategy = get_direct_strategy();
  tsl_device *cpu;
  if (!strategy || !is_within(problem) || !small_gemm_rule_is_plain(problem) ||
      !small_gemm_needs_no_gather(problem) || choice->strategy || choice->exclude || choice->vendors ||
      choice->place != TSL_PLACE_HOST ||
      !tsl_numeric_requirements_same(&problem->ask,
                                     &(tsl_numeric_requirements){.bits = TSL_REPRODUCIBILITY_ANY}) ||
      !(tsl_choice_any_device(choice) ? choice->sparing : strcmp(choice->device, "cpu") == 0))
    return NULL;
  cpu = tsl_devices_of_kind(choice->devices, 0, 0);
  return cpu && cpu->capabilities & TSL_CAN_HOST && is_worthwhile(problem, cpu) &&
                 !tsl_wisdom_is_near(choice->wisdom, problem, cpu)
             ? strategy
             : NULL;
}
