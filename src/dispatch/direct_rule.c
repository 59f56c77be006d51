#include "dispatch/direct_rule.h"

#include "dispatch/crossovers.h"
#include "strategy/strategy_list.h"

#include <math.h>

static bool is_up_to(const tsl_problem *problem, int64_t side, int64_t volume) {
  return problem->m <= side && problem->n <= side && problem->k <= side &&
         problem->m * problem->n * problem->k <= volume;
}

/* Returns false also if B's rows (A' if C is column-major) map to one set of the first cache. Products above
 * tiny_volume with short sides have kernels for flat shapes. */
static bool is_worthwhile(const tsl_problem *problem, const tsl_device *cpu) {
  const tsl_crossover_table *limits = &tsl_crossovers;
  const int64_t step = problem->c.col_stride == 1 && problem->b.col_stride == 1 ? problem->b.row_stride
                                                                                : problem->a.col_stride;
  const int64_t shortest = limits->direct_short_side;
  return is_up_to(problem, limits->tiny_side, limits->tiny_volume) ||
         (problem->m >= shortest && problem->n >= shortest && problem->k >= shortest &&
          cpu->threads <= limits->direct_threads &&
          step * (int64_t)tsl_type(problem->c.type)->size % 4096 != 0);
}

static bool direct_rule_is_plain(const tsl_problem *problem) {
  const tesela_type type = problem->c.type;
  return problem->op == TSL_OP_GEMM && (type == TESELA_F32 || type == TESELA_F64) &&
         problem->a.type == type && problem->b.type == type && problem->alpha[0] != 0 &&
         tsl_problem_batch(problem) == 1 && !problem->in_place && !tsl_problem_has_structure(problem) &&
         !tsl_problem_has_epilogue(problem);
}

/* Returns true if C and B are row-major, or C and A column-major; with few rows or columns only if short. */
static bool small_gemm_needs_no_gather(const tsl_problem *problem) {
  const int64_t few = tsl_crossovers.flat_side, volume = problem->m * problem->n * problem->k;
  const bool by_row = problem->c.col_stride == 1, by_column = problem->c.row_stride == 1;
  return ((problem->m > few && problem->n > few) || volume <= tsl_crossovers.flat_volume) &&
         ((by_row && problem->b.col_stride == 1) || (by_column && problem->a.row_stride == 1));
}

const tsl_strategy *tsl_direct_strategy(const tsl_problem *problem, const tsl_choice *choice) {
  tsl_device *cpu;
  if (problem->m <= 0 || problem->n <= 0 || problem->k <= 0 ||
      !is_up_to(problem, tsl_crossovers.direct_side, tsl_crossovers.direct_volume) ||
      !direct_rule_is_plain(problem) || !small_gemm_needs_no_gather(problem) || choice->strategy ||
      choice->exclude || choice->vendors || choice->place != TSL_PLACE_HOST ||
      !tsl_numeric_requirements_same(&problem->ask,
                                     &(tsl_numeric_requirements){.bits = TSL_REPRODUCIBILITY_ANY}) ||
      !(tsl_choice_any_device(choice) ? choice->sparing : strcmp(choice->device, "cpu") == 0))
    return NULL;
  cpu = tsl_devices_of_kind(choice->devices, 0, 0);
  return cpu && tsl_device_is_host(cpu) && is_worthwhile(problem, cpu) &&
                 !tsl_wisdom_is_near(choice->wisdom, problem, cpu)
             ? &tsl_gemm_host_small
             : NULL;
}

void tsl_direct_explain(const tsl_problem *problem, const tsl_choice *choice, tsl_text *out) {
  const tsl_crossover_table *limits = &tsl_crossovers;
  tsl_choice call = *choice;
  call.sparing = true; /* as calls without a plan choose */
  const tsl_strategy *strategy = tsl_direct_strategy(problem, &call);
  const tsl_device *cpu = tsl_devices_of_kind(choice->devices, 0, 0);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const bool is_tiny = is_up_to(problem, limits->tiny_side, limits->tiny_volume);
  const struct {
    const char *name;
    double value, limit;
    bool is_least;
  } rows[] = {{"direct_volume", m * n * k, (double)limits->direct_volume, false},
              {"direct_side", fmax(fmax(m, n), k), (double)limits->direct_side, false},
              {"direct_short_side", fmin(fmin(m, n), k), (double)limits->direct_short_side, true},
              {"direct_threads", cpu ? cpu->threads : 1, (double)limits->direct_threads, false}};
  if (strategy && is_tiny)
    tsl_text_add(out, "tiny_volume: %g, at most %g; %s without a plan", m * n * k,
                 (double)limits->tiny_volume, strategy->name);
  for (size_t i = 0; !is_tiny && direct_rule_is_plain(problem) && i < sizeof rows / sizeof *rows; i++)
    if (strategy || (rows[i].is_least ? rows[i].value < rows[i].limit : rows[i].value > rows[i].limit)) {
      tsl_text_add(out, "%s: %g, at %s %g; %s%s", rows[i].name, rows[i].value,
                   rows[i].is_least ? "least" : "most", rows[i].limit,
                   strategy ? strategy->name : "by a plan", strategy ? " without a plan" : "");
      return;
    }
}
