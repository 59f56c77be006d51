#include "strategy/strategy.h"

#include "core/status.h"
#include "core/thread_string.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tsl_refusal(const char *format, ...) {
  char text[192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *kept = tsl_thread_text_keep(TSL_THREAD_REFUSAL, text);
  return kept[0] ? kept : "refused, and there is no memory to say why"; /* "" would mean no refusal */
}

bool tsl_strategy_types(const tsl_strategy *strategy, int index, tsl_types *types) {
  const tsl_types *list = strategy->supports.types ? strategy->supports.types : tsl_types_single;
  for (int i = 0; i < index; i++)
    if (list[i].c == TESELA_TYPE_DEFAULT)
      return false;
  *types = list[index];
  return types->c != TESELA_TYPE_DEFAULT;
}

const char *tsl_strategy_peer(const tsl_strategy *strategy, const tsl_device *device) {
  const bool could = strategy->vendor.load && !tsl_capability_missing(strategy->needs, device->capabilities);
  return could ? strategy->vendor.load()->name : "";
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
  return strategy->supports.epilogues && tsl_problem_has_epilogue(problem) &&
         !strategy->refuse(problem, config, device);
}

uint64_t tsl_strategy_scratch(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_device *device) {
  if (tsl_device_is_host(device))
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
  if (!tsl_device_is_host(device))
    return device->is_cpu ? tsl_strategy_scratch(strategy, problem, config, device) : 0;
  return strategy->resources.host
             ? strategy->resources.host(tsl_problem_without_epilogue(problem, &room), config, device)
             : 0;
}

bool tsl_strategy_fit_workspace(const tsl_strategy *strategy, const tsl_problem *problem,
                                const tsl_device *device, uint64_t max_bytes, tsl_config *config) {
  const int param = strategy->resources.shrinkable.param;
  const int64_t given = config->value[param];
  if (tsl_strategy_scratch(strategy, problem, config, device) <= max_bytes)
    return true;
  for (int64_t size = strategy->resources.shrinkable.max;
       size > 0 && size >= strategy->resources.shrinkable.min; size /= 2) {
    config->value[param] = size;
    if ((given == 0 || size < given) && tsl_strategy_scratch(strategy, problem, config, device) <= max_bytes)
      return true;
  }
  config->value[param] = given;
  return false;
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
                            const tsl_config *config, const tsl_device *device, tsl_all_strategies *list) {
  tsl_problem room;
  const tsl_problem *sums = tsl_problem_without_epilogue(problem, &room);
  return strategy->splits.score ? strategy->splits.score(sums, config, device, list)
         : strategy->score      ? strategy->score(sums, config, device)
                                : 0;
}
