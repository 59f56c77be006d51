/* test_api_stress [SECONDS [THREADS]]
 *
 * Threads (16) share a context for some seconds (2) and multiply small and large matrices by every
 * method of the host. Meanwhile the program forks children, which multiply in the same way.
 * Nothing may hang (an alarm ends the program), and every result is right to the bit: the elements
 * are small whole numbers.
 *
 * Under a sanitizer the program does not fork, because sanitizer runtimes do not support a fork
 * while other threads run. */
#include <tesela/tesela.h>

#include "core/random.h"
#include "unit/sanitizers.h"

#include <complex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROBLEMS = 24, THREADS_MAX = 64, CALLS_OF_A_CHILD = 40, TIME_LIMIT = 120 };

typedef struct problem {
  tesela_type type;
  int64_t m, n, k;
  int transpose_a, transpose_b;
  double alpha[2];
  void *a, *b, *expected;
  size_t element, bytes; /* of an element, and of C */
} problem;

static problem problems[PROBLEMS];
static tesela_context *context;
static atomic_llong calls, wrong;
static double deadline;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_complex(tesela_type type) {
  return type == TESELA_C64 || type == TESELA_C128;
}

static void store(tesela_type type, void *data, int64_t index, double complex value) {
  switch (type) {
  case TESELA_F32:
    ((float *)data)[index] = (float)creal(value);
    break;
  case TESELA_C64:
    ((float *)data)[2 * index] = (float)creal(value);
    ((float *)data)[2 * index + 1] = (float)cimag(value);
    break;
  case TESELA_C128:
    ((double *)data)[2 * index] = creal(value);
    ((double *)data)[2 * index + 1] = cimag(value);
    break;
  default:
    ((double *)data)[index] = creal(value);
  }
}

static double complex entry(const problem *problem_in, int salt, int64_t row, int64_t col) {
  const uint64_t draw =
      tsl_random_u64((uint64_t)(problem_in - problems) * 2 + (uint64_t)salt, (uint64_t)(row * 4096 + col));
  return CMPLX((double)(draw % 9) - 4, is_complex(problem_in->type) ? (double)(draw / 9 % 9) - 4 : 0);
}

static void fill(problem *problem_in, void *data, int salt, int64_t rows, int64_t cols, int transposed) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      store(problem_in->type, data, transposed ? j * rows + i : i * cols + j, entry(problem_in, salt, i, j));
}

static void *take(size_t bytes) {
  void *block = malloc(bytes + 1);
  if (!block)
    abort();
  return block;
}

/* Sizes from none to hundreds, thin and deep ones among them. */
static void make(int index) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  static const int64_t sizes[][3] = {{1, 1, 1},      {8, 8, 8},     {33, 17, 65},    {0, 5, 3},
                                     {5, 7, 0},      {300, 2, 300}, {150, 160, 170}, {300, 280, 290},
                                     {64, 64, 2000}, {1, 300, 300}, {300, 300, 3},   {96, 96, 96}};
  problem *of = &problems[index];
  const int64_t *size = sizes[index % 12];
  *of = (problem){.type = types[(index + index / 12) % 4],
                  .m = size[0],
                  .n = size[1],
                  .k = size[2],
                  .transpose_a = index & 1,
                  .transpose_b = index >> 1 & 1,
                  .alpha = {2, 0}};
  of->element = (of->type == TESELA_F32 ? 4 : of->type == TESELA_C128 ? 16 : 8);
  of->bytes = (size_t)(of->m * of->n) * of->element;
  of->a = take((size_t)(of->m * of->k) * of->element);
  of->b = take((size_t)(of->k * of->n) * of->element);
  of->expected = take(of->bytes);
  fill(of, of->a, 0, of->m, of->k, of->transpose_a);
  fill(of, of->b, 1, of->k, of->n, of->transpose_b);
  for (int64_t i = 0; i < of->m; i++)
    for (int64_t j = 0; j < of->n; j++) {
      double complex sum = 0;
      for (int64_t l = 0; l < of->k; l++)
        sum += entry(of, 0, i, l) * entry(of, 1, l, j);
      store(of->type, of->expected, i * of->n + j, 2 * sum);
    }
}

/* One product, of which C is full of what would be NaN. */
static bool is_right(const problem *problem_in, void *c) {
  const tesela_gemm_desc desc = {
      .m = problem_in->m,
      .n = problem_in->n,
      .k = problem_in->k,
      .a = {.data = problem_in->a, .type = problem_in->type, .transpose = problem_in->transpose_a},
      .b = {.data = problem_in->b, .type = problem_in->type, .transpose = problem_in->transpose_b},
      .c = {.data = c, .type = problem_in->type},
      .alpha = problem_in->alpha,
      .options.device = "cpu"};
  memset(c, 0xff, problem_in->bytes);
  if (tesela_gemm(context, &desc, NULL) != TESELA_OK) {
    fprintf(stderr, "%s\n", tesela_last_error());
    return false;
  }
  for (size_t at = 0; at < problem_in->bytes; at += problem_in->element) { /* 0 and -0 are equal */
    const unsigned char *one = (const unsigned char *)c + at,
                        *other = (const unsigned char *)problem_in->expected + at;
    const size_t parts = is_complex(problem_in->type) ? 2 : 1, size = problem_in->element / parts;
    for (size_t part = 0; part < parts; part++) {
      double x, y;
      float u, v;
      memcpy(size == 8 ? (void *)&x : &u, one + part * size, size);
      memcpy(size == 8 ? (void *)&y : &v, other + part * size, size);
      if (size == 8 ? !(x == y) : !(u == v))
        return false;
    }
  }
  return true;
}

static size_t most_bytes(void) {
  size_t most = 1;
  for (int i = 0; i < PROBLEMS; i++)
    most = problems[i].bytes > most ? problems[i].bytes : most;
  return most;
}

static int multiply(uint64_t seed, int64_t count) {
  void *c = take(most_bytes());
  int failures = 0;
  for (int64_t i = 0; i < count || (count == 0 && now() < deadline); i++) {
    const problem *of = &problems[tsl_random_u64(seed, (uint64_t)i) % PROBLEMS];
    if (!is_right(of, c) && failures++ < 3)
      fprintf(stderr, "wrong: m=%lld n=%lld k=%lld type %d\n", (long long)of->m, (long long)of->n,
              (long long)of->k, (int)of->type);
    atomic_fetch_add(&calls, 1);
  }
  free(c);
  return failures;
}

static void *work(void *argument) {
  atomic_fetch_add(&wrong, multiply((uint64_t)(uintptr_t)argument, 0));
  return NULL;
}

/* A child in the middle of it all; 0 when it was right. */
static int fork_once(int child) {
  const pid_t process = fork();
  if (process == 0) {
    alarm(TIME_LIMIT);
    _exit(multiply(1000 + (uint64_t)child, CALLS_OF_A_CHILD) > 0);
  }
  int result = -1;
  if (process < 0 || waitpid(process, &result, 0) != process || result != 0) {
    fprintf(stderr, "child %d ended with %d\n", child, result);
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 2;
  const int threads = argc > 2 ? atoi(argv[2]) : 16;
  const bool forks = !ADDRESS_SANITIZER && !THREAD_SANITIZER;
  pthread_t thread[THREADS_MAX];
  int children = 0, failed = 0;
  if (threads < 1 || threads > THREADS_MAX || !(seconds > 0)) {
    fprintf(stderr, "usage: test_api_stress [SECONDS [THREADS, 1 to %d]]\n", THREADS_MAX);
    return 2;
  }
  alarm((unsigned)seconds + TIME_LIMIT); /* what hangs ends */
  for (int i = 0; i < PROBLEMS; i++)
    make(i);
  if (tesela_context_create(NULL, &context) != TESELA_OK) {
    fprintf(stderr, "%s\n", tesela_last_error());
    return 1;
  }
  deadline = now() + seconds;
  for (int i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
      return 1;
  while (forks && now() < deadline)
    failed += fork_once(children++);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  tesela_context_destroy(context);
  printf("%lld calls of %d threads in %g s, %d children: %lld wrong results, %d children failed\n",
         (long long)atomic_load(&calls), threads, seconds, children, (long long)atomic_load(&wrong), failed);
  for (int i = 0; i < PROBLEMS; i++) {
    free(problems[i].a);
    free(problems[i].b);
    free(problems[i].expected);
  }
  return atomic_load(&wrong) > 0 || failed > 0 || atomic_load(&calls) == 0 || (forks && children == 0);
}
