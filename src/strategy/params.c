#include "strategy/params.h"

#include "core/status.h"

#include <string.h>

const char *tsl_params_refuse_kernels(const tsl_param *params, const tsl_config *config,
                                      const tsl_device *device) {
  for (int i = 0; params[i].name; i++)
    if (config->value[i] != params[i].fallback)
      return tsl_refusal("%s=%lld applies to kernels, but %s has none", params[i].name,
                         (long long)config->value[i], device->name);
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

/* Returns true if the value of parameter `index` is listed or in the parameter's range. */
bool tsl_param_allows(const tsl_strategy *strategy, int index, int64_t value) {
  const tsl_param *param = &strategy->params[index];
  const tsl_range *range = &strategy->tuning.ranges[index];
  for (int i = 0; i < TSL_PARAM_VALUES_MAX && param->values[i] != 0; i++)
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
    if (!tsl_param_parse_value(strategy, i, value, &number) || !tsl_param_allows(strategy, i, number)) {
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
