/* The progress line on a terminal: finished work, the reason for a wait in the library, and an
 * empty line at the end. */
#include "unit/unit.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"
#include "core/progress_hook.h"

static void sleep_for(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

/* Longer than the line stays away, by some of its ticks. */
static const double until_drawn = 1.5, until_drawn_again = 0.5;

/* In the process that has the terminal. */
static void work(void) {
  tsl_long_operation_begin("heard by nobody");
  tsl_long_operation_end();
  tsl_progress *progress = tsl_progress_start(false);
  tsl_progress_at(progress, "planning", 0.25);
  tsl_long_operation_begin("compiling %s for %s", "gemm/tile", "opencl:0");
  sleep_for(until_drawn);
  tsl_long_operation_end();
  sleep_for(until_drawn_again);
  tsl_progress_end(progress);
  tsl_long_operation_begin("too late");
  tsl_long_operation_end();
}

/* Stores the output that a terminal of `columns` columns gets in `seen`. */
static void look(unsigned short columns, char *seen, size_t size) {
  struct winsize window = {.ws_row = 24, .ws_col = columns};
  int master;
  const pid_t child = forkpty(&master, NULL, NULL, &window);
  assert_true(child >= 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  size_t length = 0;
  for (ssize_t got; length + 1 < size && (got = read(master, seen + length, size - 1 - length)) > 0;)
    length += (size_t)got;
  seen[length] = '\0';
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  close(master);
}

static void test_note(void **state) {
  (void)state;
  char seen[1 << 16];
  look(100, seen, sizeof seen);
  const char *const note = strstr(seen, "compiling gemm/tile for opencl:0 ["), *const after =
                                                                                   strstr(seen, "planning [");
  if (note == NULL || after == NULL || after < note)
    fail_msg("the terminal saw: %s", seen);
  assert_null(strstr(seen, "heard by nobody"));
  assert_null(strstr(seen, "too late"));
  /* The line is wiped at the end. */
  const char *const wiped = "\r\033[K";
  assert_string_equal(seen + strlen(seen) - strlen(wiped), wiped);
}

/* Where there is no room for a bar, the words alone, cut to the width. */
static void test_narrow(void **state) {
  (void)state;
  char seen[1 << 16];
  look(30, seen, sizeof seen);
  assert_non_null(strstr(seen, "compiling gemm/tile for openc"));
  assert_null(strstr(seen, "for opencl"));
}

/* The clock of this program (ld's --wrap), `speed` times as fast as the real clock. */
double __real_tsl_clock(void);
double __wrap_tsl_clock(void);
static double speed = 1;
double __wrap_tsl_clock(void) {
  return speed * __real_tsl_clock();
}

/* Into a pipe: nothing, or where lines are wanted one each ten seconds, which are whole. */
static void look_at_pipe(bool lines, char *seen, size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    speed = 30;
    tsl_progress *progress = tsl_progress_start(lines);
    tsl_progress_at(progress, "racing", 0.25);
    sleep_for(1.2);
    tsl_progress_end(progress);
    _exit(0);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t got; length + 1 < size && (got = read(ends[0], seen + length, size - 1 - length)) > 0;)
    length += (size_t)got;
  seen[length] = '\0';
  close(ends[0]);
  waitpid(child, NULL, 0);
}

static void test_lines(void **state) {
  (void)state;
  char seen[4096];
  look_at_pipe(false, seen, sizeof seen);
  assert_string_equal(seen, "");
  look_at_pipe(true, seen, sizeof seen);
  if (strncmp(seen, "tesela:  25%  ", 14) != 0 || strstr(seen, " s left  racing\n") == NULL)
    fail_msg("the pipe got: %s", seen);
  int count = 0;
  for (const char *at = seen; (at = strchr(at, '\n')) != NULL; at++)
    count++;
  assert_true(count >= 1 && strchr(seen, '\r') == NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_note),
      cmocka_unit_test(test_narrow),
      cmocka_unit_test(test_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
