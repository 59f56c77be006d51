#include "cli/select.h"

#include "cli/options.h"
#include "core/env.h"
#include "core/isa.h"
#include "core/pool.h"
#include "core/status.h"
#include "core/suggest.h"
#include "device/devices.h"
#include "problem/verify_mode.h"

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

tesela_status tsl_set_copies(const char *word) {
  if (!word)
    return TESELA_OK;
  if (strcmp(word, "auto") != 0 && strcmp(word, "explicit") != 0)
    return tsl_fail(TESELA_BAD_CALL, "--copies: \"%s\" is neither auto nor explicit", word);
  if (setenv(tsl_env_info_at(TSL_ENV_COPIES)->name, word, 1) != 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to set the copies");
  return TESELA_OK;
}

tesela_status tsl_select_each(const char *text, tsl_select_reader read, void *list, void *context) {
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

static tesela_status check_device_name(const char *name, void *list, void *context) {
  (void)list;
  (void)context;
  return tsl_device_name_check(name);
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
  tsl_verify_mode mode;
  if (tsl_verify_parse(tsl_env_get(TSL_ENV_VERIFY), &mode) != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_CALL, "TESELA_VERIFY");
  for (int i = 0; i < TSL_ENV_COUNT; i++)
    TSL_TRY(tsl_env_check((tsl_env)i));
  /* a list: commands that measure accept several devices */
  if (!tsl_selects_all_devices(NULL) &&
      tsl_select_each(tsl_env_get(TSL_ENV_DEVICE), check_device_name, NULL, NULL) != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_CALL, "TESELA_DEVICE");
  return TESELA_OK;
}

tesela_status tsl_select_check_room(int count) {
  if (count < TSL_SELECT_MAX)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "a list has more than %d entries", TSL_SELECT_MAX);
}

bool tsl_selects_all_devices(const char *text) {
  if (!text)
    text = tsl_env_get(TSL_ENV_DEVICE);
  return !*text || strcmp(text, "all") == 0 || strcmp(text, "auto") == 0;
}

tsl_op tsl_select_op(const char *word) {
  int op = 0;
  while (op < TSL_OP_COUNT && strcmp(tsl_op_name((tsl_op)op), word) != 0)
    op++;
  return (tsl_op)op;
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
  TSL_TRY(tsl_select_check_room(out->count));
  return tsl_select_type(*(const tsl_op *)context, entry, &out->items[out->count++]);
}

tesela_status tsl_select_types(tsl_op op, const char *text, tsl_type_list *out) {
  out->count = 0;
  return tsl_select_each(text ? text : "f32,f64", select_read_type, out, &op);
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
  TSL_TRY(tsl_select_check_room(out->count));
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
  return tsl_select_each(text, select_read_size, out, &op);
}
