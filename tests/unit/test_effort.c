/* Planning with effort: which strategies are measured, which are not, and the wisdom afterwards. */
#include "unit/calls.h"

#include <tesela/tesela.h>

#include "planner/estimate.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/plan_measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tesela_context *context;

static int open_context(void **state) {
  (void)state;
  return tesela_context_create(NULL, &context) != TESELA_OK;
}

static int close_context(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* The first record of the context's own; false: it has none. */
static bool first_record(tsl_wisdom_record *record) {
  char *text;
  must(tesela_wisdom_export(context, &text));
  const bool has_some = *text != '\0';
  text[strcspn(text, "\n")] = '\0';
  if (has_some)
    must(tsl_wisdom_parse(text, record));
  tesela_text_free(text);
  return has_some;
}

static tesela_plan *plan_with(const tesela_gemm_desc *like, double effort) {
  tesela_gemm_desc desc = *like;
  tesela_plan *plan;
  desc.options.tuning_seconds = effort;
  must(tesela_plan_create(context, &desc, &plan));
  return plan;
}

/* Measuring on a machine that others use may come to nothing. */
enum { TRIES = 20 };

static const tesela_gemm_desc product = {.m = 60, .n = 44, .k = 52, .options.device = "cpu"};

/* With one config there is nothing to search on for, so that no effort is used up. */
static void what_was_measured_is_known(void **state) {
  (void)state;
  tesela_gemm_desc desc = product;
  tsl_wisdom_record record, again;
  desc.options.strategy = "sequential";
  tesela_plan *guessed = plan_with(&desc, 0);
  assert_false(first_record(&record));
  tesela_plan *measured = plan_with(&desc, 20);
  assert_true(first_record(&record));
  assert_string_equal(record.name, "sequential");
  assert_int_equal(record.problem.m, 60);
  assert_true(record.seconds > 0);
  /* Expected seconds of a record, whose line has six digits (planner/estimate.h). */
  const double doubt = fmin(fmax(0.03, record.spread / 1.35), 1),
               expected = tsl_estimate_expected((tsl_estimate){record.seconds, doubt});
  assert_true(fabs(tesela_plan_seconds(measured) / expected - 1) < 0.01);
  tesela_plan *known = plan_with(&desc, 20); /* is not measured again */
  assert_true(tesela_plan_seconds(known) == tesela_plan_seconds(measured));
  assert_true(first_record(&again));
  assert_memory_equal(&again, &record, sizeof record);
  tesela_plan_destroy(guessed);
  tesela_plan_destroy(measured);
  tesela_plan_destroy(known);
}

/* On a machine that others use, quartiles may lie any number of medians apart: nothing to reckon
 * exp(spread^2) of. */
static void what_scatters_is_believed_within_reason(void **state) {
  (void)state;
  tesela_gemm_desc desc = product;
  tsl_wisdom_record record;
  char *text, scattered[1024];
  desc.options.strategy = "sequential";
  for (int i = 0; i < TRIES && !first_record(&record); i++)
    tesela_plan_destroy(plan_with(&desc, 20 + i));
  must(tesela_wisdom_export(context, &text));
  const char *spread = strstr(text, "spread="), *date = strstr(text, " date=");
  assert_true(spread && date && strchr(text, '\n') > date);
  snprintf(scattered, sizeof scattered, "%.*sspread=20%.*s\n", (int)(spread - text), text,
           (int)strcspn(date, "\n"), date);
  tesela_text_free(text);
  must(tesela_wisdom_forget(context));
  must(tesela_wisdom_import(context, scattered));
  tesela_plan *plan = plan_with(&desc, 0);
  assert_true(tesela_plan_seconds(plan) < 2 * record.seconds);
  tesela_plan_destroy(plan);
}

static void the_winner_is_the_plan(void **state) {
  (void)state;
  tsl_wisdom_record record;
  char name[TSL_WISDOM_NAME + 16];
  char *text;
  tesela_plan *plan = plan_with(&product, 0.5);
  for (int i = 0; i < TRIES && !first_record(&record); i++) {
    tesela_plan_destroy(plan);
    plan = plan_with(&product, 2);
  }
  must(tesela_wisdom_export(context, &text));
  /* The fastest record is the plan's. */
  double fastest = INFINITY;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    must(tsl_wisdom_parse(line, &record));
    if (record.seconds < fastest) {
      fastest = record.seconds;
      snprintf(name, sizeof name, "gemm %s ", record.name);
    }
  }
  assert_true(isfinite(fastest));
  assert_true(strncmp(tesela_plan_describe(plan), name, strlen(name)) == 0);
  tesela_text_free(text);
  tesela_plan_destroy(plan);
}

static void calls_take_effort_once(void **state) {
  (void)state;
  static float a[60 * 52], b[52 * 44], c[60 * 44];
  tesela_gemm_desc desc = product;
  tsl_wisdom_record record, again;
  desc.a.data = a;
  desc.b.data = b;
  desc.c.data = c;
  desc.options.strategy = "sequential";
  must(tesela_gemm(context, &desc, NULL));
  must(tesela_gemm(context, &desc, NULL));
  desc.options.tuning_seconds = 20;
  must(tesela_gemm(context, &desc, NULL)); /* though the same call without effort has a plan */
  for (int i = 0; i < TRIES && !first_record(&record); i++) {
    desc.options.tuning_seconds++;
    must(tesela_gemm(context, &desc, NULL));
  }
  assert_true(first_record(&record));
  must(tesela_gemm(context, &desc, NULL));
  assert_true(first_record(&again));
  assert_memory_equal(&again, &record, sizeof record);
}

static void dots_and_transposes_take_it(void **state) {
  (void)state;
  tesela_plan *plan;
  char *text;
  must(tesela_plan_create_dot(
      context,
      &(tesela_dot_desc){
          .n = 1000, .options.device = "cpu", .options.strategy = "sequential", .options.tuning_seconds = 20},
      &plan));
  tesela_plan_destroy(plan);
  must(tesela_plan_create_transpose(context,
                                    &(tesela_transpose_desc){.rows = 40,
                                                             .cols = 40,
                                                             .options.device = "cpu",
                                                             .options.strategy = "element",
                                                             .in_place = 1,
                                                             .options.tuning_seconds = 20},
                                    &plan));
  tesela_plan_destroy(plan);
  must(tesela_wisdom_export(context, &text));
  assert_non_null(strstr(text, "dot sequential"));
  assert_non_null(strstr(text, "in_place=1"));
  tesela_text_free(text);
}

static void nothing_is_begun_without_time(void **state) {
  (void)state;
  static const double zero;
  tsl_wisdom_record record;
  tesela_gemm_desc large = {
      .m = 30000, .n = 30000, .k = 30000, .options.device = "cpu", .options.strategy = "sequential"};
  tesela_plan_destroy(plan_with(&product, 1e-9));
  assert_false(first_record(&record));
  tesela_plan_destroy(plan_with(&large, 1)); /* a run takes hours */
  assert_false(first_record(&record));
  tesela_gemm_desc empty = product;
  empty.k = 0;
  tesela_plan_destroy(plan_with(&empty, 20));
  empty = product;
  empty.alpha = &zero;
  tesela_plan_destroy(plan_with(&empty, 20));
  assert_false(first_record(&record));
}

static void effort_is_a_time(void **state) {
  (void)state;
  tesela_gemm_desc desc = product;
  tesela_plan *plan;
  desc.options.tuning_seconds = -1;
  expect(tesela_plan_create(context, &desc, &plan), TESELA_BAD_CALL, "desc.options.tuning_seconds is -1");
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.options.tuning_seconds is -1");
  desc.options.tuning_seconds = NAN;
  expect(tesela_plan_create(context, &desc, &plan), TESELA_BAD_CALL, "desc.options.tuning_seconds");
  expect(tesela_plan_create_dot(context, &(tesela_dot_desc){.n = 3, .options.tuning_seconds = -1}, &plan),
         TESELA_BAD_CALL, "desc.options.tuning_seconds");
  expect(tesela_plan_create_transpose(
             context, &(tesela_transpose_desc){.rows = 3, .cols = 3, .options.tuning_seconds = -1}, &plan),
         TESELA_BAD_CALL, "desc.options.tuning_seconds");
}

/* The cost of measuring points grows with their number, with their run time, and with the kernels
 * to compile. */
static void costs_are_counted(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "sequential");
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  tsl_space_point points[2] = {{strategy, tsl_strategy_defaults(strategy), 1e-4},
                               {strategy, tsl_strategy_defaults(strategy), 1}};
  const tsl_space space = {.points = points, .count = 2};
  const tsl_device cpu = {.capabilities = TSL_CAN_HOST, .is_cpu = true, .cache_bytes = 1 << 20};
  const int both[] = {0, 1};
  const double quick = tsl_tune_cost(&problem, &cpu, &space, both, 1, 0.01),
               slow = tsl_tune_cost(&problem, &cpu, &space, both + 1, 1, 0.01),
               all = tsl_tune_cost(&problem, &cpu, &space, both, 2, 0.01);
  assert_true(quick > 0.01 && quick < 0.1);
  assert_true(slow > 5 && slow < 20);
  assert_true(all > slow && all <= quick + slow);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_was_measured_is_known, open_context, close_context),
      cmocka_unit_test_setup_teardown(what_scatters_is_believed_within_reason, open_context, close_context),
      cmocka_unit_test_setup_teardown(the_winner_is_the_plan, open_context, close_context),
      cmocka_unit_test_setup_teardown(calls_take_effort_once, open_context, close_context),
      cmocka_unit_test_setup_teardown(dots_and_transposes_take_it, open_context, close_context),
      cmocka_unit_test_setup_teardown(nothing_is_begun_without_time, open_context, close_context),
      cmocka_unit_test_setup_teardown(effort_is_a_time, open_context, close_context),
      cmocka_unit_test(costs_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
