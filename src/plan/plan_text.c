#include "plan/plan_text.h"

#include "core/status.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <string.h>

static const char *const place_names[] = {
    [TSL_PLACE_HOST] = "host", [TSL_PLACE_DEVICE] = "device", [TSL_PLACE_PIECES] = "pieces"};
enum { PLACES = sizeof place_names / sizeof *place_names };

static tesela_status check_version(const char *value, const tsl_strategy *strategy) {
  int64_t version;
  if (!tsl_parse_i64(value, &version))
    return tsl_fail(TESELA_BAD_INPUT, "version=%s is not a number", value);
  if (version != strategy->version)
    return tsl_fail(TESELA_BAD_INPUT, "version=%s of %s is retired: this library has version %d", value,
                    strategy->name, strategy->version);
  return TESELA_OK;
}

/* Replaces TESELA_BAD_CALL by TESELA_BAD_INPUT: a text's wrong argument is wrong input. */
static tesela_status as_input(tesela_status status) {
  return status == TESELA_BAD_CALL ? TESELA_BAD_INPUT : status;
}

static tesela_status parse_place(const char *value, tsl_memory_place *place) {
  if (strcmp(place_names[TSL_PLACE_PIECES], value) == 0)
    return tsl_fail(TESELA_BAD_INPUT, "place=pieces: the pieces are given by a call, not by a text");
  for (int i = 0; i < PLACES; i++)
    if (strcmp(place_names[i], value) == 0) {
      *place = (tsl_memory_place)i;
      return TESELA_OK;
    }
  return tsl_fail(TESELA_BAD_INPUT, "place=%s is neither host nor device", value);
}

static const tsl_text_key keys[] = {
#define KEY_ROW(name, what) {#name, what},
    TSL_PLAN_KEY_LIST(KEY_ROW)
#undef KEY_ROW
};
enum { KEYS = sizeof keys / sizeof *keys };

const tsl_text_key *tsl_plan_key(int index) {
  return index < 0 ? NULL : index < KEYS ? &keys[index] : tsl_problem_key(index - KEYS);
}

void tsl_plan_print(const tsl_work *work, tsl_memory_place place, tsl_text *text) {
  tsl_text_add(text, "%s %s version=%d", tsl_op_name(work->strategy->op), work->strategy->name,
               work->strategy->version);
  for (int i = 0; i < tsl_strategy_params(work->strategy); i++) {
    if (work->strategy->splits.parts &&
        tsl_param_is_silent(&work->strategy->params[i], work->config.value[i]))
      continue;
    tsl_text_add(text, " ");
    tsl_config_print_one(work->strategy, i, &work->config, text);
  }
  tsl_text_add(text, " device=%s place=%s ", work->device->name, place_names[place]);
  tsl_problem_print(&work->problem, text);
}

static bool is_known(const tsl_strategy *strategy, const char *key) {
  for (int i = 0; tsl_plan_key(i); i++)
    if (strcmp(tsl_plan_key(i)->name, key) == 0)
      return true;
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (strcmp(strategy->params[i].name, key) == 0)
      return true;
  return false;
}

/* Returns the strategy of the first words; NULL with a message. */
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
    tsl_fail(TESELA_BAD_INPUT, "'%s' is not allowed in a plan: only 'key=value' follows the strategy", extra);
  else if (*op == TSL_OP_COUNT)
    tsl_fail(TESELA_BAD_INPUT, "'%s' is not an operation: use gemm, dot, transpose or solve", op_word);
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

/* Reads all parameters. A text must contain each that a search may set: its meaning outlives defaults. */
static tesela_status parse_config(const tsl_record *record, const tsl_strategy *strategy,
                                  tsl_config *config) {
  unsigned given_bits;
  *config = tsl_strategy_defaults(strategy);
  TSL_TRY(tsl_config_parse(strategy, record, config, &given_bits));
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!(given_bits & 1u << i) && !tsl_param_is_silent(&strategy->params[i], config->value[i]))
      return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", strategy->params[i].name);
  return TESELA_OK;
}

static tesela_status get_value(const tsl_record *record, const char *key, const char **value) {
  *value = tsl_record_get(record, key);
  return *value ? TESELA_OK : tsl_fail(TESELA_BAD_INPUT, "%s= is missing", key);
}

/* Parses the device last, because finding devices may take long. */
tesela_status tsl_plan_read(tsl_devices *devices, const tsl_record *record, tsl_plan_said *out) {
  tsl_op op = TSL_OP_GEMM;
  const char *value;
  *out = (tsl_plan_said){.strategy = parse_strategy(record, &op)};
  if (!out->strategy)
    return TESELA_BAD_INPUT;
  TSL_TRY(check_keys(record, out->strategy));
  TSL_TRY(get_value(record, "version", &value));
  TSL_TRY(check_version(value, out->strategy));
  TSL_TRY(parse_config(record, out->strategy, &out->config));
  TSL_TRY(get_value(record, "place", &value));
  TSL_TRY(parse_place(value, &out->place));
  TSL_TRY(as_input(tsl_problem_parse(record, op, &out->problem)));
  TSL_TRY(get_value(record, "device", &value));
  const tesela_status status = as_input(tsl_devices_find(devices, value, &out->device));
  return status == TESELA_OK ? status : tsl_fail_in(status, "device=%s", value);
}
