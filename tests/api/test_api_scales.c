/* Products of narrow matrices with scales by the public calls: integers and 8-bit floats, one scale
 * for the matrix or one for each line. A product runs once, again, by a plan, queued, in a batch,
 * on the cpu and by the kernels of an OpenCL device. The expected results are computed here, by the
 * definition. */
#include "unit/calls.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 41, K = 19, SIZE = M * N, PRODUCTS = 3 };

static tesela_context *context;
static signed char a[PRODUCTS][M * K], b[K * N];
static float rows[PRODUCTS * M], cols[PRODUCTS * N], bias[N], c[PRODUCTS][SIZE];
static const float one = 0.375f;
static const char *const devices[] = {"cpu", "opencl:0"};

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < PRODUCTS * M * K; i++)
    a[i / (M * K)][i % (M * K)] = (signed char)(i * 37 % 251 - 125);
  for (int i = 0; i < K * N; i++)
    b[i] = (signed char)(i * 53 % 241 - 120);
  for (int i = 0; i < PRODUCTS * M; i++)
    rows[i] = (float)(i % 13 + 1) / 700;
  for (int i = 0; i < PRODUCTS * N; i++)
    cols[i] = (float)(i % 11 - 5) / 300;
  for (int i = 0; i < N; i++)
    bias[i] = (float)(i % 9 - 4);
  return tesela_context_create(NULL, &context) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* Parameters of a call in addition to A and B. */
typedef struct form {
  tesela_scaling of_a, of_b;
  double alpha, beta;
  bool biased;
} form;

static const float *scale_of(tesela_scaling scaling, const float *lines) {
  return scaling == TESELA_NO_SCALE ? NULL : scaling == TESELA_SCALE_TENSOR ? &one : lines;
}

static double factor(tesela_scaling scaling, const float *lines, int index) {
  const float *scale = scale_of(scaling, lines);
  return !scale ? 1 : (double)scale[scaling == TESELA_SCALE_LINES ? index : 0];
}

static double right(const form *form_in, int product, const float *of_rows, const float *of_cols, int i,
                    int j, double before) {
  int sum = 0;
  for (int l = 0; l < K; l++)
    sum += a[product][i * K + l] * b[l * N + j];
  return form_in->alpha * sum * factor(form_in->of_a, of_rows, i) * factor(form_in->of_b, of_cols, j) +
         form_in->beta * before + (form_in->biased ? (double)bias[j] : 0);
}

static void check(const float *got, const form *form_in, int product, const float *of_rows,
                  const float *of_cols, double before) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const double expected = right(form_in, product, of_rows, of_cols, i, j, before);
      if (!(fabs((double)got[i * N + j] - expected) <= 1e-6 * (fabs(expected) + 16)))
        fail_msg("element (%d, %d) is %.9g, and %.9g is right", i, j, (double)got[i * N + j], expected);
    }
}

static tesela_epilogue last; /* the epilogue of the description that described() returned last */

/* Returns a description whose C is f32, the default. */
static tesela_gemm_desc described(const char *device, const form *form_in) {
  last = (tesela_epilogue){.bias = {.data = form_in->biased ? bias : NULL},
                           .bias_axis = form_in->biased ? TESELA_BIAS_ROW : TESELA_NO_BIAS,
                           .scale_a = {.data = scale_of(form_in->of_a, rows)},
                           .scale_b = {.data = scale_of(form_in->of_b, cols)},
                           .scaling_a = form_in->of_a,
                           .scaling_b = form_in->of_b};
  return (tesela_gemm_desc){.m = M,
                            .n = N,
                            .k = K,
                            .a = {.data = a[0], .type = TESELA_I8},
                            .b = {.data = b, .type = TESELA_I8},
                            .c = {.data = c[0]},
                            .alpha = &form_in->alpha,
                            .beta = &form_in->beta,
                            .options.device = device,
                            .epilogue = &last};
}

static void fill(float value) {
  for (int i = 0; i < PRODUCTS * SIZE; i++)
    c[i / SIZE][i % SIZE] = value;
}

/* Every way to scale, each more than once and by turns, with C read and not. */
static void test_every_way(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int round = 0; round < 2; round++)
      for (int way = 1; way < TESELA_SCALINGS * TESELA_SCALINGS; way++)
        for (int reads = 0; reads < 2; reads++) {
          const form of = {(tesela_scaling)(way % TESELA_SCALINGS), (tesela_scaling)(way / TESELA_SCALINGS),
                           way % 2 ? 1 : -1.5, reads ? 0.25 : 0, way % 3 == 0};
          const tesela_gemm_desc desc = described(devices[d], &of);
          fill(reads ? 3 : NAN);
          must(tesela_gemm(context, &desc, NULL));
          check(c[0], &of, 0, rows, cols, 3);
        }
}

/* Vectors with strides of their own, and C by columns. */
static void test_strides(void **state) {
  const form of = {TESELA_SCALE_LINES, TESELA_SCALE_LINES, 1, 0, false};
  static float spread[2 * M], turned[SIZE];
  (void)state;
  for (int i = 0; i < M; i++)
    spread[2 * (M - 1 - i)] = rows[i];
  for (int d = 0; d < 2; d++) {
    tesela_gemm_desc desc = described(devices[d], &of);
    last.scale_a = (tesela_vector){.data = spread + 2 * (M - 1), .stride = -2};
    desc.c.transpose = 1;
    fill(NAN);
    must(tesela_gemm(context, &desc, NULL));
    for (int i = 0; i < SIZE; i++)
      turned[i % M * N + i / M] = c[0][i];
    check(turned, &of, 0, rows, cols, 0);
  }
}

static float of_bf16(unsigned short bits) {
  const unsigned wide = (unsigned)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* A narrow C is rounded once: sums that are far beyond what f16 holds are scaled first. */
static void test_narrow_results(void **state) {
  static unsigned short narrow[SIZE];
  const form of = {TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 1, 0, true};
  (void)state;
  for (int d = 0; d < 2; d++) {
    tesela_gemm_desc desc = described(devices[d], &of);
    desc.c = (tesela_result){.data = narrow, .type = TESELA_BF16};
    last.bias.type = TESELA_F32;
    must(tesela_gemm(context, &desc, NULL));
    for (int i = 0; i < SIZE; i++) {
      const double expected = right(&of, 0, rows, cols, i / N, i % N, 0);
      assert_true(fabs((double)of_bf16(narrow[i]) - expected) <= 0x1.01p-8 * fabs(expected));
    }
    static signed char big[2 * 16];
    const float down = 0x1p-9f;
    memset(big, 64, sizeof big); /* 16 x 4096 = 65536, which f16 has no more: 2^16 / 2^9 = 128 */
    const tesela_gemm_desc over = {
        .m = 2,
        .n = 2,
        .k = 16,
        .a = {.data = big, .type = TESELA_I8},
        .b = {.data = big, .type = TESELA_I8},
        .c = {.data = narrow, .type = TESELA_F16},
        .options.device = devices[d],
        .epilogue = &(tesela_epilogue){.scale_b = {.data = &down}, .scaling_b = TESELA_SCALE_TENSOR}};
    must(tesela_gemm(context, &over, NULL));
    for (int i = 0; i < 4; i++)
      assert_int_equal(narrow[i], 0x5800);
  }
}

/* 8-bit floats in a mix, to f32; on the cpu, which takes them everywhere. */
static void test_eights(void **state) {
  static const unsigned char x[4] = {0x38, 0x40, 0xb8, 0x30},
                             y[4] = {0x3c, 0x40, 0x44, 0xbc}; /* 1 2 -1 0.5; 1 2 4 -1 */
  static const float lines[2] = {0.5f, -4}, tensor = 3;
  float z[4];
  const tesela_gemm_desc desc = {.m = 2,
                                 .n = 2,
                                 .k = 2,
                                 .a = {.data = x, .type = TESELA_E4M3},
                                 .b = {.data = y, .type = TESELA_E5M2},
                                 .c = {.data = z},
                                 .options.device = "cpu",
                                 .epilogue = &(tesela_epilogue){.scale_a = {.data = lines},
                                                                .scaling_a = TESELA_SCALE_LINES,
                                                                .scale_b = {.data = &tensor},
                                                                .scaling_b = TESELA_SCALE_TENSOR}};
  (void)state;
  must(tesela_gemm(context, &desc, NULL));
  /* (1 + 8, 2 - 2) and (-1 + 2, -2 - 0.5), by 1.5 and by -12 */
  assert_true(z[0] == 13.5f && z[1] == 0 && z[2] == -12 && z[3] == 30);
}

/* A NaN or infinity in a scale makes its line NaN or infinite. Scales change neither an empty sum
 * (k or alpha is 0) nor beta C. */
static void test_what_is_not_finite(void **state) {
  const double none = 0, half = 0.5;
  (void)state;
  for (int d = 0; d < 2; d++) {
    form of = {TESELA_SCALE_LINES, TESELA_NO_SCALE, 1, 0, false};
    tesela_gemm_desc desc = described(devices[d], &of);
    static float odd[M];
    memcpy(odd, rows, sizeof odd);
    odd[3] = NAN;
    odd[5] = INFINITY;
    last.scale_a.data = odd;
    must(tesela_gemm(context, &desc, NULL));
    for (int j = 0; j < N; j++) {
      assert_true(isnan(c[0][3 * N + j]));
      assert_true(!isfinite(c[0][5 * N + j]));
      assert_true(isfinite(c[0][4 * N + j]));
    }
    for (int empty = 0; empty < 2; empty++) {
      desc = described(devices[d], &of);
      last.scale_a.data = empty ? NULL : odd;
      desc.alpha = empty ? NULL : &none;
      desc.beta = &half;
      desc.k = empty ? 0 : K;
      desc.a.row_stride = K, desc.a.col_stride = 1;
      fill(6);
      must(tesela_gemm(context, &desc, NULL));
      for (int i = 0; i < SIZE; i++)
        assert_true(c[0][i] == 3);
    }
  }
}

/* --- plans, buffers and queues --- */

static void test_plans_and_their_text(void **state) {
  const form of = {TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 1, 0, true};
  tesela_gemm_desc desc = described("cpu", &of);
  const tesela_epilogue finish = {
      .bias = {.data = bias}, .scale_a = {.data = &one}, .scale_b = {.data = cols}};
  tesela_plan *plan, *again;
  tesela_packed *packed;
  (void)state;
  must(tesela_plan_create(context, &desc, &plan));
  assert_non_null(strstr(tesela_plan_describe(plan), " types=i8,i8,f32 "));
  assert_non_null(strstr(tesela_plan_describe(plan), " bias=row scale_a=tensor scale_b=lines"));
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(plan), tesela_plan_describe(again));
  must(tesela_pack(plan, NULL, &desc.b, &packed));
  for (int i = 0; i < 3; i++) {
    fill(NAN);
    must(tesela_plan_run(i == 1 ? again : plan,
                         &(tesela_operands){.a = &desc.a,
                                            .b = i == 2 ? &(tesela_matrix){.packed = packed} : &desc.b,
                                            .c = &desc.c,
                                            .epilogue = &finish},
                         NULL));
    check(c[0], &of, 0, rows, cols, 0);
  }
  tesela_packed_destroy(packed);
  expect(tesela_plan_run(plan,
                         &(tesela_operands){.a = &desc.a,
                                            .b = &desc.b,
                                            .c = &desc.c,
                                            .epilogue = &(tesela_epilogue){.bias = finish.bias}},
                         NULL),
         TESELA_BAD_CALL, "scale_a.data is NULL");
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
         TESELA_BAD_CALL, "bias.data is NULL");
  expect(tesela_plan_run(plan,
                         &(tesela_operands){
                             .a = &desc.a,
                             .b = &desc.b,
                             .c = &desc.c,
                             .epilogue = &(tesela_epilogue){.bias = finish.bias, .scale_a = finish.scale_a}},
                         NULL),
         TESELA_BAD_CALL, "scale_b.data is NULL");
  tesela_plan_destroy(plan);
  tesela_plan_destroy(again);
  last.scale_a.data = last.scale_b.data = NULL;
  last.scaling_a = last.scaling_b = TESELA_NO_SCALE;
  last.bias.data = NULL;
  last.bias_axis = TESELA_NO_BIAS;
  must(tesela_plan_create(context, &desc, &plan));
  expect(tesela_plan_run(plan,
                         &(tesela_operands){.a = &desc.a,
                                            .b = &desc.b,
                                            .c = &desc.c,
                                            .epilogue = &(tesela_epilogue){.scale_b = finish.scale_b}},
                         NULL),
         TESELA_BAD_CALL, "the plan does not scale B");
  tesela_plan_destroy(plan);
  static const char *const texts[] = {"scale_a=rows", "scale_a=tensor,2", "scale_b=lines,x"};
  for (int i = 0; i < 3; i++) {
    char text[160];
    snprintf(text, sizeof text,
             "gemm sequential version=1 device=cpu place=host m=2 n=2 k=2 types=i8,i8,f32 %s", texts[i]);
    expect(tesela_plan_parse(context, text, &plan), TESELA_BAD_INPUT, texts[i]);
  }
  must(tesela_plan_parse(context,
                         "gemm sequential version=1 device=cpu place=host m=2 n=2 k=2 types=i8,i8,f32 "
                         "scale_a=lines,-3 scale_b=tensor",
                         &plan));
  assert_non_null(strstr(tesela_plan_describe(plan), "scale_a=lines,-3 scale_b=tensor"));
  tesela_plan_destroy(plan);
}

/* Operands in buffers: once, and queued with a workspace; sums lie in C, and apart where that is read. */
static void test_buffers_on(const char *device) {
  tesela_buffer *x = filled(context, device, a[0], sizeof a[0]), *y = filled(context, device, b, sizeof b),
                *z = filled(context, device, c[0], sizeof c[0]),
                *p = filled(context, device, rows, sizeof rows),
                *q = filled(context, device, cols, sizeof cols);
  tesela_stream *stream;
  must(tesela_stream_create(context, device, &stream));
  for (int reads = 0; reads < 2; reads++) {
    const form of = {TESELA_SCALE_LINES, TESELA_SCALE_LINES, 1, reads ? -2 : 0, false};
    tesela_gemm_desc desc = described(NULL, &of);
    tesela_plan *plan;
    size_t workspace;
    desc.a = (tesela_matrix){.buffer = x, .type = TESELA_I8};
    desc.b = (tesela_matrix){.buffer = y, .type = TESELA_I8};
    desc.c = (tesela_result){.buffer = z};
    last.scale_a = (tesela_vector){.buffer = p, .offset = M};
    last.scale_b = (tesela_vector){.buffer = q};
    fill(5);
    must(tesela_buffer_write(z, 0, c[0], sizeof c[0]));
    must(tesela_gemm(context, &desc, NULL));
    must(tesela_buffer_read(z, 0, c[0], sizeof c[0]));
    check(c[0], &of, 0, rows + M, cols, 5);
    must(tesela_plan_create(context, &desc, &plan));
    workspace = tesela_plan_workspace(plan);
    if (reads && strcmp(device, "cpu") != 0)
      assert_true(workspace >= sizeof c[0]);
    must(tesela_stream_reserve(stream, workspace));
    fill(5);
    must(tesela_buffer_write(z, 0, c[0], sizeof c[0]));
    const tesela_epilogue finish = {.scale_a = {.buffer = p, .offset = 2 * M},
                                    .scale_b = {.buffer = q, .offset = N}};
    must(tesela_plan_enqueue(
        plan, stream, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c, .epilogue = &finish},
        NULL));
    must(tesela_stream_wait(stream));
    must(tesela_buffer_read(z, 0, c[0], sizeof c[0]));
    check(c[0], &of, 0, rows + 2 * M, cols + N, 5);
    expect(
        tesela_plan_enqueue(
            plan, stream,
            &(tesela_operands){.a = &desc.a,
                               .b = &desc.b,
                               .c = &desc.c,
                               .epilogue = &(tesela_epilogue){.scale_a = finish.scale_a,
                                                              .scale_b = {.buffer = q, .offset = 3 * N - 1}}},
            NULL),
        TESELA_BAD_CALL, "scale_b.offset");
    tesela_plan_destroy(plan);
    last.scale_b = (tesela_vector){.buffer = z};
    expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "c overlaps desc.epilogue.scale_b");
  }
  tesela_stream_destroy(stream);
  tesela_buffer_destroy(x);
  tesela_buffer_destroy(y);
  tesela_buffer_destroy(z);
  tesela_buffer_destroy(p);
  tesela_buffer_destroy(q);
}

static void test_buffers(void **state) {
  (void)state;
  test_buffers_on("cpu");
  test_buffers_on("opencl:0");
}

/* --- batches --- */

/* Scales for all products, and each its own; at even distances and by addresses; on the device in one run. */
static void test_batches(void **state) {
  const void *const as[PRODUCTS] = {a[0], a[1], a[2]}, *const bs[PRODUCTS] = {b, b, b};
  void *const cs[PRODUCTS] = {c[0], c[1], c[2]};
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int own = 0; own < 2; own++)
      for (int reads = 0; reads < 2; reads++) {
        const form of = {TESELA_SCALE_LINES, TESELA_SCALE_LINES, 1, reads ? 0.5 : 0, false};
        tesela_gemm_desc desc = described(devices[d], &of);
        const int step_a = own ? M : 0, step_b = own ? N : 0;
        tesela_batch batch = {.count = PRODUCTS,
                              .a_stride = M * K,
                              .c_stride = SIZE,
                              .scale_a_stride = step_a,
                              .scale_b_stride = step_b};
        for (int apart = 0; apart < 2; apart++) {
          if (apart) {
            desc.a.data = desc.b.data = desc.c.data = NULL;
            batch.a = as, batch.b = bs, batch.c = cs;
          }
          fill(reads ? 2 : NAN);
          must(tesela_gemm_batched(context, &desc, &batch, NULL));
          for (int i = 0; i < PRODUCTS; i++)
            check(c[i], &of, i, rows + i * step_a, cols + i * step_b, 2);
        }
      }
}

/* All products in one launch, with sums in C and apart, scales of all and of each. */
static void test_batches_in_one_run(void **state) {
  static float x[PRODUCTS][M * K], y[K * N];
  (void)state;
  for (int i = 0; i < PRODUCTS * M * K; i++)
    x[i / (M * K)][i % (M * K)] = a[i / (M * K)][i % (M * K)];
  for (int i = 0; i < K * N; i++)
    y[i] = b[i];
  for (int own = 0; own < 2; own++)
    for (int reads = 0; reads < 2; reads++) {
      const form of = {TESELA_SCALE_LINES, TESELA_SCALE_LINES, 1, reads ? 0.5 : 0, true};
      const int step_a = own ? M : 0, step_b = own ? N : 0;
      tesela_gemm_desc desc = described("opencl:0", &of);
      const tesela_batch batch = {.count = PRODUCTS,
                                  .a_stride = M * K,
                                  .c_stride = SIZE,
                                  .scale_a_stride = step_a,
                                  .scale_b_stride = step_b};
      tesela_record record;
      desc.a = (tesela_matrix){.data = x[0]};
      desc.b = (tesela_matrix){.data = y};
      desc.options.strategy = "register_tile";
      fill(reads ? 2 : NAN);
      must(tesela_gemm_batched(context, &desc, &batch, &record));
      assert_non_null(strstr(record.plan, "batch=3"));
      for (int i = 0; i < PRODUCTS; i++)
        check(c[i], &of, i, rows + i * step_a, cols + i * step_b, 2);
    }
}

/* --- refused calls, and the record's text --- */

static void test_refusals(void **state) {
  const form of = {TESELA_SCALE_LINES, TESELA_SCALE_TENSOR, 1, 0, false};
  tesela_gemm_desc desc = described("cpu", &of);
  (void)state;
  last.scaling_b = TESELA_NO_SCALE;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.epilogue.scale_b is given, but scaling_b");
  desc = described("cpu", &of);
  last.scale_a.data = NULL;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.epilogue.scale_a.data is NULL");
  desc = described("cpu", &of);
  last.scale_a.type = TESELA_F64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "scale_a is f64: scales are f32");
  desc = described("cpu", &of);
  last.scale_b.type = (tesela_type)77;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.epilogue.scale_b.type is 77");
  desc = described("cpu", &of);
  last.scale_a.data = c[0];
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "overlaps desc.epilogue.scale_a");
  desc = described("cpu", &of);
  last.scale_a.stride = INT64_MAX / 2;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "scale_a: 37 x 1 elements");
  desc = described("cpu", &of);
  last.scaling_a = (tesela_scaling)9;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "scaling_a is 9");
  desc = described("cpu", &of);
  desc.c.type = TESELA_I32;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "C is i32: products with scales");
  desc = described("cpu", &of);
  desc.a.type = TESELA_F32;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "A is f32 and B is i8");
  desc = described("cpu", &of);
  desc.a.type = desc.b.type = desc.c.type = TESELA_F64;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "C is f64: products with scales");
  desc = described("cpu", &of);
  desc.m = desc.k = K;
  desc.structure.a = TESELA_SYMMETRIC;
  desc.structure.a_triangle = TESELA_LOWER;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "");
  desc = described("cpu", &of);
  desc.options.measure_error = 1;
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "with scales");
  desc = described("cpu", &of);
  last.scaling_a = last.scaling_b = TESELA_NO_SCALE;
  last.scale_a.data = last.scale_b.data = NULL;
  desc.c.type = TESELA_F32; /* which integers have by scales alone */
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "");
}

/* Sums that might wrap are refused before they can. */
static void test_depth(void **state) {
  enum { DEEP = 33025 };
  const form of = {TESELA_SCALE_TENSOR, TESELA_NO_SCALE, 1, 0, false};
  unsigned char *ones = malloc(DEEP + 1);
  float z = 0;
  (void)state;
  assert_non_null(ones);
  memset(ones, 255, DEEP + 1);
  tesela_gemm_desc desc = described("cpu", &of);
  desc.m = desc.n = 1;
  desc.k = DEEP;
  desc.a = (tesela_matrix){.data = ones, .type = TESELA_U8};
  desc.b = desc.a;
  desc.c.data = &z;
  must(tesela_gemm(context, &desc, NULL));
  assert_true(z == (float)(65025. * DEEP) * one);
  desc.k = DEEP + 1;
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "fit 32 bits only up to k=33025");
  free(ones);
}

/* Where sums are exact, only the epilogue rounds. Only an exact product accepts the requirement
 * "exact". */
static void test_accuracy(void **state) {
  const form of = {TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 1, 0, false};
  tesela_gemm_desc desc = described("cpu", &of);
  tesela_record record;
  (void)state;
  must(tesela_gemm(context, &desc, &record));
  assert_true(record.error_bound > 0 && record.error_bound <= 0x1p-20);
  desc.options.accuracy = "exact";
  expect(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED, "exact is asked for");
  desc.options.accuracy = "1e-6";
  must(tesela_gemm(context, &desc, &record));
  assert_true(record.error_bound <= 1e-6);
  check(c[0], &of, 0, rows, cols, 0);
}

/* A caller that was built before there were scales. */
static void test_older_descriptions(void **state) {
  const form of = {TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 1, 0, false};
  static int sums[SIZE];
  tesela_gemm_desc desc = described("cpu", &of);
  (void)state;
  desc.c.data = sums;
  must(tesela_call_sized(context, TESELA_GEMM, &desc, NULL, offsetof(tesela_gemm_desc, epilogue),
                         sizeof(tesela_record)));
  const form plain = {.alpha = 1};
  for (int i = 0; i < SIZE; i++)
    assert_true(sums[i] == right(&plain, 0, NULL, NULL, i / N, i % N, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_way),
      cmocka_unit_test(test_strides),
      cmocka_unit_test(test_narrow_results),
      cmocka_unit_test(test_eights),
      cmocka_unit_test(test_what_is_not_finite),
      cmocka_unit_test(test_plans_and_their_text),
      cmocka_unit_test(test_buffers),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_batches_in_one_run),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_accuracy),
      cmocka_unit_test(test_older_descriptions),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
