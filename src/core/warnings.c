#include "core/warnings.h"

#include "core/fork_mutex.h"
#include "core/locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tsl_fork_mutex lock;
static struct {
  char sentence[TSL_NOTICE_BYTES];
  bool logged;
} notices[TSL_NOTICES_MAX];
static int notice_count;

static void init_notices_lock(void) {
  tsl_fork_mutex_init(&lock);
}

/* Stores a new message while there is space; returns true if it is new. The caller holds the lock. */
static bool store_if_new(const char *sentence, bool logged) {
  for (int i = 0; i < notice_count; i++)
    if (strcmp(notices[i].sentence, sentence) == 0)
      return false;
  if (notice_count < TSL_NOTICES_MAX) {
    snprintf(notices[notice_count].sentence, TSL_NOTICE_BYTES, "%s", sentence);
    notices[notice_count++].logged = logged;
  }
  return true;
}

void tsl_notice(tsl_log_topic topic, const char *format, ...) {
  char sentence[TSL_NOTICE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  tsl_locale_format(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  pthread_once(&once, init_notices_lock);
  tsl_fork_mutex_lock(&lock);
  const bool is_new = store_if_new(sentence, tsl_log_wants(topic));
  tsl_fork_mutex_unlock(&lock);
  if (is_new)
    tsl_log(topic, "%s", sentence);
}

bool tsl_notice_at(int index, char sentence[TSL_NOTICE_BYTES], bool *logged) {
  pthread_once(&once, init_notices_lock);
  tsl_fork_mutex_lock(&lock);
  const bool exists = index >= 0 && index < notice_count;
  if (exists) {
    memcpy(sentence, notices[index].sentence, TSL_NOTICE_BYTES);
    *logged = notices[index].logged;
  }
  tsl_fork_mutex_unlock(&lock);
  return exists;
}
