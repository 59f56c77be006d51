/* Races of cached plans on the caller's own runs. A plan that wisdom overrates is replaced by the second
 * candidate, and every result is right meanwhile. Nothing is raced where bits must repeat, or where a
 * strategy is named. */
#include "unit/calls.h"

#include <tesela/tesela.h>

#include "device/devices.h"
#include "planner/planner_wisdom.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/plan_race.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 192, CALLS = TSL_RACE_USES + 2 * TSL_RACE_RUNS + 6, THREADS = 3 };

static const char slow_one[] = "sequential";
static float a[SIZE * SIZE], b[SIZE * SIZE], c[THREADS][SIZE * SIZE];
static const tesela_gemm_desc product = {.m = SIZE,
                                         .n = SIZE,
                                         .k = SIZE,
                                         .a = {.data = a},
                                         .b = {.data = b},
                                         .c = {.data = c[0]},
                                         .options.device = "cpu"};
static tesela_context *context;

/* Makes the context's wisdom a record of slow_one; returns true if the planner then chooses it. */
static bool learn(tsl_device *cpu, double seconds) {
  tsl_text text = {0};
  tesela_plan *plan;
  const tsl_problem problem = tsl_problem_gemm(SIZE, SIZE, SIZE, TESELA_F32);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, slow_one);
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_wisdom_record record = tsl_wisdom_record_of(&problem, strategy, &config, cpu, seconds, 0.01);
  tsl_wisdom_print(&record, &text);
  must(tesela_wisdom_forget(context));
  must(tesela_wisdom_import(context, tsl_text_get(&text)));
  must(tesela_plan_create(context, &product, &plan));
  const bool is_chosen = strstr(tesela_plan_describe(plan), "gemm sequential ") != NULL;
  tesela_plan_destroy(plan);
  tsl_text_free(&text);
  return is_chosen;
}

/* Opens a context whose wisdom has slow_one a little faster than the model's choice. One thread computes: on
 * a busy machine many threads can be slower than slow_one. */
static int open_context(void **state) {
  tsl_devices *devices;
  tsl_device *cpu;
  tesela_plan *plan;
  (void)state;
  must(tesela_context_create(&(tesela_context_desc){.threads = 1}, &context));
  must(tesela_plan_create(context, &product, &plan));
  double seconds = tesela_plan_seconds(plan);
  tesela_plan_destroy(plan);
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "cpu", &cpu));
  tsl_devices_limit(devices, 1);
  for (int i = 0; i < 20 && !learn(cpu, seconds); i++)
    seconds *= 0.9; /* a record changes the level of all models */
  tsl_devices_destroy(devices);
  for (int i = 0; i < SIZE * SIZE; i++)
    a[i] = (float)(i % 7 - 3), b[i] = (float)(i % 5 - 2);
  return 0;
}

static int close_context(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* Calls once; returns true if slow_one computed it. The sums are integers, so every strategy's bits are
 * these. */
static bool call(const tesela_gemm_desc *desc, float *result) {
  tesela_gemm_desc own = *desc;
  tesela_record record;
  own.c.data = result;
  memset(result, 0xff, sizeof c[0]);
  must(tesela_gemm(context, &own, &record));
  for (int i = 0; i < SIZE; i += 37)
    for (int j = 0; j < SIZE; j += 41) {
      float sum = 0;
      for (int h = 0; h < SIZE; h++)
        sum += a[i * SIZE + h] * b[h * SIZE + j];
      assert_true(result[i * SIZE + j] == sum);
    }
  return strstr(record.plan, "gemm sequential ") != NULL;
}

static void the_slower_plan_is_replaced(void **state) {
  (void)state;
  for (int i = 0; i < TSL_RACE_USES; i++)
    assert_true(call(&product, c[0])); /* nothing is raced yet */
  int slow = 0;
  for (int i = TSL_RACE_USES; i < CALLS; i++)
    slow += call(&product, c[0]);
  assert_true(slow <= TSL_RACE_RUNS);
  for (int i = 0; i < TSL_RACE_USES; i++)
    assert_false(call(&product, c[0]));
}

static void repeated_bits_are_not_raced(void **state) {
  (void)state;
  tesela_gemm_desc desc = product;
  desc.options.reproducibility = "run";
  const bool is_slow = call(&desc, c[0]);
  for (int i = 0; i < CALLS; i++)
    assert_true(call(&desc, c[0]) == is_slow);
}

static void named_strategies_are_not_raced(void **state) {
  (void)state;
  tesela_gemm_desc desc = product;
  desc.options.strategy = slow_one;
  for (int i = 0; i < CALLS; i++)
    assert_true(call(&desc, c[0]));
}

static atomic_int replaced;
static void *call_often(void *result) {
  for (int i = 0; i < CALLS; i++)
    replaced += !call(&product, result);
  return NULL;
}

static void threads_share_a_race(void **state) {
  pthread_t threads[THREADS];
  (void)state;
  replaced = 0;
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, c[i]), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < CALLS; i++)
    (void)call(&product, c[0]);
  assert_false(call(&product, c[0]));
}

/* A rival of sub-plans is made like any other plan. */
static void a_rival_may_have_sub_plans(void **state) {
  const tsl_problem problem = tsl_problem_gemm(SIZE, SIZE, SIZE, TESELA_C64);
  tsl_devices *devices;
  tsl_device *device;
  tsl_candidate *list, second = {.strategy = NULL};
  tsl_plan *plan, *rival;
  bool has_run = false;
  int count;
  (void)state;
  must(tsl_devices_create(&devices));
  if (tsl_devices_find(devices, "opencl:0", &device) != TESELA_OK) {
    tsl_devices_destroy(devices);
    skip();
  }
  tsl_choice choice = {.devices = devices, .device = device->name, .strategy = "complex_real"};
  must(tsl_planner_list(&problem, &choice, &list, &count));
  second = list[0];
  free(list);
  must(tsl_planner_make(&problem, &choice, &second, &rival)); /* so that its kernels are trusted */
  tsl_plan_destroy(rival);
  choice.strategy = "register_tile";
  must(tsl_planner_list(&problem, &choice, &list, &count));
  must(tsl_planner_take(&problem, &choice, list, count, &plan));
  free(list);
  second.seconds = plan->expected = 1;
  tsl_plan_race *race = tsl_plan_race_of(plan, &second, devices);
  assert_non_null(race);
  for (int i = 0; i < CALLS && !has_run; i++) {
    const tsl_race_turn turn = tsl_plan_race_begin(race, plan);
    has_run = turn.plan->work.strategy == second.strategy;
    assert_null(tsl_plan_race_end(race, &turn, true));
  }
  assert_true(has_run);
  tsl_plan_race_free(race);
  tsl_plan_destroy(plan);
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_slower_plan_is_replaced, open_context, close_context),
      cmocka_unit_test_setup_teardown(repeated_bits_are_not_raced, open_context, close_context),
      cmocka_unit_test_setup_teardown(named_strategies_are_not_raced, open_context, close_context),
      cmocka_unit_test_setup_teardown(threads_share_a_race, open_context, close_context),
      cmocka_unit_test(a_rival_may_have_sub_plans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
