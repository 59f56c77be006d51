/* Files of crossovers: which lines replace numbers, and that errors name the line. */
#include "unit/unit.h"

#include "device/device.h"
#include "dispatch/crossovers.h"

#include <string.h>
#include <tesela/tesela.h>

static void lines_replace_numbers(void **state) {
  (void)state;
  tsl_crossover_table table = tsl_crossovers;
  const char *text = "# a comment\n\n  small_volume=2e5 plan_volume=inf # another\ntile_side=7\ntile_side=8";
  assert_int_equal(tsl_crossovers_read(text, 0, &table), TESELA_OK);
  assert_int_equal(table.small_volume, 200000);
  assert_true(table.plan_volume == INT64_MAX);
  assert_int_equal(table.tile_side, 8);
  table.small_volume = tsl_crossovers.small_volume;
  table.plan_volume = tsl_crossovers.plan_volume;
  table.tile_side = tsl_crossovers.tile_side;
  assert_memory_equal(&table, &tsl_crossovers, sizeof table);
}

static void instruction_sets_limit_lines(void **state) {
  (void)state;
  tsl_crossover_table table = tsl_crossovers;
  assert_int_equal(tsl_crossovers_read("generic flat_side=5\n", 0, &table), TESELA_OK);
  assert_int_equal(table.flat_side, 5);
#if defined(__x86_64__) && !defined(TSL_PLAIN)
  assert_int_equal(tsl_crossovers_read("avx2 flat_side=6\n", 0, &table), TESELA_OK);
  assert_int_equal(table.flat_side, 5);
  assert_int_equal(tsl_crossovers_read("avx2 flat_side=6\n", TSL_CAN_AVX2, &table), TESELA_OK);
  assert_int_equal(table.flat_side, 6);
#endif
}

static void expect_refused(const char *text, const char *words) {
  tsl_crossover_table table = tsl_crossovers;
  assert_int_equal(tsl_crossovers_read(text, 0, &table), TESELA_BAD_INPUT);
  if (!strstr(tesela_last_error(), words))
    fail_msg("\"%s\": %s", text, tesela_last_error());
}

static void wrong_lines_are_refused(void **state) {
  (void)state;
  expect_refused("\nsmal_volume=3\n", "line 2: smal_volume is no crossover; did you mean small_volume?");
  expect_refused("small_volume=-1", "line 1: small_volume=-1: it can be a number from 0 to 2e+06");
  expect_refused("small_volume=3e6", "from 0 to 2e+06");
  expect_refused("small_volume=many", "small_volume=many");
  expect_refused("small_volume", "line 1: a line is \"[instruction set] name=number ...\"");
  expect_refused("avx513 small_volume=3", "not \"avx513 ...\"");
  expect_refused("generic generic small_volume=3", "a line is");
}

static void there_is_a_part_for_each_product(void **state) {
  const tsl_crossover_table before = tsl_crossovers;
  (void)state;
  tsl_crossovers.thread_jobs = 8;
  assert_int_equal(tsl_crossovers_parts(5, 2), 5);
  assert_int_equal(tsl_crossovers_parts(100, 2), 16);
  tsl_crossovers.thread_jobs = 0;
  assert_int_equal(tsl_crossovers_parts(100, 2), 2);
  tsl_crossovers = before;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_replace_numbers), cmocka_unit_test(instruction_sets_limit_lines),
      cmocka_unit_test(wrong_lines_are_refused), cmocka_unit_test(there_is_a_part_for_each_product)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
