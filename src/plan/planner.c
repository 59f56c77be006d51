#include "plan/planner.h"

#include "base/env.h"
#include "base/log.h"
#include "base/status.h"
#include "plan/link.h"
#include "plan/transfer.h"
#include "plan/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the caller's strategy text fixes. */
typedef struct wishes {
  const tsl_strategy *strategy; /* NULL: any */
  tsl_config config;
  unsigned given; /* a bit per parameter whose value in `config` is fixed */
} wishes;

/* Appends to a list that grows; the planner's lists are short. */
typedef struct candidate_list {
  tsl_candidate *items;
  int count, capacity;
} candidate_list;

/* --- the caller's strategy text --- */

static tesela_status unknown_strategy(tsl_op op, const char *name) {
  tsl_text names = {0};
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == op)
      tsl_text_add(&names, "%s%s", names.length ? ", " : "", tsl_strategy_at(i)->name);
  const tesela_status status = tsl_fail(TESELA_BAD_INPUT, "'%s' is not a strategy for %s: there are %s", name,
                                        tsl_op_name(op), tsl_text_get(&names));
  tsl_text_free(&names);
  return status;
}

static tesela_status unknown_parameter(const tsl_strategy *strategy, const char *key) {
  tsl_text names = {0};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(&names, "%s%s", i ? ", " : ": it has ", strategy->params[i].name);
  const tesela_status status = tsl_fail(TESELA_BAD_INPUT, "%s has no parameter '%s'%s", strategy->name, key,
                                        names.length ? tsl_text_get(&names) : ": it has none");
  tsl_text_free(&names);
  return status;
}

static tesela_status check_keys(const tsl_strategy *strategy, const tsl_record *record) {
  for (int i = 0; i < record->count; i++) {
    const char *key = record->fields[i].key;
    bool known = !key;
    for (int p = 0; p < tsl_strategy_params(strategy) && !known; p++)
      known = strcmp(strategy->params[p].name, key) == 0;
    if (!known)
      return unknown_parameter(strategy, key);
  }
  return TESELA_OK;
}

/* "tile_local tile=16", with or without the operation in front. */
static tesela_status read_wish(tsl_op op, const tsl_record *record, wishes *out) {
  const char *words[3] = {tsl_record_word(record, 0), tsl_record_word(record, 1), tsl_record_word(record, 2)};
  const int first = words[0] && words[1] && strcmp(words[0], tsl_op_name(op)) == 0;
  const char *name = words[first], *extra = words[first + 1];
  if (!name)
    return tsl_fail(TESELA_BAD_INPUT, "a strategy starts with its name, such as 'sequential'");
  if (extra)
    return tsl_fail(TESELA_BAD_INPUT, "'%s' has no place after '%s': only 'key=value' has", extra, name);
  out->strategy = tsl_strategy_find(op, name);
  if (!out->strategy)
    return unknown_strategy(op, name);
  TSL_TRY(check_keys(out->strategy, record));
  out->config = tsl_strategy_defaults(out->strategy);
  return tsl_config_parse(out->strategy, record, &out->config, &out->given);
}

static tesela_status parse_wish(tsl_op op, const char *text, wishes *out) {
  tsl_record record;
  *out = (wishes){0};
  if (!text)
    return TESELA_OK;
  tesela_status status = tsl_record_parse(text, &record);
  if (status == TESELA_OK) {
    status = read_wish(op, &record, out);
    tsl_record_free(&record);
  }
  return status == TESELA_OK ? status : tsl_fail_in(status, "strategy '%s'", text);
}

/* --- scoring --- */

/* A config of another size stays unless the model promises more than this of another one. */
static const double much_better = 1.2;

static const char *refuse_memory(const tsl_problem *problem, const tsl_device *device, tsl_place place) {
  const uint64_t bytes = tsl_plan_device_bytes(problem, device, place);
  if (bytes == 0)
    return NULL;
  if (bytes > device->memory_bytes)
    return tsl_refusal("needs %llu MiB of memory on %s, which has %llu", (unsigned long long)(bytes >> 20),
                       device->name, (unsigned long long)(device->memory_bytes >> 20));
  for (int i = 0; i < TSL_OPERANDS; i++) {
    tsl_transfer transfer;
    if (tsl_transfer_plan(tsl_problem_shape(problem, i), &transfer) &&
        transfer.bytes > device->allocation_max / (uint64_t)tsl_problem_batch(problem))
      return tsl_refusal("operand %c takes %llu MiB, %s gives at most %llu at once", "ABC"[i],
                         (unsigned long long)(transfer.bytes >> 20), device -> name,
                         (unsigned long long)(device->allocation_max >> 20));
  }
  return NULL;
}

static bool is_wished(const wishes *wish, const tsl_config *config) {
  for (int i = 0; i < TSL_PARAMS_MAX; i++)
    if (wish->given & 1u << i && config->value[i] != wish->config.value[i])
      return false;
  return true;
}

/* The config that the strategy's model likes best. */
static void ask_model(const tsl_problem *problem, const wishes *wish, tsl_candidate *out) {
  for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(out->strategy, problem, out->device, &walk);) {
    if (!is_wished(wish, &walk.config) ||
        tsl_strategy_refuse(out->strategy, problem, &walk.config, out->device))
      continue;
    const double seconds = out->strategy->score(problem, &walk.config, out->device);
    if (seconds >= out->seconds)
      continue;
    out->seconds = seconds;
    out->config = walk.config;
    out->refusal[0] = '\0';
  }
}

/* What was measured at sizes near these says how far the model is off; where the model knows a much better config for
 * these, that one is taken, with its prediction put right. */
static void weigh_near(const tsl_problem *problem, const wishes *wish, tsl_candidate *out) {
  tsl_candidate best = *out;
  if (!out->strategy->score)
    return;
  const double near = out->strategy->score(problem, &out->config, out->device);
  best.seconds = INFINITY;
  ask_model(problem, wish, &best);
  if (!(best.seconds * much_better < near))
    return;
  out->config = best.config;
  out->seconds *= best.seconds / near;
}

/* The config that wisdom knows to be good, else that of the model; else why the default one is refused. */
static void score(const tsl_problem *problem, const tsl_choice *choice, const wishes *wish,
                  tsl_candidate *out) {
  tsl_config config = tsl_strategy_defaults(out->strategy);
  for (int i = 0; i < TSL_PARAMS_MAX; i++)
    if (wish->given & 1u << i)
      config.value[i] = wish->config.value[i];
  out->config = config;
  out->seconds = INFINITY;
  tsl_wisdom_hit hit;
  const char *too_large = refuse_memory(problem, out->device, choice->place);
  const char *why = too_large ? too_large : tsl_strategy_refuse(out->strategy, problem, &config, out->device);
  snprintf(out->refusal, sizeof out->refusal, "%s", why ? why : "");
  if (too_large)
    return;
  if (tsl_wisdom_find(choice->wisdom, problem, out->device, out->strategy, &config, wish->given, &hit)) {
    out->config = hit.config;
    out->seconds = hit.seconds;
    out->basis = hit.basis;
    out->refusal[0] = '\0';
    if (hit.basis == TSL_BASIS_NEAR)
      weigh_near(problem, wish, out);
  } else {
    ask_model(problem, wish, out);
  }
}

/* What a strategy without a record has to promise to be preferred to one with: a tenth less, as models are off by that. */
static const double doubt = 1.1;

/* How much slower the best of what was measured is than its own model says, at least `doubt`; 1 where nothing was. Models of
 * one device err alike, and a promise is not to be compared with a measurement: the tuner looked into those that mattered. */
static double optimism(const tsl_problem *problem, const tsl_candidate *candidates, int count) {
  const tsl_candidate *best = NULL;
  for (int i = 0; i < count; i++)
    if (!candidates[i].refusal[0] && candidates[i].basis != TSL_BASIS_MODEL &&
        (!best || candidates[i].seconds < best->seconds))
      best = &candidates[i];
  if (!best)
    return 1;
  if (!best->strategy->score)
    return doubt;
  const double modelled = best->strategy->score(problem, &best->config, best->device);
  return modelled > 0 ? fmax(doubt, best->seconds / modelled) : doubt;
}

/* --- the list --- */

static tesela_status add(candidate_list *list, const tsl_candidate *candidate) {
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 16;
    tsl_candidate *grown = realloc(list->items, (size_t)capacity * sizeof *grown);
    if (!grown)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the planner's list");
    list->items = grown;
    list->capacity = capacity;
  }
  /* Sorted as it grows; equals stay in ladder order, and so do those that are refused, at the end. */
  int at = list->count++;
  const bool refused = candidate->refusal[0];
  while (at > 0 && !refused &&
         (list->items[at - 1].refusal[0] || candidate->seconds < list->items[at - 1].seconds)) {
    list->items[at] = list->items[at - 1];
    at--;
  }
  list->items[at] = *candidate;
  return TESELA_OK;
}

bool tsl_planner_vendors(void) {
  return strcmp(tsl_env_get(TSL_ENV_VENDORS), "1") == 0;
}

static bool is_asked_for(const tsl_strategy *strategy, const tsl_choice *choice, const wishes *wish) {
  return wish->strategy ? wish->strategy == strategy : !strategy->vendor || choice->vendors;
}

static void log_foreign(const tsl_wisdom *wisdom, const tsl_device *device) {
  int of_device;
  if (!wisdom || !tsl_log_wants(TSL_LOG_PLAN))
    return;
  const int count = tsl_wisdom_count(wisdom, device, &of_device);
  if (of_device < count)
    tsl_log(TSL_LOG_PLAN, "wisdom: %d of %d records are of other devices than %s (%s, %lld units)",
            count - of_device, count, device->name, device->key, (long long)tsl_wisdom_units(device));
}

static tesela_status add_device(const tsl_problem *problem, const tsl_choice *choice, const wishes *wish,
                                tsl_device *device, candidate_list *list) {
  const tsl_link link = tsl_link_of(device);
  const double way = tsl_link_seconds(&link, problem, device, choice->place);
  tsl_candidate *own = NULL;
  int count = 0;
  tesela_status status;
  for (int i = 0; tsl_strategy_at(i); i++)
    count++;
  own = calloc((size_t)count, sizeof *own);
  if (!own)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the planner's list");
  count = 0;
  for (int i = 0; tsl_strategy_at(i); i++) {
    own[count] = (tsl_candidate){.strategy = tsl_strategy_at(i), .device = device};
    if (own[count].strategy->op == problem->op && is_asked_for(own[count].strategy, choice, wish))
      score(problem, choice, wish, &own[count++]);
  }
  const double slower = optimism(problem, own, count);
  for (int i = 0; i < count; i++) {
    own[i].seconds *= own[i].basis == TSL_BASIS_MODEL ? slower : 1;
    own[i].seconds += way;
    TSL_GO(add(list, &own[i]));
  }
  log_foreign(choice->wisdom, device);
  status = TESELA_OK;
out:
  free(own);
  return status;
}

static tesela_status fill(const tsl_problem *problem, const tsl_choice *choice, const wishes *wish,
                          candidate_list *list) {
  tsl_device *device;
  if (choice->device && strcmp(choice->device, "auto") != 0) {
    TSL_TRY(tsl_devices_find(choice->devices, choice->device, &device));
    return add_device(problem, choice, wish, device, list);
  }
  for (int i = 0; (device = tsl_devices_at(choice->devices, i)); i++)
    TSL_TRY(add_device(problem, choice, wish, device, list));
  if (list->count == 0)
    return tsl_fail(TESELA_NO_DEVICE, "there is no device for %s", tsl_op_name(problem->op));
  return TESELA_OK;
}

tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count) {
  candidate_list list = {0};
  wishes wish;
  *candidates = NULL;
  *count = 0;
  TSL_TRY(tsl_problem_check(problem));
  TSL_TRY(parse_wish(problem->op, choice->strategy, &wish));
  const tesela_status status = fill(problem, choice, &wish, &list);
  if (status != TESELA_OK) {
    free(list.items);
    return status;
  }
  *candidates = list.items;
  *count = list.count;
  return TESELA_OK;
}

/* --- the choice --- */

static void describe(const tsl_candidate *candidate, tsl_text *text) {
  tsl_config_print(candidate->strategy, &candidate->config, text);
  tsl_text_add(text, " on %s", candidate->device->name);
}

static void log_choice(const tsl_problem *problem, const tsl_candidate *candidates, int count) {
  tsl_text text = {0};
  if (!tsl_log_wants(TSL_LOG_PLAN))
    return;
  tsl_problem_print(problem, &text);
  for (int i = 0; i < count && i < 3 && !candidates[i].refusal[0]; i++) {
    tsl_text_add(&text, i == 0 ? ": best of %d is " : ", then ", count);
    describe(&candidates[i], &text);
    tsl_text_add(&text, " (%.3g s predicted by %s)", candidates[i].seconds,
                 tsl_basis_name(candidates[i].basis));
  }
  tsl_log(TSL_LOG_PLAN, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

static tesela_status all_refuse(const tsl_problem *problem, const tsl_candidate *candidates, int count) {
  tsl_text text = {0};
  for (int i = 0; i < count && i < 4; i++)
    tsl_text_add(&text, "%s%s on %s: %s", i ? "; " : "", candidates[i].strategy->name,
                 candidates[i].device->name, candidates[i].refusal);
  if (count > 4)
    tsl_text_add(&text, "; and %d more", count - 4);
  const tesela_status status = tsl_fail(TESELA_UNSUPPORTED, "nothing here takes this %s: %s",
                                        tsl_op_name(problem->op), tsl_text_get(&text));
  tsl_text_free(&text);
  return status;
}

static bool any_device(const tsl_choice *choice) {
  return !choice->device || strcmp(choice->device, "auto") == 0;
}

/* Whether the next candidate is worth trying after this failure: what does not compile may have a neighbour that
 * does, and a device that fails may have another beside it; but when the caller's own device fails, that is the
 * answer. */
static bool another_may_do(const tsl_choice *choice, tesela_status status) {
  return any_device(choice) || status == TESELA_BUILD_FAILED || status == TESELA_UNSUPPORTED ||
         status == TESELA_WRONG_RESULT;
}

tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan) {
  TSL_TRY(tsl_plan_create(problem, candidate->strategy, &candidate->config, candidate->device, choice->place,
                          plan));
  const tesela_status status = tsl_trust_plan(*plan);
  if (status != TESELA_OK) {
    tsl_plan_destroy(*plan);
    *plan = NULL;
  }
  return status;
}

static void put_aside(tsl_candidate *candidate) {
  snprintf(candidate->refusal, sizeof candidate->refusal, "put aside: %.170s", tesela_last_error());
  if (tsl_log_wants(TSL_LOG_PLAN))
    tsl_log(TSL_LOG_PLAN, "%s on %s is put aside: %s", candidate->strategy->name, candidate->device->name,
            tesela_last_error());
}

tesela_status tsl_planner_take(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate *candidates, int count, tsl_plan **plan) {
  tesela_status status = TESELA_OK;
  int tried = 0;
  *plan = NULL;
  log_choice(problem, candidates, count);
  for (; tried < count && !candidates[tried].refusal[0]; tried++) {
    status = tsl_planner_make(problem, choice, &candidates[tried], plan);
    if (status == TESELA_OK || choice->strategy || !another_may_do(choice, status))
      break;
    put_aside(&candidates[tried]);
  }
  if (tried == 0 && !*plan && status == TESELA_OK)
    status = all_refuse(problem, candidates, count);
  return status;
}

/* A device that would be used, and so opened, is looked at more closely where there is a choice: the way there is measured
 * once on a machine, and the list is made again. */
static bool has_news(const tsl_choice *choice, const tsl_candidate *best) {
  tsl_status_saved saved;
  tsl_link link;
  if (!any_device(choice) || !tsl_devices_at(choice->devices, 1) || best->refusal[0] ||
      best->device->capabilities & TSL_CAN_HOST || tsl_link_of(best->device).measured)
    return false;
  tsl_status_save(&saved);
  const bool good = tsl_link_measure(best->device, &link) == TESELA_OK;
  if (!good)
    tsl_log(TSL_LOG_PLAN, "%s", tesela_last_error()); /* what is wrong shows when the plan is made */
  tsl_status_restore(&saved);
  return good;
}

tesela_status tsl_planner_choose(const tsl_problem *problem, const tsl_choice *choice, tsl_plan **plan) {
  tsl_candidate *candidates;
  int count;
  *plan = NULL;
  TSL_TRY(tsl_planner_list(problem, choice, &candidates, &count));
  if (count > 0 && has_news(choice, &candidates[0])) {
    free(candidates);
    TSL_TRY(tsl_planner_list(problem, choice, &candidates, &count));
  }
  const tesela_status status = tsl_planner_take(problem, choice, candidates, count, plan);
  free(candidates);
  return status;
}
