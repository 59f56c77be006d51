#include "unit/config.h"

#include <string.h>

#include "core/text.h"
#include "strategy/params.h"

tsl_config config_of(const tsl_strategy *strategy, const char *text) {
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_record record;
  assert_int_equal(tsl_record_parse(text, &record), TESELA_OK);
  assert_int_equal(tsl_config_parse(strategy, &record, &config, NULL), TESELA_OK);
  tsl_record_free(&record);
  return config;
}

int64_t value_of(const tsl_strategy *strategy, const tsl_config *config, const char *name) {
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (strcmp(strategy->params[i].name, name) == 0)
      return config->value[i];
  fail_msg("there is no parameter %s", name);
  return 0;
}
