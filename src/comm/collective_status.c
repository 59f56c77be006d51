#include "comm/collective_status.h"

#include "core/locale.h"
#include "core/status.h"
#include "core/text.h"
#include "core/types.h"

#include <stdio.h>
#include <string.h>

tesela_status tsl_agree(tsl_ranks *ranks, tesela_status status) {
  struct {
    int status;
    tsl_status_saved saved;
  } message = {.status = status};
  double lowest = 0;
  tsl_status_save(&message.saved);
  TSL_TRY(ranks->ops->least(ranks, status == TESELA_OK ? ranks->size : ranks->rank, &lowest));
  if (lowest >= ranks->size)
    return TESELA_OK;
  const int rank = (int)lowest;
  TSL_TRY(ranks->ops->broadcast(ranks, rank, &message, sizeof message));
  return tsl_fail((tesela_status)message.status, "rank %d: %s", rank, message.saved.sentence);
}

enum { VALUE_TEXT = 40 };

static double real_value(uint64_t value) {
  double real;
  memcpy(&real, &value, sizeof real);
  return real;
}

static void print_real(double value, char text[VALUE_TEXT]) {
  double read;
  for (int digits = 6; digits <= 17; digits++) {
    tsl_locale_print(text, VALUE_TEXT, "%.*g", digits, value);
    if (tsl_parse_double(text, &read) && read == value)
      return;
  }
}

static void print_value(tsl_agreed_value_kind kind, uint64_t value, char text[VALUE_TEXT]) {
  const tsl_type_info *type = kind == TSL_AGREED_VALUE_TYPE ? tsl_type((tesela_type)value) : NULL;
  switch (kind) {
  case TSL_AGREED_VALUE_REAL:
    print_real(real_value(value), text);
    return;
  case TSL_AGREED_VALUE_SWITCH:
    snprintf(text, VALUE_TEXT, "%s", value != 0 ? "set" : "not set");
    return;
  case TSL_AGREED_VALUE_WORD:
    snprintf(text, VALUE_TEXT, "\"%.*s\"", (int)sizeof value, (const char *)&value);
    return;
  case TSL_AGREED_VALUE_VERSION:
    snprintf(text, VALUE_TEXT, "%d.%d.%d", (int)(value / 10000), (int)(value / 100 % 100),
             (int)(value % 100));
    return;
  default:
    snprintf(text, VALUE_TEXT, "%lld", (long long)value);
    if (type)
      snprintf(text, VALUE_TEXT, "%s", type->name);
  }
}

static tesela_status fail_value(const tsl_agreed_value *here, uint64_t there) {
  char own[VALUE_TEXT], first[VALUE_TEXT];
  if (here->kind == TSL_AGREED_VALUE_HASH)
    return tsl_fail(TESELA_BAD_CALL, "%s differs from rank 0", here->name);
  print_value(here->kind, here->value, own);
  print_value(here->kind, there, first);
  return tsl_fail(TESELA_BAD_CALL, "%s is %s, but %s on rank 0", here->name, own, first);
}

static tesela_status agree_values(tsl_ranks *ranks, const tsl_agreed_value *values, int count) {
  uint64_t first[TSL_AGREED_VALUE_MAX + 1] = {(uint64_t)count};
  for (int i = 0; i < count; i++)
    first[1 + i] = values[i].value;
  TSL_TRY(ranks->ops->broadcast(ranks, 0, first, sizeof first));
  for (int i = 0; i < count; i++)
    if (first[1 + i] != values[i].value)
      return fail_value(&values[i], first[1 + i]);
  return TESELA_OK;
}

tesela_status tsl_agree_start(tsl_ranks *ranks, tesela_status status, const tsl_agreed_value *values,
                              int count) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status alike = agree_values(ranks, values, count);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return tsl_agree(ranks, status != TESELA_OK ? status : alike);
}

/* Returns the 64-bit FNV-1a hash. */
uint64_t tsl_agreed_value_bytes(const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

uint64_t tsl_agreed_value_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t tsl_agreed_value_word(const char *word) {
  uint64_t value = 0;
  memcpy(&value, word, strnlen(word, sizeof value));
  return value;
}
