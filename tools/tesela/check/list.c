#include "check/list.h"

#include "core/clock.h"
#include "core/status.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

tesela_status tsl_check_list_start(tsl_check_list *list, const tsl_strategy_list *strategies) {
  list->strategies = *strategies;
  list->pairs = calloc((size_t)(strategies->count * list->devices.count) + 1, sizeof *list->pairs);
  if (!list->pairs)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of checks");
  for (int s = 0; s < strategies->count; s++)
    for (int d = 0; d < list->devices.count; d++) {
      tsl_check_pair *pair = &list->pairs[list->pair_count++];
      pair->chosen = &list->strategies.items[s];
      pair->device = list->devices.items[d];
      const char *missing = tsl_capability_missing(pair->chosen->strategy->needs, pair->device->capabilities);
      snprintf(pair->missing, sizeof pair->missing, "%s", missing ? missing : "");
    }
  return TESELA_OK;
}

void tsl_check_list_free(tsl_check_list *list) {
  free(list->pairs);
  *list = (tsl_check_list){.pair_count = 0};
}

static void keep_fault(tsl_check_list *list, const tsl_check_pair *pair, const tsl_config *config,
                       const tsl_check_entry *entry, const tsl_case_report *report) {
  if (list->fault_count == TSL_CHECK_FAULTS_MAX)
    return;
  tsl_check_fault *fault = &list->faults[list->fault_count++];
  tsl_text name = {0}, problem = {0};
  tsl_config_print(pair->chosen->strategy, config, &name);
  tsl_problem_print(&entry->what.problem, &problem);
  fault->failed = report->result == TSL_CASE_FAILED;
  snprintf(fault->config, sizeof fault->config, "%s", tsl_text_get(&name));
  snprintf(fault->device, sizeof fault->device, "%s", pair->device->name);
  snprintf(fault->why, sizeof fault->why, "%s", report->why);
  snprintf(fault->problem, sizeof fault->problem, "%s data=%s seed=%llu", tsl_text_get(&problem),
           tsl_data_name(entry->what.data), (unsigned long long)entry->what.seed);
  snprintf(fault->command, sizeof fault->command,
           "tesela check --strategy \"%s %s\" --device %s --type %s --seed %llu --case %s:%lld",
           tsl_op_name(pair->chosen->strategy->op), tsl_text_get(&name), pair->device->name,
           tsl_type(entry->types.a)->name, (unsigned long long)entry->seed,
           entry->random ? "random" : "standard", (long long)entry->index);
  tsl_text_free(&name);
  tsl_text_free(&problem);
}

/* Returns true if there is something to compute: A is read, or a matrix is transposed in place. */
static bool has_work(const tsl_problem *problem) {
  return tsl_problem_reads(problem, TSL_OPERAND_A) || (problem->in_place && problem->m > 1);
}

static void list_count(tsl_check_pair *pair, const tsl_case *what, const tsl_case_report *report) {
  int64_t *const counts[] = {[TSL_CASE_RIGHT] = &pair->right,
                             [TSL_CASE_WRONG] = &pair->wrong,
                             [TSL_CASE_REFUSED] = &pair->refused,
                             [TSL_CASE_FAILED] = &pair->failed};
  ++*counts[report->result];
  pair->computed += report->result == TSL_CASE_RIGHT && has_work(&what->problem);
  if (report->result == TSL_CASE_REFUSED && !*pair->refusal)
    snprintf(pair->refusal, sizeof pair->refusal, "%.*s", (int)sizeof pair->refusal - 1, report->why);
  /* Special data have results next to underflow, which no grade in units of rounding describes. */
  if (what->data != TSL_DATA_SPECIAL)
    pair->grade = fmax(pair->grade, report->verdict.grade);
  pair->error_ratio = fmax(pair->error_ratio, report->verdict.error_ratio);
}

static tesela_status run_config(tsl_check_list *list, tsl_check_pair *pair, const tsl_config *config,
                                const tsl_check_entry *entry) {
  const tsl_subplan_factory children = tsl_subplans_by_models();
  tsl_case what = entry->what;
  tsl_case_report report;
  what.children = &children;
  list->over |= tsl_clock() >= list->end;
  if (list->over)
    return TESELA_OK;
  TSL_TRY(tsl_check_case(pair->chosen->strategy, config, pair->device, &what, &report));
  list_count(pair, &entry->what, &report);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED)
    keep_fault(list, pair, config, entry, &report);
  return TESELA_OK;
}

/* The strategy's probes, or, where parameters were given, all configs that have them. */
static tesela_status run_pair(tsl_check_list *list, tsl_check_pair *pair, const tsl_check_entry *entry) {
  const tsl_strategy *strategy = pair->chosen->strategy;
  tsl_config config;
  tsl_walk walk = {.config = pair->chosen->config, .fixed = pair->chosen->given};
  if (pair->chosen->given) {
    while (tsl_strategy_walk(strategy, &entry->what.problem, pair->device, &walk))
      TSL_TRY(run_config(list, pair, &walk.config, entry));
    return TESELA_OK;
  }
  for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++)
    TSL_TRY(run_config(list, pair, &config, entry));
  return TESELA_OK;
}

tesela_status tsl_check_list_try(tsl_check_list *list, tsl_check_pair *pair, const tsl_check_entry *entry) {
  const tsl_strategy *strategy = pair->chosen->strategy;
  const tsl_problem *problem = &entry->what.problem;
  tsl_config config;
  tsl_walk walk = {.config = pair->chosen->config, .fixed = pair->chosen->given};
  if (!pair->chosen->given) {
    for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++)
      if (!tsl_strategy_refuse(strategy, problem, &config, pair->device))
        return run_config(list, pair, &config, entry);
    return TESELA_OK;
  }
  while (tsl_strategy_walk(strategy, problem, pair->device, &walk))
    if (!tsl_strategy_refuse(strategy, problem, &walk.config, pair->device))
      return run_config(list, pair, &walk.config, entry);
  return TESELA_OK;
}

static bool list_takes(const tsl_strategy *strategy, const tsl_types *wanted) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++)
    if (types.a == wanted->a && types.b == wanted->b && types.c == wanted->c)
      return true;
  return false;
}

bool tsl_check_takes(const tsl_check_pair *pair, const tsl_check_entry *entry) {
  return !*pair->missing && pair->chosen->strategy->op == entry->what.problem.op &&
         list_takes(pair->chosen->strategy, &entry->types);
}

bool tsl_check_is_untried(const tsl_check_list *list, const tsl_check_pair *pair) {
  return list->over && !*pair->missing && pair->computed + pair->wrong + pair->failed + pair->refused == 0;
}

int tsl_check_list_untried(const tsl_check_list *list) {
  int untried = 0;
  for (int i = 0; i < list->pair_count; i++)
    untried += tsl_check_is_untried(list, &list->pairs[i]);
  return untried;
}

tesela_status tsl_check_list_run(tsl_check_list *list, const tsl_check_entry *entry) {
  for (int i = 0; i < list->pair_count; i++) {
    if (tsl_check_takes(&list->pairs[i], entry))
      TSL_TRY(run_pair(list, &list->pairs[i], entry));
  }
  return TESELA_OK;
}

tsl_check_pair tsl_check_list_sum(const tsl_check_list *list) {
  tsl_check_pair sum = {.right = 0};
  for (int i = 0; i < list->pair_count; i++) {
    sum.right += list->pairs[i].right;
    sum.wrong += list->pairs[i].wrong;
    sum.refused += list->pairs[i].refused;
    sum.failed += list->pairs[i].failed;
    sum.computed += list->pairs[i].computed;
  }
  return sum;
}
