/* Files of wisdom: merged, kept whole, and written by many processes, some of which are killed. */
#include "unit/unit.h"

#include "core/status.h"
#include "planner/planner_wisdom.h"
#include "scratch.h"
#include "strategy/strategy_list.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static scratch files;

static int begin(void **state) {
  (void)state;
  scratch_create(&files);
  return 0;
}

static int end(void **state) {
  (void)state;
  scratch_remove(&files);
  unsetenv("TESELA_WISDOM");
  return 0;
}

static const char *line_of(int m, double seconds, const char *date) {
  static char lines[4][512];
  static unsigned turn;
  char *line = lines[turn++ % 4];
  snprintf(line, sizeof lines[0],
           "gemm sequential version=%d key=mock/1 units=1 m=%d n=9 k=9 types=f32,f32,f32 layout=rrr beta=0 "
           "seconds=%g spread=0.01 date=%s",
           tsl_strategy_find(TSL_OP_GEMM, "sequential")->version, m, seconds, date);
  return line;
}

static const char early[] = "2026-01-01T00:00:00Z", late[] = "2026-02-01T00:00:00Z";

static tsl_wisdom_merged merge(const char *path, const char *text) {
  tsl_wisdom_merged merged;
  if (tsl_wisdom_merge(path, text, &merged) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return merged;
}

static void expect_text(const char *path, const char *expected) {
  tsl_text text = {0};
  assert_int_equal(tsl_wisdom_read(path, false, &text), TESELA_OK);
  assert_string_equal(tsl_text_get(&text), expected);
  tsl_text_free(&text);
}

static void lines_are_merged_and_the_rest_is_kept(void **state) {
  (void)state;
  const char *path = scratch_path(&files, "made/on/the/way/wisdom");
  char expected[2048];
  tsl_wisdom_merged merged = merge(path, line_of(1, 1, early));
  assert_int_equal(merged.added, 1);
  merged = merge(path, line_of(1, 2, late)); /* the same plan, newer */
  assert_int_equal(merged.replaced, 1);
  merged = merge(path, line_of(1, 1, early));
  assert_int_equal(merged.kept, 1);
  merged = merge(path, "what is this\n\n# a word\n");
  assert_int_equal(merged.unreadable, 1);
  snprintf(expected, sizeof expected, "%s\n", line_of(1, 2, late));
  expect_text(path, expected);

  snprintf(expected, sizeof expected, "# mine\r\nfrom the future\n\n%s", line_of(1, 2, early)); /* no end */
  scratch_write(&files, "made/on/the/way/wisdom", expected);
  merge(path, line_of(2, 1, early));
  snprintf(expected, sizeof expected, "# mine\nfrom the future\n\n%s\n%s\n", line_of(1, 2, early),
           line_of(2, 1, early));
  expect_text(path, expected);
}

/* A tuner measures an existing record again: its new time replaces a faster time from a quieter
 * hour. */
static void a_tuner_replaces_what_it_measured_again(void **state) {
  (void)state;
  const char *path = scratch_path(&files, "tuned");
  char expected[1024];
  tsl_wisdom_merged merged;
  merge(path, line_of(1, 1, late));
  merge(path, line_of(2, 1, late));
  assert_int_equal(tsl_wisdom_update(path, line_of(1, 3, early), &merged), TESELA_OK);
  assert_int_equal(merged.replaced, 1);
  snprintf(expected, sizeof expected, "%s\n%s\n", line_of(1, 3, early), line_of(2, 1, late));
  expect_text(path, expected);
}

static bool is_large(const void *argument, const tsl_wisdom_line *line) {
  (void)argument;
  return line->record && line->record->problem.m > 1;
}

static bool is_wrong(const void *argument, const tsl_wisdom_line *line) {
  (void)argument;
  return !line->record;
}

static void what_goes_is_chosen(void **state) {
  (void)state;
  char text[2048];
  int count;
  snprintf(text, sizeof text, "# mine\n%s\nnonsense\n%s\n", line_of(1, 1, early), line_of(2, 1, early));
  scratch_write(&files, "wisdom", text);
  const char *path = scratch_path(&files, "wisdom");
  assert_int_equal(tsl_wisdom_forget(path, is_large, NULL, &count), TESELA_OK);
  assert_int_equal(count, 1);
  snprintf(text, sizeof text, "# mine\n%s\nnonsense\n", line_of(1, 1, early));
  expect_text(path, text);
  assert_int_equal(tsl_wisdom_forget(path, is_wrong, NULL, &count), TESELA_OK);
  assert_int_equal(count, 1);
  snprintf(text, sizeof text, "# mine\n%s\n", line_of(1, 1, early));
  expect_text(path, text);
}

static void what_cannot_be_read_is_left_alone(void **state) {
  (void)state;
  tsl_text text = {0};
  const char *path = scratch_path(&files, "binary");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite("a\0b", 1, 3, file), 3);
  fclose(file);
  assert_int_equal(tsl_wisdom_merge(path, line_of(1, 1, early), NULL), TESELA_BAD_INPUT);
  assert_non_null(strstr(tesela_last_error(), "zero byte"));
  assert_int_equal(tsl_wisdom_read(path, false, &text), TESELA_BAD_INPUT);
  assert_int_equal(text.length, 3);
  tsl_text_free(&text);
  assert_int_equal(tsl_wisdom_read(files.folder, true, &text), TESELA_IO_FAILED);
  assert_int_equal(tsl_wisdom_read(scratch_path(&files, "nothing"), false, &text), TESELA_IO_FAILED);
  assert_int_equal(tsl_wisdom_read(scratch_path(&files, "nothing"), true, &text), TESELA_OK);
  assert_int_equal(text.length, 0);
  assert_int_equal(tsl_wisdom_merge("/proc/tesela/wisdom", line_of(1, 1, early), NULL), TESELA_IO_FAILED);
  tsl_text_free(&text);
}

/* No lock stays behind, and none that is not there any more counts. */
static void locks_go(void **state) {
  (void)state;
  const char *path = scratch_path(&files, "wisdom");
  scratch_write(&files, "wisdom.lock", "");
  scratch_write(&files, "wisdom.tmp", "of a writer that was killed");
  assert_int_equal(chmod(scratch_path(&files, "wisdom.lock"), 0600), 0);
  merge(path, line_of(1, 1, early));
  assert_int_equal(access(scratch_path(&files, "wisdom.lock"), F_OK), -1);
  assert_int_equal(access(scratch_path(&files, "wisdom.tmp"), F_OK), -1);
}

static int count_of(void) {
  tsl_wisdom *wisdom;
  const tsl_device device = {.key = "mock/1", .compute_units = 1};
  int of_device;
  assert_int_equal(tsl_wisdom_open(&wisdom), TESELA_OK);
  tsl_wisdom_count(wisdom, &device, &of_device);
  tsl_wisdom_close(wisdom);
  return of_device;
}

static void the_environment_says_where(void **state) {
  (void)state;
  tsl_text path = {0};
  char text[2048];
  setenv("TESELA_WISDOM", "none", 1);
  assert_int_equal(tsl_wisdom_path(&path), TESELA_UNSUPPORTED);
  assert_int_equal(count_of(), 0);
  setenv("TESELA_WISDOM", scratch_path(&files, "mine"), 1);
  assert_int_equal(count_of(), 0); /* no file */
  snprintf(text, sizeof text, "nonsense\n%s\n%s\n", line_of(1, 1, early), line_of(2, 1, early));
  scratch_write(&files, "mine", text);
  assert_int_equal(count_of(), 2);
  unsetenv("TESELA_WISDOM");
  setenv("XDG_DATA_HOME", files.folder, 1);
  scratch_write(&files, "tesela/wisdom", line_of(1, 1, early));
  assert_int_equal(count_of(), 1);
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", files.folder, 1);
  assert_int_equal(tsl_wisdom_path(&path), TESELA_OK);
  assert_non_null(strstr(tsl_text_get(&path), "/.local/share/tesela/wisdom"));
  tsl_text_free(&path);
}

/* Every record that the library comes with is one. A strategy that got another version makes its records
 * stale, until bench/wisdom.sh measures them again. */
static tesela_status expect_good(void *argument, const tsl_wisdom_line *line) {
  ++*(int *)argument;
  if (!line->record)
    fail_msg("src/planner/wisdom.txt, line %d: %s", line->number, line->wrong);
  if (line->record->stale[0])
    print_message("src/planner/wisdom.txt, line %d: %s\n", line->number, line->record->stale);
  return TESELA_OK;
}

static void what_is_shipped_is_good(void **state) {
  (void)state;
  assert_int_equal(tsl_wisdom_shipped()[0], '#');
  int count = 0;
  assert_int_equal(tsl_wisdom_each(tsl_wisdom_shipped(), expect_good, &count), TESELA_OK);
  assert_true(count > 0);
}

/* --- many processes --- */

enum { WRITERS = 4, RECORDS = 25 };

/* Which sizes m of 1 .. count - 1 have a record; the file holds nothing else. */
static tesela_status mark(void *argument, const tsl_wisdom_line *line) {
  bool *there = argument;
  assert_non_null(line->record);
  assert_false(there[line->record->problem.m]);
  there[line->record->problem.m] = true;
  return TESELA_OK;
}

static void mark_all(const char *path, bool *there) {
  tsl_text text = {0};
  assert_int_equal(tsl_wisdom_read(path, true, &text), TESELA_OK);
  assert_int_equal(tsl_wisdom_each(tsl_text_get(&text), mark, there), TESELA_OK);
  tsl_text_free(&text);
}

static void writers_at_once_lose_nothing(void **state) {
  (void)state;
  const char *path = scratch_path(&files, "wisdom");
  bool there[WRITERS * RECORDS + 1] = {false};
  pid_t children[WRITERS];
  for (int i = 0; i < WRITERS; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] > 0)
      continue;
    int failures = 0;
    for (int j = 0; j < RECORDS; j++)
      failures += tsl_wisdom_merge(path, line_of(1 + i * RECORDS + j, 1, early), NULL) != TESELA_OK;
    _exit(failures > 0);
  }
  for (int i = 0; i < WRITERS; i++) {
    int result;
    assert_int_equal(waitpid(children[i], &result, 0), children[i]);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  }
  mark_all(path, there);
  for (int i = 1; i <= WRITERS * RECORDS; i++)
    assert_true(there[i]);
}

/* Tells by the pipe of each record that is safe, until it is killed. */
static _Noreturn void write_for_ever(const char *path, int first, int pipe_end) {
  for (int m = first;; m++) {
    if (tsl_wisdom_merge(path, line_of(m, 1, early), NULL) != TESELA_OK ||
        write(pipe_end, &m, sizeof m) != sizeof m)
      _exit(1);
  }
}

enum { ROUNDS = 12, SIZES = 20000 };

static void the_killed_leave_a_whole_file(void **state) {
  (void)state;
  static bool told[SIZES], there[SIZES];
  const char *path = scratch_path(&files, "wisdom");
  int next = 1, safe = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const struct timespec pause = {.tv_nsec = 8000000 + 1700000 * round};
    int ends[2], m;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
      write_for_ever(path, next, ends[1]);
    close(ends[1]);
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result)); /* it did not stop by itself */
    while (read(ends[0], &m, sizeof m) == sizeof m) {
      assert_true(m < SIZES - 2);
      told[m] = true;
      safe++;
      next = m + 1;
    }
    next++; /* the line that the process was writing may be complete or missing */
    close(ends[0]);
    memset(there, 0, sizeof there);
    mark_all(path, there); /* whole lines, each once */
    for (int i = 0; i < SIZES; i++)
      assert_true(!told[i] || there[i]);
  }
  assert_true(safe > 0);
  merge(path, line_of(SIZES - 1, 1, early)); /* no lock was left behind */
}

int main(void) {
#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
  const struct CMUnitTest tests[] = {
      FILE_TEST(lines_are_merged_and_the_rest_is_kept),
      FILE_TEST(a_tuner_replaces_what_it_measured_again),
      FILE_TEST(what_goes_is_chosen),
      FILE_TEST(what_cannot_be_read_is_left_alone),
      FILE_TEST(locks_go),
      FILE_TEST(the_environment_says_where),
      FILE_TEST(what_is_shipped_is_good),
      FILE_TEST(writers_at_once_lose_nothing),
      FILE_TEST(the_killed_leave_a_whole_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
