#include "planner/predict.h"

#include "dispatch/crossovers.h"

#include "core/status.h"
#include "planner/row_order.h"
#include "planner/transfer_cost.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <stdio.h>
#include <string.h>

/* Uncertainties (standard deviations of logarithms). */
static const struct {
  double measured; /* minimum for a measured record */
  /* Additional for the library's records, from another machine; of a processor with another clock, load. */
  double elsewhere, relative;
  double near, size; /* addition for another size's record; for each factor of two between the sizes */
  /* Uncertainty of a config, which must predict 1.2 times the speed: the best of hundreds may be an error. */
  double config;
  double strategy; /* doubt of a strategy's model, which must predict 1.1 times the speed */
  double level;    /* doubt of the level of a device's models: records over models were 0.9 to 1.5 */
  double core;     /* doubt of the cpu's level if a core was measured */
  double most;     /* limit for a measurement */
} doubts = {.measured = 0.03,
            .elsewhere = 0.05,
            .relative = 0.2,
            .near = 0.05,
            .size = 0.1,
            .config = 0.604,
            .strategy = 0.437,
            .level = 0.4,
            .core = 0.15,
            .most = 1}; /* quartiles of a shared machine lie anywhere */

/* Prediction of one candidate. */
typedef struct weighed {
  tsl_estimate time; /* estimate from wisdom */
  double model;      /* seconds by the config's model; 0: none */
} weighed;

/* Conditions of all candidates on a device. */
typedef struct prediction_terms {
  const tsl_problem *problem;
  const tsl_choice *choice;
  const tsl_strategy_request *request;
  tsl_row_order order; /* order of sums that bits=rows requires unless a strategy is named */
} prediction_terms;

/* Refuses a config that cannot be planned. If memory is short, its workspace shrinks first, unless the caller
 * gives the parameter. */
static const char *predict_refuse(const prediction_terms *terms, const tsl_strategy *strategy,
                                  const tsl_device *device, tsl_config *config) {
  const bool is_given = terms->request->given & 1u << strategy->resources.shrinkable.param;
  const tsl_memory_place place = terms->choice->place;
  const char *why = is_given ? tsl_plan_refuse(terms->problem, strategy, config, device, place)
                             : tsl_plan_fit(terms->problem, strategy, device, place, config);
  return why ? why : tsl_row_order_refuse(&terms->order, strategy, terms->problem, config, device);
}

static bool can_plan(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config *config) {
  return !predict_refuse(search->argument, strategy, search->device, config);
}

/* Returns the strategies of sub-plans below the candidates. */
static tsl_all_strategies *list_of(const tsl_choice *choice) {
  return choice->skips ? tsl_strategy_skipping_at : tsl_strategy_at;
}

/* Finds the config with the least seconds by the model, if below `least`. Returns its seconds, else `least`.
 */
static double find_best_by_model(const prediction_terms *terms, double least, tsl_candidate *out) {
  const tsl_config_search search = {terms->problem, out->device, list_of(terms->choice), can_plan, terms};
  const tsl_walk walk = {.config = terms->request->config, .fixed = terms->request->given};
  const double seconds = tsl_strategy_fastest(&search, out->strategy, walk, least, &out->config);
  if (seconds < least)
    out->refusal[0] = '\0';
  return seconds;
}

static double model_of(const prediction_terms *terms, const tsl_candidate *candidate) {
  return tsl_strategy_seconds(candidate->strategy, terms->problem, &candidate->config, candidate->device,
                              list_of(terms->choice));
}

static tsl_estimate estimate_from_record(const tsl_wisdom_hit *hit, const tsl_device *device) {
  const double elsewhere = hit->own ? 0 : device->is_cpu ? doubts.relative : doubts.elsewhere;
  const tsl_estimate estimate = {hit->seconds,
                                 fmin(fmax(doubts.measured, hit->record->spread / 1.35), doubts.most)};
  return tsl_estimate_times(estimate, 1, elsewhere);
}

/* Uses a record of near sizes, or a faster config by the model, corrected by the record. */
static void weigh_near_record(const prediction_terms *terms, double distance, tsl_candidate *out,
                              weighed *prediction) {
  prediction->time = tsl_estimate_times(prediction->time, 1, doubts.near + doubts.size * distance);
  if (!(prediction->model > 0))
    return;
  tsl_candidate best = *out;
  const double model = find_best_by_model(terms, prediction->model, &best);
  const tsl_estimate promised =
      tsl_estimate_times(prediction->time, model / prediction->model, doubts.config);
  if (!(tsl_estimate_expected(promised) < tsl_estimate_expected(prediction->time)))
    return;
  out->config = best.config;
  *prediction = (weighed){promised, model};
}

/* Returns true if the choice must depend on the problem only; see predict_reproducible(). */
static bool ignores_models(const tsl_problem *problem, const tsl_device *device) {
  return tsl_device_is_host(device) &&
         (problem->ask.bits == TSL_REPRODUCIBILITY_RUN || problem->ask.bits == TSL_REPRODUCIBILITY_THREADS);
}

/* Chooses a candidate's config from wisdom, else by the model; stores why the default config is refused. */
static void weigh_candidate(const prediction_terms *terms, tsl_candidate *out, weighed *prediction) {
  const tsl_problem *problem = terms->problem;
  const tsl_strategy_request *request = terms->request;
  tsl_config config = tsl_strategy_defaults(out->strategy);
  for (int i = 0; i < TSL_PARAMS_MAX; i++)
    if (request->given & 1u << i)
      config.value[i] = request->config.value[i];
  out->config = config;
  *prediction = (weighed){.model = INFINITY};
  tsl_wisdom_hit hit;
  tsl_config fitted = config;
  const char *why = predict_refuse(terms, out->strategy, out->device, &fitted);
  snprintf(out->refusal, sizeof out->refusal, "%s", why ? why : "");
  if (ignores_models(problem, out->device)) {
    prediction->model = why ? INFINITY : model_of(terms, out);
    return;
  }
  if (!tsl_wisdom_find(terms->choice->wisdom, problem, out->device, out->strategy, &config, request->given,
                       &hit) ||
      predict_refuse(terms, out->strategy, out->device, &hit.config)) {
    prediction->model = find_best_by_model(terms, INFINITY, out);
    return;
  }
  out->config = hit.config;
  out->basis = hit.basis;
  out->refusal[0] = '\0';
  out->own = hit.own;
  prediction->time = estimate_from_record(&hit, out->device);
  prediction->model = model_of(terms, out);
  if (hit.basis == TSL_BASIS_NEAR)
    weigh_near_record(terms, hit.distance, out, prediction);
}

tsl_estimate tsl_predict_candidates_level(const tsl_device *device, bool is_compared) {
  const bool has_core = is_compared && tsl_device_is_host(device) && device->threads > 0;
  const double peak = has_core ? device->peak_f32 / device->threads : 0,
               core = peak > 0 ? tsl_link_core(device) : 0;
  return core > 0 ? (tsl_estimate){peak / core, doubts.core} : (tsl_estimate){1, doubts.level};
}

/* Updates the level with a record's measured over predicted seconds, cut at two standard deviations. */
static tsl_estimate predict_learn(tsl_estimate level, tsl_estimate ratio) {
  ratio = tsl_estimate_times(ratio, 1, doubts.strategy);
  const double most = exp(2 * sqrt(ratio.doubt * ratio.doubt + level.doubt * level.doubt));
  ratio.likely = fmin(fmax(ratio.likely, level.likely / most), level.likely * most);
  return tsl_estimate_join(level, ratio);
}

/* Computes the level of a device's models from all records. The fastest record of equal sizes counts most if
 * it is slower than predicted: an unmeasured strategy must not look better. */
static tsl_estimate predict_level_of(const tsl_candidate *candidates, const weighed *predictions, int count,
                                     tsl_estimate level) {
  int fastest = -1;
  for (int i = 0; i < count; i++)
    if (candidates[i].basis == TSL_BASIS_EXACT && predictions[i].model > 0 &&
        (fastest < 0 || predictions[i].time.likely < predictions[fastest].time.likely))
      fastest = i;
  for (int i = 0; i < count; i++)
    if (candidates[i].basis != TSL_BASIS_MODEL && predictions[i].model > 0)
      level = predict_learn(level, tsl_estimate_times(predictions[i].time, 1 / predictions[i].model, 0));
  if (fastest < 0)
    return level;
  const tsl_estimate ratio = tsl_estimate_times(predictions[fastest].time, 1 / predictions[fastest].model, 0);
  return ratio.likely > level.likely ? ratio : level;
}

#define ONE_MORE(op, family, name) +1
enum { MOST = TSL_STRATEGY_LIST(ONE_MORE) };
#undef ONE_MORE

const tsl_strategy *tsl_same_bits_of(const tsl_problem *problem) {
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    const tsl_config config = tsl_strategy_defaults(strategy);
    if (strategy->op == problem->op && !strategy->vendor.load &&
        !tsl_strategy_refuse_anywhere(strategy, problem, &config))
      return strategy;
  }
  return NULL;
}

/* Returns true if the default config has one possible result: exact, or rounded once. */
static bool has_one_result(const tsl_strategy *strategy, const tsl_problem *problem) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_accuracy promised = tsl_strategy_error_model(strategy, problem, &config);
  return promised.is_correctly_rounded || promised.factor == 0;
}

/* Returns true if two strategies give equal bits; exact or once rounded results do. */
static bool gives_same_bits(const tsl_strategy *strategy, const tsl_strategy *other,
                            const tsl_problem *problem) {
  return strategy == other || (has_one_result(strategy, problem) && has_one_result(other, problem));
}

/* Refuses bits that differ from the strategy of bits=devices, which depends on the problem only. */
static void keep_bits(const tsl_problem *problem, tsl_candidate *candidate) {
  const tsl_strategy *reference = tsl_same_bits_of(problem);
  if (!candidate->refusal[0] && reference && !gives_same_bits(reference, candidate->strategy, problem))
    snprintf(
        candidate->refusal, sizeof candidate->refusal,
        "gives other bits than %s, which bits=devices selects on every device unless a strategy is named",
        reference->name);
}

/* Strategies of the cpu. Reproducible bits come from the first that supports the problem. Strategies with
 * subplans and the fast ones come first. Emulated precision serves requests that none of these satisfies.
 * Plain loops are last. The
 * order is documented in docs/ACCURACY.md, and a change of it changes bits. X(op, name) */
#define FIXED_BITS_LIST(X)                                                                                   \
  X(gemm, structured)                                                                                        \
  X(gemm, several)                                                                                           \
  X(gemm, host_amx)                                                                                          \
  X(gemm, host_skinny)                                                                                       \
  X(gemm, host_small)                                                                                        \
  X(gemm, host_packed)                                                                                       \
  X(gemm, blocked)                                                                                           \
  X(gemm, split_precision)                                                                                   \
  X(gemm, residue_int8)                                                                                      \
  X(gemm, exact)                                                                                             \
  X(gemm, sequential_optimized)                                                                              \
  X(gemm, sequential)                                                                                        \
  X(dot, exact)                                                                                              \
  X(dot, fixed_tree)                                                                                         \
  X(dot, sequential)                                                                                         \
  X(transpose, vector)                                                                                       \
  X(solve, host_blocked)                                                                                     \
  X(solve, sequential)

/* Returns a strategy's position in FIXED_BITS_LIST minus its length; 0: it comes last. Peers do, and
 * strategies for small products where the product is large. */
static int get_fixed_bits_order(const tsl_strategy *strategy, const tsl_problem *problem) {
#define FIXED_BITS_DECLARE(op, name) extern const tsl_strategy tsl_##op##_##name;
  FIXED_BITS_LIST(FIXED_BITS_DECLARE)
#undef FIXED_BITS_DECLARE
#define FIXED_BITS_ADDRESS(op, name) &tsl_##op##_##name,
  static const tsl_strategy *const preferred[] = {FIXED_BITS_LIST(FIXED_BITS_ADDRESS)};
#undef FIXED_BITS_ADDRESS
  const int count = sizeof preferred / sizeof *preferred;
  if (strategy == &tsl_gemm_host_small &&
      (tsl_type(problem->c.type)->is_complex ||
       tsl_problem_flops(problem) > 2 * (double)tsl_crossovers.fixed_bits_volume))
    return 0;
  for (int i = 0; i < count; i++)
    if (preferred[i] == strategy)
      return i - count;
  return 0;
}

/* Chooses bits that do not depend on threads or days. On the cpu no model decides, but a fixed order of
 * strategies with their defaults. */
static void predict_reproducible(const tsl_problem *problem, const tsl_strategy_request *request,
                                 tsl_candidate *candidates, int count) {
  for (int i = 0; i < count; i++) {
    tsl_candidate *candidate = &candidates[i];
    if (problem->ask.bits == TSL_REPRODUCIBILITY_DEVICES && !request->strategy)
      keep_bits(problem, candidate);
    else if (!candidate->refusal[0] && ignores_models(problem, candidate->device))
      candidate->order = get_fixed_bits_order(candidate->strategy, problem);
    candidate->seconds = candidate->refusal[0] ? INFINITY : candidate->seconds;
  }
}

void tsl_predict_candidates(const tsl_problem *problem, const tsl_choice *choice,
                            const tsl_strategy_request *request, tsl_estimate level,
                            tsl_candidate *candidates, int count) {
  weighed each[MOST];
  const int all = count < MOST ? count : MOST;
  prediction_terms terms = {.problem = problem, .choice = choice, .request = request};
  if (count > 0 && !request->strategy)
    terms.order = tsl_row_order_of(problem, candidates[0].device);
  for (int i = 0; i < all; i++)
    weigh_candidate(&terms, &candidates[i], &each[i]);
  level = predict_level_of(candidates, each, all, level);
  for (int i = 0; i < all; i++) {
    tsl_candidate *candidate = &candidates[i];
    const tsl_estimate time =
        candidate->basis == TSL_BASIS_MODEL
            ? tsl_estimate_times(tsl_estimate_times(level, each[i].model, 0), 1, doubts.strategy)
            : each[i].time;
    candidate->seconds = candidate->refusal[0] ? INFINITY : tsl_estimate_expected(time);
    candidate->doubt = time.doubt;
  }
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ANY)
    predict_reproducible(problem, request, candidates, all);
}
