#include "explore/options.h"

#include "core/env.h"
#include "core/status.h"

tesela_status tsl_explore_prepare(const tsl_explore_options *settings, const char *sizes,
                                  tsl_devices *devices, tsl_exploration *all) {
  if (settings->json + settings->csv + settings->markdown > 1)
    return tsl_fail(TESELA_BAD_CALL, "--json, --csv and --markdown exclude each other");
  TSL_TRY(tsl_select_sizes(all->op, settings->sizes ? settings->sizes : sizes, &all->sizes));
  TSL_TRY(tsl_select_types(all->op, settings->types, &all->types));
  TSL_TRY(tsl_select_devices(devices, settings->devices, &all->devices));
  all->all_devices = tsl_selects_all_devices(settings->devices);
  TSL_TRY(tsl_numeric_requirements_parse_accuracy(
      settings->accuracy ? settings->accuracy : tsl_env_get(TSL_ENV_ACCURACY), &all->ask));
  all->options = (tsl_race_options){.seconds_max = settings->seconds,
                                    .time_limit = settings->time_limit,
                                    .noise = settings->noise,
                                    .warm = settings->warm,
                                    .seed = (uint64_t)settings->seed,
                                    .data = settings->data};
  return TESELA_OK;
}
