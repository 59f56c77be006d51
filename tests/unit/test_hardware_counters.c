/* Hardware counters: a loop is counted, or the system tells why not. */
#include "unit/unit.h"

#include "tune/hardware_counters.h"

#include <math.h>
#include <string.h>

static void a_loop_is_counted(void **state) {
  (void)state;
  char why[128];
  volatile double sum = 0;
  tsl_hardware_counters *counters = tsl_hardware_open(why, sizeof why);
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

static void nothing_is_closed(void **state) {
  (void)state;
  tsl_hardware_close(NULL);
  for (int event = 0; event < TSL_HARDWARE_COUNT; event++)
    assert_true(isnan(tsl_hardware_uncounted.value[event]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_is_counted),
                                     cmocka_unit_test(nothing_is_closed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
