#include "tune/race_entry.h"

#include "core/memory.h"
#include "core/status.h"
#include "planner/subplan_choice.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <stdio.h>

void tsl_race_conclude(tsl_race_entry *entry, tsl_case_result result, const char *why) {
  entry->result = result;
  entry->timing = tsl_not_measured;
  snprintf(entry->why, sizeof entry->why, "%s", why);
}

void tsl_race_leave_out(tsl_race_entry *entry, const char *verb, double seconds, double limit) {
  char why[160], time[32], time_limit[32];
  snprintf(why, sizeof why, "left out: one run %s %s, the time limit is %s", verb,
           tsl_format_seconds(seconds, time, sizeof time),
           tsl_format_seconds(limit, time_limit, sizeof time_limit));
  tsl_race_conclude(entry, TSL_CASE_REFUSED, why);
}

/* Returns true if the model admits the entry; else sets its result. */
static bool model_admits(const tsl_race_terms *terms, tsl_race_entry *entry) {
  const char *why = tsl_strategy_refuse(entry->strategy, terms->problem, &entry->config, terms->device);
  if (why) {
    tsl_race_conclude(entry, TSL_CASE_REFUSED, why);
    return false;
  }
  entry->predicted =
      tsl_strategy_seconds(entry->strategy, terms->problem, &entry->config, terms->device, tsl_strategy_at);
  if (entry->predicted > terms->time_limit)
    tsl_race_leave_out(entry, "is predicted to take", entry->predicted, terms->time_limit);
  return entry->result == TSL_CASE_RIGHT;
}

/* Returns why host memory is too short for operands and copies, else NULL. */
static const char *race_entry_refuse_memory(const tsl_race_terms *terms) {
  const uint64_t free_bytes = tsl_memory_available();
  const double needed = 4 * tsl_problem_bytes(terms->problem);
  char one[32], two[32];
  if (needed <= (double)free_bytes)
    return NULL;
  return tsl_refusal("needs %s of host memory to be verified, and %s is free",
                     tsl_format_bytes(needed < 1e18 ? (uint64_t)needed : UINT64_MAX, one, sizeof one),
                     tsl_format_bytes(free_bytes, two, sizeof two));
}

static tesela_status race_entry_verify(const tsl_race_terms *terms, tsl_race_entry *entry, double *seconds) {
  /* a multiple of 8 selects aligned operands in host memory and one verification */
  const tsl_subplan_factory children = tsl_subplans_by_models();
  const tsl_case what = {.problem = *terms->problem,
                         .data = TSL_DATA_NORMAL,
                         .seed = 8 * (terms->seed + 1),
                         .operations_max = terms->operations_max,
                         .children = &children};
  tsl_case_report report;
  TSL_TRY(tsl_check_case(entry->strategy, &entry->config, terms->device, &what, &report));
  entry->verdict = report.verdict;
  *seconds = report.seconds;
  snprintf(entry->plan, sizeof entry->plan, "%s", report.plan);
  if (report.result != TSL_CASE_RIGHT) {
    char why[sizeof entry->why];
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, report.why);
    tsl_race_conclude(entry, report.result, why);
  }
  return TESELA_OK;
}

tesela_status tsl_race_admit(const tsl_race_terms *terms, tsl_race_entry *entry, double *seconds) {
  if (!model_admits(terms, entry))
    return TESELA_OK;
  const char *too_large = race_entry_refuse_memory(terms);
  if (!too_large)
    return race_entry_verify(terms, entry, seconds);
  tsl_race_conclude(entry, TSL_CASE_REFUSED, too_large);
  return TESELA_OK;
}
