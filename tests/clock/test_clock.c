/* The present clock of a device: a processor's from Linux, a GPU's from NVML, or the reason why nothing tells
 * it. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/processor.h"
#include "device/device_clock.h"

static void processors_ask_linux(void **state) {
  (void)state;
  char why[128];
  const tsl_device device = {.is_cpu = 1, .name = "cpu"};
  const int mhz = tsl_device_clock_now(&device, why, sizeof why);
  assert_true((mhz > 0) == (tsl_processor_mhz_at("") > 0));
  assert_true((mhz == 0) == (why[0] != '\0'));
}

static void gpus_ask_nvml(void **state) {
  (void)state;
  char why[128];
  tsl_device device = {.name = "cuda:0", .pci = "0000:3b:00.0"};
  assert_int_equal(tsl_device_clock_now(&device, why, sizeof why), 1755);
  assert_string_equal(why, "");
  assert_int_equal(tsl_device_temperature_now(&device, why, sizeof why), 64);
  assert_string_equal(why, "");
  snprintf(device.pci, sizeof device.pci, "0000:99:00.0");
  assert_int_equal(tsl_device_clock_now(&device, why, sizeof why), 0);
  assert_string_equal(why, "NVML finds no GPU at 0000:99:00.0: it returns 6");
}

static void others_say_why_not(void **state) {
  (void)state;
  char why[128];
  const tsl_device device = {.name = "opencl:3"};
  assert_int_equal(tsl_device_clock_now(&device, why, sizeof why), 0);
  assert_string_equal(why, "opencl:3 does not tell its place on the PCI bus");
}

/* The hottest of all zones, rounded to whole degrees; a zone without a number does not count. */
static void temperatures_of_processors(void **state) {
  static const char *const zones[] = {"41500\n", "61499\n", "unknown\n"};
  char root[] = "/tmp/thermalXXXXXX", path[128], why[128];
  (void)state;
  assert_non_null(mkdtemp(root));
  assert_int_equal(tsl_processor_celsius_at(root), 0);
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "mkdir -p %s/sys/class/thermal/thermal_zone%d", root, i);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/sys/class/thermal/thermal_zone%d/temp", root, i);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(zones[i], file);
    fclose(file);
  }
  assert_int_equal(tsl_processor_celsius_at(root), 61);
  snprintf(path, sizeof path, "rm -r %s", root);
  assert_int_equal(system(path), 0);
  const tsl_device device = {.is_cpu = 1, .name = "cpu"};
  const int celsius = tsl_device_temperature_now(&device, why, sizeof why);
  assert_true((celsius == 0) == (why[0] != '\0'));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(processors_ask_linux),
      cmocka_unit_test(gpus_ask_nvml),
      cmocka_unit_test(temperatures_of_processors),
      cmocka_unit_test(others_say_why_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
