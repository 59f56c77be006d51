#include "tune/measured_choice.h"

#include "core/log.h"
#include "core/status.h"
#include "dispatch/direct_rule.h"
#include "tune/link.h"

#include <stdlib.h>

/* Returns the cpu if the list has it and other devices, else NULL. */
static const tsl_device *cpu_among_devices(const tsl_candidate *candidates, int count) {
  const tsl_device *cpu = NULL;
  bool has_others = false;
  for (int i = 0; i < count && !candidates[i].refusal[0]; i++)
    if (tsl_device_is_host(candidates[i].device))
      cpu = candidates[i].device;
    else
      has_others = true;
  return has_others ? cpu : NULL;
}

/* Measures the core's speed and the best device's link, if missing. Returns true if the list must be made
 * again. */
static bool measure_missing(const tsl_choice *choice, const tsl_candidate *candidates, int count) {
  const tsl_device *cpu = tsl_choice_any_device(choice) ? cpu_among_devices(candidates, count) : NULL;
  tsl_device *best = candidates[0].device;
  tsl_status_saved saved;
  tsl_link link;
  bool has_measured = false;
  if (!cpu)
    return false;
  tsl_status_save(&saved);
  if (!(tsl_link_core(cpu) > 0))
    has_measured = tsl_tune_core(cpu) == TESELA_OK;
  if (!tsl_device_is_host(best) && !tsl_link_of(best).measured) {
    const bool good = tsl_tune_link(best, &link) == TESELA_OK;
    if (!good)
      tsl_log(TSL_LOG_PLAN, "%s", tesela_last_error()); /* reported when the plan is made */
    has_measured |= good;
  }
  tsl_status_restore(&saved);
  return has_measured;
}

/* Moves the usable candidate that equals *first to the front of the list, if there is one. */
static void put_first(const tsl_candidate *first, tsl_candidate *candidates, int count) {
  for (int i = 1; first->strategy && i < count && !candidates[i].refusal[0]; i++) {
    const tsl_candidate candidate = candidates[i];
    if (candidate.strategy != first->strategy || candidate.device != first->device ||
        memcmp(&candidate.config, &first->config, sizeof candidate.config) != 0)
      continue;
    memmove(candidates + 1, candidates, (size_t)i * sizeof *candidates);
    candidates[0] = candidate;
    return;
  }
}

/* Plans a product without a choice; false: there is a choice, or the plan failed. */
static bool plan_single_candidate(const tsl_problem *problem, const tsl_choice *choice_in, tsl_plan **plan) {
  const tsl_strategy *strategy = tsl_direct_strategy(problem, choice_in);
  tsl_choice choice = *choice_in;
  tsl_candidate *candidates;
  tsl_status_saved saved;
  int count;
  if (!strategy)
    return false;
  choice.strategy = strategy->name;
  choice.device = "cpu";
  tsl_status_save(&saved);
  if (tsl_planner_list(problem, &choice, &candidates, &count) == TESELA_OK) {
    (void)tsl_planner_take(problem, &choice, candidates, count, plan);
    free(candidates);
  }
  if (!*plan)
    tsl_status_restore(&saved);
  return *plan != NULL;
}

tesela_status tsl_tune_choose_first(const tsl_problem *problem, const tsl_choice *choice_in,
                                    const tsl_candidate *first, tsl_candidate *second, tsl_plan **plan) {
  tsl_choice choice = *choice_in;
  tsl_candidate *candidates;
  int count;
  choice.sparing = true;
  *plan = NULL;
  if (second)
    second->strategy = NULL;
  if (!first->strategy && plan_single_candidate(problem, &choice, plan))
    return TESELA_OK;
  TSL_TRY(tsl_planner_list(problem, &choice, &candidates, &count));
  if (count > 0 && measure_missing(&choice, candidates, count)) {
    free(candidates);
    TSL_TRY(tsl_planner_list(problem, &choice, &candidates, &count));
  }
  put_first(first, candidates, count);
  const tesela_status status = tsl_planner_take(problem, &choice, candidates, count, plan);
  for (int i = 0; second && *plan && i < count && !second->strategy; i++)
    if (!candidates[i].refusal[0] && candidates[i].device == (*plan)->work.device &&
        candidates[i].strategy != (*plan)->work.strategy)
      *second = candidates[i];
  free(candidates);
  return status;
}

tesela_status tsl_tune_choose(const tsl_problem *problem, const tsl_choice *choice, tsl_plan **plan) {
  return tsl_tune_choose_first(problem, choice, &(tsl_candidate){.strategy = NULL}, NULL, plan);
}
