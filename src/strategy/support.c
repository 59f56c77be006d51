#include "strategy/support.h"

#include "core/scratch.h"
#include "host/int_math.h"
#include "strategy/params.h"

#include <math.h>

const tsl_types tsl_types_blas[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                    {TESELA_F64, TESELA_F64, TESELA_F64},
                                    {TESELA_C64, TESELA_C64, TESELA_C64},
                                    {TESELA_C128, TESELA_C128, TESELA_C128},
                                    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT}};

static bool supports_types(const tsl_strategy *strategy, const tsl_problem *problem) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++)
    if (types.a == problem->a.type && types.b == problem->b.type && types.c == problem->c.type)
      return true;
  return false;
}

static const char *refuse_these_types(const tsl_strategy *strategy, const tsl_problem *problem) {
  tsl_text list = {0};
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++) {
    tsl_text_add(&list, "%s%s", i ? ", " : "", tsl_type(types.a)->name);
    if (types.b != types.a || types.c != types.a)
      tsl_text_add(&list, " x %s -> %s", tsl_type(types.b)->name, tsl_type(types.c)->name);
  }
  const char *a = tsl_type(problem->a.type)->name, *b = tsl_type(problem->b.type)->name,
             *c = tsl_type(problem->c.type)->name;
  const bool same = problem->a.type == problem->c.type && problem->b.type == problem->c.type;
  const char *reason = strategy->supports.why ? strategy->supports.why : "", *colon = *reason ? ": " : "";
  const char *why =
      same ? tsl_refusal("takes %s, not %s%s%s", tsl_text_get(&list), c, colon, reason)
           : tsl_refusal("takes %s, not %s x %s -> %s%s%s", tsl_text_get(&list), a, b, c, colon, reason);
  tsl_text_free(&list);
  return why;
}

/* Returns true if f64 arithmetic is needed. A transpose without scaling only moves bytes. */
static bool computes_in_double(const tsl_problem *problem) {
  const bool moves = problem->op == TSL_OP_TRANSPOSE && problem->alpha[0] == 1 && problem->alpha[1] == 0;
  return !moves && tsl_type(problem->c.type)->component == TESELA_F64;
}

/* Returns a refusal for types, conjugates, structures or a batch; NULL: all are supported. */
static const char *refuse_form(const tsl_strategy *strategy, const tsl_problem *problem) {
  if (!supports_types(strategy, problem))
    return refuse_these_types(strategy, problem);
  if ((problem->conjugate_a || problem->conjugate_b) && !strategy->supports.conjugates)
    return "takes no conjugates";
  if (tsl_problem_has_structure(problem) && !strategy->supports.structures)
    return "takes general matrices, and all of C";
  if (problem->batch > 1 && !strategy->supports.batches)
    return "takes one product at a time";
  return NULL;
}

static const char *refuse_types(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device) {
  const char *why = refuse_form(strategy, problem);
  if (why)
    return why;
  if (computes_in_double(problem) && !(device->capabilities & TSL_CAN_F64))
    return tsl_refusal("%s has no double precision", device->name);
  return NULL;
}

static const char *refuse_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                                  const tsl_config *config, const tsl_device *device) {
  const uint64_t bytes = tsl_strategy_scratch(strategy, problem, config, device);
  if (bytes <= device->allocation_max)
    return NULL;
  return tsl_refusal("needs %llu MiB of scratch memory, %s gives at most %llu at once",
                     (unsigned long long)(bytes >> 20), device->name,
                     (unsigned long long)(device->allocation_max >> 20));
}

static const char *refuse_host_memory(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config, const tsl_device *device) {
  const uint64_t limit = tsl_scratch_limit(),
                 bytes = limit == UINT64_MAX ? 0 : tsl_strategy_host_bytes(strategy, problem, config, device);
  if (bytes <= limit)
    return NULL;
  return tsl_refusal("needs %.1f MiB of host memory in addition to its operands, but %.1f MiB are left",
                     (double)bytes / (1 << 20), (double)limit / (1 << 20));
}

const char *tsl_refuse_missing(unsigned needs, const tsl_device *device) {
  const char *missing = tsl_capability_missing(needs, device->capabilities);
  return missing ? tsl_refusal("%s lacks: %s", device->name, missing) : NULL;
}

static const char *refuse_throughout(const tsl_strategy *strategy, const tsl_problem *problem,
                                     const tsl_device *device) {
  if (strategy->op != problem->op)
    return tsl_refusal("is a %s, not a %s", tsl_op_name(strategy->op), tsl_op_name(problem->op));
  if (device->capabilities & TSL_CAN_SEVERAL & ~strategy->needs)
    return "runs on one device at a time";
  const char *missing = tsl_refuse_missing(strategy->needs, device),
             *why = missing ? missing : refuse_types(strategy, problem, device);
  if (why)
    return why;
  return strategy->vendor.load && strategy->vendor.load()->why_not[0] ? strategy->vendor.load()->why_not
                                                                      : NULL;
}

static const char *refuse_value(const tsl_strategy *strategy, int index, int64_t value) {
  tsl_text text = {0};
  tsl_param_print(strategy, index, &text);
  const char *why = tsl_refusal("%s=%lld is not one of %s", strategy->params[index].name, (long long)value,
                                tsl_text_get(&text));
  tsl_text_free(&text);
  return why;
}

static const char *refuse_accuracy(const tsl_numeric_requirements *ask, const tsl_problem *problem,
                                   const tsl_accuracy *promised) {
  const double result = tsl_type(problem->c.type)->unit_roundoff,
               factors = tsl_type(problem->a.type)->unit_roundoff;
  if (promised->factor == 0 || (promised->is_correctly_rounded && ask->accuracy != TSL_ACCURACY_NUMBER))
    return NULL;
  if ((promised->flush_threshold > 0 && !promised->truncates_inputs) || promised->finite_only)
    return tsl_refusal(
        "flushes small numbers to 0 or guarantees nothing for infinities, but accuracy is required");
  if (ask->accuracy == TSL_ACCURACY_EXACT)
    return tsl_refusal("rounds its sums: |error| <= %.3g |A||B|, and exact is asked for",
                       promised->factor * result);
  const double allowed =
      tsl_numeric_requirements_error_limit(ask, tsl_accuracy_terms(problem), factors, result);
  if (promised->factor * result <= allowed)
    return NULL;
  return tsl_refusal("guarantees |error| <= %.3g |A||B|, and %.3g is asked for", promised->factor * result,
                     allowed);
}

/* Returns NULL if the strategy guarantees the required accuracy and reproducibility, else a refusal. */
static const char *refuse_requirements(const tsl_strategy *strategy, const tsl_problem *problem,
                                       const tsl_config *config) {
  const tsl_numeric_requirements *ask = &problem->ask;
  if (!tsl_numeric_requirements_has_accuracy(ask) && ask->bits == TSL_REPRODUCIBILITY_ANY)
    return NULL;
  const tsl_accuracy promised = tsl_strategy_error_model(strategy, problem, config);
  const char *why =
      tsl_numeric_requirements_has_accuracy(ask) ? refuse_accuracy(ask, problem, &promised) : NULL;
  const tsl_reproducibility bits = tsl_accuracy_bits(&promised),
                            required = ask->bits == TSL_REPRODUCIBILITY_ROWS ? TSL_REPRODUCIBILITY_THREADS
                                                                             : ask->bits;
  if (!why && bits < required)
    why = bits == TSL_REPRODUCIBILITY_ANY
              ? tsl_refusal("its bits may differ from run to run, and bits=%s is asked for",
                            tsl_numeric_requirements_bits_word(ask->bits))
              : "its order of sums depends on the device, but bits=devices is required";
  return why;
}

const char *tsl_strategy_row_order(const tsl_strategy *strategy, const tsl_problem *problem,
                                   const tsl_config *config, const tsl_device *device) {
  const tsl_accuracy promised = strategy->accuracy(problem, config);
  if (strategy->vendor.load)
    return NULL;
  if (promised.is_correctly_rounded || promised.factor == 0 || tsl_type(problem->a.type)->is_integer ||
      problem->op == TSL_OP_TRANSPOSE)
    return TSL_EXACT_ORDER;
  if (problem->op == TSL_OP_DOT && promised.has_fixed_tree)
    return "fixed tree";
  return strategy->row_order ? strategy->row_order(problem, config, device) : NULL;
}

static const char *refuse_row_order(const tsl_strategy *strategy, const tsl_problem *problem,
                                    const tsl_config *config, const tsl_device *device) {
  return problem->ask.bits != TSL_REPRODUCIBILITY_ROWS ||
                 tsl_strategy_row_order(strategy, problem, config, device)
             ? NULL
             : "its order of sums depends on more than k and types, but bits=rows is required";
}

const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device) {
  tsl_problem room;
  const tsl_problem *sums = tsl_problem_without_epilogue(problem, &room);
  const char *why = refuse_throughout(strategy, sums, device);
  if (why)
    return why;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!tsl_param_allows(strategy, i, config->value[i]))
      return refuse_value(strategy, i, config->value[i]);
  why = strategy->refuse ? strategy->refuse(sums, config, device) : NULL;
  why = why ? why : refuse_requirements(strategy, problem, config);
  why = why ? why : refuse_row_order(strategy, sums, config, device);
  why = why ? why : refuse_scratch(strategy, problem, config, device);
  return why ? why : refuse_host_memory(strategy, problem, config, device);
}

const char *tsl_strategy_refuse_anywhere(const tsl_strategy *strategy, const tsl_problem *problem,
                                         const tsl_config *config) {
  tsl_problem room;
  const char *why = refuse_form(strategy, tsl_problem_without_epilogue(problem, &room));
  return why ? why : refuse_requirements(strategy, problem, config);
}

bool tsl_strategy_probe(const tsl_strategy *strategy, int index, tsl_config *config) {
  tsl_record record;
  if (!strategy->testing.probes)
    return tsl_strategy_config(strategy, index, config);
  for (int i = 0; i <= index; i++)
    if (!strategy->testing.probes[i])
      return false;
  *config = tsl_strategy_defaults(strategy);
  if (tsl_record_parse(strategy->testing.probes[index], &record) != TESELA_OK)
    return false;
  const tesela_status status = tsl_config_parse(strategy, &record, config, NULL);
  tsl_record_free(&record);
  return status == TESELA_OK;
}

/* Returns how many values the walk tries for a parameter: 1 for a fixed or unlisted parameter. */
static int count_choices(const tsl_strategy *strategy, const tsl_walk *walk, int param) {
  const int listed = tsl_param_values(&strategy->params[param]);
  return walk->fixed & 1u << param || listed == 0 ? 1 : listed;
}

/* Sets the values of parameters from `first` on to their places in the lists; fixed parameters stay. */
static void set_walk_values(const tsl_strategy *strategy, int first, tsl_walk *walk) {
  for (int i = first; i < tsl_strategy_params(strategy); i++) {
    const tsl_param *param = &strategy->params[i];
    if (!(walk->fixed & 1u << i))
      walk->config.value[i] = tsl_param_values(param) > 0 ? param->values[walk->place[i]] : param->fallback;
  }
}

/* Advances to the next config that differs in one of the first `params` parameters; false past the last. */
static bool advance_walk(const tsl_strategy *strategy, int params, tsl_walk *walk) {
  const int all = tsl_strategy_params(strategy);
  int i = params - 1;
  while (i >= 0 && walk->place[i] + 1 == count_choices(strategy, walk, i))
    i--;
  if (i < 0)
    return false;
  walk->place[i]++;
  for (int later = i + 1; later < all; later++)
    walk->place[later] = 0;
  set_walk_values(strategy, i, walk);
  return true;
}

bool tsl_strategy_walk(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       tsl_walk *walk) {
  const int all = tsl_strategy_params(strategy);
  tsl_problem room;
  problem = tsl_problem_without_epilogue(problem, &room);
  int params = all;
  if (!walk->begun && refuse_throughout(strategy, problem, device))
    return false;
  bool there = !walk->begun || advance_walk(strategy, all, walk);
  if (!walk->begun)
    set_walk_values(strategy, 0, walk);
  walk->begun = true;
  while (there && strategy->tuning.prune &&
         (params = strategy->tuning.prune(problem, &walk->config, device)) > 0)
    there = advance_walk(strategy, params, walk);
  return there;
}

double tsl_strategy_fastest(const tsl_config_search *search, const tsl_strategy *strategy, tsl_walk walk,
                            double least, tsl_config *config) {
  const bool is_large = strategy->tuning.prune != NULL;
  while (tsl_strategy_walk(strategy, search->problem, search->device, &walk)) {
    tsl_config adapted = walk.config;
    if (!is_large && !search->accepts(search, strategy, &adapted))
      continue;
    const double seconds =
        tsl_strategy_seconds(strategy, search->problem, &adapted, search->device, search->list);
    if (seconds >= least || (is_large && !search->accepts(search, strategy, &adapted)))
      continue;
    least = seconds;
    *config = adapted;
  }
  return least;
}

/* --- models of sub-plans --- */

enum { CONFIGS_MAX = 600 };

/* Returns the number of combinations of listed parameter values. */
static int64_t count_configs(const tsl_strategy *strategy) {
  int64_t all = 1;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    all *= tsl_max(1, tsl_param_values(&strategy->params[i]));
  return all;
}

/* Returns true if the models of all configs are evaluated: of few, or of factors cut within the requirement.
 */
static bool should_walk(const tsl_strategy *strategy, const tsl_problem *part) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  return count_configs(strategy) <= CONFIGS_MAX ||
         (tsl_numeric_requirements_has_accuracy(&part->ask) &&
          tsl_strategy_error_model(strategy, part, &config).truncates_inputs);
}

/* Stores `tried` in `best` if it is faster and may be chosen; returns true if it is. */
static bool take_faster(const tsl_config_search *search, const tsl_strategy *strategy, tsl_config tried,
                        double *least, tsl_config *best) {
  if (strategy->tuning.prune(search->problem, &tried, search->device) > 0)
    return false;
  const double seconds =
      tsl_strategy_seconds(strategy, search->problem, &tried, search->device, search->list);
  if (!(seconds < *least) || !search->accepts(search, strategy, &tried))
    return false;
  *least = seconds;
  *best = tried;
  return true;
}

/* Returns the seconds of a config from `best` on that no other values of two parameters make faster. */
static double descend(const tsl_config_search *search, const tsl_strategy *strategy, double least,
                      tsl_config best) {
  const int params = tsl_strategy_params(strategy);
  bool is_better = true;
  while (is_better) {
    is_better = false;
    for (int i = 0; i < params; i++)
      for (int j = i + 1; j < params; j++) {
        const tsl_param *one = &strategy->params[i], *other = &strategy->params[j];
        tsl_config tried = best;
        for (int v = 0; v < tsl_param_values(one); v++)
          for (int w = 0; w < tsl_param_values(other); w++) {
            tried.value[i] = one->values[v], tried.value[j] = other->values[w];
            is_better |= take_faster(search, strategy, tried, &least, &best);
          }
      }
  }
  return least;
}

/* Returns the seconds of the fastest config that descents from the probes find; infinity: there is none. For
 * strategies with very many configs. */
static double descend_from_probes(const tsl_config_search *search, const tsl_strategy *strategy) {
  tsl_config probe, best;
  double least = INFINITY;
  for (int i = 0; tsl_strategy_probe(strategy, i, &probe); i++) {
    double seconds = INFINITY;
    if (take_faster(search, strategy, probe, &seconds, &best))
      least = fmin(least, descend(search, strategy, seconds, best));
  }
  return least;
}

static bool meets_accuracy(const tsl_config_search *search, const tsl_strategy *strategy,
                           tsl_config *config) {
  const tsl_accuracy *most = search->argument;
  if (tsl_strategy_refuse(strategy, search->problem, config, search->device))
    return false;
  const tsl_accuracy promised = tsl_strategy_error_model(strategy, search->problem, config);
  return promised.factor <= most->factor && promised.flush_threshold <= most->flush_threshold;
}

double tsl_strategy_fastest_within(const tsl_problem *part, tsl_accuracy most, const tsl_device *device,
                                   tsl_all_strategies *list) {
  const tsl_config_search search = {part, device, list, meets_accuracy, &most};
  /* The constants of split_precision's products of bf16 are fitted to estimates without large families. */
  const bool is_fast = tsl_type(part->a.type)->size < 4 && !tsl_numeric_requirements_has_accuracy(&part->ask);
  tsl_config config;
  double least = INFINITY;
  for (int i = 0; list(i); i++) {
    const tsl_strategy *strategy = list(i);
    if (strategy->vendor.load || strategy->splits.parts || strategy->op != part->op)
      continue;
    if (should_walk(strategy, part))
      least = tsl_strategy_fastest(&search, strategy, (tsl_walk){.begun = false}, least, &config);
    else if (strategy->tuning.prune && !is_fast)
      least = fmin(least, descend_from_probes(&search, strategy));
  }
  return least;
}
