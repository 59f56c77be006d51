/* Products with structures where a device has the operands: whole numbers, which have one right result; what
 * must not be read is NaN, and what must not be written stays. */
#include "unit/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { N = 150, K = 21, PITCH = 157, RUNS = 10 };
static const char strategy[] = "structured block=50";

static tesela_context *context;
static tesela_buffer *factor, *triangle, *result;
static float a[N * K], t[N * PITCH], c[N * PITCH], before[N * PITCH];

static int set_up(void **state) {
  const tesela_context_desc desc = {.device = "opencl"};
  (void)state;
  for (int i = 0; i < N; i++) {
    for (int l = 0; l < K; l++)
      a[i * K + l] = (float)((i * 3 + l * 5) % 7 - 3);
    for (int j = 0; j < PITCH; j++) {
      t[i * PITCH + j] = i < j ? NAN : (float)((i + j * 2) % 5 - 2);
      before[i * PITCH + j] = i < j ? NAN : (float)((i * 2 + j) % 9 - 4);
    }
  }
  must(tesela_context_create(&desc, &context));
  must(tesela_buffer_create(context, "opencl:0", sizeof a, &factor));
  must(tesela_buffer_create(context, "opencl:0", sizeof t, &triangle));
  must(tesela_buffer_create(context, "opencl:0", sizeof c, &result));
  must(tesela_buffer_write(factor, 0, a, sizeof a));
  must(tesela_buffer_write(triangle, 0, t, sizeof t));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tesela_buffer_destroy(factor);
  tesela_buffer_destroy(triangle);
  tesela_buffer_destroy(result);
  tesela_context_destroy(context);
  return 0;
}

/* --- A A' + beta C, below the diagonal --- */

static float product_at(int i, int j) {
  float sum = 0;
  for (int l = 0; l < K; l++)
    sum += a[i * K + l] * a[j * K + l];
  return sum;
}

/* `times`: 2 of a sum of the product and its transpose, which is the same. */
static void expect_triangle(float times, float beta) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < PITCH; j++) {
      const float was = before[i * PITCH + j], got = c[i * PITCH + j];
      if (j > i ? memcmp(&was, &got, sizeof got) != 0
                : got != times * product_at(i, j) + (beta != 0 ? beta * was : 0))
        fail_msg("C(%d, %d) is %g", i, j, (double)got);
    }
}

static void a_triangle_in_buffers(void **state) {
  static const double betas[] = {0, -2};
  (void)state;
  for (int way = 0; way < 4; way++) {
    const double beta[2] = {betas[way % 2], 0};
    tesela_gemm_desc desc = {.m = N,
                             .n = N,
                             .k = K,
                             .a = {.buffer = factor},
                             .b = {.buffer = factor, .transpose = 1},
                             .c = {.buffer = result, .row_stride = PITCH, .col_stride = 1},
                             .structure.c_triangle = TESELA_LOWER,
                             .structure.c = way < 2 ? TESELA_GENERAL : TESELA_SYMMETRIC_SUM,
                             .beta = beta,
                             .options.strategy = strategy};
    tesela_plan *plan;
    tesela_stream *stream;
    float first[N * PITCH];
    size_t workspace;
    must(tesela_plan_create(context, &desc, &plan));
    must(tesela_stream_create(context, "opencl:0", &stream));
    workspace = tesela_plan_workspace(plan);
    must(tesela_stream_reserve(stream, workspace));
    for (int run = 0; run < RUNS; run++) {
      must(tesela_buffer_write(result, 0, before, sizeof before));
      must(tesela_plan_enqueue(plan, stream, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c},
                               NULL));
      must(tesela_stream_wait(stream));
      must(tesela_buffer_read(result, 0, c, sizeof c));
      expect_triangle(way < 2 ? 1 : 2, (float)beta[0]);
      if (run == 0)
        memcpy(first, c, sizeof c);
      assert_memory_equal(first, c, sizeof c);
    }
    tesela_stream_destroy(stream);
    tesela_plan_destroy(plan);
  }
}

/* The run writes only the triangle in the caller's memory. A triangle at an odd address is copied
 * first. */
static void a_triangle_in_host_memory(void **state) {
  static float host[N * PITCH + 1];
  static const double betas[] = {3, 0};
  (void)state;
  for (int way = 0; way < 4; way++) {
    const double beta[2] = {betas[way % 2], 0};
    const tesela_gemm_desc desc = {.m = N,
                                   .n = N,
                                   .k = K,
                                   .a = {.data = a},
                                   .b = {.data = a, .transpose = 1},
                                   .c = {.data = host + 1, .row_stride = PITCH, .col_stride = 1},
                                   .structure.c_triangle = TESELA_LOWER,
                                   .structure.c = way < 2 ? TESELA_GENERAL : TESELA_SYMMETRIC_SUM,
                                   .beta = beta,
                                   .options.strategy = strategy};
    tesela_record record;
    memcpy(host + 1, before, sizeof before);
    must(tesela_gemm(context, &desc, &record));
    memcpy(c, host + 1, sizeof c);
    assert_non_null(strstr(record.plan, "gemm structured"));
    assert_non_null(strstr(record.plan, "place=host"));
    expect_triangle(way < 2 ? 1 : 2, (float)beta[0]);
  }
}

/* --- factors --- */

/* C = 2 T C, T a unit triangle: neither the diagonal nor the elements above it are read. */
static void in_place(void **state) {
  static const double alpha[] = {2, 0};
  tesela_gemm_desc desc = {.m = N,
                           .n = K,
                           .k = N,
                           .a = {.buffer = triangle, .row_stride = PITCH, .col_stride = 1},
                           .c = {.buffer = result},
                           .structure.a = TESELA_UNIT_TRIANGULAR,
                           .structure.a_triangle = TESELA_LOWER,
                           .structure.in_place = 1,
                           .alpha = alpha,
                           .options.strategy = strategy};
  (void)state;
  must(tesela_buffer_write(result, 0, a, sizeof a));
  must(tesela_gemm(context, &desc, NULL));
  must(tesela_buffer_read(result, 0, c, sizeof a));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < K; j++) {
      float sum = a[i * K + j];
      for (int l = 0; l < i; l++)
        sum += t[i * PITCH + l] * a[l * K + j];
      assert_true(c[i * K + j] == 2 * sum);
    }
}

static void symmetric(void **state) {
  const tesela_gemm_desc desc = {.m = N,
                                 .n = K,
                                 .k = N,
                                 .a = {.buffer = triangle, .row_stride = PITCH, .col_stride = 1},
                                 .b = {.buffer = factor},
                                 .c = {.buffer = result},
                                 .structure.a = TESELA_SYMMETRIC,
                                 .structure.a_triangle = TESELA_LOWER};
  tesela_record record;
  (void)state;
  must(tesela_gemm(context, &desc, &record));
  assert_non_null(strstr(record.plan, "gemm structured"));
  must(tesela_buffer_read(result, 0, c, sizeof a));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < K; j++) {
      float sum = 0;
      for (int l = 0; l < N; l++)
        sum += t[(i < l ? l : i) * PITCH + (i < l ? i : l)] * a[l * K + j];
      assert_true(c[i * K + j] == sum);
    }
}

/* --- batches --- */

enum { BATCH = 3, SIDE = 20, DEEP = 4, APART = SIDE * SIDE + 5 };

static float of_batch(int product, int i, int l) {
  return a[(product * SIDE + i) * DEEP + l];
}

/* Each product writes its triangle, and nothing outside the triangle or after the matrix. */
static void expect_batch(const float *found) {
  for (int product = 0; product < BATCH; product++)
    for (int at = 0; at < APART; at++) {
      const int i = at / SIDE, j = at % SIDE;
      float sum = 0;
      for (int l = 0; l < DEEP && i < SIDE; l++)
        sum += of_batch(product, i, l) * of_batch(product, j, l);
      if (i < SIDE && j <= i ? found[product * APART + at] != sum : !isnan(found[product * APART + at]))
        fail_msg("product %d, C(%d, %d) is %g", product, i, j, (double)found[product * APART + at]);
    }
}

static void batches_of_triangles(void **state) {
  const tesela_batch batch = {
      .count = BATCH, .a_stride = SIDE * DEEP, .b_stride = SIDE * DEEP, .c_stride = APART};
  tesela_gemm_desc desc = {.m = SIDE,
                           .n = SIDE,
                           .k = DEEP,
                           .a = {.buffer = factor},
                           .b = {.buffer = factor, .transpose = 1},
                           .c = {.buffer = result},
                           .structure.c_triangle = TESELA_LOWER};
  tesela_record record;
  (void)state;
  memset(c, 0xff, sizeof c); /* NaN */
  must(tesela_buffer_write(result, 0, c, sizeof c));
  must(tesela_gemm_batched(context, &desc, &batch, &record));
  assert_non_null(strstr(record.plan, "gemm structured"));
  must(tesela_buffer_read(result, 0, c, sizeof c));
  expect_batch(c);
  memset(c, 0xff, sizeof c);
  desc.a = (tesela_matrix){.data = a};
  desc.b = (tesela_matrix){.data = a, .transpose = 1};
  desc.c = (tesela_result){.data = c};
  must(tesela_gemm_batched(context, &desc, &batch, NULL));
  expect_batch(c);
  memset(c, 0xff, sizeof c);
  must(tesela_gemm_grouped(context, &desc, &batch, 1, NULL));
  expect_batch(c);
}

/* Bits of sums are the device's own. */
static void what_it_cannot_promise(void **state) {
  tesela_gemm_desc desc = {.m = N,
                           .n = N,
                           .k = K,
                           .a = {.buffer = factor},
                           .b = {.buffer = factor, .transpose = 1},
                           .c = {.buffer = result},
                           .structure.c_triangle = TESELA_UPPER,
                           .options.strategy = strategy,
                           .options.reproducibility = "devices"};
  (void)state;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "bits=devices");
  desc.options.reproducibility = NULL;
  desc.options.accuracy = "exact";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "exact");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_triangle_in_buffers),
                                     cmocka_unit_test(a_triangle_in_host_memory),
                                     cmocka_unit_test(in_place),
                                     cmocka_unit_test(symmetric),
                                     cmocka_unit_test(batches_of_triangles),
                                     cmocka_unit_test(what_it_cannot_promise)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
