/* The cuda kind where there is no CUDA: a reason that people can read, and nothing else. Needs no GPU; what
 * does is in tests/cuda. */

#include "unit/unit.h"

#include "core/status.h"
#include "device/devices.h"

#include <stdlib.h>
#include <string.h>

/* The sentence that says why there is no CUDA device when `variable` is set to `value`. */
static const char *reason_with(const char *variable, const char *value, tsl_devices **devices) {
  const char *name = "", *what = "", *why = "";
  int count = -1, kind = -1;
  assert_int_equal(setenv(variable, value, 1), 0);
  assert_int_equal(tsl_devices_create(devices), TESELA_OK);
  for (int i = 0; i < tsl_device_kind_count(); i++) {
    assert_int_equal(tsl_devices_kind(*devices, i, &name, &what, &count, &why), TESELA_OK);
    if (strcmp(name, "cuda") == 0) {
      kind = i;
      break;
    }
  }
  assert_true(kind >= 0);
  assert_int_equal(count, 0);
  assert_true(strlen(what) > 0 && strlen(why) > 0);
  print_message("  %s=%s: %s\n", variable, value, why);
  unsetenv(variable);
  return why;
}

static void none_means_none(void **state) {
  (void)state;
  tsl_devices *devices = NULL;
  tsl_device *device = NULL;
  const char *why = reason_with("TESELA_CUDA", "none", &devices);
  assert_non_null(strstr(why, "CUDA"));
  assert_int_equal(tsl_devices_find(devices, "cuda:0", &device), TESELA_NO_DEVICE);
  assert_null(device);
  assert_non_null(strstr(tesela_last_error(), "CUDA"));
  tsl_devices_destroy(devices);
}

static void missing_driver_is_named(void **state) {
  (void)state;
  tsl_devices *devices = NULL;
  assert_non_null(
      strstr(reason_with("TESELA_CUDA", "/nowhere/libcuda.so.1", &devices), "/nowhere/libcuda.so.1"));
  tsl_devices_destroy(devices);
}

static void other_library_is_refused(void **state) {
  (void)state;
  tsl_devices *devices = NULL;
  assert_non_null(strstr(reason_with("TESELA_CUDA", "libm.so.6", &devices), "libm.so.6"));
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_means_none),
      cmocka_unit_test(missing_driver_is_named),
      cmocka_unit_test(other_library_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
