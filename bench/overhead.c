/* Measures the overhead of a reused plan: a 16 x 16 x 16 product on the cpu by tesela_plan_run(),
 * against the strategy's run() called directly. They alternate, so that a change of clock rate or
 * another process affects both. */
#include "core/clock.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "tune/tune_measure.h"

#include <stdio.h>
#include <tesela/tesela.h>

enum { SIZE = 16, CALLS = 500, ROUNDS = 401 };

static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];

static int fail(void) {
  fprintf(stderr, "bench_overhead: %s\n", tesela_last_error());
  return 1;
}

/* Returns nanoseconds per call of tesela_plan_run(). */
static double time_plan(tesela_plan *plan) {
  const tesela_matrix first = {.data = a}, second = {.data = b};
  const tesela_result third = {.data = c};
  const double start = tsl_clock();
  for (int i = 0; i < CALLS; i++)
    tesela_plan_run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL);
  return (tsl_clock() - start) / CALLS * 1e9;
}

/* Returns nanoseconds per call of the strategy's run(). */
static double time_strategy(const tsl_plan *plan) {
  const tsl_operands operands = {.a = {.host = a, .row_stride = SIZE, .col_stride = 1},
                                 .b = {.host = b, .row_stride = SIZE, .col_stride = 1},
                                 .c = {.host = c, .row_stride = SIZE, .col_stride = 1},
                                 .team = tsl_device_team(plan->work.device)};
  const double start = tsl_clock();
  for (int i = 0; i < CALLS; i++)
    plan->work.strategy->run(&plan->work, &operands, NULL);
  return (tsl_clock() - start) / CALLS * 1e9;
}

static void measure(tesela_plan *plan, const tsl_plan *same) {
  static double through_plan[ROUNDS], alone[ROUNDS], difference[ROUNDS];
  double spread;
  for (int i = 0; i < ROUNDS; i++) {
    through_plan[i] = time_plan(plan);
    alone[i] = time_strategy(same);
    difference[i] = through_plan[i] - alone[i];
  }
  printf("%s\n", tesela_plan_describe(plan));
  printf("tesela_plan_run  %8.1f ns\n", tsl_measure_median(through_plan, ROUNDS, &spread));
  printf("strategy alone   %8.1f ns\n", tsl_measure_median(alone, ROUNDS, &spread));
  printf("overhead         %8.1f ns (median of the differences of %d turns)\n",
         tsl_measure_median(difference, ROUNDS, &spread), ROUNDS);
}

int main(void) {
  const tesela_gemm_desc desc = {
      .m = SIZE, .n = SIZE, .k = SIZE, .options.device = "cpu", .options.strategy = "host_small"};
  tesela_context *context;
  tesela_plan *plan;
  tsl_devices *devices;
  tsl_plan *same;
  if (tesela_context_create(NULL, &context) != TESELA_OK ||
      tesela_plan_create(context, &desc, &plan) != TESELA_OK || tsl_devices_create(&devices) != TESELA_OK ||
      tsl_planner_parse(devices, tesela_plan_describe(plan), &same) != TESELA_OK)
    return fail();
  measure(plan, same);
  tsl_plan_destroy(same);
  tsl_devices_destroy(devices);
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
  return 0;
}
