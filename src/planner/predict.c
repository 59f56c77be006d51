#include "planner/predict.h"

#include "base/status.h"
#include "planner/reproducible.h"
#include "planner/transfer_cost.h"
#include "strategy/strategy_list.h"

#include <stdio.h>
#include <string.h>

/* Doubts. */
static const struct {
  double measured;            /* of a record, at least */
  double elsewhere, relative; /* and where it comes with the library: on another machine with the same device;
                                 of a processor, with another clock and other neighbours as well */
  double near, size;          /* of one for other sizes, and for each factor of two that they are off */
  double config; /* of a config's promise beside another one's: the best of hundreds is one that errs, so that
                    it must promise 1.2 times the speed */
  double strategy; /* of a strategy's model beside the others of its device, likewise: 1.1 times */
  double level; /* of all models of a device. Shipped records over models: 1.5 for the cpu of one machine, 0.9
                   for PoCL */
  double core;  /* the same of the cpu where a core was measured: what is left of that 1.5 is 1.06 */
  double most;  /* of a measurement */
} doubts = {.measured = 0.03,
            .elsewhere = 0.05,
            .relative = 0.2,
            .near = 0.05,
            .size = 0.1,
            .config = 0.604,
            .strategy = 0.437,
            .level = 0.4,
            .core = 0.15,
            .most = 1}; /* of a machine that others use, where quartiles may lie anywhere */

/* A candidate on its way. */
typedef struct weighing {
  tsl_estimate time; /* from wisdom */
  double model;      /* its config's own, 0 where there is none */
} weighing;

/* The config that the strategy's model likes best, and its seconds, if they are less than `least`; else that.
 * Of large families, whose prune() leaves few to refuse, most configs are slower than one that was seen:
 * those need not be asked whether they are legal, which takes longer than the model. */
static double ask_model(const tsl_problem *problem, tsl_text_place place, const tsl_strategy_request *request,
                        double least, tsl_candidate *out) {
  for (tsl_walk walk = {.config = request->config, .fixed = request->given};
       tsl_strategy_walk(out->strategy, problem, out->device, &walk);) {
    if (!out->strategy->values.prune &&
        tsl_plan_refuse(problem, out->strategy, &walk.config, out->device, place))
      continue;
    const double seconds = tsl_strategy_seconds(out->strategy, problem, &walk.config, out->device);
    if (seconds >= least || (out->strategy->values.prune &&
                             tsl_plan_refuse(problem, out->strategy, &walk.config, out->device, place)))
      continue;
    least = seconds;
    out->config = walk.config;
    out->refusal[0] = '\0';
  }
  return least;
}

static double model_of(const tsl_problem *problem, const tsl_candidate *candidate) {
  return tsl_strategy_seconds(candidate->strategy, problem, &candidate->config, candidate->device);
}

static tsl_estimate measured(const tsl_wisdom_hit *hit, const tsl_device *device) {
  const double elsewhere = hit->own ? 0 : device->is_cpu ? doubts.relative : doubts.elsewhere;
  const tsl_estimate here = {hit->seconds,
                             fmin(fmax(doubts.measured, hit->record->spread / 1.35), doubts.most)};
  return tsl_estimate_times(here, 1, elsewhere);
}

/* What was measured at sizes near these; where the model knows a config for these that is expected to be
 * faster, that one, with the model put right by what was measured. */
static void weigh_near(const tsl_problem *problem, tsl_text_place place, const tsl_strategy_request *request,
                       double distance, tsl_candidate *out, weighing *state) {
  state->time = tsl_estimate_times(state->time, 1, doubts.near + doubts.size * distance);
  if (!(state->model > 0))
    return;
  tsl_candidate best = *out;
  const double model = ask_model(problem, place, request, state->model, &best);
  const tsl_estimate promised = tsl_estimate_times(state->time, model / state->model, doubts.config);
  if (!(tsl_estimate_expected(promised) < tsl_estimate_expected(state->time)))
    return;
  out->config = best.config;
  *state = (weighing){promised, model};
}

/* Whether nothing but the problem may decide, see predict_settle(). */
static bool is_settled(const tsl_problem *problem, const tsl_device *device) {
  return (device->capabilities & TSL_CAN_HOST) &&
         (problem->ask.bits == TSL_REPRODUCIBILITY_RUN || problem->ask.bits == TSL_REPRODUCIBILITY_THREADS);
}

/* The config that wisdom knows to be good, else that of the model; else why the default one is refused. */
static void weigh_one(const tsl_problem *problem, const tsl_choice *choice,
                      const tsl_strategy_request *request, tsl_candidate *out, weighing *state) {
  tsl_config config = tsl_strategy_defaults(out->strategy);
  for (int i = 0; i < TSL_PARAMS_MAX; i++)
    if (request->given & 1u << i)
      config.value[i] = request->config.value[i];
  out->config = config;
  *state = (weighing){.model = INFINITY};
  tsl_wisdom_hit hit;
  const char *why = tsl_plan_refuse(problem, out->strategy, &config, out->device, choice->place);
  snprintf(out->refusal, sizeof out->refusal, "%s", why ? why : "");
  if (is_settled(problem, out->device)) {
    state->model = why ? INFINITY : model_of(problem, out);
    return;
  }
  if (!tsl_wisdom_find(choice->wisdom, problem, out->device, out->strategy, &config, request->given, &hit) ||
      tsl_plan_refuse(problem, out->strategy, &hit.config, out->device, choice->place)) {
    state->model = ask_model(problem, choice->place, request, INFINITY, out);
    return;
  }
  out->config = hit.config;
  out->basis = hit.basis;
  out->refusal[0] = '\0';
  out->own = hit.own;
  state->time = measured(&hit, out->device);
  state->model = model_of(problem, out);
  if (hit.basis == TSL_BASIS_NEAR)
    weigh_near(problem, choice->place, request, hit.distance, out, state);
}

/* --- the level of a device's models --- */

tsl_estimate tsl_predict_candidates_level(const tsl_device *device, bool is_compared) {
  const bool has_core = is_compared && device->capabilities & TSL_CAN_HOST && device->threads > 0;
  const double peak = has_core ? device->peak_f32 / device->threads : 0,
               core = peak > 0 ? tsl_link_core(device) : 0;
  return core > 0 ? (tsl_estimate){peak / core, doubts.core} : (tsl_estimate){1, doubts.level};
}

/* What a record's seconds over its model's, `seen`, tell of the level, give or take what that strategy's
 * model errs by itself; what is past all doubt is that strategy's alone. */
static tsl_estimate predict_learn(tsl_estimate level, tsl_estimate seen) {
  seen = tsl_estimate_times(seen, 1, doubts.strategy);
  const double most = exp(2 * sqrt(seen.doubt * seen.doubt + level.doubt * level.doubt));
  seen.likely = fmin(fmax(seen.likely, level.likely / most), level.likely * most);
  return tsl_estimate_join(level, seen);
}

/* All records tell something of the level. The fastest one of these very sizes tells most, where it is slower
 * than promised: a tuner looked into what promised more, and a strategy that it left out is not to be
 * believed to be better than its level. */
static tsl_estimate predict_level_of(const tsl_candidate *candidates, const weighing *state, int count,
                                     tsl_estimate level) {
  int fastest = -1;
  for (int i = 0; i < count; i++)
    if (candidates[i].basis == TSL_BASIS_EXACT && state[i].model > 0 &&
        (fastest < 0 || state[i].time.likely < state[fastest].time.likely))
      fastest = i;
  for (int i = 0; i < count; i++)
    if (candidates[i].basis != TSL_BASIS_MODEL && state[i].model > 0)
      level = predict_learn(level, tsl_estimate_times(state[i].time, 1 / state[i].model, 0));
  if (fastest < 0)
    return level;
  const tsl_estimate seen = tsl_estimate_times(state[fastest].time, 1 / state[fastest].model, 0);
  return seen.likely > level.likely ? seen : level;
}

#define ONE_MORE(op, name) +1
enum { MOST = TSL_STRATEGY_LIST(ONE_MORE) };
#undef ONE_MORE

/* Up to so many operations a product is one of those that fast paths are for. */
static const double small_flops = 2. * 64 * 64 * 64;

/* Bits that are the same on all devices are one strategy's and of those that come to the same; which one must
 * hang on nothing but the problem, neither on the device nor on what it refuses. Among these time decides. */
static void keep_bits(const tsl_problem *problem, tsl_candidate *candidate) {
  const tsl_strategy *of = tsl_same_bits_of(problem);
  if (!candidate->refusal[0] && of && !tsl_same_bits(of, candidate->strategy, problem))
    snprintf(candidate->refusal, sizeof candidate->refusal,
             "has bits of its own, and those of bits=devices are %s's, on every device, unless a strategy is "
             "named",
             of->name);
}

/* Where bits are to come again with any number of threads, or on the next day, nothing may be chosen on the
 * processor by models, which know of threads and clocks: the ladder's highest rung that takes the problem,
 * with its own defaults, and what is there for small products only for these. */
static void predict_settle(const tsl_problem *problem, const tsl_strategy_request *request,
                           tsl_candidate *candidates, int count) {
  for (int i = 0; i < count; i++) {
    tsl_candidate *to = &candidates[i];
    if (problem->ask.bits == TSL_REPRODUCIBILITY_DEVICES && !request->strategy)
      keep_bits(problem, to);
    else if (!to->refusal[0] && is_settled(problem, to->device))
      to->order = to->strategy->fast_path.multiply && tsl_problem_flops(problem) > small_flops
                      ? 0
                      : -tsl_strategy_rung(to->strategy);
    to->seconds = to->refusal[0] ? INFINITY : to->seconds;
  }
}

void tsl_predict_candidates(const tsl_problem *problem, const tsl_choice *choice,
                            const tsl_strategy_request *request, tsl_estimate level,
                            tsl_candidate *candidates, int count) {
  weighing each[MOST];
  const int all = count < MOST ? count : MOST;
  for (int i = 0; i < all; i++)
    weigh_one(problem, choice, request, &candidates[i], &each[i]);
  level = predict_level_of(candidates, each, all, level);
  for (int i = 0; i < all; i++) {
    tsl_candidate *to = &candidates[i];
    const tsl_estimate time =
        to->basis == TSL_BASIS_MODEL
            ? tsl_estimate_times(tsl_estimate_times(level, each[i].model, 0), 1, doubts.strategy)
            : each[i].time;
    to->seconds = to->refusal[0] ? INFINITY : tsl_estimate_expected(time);
    to->doubt = time.doubt;
  }
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ANY)
    predict_settle(problem, request, candidates, all);
}
