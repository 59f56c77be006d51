/* recorder LIBTESELA_BLAS [TURNS]
 *
 * What does counting add to a call (docs/RECORDER.md)? Prints nanoseconds of a call without and with
 * TESELA_RECORD: the shortest of several processes by turns, on one thread. The counts go to a folder that is
 * removed. */
#include "core/clock.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES = 6, ROUNDS = 300, SIDE_MAX = 256, TURNS = 5 };
static const int sides[CASES] = {4, 16, 64, 128, 256, 0}; /* gemm; 0: an axpy of 16 elements */
static const double round_seconds = 3e-4;                 /* shorter than a slice of time of a busy machine */

typedef void gemm(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *,
                  int64_t, double, double *, int64_t);
typedef void axpy(int64_t, double, const double *, int64_t, double *, int64_t);
static double a[SIDE_MAX * SIDE_MAX], b[SIDE_MAX * SIDE_MAX], c[SIDE_MAX * SIDE_MAX];

static void call(gemm *multiply, axpy *add, int side) {
  if (side)
    multiply(102, 111, 111, side, side, side, 1, a, side, b, side, 0, c, side);
  else
    add(16, 1e-9, a, 1, c, 1);
}

static double time_calls(gemm *multiply, axpy *add, int side, long calls) {
  const double start = tsl_clock();
  for (long i = 0; i < calls; i++)
    call(multiply, add, side);
  return (tsl_clock() - start) / (double)calls;
}

/* Writes the seconds of a call of each case to `file`. */
static int measure(const char *library, int file) {
  void *const loaded = dlopen(library, RTLD_NOW);
  union {
    void *object;
    gemm *function;
  } multiply = {.object = loaded ? dlsym(loaded, "cblas_dgemm_64") : NULL};
  union {
    void *object;
    axpy *function;
  } add = {.object = loaded ? dlsym(loaded, "cblas_daxpy_64") : NULL};
  double seconds[CASES];
  if (!multiply.object || !add.object)
    return 1;
  for (int i = 0; i < SIDE_MAX * SIDE_MAX; i++)
    a[i] = b[i] = 1.0 / (1 + i % 97);
  for (int i = 0; i < CASES; i++) {
    (void)time_calls(multiply.function, add.function, sides[i], 100);
    const double once = time_calls(multiply.function, add.function, sides[i], 10);
    const long calls = 1 + (long)(round_seconds / once);
    seconds[i] = INFINITY;
    for (int r = 0; r < ROUNDS; r++)
      seconds[i] = fmin(seconds[i], time_calls(multiply.function, add.function, sides[i], calls));
  }
  return write(file, seconds, sizeof seconds) != (ssize_t)sizeof seconds;
}

/* Measures in a new process, so that the library reads its variables. Keeps the shorter times. */
static int run(char *program, char *library, const char *folder, double best[CASES]) {
  int ends[2], state;
  char descriptor[16], word[] = "child";
  double seconds[CASES];
  if (pipe(ends) != 0)
    return 1;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    snprintf(descriptor, sizeof descriptor, "%d", ends[1]);
    setenv("TESELA_THREADS", "1", 1);
    if (folder)
      setenv("TESELA_RECORD", folder, 1);
    execv("/proc/self/exe", (char *[]){program, library, descriptor, word, NULL});
    _exit(127);
  }
  close(ends[1]);
  const ssize_t count = child > 0 ? read(ends[0], seconds, sizeof seconds) : 0;
  close(ends[0]);
  waitpid(child, &state, 0);
  for (int i = 0; count == (ssize_t)sizeof seconds && i < CASES; i++)
    best[i] = fmin(best[i], seconds[i]);
  return count != (ssize_t)sizeof seconds;
}

int main(int count, char **words) {
  char folder[] = "/tmp/bench-recorder-XXXXXX", command[64];
  double without[CASES], with[CASES];
  int failed = 0;
  if (count == 4)
    return measure(words[1], atoi(words[2]));
  if (count < 2 || !mkdtemp(folder))
    return fprintf(stderr, "recorder LIBTESELA_BLAS [TURNS]\n"), 2;
  for (int i = 0; i < CASES; i++)
    without[i] = with[i] = INFINITY;
  for (int turn = 0; turn < (count > 2 ? atoi(words[2]) : TURNS) && !failed; turn++)
    failed = run(words[0], words[1], NULL, without) || run(words[0], words[1], folder, with);
  snprintf(command, sizeof command, "rm -r %s", folder);
  failed |= system(command) != 0;
  printf("%-12s %12s %12s %10s %8s\n", "call", "without, ns", "with, ns", "added, ns", "added");
  for (int i = 0; i < CASES; i++) {
    char name[16] = "axpy 16";
    if (sides[i])
      snprintf(name, sizeof name, "gemm %d", sides[i]);
    printf("%-12s %12.1f %12.1f %10.1f %7.2f%%\n", name, 1e9 * without[i], 1e9 * with[i],
           1e9 * (with[i] - without[i]), 100 * (with[i] / without[i] - 1));
  }
  return failed;
}
