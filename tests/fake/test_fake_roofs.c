/* Roofs of a device that fails on demand: each failing call's sentence is returned, no object is
 * left, and the caller's struct is unchanged. */
#include "unit/unit.h"

#include <string.h>

#include "core/status.h"
#include "fake/fake.h"
#include "tune/roofs.h"

static tesela_status measure(tsl_roofs *roofs) {
  const tsl_roofs_options options = {.seconds = 0.01, .bytes = (size_t)2 << 20};
  tsl_devices *devices = NULL;
  tsl_device *device;
  tesela_status status = tsl_devices_create(&devices);
  if (status == TESELA_OK)
    status = tsl_devices_find(devices, "fake:0", &device);
  if (status == TESELA_OK)
    status = tsl_roofs_measure(device, &options, roofs);
  tsl_devices_destroy(devices);
  return status;
}

/* The first calls, and some later ones; there are hundreds of launches. */
static void fail_at(tesela_fake_operation operation, int nth) {
  tsl_roofs roofs = {.bytes = 77};
  tesela_fake_reset();
  tesela_fake_fail(operation, nth);
  const tesela_status status = measure(&roofs);
  assert_string_equal(tesela_fake_live_text(), "");
  if (tesela_fake_failures() == 0) {
    assert_int_equal(status, TESELA_OK);
    return;
  }
  assert_int_equal(status, tesela_fake_status(operation));
  assert_ptr_equal(strstr(tesela_last_error(), "fake:0: "), tesela_last_error());
  assert_non_null(strstr(tesela_last_error(), "on demand"));
  assert_int_equal(roofs.bytes, 77);
}

static void test_over_opencl(void **state) {
  (void)state;
  static const int nth[] = {1, 2, 3, 4, 5, 6, 9, 14, 23, 40};
  int reached = 0;
  tesela_fake_inner("opencl:0");
  for (int operation = 0; operation < TESELA_FAKE_CALLS; operation++)
    for (size_t i = 0; i < sizeof nth / sizeof *nth; i++) {
      fail_at((tesela_fake_operation)operation, nth[i]);
      reached += tesela_fake_failures();
      if (tesela_fake_failures() == 0)
        break;
    }
  tesela_fake_reset();
  assert_true(reached > 40);
}

static void test_without_failures(void **state) {
  (void)state;
  static const char *const inner[] = {"opencl:0", "cpu"};
  for (int i = 0; i < 2; i++) {
    tsl_roofs roofs;
    tesela_fake_inner(inner[i]);
    tesela_fake_reset();
    assert_int_equal(measure(&roofs), TESELA_OK);
    assert_true(roofs.roof[TSL_ROOF_COPY].rate > 0 && roofs.roof[TSL_ROOF_FMA_F32].rate > 0);
    assert_string_equal(tesela_fake_live_text(), "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_without_failures),
      cmocka_unit_test(test_over_opencl),
  };
  tesela_fake_install();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
