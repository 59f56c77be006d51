/* Log on stderr, silent unless TESELA_LOG names a topic. Each event is one line: "tesela plan: ...". */
#ifndef TSL_CORE_LOG_H
#define TSL_CORE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#define TSL_LOG_LIST(X) X(PLAN, "plan") X(CALLS, "calls") X(CACHE, "cache") X(DEVICE, "device")

typedef enum tsl_log_topic {
#define TSL_LOG_MEMBER(name, text) TSL_LOG_##name,
  TSL_LOG_LIST(TSL_LOG_MEMBER)
#undef TSL_LOG_MEMBER
      TSL_LOG_COUNT
} tsl_log_topic;

/* Returns true if the topic is logged; costs one load. TESELA_LOG is read once, at first use. */
static inline bool tsl_log_wants(tsl_log_topic topic);
/* Logs one line if the topic is enabled. */
void tsl_log(tsl_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reads TESELA_LOG again, for tests. */
void tsl_log_reload(void);
/* Disables a topic, for a caller that reports the topic's events in another way. */
void tsl_log_mute(tsl_log_topic topic);

/* One bit for each enabled topic, or TSL_LOG_NOT_READ. Only for tsl_log_wants(). */
enum { TSL_LOG_NOT_READ = 1 << TSL_LOG_COUNT };
extern atomic_uint tsl_log_wanted;
unsigned tsl_log_read(void);
static inline bool tsl_log_wants(tsl_log_topic topic) {
  unsigned bits = atomic_load_explicit(&tsl_log_wanted, memory_order_relaxed);
  if (bits == TSL_LOG_NOT_READ)
    bits = tsl_log_read();
  return (bits >> topic & 1u) != 0;
}
/* Returns true if the topic may be enabled, also before TESELA_LOG is read; no function call. */
static inline bool tsl_log_may_want(tsl_log_topic topic) {
  return (atomic_load_explicit(&tsl_log_wanted, memory_order_relaxed) & (1u << topic | TSL_LOG_NOT_READ)) !=
         0;
}

#endif
