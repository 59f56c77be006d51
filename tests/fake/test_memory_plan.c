/* Memory that a plan keeps on its device between runs: allocated by the first run, used by the
 * next, and freed with the plan. */
#include "unit/unit.h"

#include <string.h>

#include "fake/fake.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

enum { M = 5, N = 4, K = 3 };

static void run(tsl_plan *plan, tsl_phases *phases) {
  float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M * K; i++)
    a[i] = (float)i;
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i % 5);
  const tsl_operands operands = {.a.host = a, .b.host = b, .c.host = c};
  memset(c, 0xff, sizeof c);
  if (tsl_plan_run(plan, &operands, phases) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int l = 0; l < K; l++)
        sum += a[i * K + l] * b[l * N + j];
      assert_true(c[i * N + j] == sum);
    }
}

static void memory_stays_between_runs(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  tsl_plan *plan;
  tsl_phases phases;
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY); /* so that operands are copied */
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:0", &device), TESELA_OK);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_problem problem = tsl_problem_gemm(M, N, K, TESELA_F32);
  if (tsl_planner_create(&problem, strategy, &config, device, TSL_PLACE_HOST, &plan) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), 0);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_STREAM), 0);
  run(plan, &phases);
  assert_true(phases.allocate > 0);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), 3);
  run(plan, NULL);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), 3);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_STREAM), 1);
  tsl_plan_destroy(plan);
  tsl_devices_destroy(devices);
  assert_string_equal(tesela_fake_live_text(), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_stays_between_runs)};
  tesela_fake_install();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
