#include "strategy/strategy.h"

#include "core/scratch.h"
#include "core/status.h"
#include "core/thread_string.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const tsl_strategy *(*tsl_strategy_list_hook)(int index);

const char *tsl_refusal(const char *format, ...) {
  char text[192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *kept = tsl_thread_text_keep(TSL_THREAD_REFUSAL, text);
  return kept[0] ? kept : "refused, and there is no memory to say why"; /* "" would mean no refusal */
}

tsl_accuracy tsl_accuracy_of_sum(int64_t k) {
  return (tsl_accuracy){.factor = (double)k + 4, .is_reproducible = true};
}

tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return tsl_accuracy_in_type(tsl_accuracy_of_sum(tsl_problem_terms(problem)), problem->c.type);
}

tsl_accuracy tsl_accuracy_of_substitution(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double k = (double)problem->k;
  return (tsl_accuracy){.factor = tsl_type(problem->c.type)->is_complex ? 2 * k + 16 : k + 4,
                        .is_reproducible = true};
}

tsl_accuracy tsl_accuracy_relaxed(tsl_accuracy of_sums, const tsl_problem *problem, bool relaxed) {
  if (relaxed) {
    of_sums.flush_threshold = problem->c.type == TESELA_F64 ? 0x1p-1022 : 0x1p-126;
    of_sums.finite_only = true;
  }
  return of_sums;
}

tsl_accuracy tsl_accuracy_in_type(tsl_accuracy of_sums, tesela_type type) {
  const tsl_type_info *info = tsl_type(type), *sums = tsl_type(info->sums);
  if (info->is_integer)
    of_sums.factor = 0;
  else if (sums != info)
    of_sums.factor =
        1 + of_sums.factor * sums->unit_roundoff / info->unit_roundoff * (1 + info->unit_roundoff);
  return of_sums;
}

static const double gelu_slope = 1.13;

static bool is_gelu(const tsl_problem *problem) {
  return problem->activation == TESELA_GELU || problem->activation == TESELA_GELU_TANH;
}

tsl_accuracy tsl_accuracy_scaled(tsl_accuracy of_sums, const tsl_problem *problem) {
  const double slope = is_gelu(problem) ? gelu_slope : 1;
  tsl_accuracy result = of_sums;
  result.factor = slope * (of_sums.factor + 8) + (is_gelu(problem) ? 24 : 0);
  result.flush_threshold = slope * of_sums.flush_threshold;
  result.subnormal_error = slope * of_sums.subnormal_error;
  result.is_correctly_rounded = result.has_fixed_tree =
      false; /* devices may or may not fuse a product and an addition */
  return tsl_accuracy_in_type(result, problem->c.type);
}

tsl_accuracy tsl_accuracy_finished(tsl_accuracy of_product, const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type), *sums = tsl_type(type->sums);
  const bool is_curved = is_gelu(problem);
  const double slope = is_curved ? gelu_slope : 1,
               function = is_curved ? 24 * sums->unit_roundoff / type->unit_roundoff : 0;
  tsl_accuracy result = of_product;
  if (problem->bias_axis == TESELA_NO_BIAS && !is_curved)
    return result; /* ReLU of the rounded number is exact */
  result.factor = slope * (of_product.factor + 2) + function + 1;
  result.flush_threshold = slope * of_product.flush_threshold;
  result.subnormal_error = slope * of_product.subnormal_error;
  result.is_correctly_rounded = false;
  result.has_fixed_tree = tsl_accuracy_bits(&of_product) == TSL_REPRODUCIBILITY_DEVICES &&
                          !is_curved; /* the implementation of the activation differs between devices */
  return result;
}

double tsl_accuracy_slips(const tsl_problem *problem, double factor) {
  const tsl_type_info *a = tsl_type(problem->a.type);
  const double smallest_normal =
      a->type == TESELA_BF16 ? 0x1p-126 : 0x1p-14; /* 8-bit types become f16 at worst */
  return a->is_integer || a->size > 2 ? 0 : factor * 0x1p-24 * smallest_normal;
}

double tsl_accuracy_cuts(double k) {
  return 2.25 * k + 24 + 0x1p-22 * k;
}

double tsl_accuracy_cuts_of_panels(double k, double panel) {
  return 2.25 * fmin(k, panel) + 26 + 1.25 * ceil(k / panel) + 0x1p-22 * k;
}

tsl_accuracy tsl_accuracy_of_tensor_cores(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double factor = tsl_accuracy_cuts((double)problem->k);
  return tsl_accuracy_in_type((tsl_accuracy){.factor = factor,
                                             .subnormal_error = tsl_accuracy_slips(problem, factor),
                                             .is_reproducible = true},
                              problem->c.type);
}

/* Counts the lost places. A product's exponent is the sum of its factors' exponents, up to 2^3 too large for
 * a subnormal factor (2^2 for e5m2). Where a product is the largest, each other term of its instruction loses
 * one place of it: at most |A||B| in all. Where the accumulator is, each term loses one place. */
tsl_accuracy tsl_accuracy_of_eights(const tsl_problem *problem, int64_t panel) {
  enum { TOGETHER = 32 };
  static const double place = 0x1p-13 / 0x1p-24;
  const bool all_e5m2 = problem->a.type == TESELA_E5M2 && problem->b.type == TESELA_E5M2;
  const double k = (double)problem->k, below = all_e5m2 ? 4 : 8, depth = fmin(k, (double)panel),
               panels = ceil(k / (double)panel), instructions = ceil(depth / TOGETHER);
  const double cuts = below * fmin(depth, TOGETHER) + TOGETHER * fmax(0, instructions - 1) + instructions;
  return tsl_accuracy_in_type(
      (tsl_accuracy){.factor = cuts * place + 2 * panels + 24, .is_reproducible = true}, problem->c.type);
}

tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel) {
  const int64_t k = tsl_problem_terms(problem), depth = k < panel ? k : panel,
                panels = k == 0 ? 1 : (k - 1) / panel + 1;
  const tesela_type sums = tsl_type(problem->c.type)->sums;
  const double second_order = 2 * (double)k * tsl_type(sums)->unit_roundoff;
  const tsl_accuracy made = {.factor = (double)depth + (double)panels + 3 + second_order,
                             .is_reproducible = true};
  return tsl_accuracy_in_type(made, problem->c.type);
}

/* Adds to k the panels of host_packed and second-order terms. */
tsl_accuracy tsl_accuracy_of_parts(const tsl_problem *problem, int64_t slabs) {
  const double depth = (double)(problem->k / slabs + (problem->k % slabs != 0));
  const bool narrow = tsl_type(problem->a.type)->size < 4 && !tsl_type(problem->a.type)->is_integer;
  const double one = narrow ? tsl_accuracy_cuts(depth) : depth + 6 + 0x1p-20 * depth,
               factor = (double)slabs * one;
  return tsl_accuracy_in_type((tsl_accuracy){.factor = factor,
                                             .subnormal_error = tsl_accuracy_slips(problem, factor),
                                             .is_reproducible = true},
                              problem->c.type);
}

/* Returns the terms of a sum for numeric requirements: two real terms for a term of a complex product. */
static int64_t strategy_terms_of(const tsl_problem *problem) {
  const int64_t terms = tsl_problem_terms(problem);
  return tsl_type(problem->c.type)->is_complex ? 2 * terms : terms;
}

/* Gets the error that the requirement allows, in units of C's roundoff; false: there is no limit. */
static bool get_error_limit(const tsl_problem *problem, double *factor) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const tsl_numeric_requirements *ask = &problem->ask;
  if (type->is_integer || (ask->accuracy != TSL_ACCURACY_NUMBER && ask->accuracy != TSL_ACCURACY_TYPE))
    return false;
  *factor =
      tsl_numeric_requirements_error_limit(ask, strategy_terms_of(problem),
                                           tsl_type(problem->a.type)->unit_roundoff, type->unit_roundoff) /
      type->unit_roundoff;
  return true;
}

/* Allows truncation of f32 factors, which may flush subnormals to 0. */
static void allow_truncation(const tsl_problem *problem, tsl_accuracy *accuracy) {
  const tsl_type_info *component = tsl_type(tsl_type(problem->a.type)->component);
  accuracy->truncates_inputs = component == tsl_type(TESELA_F32);
  accuracy->flush_threshold = accuracy->truncates_inputs ? 0x1p-126 : accuracy->flush_threshold;
}

tsl_accuracy tsl_accuracy_asked_of_parts(const tsl_problem *problem, int64_t slabs) {
  tsl_accuracy made = tsl_accuracy_of_parts(problem, slabs);
  double allowed;
  if (!get_error_limit(problem, &allowed) || allowed <= made.factor)
    return made;
  made.factor = allowed;
  allow_truncation(problem, &made);
  return made;
}

tsl_accuracy tsl_accuracy_of_one_part(const tsl_problem *whole, const tsl_problem *part, int64_t slabs) {
  tsl_accuracy made = tsl_accuracy_of_parts(part, 1);
  const tsl_accuracy all = tsl_accuracy_of_parts(whole, slabs);
  double allowed;
  if (!get_error_limit(whole, &allowed) || allowed <= all.factor)
    return made;
  if (allowed / (double)slabs > made.factor)
    made.factor = allowed / (double)slabs;
  allow_truncation(whole, &made);
  return made;
}

int tsl_strategy_params(const tsl_strategy *strategy) {
  int count = 0;
  while (strategy->params && count < TSL_PARAMS_MAX && strategy->params[count].name)
    count++;
  return count;
}

tsl_config tsl_strategy_defaults(const tsl_strategy *strategy) {
  tsl_config config = {{0}};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    config.value[i] = strategy->params[i].fallback;
  return config;
}

int tsl_param_values(const tsl_param *param) {
  int count = 0;
  while (count < TSL_PARAM_VALUES_MAX && param->values[count] != 0)
    count++;
  return count;
}

/* Takes `index` apart into list positions, the last parameter fastest. */
bool tsl_strategy_config(const tsl_strategy *strategy, int index, tsl_config *config) {
  *config = tsl_strategy_defaults(strategy);
  for (int i = tsl_strategy_params(strategy) - 1; i >= 0; i--) {
    const int count = tsl_param_values(&strategy->params[i]);
    if (count == 0)
      continue;
    config->value[i] = strategy->params[i].values[index % count];
    index /= count;
  }
  return index == 0;
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

static const char *refuse_throughout(const tsl_strategy *strategy, const tsl_problem *problem,
                                     const tsl_device *device);

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

/* Returns true if the value of parameter `index` is listed or in the parameter's range. */
static bool is_value_allowed(const tsl_strategy *strategy, int index, int64_t value) {
  const tsl_param *param = &strategy->params[index];
  const tsl_range *range = &strategy->tuning.ranges[index];
  for (int i = 0; i < tsl_param_values(param); i++)
    if (param->values[i] == value)
      return true;
  return range->max > 0 && value >= range->min && value <= range->max;
}

void tsl_param_print(const tsl_strategy *strategy, int index, tsl_text *text) {
  const tsl_param *param = &strategy->params[index];
  const tsl_range *range = &strategy->tuning.ranges[index];
  const int listed = tsl_param_values(param);
  for (int i = 0; i < listed; i++) {
    tsl_text_add(text, "%s", i ? ", " : "");
    tsl_param_print_value(strategy, index, param->values[i], text);
  }
  if (range->max == INT64_MAX)
    tsl_text_add(text, "%sany number from %lld up", listed ? ", or " : "", (long long)range->min);
  else if (range->max > 0)
    tsl_text_add(text, "%sany number from %lld to %lld", listed ? ", or " : "", (long long)range->min,
                 (long long)range->max);
}

const char *tsl_param_value_name(const tsl_strategy *strategy, int index, int64_t value) {
  const tsl_param *param = &strategy->params[index];
  for (int i = 0; strategy->tuning.names[index] && i < tsl_param_values(param); i++)
    if (param->values[i] == value)
      return strategy->tuning.names[index][i];
  return NULL;
}

void tsl_param_print_value(const tsl_strategy *strategy, int index, int64_t value, tsl_text *text) {
  const char *name = tsl_param_value_name(strategy, index, value);
  if (name)
    tsl_text_add(text, "%s", name);
  else
    tsl_text_add(text, "%lld", (long long)value);
}

bool tsl_param_parse_value(const tsl_strategy *strategy, int index, const char *word, int64_t *value) {
  const tsl_param *param = &strategy->params[index];
  for (int i = 0; strategy->tuning.names[index] && i < tsl_param_values(param); i++)
    if (strcmp(strategy->tuning.names[index][i], word) == 0) {
      *value = param->values[i];
      return true;
    }
  return tsl_parse_i64(word, value);
}

bool tsl_param_is_silent(const tsl_param *param, int64_t value) {
  return tsl_param_values(param) == 0 && value == param->fallback;
}

#define THROUGHOUT(type)                                                                                     \
  { type, type, type }
static const tsl_types real_types[] = {THROUGHOUT(TESELA_F32), THROUGHOUT(TESELA_F64), THROUGHOUT(0)};
const tsl_types tsl_types_all[] = {THROUGHOUT(TESELA_F32),  THROUGHOUT(TESELA_F64),  THROUGHOUT(TESELA_F16),
                                   THROUGHOUT(TESELA_BF16), THROUGHOUT(TESELA_I8),   THROUGHOUT(TESELA_I32),
                                   THROUGHOUT(TESELA_C64),  THROUGHOUT(TESELA_C128), THROUGHOUT(TESELA_U8),
                                   THROUGHOUT(TESELA_E4M3), THROUGHOUT(TESELA_E5M2), THROUGHOUT(0)};
#define NARROW                                                                                               \
  {TESELA_BF16, TESELA_BF16, TESELA_F32}, {TESELA_I8, TESELA_I8, TESELA_I32},                                \
      {TESELA_F16, TESELA_F16, TESELA_F32}, {TESELA_BF16, TESELA_BF16, TESELA_BF16},                         \
      {TESELA_F16, TESELA_F16, TESELA_F16}, {TESELA_U8, TESELA_I8, TESELA_I32},                              \
      {TESELA_I8, TESELA_U8, TESELA_I32}, {                                                                  \
    TESELA_U8, TESELA_U8, TESELA_I32                                                                         \
  }
#define EIGHTS_IN(c)                                                                                         \
  {TESELA_E4M3, TESELA_E4M3, c}, {TESELA_E5M2, TESELA_E4M3, c}, {TESELA_E4M3, TESELA_E5M2, c}, {             \
    TESELA_E5M2, TESELA_E5M2, c                                                                              \
  }
#define EIGHTS EIGHTS_IN(TESELA_F32), EIGHTS_IN(TESELA_BF16), EIGHTS_IN(TESELA_F16)
const tsl_types tsl_types_narrow[] = {NARROW, THROUGHOUT(0)};
const tsl_types tsl_types_small[] = {NARROW, EIGHTS, THROUGHOUT(0)};
const tsl_types tsl_types_real[] = {THROUGHOUT(TESELA_F32), THROUGHOUT(TESELA_F64), NARROW, THROUGHOUT(0)};
const tsl_types tsl_types_every[] = {THROUGHOUT(TESELA_F32),
                                     THROUGHOUT(TESELA_F64),
                                     {TESELA_BF16, TESELA_BF16, TESELA_F32},
                                     {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                                     {TESELA_F16, TESELA_F16, TESELA_F32},
                                     {TESELA_F16, TESELA_F16, TESELA_F16},
                                     {TESELA_I8, TESELA_I8, TESELA_I32},
                                     {TESELA_U8, TESELA_I8, TESELA_I32},
                                     {TESELA_I8, TESELA_U8, TESELA_I32},
                                     {TESELA_U8, TESELA_U8, TESELA_I32},
                                     THROUGHOUT(TESELA_C64),
                                     THROUGHOUT(TESELA_C128),
                                     EIGHTS,
                                     THROUGHOUT(0)};
#undef EIGHTS
#undef EIGHTS_IN
#undef NARROW

bool tsl_strategy_types(const tsl_strategy *strategy, int index, tsl_types *types) {
  const tsl_types *list = strategy->supports.types ? strategy->supports.types : real_types;
  for (int i = 0; i < index; i++)
    if (list[i].c == TESELA_TYPE_DEFAULT)
      return false;
  *types = list[index];
  return types->c != TESELA_TYPE_DEFAULT;
}

static bool supports_types(const tsl_strategy *strategy, const tsl_problem *problem) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++)
    if (types.a == problem->a.type && types.b == problem->b.type && types.c == problem->c.type)
      return true;
  return false;
}

bool tsl_types_parse(tsl_op op, const char *text, tsl_types *types) {
  tesela_type words[3] = {TESELA_TYPE_DEFAULT};
  int count = 0;
  for (const char *at = text; at; count++) {
    char word[8];
    const size_t length = strcspn(at, ":");
    if (count == 3 || length >= sizeof word)
      return false;
    memcpy(word, at, length);
    word[length] = '\0';
    words[count] = tsl_type_parse(word);
    if (words[count] == TESELA_TYPE_DEFAULT)
      return false;
    at = at[length] ? at + length + 1 : NULL;
  }
  *types = (tsl_types){words[0], count == 3 ? words[1] : words[0],
                       count == 1 ? tsl_result_type(op, words[0]) : words[count - 1]};
  return true;
}

void tsl_types_print(tsl_op op, const tsl_types *types, tsl_text *text) {
  tsl_text_add(text, "%s", tsl_type(types->a)->name);
  if (types->b != types->a)
    tsl_text_add(text, ":%s", tsl_type(types->b)->name);
  if (types->b != types->a || types->c != tsl_result_type(op, types->a))
    tsl_text_add(text, ":%s", tsl_type(types->c)->name);
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

static const char *strategy_refuse_types(const tsl_strategy *strategy, const tsl_problem *problem,
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

static const char *refuse_throughout(const tsl_strategy *strategy, const tsl_problem *problem,
                                     const tsl_device *device) {
  if (strategy->op != problem->op)
    return tsl_refusal("is a %s, not a %s", tsl_op_name(strategy->op), tsl_op_name(problem->op));
  if (device->capabilities & TSL_CAN_SEVERAL & ~strategy->needs)
    return "runs on one device at a time";
  const char *missing = tsl_capability_missing(strategy->needs, device->capabilities);
  if (missing)
    return tsl_refusal("%s lacks: %s", device->name, missing);
  const char *why = strategy_refuse_types(strategy, problem, device);
  if (why)
    return why;
  return strategy->vendor.load && strategy->vendor.load()->why_not[0] ? strategy->vendor.load()->why_not
                                                                      : NULL;
}

const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device) {
  const bool could = strategy->vendor.load && !tsl_capability_missing(strategy->needs, device->capabilities);
  return could ? strategy->vendor.load()->name : "";
}

static const char *refuse_value(const tsl_strategy *strategy, int index, int64_t value) {
  tsl_text text = {0};
  tsl_param_print(strategy, index, &text);
  const char *why = tsl_refusal("%s=%lld is not one of %s", strategy->params[index].name, (long long)value,
                                tsl_text_get(&text));
  tsl_text_free(&text);
  return why;
}

tsl_accuracy tsl_strategy_error_model(const tsl_strategy *strategy, const tsl_problem *problem,
                                      const tsl_config *config) {
  tsl_problem room;
  const tsl_problem *sums = tsl_problem_without_epilogue(problem, &room);
  const tsl_accuracy of_product = strategy->accuracy(sums, config);
  return sums != problem                     ? tsl_accuracy_scaled(of_product, problem)
         : tsl_problem_has_epilogue(problem) ? tsl_accuracy_finished(of_product, problem)
                                             : of_product;
}

double tsl_strategy_error_bound(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config) {
  return tsl_strategy_error_model(strategy, problem, config).factor *
         tsl_type(problem->c.type)->unit_roundoff;
}

tsl_reproducibility tsl_accuracy_bits(const tsl_accuracy *accuracy) {
  return accuracy->is_correctly_rounded || accuracy->factor == 0 || accuracy->has_fixed_tree
             ? TSL_REPRODUCIBILITY_DEVICES
         : accuracy->is_reproducible ? TSL_REPRODUCIBILITY_THREADS
                                     : TSL_REPRODUCIBILITY_ANY;
}

static const char *strategy_refuse_accuracy(const tsl_numeric_requirements *ask, const tsl_problem *problem,
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
      tsl_numeric_requirements_error_limit(ask, strategy_terms_of(problem), factors, result);
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
      tsl_numeric_requirements_has_accuracy(ask) ? strategy_refuse_accuracy(ask, problem, &promised) : NULL;
  const tsl_reproducibility bits = tsl_accuracy_bits(&promised);
  if (!why && bits < ask->bits)
    why = bits == TSL_REPRODUCIBILITY_ANY
              ? tsl_refusal("its bits may differ from run to run, and bits=%s is asked for",
                            tsl_numeric_requirements_bits_word(ask->bits))
              : "its order of sums depends on the device, but bits=devices is required";
  return why;
}

const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device) {
  tsl_problem room;
  const tsl_problem *sums = tsl_problem_without_epilogue(problem, &room);
  const char *why = refuse_throughout(strategy, sums, device);
  if (why)
    return why;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!is_value_allowed(strategy, i, config->value[i]))
      return refuse_value(strategy, i, config->value[i]);
  why = strategy->refuse ? strategy->refuse(sums, config, device) : NULL;
  why = why ? why : refuse_requirements(strategy, problem, config);
  why = why ? why : refuse_scratch(strategy, problem, config, device);
  return why ? why : refuse_host_memory(strategy, problem, config, device);
}

const char *tsl_strategy_refuse_anywhere(const tsl_strategy *strategy, const tsl_problem *problem,
                                         const tsl_config *config) {
  tsl_problem room;
  const char *why = refuse_form(strategy, tsl_problem_without_epilogue(problem, &room));
  return why ? why : refuse_requirements(strategy, problem, config);
}

/* Returns `bytes` rounded up: kernels may access the memory after it with vectors. UINT64_MAX stays. */
static uint64_t strategy_aligned(uint64_t bytes) {
  enum { LINE = 256 };
  return bytes > UINT64_MAX - LINE ? bytes : (bytes + LINE - 1) / LINE * LINE;
}

static uint64_t own_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                            const tsl_config *config, const tsl_device *device) {
  tsl_problem room;
  return strategy->resources.scratch
             ? strategy->resources.scratch(tsl_problem_without_epilogue(problem, &room), config, device)
             : 0;
}

bool tsl_strategy_fuses_epilogue(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device) {
  return strategy->can_fuse_epilogue && tsl_problem_has_epilogue(problem) &&
         strategy->can_fuse_epilogue(problem, config, device);
}

uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device) {
  if (device->capabilities & TSL_CAN_HOST)
    return 0;
  const bool finishes = tsl_strategy_fuses_epilogue(strategy, problem, config, device);
  const uint64_t own = own_scratch(strategy, problem, config, device),
                 sums = finishes ? 0 : tsl_problem_sums_bytes(problem),
                 at = sums == 0 ? own : strategy_aligned(own);
  return sums > UINT64_MAX - at ? UINT64_MAX : at + sums;
}

uint64_t tsl_strategy_host_bytes(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_config *config, const tsl_device *device) {
  tsl_problem room;
  if (!(device->capabilities & TSL_CAN_HOST))
    return device->is_cpu ? tsl_strategy_scratch(strategy, problem, config, device) : 0;
  return strategy->resources.host
             ? strategy->resources.host(tsl_problem_without_epilogue(problem, &room), config, device)
             : 0;
}

bool tsl_strategy_fit_workspace(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device, uint64_t max_bytes, tsl_config *config) {
  tsl_config changed = *config;
  const uint64_t all = tsl_strategy_scratch(strategy, problem, config, device);
  if (all <= max_bytes)
    return true;
  const uint64_t sums = all - own_scratch(strategy, problem, config, device);
  if (!strategy->resources.fit_workspace || sums > max_bytes ||
      !strategy->resources.fit_workspace(problem, device, max_bytes - sums, &changed) ||
      tsl_strategy_scratch(strategy, problem, &changed, device) > max_bytes)
    return false;
  *config = changed;
  return true;
}

uint64_t tsl_work_workspace(const tsl_work *work) {
  return work->scratch > 0
             ? work->scratch
             : tsl_strategy_scratch(work->strategy, &work->problem, &work->config, work->device);
}

uint64_t tsl_strategy_sums_at(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device) {
  return strategy_aligned(own_scratch(strategy, problem, config, device));
}

double tsl_strategy_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                            const tsl_config *config, const tsl_device *device) {
  tsl_problem room;
  return strategy->score ? strategy->score(tsl_problem_without_epilogue(problem, &room), config, device) : 0;
}

void tsl_config_print(const tsl_strategy *strategy, const tsl_config *config, tsl_text *text) {
  tsl_text_add(text, "%s", strategy->name);
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!tsl_param_is_silent(&strategy->params[i], config->value[i])) {
      tsl_text_add(text, " ");
      tsl_config_print_one(strategy, i, config, text);
    }
}

void tsl_config_print_one(const tsl_strategy *strategy, int index, const tsl_config *config, tsl_text *text) {
  tsl_text_add(text, "%s=", strategy->params[index].name);
  tsl_param_print_value(strategy, index, config->value[index], text);
}

tesela_status tsl_config_parse(const tsl_strategy *strategy, const tsl_record *record, tsl_config *config,
                               unsigned *present) {
  tesela_status status = TESELA_OK;
  unsigned seen = 0;
  for (int i = 0; i < tsl_strategy_params(strategy); i++) {
    const tsl_param *param = &strategy->params[i];
    const char *value = tsl_record_get(record, param->name);
    if (!value)
      continue;
    int64_t number;
    if (!tsl_param_parse_value(strategy, i, value, &number) || !is_value_allowed(strategy, i, number)) {
      tsl_text list = {0};
      tsl_param_print(strategy, i, &list);
      status = tsl_fail(TESELA_BAD_INPUT, "%s: %s=%s is not one of %s", strategy->name, param->name, value,
                        tsl_text_get(&list));
      tsl_text_free(&list);
      return status;
    }
    config->value[i] = number;
    seen |= 1u << i;
  }
  if (present)
    *present = seen;
  return TESELA_OK;
}
