#include "cli/select.h"

#include "cli/options.h"
#include "core/env.h"
#include "core/isa.h"
#include "core/pool.h"
#include "core/status.h"
#include "core/suggest.h"
#include "planner/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tsl_device_or_default(const char *device) {
  return device ? device : tsl_env_get(TSL_ENV_DEVICE);
}

tesela_status tsl_set_threads(int64_t threads) {
  char text[24];
  if (threads == 0)
    return TESELA_OK;
  if (threads > TSL_POOL_THREADS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "--threads: at most %d can be used", TSL_POOL_THREADS_MAX);
  snprintf(text, sizeof text, "%lld", (long long)threads);
  if (setenv(tsl_env_info_at(TSL_ENV_THREADS)->name, text, 1) != 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to set the number of threads");
  return TESELA_OK;
}

/* Variables whose values are words; an empty value means the default. */
static const struct {
  tsl_env variable;
  const char *words[8];
} worded[] = {
    {TSL_ENV_VENDORS, {"0", "1"}},
    {TSL_ENV_SELFTEST, {"0", "1"}},
    {TSL_ENV_JIT, {"allow", "never"}},
    {TSL_ENV_BLAS, {"auto", "tesela", "other", "loops"}},
    {TSL_ENV_SCALAPACK, {"auto", "tesela", "other"}},
    {TSL_ENV_ISA, {TSL_ISA_WORDS}},
};

/* Checks TESELA_DEVICE, which may name several devices: commands that measure accept a list. */
static tesela_status check_device_names(void) {
  const char *rest = tsl_env_get(TSL_ENV_DEVICE);
  tesela_status status = TESELA_OK;
  if (tsl_selects_all_devices(NULL))
    return TESELA_OK;
  while (rest && status == TESELA_OK) {
    char *name;
    status = tsl_list_next(&rest, &name);
    if (status == TESELA_OK && name)
      status = tsl_device_name_check(name);
    free(name);
  }
  return status == TESELA_OK ? status : tsl_fail_in(TESELA_BAD_CALL, "TESELA_DEVICE");
}

tesela_status tsl_check_environment(void) {
  const char *threads = tsl_env_get(TSL_ENV_THREADS), *size = tsl_env_get(TSL_ENV_CACHE_SIZE);
  int64_t count;
  uint64_t bytes;
  if (*threads && (!tsl_parse_i64(threads, &count) || count < 1 || count > TSL_POOL_THREADS_MAX))
    return tsl_fail(TESELA_BAD_CALL, "TESELA_THREADS is \"%s\"; it can be a whole number from 1 to %d",
                    threads, TSL_POOL_THREADS_MAX);
  if (!tsl_parse_bytes(size, &bytes))
    return tsl_fail(TESELA_BAD_CALL, "TESELA_CACHE_SIZE is \"%s\"; it can be a size such as 512MiB, or 0",
                    size);
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  if (tsl_numeric_requirements_parse_accuracy(tsl_env_get(TSL_ENV_ACCURACY), &ask) != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_CALL, "TESELA_ACCURACY");
  if (tsl_numeric_requirements_parse_bits(tsl_env_get(TSL_ENV_BITS), &ask) != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_CALL, "TESELA_BITS");
  uint64_t seed;
  TSL_TRY(tsl_env_number(TSL_ENV_MEASURE_ERROR, &seed));
  for (size_t i = 0; i < sizeof worded / sizeof *worded; i++)
    TSL_TRY(tsl_env_check(worded[i].variable, worded[i].words));
  return check_device_names();
}

/* Reads one entry of a list and adds it to `list`. */
typedef tesela_status (*entry_reader)(const char *entry, void *list, void *context);

static tesela_status each_entry(const char *text, entry_reader read, void *list, void *context) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && text) {
    char *entry;
    status = tsl_list_next(&text, &entry);
    if (status == TESELA_OK)
      status = read(entry, list, context);
    free(entry);
  }
  return status;
}

static tesela_status select_room_for(int count) {
  if (count < TSL_SELECT_MAX)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "a list has more than %d entries", TSL_SELECT_MAX);
}

static tesela_status select_read_device(const char *entry, void *list, void *devices) {
  tsl_device_list *out = list;
  TSL_TRY(select_room_for(out->count));
  return tsl_devices_find(devices, entry, &out->items[out->count++]);
}

bool tsl_selects_all_devices(const char *text) {
  if (!text)
    text = tsl_env_get(TSL_ENV_DEVICE);
  return !*text || strcmp(text, "all") == 0 || strcmp(text, "auto") == 0;
}

tesela_status tsl_select_devices(tsl_devices *devices, const char *text, tsl_device_list *out) {
  *out = (tsl_device_list){.count = 0};
  if (!tsl_selects_all_devices(text))
    return each_entry(text ? text : tsl_env_get(TSL_ENV_DEVICE), select_read_device, out, devices);
  tsl_device *device;
  for (int i = 0; out->count < TSL_SELECT_MAX && (device = tsl_devices_at(devices, i)) != NULL; i++)
    out->items[out->count++] = device;
  return out->count > 0 ? TESELA_OK : tsl_fail(TESELA_NO_DEVICE, "there is no device at all");
}

static bool select_is_of(const tsl_strategy *strategy, tsl_op op) {
  return op == TSL_OP_COUNT || strategy->op == op;
}

static tesela_status select_unknown_strategy(tsl_op op, const char *name) {
  const char *const kind = op == TSL_OP_COUNT ? "" : tsl_op_name(op), *const blank = *kind ? " " : "";
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text all = {0};
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (select_is_of(strategy, op))
      tsl_text_add(&all, "%s%s", all.length ? ", " : "", strategy->name);
  const bool is_near = *tsl_suggest(name, tsl_text_get(&all), suggestion) != '\0';
  const tesela_status status =
      tsl_fail(TESELA_BAD_CALL, "there is no %s%sstrategy \"%s\"%s%s", kind, blank, name,
               is_near ? suggestion : "; there are ", is_near ? "" : tsl_text_get(&all));
  tsl_text_free(&all);
  return status;
}

tsl_op tsl_select_op(const char *word) {
  int op = 0;
  while (op < TSL_OP_COUNT && strcmp(tsl_op_name((tsl_op)op), word) != 0)
    op++;
  return (tsl_op)op;
}

/* Returns a strategy by name: of `op`, or if `op` is TSL_OP_COUNT of the first operation that has
 * one. */
static const tsl_strategy *find_strategy(tsl_op op, const char *name) {
  const tsl_strategy *found = NULL;
  for (int i = 0; i < TSL_OP_COUNT && !found; i++)
    if (op == TSL_OP_COUNT || op == (tsl_op)i)
      found = tsl_strategy_find((tsl_op)i, name);
  return found;
}

/* Reads "tile_local" or "gemm tile_local". */
static tesela_status select_read_name(const tsl_record *record, tsl_op among, const char *entry,
                                      const tsl_strategy **strategy) {
  const char *first = tsl_record_word(record, 0), *second = tsl_record_word(record, 1);
  const tsl_op named = first && second ? tsl_select_op(first) : TSL_OP_COUNT;
  const char *name = named != TSL_OP_COUNT ? second : first;
  if (named != TSL_OP_COUNT && among != TSL_OP_COUNT && named != among)
    return tsl_fail(TESELA_BAD_CALL, "strategy \"%s\" is a %s, this is about %s", entry, first,
                    tsl_op_name(among));
  const tsl_op op = named != TSL_OP_COUNT ? named : among;
  *strategy = name ? find_strategy(op, name) : NULL;
  return *strategy ? TESELA_OK : select_unknown_strategy(op, name ? name : entry);
}

static tesela_status select_unknown_parameter(const tsl_strategy *strategy, const char *key) {
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text names = {0};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(&names, "%s%s", i ? ", " : "", strategy->params[i].name);
  tsl_suggest(key, tsl_text_get(&names), suggestion);
  tsl_text_free(&names);
  return tsl_fail(TESELA_BAD_CALL, "%s has no parameter \"%s\"%s", strategy->name, key,
                  *suggestion ? suggestion : "; tesela strategies lists them");
}

/* Checks that every key is a parameter of the strategy. */
static tesela_status select_check_keys(const tsl_record *record, const tsl_strategy *strategy) {
  for (int i = 0; i < record->count; i++) {
    const char *key = record->fields[i].key;
    bool known = !key;
    for (int p = 0; key && p < tsl_strategy_params(strategy); p++)
      known |= strcmp(strategy->params[p].name, key) == 0;
    if (!known)
      return select_unknown_parameter(strategy, key);
  }
  return TESELA_OK;
}

/* Reads "tile_local tile=16", with or without the operation before it. */
static tesela_status select_read_strategy(const char *entry, void *list, void *op) {
  tsl_strategy_list *out = list;
  tsl_record record = {0};
  TSL_TRY(select_room_for(out->count));
  tesela_status status = tsl_record_parse(entry, &record);
  if (status != TESELA_OK)
    return tsl_fail_in(status == TESELA_OUT_OF_MEMORY ? status : TESELA_BAD_CALL, "strategy \"%s\"", entry);
  tsl_chosen_strategy *chosen = &out->items[out->count];
  TSL_GO(select_read_name(&record, *(tsl_op *)op, entry, &chosen->strategy));
  TSL_GO(select_check_keys(&record, chosen->strategy));
  chosen->config = tsl_strategy_defaults(chosen->strategy);
  TSL_GO(tsl_config_parse(chosen->strategy, &record, &chosen->config, &chosen->given));
  out->count++;
out:
  tsl_record_free(&record);
  return status;
}

static bool is_listed(const tsl_strategy_list *list, const tsl_strategy *strategy) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i].strategy == strategy)
      return true;
  return false;
}

tesela_status tsl_select_strategies(tsl_op op, const char *text, bool peers, tsl_strategy_list *out) {
  const tsl_strategy *strategy;
  *out = (tsl_strategy_list){.count = 0};
  if (text)
    TSL_TRY(each_entry(text, select_read_strategy, out, &op));
  else
    peers |= tsl_planner_vendors();
  for (int i = 0; out->count < TSL_SELECT_MAX && (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (select_is_of(strategy, op) && (strategy->vendor.load ? peers : !text) && !is_listed(out, strategy))
      out->items[out->count++] = (tsl_chosen_strategy){strategy, tsl_strategy_defaults(strategy), 0};
  return TESELA_OK;
}

tesela_status tsl_select_type(tsl_op op, const char *text, tsl_chosen_types *out) {
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text name = {0};
  if (!tsl_types_parse(op, text, &out->types))
    return tsl_fail(
        TESELA_BAD_CALL,
        "\"%s\" is not a type; there are %s, and combinations such as bf16:f32 (A and B, C) or u8:i8:i32%s",
        text, tsl_type_names(), tsl_suggest(text, tsl_type_names(), suggestion));
  tsl_types_print(op, &out->types, &name);
  snprintf(out->name, sizeof out->name, "%s", tsl_text_get(&name));
  const tesela_status status = tsl_text_status(&name);
  tsl_text_free(&name);
  return status;
}

static tesela_status select_read_type(const char *entry, void *list, void *context) {
  tsl_type_list *out = list;
  TSL_TRY(select_room_for(out->count));
  return tsl_select_type(*(const tsl_op *)context, entry, &out->items[out->count++]);
}

tesela_status tsl_select_types(tsl_op op, const char *text, tsl_type_list *out) {
  out->count = 0;
  return each_entry(text ? text : "f32,f64", select_read_type, out, &op);
}

bool tsl_parse_sizes(const char *text, int64_t *numbers, int count) {
  for (int i = 0; i < count; i++) {
    char word[24];
    const size_t length = strcspn(text, "xX");
    if (length == 0 || length >= sizeof word || (text[length] == '\0') != (i == count - 1))
      return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (!tsl_parse_i64(word, &numbers[i]) || numbers[i] < 0)
      return false;
    text += length + (text[length] != '\0');
  }
  return true;
}

/* The notation of sizes for each operation: one number, or `numbers` numbers. */
static const struct {
  int numbers;
  const char *what;
} size_forms[TSL_OP_COUNT] = {
    [TSL_OP_GEMM] = {3, "write 256 for a square or 1000x300x700 for M x N x K"},
    [TSL_OP_DOT] = {1, "write the length of the vectors, such as 1000000"},
    [TSL_OP_TRANSPOSE] = {2, "write 4096 for a square or 1000x300 for M x N of the result"},
    [TSL_OP_SOLVE] = {2, "write 500 for a square or 1000x30 for M x N of the right-hand sides"},
};

static tesela_status select_read_size(const char *entry, void *list, void *context) {
  const tsl_op op = *(const tsl_op *)context;
  tsl_size_list *out = list;
  int64_t numbers[3];
  TSL_TRY(select_room_for(out->count));
  tsl_size *size = &out->items[out->count++];
  if (tsl_parse_sizes(entry, numbers, 1))
    numbers[1] = numbers[2] = numbers[0];
  else if (!tsl_parse_sizes(entry, numbers, size_forms[op].numbers))
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a size of a %s; %s", entry, tsl_op_name(op),
                    size_forms[op].what);
  const tsl_problem problem = tsl_problem_of(op, numbers[0], numbers[1], numbers[2], TESELA_F32);
  *size = (tsl_size){problem.m, problem.n, problem.k};
  return TESELA_OK;
}

tesela_status tsl_select_sizes(tsl_op op, const char *text, tsl_size_list *out) {
  *out = (tsl_size_list){.count = 0};
  return each_entry(text, select_read_size, out, &op);
}
