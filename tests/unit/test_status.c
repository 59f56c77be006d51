#include "core/status.h"

#include "unit/unit.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void test_names(void **state) {
  (void)state;
  assert_string_equal(tesela_status_name(TESELA_OK), "OK");
  assert_string_equal(tesela_status_name(TESELA_BAD_CALL), "BAD_CALL");
  assert_string_equal(tesela_status_name(TESELA_INTERNAL), "INTERNAL");
  assert_string_equal(tesela_status_name((tesela_status)11), "?");
  assert_string_equal(tesela_status_name((tesela_status)-1), "?");
}

static void test_version(void **state) {
  (void)state;
  char expected[64];
  snprintf(expected, sizeof expected, "%d.%d.%d", TESELA_VERSION_MAJOR, TESELA_VERSION_MINOR,
           TESELA_VERSION_PATCH);
  assert_string_equal(tesela_version(), expected);
}

static void test_sentence(void **state) {
  (void)state;
  assert_int_equal(tsl_fail(TESELA_BAD_CALL, "m is %d; sizes are 0 or more", -3), TESELA_BAD_CALL);
  assert_string_equal(tesela_last_error(), "m is -3; sizes are 0 or more");
  assert_int_equal(tsl_fail_in(TESELA_BAD_INPUT, "line %d", 7), TESELA_BAD_INPUT);
  assert_string_equal(tesela_last_error(), "line 7: m is -3; sizes are 0 or more");
}

static void test_control_characters_are_replaced(void **state) {
  (void)state;
  tsl_fail(TESELA_BAD_INPUT, "a\nb\x1b[31m\x7f: is wrong");
  assert_string_equal(tesela_last_error(), "a?b?[31m?: is wrong");
  tsl_fail_in(TESELA_BAD_INPUT, "caf\xc3\xa9\r");
  assert_string_equal(tesela_last_error(), "caf\xc3\xa9?: a?b?[31m?: is wrong");
}

static void test_sentence_as_its_own_argument(void **state) {
  (void)state;
  tsl_fail(TESELA_INTERNAL, "inner");
  tsl_fail(TESELA_INTERNAL, "outer (%s)", tesela_last_error());
  assert_string_equal(tesela_last_error(), "outer (inner)");
  tsl_fail_in(TESELA_INTERNAL, "%s again", tesela_last_error());
  assert_string_equal(tesela_last_error(), "outer (inner) again: outer (inner)");
}

static void test_errno_is_kept(void **state) {
  (void)state;
  errno = ENOENT;
  tsl_fail(TESELA_IO_FAILED, "cannot open x: %m");
  assert_int_equal(errno, ENOENT);
  assert_string_equal(tesela_last_error(), "cannot open x: No such file or directory");
}

static void test_long_sentences_are_cut(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = '\0';
  tsl_fail(TESELA_BAD_INPUT, "%s", text);
  assert_int_equal(strlen(tesela_last_error()), 1023);
  tsl_fail_in(TESELA_BAD_INPUT, "here");
  assert_int_equal(strlen(tesela_last_error()), 1023);
  assert_memory_equal(tesela_last_error(), "here: aaa", 9);
  tsl_fail_in(TESELA_BAD_INPUT, "%s", text);
  assert_int_equal(strlen(tesela_last_error()), 1023);
}

/* A cut never leaves a piece of a UTF-8 character, wherever it falls. */
static void test_cut_between_characters(void **state) {
  (void)state;
  static const char *const characters[] = {"\xc3\xb1", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (int c = 0; c < 3; c++) {
    const size_t size = strlen(characters[c]);
    for (size_t before = 0; before < 4; before++) {
      char text[1200] = "";
      memset(text, '.', before);
      for (size_t at = before; at + size < sizeof text; at += size)
        memcpy(text + at, characters[c], size + 1);
      const size_t whole = before + (1023 - before) / size * size;
      tsl_fail(TESELA_BAD_INPUT, "%s", text);
      assert_int_equal(strlen(tesela_last_error()), whole);
      assert_memory_equal(tesela_last_error(), text, whole);
    }
  }
  /* A sentence of the greatest length is not cut. */
  char exact[1024];
  memset(exact, 'x', sizeof exact);
  memcpy(exact + 1021, "\xc3\xb1", 3);
  tsl_fail(TESELA_BAD_INPUT, "%s", exact);
  assert_string_equal(tesela_last_error(), exact);
}

static void test_save_and_restore(void **state) {
  (void)state;
  tsl_status_saved saved;
  tsl_fail(TESELA_DEVICE_FAILED, "first");
  tsl_status_save(&saved);
  tsl_fail(TESELA_DEVICE_FAILED, "second");
  tsl_status_restore(&saved);
  assert_string_equal(tesela_last_error(), "first");
}

static void test_log(void **state) {
  (void)state;
  assert_string_equal(tesela_last_log(), "");
  char log[] = "kernel.cl:3: error: no such type";
  tsl_status_keep_log(log);
  log[0] = 'X';
  assert_string_equal(tesela_last_log(), "kernel.cl:3: error: no such type");
  tsl_status_keep_log(tesela_last_log());
  assert_string_equal(tesela_last_log(), "kernel.cl:3: error: no such type");
  tsl_status_keep_log(NULL);
  assert_string_equal(tesela_last_log(), "");
  /* Left for the end of the process: a leak checker must not find it. */
  tsl_status_keep_log("the main thread's");
}

typedef struct thread_report {
  int number;
  bool clean, own;
} thread_report;

static void *fail_in_thread(void *argument) {
  thread_report *const report = argument;
  report->clean = tesela_last_error()[0] == '\0' && tesela_last_log()[0] == '\0';
  char expected[32];
  snprintf(expected, sizeof expected, "thread %d", report->number);
  report->own = true;
  for (int i = 0; i < 1000; i++) {
    tsl_fail(TESELA_INTERNAL, "thread %d", report->number);
    tsl_status_keep_log(expected);
    report->own =
        report->own && strcmp(tesela_last_error(), expected) == 0 && strcmp(tesela_last_log(), expected) == 0;
  }
  return NULL;
}

static void test_threads_do_not_share(void **state) {
  (void)state;
  tsl_fail(TESELA_INTERNAL, "main");
  pthread_t threads[4];
  thread_report reports[4];
  for (int i = 0; i < 4; i++) {
    reports[i] = (thread_report){.number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, fail_in_thread, &reports[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    assert_true(reports[i].clean);
    assert_true(reports[i].own);
  }
  assert_string_equal(tesela_last_error(), "main");
}

static tesela_status tries(tesela_status inner) {
  TSL_TRY(inner);
  return TESELA_INTERNAL;
}

static tesela_status goes(tesela_status inner, int *cleaned) {
  tesela_status status = TESELA_OK;
  TSL_GO(inner);
  status = TESELA_INTERNAL;
out:
  ++*cleaned;
  return status;
}

static void test_try_and_go(void **state) {
  (void)state;
  int cleaned = 0;
  assert_int_equal(tries(TESELA_NO_DEVICE), TESELA_NO_DEVICE);
  assert_int_equal(tries(TESELA_OK), TESELA_INTERNAL);
  assert_int_equal(goes(TESELA_NO_DEVICE, &cleaned), TESELA_NO_DEVICE);
  assert_int_equal(goes(TESELA_OK, &cleaned), TESELA_INTERNAL);
  assert_int_equal(cleaned, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_version),
      cmocka_unit_test(test_sentence),
      cmocka_unit_test(test_control_characters_are_replaced),
      cmocka_unit_test(test_sentence_as_its_own_argument),
      cmocka_unit_test(test_errno_is_kept),
      cmocka_unit_test(test_long_sentences_are_cut),
      cmocka_unit_test(test_cut_between_characters),
      cmocka_unit_test(test_save_and_restore),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_threads_do_not_share),
      cmocka_unit_test(test_try_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
