#include "unit/variants.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "strategy/params.h"
#include "strategy/support.h"

const tsl_device graphics = {.kind = "mock",
                             .name = "mock:0",
                             .capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64,
                             .compute_units = 132,
                             .clock_mhz = 1980,
                             .memory_bytes = (uint64_t)1 << 37,
                             .allocation_max = (uint64_t)1 << 37,
                             .local_bytes = 49152,
                             .group_items_max = 1024,
                             .group_size_max = {1024, 1024, 64},
                             .group_count_max = {INT32_MAX, 65535, 65535},
                             .warp = 32,
                             .vector_f32 = 1,
                             .vector_f64 = 1,
                             .peak_f32 = 6.7e13,
                             .peak_f64 = 3.3e13,
                             .bandwidth = 4.8e12,
                             .launch_seconds = 4e-6};

void assert_refused_for(const tsl_strategy *strategy, const char *text, const tsl_device *device,
                        const tsl_problem *problem, const char *part) {
  const tsl_config config = config_of(strategy, text);
  const char *why = tsl_strategy_refuse(strategy, problem, &config, device);
  if (!why || !strstr(why, part))
    fail_msg("%s: '%s' does not say '%s'", text, why ? why : "(can)", part);
}

tsl_config best_config(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       double *seconds) {
  tsl_config best = tsl_strategy_defaults(strategy);
  *seconds = INFINITY;
  for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, problem, device, &walk);) {
    if (tsl_strategy_refuse(strategy, problem, &walk.config, device))
      continue;
    const double now = strategy->score(problem, &walk.config, device);
    assert_true(isfinite(now) && now > 0);
    if (now < *seconds)
      best = walk.config;
    *seconds = fmin(now, *seconds);
  }
  assert_true(isfinite(*seconds));
  return best;
}

void say_choice(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                double seconds) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  print_message("  %lld x %lld x %lld: %.1f us, %s\n", (long long)problem->m, (long long)problem->n,
                (long long)problem->k, 1e6 * seconds, tsl_text_get(&text));
  tsl_text_free(&text);
}
