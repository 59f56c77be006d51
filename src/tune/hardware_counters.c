#include "tune/hardware_counters.h"

#include "core/list_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const char *const event_names[] = {TSL_HARDWARE_LIST(TSL_LIST_WORD)};

const char *tsl_hardware_event_name(tsl_hardware_event event) {
  return event_names[event];
}

const tsl_hardware_counts tsl_hardware_uncounted = {{NAN, NAN, NAN, NAN, NAN, NAN}};

#ifdef __linux__

#include "core/processor.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVEL1_READ(result)                                                                                  \
  PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16
/* Counters. The value of an event is the weighted sum of its counters on this vendor's processors (NULL: on
 * all). Raw numbers have an event and a mask. Intel's FP_ARITH_INST_RETIRED has a mask for each vector
 * length, and counts a multiply-add twice. AMD's event counts retired SSE and AVX operations. */
static const struct {
  tsl_hardware_event event;
  const char *vendor;
  uint32_t type;
  uint64_t config;
  double weight;
} counted[] = {
    {TSL_HARDWARE_INSTRUCTIONS, NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1},
    {TSL_HARDWARE_CYCLES, NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1},
    {TSL_HARDWARE_LOADS, NULL, PERF_TYPE_HW_CACHE, LEVEL1_READ(ACCESS), 1},
    {TSL_HARDWARE_LEVEL1_MISSES, NULL, PERF_TYPE_HW_CACHE, LEVEL1_READ(MISS), 1},
    {TSL_HARDWARE_LAST_MISSES, NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1},
    {TSL_HARDWARE_OPERATIONS, "GenuineIntel", PERF_TYPE_RAW, 0x03c7, 1}, /* scalars of both types */
    {TSL_HARDWARE_OPERATIONS, "GenuineIntel", PERF_TYPE_RAW, 0x04c7, 2},
    {TSL_HARDWARE_OPERATIONS, "GenuineIntel", PERF_TYPE_RAW, 0x18c7, 4}, /* 4 x f32 or 4 x f64 */
    {TSL_HARDWARE_OPERATIONS, "GenuineIntel", PERF_TYPE_RAW, 0x60c7, 8}, /* 8 x f32 or 8 x f64 */
    {TSL_HARDWARE_OPERATIONS, "GenuineIntel", PERF_TYPE_RAW, 0x80c7, 16},
    {TSL_HARDWARE_OPERATIONS, "AuthenticAMD", PERF_TYPE_RAW, 0x1f03, 1},
};
enum { THREADS_MAX = 256, COUNTED = sizeof counted / sizeof *counted };

struct tsl_hardware_counters {
  tsl_hardware_system system;
  int files[THREADS_MAX][COUNTED]; /* -1: not counted */
  int threads;
};

static int linux_open(int thread, uint32_t type, uint64_t config) {
  struct perf_event_attr attributes = {.type = type,
                                       .size = sizeof attributes,
                                       .config = config,
                                       .disabled = 1,
                                       .exclude_kernel = 1, /* others need rights */
                                       .exclude_hv = 1,
                                       .read_format =
                                           PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
  return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void linux_control(int file, unsigned long request) {
  (void)ioctl(file, request, 0);
}

static bool linux_read(int file, uint64_t values[3]) {
  const size_t bytes = 3 * sizeof *values;
  return read(file, values, bytes) == (ssize_t)bytes;
}

static void linux_close(int file) {
  close(file);
}

/* Opens all counters of a thread; returns how many there are. */
static int open_thread(tsl_hardware_counters *counters, int thread) {
  const tsl_hardware_system *system = &counters->system;
  int *files = counters->files[counters->threads++], opened = 0;
  for (int i = 0; i < COUNTED; i++) {
    const bool exists = !counted[i].vendor || strcmp(counted[i].vendor, system->vendor) == 0;
    files[i] = exists ? system->open(thread, counted[i].type, counted[i].config) : -1;
    opened += files[i] >= 0;
  }
  return opened;
}

tsl_hardware_counters *tsl_hardware_open(const tsl_hardware_system *system, char *why, size_t size) {
  char vendor[32] = "";
  tsl_hardware_counters *counters = calloc(1, sizeof *counters);
  DIR *folder = opendir("/proc/self/task");
  const struct dirent *entry;
  int opened = 0, error = 0;
  *why = '\0';
  tsl_processor_cpuinfo_at("", "vendor_id", vendor, sizeof vendor);
  if (counters)
    counters->system =
        system ? *system : (tsl_hardware_system){linux_open, linux_control, linux_read, linux_close, vendor};
  while (counters && folder && counters->threads < THREADS_MAX && (entry = readdir(folder)) != NULL)
    if (entry->d_name[0] != '.') {
      errno = 0;
      opened += open_thread(counters, atoi(entry->d_name));
      error = error ? error : errno;
    }
  if (opened == 0) {
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
    for (int i = 0; i < COUNTED; i++)
      if (counters->files[thread][i] >= 0)
        counters->system.close(counters->files[thread][i]);
  free(counters);
}

static void control_all(const tsl_hardware_counters *counters, unsigned long request) {
  for (int thread = 0; thread < counters->threads; thread++)
    for (int i = 0; i < COUNTED; i++)
      if (counters->files[thread][i] >= 0)
        counters->system.control(counters->files[thread][i], request);
}

void tsl_hardware_start(tsl_hardware_counters *counters) {
  control_all(counters, PERF_EVENT_IOC_RESET);
  control_all(counters, PERF_EVENT_IOC_ENABLE);
}

/* Returns a counter's value, scaled to the thread's whole time if it shared its register with others; NaN:
 * unknown, as where it never had one. */
static double read_counter(const tsl_hardware_system *system, int file) {
  uint64_t values[3]; /* value, nanoseconds enabled, nanoseconds running */
  if (file < 0 || !system->read(file, values))
    return NAN;
  return values[1] == 0   ? 0 /* the thread did not run */
         : values[2] == 0 ? NAN
                          : (double)values[0] * ((double)values[1] / (double)values[2]);
}

tsl_hardware_counts tsl_hardware_stop(tsl_hardware_counters *counters) {
  tsl_hardware_counts sums = tsl_hardware_uncounted;
  bool has_begun[TSL_HARDWARE_COUNT] = {false};
  control_all(counters, PERF_EVENT_IOC_DISABLE);
  for (int i = 0; i < COUNTED; i++) {
    double *sum = &sums.value[counted[i].event];
    if (counted[i].vendor && strcmp(counted[i].vendor, counters->system.vendor) != 0)
      continue;
    if (!has_begun[counted[i].event])
      *sum = 0;
    has_begun[counted[i].event] = true;
    for (int thread = 0; thread < counters->threads; thread++)
      *sum += counted[i].weight * read_counter(&counters->system, counters->files[thread][i]);
  }
  return sums;
}

#else

tsl_hardware_counters *tsl_hardware_open(const tsl_hardware_system *system, char *why, size_t size) {
  (void)system;
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
