/* Texts that calls leave behind for their threads. */
#include "unit/unit.h"

#include "core/thread_string.h"

#include <pthread.h>
#include <string.h>

static void texts_of_any_length_are_kept(void **state) {
  (void)state;
  static char text[20000];
  for (size_t length = 1; length < sizeof text; length = 3 * length + 1) {
    memset(text, 'a', length);
    assert_string_equal(tsl_thread_text_keep(TSL_THREAD_PLAN, text), text);
    assert_string_equal(tsl_thread_text(TSL_THREAD_PLAN), text);
  }
  assert_string_equal(tsl_thread_text_keep(TSL_THREAD_PLAN, "short"), "short");
  assert_string_equal(tsl_thread_text(TSL_THREAD_LOG), "");
  assert_string_equal(tsl_thread_text_keep(TSL_THREAD_PLAN, tsl_thread_text(TSL_THREAD_PLAN) + 1), "hort");
}

static void *keep_another(void *argument) {
  const int was_empty = tsl_thread_text(TSL_THREAD_PLAN)[0] == '\0';
  const char *kept = tsl_thread_text_keep(TSL_THREAD_PLAN, "of another thread");
  *(int *)argument = was_empty && strcmp(kept, "of another thread") == 0;
  return NULL;
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  pthread_t thread;
  int good = 0;
  const char *kept = tsl_thread_text_keep(TSL_THREAD_PLAN, "of this thread");
  assert_int_equal(pthread_create(&thread, NULL, keep_another, &good), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(good);
  assert_string_equal(kept, "of this thread");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(texts_of_any_length_are_kept),
                                     cmocka_unit_test(each_thread_has_its_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
