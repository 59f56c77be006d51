/* Wisdom by call: imported, exported, forgotten, while other threads plan and run. */
#include "unit/calls.h"

#include <tesela/tesela.h>

#include "device/devices.h"
#include "planner/planner_wisdom.h"
#include "scratch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 96 };

static const char slow_one[] = "sequential"; /* nothing chooses it here but a record of it */
static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
static const tesela_gemm_desc product = {.m = SIZE,
                                         .n = SIZE,
                                         .k = SIZE,
                                         .a = {.data = a},
                                         .b = {.data = b},
                                         .c = {.data = c},
                                         .options.device = "cpu"};
static char line[1024]; /* a record that makes the product one of slow_one */
static tesela_context *context;

static int begin(void **state) {
  tsl_devices *devices;
  tsl_device *cpu;
  tsl_text text = {0};
  const tsl_problem problem = tsl_problem_gemm(SIZE, SIZE, SIZE, TESELA_F32);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, slow_one);
  const tsl_config config = tsl_strategy_defaults(strategy);
  (void)state;
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "cpu", &cpu));
  const double seconds = tsl_problem_flops(&problem) / (2 * cpu->peak_f32); /* all that is believed */
  const tsl_wisdom_record record = tsl_wisdom_record_of(&problem, strategy, &config, cpu, seconds, 0.01);
  tsl_wisdom_print(&record, &text);
  snprintf(line, sizeof line, "%s\n", tsl_text_get(&text));
  tsl_text_free(&text);
  tsl_devices_destroy(devices);
  /* The last term tells a fused multiply-add from two operations. */
  for (int i = 0; i < SIZE * SIZE; i++) {
    a[i] = i % SIZE == SIZE - 1 ? 1 + 0x1p-12F : i % SIZE == 0 ? 1 : 0;
    b[i] = i / SIZE == SIZE - 1 ? 1 + 0x1p-12F : i / SIZE == 0 ? -1 : 0;
  }
  return 0;
}

static int open_context(void **state) {
  (void)state;
  must(tesela_context_create(NULL, &context));
  return 0;
}

static int close_context(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

static void expect_export(const char *expected) {
  char *text;
  must(tesela_wisdom_export(context, &text));
  assert_string_equal(text, expected);
  tesela_text_free(text);
}

/* Returns true when calls run the slow strategy: by the record, and by the result's bits. Calls
 * without a record may be served by a thread's table of plans. */
static bool runs_slow_one(void) {
  tesela_record record;
  float bits[SIZE * SIZE];
  must(tesela_gemm(context, &product, &record));
  const bool slow = strstr(record.plan, slow_one) != NULL;
  memcpy(bits, c, sizeof bits);
  for (int i = 0; i < 4; i++) {
    memset(c, 0, sizeof c);
    must(tesela_gemm(context, &product, NULL));
    assert_memory_equal(c, bits, sizeof bits);
  }
  return slow;
}

static void what_is_imported_is_used_and_forgotten(void **state) {
  (void)state;
  tesela_plan *plan;
  assert_false(runs_slow_one());
  expect_export("");
  must(tesela_wisdom_import(context, line));
  assert_true(runs_slow_one());
  expect_export(line);
  must(tesela_plan_create(context, &product, &plan));
  must(tesela_wisdom_forget(context));
  assert_false(runs_slow_one());
  expect_export("");
  assert_non_null(strstr(tesela_plan_describe(plan), slow_one)); /* it stays as it was made */
  must(tesela_plan_run(plan, &(tesela_operands){.a = &product.a, .b = &product.b, .c = &product.c}, NULL));
  tesela_plan_destroy(plan);
}

static void a_text_is_imported_whole_or_not(void **state) {
  (void)state;
  char text[4096], other[1024], *exported;
  snprintf(text, sizeof text, "# a comment\n\n%sgemm sequential version=1 m=nine\n", line);
  expect(tesela_wisdom_import(context, text), TESELA_BAD_INPUT, "line 4: m=nine");
  expect_export("");
  assert_false(runs_slow_one());
  expect(tesela_wisdom_import(context, "what is this"), TESELA_BAD_INPUT, "line 1");
  /* A line of an unknown strategy is kept, for versions that have the strategy. */
  snprintf(other, sizeof other, "gemm not_here%s", strstr(line, " version="));
  snprintf(text, sizeof text, "# a comment\r\n\r\n%s%s", line, other);
  must(tesela_wisdom_import(context, text));
  snprintf(text, sizeof text, "%s%s", line, other);
  expect_export(text);
  must(tesela_wisdom_import(context, text)); /* nothing twice */
  expect_export(text);
  must(tesela_wisdom_import(context, ""));
  must(tesela_wisdom_export(context, &exported));
  must(tesela_wisdom_forget(context));
  must(tesela_wisdom_import(context, exported));
  assert_true(runs_slow_one());
  tesela_text_free(exported);
}

static void wrong_calls_are_refused(void **state) {
  (void)state;
  char *text = line;
  expect(tesela_wisdom_import(NULL, ""), TESELA_BAD_CALL, "context is NULL");
  expect(tesela_wisdom_import(context, NULL), TESELA_BAD_CALL, "text is NULL");
  expect(tesela_wisdom_export(context, NULL), TESELA_BAD_CALL, "text is NULL");
  expect(tesela_wisdom_export(NULL, &text), TESELA_BAD_CALL, "context is NULL");
  assert_null(text);
  expect(tesela_wisdom_forget(NULL), TESELA_BAD_CALL, "context is NULL");
  tesela_text_free(NULL);
}

static void expect_file(const char *path, const char *expected) {
  tsl_text text = {0};
  must(tsl_wisdom_read(path, false, &text));
  assert_string_equal(tsl_text_get(&text), expected);
  tsl_text_free(&text);
}

static void the_users_file_is_read_and_stays(void **state) {
  (void)state;
  scratch files;
  char text[2048];
  scratch_create(&files);
  const char *path = scratch_path(&files, "wisdom");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  snprintf(text, sizeof text, "# mine\n%snot a record\n", line);
  fputs(text, file);
  fclose(file);
  setenv("TESELA_WISDOM", path, 1);
  assert_true(runs_slow_one());
  expect_export(line); /* an invalid line cannot be imported */
  must(tesela_wisdom_forget(context));
  assert_false(runs_slow_one());
  expect_export("");
  expect_file(path, text);
  close_context(NULL);
  open_context(NULL);
  must(tesela_wisdom_forget(context)); /* before it was read */
  assert_false(runs_slow_one());
  close_context(NULL);
  open_context(NULL);
  assert_true(runs_slow_one());
  setenv("TESELA_WISDOM", "none", 1);
  scratch_remove(&files);
}

/* --- threads --- */

enum { THREADS = 4, CHANGES = 60 };
static atomic_bool done;
static atomic_int wrong;

static void *multiply(void *argument) {
  const int64_t size = 8 + 8 * *(const int *)argument;
  float x[64 * 64], y[64 * 64], z[64 * 64];
  for (int i = 0; i < 64 * 64; i++)
    x[i] = y[i] = 1;
  tesela_gemm_desc desc = {.m = size,
                           .n = size,
                           .k = size,
                           .a = {.data = x},
                           .b = {.data = y},
                           .c = {.data = z},
                           .options.device = "cpu"};
  for (int turn = 0; !atomic_load(&done); turn++) {
    tesela_record record;
    tesela_plan *plan = NULL;
    desc.m = 1 + turn % size; /* sizes that are known, and some that are not */
    tesela_status status = tesela_gemm(context, &desc, turn % 3 ? NULL : &record);
    if (status == TESELA_OK && turn % 5 == 0)
      status = tesela_plan_create(context, &desc, &plan);
    if (plan)
      status = tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL);
    tesela_plan_destroy(plan);
    if (status != TESELA_OK || z[0] != (float)size)
      atomic_fetch_add(&wrong, 1);
  }
  return NULL;
}

static void others_plan_meanwhile(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  int sizes[THREADS];
  for (int i = 0; i < THREADS; i++) {
    sizes[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, multiply, &sizes[i]), 0);
  }
  for (int i = 0; i < CHANGES; i++) {
    must(tesela_wisdom_import(context, line));
    assert_true(runs_slow_one());
    must(tesela_wisdom_forget(context));
    assert_false(runs_slow_one());
  }
  atomic_store(&done, true);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(atomic_load(&wrong), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_imported_is_used_and_forgotten, open_context, close_context),
      cmocka_unit_test_setup_teardown(a_text_is_imported_whole_or_not, open_context, close_context),
      cmocka_unit_test_setup_teardown(wrong_calls_are_refused, open_context, close_context),
      cmocka_unit_test_setup_teardown(the_users_file_is_read_and_stays, open_context, close_context),
      cmocka_unit_test_setup_teardown(others_plan_meanwhile, open_context, close_context)};
  return cmocka_run_group_tests(tests, begin, NULL);
}
