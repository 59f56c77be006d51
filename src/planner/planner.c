#include "planner/planner.h"

#include "core/env.h"
#include "core/log.h"
#include "core/reserve.h"
#include "core/status.h"
#include "device/jit_cache.h"
#include "planner/kernel_self_test.h"
#include "planner/nearest.h"
#include "planner/predict.h"
#include "planner/subplan_choice.h"
#include "planner/transfer_cost.h"
#include "strategy/epilogue/strategy_epilogue.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate_list {
  tsl_candidate *items;
  int count, capacity;
} candidate_list;

/* Sorts usable candidates first, then by fixed order, then by time. */
static bool sorts_before(const tsl_candidate *candidate, const tsl_candidate *other) {
  if (candidate->refusal[0] || other->refusal[0])
    return !candidate->refusal[0];
  return candidate->order != other->order ? candidate->order < other->order
                                          : tsl_candidate_seconds(candidate) < tsl_candidate_seconds(other);
}

/* Inserts a candidate. Equal ones keep the ladder's order; refused ones are at the end. */
static tesela_status planner_add(candidate_list *list, const tsl_candidate *candidate) {
  TSL_TRY(tsl_list_reserve(&list->items, list->count, &list->capacity, sizeof *list->items, "candidates"));
  int index = list->count++;
  while (index > 0 && sorts_before(candidate, &list->items[index - 1])) {
    list->items[index] = list->items[index - 1];
    index--;
  }
  list->items[index] = *candidate;
  return TESELA_OK;
}

bool tsl_planner_vendors(void) {
  return strcmp(tsl_env_get(TSL_ENV_VENDORS), "1") == 0;
}

static bool planner_is_name(const tsl_strategy *strategy, const char *word, size_t length) {
  return strncmp(strategy->name, word, length) == 0 && strategy->name[length] == '\0';
}

/* Moves from a name of a list, of `length` characters, to the next one; false at the end. */
static bool next_name(const char **name, size_t *length) {
  *name += *length;
  *name += strspn(*name, ", ");
  *length = strcspn(*name, ", ");
  return *length > 0;
}

/* Returns true if the list of names contains the strategy. NULL: an empty list. */
static bool is_excluded(const tsl_strategy *strategy, const char *names) {
  size_t length = 0;
  while (names && next_name(&names, &length))
    if (planner_is_name(strategy, names, length))
      return true;
  return false;
}

/* Returns TESELA_BAD_CALL if the list contains a word that names no strategy. `source` begins the message. */
static tesela_status check_excluded(const char *names, const char *source) {
  size_t length = 0;
  while (names && next_name(&names, &length)) {
    bool is_there = false;
    for (int i = 0; tsl_strategy_at(i) && !is_there; i++)
      is_there = planner_is_name(tsl_strategy_at(i), names, length);
    if (!is_there)
      return tsl_fail(TESELA_BAD_CALL,
                      "%s names \"%.*s\", which is no strategy (tesela strategies lists them)", source,
                      (int)length, names);
  }
  return TESELA_OK;
}

/* Returns true if the strategy is named, or neither excluded nor a forbidden vendor's. */
static bool is_requested(const tsl_strategy *strategy, const tsl_choice *choice,
                         const tsl_strategy_request *request) {
  if (strategy == choice->except || is_excluded(strategy, choice->exclude) ||
      (!request->strategy && is_excluded(strategy, tsl_env_get(TSL_ENV_EXCLUDE))))
    return false;
  return request->strategy ? request->strategy == strategy : !strategy->vendor.load || choice->vendors;
}

/* Logs how many of the wisdom's records are for other devices. */
static void log_foreign(const tsl_wisdom *wisdom, const tsl_device *device) {
  int of_device;
  if (!wisdom || !tsl_log_wants(TSL_LOG_PLAN))
    return;
  const int count = tsl_wisdom_count(wisdom, device, &of_device);
  if (of_device < count)
    tsl_log(TSL_LOG_PLAN, "wisdom: %d of %d records are of other devices than %s (%s, %lld units)",
            count - of_device, count, device->name, device->key, (long long)tsl_wisdom_units(device));
}

/* Returns true if the device is the processor by PoCL, which only a measurement can make faster. */
static bool is_cpu_by_other_driver(const tsl_device *device) {
  return device->is_cpu && !tsl_device_is_host(device);
}

/* Returns the least predicted seconds on the cpu; infinity: unsupported. */
static double seconds_on_cpu(const candidate_list *list) {
  for (int i = 0; i < list->count && !list->items[i].refusal[0]; i++)
    if (tsl_device_is_host(list->items[i].device))
      return list->items[i].seconds;
  return INFINITY;
}

/* Seconds of compiling with a self-test, where a strategy states none (measured: 0.7 to 3); of loading. */
static const double compile_seconds = 1.5, load_seconds = 0.05;

/* Returns the seconds before a plan's first run: opening the device, and compiling or loading. */
static double start_seconds(const tsl_problem *problem, const tsl_link *link,
                            const tsl_candidate *candidate) {
  const tsl_strategy *strategy = candidate->strategy;
  const bool has_kernels = !tsl_device_is_host(candidate->device) && !strategy->vendor.load;
  const double opened = tsl_device_is_open(candidate->device) ? 0 : link->open;
  if (!has_kernels)
    return opened;
  if (tsl_trust_has(problem, strategy, &candidate->config, candidate->device) || tsl_jit_is_forbidden())
    return opened + load_seconds;
  return opened + (strategy->build_seconds > 0 ? strategy->build_seconds : compile_seconds);
}

/* Returns a choice of any strategy on this device, without start-up costs; exclusions and wisdom are kept. */
static tsl_choice restrict_to_device(const tsl_choice *choice, const tsl_device *device,
                                     tsl_memory_place place) {
  return (tsl_choice){.devices = choice->devices,
                      .device = device->name,
                      .place = place,
                      .wisdom = choice->wisdom,
                      .exclude = choice->exclude,
                      .except = choice->except,
                      .skips = choice->skips};
}

/* Returns the predicted seconds of the whole product on one device; infinity: unsupported. */
static double seconds_alone(const tsl_problem *problem, const tsl_choice *choice, const tsl_device *device,
                            tsl_memory_place place) {
  const tsl_choice device_choice = restrict_to_device(choice, device, place);
  tsl_candidate *list;
  tsl_status_saved saved;
  double seconds = INFINITY;
  int count;
  tsl_status_save(&saved);
  if (tsl_planner_list(problem, &device_choice, &list, &count) == TESELA_OK) {
    if (count > 0 && !list[0].refusal[0])
      seconds = list[0].seconds;
    free(list);
  }
  tsl_status_restore(&saved);
  return seconds;
}

typedef struct candidate_listing {
  const tsl_problem *problem;
  const tsl_choice *choice;
  const tsl_strategy_request *request;
  bool is_compared; /* devices of several kinds are listed */
  candidate_list list;
} candidate_listing;

/* Predicts a group's seconds: members work at once, with parts that take equally long. */
static double seconds_together(const candidate_listing *state, const tsl_device *group) {
  double rate = 0;
  for (int i = 0; i < group->member_count; i++) {
    const double alone =
        seconds_alone(state->problem, state->choice, group->members[i],
                      state->choice->place == TSL_PLACE_HOST ? TSL_PLACE_HOST : TSL_PLACE_DEVICE);
    rate += alone > 0 ? 1 / alone : 0;
  }
  return 1 / rate;
}

/* Completes predictions with epilogue, copies and start-up, and adds them to the list. */
static tesela_status add_weighed_candidates(candidate_listing *state, tsl_device *device,
                                            tsl_candidate *candidate, int count) {
  const tsl_link link = tsl_link_of(device);
  const double on_cpu = tsl_choice_any_device(state->choice) && is_cpu_by_other_driver(device)
                            ? seconds_on_cpu(&state->list)
                            : INFINITY;
  tsl_predict_candidates(state->problem, state->choice, state->request,
                         tsl_predict_candidates_level(device, state->is_compared), candidate, count);
  for (int i = 0; i < count; i++) {
    if (candidate[i].refusal[0] ||
        !tsl_strategy_fuses_epilogue(candidate[i].strategy, state->problem, &candidate[i].config, device))
      candidate[i].seconds += tsl_finish_seconds(state->problem, device);
    candidate[i].resident = candidate[i].seconds;
    const tsl_work work = {.strategy = candidate[i].strategy,
                           .problem = *state->problem,
                           .config = candidate[i].config,
                           .device = device};
    if (!candidate[i].strategy->splits.parts && !candidate[i].refusal[0]) /* a splitting model has copies */
      candidate[i].seconds = tsl_link_seconds(&link, &work, state->choice->place, candidate[i].resident);
    if (device->member_count > 0 && !candidate[i].refusal[0])
      candidate[i].seconds = candidate[i].resident = seconds_together(state, device);
    if (isfinite(on_cpu) && !candidate[i].own)
      candidate[i].seconds = fmax(candidate[i].seconds, on_cpu);
    if (state->choice->runs > 0 && !candidate[i].refusal[0])
      candidate[i].start = start_seconds(state->problem, &link, &candidate[i]) / state->choice->runs;
    TSL_TRY(planner_add(&state->list, &candidate[i]));
  }
  log_foreign(state->choice->wisdom, device);
  return TESELA_OK;
}

static tesela_status planner_add_device(candidate_listing *state, tsl_device *device) {
  int count = 0, all = 0;
  while (tsl_strategy_at(all))
    all++;
  tsl_candidate *candidates = calloc((size_t)all, sizeof *candidates);
  if (!candidates)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the planner's list");
  for (int i = 0; i < all; i++)
    if (tsl_strategy_at(i)->op == state->problem->op &&
        is_requested(tsl_strategy_at(i), state->choice, state->request))
      candidates[count++] = (tsl_candidate){.strategy = tsl_strategy_at(i), .device = device};
  const tesela_status status = add_weighed_candidates(state, device, candidates, count);
  free(candidates);
  return status;
}

/* Returns true if all devices of a kind are the processor, without own measurements. */
static bool kind_cannot_win(const candidate_listing *state, int kind, const tsl_device *cpu) {
  return state->choice->sparing && cpu && tsl_devices_is_processor(state->choice->devices, kind) &&
         !tsl_wisdom_has_others(state->choice->wisdom, state->problem->op, cpu);
}

/* Returns the minimum seconds on another device: a launch, and copies over the fastest link in use. */
static double min_seconds_of_kind(const candidate_listing *state, int kind) {
  static const double launch = 8e-6, link = 64e9;
  const double copies = state->choice->place == TSL_PLACE_HOST ? tsl_problem_bytes(state->problem) / link : 0;
  return launch + copies +
         (state->choice->runs > 0 ? tsl_device_kind_at(kind)->start_least / state->choice->runs : 0);
}

/* Adds all devices, without a search for kinds that cannot be expected to beat the cpu. */
static tesela_status add_all(candidate_listing *state) {
  tsl_device *const first = tsl_devices_of_kind(state->choice->devices, 0, 0), *device;
  const tsl_device *cpu = first && tsl_device_is_host(first) ? first : NULL;
  for (int kind = 1; kind < tsl_device_kind_count(); kind++)
    state->is_compared |= !kind_cannot_win(state, kind, cpu);
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const double on_cpu = seconds_on_cpu(&state->list);
    if (state->choice->sparing && isfinite(on_cpu) &&
        (kind_cannot_win(state, kind, cpu) || on_cpu < min_seconds_of_kind(state, kind)))
      tsl_log(TSL_LOG_PLAN, "%s devices are not searched for: none is expected to be faster than the cpu",
              tsl_device_kind_at(kind)->kind);
    else
      for (int i = 0; (device = tsl_devices_of_kind(state->choice->devices, kind, i)); i++)
        TSL_TRY(planner_add_device(state, device));
  }
  if (state->list.count == 0)
    return tsl_fail(TESELA_NO_DEVICE, "there is no device for %s", tsl_op_name(state->problem->op));
  return TESELA_OK;
}

static tesela_status planner_list_candidates(candidate_listing *state) {
  tsl_device *device;
  if (tsl_choice_any_device(state->choice))
    return add_all(state);
  TSL_TRY(tsl_devices_find(state->choice->devices, state->choice->device, &device));
  return planner_add_device(state, device);
}

/* Returns the choice for reproducible bits, independent of measurements, compiled kernels and the best
 * device. Bits that are equal on all devices may come from any device. */
static tsl_choice make_reproducible_choice(const tsl_problem *problem, const tsl_choice *choice_given) {
  tsl_choice choice = *choice_given;
  if (problem->ask.bits == TSL_REPRODUCIBILITY_ANY)
    return choice;
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ROWS) { /* its candidates have equal bits */
    choice.wisdom = NULL;
    choice.runs = 0;
  }
  if (problem->ask.bits != TSL_REPRODUCIBILITY_DEVICES && tsl_choice_any_device(choice_given))
    choice.device = "cpu";
  return choice;
}

tesela_status tsl_planner_list(const tsl_problem *problem, const tsl_choice *choice,
                               tsl_candidate **candidates, int *count) {
  tsl_strategy_request request;
  *candidates = NULL;
  *count = 0;
  TSL_TRY(tsl_problem_check(problem));
  TSL_TRY(check_excluded(tsl_env_get(TSL_ENV_EXCLUDE), "TESELA_EXCLUDE"));
  TSL_TRY(check_excluded(choice->exclude, "strategy 'not ...'"));
  TSL_TRY(tsl_planner_request(problem->op, choice->strategy, &request));
  const tsl_choice steady_choice = make_reproducible_choice(problem, choice);
  candidate_listing listing = {.problem = problem, .choice = &steady_choice, .request = &request};
  const tesela_status status = planner_list_candidates(&listing);
  if (status != TESELA_OK) {
    free(listing.list.items);
    return status;
  }
  *candidates = listing.list.items;
  *count = listing.list.count;
  return TESELA_OK;
}

static void planner_describe(const tsl_candidate *candidate, tsl_text *text) {
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
    planner_describe(&candidates[i], &text);
    tsl_text_add(&text, " (%.3g s predicted by %s)", candidates[i].seconds,
                 tsl_basis_name(candidates[i].basis));
  }
  tsl_log(TSL_LOG_PLAN, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

/* Returns true if another candidate may succeed: a neighbouring config after a failed compilation, another
 * device after a device's failure. A failure of the caller's own device is final. */
static bool may_try_another(const tsl_choice *choice, tesela_status status) {
  return tsl_choice_any_device(choice) || status == TESELA_BUILD_FAILED || status == TESELA_UNSUPPORTED ||
         status == TESELA_WRONG_RESULT;
}

/* Returns a sub-plan's choice. A strategy that is excluded for it is also excluded for its sub-plans. */
static tsl_choice choice_for_subplan(const tsl_choice *choice, const tsl_subplan_request *request) {
  tsl_choice device_choice = restrict_to_device(choice, request->device, tsl_subplan_place(request));
  device_choice.except = request->except ? request->except : device_choice.except;
  device_choice.skips = request->skips;
  return device_choice;
}

static double planner_seconds_of_child(const tsl_subplan_factory *self, const tsl_subplan_request *request) {
  if (!self->choice)
    return tsl_subplans_by_models().seconds(self, request);
  const tsl_choice device_choice = choice_for_subplan(self->choice, request);
  return seconds_alone(request->problem, &device_choice, request->device, device_choice.place);
}

/* Creates a plan of the first candidate that satisfies the request. */
static tesela_status planner_make_child(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                                        tsl_subplan **child) {
  tsl_candidate *list;
  int count;
  if (!self->choice || request->like)
    return tsl_subplans_by_models().make(self, request, child);
  const tsl_choice device_choice = choice_for_subplan(self->choice, request);
  *child = NULL;
  TSL_TRY(tsl_planner_list(request->problem, &device_choice, &list, &count));
  tesela_status status = tsl_subplan_refuse_all(request);
  for (int i = 0; i < count && !list[i].refusal[0] && !*child; i++)
    if (tsl_subplan_satisfies(request, list[i].strategy, &list[i].config))
      status = tsl_planner_make(request->problem, &device_choice, &list[i], child);
  free(list);
  return status;
}

/* Returns the slowest member's time: its blocks are sequential, members parallel. */
static double slowest_member(const tsl_plan *plan) {
  const tsl_device *group = plan->work.device;
  tsl_subplan_info share;
  double slowest = 0;
  for (int member = 0; member < group->member_count; member++) {
    double seconds = 0;
    for (int i = 0; tsl_plan_share(plan, i, &share); i++)
      seconds += strcmp(share.device, group->members[member]->name) == 0 ? share.seconds : 0;
    slowest = fmax(slowest, seconds);
  }
  return slowest;
}

tsl_subplan_factory tsl_planner_subplans(const tsl_choice *choice) {
  tsl_subplan_factory children = tsl_subplans_by_models();
  children.choice = choice;
  children.skips = choice->skips;
  children.make = planner_make_child;
  children.seconds = planner_seconds_of_child;
  return children;
}

tesela_status tsl_planner_make(const tsl_problem *problem, const tsl_choice *choice,
                               const tsl_candidate *candidate, tsl_plan **plan) {
  const tsl_subplan_factory children = tsl_planner_subplans(choice);
  const tsl_plan_options options = {.children = &children, .spread = choice->spread};
  TSL_TRY(tsl_plan_create(problem, candidate->strategy, &candidate->config, candidate->device, choice->place,
                          &options, plan));
  const double slowest = slowest_member(*plan);
  (*plan)->expected = slowest > 0 ? slowest : candidate->seconds;
  const tesela_status status = tsl_self_test_plan(*plan);
  if (status != TESELA_OK) {
    tsl_plan_destroy(*plan);
    *plan = NULL;
  }
  return status;
}

/* Marks a candidate as refused by the last failure, and logs it. */
static void skip_candidate(tsl_candidate *candidate) {
  snprintf(candidate->refusal, sizeof candidate->refusal, "skipped: %.170s", tesela_last_error());
  if (tsl_log_wants(TSL_LOG_PLAN))
    tsl_log(TSL_LOG_PLAN, "%s on %s is skipped: %s", candidate->strategy->name, candidate->device->name,
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
    if (status == TESELA_OK || choice->strategy || !may_try_another(choice, status))
      break;
    skip_candidate(&candidates[tried]);
  }
  if (tried == 0 && !*plan && status == TESELA_OK)
    status = tsl_planner_refuse(problem, candidates, count);
  return status;
}
