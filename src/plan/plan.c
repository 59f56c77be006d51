#include "plan/plan.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/cut.h"
#include "plan/run_slot.h"

#include <stdlib.h>
#include <string.h>

static const char *const place_names[] = {[TSL_PLACE_HOST] = "host", [TSL_PLACE_DEVICE] = "device"};
enum { PLACES = sizeof place_names / sizeof *place_names };

/* A plan as its text says it; the problem's keys stand behind these, and the parameters' behind the version. */
typedef struct said {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_problem problem;
  tsl_place place;
  tsl_device *device;
} said;

static void print_version(const tsl_plan *plan, tsl_text *text) {
  tsl_text_add(text, "%d", plan->work.strategy->version);
}
static void print_device(const tsl_plan *plan, tsl_text *text) {
  tsl_text_add(text, "%s", plan->work.device->name);
}
static void print_place(const tsl_plan *plan, tsl_text *text) {
  tsl_text_add(text, "%s", place_names[plan->place]);
}

static tesela_status parse_version(const char *value, tsl_devices *devices, said *out) {
  int64_t version;
  (void)devices;
  if (!tsl_parse_i64(value, &version))
    return tsl_fail(TESELA_BAD_INPUT, "version=%s is not a number", value);
  if (version != out->strategy->version)
    return tsl_fail(TESELA_BAD_INPUT, "version=%s of %s is retired: this library has version %d", value,
                    out->strategy->name, out->strategy->version);
  return TESELA_OK;
}

/* In a text, what would be a wrong argument is wrong input. */
static tesela_status as_input(tesela_status status) {
  return status == TESELA_BAD_CALL ? TESELA_BAD_INPUT : status;
}

static tesela_status parse_device(const char *value, tsl_devices *devices, said *out) {
  const tesela_status status = as_input(tsl_devices_find(devices, value, &out->device));
  return status == TESELA_OK ? status : tsl_fail_in(status, "device=%s", value);
}

static tesela_status parse_place(const char *value, tsl_devices *devices, said *out) {
  (void)devices;
  for (int i = 0; i < PLACES; i++)
    if (strcmp(place_names[i], value) == 0) {
      out->place = (tsl_place)i;
      return TESELA_OK;
    }
  return tsl_fail(TESELA_BAD_INPUT, "place=%s is neither host nor device", value);
}

enum {
#define KEY_MEMBER(name, what) KEY_##name,
  TSL_PLAN_KEY_LIST(KEY_MEMBER)
#undef KEY_MEMBER
      KEYS
};

static const struct {
  tsl_text_key words;
  void (*print)(const tsl_plan *plan, tsl_text *text);
  tesela_status (*parse)(const char *value, tsl_devices *devices, said *out);
} keys[KEYS] = {
#define KEY_ROW(name, what) [KEY_##name] = {{#name, what}, print_##name, parse_##name},
    TSL_PLAN_KEY_LIST(KEY_ROW)
#undef KEY_ROW
};

const tsl_text_key *tsl_plan_key(int index) {
  return index < 0 ? NULL : index < KEYS ? &keys[index].words : tsl_problem_key(index - KEYS);
}

static void print(const tsl_plan *plan, tsl_text *text) {
  const tsl_work *work = &plan->work;
  tsl_text_add(text, "%s %s", tsl_op_name(work->strategy->op), work->strategy->name);
  for (int key = 0; key < KEYS; key++) {
    tsl_text_add(text, " %s=", keys[key].words.name);
    keys[key].print(plan, text);
    for (int i = 0; key == KEY_version && i < tsl_strategy_params(work->strategy); i++) {
      tsl_text_add(text, " ");
      tsl_config_print_one(work->strategy, i, &work->config, text);
    }
  }
  tsl_text_add(text, " ");
  tsl_problem_print(&work->problem, text);
}

/* Ways of the operands between host and device, for runs that copy. */
static tesela_status plan_transfers(const tsl_plan *plan) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&plan->work.problem, i);
    if (!tsl_transfer_plan(shape, &plan->slots->transfers[i]))
      return tsl_fail(TESELA_UNSUPPORTED,
                      "%s: a copy of operand %c, %lld x %lld elements, would pass 2^63 bytes",
                      plan->work.device->name, "ABC"[i], (long long)shape -> rows, (long long)shape -> cols);
  }
  return TESELA_OK;
}

static tesela_status build(tsl_plan *plan) {
  tsl_work *work = &plan->work;
  tsl_text text = {0};
  TSL_TRY(tsl_device_open(work->device));
  if (!(work->device->capabilities & TSL_CAN_HOST)) {
    TSL_TRY(tsl_run_slots_create(work->device, &plan->slots));
    TSL_TRY(plan_transfers(plan));
  }
  print(plan, &text);
  const tesela_status status = tsl_text_status(&text);
  plan->text = tsl_text_take(&text);
  if (status != TESELA_OK)
    return status;
  if (work->strategy->build)
    TSL_TRY(work->strategy->build(work));
  return TESELA_OK;
}

/* Behind everything else, as what it needs is the plan's compiled kernels. */
static tesela_status cut(tsl_plan *plan) {
  return plan->place == TSL_PLACE_HOST ? tsl_cut_create(&plan->work, &plan->cut) : TESELA_OK;
}

static tesela_status create(const tsl_problem *problem, const tsl_strategy *strategy,
                            const tsl_config *config, tsl_device *device, tsl_place place, bool loaded_only,
                            tsl_plan **plan) {
  tsl_problem rounded = *problem;
  *plan = NULL;
  tsl_problem_round(&rounded);
  TSL_TRY(tsl_problem_check(&rounded));
  const char *why = tsl_strategy_refuse(strategy, &rounded, config, device);
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: %s", strategy->name, device->name, why);
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **plan, "a plan", &block));
  tsl_plan *made = block;
  made->place = place;
  made->work = (tsl_work){.strategy = strategy,
                          .problem = rounded,
                          .config = *config,
                          .device = device,
                          .loaded_only = loaded_only};
  const tesela_status status = build(made);
  if (status != TESELA_OK) {
    /* What build() of the strategy made is gone already. */
    tsl_run_slots_destroy(made->slots);
    free(made->text);
    tsl_free(made);
    return status;
  }
  const tesela_status uncut = cut(made);
  if (uncut != TESELA_OK) {
    tsl_plan_destroy(made);
    return uncut;
  }
  *plan = made;
  return TESELA_OK;
}

tesela_status tsl_plan_create(const tsl_problem *problem, const tsl_strategy *strategy,
                              const tsl_config *config, tsl_device *device, tsl_place place,
                              tsl_plan **plan) {
  return create(problem, strategy, config, device, place, false, plan);
}

tesela_status tsl_plan_create_loaded(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, tsl_device *device, tsl_place place,
                                     tsl_plan **plan) {
  return create(problem, strategy, config, device, place, true, plan);
}

void tsl_plan_trim(tsl_plan *plan) {
  if (plan && plan->slots)
    tsl_run_slots_trim(plan->slots);
}

void tsl_plan_destroy(tsl_plan *plan) {
  if (!plan)
    return;
  tsl_cut_destroy(plan->cut);
  if (plan->work.strategy->release)
    plan->work.strategy->release(&plan->work);
  tsl_run_slots_destroy(plan->slots);
  free(plan->text);
  tsl_free(plan);
}

tsl_accuracy tsl_plan_accuracy(const tsl_plan *plan) {
  return plan->work.strategy->accuracy(&plan->work.problem, &plan->work.config);
}

double tsl_plan_error_bound(const tsl_plan *plan) {
  return tsl_plan_accuracy(plan).factor * tsl_type(plan->work.problem.c.type)->unit_roundoff;
}

uint64_t tsl_plan_device_bytes(const tsl_problem *problem, const tsl_device *device, tsl_place place) {
  uint64_t bytes = 0;
  if (place == TSL_PLACE_DEVICE || device->capabilities & TSL_CAN_HOST)
    return 0;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    tsl_transfer transfer;
    if (!tsl_problem_uses(problem, i))
      continue;
    size_t all;
    if (!tsl_transfer_plan(tsl_problem_shape(problem, i), &transfer) ||
        !tsl_size_mul(transfer.bytes, (size_t)tsl_problem_batch(problem), &all) || bytes > UINT64_MAX - all)
      return UINT64_MAX;
    bytes += all;
  }
  return bytes;
}

uint64_t tsl_plan_bytes(const tsl_plan *plan) {
  const tsl_work *work = &plan->work;
  const uint64_t scratch = tsl_strategy_scratch(work->strategy, &work->problem, &work->config, work->device);
  const uint64_t copies = tsl_plan_device_bytes(&work->problem, work->device, plan->place);
  return copies > UINT64_MAX - scratch ? UINT64_MAX : copies + scratch;
}

/* --- from text --- */

static bool is_known(const tsl_strategy *strategy, const char *key) {
  for (int i = 0; tsl_plan_key(i); i++)
    if (strcmp(tsl_plan_key(i)->name, key) == 0)
      return true;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (strcmp(strategy->params[i].name, key) == 0)
      return true;
  return false;
}

/* NULL, and a sentence, when the words in front name no strategy. */
static const tsl_strategy *parse_strategy(const tsl_record *record, tsl_op *op) {
  const char *op_word = tsl_record_word(record, 0), *name = tsl_record_word(record, 1),
             *extra = tsl_record_word(record, 2);
  const tsl_strategy *strategy = NULL;
  *op = TSL_OP_COUNT;
  for (int i = 0; op_word && i < TSL_OP_COUNT; i++)
    if (strcmp(tsl_op_name((tsl_op)i), op_word) == 0)
      *op = (tsl_op)i;
  if (!op_word || !name)
    tsl_fail(TESELA_BAD_INPUT, "a plan starts with an operation and a strategy, such as 'gemm sequential'");
  else if (extra)
    tsl_fail(TESELA_BAD_INPUT, "'%s' has no place in a plan: only 'key=value' follows the strategy", extra);
  else if (*op == TSL_OP_COUNT)
    tsl_fail(TESELA_BAD_INPUT, "'%s' is not an operation: gemm, dot and transpose are", op_word);
  else if (!(strategy = tsl_strategy_find(*op, name)))
    tsl_fail(TESELA_BAD_INPUT, "'%s' is not a strategy for %s", name, op_word);
  return strategy;
}

static tesela_status check_keys(const tsl_record *record, const tsl_strategy *strategy) {
  for (int i = 0; i < record->count; i++)
    if (record->fields[i].key && !is_known(strategy, record->fields[i].key))
      return tsl_fail(TESELA_BAD_INPUT, "'%s' is not a key of a plan for %s", record->fields[i].key,
                      strategy->name);
  return TESELA_OK;
}

/* A plan's text holds every parameter that a search may set, so that it means the same after a default has changed. */
static tesela_status parse_config(const tsl_record *record, const tsl_strategy *strategy,
                                  tsl_config *config) {
  unsigned given;
  *config = tsl_strategy_defaults(strategy);
  TSL_TRY(tsl_config_parse(strategy, record, config, &given));
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!(given & 1u << i) && !tsl_param_is_silent(&strategy->params[i], config->value[i]))
      return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", strategy->params[i].name);
  return TESELA_OK;
}

static tesela_status parse_key(const tsl_record *record, int key, tsl_devices *devices, said *out) {
  const char *value = tsl_record_get(record, keys[key].words.name);
  return value ? keys[key].parse(value, devices, out)
               : tsl_fail(TESELA_BAD_INPUT, "%s= is missing", keys[key].words.name);
}

/* Devices are looked for last: that may take a while. */
static tesela_status parse(tsl_devices *devices, const tsl_record *record, tsl_plan **plan) {
  tsl_op op = TSL_OP_GEMM;
  said all = {.strategy = parse_strategy(record, &op)};
  if (!all.strategy)
    return TESELA_BAD_INPUT;
  TSL_TRY(check_keys(record, all.strategy));
  TSL_TRY(parse_key(record, KEY_version, devices, &all));
  TSL_TRY(parse_config(record, all.strategy, &all.config));
  for (int key = 0; key < KEYS; key++)
    if (key != KEY_version && key != KEY_device)
      TSL_TRY(parse_key(record, key, devices, &all));
  TSL_TRY(as_input(tsl_problem_parse(record, op, &all.problem)));
  TSL_TRY(parse_key(record, KEY_device, devices, &all));
  return tsl_plan_create(&all.problem, all.strategy, &all.config, all.device, all.place, plan);
}

tesela_status tsl_plan_parse(tsl_devices *devices, const char *text, tsl_plan **plan) {
  tsl_record record;
  *plan = NULL;
  tesela_status status = tsl_record_parse(text, &record);
  if (status == TESELA_OK) {
    status = parse(devices, &record, plan);
    tsl_record_free(&record);
  }
  return status == TESELA_OK ? status : tsl_fail_in(status, "plan");
}
