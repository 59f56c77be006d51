/* Facts about the processor from Linux's files: its last cache and its present clock. */
#include "unit/unit.h"

#include "core/processor.h"
#include "device/devices.h"
#include "scratch.h"
#include "unit/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void cache(const scratch *s, int processor, int index, const char *level, const char *size,
                  const char *shared_by) {
  const char *const files[] = {"level", level, "size", size, "shared_cpu_list", shared_by};
  for (int i = 0; i < 6; i += 2) {
    char name[128];
    snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/cache/index%d/%s", processor, index, files[i]);
    scratch_write(s, name, files[i + 1]);
  }
}

/* Two parts of a last level, each of two processors; the other levels do not count. */
static void the_last_level_counts_once_a_part(void **state) {
  scratch s;
  (void)state;
  scratch_create(&s);
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 0);
  for (int processor = 0; processor < 4; processor++) {
    char own[16];
    snprintf(own, sizeof own, "%d\n", processor + (processor > 1));
    cache(&s, processor + (processor > 1), 0, "1\n", "32K\n", own); /* processor 2 is offline */
    cache(&s, processor + (processor > 1), 1, "1\n", "32K\n", own);
    cache(&s, processor + (processor > 1), 2, "2\n", "1M\n", own);
    cache(&s, processor + (processor > 1), 3, "3\n", "16384K\n", processor < 2 ? "0-1\n" : "3-4\n");
  }
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 2 * 16384 * 1024);
  cache(&s, 5, 0, "1\n", "64K\n", "5\n"); /* a small core, whose last level is its first */
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 2 * 16384 * 1024 + 64 * 1024);
  cache(&s, 6, 0, "one\n", "64K\n", "6\n");
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 2 * 16384 * 1024 + 64 * 1024);
  scratch_write(&s, "sys/devices/system/cpu/possible", "0-4\n"); /* excludes the small core */
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 2 * 16384 * 1024);
  scratch_write(&s, "sys/devices/system/cpu/possible", "0-1,3-5\n");
  assert_int_equal(tsl_processor_last_caches_at(s.folder), 2 * 16384 * 1024 + 64 * 1024);
  scratch_remove(&s);
}

/* Records and compiled kernels of one generation are not good for another that hides behind the same name. */
static void designs_with_one_name_differ(void **state) {
  scratch s;
  char model[32];
  (void)state;
  scratch_create(&s);
  tsl_processor_model_at(s.folder, model, sizeof model);
  assert_string_equal(model, "");
  scratch_write(&s, "proc/cpuinfo", "cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n");
  tsl_processor_model_at(s.folder, model, sizeof model);
  assert_string_equal(model, "26.2");
  scratch_write(&s, "proc/cpuinfo", "cpu family\t: 25\nmodel name\t: AMD EPYC\nmodel\t\t: 17\n");
  tsl_processor_model_at(s.folder, model, sizeof model);
  assert_string_equal(model, "25.17");
  scratch_write(&s, "proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  tsl_processor_model_at(s.folder, model, sizeof model);
  assert_string_equal(model, "");
  scratch_remove(&s);
}

/* The keys of this machine's processor and of its OpenCL device end with it. */
static void keys_tell_the_design(void **state) {
  char model[32];
  tsl_devices *devices;
  tsl_device *device;
  (void)state;
  tsl_processor_model_at("", model, sizeof model);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  for (int i = 0; (device = tsl_devices_at(devices, i)); i++)
    if (device->is_cpu && !strstr(device->key, model))
      fail_msg("%s: %s does not tell %s", device->name, device->key, model);
  tsl_devices_destroy(devices);
}

/* TESELA_LAST_CACHE overrides the system's size of the last cache: for the cpu device and for
 * OpenCL. */
static void the_last_cache_may_be_told(void **state) {
  static const char *const wrong[] = {"0", "much", "-3MiB"};
  const char *before = getenv("TESELA_LAST_CACHE");
  tsl_devices *devices;
  tsl_device *device;
  int told = 0;
  (void)state;
  setenv("TESELA_LAST_CACHE", "3MiB", 1);
  must(tsl_devices_create(&devices));
  for (int i = 0; (device = tsl_devices_at(devices, i)); i++)
    if (device->is_cpu) {
      assert_int_equal(device->cache_bytes, 3 << 20);
      told++;
    }
  assert_true(told >= 2);
  tsl_devices_destroy(devices);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("TESELA_LAST_CACHE", wrong[i], 1);
    assert_int_equal(tsl_devices_create(&devices), TESELA_BAD_CALL);
    assert_non_null(strstr(tesela_last_error(), "TESELA_LAST_CACHE"));
  }
  if (before)
    setenv("TESELA_LAST_CACHE", before, 1);
  else
    unsetenv("TESELA_LAST_CACHE");
}

static void the_fastest_core_is_the_clock(void **state) {
  scratch s;
  (void)state;
  scratch_create(&s);
  assert_int_equal(tsl_processor_mhz_at(s.folder), 0);
  scratch_write(&s, "proc/cpuinfo",
                "processor : 0\ncpu MHz\t\t: 2596.6\n\nprocessor : 1\ncpu MHz\t\t: 1200.0\n");
  assert_int_equal(tsl_processor_mhz_at(s.folder), 2597);
  scratch_write(&s, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
  scratch_write(&s, "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "3700123\n");
  scratch_write(&s, "sys/devices/system/cpu/cpu4/cpufreq/scaling_cur_freq", "unknown\n");
  assert_int_equal(tsl_processor_mhz_at(s.folder), 3700);
  scratch_remove(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_level_counts_once_a_part),
      cmocka_unit_test(designs_with_one_name_differ),
      cmocka_unit_test(keys_tell_the_design),
      cmocka_unit_test(the_last_cache_may_be_told),
      cmocka_unit_test(the_fastest_core_is_the_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
