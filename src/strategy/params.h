/* Parameters of one strategy: defaults, texts, and the list of configs. */
#ifndef TSL_STRATEGY_PARAMS_H
#define TSL_STRATEGY_PARAMS_H

#include "strategy/strategy.h"

/* Returns the number of listed values; 0: only the default. */
int tsl_param_values(const tsl_param *param);
/* Appends the allowed values of parameter `index`: "8, 16, 32, or any number from 1 to 128". */
void tsl_param_print(const tsl_strategy *strategy, int index, tsl_text *text);
/* Appends a value of parameter `index` by its name or number: "local", "8". */
void tsl_param_print_value(const tsl_strategy *strategy, int index, int64_t value, tsl_text *text);
/* Reads a value of parameter `index` by its name or number; false: neither. */
bool tsl_param_parse_value(const tsl_strategy *strategy, int index, const char *word, int64_t *value);
/* Returns the name of a value; NULL where the value has no name. */
const char *tsl_param_value_name(const tsl_strategy *strategy, int index, int64_t value);
/* Returns true if texts omit the parameter: it has no listed values, and `value` is its default. */
bool tsl_param_is_silent(const tsl_param *param, int64_t value);

/* Returns true if a user may set parameter `index` to the value: it is listed, or within the range. */
bool tsl_param_allows(const tsl_strategy *strategy, int index, int64_t value);

/* Refuses values other than the defaults where the device has no kernels; NULL: all are defaults. */
const char *tsl_params_refuse_kernels(const tsl_param *params, const tsl_config *config,
                                      const tsl_device *device);

/* Returns the number of parameters. */
int tsl_strategy_params(const tsl_strategy *strategy);
/* Returns the default of each parameter. */
tsl_config tsl_strategy_defaults(const tsl_strategy *strategy);
/* Gets config `index` of all listed combinations, from 0 until false. */
bool tsl_strategy_config(const tsl_strategy *strategy, int index, tsl_config *config);
/* Appends the name and all parameters that are not silent: "tile_local tile=16". */
void tsl_config_print(const tsl_strategy *strategy, const tsl_config *config, tsl_text *text);
/* Appends parameter `index` alone: "tile=16". */
void tsl_config_print_one(const tsl_strategy *strategy, int index, const tsl_config *config, tsl_text *text);
/* Reads parameter values from a record; a missing key keeps its value in `config`. `present`, unless NULL,
 * gets a bit for each parameter present. TESELA_BAD_INPUT names the wrong value and lists the valid ones. */
tesela_status tsl_config_parse(const tsl_strategy *strategy, const tsl_record *record, tsl_config *config,
                               unsigned *present);

#endif
