/* calls WORD...: makes the calls that the words name, with the BLAS of other.c loaded too. Prints a line
 * for each call: the word, the library that computed (the other library leaves its mark), and a sum of the
 * result's bits.
 *
 *   dgemm:MxNxK  zgemm:MxNxK  zgemmt:NxK  ddot:N
 *   fork:MxNxK   a dgemm, and a dgemm in a child, which must exit with 0
 *   wait:N       waits N milliseconds
 *   aside:MxNxK  a dgemm by a thread, which the program joins
 *   until:MxNxK  a dgemm every few milliseconds until tesela computes one, 5000 at most */
#include "blas/other.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 512 };
static double a[2 * MOST * MOST], b[2 * MOST * MOST], c[2 * MOST * MOST];
static const double one[] = {1, 0}, zero[2];

static void do_dgemm(const int32_t size[3]) {
  cblas_dgemm(ROW, N, N, size[0], size[1], size[2], 1, a, size[2], b, size[1], 0, c, size[1]);
}
static void do_zgemm(const int32_t size[3]) {
  zgemm_("N", "C", &size[0], &size[1], &size[2], (const void *)one, (const void *)a, &size[0],
         (const void *)b, &size[1], (const void *)zero, (void *)c, &size[0]);
}
static void do_zgemmt(const int32_t size[3]) {
  cblas_zgemmt(COLUMN, LOWER, N, N, size[0], size[1], one, a, size[0], b, size[1], zero, c, size[0]);
}
static void do_ddot(const int32_t size[3]) {
  c[0] = cblas_ddot(size[0], a, 1, b, 1);
}

static void do_fork(const int32_t size[3]) {
  int status = 1;
  do_dgemm(size);
  const pid_t child = fork();
  if (child == 0) {
    do_dgemm(size);
    exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    printf("the child ended with %d\n", status);
    exit(1);
  }
}

static void *do_dgemm_of(void *size) {
  do_dgemm(size);
  return NULL;
}
static void do_aside(const int32_t size[3]) {
  int32_t of[] = {size[0], size[1], size[2]};
  pthread_t thread;
  if (pthread_create(&thread, NULL, do_dgemm_of, of) != 0)
    exit(1);
  (void)pthread_join(thread, NULL);
}

static void do_wait(const int32_t size[3]) {
  const struct timespec time = {size[0] / 1000, size[0] % 1000 * 1000000L};
  (void)nanosleep(&time, NULL);
}

static void do_until(const int32_t size[3]) {
  enum { CALLS_MAX = 5000, APART = 4 };
  c[0] = OTHER_MARK;
  for (int i = 0; i < CALLS_MAX && c[0] == OTHER_MARK; i++) {
    do_wait((const int32_t[3]){APART});
    do_dgemm(size);
  }
}

static const struct routine {
  const char *name;
  void (*call)(const int32_t size[3]);
} routines[] = {{"dgemm", do_dgemm}, {"zgemm", do_zgemm}, {"zgemmt", do_zgemmt}, {"ddot", do_ddot},
                {"fork", do_fork},   {"wait", do_wait},   {"aside", do_aside},   {"until", do_until}};

static uint64_t sum_of_bits(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 2 * MOST * MOST; i++) {
    uint64_t bits;
    memcpy(&bits, &c[i], sizeof bits);
    sum = sum * 31 + bits;
  }
  return sum;
}

int main(int argc, char **argv) {
  for (int i = 0; i < 2 * MOST * MOST; i++) {
    a[i] = i % 17 * 0.125 - 1.1;
    b[i] = i % 23 * 0.0625 - 0.7;
  }
  for (int word = 1; word < argc; word++) {
    int32_t size[3] = {1, 1, 1};
    const size_t length = strcspn(argv[word], ":");
    char *rest = argv[word] + length;
    for (int i = 0; i < 3 && *rest; i++)
      size[i] = (int32_t)strtol(rest + 1, &rest, 10);
    memset(c, 0, sizeof c);
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
      if (strlen(routines[i].name) == length && memcmp(routines[i].name, argv[word], length) == 0)
        routines[i].call(size);
    printf("%s %s %016" PRIx64 "\n", argv[word], c[0] == OTHER_MARK ? "other" : "tesela", sum_of_bits());
  }
  return 0;
}
