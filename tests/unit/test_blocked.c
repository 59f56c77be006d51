/* The blocked product: the same bits with any number of threads, and with several callers at once. With a
 * number as its argument, the program prints what one process with that many threads computes. */
#include "unit/callers.h"
#include "unit/threads.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "planner/planner.h"
#include "tune/measured_choice.h"

static const char *program;

/* More blocks than threads, of every kind: whole ones and edges in both directions, and three panels. */
static tsl_problem problem_of(tesela_type type, bool down) {
  tsl_problem problem = tsl_problem_gemm(203, 301, 277, type);
  if (down)
    by_columns(&problem.c);
  problem.alpha[0] = 1.5;
  return problem;
}

static tsl_plan *plan_for(tsl_devices *devices, const tsl_problem *problem) {
  const tsl_choice choice = {
      .devices = devices, .device = "cpu", .strategy = "blocked rows=48 columns=128 depth=128"};
  tsl_plan *plan;
  assert_int_equal(tsl_tune_choose(problem, &choice, &plan), TESELA_OK);
  return plan;
}

static int print_results(void) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  tsl_devices *devices;
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  for (int i = 0; i < 4; i++) {
    const tsl_problem problem = problem_of(types[i % 2], i >= 2);
    host_product made = host_product_of(&problem);
    tsl_plan *plan = plan_for(devices, &problem);
    char text[33];
    if (tsl_plan_run(plan, &made.operands, NULL) != TESELA_OK)
      return 1;
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), made.operands.c.host, made.c_bytes), text);
    printf("%s\n", text);
    tsl_plan_destroy(plan);
    host_product_free(&made);
  }
  tsl_devices_destroy(devices);
  return 0;
}

static void threads_change_nothing(void **state) {
  (void)state;
  char alone[256], together[256];
  results_with(program, 1, alone, sizeof alone);
  assert_int_equal(strlen(alone), 4 * 33);
  for (int threads = 2; threads <= 7; threads += 1 + threads / 3) {
    results_with(program, threads, together, sizeof together);
    assert_string_equal(together, alone);
  }
}

static void callers_share_a_plan(void **state) {
  (void)state;
  tsl_devices *devices;
  const tsl_problem problem = problem_of(TESELA_F32, false);
  host_product made = host_product_of(&problem);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  tsl_plan *plan = plan_for(devices, &problem);
  assert_int_equal(tsl_plan_run(plan, &made.operands, NULL), TESELA_OK);
  expect_callers_agree(plan, &made, 20);
  tsl_plan_destroy(plan);
  host_product_free(&made);
  tsl_devices_destroy(devices);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing),
                                     cmocka_unit_test(callers_share_a_plan)};
  program = argv[0];
  return argc > 1 ? print_results() : cmocka_run_group_tests(tests, NULL, NULL);
}
