#include "core/env.h"
#include "core/log.h"

#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_table(void **state) {
  (void)state;
  int count = 0;
  for (const tsl_env_info *info; (info = tsl_env_info_at(count)); count++) {
    assert_memory_equal(info->name, "TESELA_", 7);
    assert_non_null(info->fallback);
    assert_true(strlen(info->what) > 0);
    unsetenv(info->name);
    assert_string_equal(tsl_env_get((tsl_env)count), info->fallback);
    assert_int_equal(setenv(info->name, "a value", 1), 0);
    assert_string_equal(tsl_env_get((tsl_env)count), "a value");
    assert_int_equal(setenv(info->name, "", 1), 0);
    assert_string_equal(tsl_env_get((tsl_env)count), info->fallback);
    unsetenv(info->name);
  }
  assert_int_equal(count, TSL_ENV_COUNT);
  assert_null(tsl_env_info_at(-1));
  assert_string_equal(tsl_env_info_at(TSL_ENV_DEVICE)->name, "TESELA_DEVICE");
  assert_string_equal(tsl_env_get(TSL_ENV_DEVICE), "auto");
}

/* A variable with words accepts each word of its list, and no other word. */
static void test_words(void **state) {
  (void)state;
  int worded = 0;
  for (int i = 0; i < TSL_ENV_COUNT; i++) {
    const char *name = tsl_env_info_at(i)->name;
    const char *const *words = tsl_env_words((tsl_env)i);
    setenv(name, "no such word", 1);
    assert_int_equal(tsl_env_check((tsl_env)i), words ? TESELA_BAD_CALL : TESELA_OK);
    for (int w = 0; words && words[w]; w++) {
      if (*tsl_env_info_at(i)->fallback && w == 0)
        assert_non_null(strstr(tesela_last_error(), words[w]));
      setenv(name, words[w], 1);
      assert_int_equal(tsl_env_check((tsl_env)i), TESELA_OK);
    }
    worded += words != NULL;
    unsetenv(name);
    assert_int_equal(tsl_env_check((tsl_env)i), TESELA_OK);
  }
  assert_int_equal(worded, 8);
}

/* A context refuses a wrong word of the variables that the library reads when it needs them. */
static void test_context_refuses(void **state) {
  (void)state;
  static const tsl_env read_late[] = {TSL_ENV_JIT, TSL_ENV_COPIES, TSL_ENV_SELFTEST, TSL_ENV_VENDORS};
  for (size_t i = 0; i < sizeof read_late / sizeof *read_late; i++) {
    const char *name = tsl_env_info_at((int)read_late[i])->name;
    tesela_context *context = NULL;
    setenv(name, "yes", 1);
    assert_int_equal(tesela_context_create(NULL, &context), TESELA_BAD_CALL);
    assert_non_null(strstr(tesela_last_error(), name));
    unsetenv(name);
  }
}

/* stderr goes to a file between these two calls. */
static int real_stderr;
static FILE *caught;

static void catch_stderr(void) {
  fflush(stderr);
  caught = tmpfile();
  assert_non_null(caught);
  real_stderr = dup(STDERR_FILENO);
  assert_true(dup2(fileno(caught), STDERR_FILENO) >= 0);
}

/* Returns the text that was written to stderr, NUL-terminated. The caller frees it. */
static char *caught_text(void) {
  assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
  close(real_stderr);
  const long size = lseek(fileno(caught), 0, SEEK_END);
  assert_true(size >= 0);
  char *const text = calloc((size_t)size + 1, 1);
  assert_non_null(text);
  assert_int_equal(pread(fileno(caught), text, (size_t)size, 0), size);
  fclose(caught);
  return text;
}

static void listen_to(const char *topics) {
  if (topics)
    assert_int_equal(setenv("TESELA_LOG", topics, 1), 0);
  else
    unsetenv("TESELA_LOG");
  tsl_log_reload();
}

static void expect_topics(const char *topics, bool plan, bool calls, bool cache, bool device) {
  listen_to(topics);
  assert_int_equal(tsl_log_wants(TSL_LOG_PLAN), plan);
  assert_int_equal(tsl_log_wants(TSL_LOG_CALLS), calls);
  assert_int_equal(tsl_log_wants(TSL_LOG_CACHE), cache);
  assert_int_equal(tsl_log_wants(TSL_LOG_DEVICE), device);
}

static void test_topics(void **state) {
  (void)state;
  catch_stderr();
  expect_topics(NULL, false, false, false, false);
  expect_topics("", false, false, false, false);
  expect_topics("plan", true, false, false, false);
  expect_topics("plan,cache", true, false, true, false);
  expect_topics(" calls , device,", false, true, false, true);
  expect_topics("all", true, true, true, true);
  expect_topics(",,,", false, false, false, false);
  char *const text = caught_text();
  assert_string_equal(text, "");
  free(text);
}

static void test_unknown_topic(void **state) {
  (void)state;
  catch_stderr();
  expect_topics("plam,cache", false, false, true, false);
  char *const text = caught_text();
  assert_string_equal(
      text, "tesela: TESELA_LOG names no topic: \"plam\"; topics are plan, calls, cache, device, all\n");
  free(text);
}

static void test_lines(void **state) {
  (void)state;
  listen_to("plan");
  catch_stderr();
  errno = ERANGE;
  tsl_log(TSL_LOG_PLAN, "chose %s for %d", "element", 3);
  tsl_log(TSL_LOG_CACHE, "not heard");
  tsl_log(TSL_LOG_PLAN, "two\nlines\r\n");
  assert_int_equal(errno, ERANGE);
  char *const text = caught_text();
  assert_string_equal(text, "tesela plan: chose element for 3\ntesela plan: two lines  \n");
  free(text);
}

static void test_long_line(void **state) {
  (void)state;
  listen_to("all");
  const size_t length = 100000;
  char *const word = malloc(length + 1);
  assert_non_null(word);
  memset(word, 'w', length);
  word[length] = '\0';
  catch_stderr();
  tsl_log(TSL_LOG_DEVICE, "%s", word);
  char *const text = caught_text();
  assert_int_equal(strlen(text), strlen("tesela device: ") + length + 1);
  assert_memory_equal(text + strlen("tesela device: "), word, length);
  free(text);
  free(word);
}

/* A closed stderr is no reason to fail. */
static void test_closed_stderr(void **state) {
  (void)state;
  listen_to("all");
  fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  close(STDERR_FILENO);
  tsl_log(TSL_LOG_PLAN, "nobody reads this");
  assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
  close(kept);
}

enum { THREADS = 4, LINES = 200 };

static void *write_lines(void *argument) {
  const char letter = *(const char *)argument;
  char word[301];
  memset(word, letter, sizeof word - 1);
  word[sizeof word - 1] = '\0';
  for (int i = 0; i < LINES; i++)
    tsl_log(TSL_LOG_CALLS, "%s", word);
  return NULL;
}

static void test_threads_do_not_mix(void **state) {
  (void)state;
  static const char letters[THREADS] = "abcd";
  pthread_t threads[THREADS];
  listen_to("calls");
  catch_stderr();
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, write_lines, (void *)(uintptr_t)&letters[i]), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  char *const text = caught_text();
  int lines = 0;
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
    assert_int_equal(strlen(line), strlen("tesela calls: ") + 300);
    assert_memory_equal(line, "tesela calls: ", 14);
    assert_int_equal(strspn(line + 14, (char[]){line[14], '\0'}), 300);
  }
  assert_int_equal(lines, THREADS * LINES);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_context_refuses),
      cmocka_unit_test(test_topics),
      cmocka_unit_test(test_unknown_topic),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_long_line),
      cmocka_unit_test(test_closed_stderr),
      cmocka_unit_test(test_threads_do_not_mix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
