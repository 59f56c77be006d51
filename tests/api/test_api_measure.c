/* desc.measure_error: the measured error is the result's true error, for every operation, layout
 * and place of the operands. A result beyond its bound is a failure. */
#include "api/api.h"
#include "unit/calls.h"
#include "unit/sanitizers.h"

#include <tesela/tesela.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 29, K = 53, LARGE = 300, SEED = 11 };
/* Step of loops over epilogues and structures: the thread sanitizer needs many times as long. Threads share
 * the work of all in the same way. */
enum { STEP = THREAD_SANITIZER ? 5 : 1 };

static float a[LARGE * LARGE], b[LARGE * LARGE], c[LARGE * LARGE], kept[LARGE * LARGE];
static tesela_context *context;

static tesela_gemm_desc product(int64_t m, int64_t n, int64_t k) {
  return (tesela_gemm_desc){.m = m,
                            .n = n,
                            .k = k,
                            .a = {.data = a},
                            .b = {.data = b},
                            .c = {.data = c},
                            .options.device = "cpu",
                            .options.measure_error = SEED};
}

/* The largest error by sums of doubles, over alpha |A||B| + |beta C0|. */
static double error_of(double alpha, double beta) {
  double largest = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0, size = 0;
      for (int l = 0; l < K; l++) {
        const double term = (double)a[i * K + l] * b[l * N + j];
        sum += term;
        size += fabs(term);
      }
      const double before = beta == 0 ? 0 : kept[i * N + j];
      const double error = fabs(c[i * N + j] - (alpha * sum + beta * before));
      largest = fmax(largest, error / (fabs(alpha) * size + fabs(beta * before)));
    }
  return largest;
}

/* All elements of a small product, with C read and not. */
static void the_error_itself(void **state) {
  static const double scalars[][2] = {{1, 0}, {-0.5, 0}, {1, 1}, {1.5, -0.25}};
  (void)state;
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
    tesela_gemm_desc desc = product(M, N, K);
    tesela_record record;
    desc.alpha = &scalars[i][0];
    desc.beta = &scalars[i][1];
    memcpy(c, kept, sizeof c);
    must(tesela_gemm(context, &desc, &record));
    const double error = error_of(scalars[i][0], scalars[i][1]);
    if (record.measured_rows != M || record.measured_cols != N ||
        !(fabs(record.error_measured - error) <= 1e-6 * error) || error == 0 ||
        !(record.error_measured <= record.error_bound) || !(record.seconds_measure > 0))
      fail_msg("measured %g of %lld x %lld, it is %g of %d x %d", record.error_measured,
               (long long)record.measured_rows, (long long)record.measured_cols, error, M, N);
    desc.options.measure_error = 0;
    must(tesela_gemm(context, &desc, &record));
    assert_true(record.measured_rows == 0 && record.error_measured == 0 && record.seconds_measure == 0);
  }
}

/* The sample of a large product depends only on the seed. The measurement leaves the result's bits
 * unchanged. */
static void samples(void **state) {
  tesela_record first, again, other;
  (void)state;
  tesela_gemm_desc desc = product(LARGE, LARGE, LARGE);
  must(tesela_gemm(context, &desc, &first));
  memcpy(kept, c, sizeof kept);
  assert_true(first.measured_rows > 8 && first.measured_rows < LARGE && first.measured_cols < LARGE);
  must(tesela_gemm(context, &desc, &again));
  assert_true(first.error_measured > 0 && again.error_measured == first.error_measured);
  desc.options.measure_error++;
  must(tesela_gemm(context, &desc, &other));
  assert_true(other.error_measured != first.error_measured);
  desc.options.measure_error = 0;
  must(tesela_gemm(context, &desc, NULL));
  assert_memory_equal(c, kept, sizeof c);
}

/* Transposed, backwards and spread operands, on each device, in host memory and in buffers. */
static void layouts(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  static const int64_t strides[][6] = {{K, 1, N, 1, N, 1},
                                       {1, M, N, 1, 1, M},
                                       {K, 1, 1, K, N, 1},
                                       {K, -1, -N, 1, -N, -1},
                                       {TESELA_STRIDE_ZERO, 1, 2 * N, 2, 2 * N, 2}};
  static const double beta = 0.5;
  const size_t bytes = sizeof c;
  (void)state;
  for (int d = 0; d < 2; d++) {
    tesela_buffer *buffers[3];
    float *const host[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
      must(tesela_buffer_create(context, devices[d], bytes, &buffers[i]));
    for (size_t i = 0; i < 2 * sizeof strides / sizeof *strides; i++) {
      const int64_t *s = strides[i / 2];
      double measured[2];
      for (int place = 0; place < 2; place++) {
        tesela_gemm_desc desc = product(M, N, K);
        tesela_record record;
        int64_t offsets[3] = {s[1] < 0 ? K : 0, s[2] < 0 ? N * K : 0, s[5] < 0 ? M * N + 3 : 0};
        desc.options.device = devices[d];
        desc.beta = i % 2 ? &beta : NULL;
        desc.a = (tesela_matrix){.row_stride = s[0], .col_stride = s[1]};
        desc.b = (tesela_matrix){.row_stride = s[2], .col_stride = s[3]};
        desc.c = (tesela_result){.row_stride = s[4], .col_stride = s[5]};
        memcpy(c, kept, bytes);
        if (place == 0) {
          desc.a.data = a + offsets[0];
          desc.b.data = b + offsets[1];
          desc.c.data = c + offsets[2];
        } else {
          for (int j = 0; j < 3; j++)
            must(tesela_buffer_write(buffers[j], 0, host[j], bytes));
          desc.a.buffer = buffers[0], desc.a.offset = offsets[0];
          desc.b.buffer = buffers[1], desc.b.offset = offsets[1];
          desc.c.buffer = buffers[2], desc.c.offset = offsets[2];
        }
        must(tesela_gemm(context, &desc, &record));
        measured[place] = record.error_measured;
        if (record.measured_rows < 8 || record.measured_cols < 8 || !(record.error_measured > 0))
          fail_msg("%s, layout %zu: %g of %lld x %lld", devices[d], i, record.error_measured,
                   (long long)record.measured_rows, (long long)record.measured_cols);
      }
      if (d == 0)
        assert_true(measured[0] == measured[1]);
    }
    for (int i = 0; i < 3; i++)
      tesela_buffer_destroy(buffers[i]);
  }
}

static void others(void **state) {
  tesela_record record;
  const double half = 0.3;
  (void)state;
  const tesela_dot_desc dot = {.n = LARGE * LARGE,
                               .x = {.data = a},
                               .y = {.data = b},
                               .result = {.data = c},
                               .options.measure_error = SEED,
                               .options.device = "cpu"};
  must(tesela_dot(context, &dot, &record));
  assert_true(record.measured_rows == 1 && record.measured_cols == 1 && record.error_measured > 0);
  tesela_transpose_desc move = {.rows = M,
                                .cols = K,
                                .a = {.data = a},
                                .b = {.data = c},
                                .options.device = "cpu",
                                .alpha = &half,
                                .options.measure_error = SEED};
  must(tesela_transpose(context, &move, &record));
  assert_true(record.measured_rows == K && record.measured_cols == M && record.error_measured > 0);
  move = (tesela_transpose_desc){.rows = LARGE,
                                 .cols = LARGE,
                                 .b = {.data = c},
                                 .in_place = 1,
                                 .options.device = "cpu",
                                 .options.measure_error = SEED};
  memcpy(c, a, sizeof c);
  must(tesela_transpose(context, &move, &record));
  assert_true(record.measured_rows > 8 && record.error_measured == 0);
  /* A batch of even distances, and by addresses. */
  tesela_gemm_desc desc = product(9, 7, 5);
  tesela_batch batch = {.count = 100, .a_stride = 45, .b_stride = 35, .c_stride = 63};
  must(tesela_gemm_batched(context, &desc, &batch, &record));
  assert_true(record.measured_rows == 8 * 9 && record.measured_cols == 7 && record.error_measured > 0);
  desc.options.device = "opencl:0";
  must(tesela_gemm_batched(context, &desc, &batch, &record));
  assert_true(record.measured_rows == 8 * 9);
  /* Complex numbers and integers. */
  desc = product(M, N, K);
  desc.a.type = desc.b.type = desc.c.type = TESELA_C64;
  must(tesela_gemm(context, &desc, &record));
  assert_true(record.measured_rows == M && record.error_measured > 0);
  desc.a.type = desc.b.type = TESELA_I8;
  desc.c.type = TESELA_I32;
  must(tesela_gemm(context, &desc, &record));
  assert_true(record.measured_rows == M && record.error_measured == 0);
}

/* --- last steps --- */

static float bias[LARGE];

static double finished(tesela_activation activation, double x) {
  return activation == TESELA_RELU   ? fmax(0, x)
         : activation == TESELA_GELU ? x * (1 + erf(x / sqrt(2))) / 2
                                     : x;
}

/* Returns the largest error of C with scale, bias and activation applied. The bias is part of the
 * magnitude that errors are relative to. */
static double finished_error(const tesela_gemm_desc *desc, double beta) {
  double largest = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const double added = desc->epilogue->bias_axis == TESELA_BIAS_ROW      ? (double)bias[j]
                           : desc->epilogue->bias_axis == TESELA_BIAS_COLUMN ? (double)bias[i]
                                                                             : 0,
                   before = beta * (double)kept[i * N + j];
      double sum = added + before, size = fabs(added) + fabs(before);
      for (int l = 0; l < K; l++) {
        const double term = (double)a[i * K + l] * b[l * N + j];
        sum += term;
        size += fabs(term);
      }
      largest = fmax(largest, fabs(c[i * N + j] - finished(desc->epilogue->activation, sum)) / size);
    }
  return largest;
}

static void last_steps(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  static const double betas[] = {0, 0.5};
  tesela_buffer *buffer[4];
  (void)state;
  for (int i = 0; i < LARGE; i++)
    bias[i] = a[LARGE + i] * 3;
  for (int i = 0; i < 4; i++)
    must(tesela_buffer_create(context, "opencl:0", sizeof c, &buffer[i]));
  for (int kind = 0; kind < 27; kind += STEP) {
    tesela_gemm_desc desc = product(M, N, K);
    tesela_record record;
    desc.epilogue = &(tesela_epilogue){.bias = {.data = kind % 3 == TESELA_NO_BIAS ? NULL : bias},
                                       .bias_axis = (tesela_bias_axis)(kind % 3),
                                       .activation = (tesela_activation)(kind / 3 % 3)};
    desc.beta = &betas[kind / 9 % 2];
    desc.options.device = devices[kind / 18];
    memcpy(c, kept, sizeof c);
    must(tesela_gemm(context, &desc, &record));
    const double error = finished_error(&desc, *desc.beta);
    if (record.measured_rows != M || record.measured_cols != N ||
        !(fabs(record.error_measured - error) <= 1e-6 * error) || error == 0 ||
        !(record.error_measured <= record.error_bound))
      fail_msg("kind %d: measured %g of %lld x %lld, it is %g", kind, record.error_measured,
               (long long)record.measured_rows, (long long)record.measured_cols, error);
  }
  /* Samples: where it lies on a device, from a bias on the host. */
  for (int along = TESELA_BIAS_ROW; along <= TESELA_BIAS_COLUMN; along++) {
    const float *const host[4] = {a, b, kept, bias};
    const size_t bytes[4] = {sizeof c, sizeof c, sizeof c, sizeof bias};
    tesela_gemm_desc desc = product(LARGE, LARGE, LARGE);
    tesela_record record;
    desc.options.device = "opencl:0";
    for (int i = 0; i < 4; i++)
      must(tesela_buffer_write(buffer[i], 0, host[i], bytes[i]));
    desc.a = (tesela_matrix){.buffer = buffer[0]};
    desc.b = (tesela_matrix){.buffer = buffer[1]};
    desc.c = (tesela_result){.buffer = buffer[2]};
    desc.epilogue = &(tesela_epilogue){
        .bias = {.buffer = buffer[3]}, .bias_axis = (tesela_bias_axis)along, .activation = TESELA_GELU};
    must(tesela_gemm(context, &desc, &record));
    assert_true(record.measured_rows > 8 && record.measured_rows < LARGE && record.error_measured > 0 &&
                record.error_measured <= record.error_bound);
  }
  for (int i = 0; i < 4; i++)
    tesela_buffer_destroy(buffer[i]);
}

/* --- structures --- */

/* Returns element (i, j) of a factor of which one triangle is stored, the other triangle filled in
 * by its structure. */
static double completed(const float *state, tesela_structure structure, tesela_triangle triangle, int side,
                        int i, int j) {
  const bool beside = (triangle == TESELA_LOWER && i < j) || (triangle == TESELA_UPPER && i > j);
  if (structure == TESELA_UNIT_TRIANGULAR && i == j)
    return 1;
  if (beside && (structure == TESELA_TRIANGULAR || structure == TESELA_UNIT_TRIANGULAR))
    return 0;
  return (double)(beside ? state[j * side + i] : state[i * side + j]);
}

static double structured_error(const tesela_gemm_desc *desc, int m, int n, int k, const float *right) {
  double largest = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0, size = 0;
      if ((desc->structure.c_triangle == TESELA_LOWER && i < j) ||
          (desc->structure.c_triangle == TESELA_UPPER && i > j))
        continue;
      for (int l = 0; l < k; l++) {
        const double term = completed(a, desc->structure.a, desc->structure.a_triangle, k, i, l) *
                            completed(right, desc->structure.b, desc->structure.b_triangle, n, l, j);
        sum += term;
        size += fabs(term);
      }
      if (size > 0)
        largest = fmax(largest, fabs(c[i * n + j] - sum) / size);
    }
  return largest;
}

static void structures(void **state) {
  (void)state;
  tesela_record record;
  for (int kind = 0; kind < 32; kind += STEP) {
    const tesela_structure is = (tesela_structure)(TESELA_SYMMETRIC + kind % 4);
    const tesela_triangle triangle = kind / 4 % 2 ? TESELA_UPPER : TESELA_LOWER;
    const int side = kind / 16 ? 280 : M;
    tesela_gemm_desc desc = product(side, side, side);
    if (is == TESELA_HERMITIAN) { /* of real numbers there is none: a triangle of C in its place */
      desc.structure.c_triangle = triangle;
    } else if (kind / 8 % 2) {
      desc.structure.b = is;
      desc.structure.b_triangle = triangle;
    } else {
      desc.structure.a = is;
      desc.structure.a_triangle = triangle;
    }
    memcpy(c, kept, sizeof c);
    must(tesela_gemm(context, &desc, &record));
    const double error = structured_error(&desc, side, side, side, b);
    const bool all = record.measured_rows == side && record.measured_cols == side;
    if (all != (side == M) || error == 0 || !(record.error_measured <= error * (1 + 1e-6)) ||
        !(record.error_measured > (all ? error * (1 - 1e-6) : 0)) ||
        !(record.error_measured <= record.error_bound))
      fail_msg("kind %d: measured %g of %lld x %lld, it is %g", kind, record.error_measured,
               (long long)record.measured_rows, (long long)record.measured_cols, error);
  }
  /* In place: the run overwrites B. */
  tesela_gemm_desc desc = product(M, M, M);
  desc.structure.a = TESELA_TRIANGULAR;
  desc.structure.a_triangle = TESELA_LOWER;
  desc.structure.in_place = 1;
  desc.b = (tesela_matrix){.data = NULL};
  memcpy(c, b, sizeof c);
  must(tesela_gemm(context, &desc, &record));
  const double error = structured_error(&desc, M, M, M, b);
  assert_true(record.measured_rows == M && error > 0 && fabs(record.error_measured - error) <= 1e-6 * error);
  /* Complex ones, with beta. */
  static const double beta[2] = {0.5, 0};
  desc = product(M, N, M);
  desc.a.type = desc.b.type = desc.c.type = TESELA_C64;
  desc.structure.a = TESELA_HERMITIAN;
  desc.structure.a_triangle = TESELA_UPPER;
  desc.beta = beta;
  must(tesela_gemm(context, &desc, &record));
  assert_true(record.measured_rows == M && record.error_measured > 0 &&
              record.error_measured <= record.error_bound);
  /* Operands in buffers are not on the host, and the host cannot complete their triangles. */
  tesela_buffer *buffers[3];
  desc = product(M, M, M);
  for (int i = 0; i < 3; i++)
    must(tesela_buffer_create(context, "opencl:0", sizeof c, &buffers[i]));
  desc.a = (tesela_matrix){.buffer = buffers[0]};
  desc.b = (tesela_matrix){.buffer = buffers[1]};
  desc.c = (tesela_result){.buffer = buffers[2]};
  desc.options.device = "opencl:0";
  desc.structure.a = TESELA_SYMMETRIC;
  desc.structure.a_triangle = TESELA_LOWER;
  expect(tesela_gemm(context, &desc, &record), TESELA_UNSUPPORTED, "host memory");
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* --- wrong results --- */

static tesela_status (*right_run)(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Element (last row, last column) is off by so many parts of itself. */
static float off_by;
static tesela_status wrong_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  float *last = operands->c.host;
  const tesela_status status = right_run(work, operands, stream);
  last += (problem->m - 1) * operands->c.row_stride + (problem->n - 1) * operands->c.col_stride;
  *last += *last * off_by;
  return status;
}

static void wrong_results(void **state) {
  tesela_plan *plan;
  tesela_record record;
  (void)state;
  for (int size = 0; size < 2; size++) {
    tesela_gemm_desc desc = size ? product(LARGE, LARGE, LARGE) : product(M, N, K);
    desc.options.strategy = "sequential";
    must(tesela_plan_create(context, &desc, &plan));
    tsl_strategy wrong = *plan->plan->work.strategy;
    right_run = wrong.run;
    wrong.run = wrong_run;
    plan->plan->work.strategy = &wrong;
    off_by = 0;
    must(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record));
    off_by = 0.5f;
    memset(&record, 0, sizeof record);
    expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
           TESELA_WRONG_RESULT, size ? "C(299, 299) is " : "C(36, 28) is ");
    assert_non_null(strstr(tesela_last_error(), "sequential on cpu"));
    assert_true(record.error_measured > record.error_bound && record.plan);
    expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
           TESELA_WRONG_RESULT, "outside of its error bound");
    off_by = NAN;
    expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
           TESELA_WRONG_RESULT, "nan");
    tesela_plan_destroy(plan);
  }
}

/* A known call takes a fast path, which measures nothing. A call with measure_error must not take
 * the fast path, even without a record. */
static void wrong_results_of_known_calls(void **state) {
  (void)state;
  tesela_gemm_desc desc = product(LARGE, LARGE, LARGE);
  tsl_request request;
  tsl_call_key key;
  desc.options.measure_error = 0;
  for (int i = 0; i < 10; i++) /* it is learnt on the way */
    must(tesela_gemm(context, &desc, NULL));
  must(tsl_api_gemm_request(context, &desc, &request));
  must(tsl_api_request(context, &request, &key));
  tsl_cached_plan *cached = tsl_plan_cache_find(&context->cache, &key);
  assert_non_null(cached);
  tsl_plan *plan = tsl_plan_cache_plan(cached)->plan;
  const tsl_strategy *right = plan->work.strategy;
  tsl_strategy wrong = *right;
  right_run = wrong.run;
  wrong.run = wrong_run;
  plan->work.strategy = &wrong;
  off_by = 0.5f;
  desc.options.measure_error = SEED;
  expect(tesela_gemm(context, &desc, NULL), TESELA_WRONG_RESULT, "outside of its error bound");
  plan->work.strategy = right;
  must(tesela_gemm(context, &desc, NULL));
  tsl_plan_cache_give_back(&context->cache, cached);
}

/* Wrong results of products with structures, and of products with an epilogue, are found too. */
static void wrong_results_of_others(void **state) {
  tesela_plan *plan;
  (void)state;
  for (int kind = 0; kind < 4; kind += STEP) {
    tesela_gemm_desc desc = product(LARGE, LARGE, LARGE);
    desc.options.strategy = "sequential";
    if (kind == 0)
      desc.structure.c_triangle = TESELA_LOWER;
    if (kind == 1)
      desc.structure.b = TESELA_SYMMETRIC, desc.structure.b_triangle = TESELA_UPPER;
    const tesela_epilogue last = {.bias = {.data = a},
                                  .bias_axis = TESELA_BIAS_ROW,
                                  .activation = kind == 3 ? TESELA_GELU : TESELA_NO_ACTIVATION};
    if (kind >= 2)
      desc.epilogue = &last;
    must(tesela_plan_create(context, &desc, &plan));
    tsl_strategy wrong = *plan->plan->work.strategy;
    right_run = wrong.run;
    wrong.run = wrong_run;
    plan->plan->work.strategy = &wrong;
    off_by = 0;
    must(tesela_plan_run(
        plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c, .epilogue = desc.epilogue}, NULL));
    off_by = 0.5f;
    expect(tesela_plan_run(
               plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c, .epilogue = desc.epilogue},
               NULL),
           TESELA_WRONG_RESULT, "C(299, 299) is ");
    tesela_plan_destroy(plan);
  }
}

/* --- sums of a device --- */

static tesela_buffer *buffers[3];

static tesela_gemm_desc product_in_buffers(int64_t m, int64_t n, int64_t k) {
  tesela_gemm_desc desc = product(m, n, k);
  desc.options.device = "opencl:0";
  desc.a = (tesela_matrix){.buffer = buffers[0]};
  desc.b = (tesela_matrix){.buffer = buffers[1]};
  desc.c = (tesela_result){.buffer = buffers[2]};
  return desc;
}

static void write_operands(void) {
  const float *const host[3] = {a, b, kept};
  for (int i = 0; i < 3; i++)
    must(tesela_buffer_write(buffers[i], 0, host[i], sizeof c));
}

/* The device computes the sums where operands lie on it. The error is exact, and samples are as
 * wide as on the host for any layout. Elements that the sums cannot decide are checked term by
 * term. */
static void sums_of_a_device(void **state) {
  static const double betas[] = {0, 0.5};
  tesela_record record;
  (void)state;
  for (int i = 0; i < 3; i++)
    must(tesela_buffer_create(context, "opencl:0", sizeof c, &buffers[i]));
  for (int i = 0; i < 2; i++) {
    tesela_gemm_desc desc = product_in_buffers(M, N, K);
    desc.beta = &betas[i];
    write_operands();
    must(tesela_gemm(context, &desc, &record));
    must(tesela_buffer_read(buffers[2], 0, c, sizeof c));
    const double error = error_of(1, betas[i]);
    if (record.measured_rows != M || !(fabs(record.error_measured - error) <= 1e-6 * error) || error == 0)
      fail_msg("measured %g, it is %g", record.error_measured, error);
  }
  /* Larger ones: numbers along lines and apart. */
  for (int turned = 0; turned < 2; turned++) {
    tesela_gemm_desc desc = product_in_buffers(LARGE, LARGE, LARGE);
    desc.a.transpose = turned;
    desc.b.transpose = turned;
    write_operands();
    must(tesela_gemm(context, &desc, &record));
    assert_true(record.measured_rows > 8 && record.measured_cols > 8 && record.measured_rows < LARGE);
    assert_true(record.error_measured > 0 && record.error_measured <= record.error_bound);
  }
  /* Infinities, NaN and numbers whose sums of doubles say nothing. */
  static const float unusual[] = {INFINITY, NAN, 3e38f, 1e-42f};
  for (size_t i = 0; i < sizeof unusual / sizeof *unusual; i++) {
    tesela_gemm_desc desc = product_in_buffers(M, N, K);
    write_operands();
    must(tesela_buffer_write(buffers[0], 3 * sizeof(float), &unusual[i], sizeof(float)));
    must(tesela_gemm(context, &desc, &record));
    assert_true(isfinite(record.error_measured) && record.measured_rows == M);
  }
  /* Doubles, of which no product is too small. */
  static double tiny[K * K];
  for (int i = 0; i < K * K; i++)
    tiny[i] = sin(i) * 0x1p-500;
  for (int i = 0; i < 2; i++) {
    tesela_gemm_desc desc = product_in_buffers(K / 2, K / 2, K / 2);
    desc.a.type = desc.b.type = desc.c.type = TESELA_F64;
    must(tesela_buffer_write(buffers[0], 0, tiny, sizeof tiny / 4));
    must(tesela_buffer_write(buffers[1], 0, tiny, sizeof tiny / 4));
    must(tesela_gemm(context, &desc, &record));
    assert_true(record.measured_rows == K / 2 && record.error_measured <= record.error_bound);
    for (int j = 0; j < K * K; j++)
      tiny[j] *= 0x1p500;
  }
  assert_true(record.error_measured > 0);
}

static tesela_status wrong_run_there(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const int64_t last = operands->c.offset + (work->problem.m - 1) * operands->c.row_stride +
                       (work->problem.n - 1) * operands->c.col_stride;
  const tesela_status status = right_run(work, operands, stream);
  return status != TESELA_OK ? status
                             : tsl_device_write(stream, operands->c.buffer, (size_t)last * sizeof off_by,
                                                &off_by, sizeof off_by);
}

static void wrong_results_there(void **state) {
  tesela_plan *plan;
  tesela_record record = {.plan = NULL};
  (void)state;
  const tesela_gemm_desc desc = product_in_buffers(LARGE, LARGE, LARGE);
  write_operands();
  must(tesela_plan_create(context, &desc, &plan));
  tsl_strategy wrong = *plan->plan->work.strategy;
  must(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL));
  right_run = wrong.run;
  wrong.run = wrong_run_there;
  plan->plan->work.strategy = &wrong;
  off_by = 5;
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
         TESELA_WRONG_RESULT, "C(299, 299) is 5 ");
  assert_true(record.error_measured > record.error_bound);
  off_by = NAN;
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
         TESELA_WRONG_RESULT, "C(299, 299) is nan");
  tesela_plan_destroy(plan);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* NaN and infinities where they belong are right, and are no error. */
static void specials(void **state) {
  tesela_record record;
  const float before = a[3];
  (void)state;
  a[3] = INFINITY;
  const tesela_gemm_desc desc = product(M, N, K);
  must(tesela_gemm(context, &desc, &record));
  assert_true(isfinite(record.error_measured) && record.measured_rows == M);
  a[3] = before;
}

static void refusals(void **state) {
  tesela_plan *plan;
  tesela_packed *packed;
  tesela_stream *stream;
  (void)state;
  tesela_gemm_desc desc = product(M, N, K);
  must(tesela_plan_create(context, &desc, &plan));
  must(tesela_pack(plan, NULL, &desc.b, &packed));
  const tesela_matrix right = {.packed = packed};
  memcpy(c, kept, sizeof c);
  const tesela_status status =
      tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &right, .c = &desc.c}, NULL);
  if (status != TESELA_OK) /* a strategy that packs nothing has a plain copy, which can be looked at */
    expect(status, TESELA_UNSUPPORTED, "packed");
  tesela_packed_destroy(packed);
  must(tesela_stream_create(context, "cpu", &stream));
  expect(
      tesela_plan_enqueue(plan, stream, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
      TESELA_UNSUPPORTED, "queued");
  tesela_stream_destroy(stream);
  tesela_plan_destroy(plan);
}

static void environment(void **state) {
  tesela_context *asking = NULL;
  tesela_record record;
  (void)state;
  setenv("TESELA_MEASURE_ERROR", "often", 1);
  expect(tesela_context_create(NULL, &asking), TESELA_BAD_CALL, "TESELA_MEASURE_ERROR");
  assert_null(asking);
  setenv("TESELA_MEASURE_ERROR", "5", 1);
  must(tesela_context_create(NULL, &asking));
  unsetenv("TESELA_MEASURE_ERROR");
  tesela_gemm_desc desc = product(M, N, K);
  desc.options.measure_error = 0;
  must(tesela_gemm(asking, &desc, &record));
  assert_true(record.measured_rows == M);
  tesela_context_destroy(asking);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_error_itself), cmocka_unit_test(samples),
      cmocka_unit_test(layouts),          cmocka_unit_test(others),
      cmocka_unit_test(wrong_results),    cmocka_unit_test(wrong_results_of_known_calls),
      cmocka_unit_test(sums_of_a_device), cmocka_unit_test(wrong_results_there),
      cmocka_unit_test(specials),         cmocka_unit_test(refusals),
      cmocka_unit_test(environment),      cmocka_unit_test(wrong_results_of_others),
      cmocka_unit_test(last_steps),       cmocka_unit_test(structures)};
  for (int i = 0; i < LARGE * LARGE; i++) {
    a[i] = (float)sin(i * 1.7);
    b[i] = (float)cos(i * 0.9);
    kept[i] = (float)sin(i * 0.3);
  }
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  return failed;
}
