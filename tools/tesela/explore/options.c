#include "explore/options.h"

#include "base/env.h"
#include "base/status.h"

tesela_status tsl_explore_prepare(const tsl_explore_options *given, const char *sizes, tsl_devices *devices,
                                  tsl_exploration *all) {
  if (given->json + given->csv + given->markdown > 1)
    return tsl_fail(TESELA_BAD_CALL, "--json, --csv and --markdown exclude each other");
  TSL_TRY(tsl_select_sizes(all->op, given->sizes ? given->sizes : sizes, &all->sizes));
  TSL_TRY(tsl_select_types(all->op, given->types, &all->types));
  TSL_TRY(tsl_select_devices(devices, given->devices, &all->devices));
  all->all_devices = tsl_selects_all_devices(given->devices);
  TSL_TRY(
      tsl_numeric_requirements_parse_accuracy(given->accuracy ? given->accuracy : tsl_env_get(TSL_ENV_ACCURACY), &all->ask));
  all->options = (tsl_race_options){.seconds_max = given->seconds,
                                    .time_limit = given->time_limit,
                                    .noise = given->noise,
                                    .warm = given->warm,
                                    .seed = (uint64_t)given->seed,
                                    .data = given->data};
  return TESELA_OK;
}
