/* test_api_vendor [STRATEGY DEVICE]: a vendor's library used by the public calls (default:
 * vendor_openblas on the cpu). The library is selected by name and by TESELA_VENDORS, and called
 * from many threads at once. On the cpu it is also called before and after a fork, because such
 * libraries start threads of their own. The test is skipped where the library or the device is
 * missing. */
#include "unit/unit.h"

#include <tesela/tesela.h>

#include "strategy/strategy.h"
#include "strategy/strategy_list.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/sanitizers.h"

/* Large enough for the library's own threads. */
enum { THREADS = 4, ROUNDS = 10, SIZE = 192 };

static const char *vendor = "vendor_openblas", *device = "cpu";
static float a[SIZE * SIZE], b[SIZE * SIZE], expected[SIZE * SIZE];

static void fill(void) {
  for (int i = 0; i < SIZE * SIZE; i++) {
    a[i] = (float)(i % 7 - 3);
    b[i] = (float)(i % 5 - 2);
  }
  for (int i = 0; i < SIZE; i++)
    for (int l = 0; l < SIZE; l++)
      for (int j = 0; j < SIZE; j++)
        expected[i * SIZE + j] += a[i * SIZE + l] * b[l * SIZE + j];
}

/* Returns NULL when one product through a context is right, otherwise the text of the error. */
static const char *multiply(tesela_context *context, const char *strategy, char plan[512]) {
  float *c = malloc(sizeof expected);
  const tesela_gemm_desc desc = {.m = SIZE,
                                 .n = SIZE,
                                 .k = SIZE,
                                 .a = {.data = a},
                                 .b = {.data = b},
                                 .c = {.data = c},
                                 .options.device = device,
                                 .options.strategy = strategy};
  tesela_record record;
  const char *wrong = NULL;
  if (!c)
    return "no memory";
  memset(c, 0xff, sizeof expected); /* NaN */
  if (tesela_gemm(context, &desc, &record) != TESELA_OK)
    wrong = tesela_last_error();
  else if (memcmp(c, expected, sizeof expected) != 0)
    wrong = "the product is wrong";
  else if (plan)
    snprintf(plan, 512, "%s", record.plan);
  free(c);
  return wrong;
}

static void right(tesela_context *context, const char *strategy, char plan[512]) {
  const char *wrong = multiply(context, strategy, plan);
  if (wrong)
    fail_msg("%s", wrong);
}

static tesela_context *make_context(void) {
  tesela_context *context;
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  return context;
}

static void a_name_asks_for_it(void **state) {
  (void)state;
  tesela_context *context = make_context();
  char plan[512], start[96];
  unsetenv("TESELA_VENDORS");
  right(context, vendor, plan);
  snprintf(start, sizeof start, "gemm %s version=1 device=%s ", vendor, device);
  assert_int_equal(strncmp(plan, start, strlen(start)), 0);
  right(context, NULL, plan);
  assert_null(strstr(plan, "vendor_"));
  tesela_plan *parsed;
  right(context, vendor, plan);
  assert_int_equal(tesela_plan_parse(context, plan, &parsed), TESELA_OK);
  tesela_plan_destroy(parsed);
  tesela_context_destroy(context);
}

/* Which strategy wins is the planner's business; that the choice is right is ours. */
static void the_environment_lets_it_in(void **state) {
  (void)state;
  tesela_context *context = make_context();
  setenv("TESELA_VENDORS", "1", 1);
  right(context, NULL, NULL);
  unsetenv("TESELA_VENDORS");
  tesela_context_destroy(context);
}

static void *work(void *context) {
  for (int round = 0; round < ROUNDS; round++) {
    const char *wrong = multiply(context, vendor, NULL);
    if (wrong)
      return strdup(wrong);
  }
  return NULL;
}

static void many_threads_call_it(void **state) {
  (void)state;
  tesela_context *context = make_context();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, context), 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    if (wrong)
      fail_msg("%s", (char *)wrong);
  }
  tesela_context_destroy(context);
}

static void it_works_on_both_sides_of_a_fork(void **state) {
  (void)state;
  if (strcmp(device, "cpu") != 0) {
    print_message("drivers of devices do not survive a fork\n");
    skip();
  }
  if (THREAD_SANITIZER) {
    print_message("the thread sanitizer does not survive threads in the child of a fork\n");
    skip();
  }
  tesela_context *context = make_context();
  right(context, vendor, NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(multiply(context, vendor, NULL) || multiply(context, "blocked", NULL));
  }
  right(context, vendor, NULL);
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
  right(context, vendor, NULL);
  tesela_context_destroy(context);
}

/* Why the tests cannot run here, or NULL. */
static const char *missing(void) {
  static char why[256];
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, vendor);
  tesela_context *context;
  tesela_buffer *buffer;
  if (!strategy || !strategy->vendor.load)
    return "there is no such strategy";
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return NULL;
  if (tesela_buffer_create(context, device, 1, &buffer) == TESELA_OK)
    tesela_buffer_destroy(buffer);
  else
    snprintf(why, sizeof why, "%s", tesela_last_error());
  tesela_context_destroy(context);
  if (!why[0] && strategy->vendor.load()->why_not[0])
    snprintf(why, sizeof why, "%s", strategy->vendor.load()->why_not);
  if (!why[0])
    printf("%s, %s\n", strategy->vendor.load()->name, strategy->vendor.load()->file);
  return why[0] ? why : NULL;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_asks_for_it),
      cmocka_unit_test(the_environment_lets_it_in),
      cmocka_unit_test(many_threads_call_it),
      cmocka_unit_test(it_works_on_both_sides_of_a_fork),
  };
  if (argc == 3) {
    vendor = argv[1];
    device = argv[2];
  }
  if (missing()) {
    printf("skipped: %s\n", missing());
    return 77;
  }
  fill();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
