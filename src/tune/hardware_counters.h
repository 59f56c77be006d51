/* Hardware counters of all threads of this process, by Linux's perf_event_open(). */
#ifndef TSL_TUNE_HARDWARE_COUNTERS_H
#define TSL_TUNE_HARDWARE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, name) */
#define TSL_HARDWARE_LIST(X)                                                                                 \
  X(INSTRUCTIONS, instructions)                                                                              \
  X(CYCLES, cycles)                                                                                          \
  X(LOADS, loads)                 /* of the first-level data cache */                                        \
  X(LEVEL1_MISSES, level1_misses) /* of these loads */                                                       \
  X(LAST_MISSES, last_misses)     /* accesses that the last cache does not have */                           \
  X(OPERATIONS, operations)       /* of floating-point numbers, two for a multiply-add; Intel and AMD */

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

/* System calls of one counter, for tests. Files are as those of perf_event_open(). */
typedef struct tsl_hardware_system {
  int (*open)(int thread, uint32_t type, uint64_t config); /* -1, with errno: refused */
  void (*control)(int file, unsigned long request);
  /* Reads value, nanoseconds enabled and nanoseconds running; false: failed. */
  bool (*read)(int file, uint64_t values[3]);
  void (*close)(int file);
  const char *vendor; /* as in /proc/cpuinfo, "GenuineIntel" */
} tsl_hardware_system;

/* Opens the counters of the threads that exist now. Returns NULL, with a sentence in `why`, where the system
 * has none. `system` is NULL for Linux itself. Close with tsl_hardware_close(). */
tsl_hardware_counters *tsl_hardware_open(const tsl_hardware_system *system, char *why, size_t size);
void tsl_hardware_close(tsl_hardware_counters *counters); /* NULL: nothing */
/* Sets all counters to zero and starts them. */
void tsl_hardware_start(tsl_hardware_counters *counters);
/* Stops the counters and returns their sums over all threads, estimated where events shared a counter. */
tsl_hardware_counts tsl_hardware_stop(tsl_hardware_counters *counters);

#endif
