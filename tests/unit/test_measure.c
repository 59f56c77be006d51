/* Medians, quartiles and spreads. */
#include "unit/unit.h"

#include "tune/tune_measure.h"

#include <math.h>

static void close_to(double value, double expected) {
  assert_true(fabs(value - expected) <= 1e-12 * (1 + fabs(expected)));
}

static void median_and_spread(void **state) {
  (void)state;
  double spread, odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7}, same[] = {2, 2, 2, 2, 2};
  close_to(tsl_measure_median(odd, 3, &spread), 3);
  close_to(spread, 2.0 / 3); /* quartiles 2 and 4 */
  close_to(odd[0], 1);
  close_to(odd[2], 5);
  close_to(tsl_measure_median(even, 4, &spread), 2.5);
  close_to(spread, 1.5 / 2.5); /* quartiles 1.75 and 3.25 */
  close_to(tsl_measure_median(one, 1, &spread), 7);
  close_to(spread, 0);
  close_to(tsl_measure_median(same, 5, &spread), 2);
  close_to(spread, 0);
  close_to(tsl_measure_median(same, 0, &spread), 0);
}

static void all_of_a_measurement(void **state) {
  (void)state;
  double compute[] = {5, 1, 3, 2, 4}, wall[] = {9, 7, 8, 6, 10};
  tsl_measurement out;
  tsl_measure_summarise(compute, wall, 5, 0.5, &out);
  close_to(out.median, 3);
  close_to(out.fastest, 1);
  close_to(out.slowest, 5);
  close_to(out.first_quartile, 2);
  close_to(out.third_quartile, 4);
  close_to(out.spread, 2.0 / 3);
  close_to(out.wall, 8);
  assert_int_equal(out.samples, 5);
  assert_true(out.noisy);
  tsl_measure_summarise(compute, wall, 5, 0.7, &out);
  assert_false(out.noisy);
}

static void nothing_measured_is_nan(void **state) {
  (void)state;
  assert_true(isnan(tsl_not_measured.median) && isnan(tsl_not_measured.first_quartile) &&
              isnan(tsl_not_measured.wall) && isnan(tsl_not_measured.spread));
  assert_int_equal(tsl_not_measured.samples, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(median_and_spread),
      cmocka_unit_test(all_of_a_measurement),
      cmocka_unit_test(nothing_measured_is_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
