/* The rule of races with cuBLAS: times of both libraries, and which one is faster for the program. */
#include "cublas/cublas_race_rule.h"
#include "unit/unit.h"

static const double us = 1e-6;
static tsl_cublas_times times(double host, double device) {
  return (tsl_cublas_times){host * us, device * us};
}

static void test_queued_calls(void **unused) {
  (void)unused;
  assert_true(tsl_cublas_is_faster(times(4, 3), times(9, 3), false));    /* the host limits both */
  assert_true(tsl_cublas_is_faster(times(9, 90), times(9, 100), false)); /* the device limits both */
  assert_true(tsl_cublas_is_faster(times(4, 8), times(9, 7), false));    /* its host outweighs its device */
  assert_false(tsl_cublas_is_faster(times(9.5, 3), times(9, 8), false)); /* idle devices, a slower host */
  assert_false(tsl_cublas_is_faster(times(4, 105), times(12, 100), false)); /* a full queue hides the host */
  assert_false(tsl_cublas_is_faster(times(8.9, 3), times(9, 3), false));    /* noise */
  assert_false(tsl_cublas_is_faster(times(9, 3), times(4, 3), false));
}

/* A slower host loses although the device is faster, unless the device also covers the program's own work. */
static void test_own_work(void **unused) {
  (void)unused;
  assert_false(tsl_cublas_is_faster(times(9, 9), times(6, 12.5), false));
  assert_true(tsl_cublas_is_faster(times(9, 90), times(6, 100), false));
}

static void test_waiting_for_each_call(void **unused) {
  (void)unused;
  assert_false(tsl_cublas_is_faster(times(4, 9), times(10, 2), false));
}

/* The host's time counts for nothing while the device has other work. */
static void test_busy_device(void **unused) {
  (void)unused;
  assert_true(tsl_cublas_is_faster(times(4, 7), times(9, 7), true));
  assert_false(tsl_cublas_is_faster(times(4, 8), times(9, 7), true));
}

static void test_graphs(void **unused) {
  (void)unused;
  assert_true(tsl_cublas_suits_graphs(times(4, 3), times(9, 3)));
  assert_false(tsl_cublas_suits_graphs(times(4, 8), times(9, 7)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_queued_calls),
      cmocka_unit_test(test_own_work),
      cmocka_unit_test(test_waiting_for_each_call),
      cmocka_unit_test(test_busy_device),
      cmocka_unit_test(test_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
