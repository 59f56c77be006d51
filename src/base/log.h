/* The log: silent unless TESELA_LOG names a topic. One line an event, on stderr, "tesela plan: ...". */
#ifndef TSL_BASE_LOG_H
#define TSL_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#define TSL_LOG_LIST(X) X(PLAN, "plan") X(CALLS, "calls") X(CACHE, "cache") X(DEVICE, "device")

typedef enum tsl_log_topic {
#define TSL_LOG_MEMBER(name, text) TSL_LOG_##name,
  TSL_LOG_LIST(TSL_LOG_MEMBER)
#undef TSL_LOG_MEMBER
      TSL_LOG_COUNT
} tsl_log_topic;

/* Whether anybody listens: ask before building an expensive line. Costs one load. TESELA_LOG is read once, at
 * first use, when topics that do not exist are told on stderr; tsl_log_reload() reads it again (tests). */
static inline bool tsl_log_wants(tsl_log_topic topic);
void tsl_log(tsl_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_log_reload(void);
/* No more lines of this topic: who reports it in another way asks tsl_log_wants() first. */
void tsl_log_mute(tsl_log_topic topic);

/* One bit a topic, or TSL_LOG_NOT_READ. Here for tsl_log_wants() alone. */
enum { TSL_LOG_NOT_READ = 1 << TSL_LOG_COUNT };
extern atomic_uint tsl_log_wanted;
unsigned tsl_log_read(void);
static inline bool tsl_log_wants(tsl_log_topic topic) {
  unsigned bits = atomic_load_explicit(&tsl_log_wanted, memory_order_relaxed);
  if (bits == TSL_LOG_NOT_READ)
    bits = tsl_log_read();
  return (bits >> topic & 1u) != 0;
}
/* The same where nothing may be called: true as long as TESELA_LOG was not read, too. */
static inline bool tsl_log_may_want(tsl_log_topic topic) {
  return (atomic_load_explicit(&tsl_log_wanted, memory_order_relaxed) & (1u << topic | TSL_LOG_NOT_READ)) !=
         0;
}

#endif
