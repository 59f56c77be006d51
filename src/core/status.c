#include "core/status.h"

#include "core/locale.h"
#include "core/thread_string.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_SIZE sizeof(((tsl_status_saved *)0)->sentence)

_Static_assert(MESSAGE_SIZE <= TSL_THREAD_TEXT_MIN, "a sentence's address never changes");

/* Beginning of the message, used if there is no memory for all of it. */
static _Thread_local char message_without_memory[64];

const char *tesela_version(void) {
  return TESELA_VERSION;
}

int tesela_version_number(void) {
  return TESELA_VERSION_NUMBER;
}

const char *tesela_status_name(tesela_status status) {
  static const struct {
    tesela_status status;
    const char *name;
  } names[] = {
#define ROW(name, value, meaning) {TESELA_##name, #name},
      TESELA_STATUS_LIST(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].status == status)
      return names[i].name;
  return "?";
}

const char *tesela_last_error(void) {
  return message_without_memory[0] ? message_without_memory : tsl_thread_text(TSL_THREAD_ERROR);
}

/* Removes an incomplete UTF-8 character at the end, as truncation leaves it. */
static void drop_partial_character(char *text) {
  size_t end = strlen(text), start = end;
  while (start > 0 && end - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
    start--;
  if (start == 0 || (unsigned char)text[start - 1] < 0xC0)
    return;
  const unsigned char lead = (unsigned char)text[start - 1];
  const size_t follow = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (end - start < follow)
    text[start - 1] = '\0';
}

static void store_message(const char *text) {
  memset(message_without_memory, 0, sizeof message_without_memory);
  if (strcmp(tsl_thread_text_keep(TSL_THREAD_ERROR, text), text) == 0)
    return;
  memcpy(message_without_memory, text, strnlen(text, sizeof message_without_memory - 1));
  drop_partial_character(message_without_memory);
}

/* Replaces control characters by '?': a message is one line, and safe for a terminal. */
static void replace_control_characters(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7F)
      *text = '?';
}

/* Formats to `out`, cut to whole characters, and returns the length. `out` must not be an argument. */
static size_t format_message(char out[MESSAGE_SIZE], const char *format, va_list arguments) {
  const int length = tsl_locale_format(out, MESSAGE_SIZE, format, arguments);
  if (length < 0)
    out[0] = '\0';
  else if ((size_t)length >= MESSAGE_SIZE)
    drop_partial_character(out);
  replace_control_characters(out);
  return strlen(out);
}

tesela_status tsl_fail(tesela_status status, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)format_message(text, format, arguments);
  va_end(arguments);
  store_message(text);
  return status;
}

tesela_status tsl_fail_in(tesela_status status, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  size_t length = format_message(text, format, arguments);
  va_end(arguments);
  const char *const parts[] = {": ", tesela_last_error()};
  bool cut = false;
  for (int i = 0; i < 2; i++) {
    const size_t space = MESSAGE_SIZE - 1 - length, wanted = strlen(parts[i]);
    const size_t count = wanted < space ? wanted : space;
    cut = cut || count < wanted;
    memcpy(text + length, parts[i], count);
    length += count;
    text[length] = '\0';
  }
  if (cut)
    drop_partial_character(text);
  store_message(text);
  return status;
}

void tsl_status_save(tsl_status_saved *saved) {
  snprintf(saved->sentence, MESSAGE_SIZE, "%s", tesela_last_error());
}

void tsl_status_restore(const tsl_status_saved *saved) {
  store_message(saved->sentence);
}

void tsl_status_keep_log(const char *log) {
  tsl_thread_text_keep(TSL_THREAD_LOG, log ? log : "");
}

const char *tesela_last_log(void) {
  return tsl_thread_text(TSL_THREAD_LOG);
}
