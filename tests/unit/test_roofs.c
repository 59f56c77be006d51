/* Measured roofs: the results on every device of this machine; the effect of a broken clock, little
 * memory and a wrong kernel; and the parts: repeats, masks, the roofline. No time is asserted. */
#include "unit.h"

#include "core/status.h"
#include "device/devices.h"
#include "tune/roofs.h"
#include "tune/roofs/bench.h"
#include "unit/calls.h"

#include <math.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
static const tsl_roofs_options small = {.seconds = 0.05, .bytes = 8 * MIB};

static tsl_devices *devices;

/* --- devices --- */

static void test_every_device(void **state) {
  (void)state;
  tsl_device *device;
  int measured = 0;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++, measured++) {
    tsl_roofs roofs;
    const bool has_f64 = device->capabilities & TSL_CAN_F64;
    must(tsl_roofs_measure(device, &small, &roofs));
    for (int r = 0; r < TSL_ROOF_COUNT; r++) {
      const tsl_roof *roof = &roofs.roof[r];
      print_message("  %s %s: %.4g, spread %.3f, %d repeats\n", device->name,
                    tsl_roof_name_of((tsl_roof_name)r), roof->rate, roof->spread, roof->repeats);
      const bool is_near = r >= TSL_ROOF_LEVEL1 && r <= TSL_ROOF_LOCAL; /* where the device has it */
      if (isnan(roof->rate) && (is_near || (r == TSL_ROOF_FMA_F64 && !has_f64)))
        continue;
      assert_true(isfinite(roof->rate) && roof->rate > 0);
      assert_true(roof->spread >= 0);
      assert_true(roof->repeats >= 3);
    }
    assert_true(roofs.bytes > 7 * MIB && roofs.bytes <= 8 * MIB);
    assert_true(roofs.seconds > 0);
    assert_int_equal(roofs.why[0] == '\0', has_f64);
  }
  assert_true(measured >= 2); /* the processor, and OpenCL's view of it */
}

/* The kernels and grids of GPUs give right results on processors, too. */
static void test_as_a_gpu(void **state) {
  (void)state;
  tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++) {
    tsl_roofs roofs;
    if (!(device->capabilities & TSL_CAN_KERNELS))
      continue;
    const int before = device->is_cpu, items = device->group_items_max;
    device->is_cpu = 0;
    tesela_status status = tsl_roofs_measure(device, &small, &roofs);
    device->group_items_max = items < 64 ? items : 64;
    if (status == TESELA_OK)
      status = tsl_roofs_measure(device, &small, &roofs);
    device->is_cpu = before;
    device->group_items_max = items;
    must(status);
    assert_true(roofs.roof[TSL_ROOF_COPY].rate > 0 && roofs.roof[TSL_ROOF_FMA_F32].rate > 0);
    assert_true(roofs.roof[TSL_ROOF_LOCAL].rate > 0);
  }
}

/* Arrays that the caches would hold are no roof of the memory; the multiply-adds need no memory. */
static void test_little_memory(void **state) {
  (void)state;
  tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++) {
    tsl_roofs roofs;
    const uint64_t before = device->allocation_max;
    device->allocation_max = 2 * MIB;
    const tesela_status status = tsl_roofs_measure(device, &(tsl_roofs_options){.seconds = 0.05}, &roofs);
    device->allocation_max = before;
    must(status);
    assert_true(isnan(roofs.roof[TSL_ROOF_COPY].rate) && isnan(roofs.roof[TSL_ROOF_READ].rate));
    assert_true(roofs.roof[TSL_ROOF_FMA_F32].rate > 0);
    assert_int_equal(roofs.bytes, 0);
    assert_non_null(strstr(roofs.why, device->name));
    assert_non_null(strstr(roofs.why, "2 MiB"));
    assert_true(isnan(tsl_roofs_lowest(&roofs, TESELA_F32, 1, 1)));
  }
}

static void test_no_way_to_measure(void **state) {
  (void)state;
  tsl_device *device;
  tsl_roofs roofs = {.bytes = 77};
  must(tsl_devices_find(devices, "cpu", &device));
  const unsigned before = device->capabilities;
  device->capabilities = TSL_CAN_F64;
  assert_int_equal(tsl_roofs_measure(device, &small, &roofs), TESELA_UNSUPPORTED);
  device->capabilities = before;
  assert_int_equal(roofs.bytes, 77); /* untouched */
}

/* Each instruction set that this processor has: all loops are right. */
static void test_instruction_sets(void **state) {
  (void)state;
  tsl_device *device;
  tsl_roofs roofs;
  must(tsl_devices_find(devices, "cpu", &device));
  const unsigned before = device->capabilities, sets = TSL_CAN_AVX2 | TSL_CAN_AVX512;
  must(tsl_device_open(device));
  for (int i = 0; i < 2; i++) {
    device->capabilities = (before & ~sets) | (i == 1 ? before & TSL_CAN_AVX2 : 0);
    const tesela_status status = tsl_roofs_measure(device, &small, &roofs);
    device->capabilities = before;
    must(status);
    assert_true(roofs.roof[TSL_ROOF_COPY].rate > 0 && roofs.roof[TSL_ROOF_FMA_F64].rate > 0);
  }
}

/* --- parts --- */

typedef struct script {
  const double *seconds;
  int count, calls;
} script;

static tesela_status follow(void *argument, double *seconds) {
  script *s = argument;
  *seconds = s->seconds[s->calls < s->count ? s->calls : s->count - 1];
  s->calls++;
  return *seconds < -1 ? tsl_fail(TESELA_DEVICE_FAILED, "the device went away") : TESELA_OK;
}

static void test_repeats(void **state) {
  (void)state;
  tsl_roof roof = {.rate = NAN};
  /* The first run does not count; the best of the others does. */
  const double times[] = {0.001, 4, 2, 3};
  script s = {times, 4, 0};
  must(tsl_roofs_repeat(follow, &s, 12, 0, &roof));
  assert_int_equal(s.calls, 4);
  assert_int_equal(roof.repeats, 3);
  assert_true(roof.rate == 6 && fabs(roof.spread - 1.0 / 3) < 1e-12); /* quartiles 2.5 and 3.5 over 3 */
  /* Another way replaces it only where it is faster. */
  const double slower[] = {3}, faster[] = {1.5};
  s = (script){slower, 1, 0};
  must(tsl_roofs_repeat(follow, &s, 12, 0, &roof));
  assert_true(roof.rate == 6);
  s = (script){faster, 1, 0};
  must(tsl_roofs_repeat(follow, &s, 12, 0, &roof));
  assert_true(roof.rate == 8 && roof.spread == 0);
  /* A clock that stands still is no infinite speed; a failure is passed on. */
  const double still[] = {1, 0, 1}, gone[] = {1, 1, -2};
  s = (script){still, 3, 0};
  assert_int_equal(tsl_roofs_repeat(follow, &s, 12, 0, &roof), TESELA_DEVICE_FAILED);
  s = (script){gone, 3, 0};
  assert_int_equal(tsl_roofs_repeat(follow, &s, 12, 0, &roof), TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "went away"));
  assert_true(roof.rate == 8);
}

/* Sums of so many numbers stay whole in f32; numbers are not all alike. */
static void test_numbers(void **state) {
  (void)state;
  assert_int_equal(tsl_roofs_mask(1), 4095);
  for (int64_t count = 1; count < (int64_t)1 << 23; count = 3 * count + 1) {
    const int64_t mask = tsl_roofs_mask(count);
    assert_true(mask >= 1 && mask * count <= TSL_ROOFS_EXACT);
    assert_int_equal(mask & (mask + 1), 0);
  }
  int seen[16] = {0};
  for (uint64_t i = 0; i < 4096; i++) {
    const int number = tsl_roofs_number(i, 15);
    assert_in_range(number, 0, 15);
    seen[number]++;
  }
  for (int i = 0; i < 16; i++)
    assert_true(seen[i] > 100);
  for (int i = 0; i < 1000; i++) {
    const float x = (float)tsl_roofs_chain_start(i);
    assert_true(x >= 1 && x < 2 && (double)x == tsl_roofs_chain_start(i));
    const float turned = (float)(tsl_roofs_periodic_chain.factor * x + tsl_roofs_periodic_chain.summand);
    assert_true(turned != x &&
                (float)(tsl_roofs_periodic_chain.factor * turned + tsl_roofs_periodic_chain.summand) == x);
    assert_true(tsl_roofs_chain_end(&tsl_roofs_periodic_chain, i, 1000) == x &&
                tsl_roofs_chain_end(&tsl_roofs_counting_chain, i, 1024) > x);
  }
}

static void test_roofline(void **state) {
  (void)state;
  tsl_roofs roofs = {.roof = {[TSL_ROOF_COPY] = {100, 0, 3},
                              [TSL_ROOF_READ] = {150, 0, 3},
                              [TSL_ROOF_FMA_F32] = {1000, 0, 3},
                              [TSL_ROOF_FMA_F64] = {500, 0, 3}}};
  assert_true(tsl_roofs_lowest(&roofs, TESELA_F32, 2, 1) == 200);
  assert_true(tsl_roofs_lowest(&roofs, TESELA_F32, 80, 4) == 1000);
  assert_true(tsl_roofs_lowest(&roofs, TESELA_F64, 80, 4) == 500);
  for (int i = 0; i < TSL_ROOF_COUNT; i++)
    assert_true(strlen(tsl_roof_name_of((tsl_roof_name)i)) > 0);
}

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) == TESELA_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_device),     cmocka_unit_test(test_as_a_gpu),
      cmocka_unit_test(test_little_memory),    cmocka_unit_test(test_no_way_to_measure),
      cmocka_unit_test(test_instruction_sets), cmocka_unit_test(test_repeats),
      cmocka_unit_test(test_numbers),          cmocka_unit_test(test_roofline),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
