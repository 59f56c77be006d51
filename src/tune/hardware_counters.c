#include "tune/hardware_counters.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const char *const event_names[] = {
#define TSL_HARDWARE_NAME(name, text) [TSL_HARDWARE_##name] = #text,
    TSL_HARDWARE_LIST(TSL_HARDWARE_NAME)
#undef TSL_HARDWARE_NAME
};

const char *tsl_hardware_event_name(tsl_hardware_event event) {
  return event_names[event];
}

const tsl_hardware_counts tsl_hardware_uncounted = {{NAN, NAN, NAN, NAN, NAN}};

#ifdef __linux__

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

struct tsl_hardware_counters {
  int files[THREADS_MAX][TSL_HARDWARE_COUNT]; /* -1: not counted */
  int threads;
};

#define LEVEL1_READ(result)                                                                                  \
  PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16
static const struct {
  uint32_t type;
  uint64_t config;
} events[TSL_HARDWARE_COUNT] = {
    [TSL_HARDWARE_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [TSL_HARDWARE_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [TSL_HARDWARE_LOADS] = {PERF_TYPE_HW_CACHE, LEVEL1_READ(ACCESS)},
    [TSL_HARDWARE_LEVEL1_MISSES] = {PERF_TYPE_HW_CACHE, LEVEL1_READ(MISS)},
    [TSL_HARDWARE_LAST_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

static int open_event(int thread, int event) {
  struct perf_event_attr attributes = {.type = events[event].type,
                                       .size = sizeof attributes,
                                       .config = events[event].config,
                                       .disabled = 1,
                                       .exclude_kernel = 1, /* others need rights */
                                       .exclude_hv = 1,
                                       .read_format =
                                           PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
  return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens all events of a thread; returns the number of events that are counted. */
static int open_thread(tsl_hardware_counters *counters, int thread) {
  int *files = counters->files[counters->threads++], counted = 0;
  for (int event = 0; event < TSL_HARDWARE_COUNT; event++) {
    files[event] = open_event(thread, event);
    counted += files[event] >= 0;
  }
  return counted;
}

tsl_hardware_counters *tsl_hardware_open(char *why, size_t size) {
  tsl_hardware_counters *counters = calloc(1, sizeof *counters);
  DIR *folder = opendir("/proc/self/task");
  const struct dirent *entry;
  int counted = 0;
  *why = '\0';
  while (counters && folder && counters->threads < THREADS_MAX && (entry = readdir(folder)) != NULL)
    if (entry->d_name[0] != '.')
      counted += open_thread(counters, atoi(entry->d_name));
  if (counted == 0) {
    const int error = errno;
    snprintf(why, size, "the system gives no hardware counters (perf_event_open: %s)",
             error == ENOENT || error == EOPNOTSUPP ? "the processor, or the virtual machine, has none"
             : error == EACCES || error == EPERM    ? "not allowed; see /proc/sys/kernel/perf_event_paranoid"
                                                    : strerror(error));
    tsl_hardware_close(counters);
    counters = NULL;
  }
  if (folder)
    closedir(folder);
  return counters;
}

void tsl_hardware_close(tsl_hardware_counters *counters) {
  for (int thread = 0; counters && thread < counters->threads; thread++)
    for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
      if (counters->files[thread][event] >= 0)
        close(counters->files[thread][event]);
  free(counters);
}

static void control_all(const tsl_hardware_counters *counters, unsigned long request) {
  for (int thread = 0; thread < counters->threads; thread++)
    for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
      if (counters->files[thread][event] >= 0)
        (void)ioctl(counters->files[thread][event], request, 0);
}

void tsl_hardware_start(tsl_hardware_counters *counters) {
  control_all(counters, PERF_EVENT_IOC_RESET);
  control_all(counters, PERF_EVENT_IOC_ENABLE);
}

/* Returns a counter's value, scaled to the whole time if it ran for a part of it; NaN: unknown. */
static double read_counter(int file) {
  uint64_t read_values[3]; /* value, time enabled, time running */
  if (file < 0 || read(file, read_values, sizeof read_values) != sizeof read_values)
    return NAN;
  return read_values[2] == 0 ? 0 : (double)read_values[0] * ((double)read_values[1] / (double)read_values[2]);
}

tsl_hardware_counts tsl_hardware_stop(tsl_hardware_counters *counters) {
  tsl_hardware_counts sums = {{0}};
  control_all(counters, PERF_EVENT_IOC_DISABLE);
  for (int thread = 0; thread < counters->threads; thread++)
    for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
      sums.value[event] += read_counter(counters->files[thread][event]);
  return sums;
}

#else

tsl_hardware_counters *tsl_hardware_open(char *why, size_t size) {
  snprintf(why, size, "hardware counters are read on Linux only");
  return NULL;
}

void tsl_hardware_close(tsl_hardware_counters *counters) {
  (void)counters;
}

void tsl_hardware_start(tsl_hardware_counters *counters) {
  (void)counters;
}

tsl_hardware_counts tsl_hardware_stop(tsl_hardware_counters *counters) {
  (void)counters;
  return tsl_hardware_uncounted;
}

#endif
