#include "strategy/strategy.h"

#include "base/status.h"
#include "strategy/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TSL_STRATEGY_DECLARE(op, name) extern const tsl_strategy tsl_##op##_##name;
TSL_STRATEGY_LIST(TSL_STRATEGY_DECLARE)
#undef TSL_STRATEGY_DECLARE

static const tsl_strategy *const strategies[] = {
#define TSL_STRATEGY_ROW(op, name) &tsl_##op##_##name,
    TSL_STRATEGY_LIST(TSL_STRATEGY_ROW)
#undef TSL_STRATEGY_ROW
};
enum { STRATEGY_COUNT = sizeof strategies / sizeof *strategies };

static _Thread_local char refusal[192];

const char *tsl_refusal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refusal, sizeof refusal, format, arguments);
  va_end(arguments);
  return refusal;
}

tsl_accuracy tsl_accuracy_of_sum(int64_t k) {
  return (tsl_accuracy){.factor = (double)k + 4, .repeats = true};
}

tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return tsl_accuracy_of_sum(problem->k);
}

tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel) {
  const int64_t k = problem->k, depth = k < panel ? k : panel, panels = k == 0 ? 1 : (k - 1) / panel + 1;
  const double second_order = 2 * (double)k * tsl_type(problem->c.type)->unit_roundoff;
  return (tsl_accuracy){.factor = (double)depth + (double)panels + 3 + second_order, .repeats = true};
}

const tsl_strategy *tsl_strategy_at(int index) {
  return index >= 0 && index < STRATEGY_COUNT ? strategies[index] : NULL;
}

const tsl_strategy *tsl_strategy_find(tsl_op op, const char *name) {
  for (int i = 0; i < STRATEGY_COUNT; i++)
    if (strategies[i]->op == op && strcmp(strategies[i]->name, name) == 0)
      return strategies[i];
  return NULL;
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

static int value_count(const tsl_param *param) {
  int count = 0;
  while (count < TSL_PARAM_VALUES_MAX && param->values[count] != 0)
    count++;
  return count;
}

/* Counts through the product of the parameters' values, the last parameter fastest. */
bool tsl_strategy_config(const tsl_strategy *strategy, int index, tsl_config *config) {
  *config = tsl_strategy_defaults(strategy);
  for (int i = tsl_strategy_params(strategy) - 1; i >= 0; i--) {
    const int count = value_count(&strategy->params[i]);
    config->value[i] = strategy->params[i].values[index % count];
    index /= count;
  }
  return index == 0;
}

static bool allowed(const tsl_param *param, int64_t value) {
  for (int i = 0; i < value_count(param); i++)
    if (param->values[i] == value)
      return true;
  return false;
}

static void print_allowed(const tsl_param *param, tsl_text *text) {
  for (int i = 0; i < value_count(param); i++)
    tsl_text_add(text, "%s%lld", i ? ", " : "", (long long)param->values[i]);
}

/* What every strategy of today asks of types: the same real floating-point type throughout. */
static const char *refuse_types(const tsl_problem *problem, const tsl_device *device) {
  const tesela_type type = problem->c.type;
  if (type != TESELA_F32 && type != TESELA_F64)
    return tsl_refusal("computes f32 and f64, not %s", tsl_type(type)->name);
  if (problem->a.type != type || problem->b.type != type)
    return tsl_refusal("takes A, B and C of one type, not %s, %s and %s", tsl_type(problem->a.type)->name,
                       tsl_type(problem->b.type)->name, tsl_type(type)->name);
  if (type == TESELA_F64 && !(device->capabilities & TSL_CAN_F64))
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

const char *tsl_strategy_refuse(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_config *config, const tsl_device *device) {
  if (strategy->op != problem->op)
    return tsl_refusal("is a %s, not a %s", tsl_op_name(strategy->op), tsl_op_name(problem->op));
  const char *missing = tsl_capability_missing(strategy->needs, device->capabilities);
  if (missing)
    return tsl_refusal("%s lacks: %s", device->name, missing);
  const char *why = refuse_types(problem, device);
  if (why)
    return why;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!allowed(&strategy->params[i], config->value[i]))
      return tsl_refusal("%s=%lld is not one of its values", strategy->params[i].name,
                         (long long)config->value[i]);
  why = strategy->refuse ? strategy->refuse(problem, config, device) : NULL;
  return why ? why : refuse_scratch(strategy, problem, config, device);
}

uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device) {
  if (!strategy->scratch || device->capabilities & TSL_CAN_HOST)
    return 0;
  return strategy->scratch(problem, config, device);
}

void tsl_config_print(const tsl_strategy *strategy, const tsl_config *config, tsl_text *text) {
  tsl_text_add(text, "%s", strategy->name);
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(text, " %s=%lld", strategy->params[i].name, (long long)config->value[i]);
}

tesela_status tsl_config_parse(const tsl_strategy *strategy, const tsl_record *record, tsl_config *config,
                               unsigned *given) {
  tesela_status status = TESELA_OK;
  unsigned seen = 0;
  for (int i = 0; i < tsl_strategy_params(strategy); i++) {
    const tsl_param *param = &strategy->params[i];
    const char *value = tsl_record_get(record, param->name);
    if (!value)
      continue;
    int64_t number;
    if (!tsl_parse_i64(value, &number) || !allowed(param, number)) {
      tsl_text list = {0};
      print_allowed(param, &list);
      status = tsl_fail(TESELA_BAD_INPUT, "%s: %s=%s is not one of %s", strategy->name, param->name, value,
                        tsl_text_get(&list));
      tsl_text_free(&list);
      return status;
    }
    config->value[i] = number;
    seen |= 1u << i;
  }
  if (given)
    *given = seen;
  return TESELA_OK;
}
