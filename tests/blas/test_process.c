/* The drop-in's effects on its process: files that it opens, threads that it starts, cancelled
 * calls. Each test has a process of its own, in which nothing was called yet. */
#include "unit/unit.h"

#include "blas/names.h"
#include "unit/sanitizers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tesela/blas.h>

enum { LARGE = 300 };
static double a[LARGE * LARGE], b[LARGE * LARGE], c[LARGE * LARGE];

/* Returns true when a product for several threads is right. */
static bool multiply_large(void) {
  const int n = LARGE;
  cblas_dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
  return c[0] == LARGE && c[LARGE * LARGE - 1] == LARGE;
}

/* The drop-in's own products, at once: without a context's locks. */
static bool multiply_small(void) {
  cblas_dgemm(101, 111, 111, 4, 4, 4, 1, a, 4, b, 4, 0, c, 4);
  return c[0] == 4 && c[15] == 4;
}

/* A test's body in a child: it returns the child's exit status, 0 where all is right. */
static int in_child(int (*body)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = -1;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int count_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

/* --- files: libraries find this program's functions before the C library's --- */

static atomic_int opened;

static void *next_of(const char *name) {
  atomic_fetch_add(&opened, 1);
  return dlsym(RTLD_NEXT, name);
}

typedef union function {
  void *address;
  FILE *(*open_stream)(const char *, const char *);
  DIR *(*open_folder)(const char *);
  int (*open_file)(const char *, int, ...);
} function;

FILE *fopen(const char *restrict path, const char *restrict mode) {
  return ((function){next_of("fopen")}).open_stream(path, mode);
}
FILE *fopen64(const char *restrict path, const char *restrict mode) {
  return ((function){next_of("fopen64")}).open_stream(path, mode);
}
DIR *opendir(const char *path) {
  return ((function){next_of("opendir")}).open_folder(path);
}

static unsigned mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, unsigned) : 0;
}
int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return ((function){next_of("open")}).open_file(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return ((function){next_of("open64")}).open_file(path, flags, mode);
}

static int opened_in_first_call(void) {
  atomic_store(&opened, 0);
  const bool right = multiply_large();
  const int count = atomic_load(&opened);
  return right && count > 0 ? 0 : 1;
}

/* Returns 0 when forks behave after a call of the parent: a child without calls opens no file, and a
 * child with a call sets up its own state. */
static int open_in_children(void) {
  if (opened_in_first_call() != 0)
    return 1;
  atomic_store(&opened, 0);
  const pid_t child = fork();
  if (child == 0)
    _exit(atomic_load(&opened) < 100 ? atomic_load(&opened) : 100);
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return 2;
  if (WEXITSTATUS(status) != 0) {
    print_error("a child that calls nothing opened %d files or more\n", WEXITSTATUS(status));
    return 3;
  }
  return in_child(opened_in_first_call) == 0 ? 0 : 4;
}

static void children_open_nothing_before_they_call(void **state) {
  (void)state;
  if (THREAD_SANITIZER)
    skip(); /* does not survive threads in the child of a fork */
  assert_int_equal(in_child(open_in_children), 0);
}

/* --- threads --- */

static void set_only(const char *name, const char *value) {
  static const char *const names[] = {"TESELA_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                      "BLIS_NUM_THREADS", "OMP_NUM_THREADS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unsetenv(names[i]);
  if (name)
    setenv(name, value, 1);
}

/* Returns true when a large first call of the process uses `count` threads, and
 * tesela_get_num_threads() returns that number. */
static bool has_threads(int count) {
  const bool right = multiply_large() && tesela_get_num_threads() == count && count_threads() == count;
  if (!right)
    print_error("%d threads are wanted: there are %d, and %d are told\n", count, count_threads(),
                tesela_get_num_threads());
  return right;
}

static int processors(void) {
  set_only(NULL, NULL);
  return tesela_get_num_threads();
}

static int openblas_variable(void) {
  set_only("OPENBLAS_NUM_THREADS", "1");
  return !has_threads(1);
}
static int mkl_variable(void) {
  set_only("MKL_NUM_THREADS", "1");
  return !has_threads(1);
}
static int blis_variable(void) {
  set_only("BLIS_NUM_THREADS", "1");
  return !has_threads(1);
}
static int openmp_variable(void) {
  set_only("OMP_NUM_THREADS", "1,4");
  return !has_threads(1);
}
/* Others' variables ask for too much: then they are meant for another machine. */
static int too_many(void) {
  const int most = processors();
  set_only("OMP_NUM_THREADS", "4000");
  return !has_threads(most);
}
static int not_a_number(void) {
  const int most = processors();
  set_only("OPENBLAS_NUM_THREADS", "many");
  setenv("MKL_NUM_THREADS", "0", 1);
  setenv("OMP_NUM_THREADS", "", 1);
  return !has_threads(most);
}
static int more_special_first(void) {
  set_only("OPENBLAS_NUM_THREADS", "1");
  setenv("OMP_NUM_THREADS", "2", 1);
  return !has_threads(1);
}
static int own_variable_first(void) {
  set_only("TESELA_THREADS", "3");
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  return !has_threads(3);
}
/* Down, up and back; a number that was asked for is more than a variable, but no more than there are. */
static int asked_for(void) {
  set_only("TESELA_THREADS", "3");
  tesela_set_num_threads(1);
  if (!has_threads(1))
    return 1;
  tesela_set_num_threads(2);
  if (!has_threads(2))
    return 2;
  tesela_set_num_threads(1000);
  if (!has_threads(3))
    return 3;
  tesela_set_num_threads(1);
  if (tesela_get_num_threads() != 1 || !multiply_large())
    return 4;
  tesela_set_num_threads(0);
  return tesela_get_num_threads() == 3 ? 0 : 5;
}
static int asked_beside_variable(void) {
  const int most = processors();
  if (most < 2)
    return 0;
  set_only("OMP_NUM_THREADS", "1");
  tesela_set_num_threads(2);
  return !has_threads(2);
}

/* A child reads variables anew: pools of processes set them there. */
static int child_of_limited(void) {
  setenv("OMP_NUM_THREADS", "1", 1);
  return !has_threads(1);
}
static int set_in_child(void) {
  set_only(NULL, NULL);
  return multiply_large() ? in_child(child_of_limited) : 1;
}

static void limits_are_kept(void **state) {
  (void)state;
  static int (*const bodies[])(void) = {
      openblas_variable,  mkl_variable,       blis_variable, openmp_variable,       too_many,    not_a_number,
      more_special_first, own_variable_first, asked_for,     asked_beside_variable, set_in_child};
  int wrong = 0;
  if (THREAD_SANITIZER)
    skip();
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    if (in_child(bodies[i]) != 0) {
      print_error("limit %zu is not kept\n", i);
      wrong++;
    }
  assert_int_equal(wrong, 0);
}

/* --- cancellation --- */

static atomic_bool inside;

static void *multiply_until_cancelled(void *argument) {
  (void)argument;
  for (int i = 0; i < 1000000; i++) {
    atomic_store(&inside, true);
    multiply_large();
    atomic_store(&inside, false);
    pthread_testcancel();
  }
  return NULL;
}

static int cancel_calls(void) {
  for (int i = 0; i < 60; i++) {
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, multiply_until_cancelled, NULL) != 0)
      return 1;
    nanosleep(&(struct timespec){.tv_nsec = 200000 + 61000 * i}, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED || atomic_load(&inside) || !multiply_large() || !multiply_small())
      return 2;
  }
  return 0;
}

static void cancelled_threads_leave_nothing_behind(void **state) {
  (void)state;
  if (THREAD_SANITIZER)
    skip();
  setenv("TESELA_THREADS", "3", 1);
  assert_int_equal(in_child(cancel_calls), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(children_open_nothing_before_they_call),
      cmocka_unit_test(limits_are_kept),
      cmocka_unit_test(cancelled_threads_leave_nothing_behind),
  };
  for (int i = 0; i < LARGE * LARGE; i++)
    a[i] = b[i] = 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
