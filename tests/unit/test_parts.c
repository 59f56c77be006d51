/* Accuracy of the parts of a split product: a requirement that allows more error than a careful sum
 * reaches the parts. */
#include "unit/unit.h"

#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/subplans.h"
#include "strategy/support.h"

#include <math.h>

static tsl_problem asked(int64_t m, int64_t k, const char *accuracy, tesela_type type) {
  tsl_problem problem = tsl_problem_gemm(m, 200, k, type);
  assert_int_equal(tsl_numeric_requirements_parse_accuracy(accuracy, &problem.ask), TESELA_OK);
  return problem;
}

static double allowed(const tsl_problem *problem) {
  const double u = tsl_type(problem->c.type)->unit_roundoff;
  return tsl_numeric_requirements_error_limit(&problem->ask, problem->k,
                                              tsl_type(problem->a.type)->unit_roundoff, u) /
         u;
}

/* The whole product guarantees the required accuracy, and so do `slabs` parts summed one after the
 * other. */
static void parts_make_up_the_whole(void **state) {
  (void)state;
  static const char *const asks[] = {"tf32", "bf16", "1e-3", "1e-2"};
  for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
    for (int64_t slabs = 1; slabs <= 7; slabs += 3) {
      const tsl_problem whole = asked(1000, 1000, asks[i], TESELA_F32),
                        part = asked(300, (1000 + slabs - 1) / slabs, asks[i], TESELA_F32);
      const tsl_accuracy all = tsl_accuracy_asked_of_parts(&whole, slabs),
                         one = tsl_accuracy_of_one_part(&whole, &part, slabs);
      assert_true(all.factor == allowed(&whole));
      assert_true(all.truncates_inputs && all.flush_threshold > 0 &&
                  one.flush_threshold <= all.flush_threshold);
      assert_true(one.factor * (double)slabs <= all.factor);
      assert_true(one.factor > tsl_accuracy_of_parts(&part, 1).factor);
    }
}

/* Nothing asked, or more than a careful sum gives: as it was. f64 is never cut. */
static void careful_sums_stay(void **state) {
  (void)state;
  static const char *const asks[] = {"default", "f32", "1e-9", "exact"};
  for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
    const tsl_problem whole = asked(1000, 1000, asks[i], TESELA_F32),
                      part = asked(300, 1000, asks[i], TESELA_F32);
    const tsl_accuracy all = tsl_accuracy_asked_of_parts(&whole, 1), plain = tsl_accuracy_of_parts(&whole, 1),
                       one = tsl_accuracy_of_one_part(&whole, &part, 1);
    assert_true(all.factor == plain.factor && one.factor == plain.factor);
    assert_true(!all.truncates_inputs && all.flush_threshold == 0 && one.flush_threshold == 0);
  }
  const tsl_problem wide = asked(1000, 1000, "1e-6", TESELA_F64);
  assert_true(tsl_accuracy_asked_of_parts(&wide, 1).factor > tsl_accuracy_of_parts(&wide, 1).factor);
  assert_true(tsl_accuracy_asked_of_parts(&wide, 1).flush_threshold == 0);
  const tsl_problem integers = asked(1000, 1000, "1e-3", TESELA_I8);
  assert_true(tsl_accuracy_asked_of_parts(&integers, 1).factor == 0);
}

/* A strategy that has fewer digits where less is asked for becomes a child. */
static void looser_strategies_are_children(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  const tsl_strategy *residue = tsl_strategy_find(TSL_OP_GEMM, "residue_int8");
  tsl_config config = tsl_strategy_defaults(residue);
  const tsl_problem whole = asked(1000, 1000, "1e-3", TESELA_F32),
                    part = asked(300, 1000, "1e-3", TESELA_F32);
  assert_null(tsl_strategy_refuse(residue, &part, &config, cpu));
  tsl_subplan_request wish = {.problem = &part,
                              .device = cpu,
                              .workspace_most = UINT64_MAX,
                              .most = tsl_accuracy_of_one_part(&whole, &part, 1)};
  assert_true(tsl_subplan_satisfies(&wish, residue, &config));
  wish.most = tsl_accuracy_of_parts(&part, 1);
  assert_false(tsl_subplan_satisfies(&wish, residue, &config));
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_make_up_the_whole),
                                     cmocka_unit_test(careful_sums_stay),
                                     cmocka_unit_test(looser_strategies_are_children)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
