/* Reasons: the partner of a strategy, and measured and predicted factors of fabricated runs. */
#include "unit/unit.h"
#include "unit/variants.h"

#include "explain/cost_report.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <string.h>

static tsl_cost_report report_of(const char *name, const char *config_text, const tsl_problem *problem,
                                 double predicted, double measured) {
  const tsl_strategy *strategy = tsl_strategy_find(problem->op, name);
  const tsl_config config = config_of(strategy, config_text);
  tsl_cost_report report = tsl_cost_report_make(problem, strategy, &config, &graphics);
  report.seconds = predicted;
  report.measured = (tsl_cost_measured){measured, 0.98 * measured, 1.02 * measured};
  return report;
}

/* The factors as printed, for a partner that takes a second, and a range of measured factors. */
static void prints_noise(double predicted, double measured, double low, double high, tsl_agreement agreement,
                         const char *part) {
  const tsl_problem problem = tsl_problem_gemm(256, 256, 256, TESELA_F32);
  tsl_cost_report partner = report_of("row", "", &problem, 1, isnan(measured) ? NAN : 1),
                  report = report_of("row_private", "", &problem, 1 / predicted, 1 / measured);
  if (!isnan(measured)) {
    partner.measured.first_quartile = partner.measured.third_quartile = 1;
    report.measured.first_quartile = 1 / high;
    report.measured.third_quartile = 1 / low;
  }
  const tsl_cost_comparison comparison = tsl_cost_report_compare(&report, &partner);
  tsl_text text = {0};
  tsl_cost_comparison_factors(&report, &comparison, &text);
  if (comparison.agreement != agreement || !strstr(tsl_text_get(&text), part))
    fail_msg("expected %g, measured %g: %s, '%s'", predicted, measured,
             tsl_agreement_name(comparison.agreement), tsl_text_get(&text));
  tsl_text_free(&text);
}

static void prints_factors(double predicted, double measured, tsl_agreement agreement, const char *part) {
  prints_noise(predicted, measured, 0.98 * measured, 1.02 * measured, agreement, part);
}

static void factors_agree_or_not(void **state) {
  (void)state;
  prints_factors(0.67, 1.27, TSL_AGREEMENT_WRONG, "the model is wrong here: it expected 0.67, measured 1.27");
  prints_factors(1.5, 4, TSL_AGREEMENT_WRONG, "the model is wrong here: it expected 1.5, measured 4");
  prints_factors(2, 1.01, TSL_AGREEMENT_WRONG, "it expected 2, measured 1.01"); /* no difference but noise */
  prints_factors(2, 3, TSL_AGREEMENT_AGREES, "measured 3 times as fast, predicted 2");
  prints_factors(0.5, 0.4, TSL_AGREEMENT_AGREES, "measured 2.5 times slower, predicted 0.5");
  prints_factors(1, 1.08, TSL_AGREEMENT_AGREES, "measured 1.08 times as fast, predicted 1");
  prints_factors(1.02, 1.01, TSL_AGREEMENT_AGREES, "measured no faster, predicted 1.02");
  prints_noise(2.4, 0.34, 0.1, 3, TSL_AGREEMENT_NOISE,
               "too noisy to compare: measured 0.34 (0.1 to 3), predicted 2.4");
  prints_noise(1.3, 1.2, 0.9, 1.5, TSL_AGREEMENT_AGREES, "predicted 1.3, a difference within the noise");
  prints_noise(2.4, 0.34, 0.1, 0.9, TSL_AGREEMENT_WRONG, "the model is wrong here");
  prints_factors(2, NAN, TSL_AGREEMENT_PREDICTED, "predicted 2 times as fast");
}

/* A limit is a reason where it makes a quarter of the difference and takes no longer than the runs. */
static void a_reason_accounts_for_the_difference(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
  tsl_cost_report element = report_of("element", "", &problem, 1, 1),
                  row = report_of("row", "", &problem, 10, 10);
  memset(element.bounds.seconds, 0, sizeof element.bounds.seconds);
  memset(row.bounds.seconds, 0, sizeof row.bounds.seconds);
  row.bounds.seconds[TSL_BOUND_LINES] = 2; /* less than a quarter of nine seconds */
  assert_int_equal(tsl_cost_report_compare(&row, &element).reason, TSL_BOUND_COUNT);
  row.bounds.seconds[TSL_BOUND_FLIGHT] = 8;
  assert_int_equal(tsl_cost_report_compare(&row, &element).reason, TSL_BOUND_FLIGHT);
  row.bounds.seconds[TSL_BOUND_LINES] = 20; /* refuted: the run took ten seconds */
  assert_int_equal(tsl_cost_report_compare(&row, &element).reason, TSL_BOUND_FLIGHT);
  element.bounds.seconds[TSL_BOUND_FLIGHT] = 9; /* takes longer, while the row is slower */
  assert_int_equal(tsl_cost_report_compare(&row, &element).reason, TSL_BOUND_COUNT);
}

/* The nearest measured strategy along the partners; the same device before others. */
static void partners_are_found(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  tsl_cost_report all[] = {
      report_of("element", "", &problem, 1, 1), report_of("row_private", "", &problem, 1, 1),
      report_of("tile_local", "", &problem, 1, 1), report_of("sequential", "", &problem, 1, 1)};
  static const tsl_device other = {.name = "other"};
  assert_ptr_equal(tsl_cost_report_partner(all, 4, &all[1]), &all[0]); /* row is missing */
  assert_ptr_equal(tsl_cost_report_partner(all, 4, &all[2]), &all[0]);
  assert_null(tsl_cost_report_partner(all, 4, &all[3]));
  all[3].device = &other;
  assert_ptr_equal(tsl_cost_report_partner(all, 4, &all[0]), &all[3]);
}

/* A partner is a strategy of the same operation, and partners end at the first rung. Rungs of an operation
 * are numbered in the order of the list, which begins with them. */
static void partners_and_rungs_are_sound(void **state) {
  (void)state;
  const tsl_strategy *strategy;
  int rungs[TSL_OP_COUNT] = {0};
  bool left[TSL_OP_COUNT] = {false};
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    int steps = 0;
    for (const tsl_strategy *at = strategy; at->partner; at = tsl_strategy_partner(at)) {
      assert_non_null(tsl_strategy_partner(at));
      assert_true(steps++ < 16);
    }
    if (strategy->rung > 0) {
      assert_int_equal(strategy->rung, ++rungs[strategy->op]);
      assert_false(left[strategy->op]);
      assert_true(strategy->rung == 1 || strategy->partner);
    } else
      left[strategy->op] = true;
  }
  assert_int_equal(rungs[TSL_OP_GEMM], 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_agree_or_not), cmocka_unit_test(a_reason_accounts_for_the_difference),
      cmocka_unit_test(partners_are_found), cmocka_unit_test(partners_and_rungs_are_sound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
