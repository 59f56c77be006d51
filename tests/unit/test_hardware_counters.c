/* Hardware counters: a loop is counted, or the system tells why not. On a recorded system the values are sums
 * over threads, scaled where counters shared a register. */
#include "unit/unit.h"

#include "tune/hardware_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

static void a_loop_is_counted(void **state) {
  (void)state;
  char why[128];
  volatile double sum = 0;
  tsl_hardware_counters *counters = tsl_hardware_open(NULL, why, sizeof why);
  if (!counters) {
    assert_true(strlen(why) > 10);
    print_message("  %s\n", why);
    return;
  }
  assert_string_equal(why, "");
  for (int run = 0; run < 2; run++) {
    tsl_hardware_start(counters);
    for (int i = 0; i < 1000000; i++)
      sum += i;
    const tsl_hardware_counts counts = tsl_hardware_stop(counters);
    bool any = false;
    for (int event = 0; event < TSL_HARDWARE_COUNT; event++) {
      print_message("  %s %g\n", tsl_hardware_event_name((tsl_hardware_event)event), counts.value[event]);
      any |= !isnan(counts.value[event]);
    }
    assert_true(any);
    const double instructions = counts.value[TSL_HARDWARE_INSTRUCTIONS];
    assert_true(isnan(instructions) || (instructions > 1e6 && instructions < 1e8)); /* no sum of both runs */
  }
  tsl_hardware_close(counters);
}

/* A recorded system: the file of an event is its row. */
static const struct {
  uint32_t type;
  uint64_t config;
  uint64_t values[3]; /* value, nanoseconds enabled, nanoseconds running */
} recorded[] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, {8000, 100, 100}},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, {1000, 100, 25}}, /* a quarter of the time */
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, {0, 100, 0}},   /* never had a register */
    {PERF_TYPE_RAW, 0x03c7, {10, 100, 100}},
    {PERF_TYPE_RAW, 0x04c7, {0, 0, 0}}, /* the thread did not run */
    {PERF_TYPE_RAW, 0x18c7, {30, 100, 50}},
    {PERF_TYPE_RAW, 0x60c7, {100, 100, 100}},
    {PERF_TYPE_RAW, 0x80c7, {7, 100, 100}},
    {PERF_TYPE_RAW, 0x1f03, {5, 100, 100}},
};
static int opened, closed, started, stopped, reset;

static int recorded_open(int thread, uint32_t type, uint64_t config) {
  assert_true(thread > 0);
  for (int i = 0; i < (int)(sizeof recorded / sizeof *recorded); i++)
    if (recorded[i].type == type && recorded[i].config == config)
      return opened++, i;
  errno = ENOENT; /* loads and their misses are refused */
  return -1;
}

static int nothing_open(int thread, uint32_t type, uint64_t config) {
  (void)thread, (void)type, (void)config;
  errno = EACCES;
  return -1;
}

static void recorded_control(int file, unsigned long request) {
  assert_true(file >= 0);
  started += request == PERF_EVENT_IOC_ENABLE;
  stopped += request == PERF_EVENT_IOC_DISABLE;
  reset += request == PERF_EVENT_IOC_RESET;
}

static bool recorded_read(int file, uint64_t values[3]) {
  memcpy(values, recorded[file].values, sizeof recorded[file].values);
  return true;
}

static void recorded_close(int file) {
  assert_true(file >= 0);
  closed++;
}

static tsl_hardware_counts count_as(const char *vendor) {
  const tsl_hardware_system system = {recorded_open, recorded_control, recorded_read, recorded_close, vendor};
  char why[128];
  opened = closed = started = stopped = reset = 0;
  tsl_hardware_counters *counters = tsl_hardware_open(&system, why, sizeof why);
  assert_non_null(counters);
  assert_string_equal(why, "");
  tsl_hardware_start(counters);
  const tsl_hardware_counts counts = tsl_hardware_stop(counters);
  tsl_hardware_close(counters);
  assert_int_equal(closed, opened);
  assert_int_equal(started, opened);
  assert_int_equal(stopped, opened);
  assert_int_equal(reset, opened);
  return counts;
}

static void values_are_scaled_and_added(void **state) {
  (void)state;
  tsl_hardware_counts counts = count_as("GenuineIntel");
  const double threads = counts.value[TSL_HARDWARE_INSTRUCTIONS] / 8000; /* of this process */
  assert_true(threads >= 1 && threads == floor(threads));
  assert_true(counts.value[TSL_HARDWARE_CYCLES] == 4000 * threads);
  assert_true(isnan(counts.value[TSL_HARDWARE_LOADS])); /* refused */
  assert_true(isnan(counts.value[TSL_HARDWARE_LEVEL1_MISSES]));
  assert_true(isnan(counts.value[TSL_HARDWARE_LAST_MISSES]));
  assert_true(counts.value[TSL_HARDWARE_OPERATIONS] == threads * (10 + 4 * 60 + 8 * 100 + 16 * 7));
  counts = count_as("AuthenticAMD");
  assert_true(counts.value[TSL_HARDWARE_OPERATIONS] == threads * 5);
  counts = count_as("other");
  assert_true(isnan(counts.value[TSL_HARDWARE_OPERATIONS]));
}

static void a_refusal_has_a_reason(void **state) {
  (void)state;
  const tsl_hardware_system system = {nothing_open, recorded_control, recorded_read, recorded_close, ""};
  char why[128];
  assert_null(tsl_hardware_open(&system, why, sizeof why));
  assert_non_null(strstr(why, "not allowed; see /proc/sys/kernel/perf_event_paranoid"));
}

static void nothing_is_closed(void **state) {
  (void)state;
  tsl_hardware_close(NULL);
  for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
    assert_true(isnan(tsl_hardware_uncounted.value[event]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_loop_is_counted), cmocka_unit_test(values_are_scaled_and_added),
      cmocka_unit_test(a_refusal_has_a_reason), cmocka_unit_test(nothing_is_closed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
