/* Hardware counters of all threads of this process, by Linux's perf_event_open(). */
#ifndef TSL_TUNE_HARDWARE_COUNTERS_H
#define TSL_TUNE_HARDWARE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, name). No event of this list counts multiply-adds: their numbers differ by processor. */
#define TSL_HARDWARE_LIST(X)                                                                                 \
  X(INSTRUCTIONS, instructions)                                                                              \
  X(CYCLES, cycles)                                                                                          \
  X(LOADS, loads)                 /* of the first-level data cache */                                        \
  X(LEVEL1_MISSES, level1_misses) /* of these loads */                                                       \
  X(LAST_MISSES, last_misses)     /* accesses that the last cache does not have */

typedef enum tsl_hardware_event {
#define TSL_HARDWARE_MEMBER(name, text) TSL_HARDWARE_##name,
  TSL_HARDWARE_LIST(TSL_HARDWARE_MEMBER)
#undef TSL_HARDWARE_MEMBER
      TSL_HARDWARE_COUNT
} tsl_hardware_event;
const char *tsl_hardware_event_name(tsl_hardware_event event);

/* Counts of a run; NaN: the system does not count the event. */
typedef struct tsl_hardware_counts {
  double value[TSL_HARDWARE_COUNT];
} tsl_hardware_counts;
extern const tsl_hardware_counts tsl_hardware_uncounted;

typedef struct tsl_hardware_counters tsl_hardware_counters;

/* Opens the counters of the threads that exist now. Returns NULL, with a sentence in `why`, where the system
 * has none. Close with tsl_hardware_close(). */
tsl_hardware_counters *tsl_hardware_open(char *why, size_t size);
void tsl_hardware_close(tsl_hardware_counters *counters); /* NULL: nothing */
/* Sets all counters to zero and starts them. */
void tsl_hardware_start(tsl_hardware_counters *counters);
/* Stops the counters and returns their sums over all threads, estimated where events shared a counter. */
tsl_hardware_counts tsl_hardware_stop(tsl_hardware_counters *counters);

#endif
