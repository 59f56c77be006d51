/* Sums of any numbers: within the bound that the record promises, and the same bits whatever comes when.
 * Several panels and layers. */
#include "unit/unit.h"

#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "core/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 6, M = 70, N = 50, K = 3000 };

typedef struct sums {
  tesela_context *context;
  bool late; /* ranks are late, each by another time */
  tesela_status status;
  tesela_mpi_record record;
  float c[M * N];
} sums;

static float element(uint64_t seed, int64_t i, int64_t j) {
  return (float)tsl_random_value(TSL_DRAW_NORMAL, seed, (uint64_t)(i * 100000 + j));
}

/* Rows [begin, end) of a matrix that has `cols` columns. */
static float *rows_of(uint64_t seed, int64_t begin, int64_t end, int64_t cols) {
  float *data = malloc((size_t)((end - begin) * cols + 1) * sizeof *data);
  for (int64_t i = begin; data && i < end; i++)
    for (int64_t j = 0; j < cols; j++)
      data[(i - begin) * cols + j] = element(seed, i, j);
  return data;
}

static void body(tsl_ranks *ranks, void *user) {
  static const tsl_links slow_ranks = {0, 2.5e9, 1e7};
  sums *s = user;
  const int r = ranks->rank;
  float *a = rows_of(1, r * M / RANKS, (r + 1) * M / RANKS, K),
        *b = rows_of(2, r * K / RANKS, (r + 1) * K / RANKS, N);
  if (!a || !b)
    abort();
  ranks->links = &slow_ranks;
  const tesela_gemm_desc gemm = {
      .m = M, .n = N, .k = K, .a = {.data = a}, .b = {.data = b}, .c = {.data = s->c + r * M / RANKS * N}};
  const tesela_mpi_desc desc = {.gemm = &gemm, .memory = 400000};
  if (s->late)
    nanosleep(&(struct timespec){.tv_nsec = (r * 5 % RANKS) * 7000000}, NULL);
  tesela_mpi_record record = {.words = 0};
  const tesela_status status =
      tsl_ranks_gemm(ranks, s->context, &desc, &record, sizeof desc, sizeof gemm, sizeof record);
  if (r == 0) {
    s->status = status;
    s->record = record;
  }
  free(a);
  free(b);
}

static void check_bound(const sums *s) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0, magnitude = 0;
      for (int t = 0; t < K; t++) {
        const double term = (double)element(1, i, t) * element(2, t, j);
        sum += term;
        magnitude += fabs(term);
      }
      assert_true(fabs((double)s->c[i * N + j] - sum) <= s->record.error_bound * magnitude);
    }
}

static void bound_and_bits(void **state) {
  (void)state;
  static sums first, second;
  assert_int_equal(
      tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &first.context),
      TESELA_OK);
  assert_int_equal(tsl_threads_run(RANKS, body, &first), TESELA_OK);
  assert_int_equal(first.status, TESELA_OK);
  assert_true(first.record.depth > 1 && first.record.steps > 1);
  /* The bound exists and is tight enough to be useful. */
  assert_true(first.record.error_bound > 0 && first.record.error_bound < 1e-2);
  check_bound(&first);
  for (int turn = 0; turn < 5; turn++) {
    second = (sums){.context = first.context, .late = true};
    assert_int_equal(tsl_threads_run(RANKS, body, &second), TESELA_OK);
    assert_memory_equal(first.c, second.c, sizeof first.c);
    assert_string_equal(first.record.plan, second.record.plan);
  }
  tesela_context_destroy(first.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bound_and_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
