#include "base/status.h"

#include "base/locale.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCE_SIZE sizeof(((tsl_status_saved *)0)->sentence)

static _Thread_local char sentence[SENTENCE_SIZE];

const char *tesela_version(void) {
  return TESELA_VERSION;
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
  return sentence;
}

/* A sentence that was cut may end inside a UTF-8 character: drop the piece. */
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

/* File names and cells come from anywhere: one line stays one line, and no terminal obeys what a file holds. */
static void blank_controls(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7F)
      *text = '?';
}

/* Formats into a buffer of its own first: an argument may be the sentence that is being replaced. */
static size_t format_sentence(char out[SENTENCE_SIZE], const char *format, va_list arguments) {
  const int length = tsl_locale_format(out, SENTENCE_SIZE, format, arguments);
  if (length < 0)
    out[0] = '\0';
  else if ((size_t)length >= SENTENCE_SIZE)
    drop_partial_character(out);
  blank_controls(out);
  return strlen(out);
}

tesela_status tsl_fail(tesela_status status, const char *format, ...) {
  char text[SENTENCE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  const size_t length = format_sentence(text, format, arguments);
  va_end(arguments);
  memcpy(sentence, text, length + 1);
  return status;
}

tesela_status tsl_fail_in(tesela_status status, const char *format, ...) {
  char text[SENTENCE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  size_t length = format_sentence(text, format, arguments);
  va_end(arguments);
  const char *const parts[] = {": ", sentence};
  bool cut = false;
  for (int i = 0; i < 2; i++) {
    const size_t space = SENTENCE_SIZE - 1 - length, wanted = strlen(parts[i]);
    const size_t count = wanted < space ? wanted : space;
    cut = cut || count < wanted;
    memcpy(text + length, parts[i], count);
    length += count;
    text[length] = '\0';
  }
  if (cut)
    drop_partial_character(text);
  memcpy(sentence, text, strlen(text) + 1);
  return status;
}

void tsl_status_save(tsl_status_saved *saved) {
  memcpy(saved->sentence, sentence, SENTENCE_SIZE);
}

void tsl_status_restore(const tsl_status_saved *saved) {
  memcpy(sentence, saved->sentence, SENTENCE_SIZE);
}

/* The compiler's log, one a thread, on the heap because it may be long. The key's destructor frees it when
 * its thread ends. */
static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static pthread_key_t log_key;
static atomic_bool log_usable;

static void make_log_key(void) {
  atomic_store(&log_usable, pthread_key_create(&log_key, free) == 0);
}

/* Runs when the process ends, for the main thread's log, and when the library is unloaded, after which no
 * thread may call a destructor that was registered here. */
__attribute__((destructor)) static void forget_logs(void) {
  if (!atomic_exchange(&log_usable, false))
    return;
  free(pthread_getspecific(log_key));
  pthread_key_delete(log_key);
}

void tsl_status_keep_log(const char *log) {
  const int saved_errno = errno;
  pthread_once(&log_once, make_log_key);
  if (atomic_load(&log_usable)) {
    char *old = pthread_getspecific(log_key);
    char *copy = log ? strdup(log) : NULL;
    if (pthread_setspecific(log_key, copy) == 0)
      free(old);
    else
      free(copy);
  }
  errno = saved_errno;
}

const char *tesela_last_log(void) {
  const char *log = atomic_load(&log_usable) ? pthread_getspecific(log_key) : NULL;
  return log ? log : "";
}
