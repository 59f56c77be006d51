/* Products with an epilogue by the public calls: a bias, an activation or both. A product runs
 * once, again (known calls take fast paths), by a plan, queued, and in a batch. Each runs on the
 * cpu and by the kernels of an OpenCL device. The expected results are computed here, by the
 * definitions. */
#include "unit/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 13, N = 21, K = 9, SIZE = M * N, PRODUCTS = 3 };

static tesela_context *context;
static float a[PRODUCTS][M * K], b[K * N], row[PRODUCTS * N], column[M];
static float c[PRODUCTS][SIZE];

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < PRODUCTS * M * K; i++)
    a[i / (M * K)][i % (M * K)] = (float)(i % 7 - 3) / 4;
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i % 5 - 2) / 2;
  for (int i = 0; i < PRODUCTS * N; i++)
    row[i] = (float)(i % 11 - 5) / 3;
  for (int i = 0; i < M; i++)
    column[i] = (float)(i - 6) / 5;
  return tesela_context_create(NULL, &context) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

static double function(tesela_activation activation, double x) {
  return activation == TESELA_RELU   ? (x > 0 ? x : 0)
         : activation == TESELA_GELU ? x * (1 + erf(x / sqrt(2))) / 2
         : activation == TESELA_GELU_TANH
             ? x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))) / 2
             : x;
}

/* Element (i, j) of f(A B + bias), for the first product with a row of its own. */
static double right(int product, const float *bias, tesela_bias_axis along, tesela_activation activation,
                    int i, int j) {
  double sum = along == TESELA_NO_BIAS ? 0 : (double)bias[along == TESELA_BIAS_ROW ? j : i];
  for (int l = 0; l < K; l++)
    sum += (double)a[product][i * K + l] * (double)b[l * N + j];
  return function(activation, sum);
}

static void check(const float *got, int product, const float *bias, tesela_bias_axis along,
                  tesela_activation activation) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const double expected = right(product, bias, along, activation, i, j);
      if (!(fabs((double)got[i * N + j] - expected) < 1e-5))
        fail_msg("element (%d, %d) is %.9g, and %.9g is right", i, j, (double)got[i * N + j], expected);
    }
}

static tesela_epilogue last; /* the epilogue of the description that described() returned last */

static tesela_gemm_desc described(const char *device, tesela_bias_axis along, tesela_activation activation) {
  last = (tesela_epilogue){.bias = {.data = along == TESELA_BIAS_ROW      ? row
                                            : along == TESELA_BIAS_COLUMN ? column
                                                                          : NULL},
                           .bias_axis = along,
                           .activation = activation};
  return (tesela_gemm_desc){.m = M,
                            .n = N,
                            .k = K,
                            .a = {.data = a[0]},
                            .b = {.data = b},
                            .c = {.data = c[0]},
                            .options.device = device,
                            .epilogue = &last};
}

static const float *vector_of(tesela_bias_axis along) {
  return along == TESELA_BIAS_ROW ? row : column;
}

/* Alternates every epilogue with the plain product: however often both were called, no cached plan
 * of one serves the other. */
static void call_again_on(const char *device) {
  for (int round = 0; round < 4; round++)
    for (int along = 0; along < TESELA_ALONGS; along++)
      for (int activation = 0; activation < TESELA_ACTIVATIONS; activation++) {
        const tesela_gemm_desc desc =
            described(device, (tesela_bias_axis)along, (tesela_activation)activation);
        for (int i = 0; i < 3; i++) {
          memset(c[0], 0x7f, sizeof c[0]);
          must(tesela_gemm(context, &desc, NULL));
          check(c[0], 0, vector_of(last.bias_axis), last.bias_axis, last.activation);
        }
      }
}

static void test_calls_that_come_again(void **state) {
  (void)state;
  call_again_on("cpu");
  call_again_on("opencl:0");
}

/* With beta, a vector with a stride of its own, C by columns, and no terms: C = f(beta C + bias). */
static void test_beta_and_strides(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  const double beta = -0.5;
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int k = 0; k <= K; k += K) {
      tesela_gemm_desc desc = described(devices[d], TESELA_BIAS_ROW, TESELA_RELU);
      float spread[2 * N];
      for (int j = 0; j < N; j++)
        spread[2 * (N - 1 - j)] = row[j];
      desc.k = k;
      desc.a.row_stride = K;
      desc.a.col_stride = 1;
      desc.beta = &beta;
      desc.c.row_stride = 1;
      desc.c.col_stride = M;
      last.bias = (tesela_vector){.data = spread + 2 * (N - 1), .stride = -2};
      for (int i = 0; i < SIZE; i++)
        c[0][i] = (float)(i % 9);
      must(tesela_gemm(context, &desc, NULL));
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
          const double product = k == 0 ? 0 : right(0, NULL, TESELA_NO_BIAS, TESELA_NO_ACTIVATION, i, j),
                       sum = product + (double)row[j] - 0.5 * ((j * M + i) % 9);
          assert_true(fabs((double)c[0][j * M + i] - (sum > 0 ? sum : 0)) < 1e-5);
        }
    }
}

/* NaN stays NaN through an activation; infinities become the limits of the functions. */
static void test_what_is_not_finite(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  static const float bias[4] = {NAN, INFINITY, -INFINITY, 1};
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int activation = TESELA_RELU; activation < TESELA_ACTIVATIONS; activation++) {
      float x = 2, y[4] = {1, 1, 1, 1}, z[4] = {0};
      const tesela_gemm_desc desc = {.m = 1,
                                     .n = 4,
                                     .k = 1,
                                     .a = {.data = &x},
                                     .b = {.data = y},
                                     .c = {.data = z},
                                     .options.device = devices[d],
                                     .epilogue =
                                         &(tesela_epilogue){.bias = {.data = bias},
                                                            .bias_axis = TESELA_BIAS_ROW,
                                                            .activation = (tesela_activation)activation}};
      must(tesela_gemm(context, &desc, NULL));
      assert_true(isnan(z[0]));
      assert_true(isinf(z[1]) && z[1] > 0);
      assert_true(z[2] == 0);
      assert_true(fabs((double)z[3] - function((tesela_activation)activation, 3)) < 1e-6);
    }
}

/* bf16 with a bias of f32, and complex numbers with one of theirs. */
static void test_types(void **state) {
  static const unsigned short ones[4] = {0x3f80, 0x3f80, 0x3f80, 0x3f80};
  static const float wide[2] = {0.25f, -4};
  unsigned short narrow[4];
  const tesela_gemm_desc desc = {.m = 2,
                                 .n = 2,
                                 .k = 2,
                                 .a = {.data = ones, .type = TESELA_BF16},
                                 .b = {.data = ones, .type = TESELA_BF16},
                                 .c = {.data = narrow, .type = TESELA_BF16},
                                 .options.device = "cpu",
                                 .epilogue = &(tesela_epilogue){.bias = {.data = wide, .type = TESELA_F32},
                                                                .bias_axis = TESELA_BIAS_COLUMN,
                                                                .activation = TESELA_RELU}};
  (void)state;
  must(tesela_gemm(context, &desc, NULL));
  assert_int_equal(narrow[0], 0x4010); /* 2.25 */
  assert_int_equal(narrow[1], 0x4010);
  assert_int_equal(narrow[2], 0);
  static const double x[2] = {1, 2}, y[2] = {3, -1}, bias[2] = {0.5, -7};
  double z[2];
  const tesela_gemm_desc complex = {
      .m = 1,
      .n = 1,
      .k = 1,
      .a = {.data = x, .type = TESELA_C128},
      .b = {.data = y, .type = TESELA_C128},
      .c = {.data = z, .type = TESELA_C128},
      .options.device = "cpu",
      .epilogue =
          &(tesela_epilogue){.bias = {.data = bias, .type = TESELA_C128}, .bias_axis = TESELA_BIAS_ROW}};
  must(tesela_gemm(context, &complex, NULL));
  assert_true(z[0] == 5.5 && z[1] == -2);
}

/* --- plans, buffers and queues --- */

static void test_plans_and_their_text(void **state) {
  tesela_plan *plan, *again;
  const tesela_gemm_desc desc = described("cpu", TESELA_BIAS_COLUMN, TESELA_GELU);
  const tesela_epilogue vector = {.bias = {.data = column}};
  const tesela_matrix x = {.data = a[0]}, y = {.data = b};
  const tesela_result z = {.data = c[0]};
  (void)state;
  must(tesela_plan_create(context, &desc, &plan));
  assert_non_null(strstr(tesela_plan_describe(plan), " bias=column activation=gelu"));
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(plan), tesela_plan_describe(again));
  for (int i = 0; i < 2; i++) {
    memset(c[0], 0x7f, sizeof c[0]);
    must(tesela_plan_run(i ? again : plan, &(tesela_operands){.a = &x, .b = &y, .c = &z, .epilogue = &vector},
                         NULL));
    check(c[0], 0, column, TESELA_BIAS_COLUMN, TESELA_GELU);
  }
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &x, .b = &y, .c = &z}, NULL), TESELA_BAD_CALL,
         "bias.data is NULL");
  tesela_plan_destroy(plan);
  tesela_plan_destroy(again);
  must(tesela_plan_create(
      context,
      &(tesela_gemm_desc){.m = M, .n = N, .k = K, .epilogue = &(tesela_epilogue){.activation = TESELA_RELU}},
      &plan));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &x, .b = &y, .c = &z}, NULL));
  check(c[0], 0, NULL, TESELA_NO_BIAS, TESELA_RELU);
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &x, .b = &y, .c = &z, .epilogue = &vector}, NULL),
         TESELA_BAD_CALL, "the plan has no bias");
  tesela_plan_destroy(plan);
  static const char *const shortcuts[] = {"host_small", "host_skinny", "host_packed"};
  for (int i = 0; i < 3; i++) {
    must(tesela_plan_create(
        context, &(tesela_gemm_desc){.m = 1, .n = N, .k = K, .options = {.strategy = shortcuts[i]}}, &plan));
    expect(tesela_plan_run(plan, &(tesela_operands){.a = &x, .b = &y, .c = &z, .epilogue = &vector}, NULL),
           TESELA_BAD_CALL, "the plan has no bias");
    tesela_plan_destroy(plan);
  }
  expect(tesela_plan_parse(context,
                           "gemm sequential version=1 device=cpu place=host m=2 n=2 k=2 types=f32,f32,f32 "
                           "bias=diagonal",
                           &plan),
         TESELA_BAD_INPUT, "bias=diagonal");
  expect(tesela_plan_parse(context,
                           "gemm sequential version=1 device=cpu place=host m=2 n=2 k=2 types=f32,f32,f32 "
                           "activation=sine",
                           &plan),
         TESELA_BAD_INPUT, "activation=sine");
}

/* Operands in buffers: once, and queued; the vector behind others in its buffer. */
static void test_buffers_on(const char *device) {
  tesela_buffer *x = filled(context, device, a[0], sizeof a[0]), *y = filled(context, device, b, sizeof b),
                *z = filled(context, device, c[0], sizeof c[0]),
                *vector = filled(context, device, row, sizeof row);
  tesela_stream *stream;
  tesela_plan *plan;
  size_t workspace;
  tesela_gemm_desc desc = described(NULL, TESELA_BIAS_ROW, TESELA_GELU_TANH);
  desc.a = (tesela_matrix){.buffer = x};
  desc.b = (tesela_matrix){.buffer = y};
  desc.c = (tesela_result){.buffer = z};
  last.bias = (tesela_vector){.buffer = vector, .offset = N};
  must(tesela_gemm(context, &desc, NULL));
  must(tesela_buffer_read(z, 0, c[0], sizeof c[0]));
  check(c[0], 0, row + N, TESELA_BIAS_ROW, TESELA_GELU_TANH);
  must(tesela_plan_create(context, &desc, &plan));
  must(tesela_stream_create(context, device, &stream));
  workspace = tesela_plan_workspace(plan);
  must(tesela_stream_reserve(stream, workspace));
  must(tesela_plan_enqueue(
      plan, stream,
      &(tesela_operands){.a = &desc.a,
                         .b = &desc.b,
                         .c = &desc.c,
                         .epilogue = &(tesela_epilogue){.bias = {.buffer = vector, .offset = 2 * N}}},
      NULL));
  must(tesela_stream_wait(stream));
  must(tesela_buffer_read(z, 0, c[0], sizeof c[0]));
  check(c[0], 0, row + 2 * N, TESELA_BIAS_ROW, TESELA_GELU_TANH);
  expect(
      tesela_plan_enqueue(plan, stream, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
      TESELA_BAD_CALL, "bias.buffer");
  expect(
      tesela_plan_enqueue(
          plan, stream,
          &(tesela_operands){.a = &desc.a,
                             .b = &desc.b,
                             .c = &desc.c,
                             .epilogue = &(tesela_epilogue){.bias = {.buffer = vector, .offset = 3 * N - 1}}},
          NULL),
      TESELA_BAD_CALL, "bias.offset");
  last.bias = (tesela_vector){.data = row};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "all operands are in one place");
  last.bias = (tesela_vector){.buffer = z};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "c overlaps desc.epilogue.bias");
  tesela_stream_destroy(stream);
  tesela_plan_destroy(plan);
  tesela_buffer_destroy(x);
  tesela_buffer_destroy(y);
  tesela_buffer_destroy(z);
  tesela_buffer_destroy(vector);
}

static void test_buffers(void **state) {
  (void)state;
  test_buffers_on("cpu");
  test_buffers_on("opencl:0");
}

/* --- batches --- */

static void check_batch(const float *first, int64_t step) {
  for (int i = 0; i < PRODUCTS; i++)
    check(c[i], i, first + i * step, TESELA_BIAS_ROW, TESELA_GELU);
}

/* One vector for all products, and one each; at even distances and by addresses. */
static void test_batches(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  const void *const as[PRODUCTS] = {a[0], a[1], a[2]}, *const bs[PRODUCTS] = {b, b, b};
  void *const cs[PRODUCTS] = {c[0], c[1], c[2]};
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int step = 0; step <= N; step += N) {
      tesela_gemm_desc desc = described(devices[d], TESELA_BIAS_ROW, TESELA_GELU);
      const tesela_batch even = {.count = PRODUCTS, .a_stride = M * K, .c_stride = SIZE, .bias_stride = step};
      memset(c, 0x7f, sizeof c);
      must(tesela_gemm_batched(context, &desc, &even, NULL));
      check_batch(row, step);
      desc.a.data = desc.b.data = desc.c.data = NULL;
      const tesela_batch apart = {.count = PRODUCTS, .a = as, .b = bs, .c = cs, .bias_stride = step};
      memset(c, 0x7f, sizeof c);
      must(tesela_gemm_batched(context, &desc, &apart, NULL));
      check_batch(row, step);
    }
}

/* Runs batches in buffers of a device with kernels, where one launch may compute the whole batch. */
static void test_batch_in_buffers(void **state) {
  (void)state;
  tesela_buffer *x = filled(context, "opencl:0", a, sizeof a), *y = filled(context, "opencl:0", b, sizeof b),
                *z = filled(context, "opencl:0", c, sizeof c),
                *vector = filled(context, "opencl:0", row, sizeof row);
  tesela_gemm_desc desc = described(NULL, TESELA_BIAS_ROW, TESELA_GELU);
  const tesela_batch batch = {.count = PRODUCTS, .a_stride = M * K, .c_stride = SIZE, .bias_stride = N};
  desc.a = (tesela_matrix){.buffer = x};
  desc.b = (tesela_matrix){.buffer = y};
  desc.c = (tesela_result){.buffer = z};
  last.bias = (tesela_vector){.buffer = vector};
  must(tesela_gemm_batched(context, &desc, &batch, NULL));
  memset(c, 0x7f, sizeof c);
  must(tesela_buffer_read(z, 0, c, sizeof c));
  check_batch(row, N);
  tesela_buffer_destroy(x);
  tesela_buffer_destroy(y);
  tesela_buffer_destroy(z);
  tesela_buffer_destroy(vector);
}

/* --- refused calls, and the record's text --- */

static void test_refusals(void **state) {
  tesela_gemm_desc desc = described("cpu", TESELA_BIAS_ROW, TESELA_NO_ACTIVATION);
  (void)state;
  last.bias_axis = TESELA_NO_BIAS;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "bias_axis");
  desc = described("cpu", TESELA_BIAS_ROW, TESELA_NO_ACTIVATION);
  last.bias.data = NULL;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.epilogue.bias.data is NULL");
  desc = described("cpu", TESELA_BIAS_ROW, TESELA_NO_ACTIVATION);
  last.bias.type = TESELA_F64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "bias is f64 where C is f32");
  desc = described("cpu", TESELA_BIAS_ROW, TESELA_NO_ACTIVATION);
  last.bias.data = c[0];
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "overlaps desc.epilogue.bias");
  desc = described("cpu", TESELA_NO_BIAS, TESELA_RELU);
  desc.a.type = desc.b.type = TESELA_I8;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "integers have neither");
  desc = described("cpu", TESELA_NO_BIAS, TESELA_RELU);
  desc.a.type = desc.b.type = TESELA_C64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "no relu of complex numbers");
  desc = described("cpu", TESELA_NO_BIAS, (tesela_activation)9);
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "which are none");
  desc = described("cpu", TESELA_NO_BIAS, TESELA_RELU);
  desc.m = desc.k = K;
  desc.structure.a = TESELA_SYMMETRIC;
  desc.structure.a_triangle = TESELA_LOWER;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "general matrices");
}

/* The bound counts the last step, and asks are held to it: nothing rounds a sum and a bias once. */
static void test_accuracy(void **state) {
  tesela_record plain, finished;
  tesela_gemm_desc desc = described("cpu", TESELA_NO_BIAS, TESELA_NO_ACTIVATION);
  (void)state;
  desc.options.strategy = "sequential";
  must(tesela_gemm(context, &desc, &plain));
  desc = described("cpu", TESELA_BIAS_ROW, TESELA_GELU);
  desc.options.strategy = "sequential";
  must(tesela_gemm(context, &desc, &finished));
  assert_true(finished.error_bound > 1.13 * plain.error_bound);
  desc = described("cpu", TESELA_BIAS_ROW, TESELA_NO_ACTIVATION);
  desc.options.accuracy = "exact";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "exact is asked for");
  desc = described("cpu", TESELA_NO_BIAS, TESELA_RELU);
  desc.options.accuracy = "exact";
  must(tesela_gemm(context, &desc, NULL)); /* a maximum with 0 rounds nothing */
  check(c[0], 0, NULL, TESELA_NO_BIAS, TESELA_RELU);
}

/* A caller that was built before there were last steps. */
static void test_older_descriptions(void **state) {
  const tesela_gemm_desc desc = described("cpu", TESELA_BIAS_ROW, TESELA_RELU);
  (void)state;
  must(tesela_call_sized(context, TESELA_GEMM, &desc, NULL, offsetof(tesela_gemm_desc, epilogue),
                         sizeof(tesela_record)));
  check(c[0], 0, NULL, TESELA_NO_BIAS, TESELA_NO_ACTIVATION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_that_come_again),
      cmocka_unit_test(test_beta_and_strides),
      cmocka_unit_test(test_what_is_not_finite),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_plans_and_their_text),
      cmocka_unit_test(test_buffers),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_batch_in_buffers),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_older_descriptions),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
