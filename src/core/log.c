#include "core/log.h"

#include "core/env.h"
#include "core/list_text.h"
#include "core/locale.h"
#include "core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define ALL_TOPICS ((unsigned)TSL_LOG_NOT_READ - 1)

static const char *const topics[] = {TSL_LOG_LIST(TSL_LIST_TEXT)};

atomic_uint tsl_log_wanted = TSL_LOG_NOT_READ;

/* Writes a line to stderr by one write(), so that lines of threads do not mix; drops it on errors. */
static void write_line(const tsl_text *line) {
  if (line->failed)
    return;
  const char *at = line->data;
  size_t left = line->length;
  while (left > 0) {
    const ssize_t count = write(STDERR_FILENO, at, left);
    if (count < 0 && errno != EINTR)
      return;
    if (count > 0) {
      at += count;
      left -= (size_t)count;
    }
  }
}

static unsigned bits_of_topic(const char *name, size_t length) {
  if (length == strlen("all") && memcmp(name, "all", length) == 0)
    return ALL_TOPICS;
  for (unsigned i = 0; i < TSL_LOG_COUNT; i++)
    if (strlen(topics[i]) == length && memcmp(topics[i], name, length) == 0)
      return 1u << i;
  return 0;
}

static void log_unknown_topic(const char *name, size_t length) {
  tsl_text line = {0};
  tsl_text_add(&line, "tesela: TESELA_LOG names no topic: \"");
  tsl_text_add_bytes(&line, name, length);
  tsl_text_add(&line, "\"; topics are");
  for (int i = 0; i < TSL_LOG_COUNT; i++)
    tsl_text_add(&line, " %s,", topics[i]);
  tsl_text_add(&line, " all\n");
  write_line(&line);
  tsl_text_free(&line);
}

static unsigned read_topics_of_env(void) {
  unsigned bits = 0;
  const char *at = tsl_env_get(TSL_ENV_LOG);
  for (;;) {
    at += strspn(at, ", ");
    const size_t length = strcspn(at, ", ");
    if (length == 0)
      return bits;
    const unsigned bit = bits_of_topic(at, length);
    if (!bit)
      log_unknown_topic(at, length);
    bits |= bit;
    at += length;
  }
}

void tsl_log_reload(void) {
  const int saved_errno = errno;
  atomic_store_explicit(&tsl_log_wanted, read_topics_of_env(), memory_order_relaxed);
  errno = saved_errno;
}

void tsl_log_mute(tsl_log_topic topic) {
  (void)tsl_log_wants(topic);
  atomic_fetch_and_explicit(&tsl_log_wanted, ~(1u << topic), memory_order_relaxed);
}

unsigned tsl_log_read(void) {
  tsl_log_reload();
  return atomic_load_explicit(&tsl_log_wanted, memory_order_relaxed);
}

void tsl_log(tsl_log_topic topic, const char *format, ...) {
  if (!tsl_log_wants(topic))
    return;
  const int saved_errno = errno;
  tsl_text line = {0};
  tsl_text_add(&line, "tesela %s: ", topics[topic]);
  va_list arguments;
  va_start(arguments, format);
  tsl_text_add_arguments(&line, format, arguments);
  va_end(arguments);
  for (size_t i = 0; !line.failed && i < line.length; i++)
    if (line.data[i] == '\n' || line.data[i] == '\r')
      line.data[i] = ' ';
  tsl_text_add(&line, "\n");
  write_line(&line);
  tsl_text_free(&line);
  errno = saved_errno;
}
