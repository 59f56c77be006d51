/* The kernel cache in memory: one build, or one failure, for all callers, from any number of
 * threads. */
#include "jit_fixture.h"

#include "core/progress_hook.h"
#include "device/devices.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static tesela_status ask_for(const copier *c, const tsl_build *build, tsl_module **module, double *seconds) {
  return tsl_jit_module(c->device, build, module, seconds);
}

/* Equal builds share an entry. A build that differs in any member has another entry. */
static void test_memory(void **state) {
  copier c = copier_begin();
  const tsl_build builds[] = {{"a", "text", "", false},   {"b", "text", "", false},
                              {"a", "text2", "", false},  {"a", "text", "-x", false},
                              {"a", "text\n", "", false}, {"", "atext", "", false}};
  tsl_module *first[6], *again;
  double seconds;
  (void)state;
  for (int i = 0; i < 6; i++) {
    seconds = -1;
    assert_int_equal(ask_for(&c, &builds[i], &first[i], &seconds), TESELA_OK);
    assert_true(seconds > 0);
    assert_int_equal(copier_builds, i + 1);
    for (int other = 0; other < i; other++)
      assert_ptr_not_equal(first[i], first[other]);
  }
  for (int i = 0; i < 6; i++) {
    assert_int_equal(ask_for(&c, &builds[i], &again, &seconds), TESELA_OK);
    assert_ptr_equal(again, first[i]);
    assert_true(seconds == 0);
  }
  assert_int_equal(copier_builds, 6);
  assert_int_equal(copier_modules, 6);
  copier_end(&c);
}

static void test_failure(void **state) {
  copier c = copier_begin();
  const tsl_build build = {.name = "bad", .text = "#error", .options = ""};
  tsl_module *module = (tsl_module *)&c;
  (void)state;
  for (int i = 1; i <= 2; i++) { /* a failure is not remembered */
    assert_int_equal(ask_for(&c, &build, &module, NULL), TESELA_BUILD_FAILED);
    assert_null(module);
    assert_string_equal(tesela_last_error(), "copier:0: bad does not compile");
    assert_string_equal(tesela_last_log(), "line 1: #error\n");
    assert_int_equal(copier_builds, i);
  }
  assert_int_equal(cache_listed().entries, 0);
  /* A binary that the device itself has just made and does not take is a failure, too. */
  atomic_store(&copier_refuses, true);
  const tsl_build good = {.name = "good", .text = "text", .options = ""};
  assert_int_equal(ask_for(&c, &good, &module, NULL), TESELA_BUILD_FAILED);
  assert_int_equal(cache_listed().entries, 0);
  copier_end(&c);
}

static void test_no_compiler(void **state) {
  tsl_devices *devices;
  tsl_device *cpu;
  const tsl_build build = {.name = "a", .text = "text", .options = ""};
  tsl_module *module;
  (void)state;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  assert_int_equal(tsl_jit_module(cpu, &build, &module, NULL), TESELA_UNSUPPORTED);
  assert_string_equal(tesela_last_error(), "cpu: compiles no kernels");
  tsl_devices_destroy(devices);
}

/* --- many threads --- */

enum { THREADS = 8 };

typedef struct asker {
  const copier *c;
  const char *text;
  tesela_status status;
  tsl_module *module;
  char sentence[128], log[128];
} asker;

static void *ask(void *argument) {
  asker *a = argument;
  const tsl_build build = {.name = "shared", .text = a->text, .options = ""};
  a->status = tsl_jit_module(a->c->device, &build, &a->module, NULL);
  snprintf(a->sentence, sizeof a->sentence, "%s", tesela_last_error());
  snprintf(a->log, sizeof a->log, "%s", tesela_last_log());
  return NULL;
}

static void ask_together(asker *askers, int count) {
  pthread_t threads[THREADS];
  for (int i = 0; i < count; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

static void build_slowly(const tsl_build *build) {
  const struct timespec pause = {.tv_nsec = 100000000};
  (void)build;
  nanosleep(&pause, NULL);
}

static void test_threads_share_a_build(void **state) {
  copier c = copier_begin();
  asker askers[THREADS];
  (void)state;
  copier_during_build = build_slowly;
  for (int i = 0; i < THREADS; i++)
    askers[i] = (asker){.c = &c, .text = "one"};
  ask_together(askers, THREADS);
  assert_int_equal(copier_builds, 1);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(askers[i].status, TESELA_OK);
    assert_ptr_equal(askers[i].module, askers[0].module);
  }
  copier_end(&c);
}

/* Every thread that waited for a failed build gets the error of the thread that built. */
static void test_threads_share_a_failure(void **state) {
  copier c = copier_begin();
  asker askers[THREADS];
  (void)state;
  copier_during_build = build_slowly;
  for (int i = 0; i < THREADS; i++)
    askers[i] = (asker){.c = &c, .text = "#error"};
  ask_together(askers, THREADS);
  assert_true(copier_builds >= 1 && copier_builds < THREADS);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(askers[i].status, TESELA_BUILD_FAILED);
    assert_null(askers[i].module);
    assert_string_equal(askers[i].sentence, "copier:0: shared does not compile");
    assert_string_equal(askers[i].log, "line 1: #error\n");
  }
  copier_end(&c);
}

static pthread_mutex_t meeting_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t meeting = PTHREAD_COND_INITIALIZER;
static int arrived;
static bool met;

/* Waits inside the compiler until another build is there, too. */
static void build_and_meet(const tsl_build *build) {
  struct timespec limit;
  (void)build;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 30;
  pthread_mutex_lock(&meeting_lock);
  met = ++arrived == 2 || met;
  pthread_cond_broadcast(&meeting);
  while (!met && pthread_cond_timedwait(&meeting, &meeting_lock, &limit) == 0)
    continue;
  pthread_mutex_unlock(&meeting_lock);
}

static void test_threads_build_side_by_side(void **state) {
  copier c = copier_begin();
  asker askers[2] = {{.c = &c, .text = "one"}, {.c = &c, .text = "two"}};
  (void)state;
  copier_during_build = build_and_meet;
  ask_together(askers, 2);
  assert_true(met);
  assert_int_equal(copier_builds, 2);
  assert_ptr_not_equal(askers[0].module, askers[1].module);
  copier_end(&c);
}

/* --- progress reports to waiting callers --- */

static char told[256];

static void listen(const char *what) {
  const size_t length = strlen(told);
  snprintf(told + length, sizeof told - length, "%s;", what ? what : "over");
}

/* Only compilations are reported: a kernel in memory or on disk takes no time. A failed build
 * reports its end too. */
static void test_compiler_is_told(void **state) {
  const tsl_build build = {.name = "a", .text = "text", .options = ""},
                  bad = {.name = "bad", .text = "#error", .options = ""};
  static const char *const once = "compiling a for copier:0, the first time;over;";
  tsl_module *module;
  (void)state;
  copier c = copier_begin();
  told[0] = '\0';
  tsl_long_operation_set_callback(listen);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(ask_for(&c, &build, &module, NULL), TESELA_OK);
    assert_string_equal(told, once);
  }
  copier_end(&c);
  c = copier_begin();
  copier_builds = 0;
  assert_int_equal(ask_for(&c, &build, &module, NULL), TESELA_OK);
  assert_int_equal(copier_builds, 0);
  assert_string_equal(told, once);
  told[0] = '\0';
  assert_int_equal(ask_for(&c, &bad, &module, NULL), TESELA_BUILD_FAILED);
  assert_string_equal(told, "compiling bad for copier:0, the first time;over;");
  tsl_long_operation_set_callback(NULL);
  copier_end(&c);
}

int main(void) {
#define CACHE_TEST(function) cmocka_unit_test_setup_teardown(function, cache_begin, cache_end)
  const struct CMUnitTest tests[] = {
      CACHE_TEST(test_memory),
      CACHE_TEST(test_failure),
      CACHE_TEST(test_no_compiler),
      CACHE_TEST(test_threads_share_a_build),
      CACHE_TEST(test_threads_share_a_failure),
      CACHE_TEST(test_threads_build_side_by_side),
      CACHE_TEST(test_compiler_is_told),
  };
  tsl_device_kind_add(&copier_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
