/* Eight threads share a context, a plan and the context's cache of plans. An argument names a
 * device to use instead of the cpu. */
#include "unit/unit.h"

#include <tesela/tesela.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, M = 17, N = 19, K = 23 };

static float a[M * K], b[K * N], expected[M * N];

typedef struct shared {
  tesela_context *context;
  tesela_plan *plan;
} shared;

static const char *device = "cpu";
/* A device with kernels compiles some in each round. */
static int rounds = 60;

static void fill(void) {
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < K; l++)
        expected[i * N + j] += a[i * K + l] * b[l * N + j];
}

static int wrong(tesela_status status, const float *c, int64_t elements) {
  return status != TESELA_OK || memcmp(c, expected, (size_t)elements * sizeof *c) != 0;
}

/* The plan, one-shot calls of the same shape, and calls of shapes that push others out of the memory. */
static void *work(void *argument) {
  const shared *with = argument;
  const tesela_matrix first = {.data = a}, second = {.data = b};
  intptr_t failures = 0;
  for (int round = 0; round < rounds; round++) {
    float c[M * N];
    const tesela_result third = {.data = c};
    memset(c, 0, sizeof c);
    failures +=
        wrong(tesela_plan_run(with->plan, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL),
              c, M * N);
    tesela_gemm_desc desc = {
        .m = M, .n = N, .k = K, .a = first, .b = second, .c = third, .options.device = device};
    tesela_record record;
    memset(c, 0, sizeof c);
    failures += wrong(tesela_gemm(with->context, &desc, &record), c, M * N);
    failures += !strstr(record.plan, "m=17 n=19 k=23");
    desc.m = 1 + round % M;
    memset(c, 0, sizeof c);
    failures += wrong(tesela_gemm(with->context, &desc, NULL), c, desc.m * N);
    desc.a.row_stride = 2 * (1 + round % 70); /* another plan each time, of one row */
    desc.a.col_stride = 1;
    desc.m = 1;
    failures += wrong(tesela_gemm(with->context, &desc, NULL), c, N);
    desc.m = -1; /* sentences are each thread's own */
    failures +=
        tesela_gemm(with->context, &desc, NULL) != TESELA_BAD_CALL || !strstr(tesela_last_error(), "desc.m");
  }
  return (void *)failures;
}

static void all_share(void **state) {
  const tesela_gemm_desc shape = {.m = M, .n = N, .k = K, .options.device = device};
  shared with;
  pthread_t threads[THREADS];
  intptr_t failures = 0;
  (void)state;
  assert_int_equal(tesela_context_create(NULL, &with.context), TESELA_OK);
  assert_int_equal(tesela_plan_create(with.context, &shape, &with.plan), TESELA_OK);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &with), 0);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    failures += (intptr_t)result;
  }
  assert_int_equal(failures, 0);
  tesela_plan_destroy(with.plan);
  tesela_context_destroy(with.context);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_share)};
  if (argc > 1) {
    device = argv[1];
    rounds = 20;
  }
  fill();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
