/* split_precision by bf16: the error of each element is within the guarantee, by three, six and nine
 * products. Runs on the cpu and on PoCL where it is installed. Some lines have numbers of very different
 * magnitudes, not finite numbers, or subnormal numbers. */

#include "unit/unit.h"

#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { M = 37, N = 29, K = 75 };

static tesela_context *context;
static float a[M * K], b[K * N], c[M * N];
static double a64[M * K], b64[K * N], exact[M * N], size[M * N];

/* Kinds of numbers. NORMAL: of one magnitude. BALANCED: powers of two that grow along A's lines and
 * shrink along B's, beyond the range of a part. SPREAD: any exponents, so that most lines are
 * native. SUBNORMAL: so small that only the other operand's scale makes products normal. LARGE: the
 * largest numbers. FAR: one large number that meets 0, among very small ones. */
typedef enum kind { NORMAL, BALANCED, SPREAD, SUBNORMAL, LARGE, FAR, KINDS } kind;

static float number_of(kind what, int operand, int line, int h) {
  const uint64_t bits = tsl_random_u64((uint64_t)operand + 1, (uint64_t)(line * 1009 + h));
  const double x = what == FAR && operand && h == 3 ? 0 : (double)(int64_t)bits * 0x1p-63;
  const int up = what == BALANCED    ? (operand ? -h / 2 : h / 2)
                 : what == SPREAD    ? (int)(bits >> 8 & 127) - 64
                 : what == SUBNORMAL ? (operand ? 90 : -128 - line % 12)
                 : what == FAR       ? (operand  ? 100
                                        : h == 3 ? 100
                                                 : -120)
                 : what == LARGE     ? (operand ? -line : 128)
                                     : 0;
  return (float)ldexp(x, up);
}

static void fill(kind what) {
  for (int i = 0; i < M; i++)
    for (int h = 0; h < K; h++)
      a64[i * K + h] = a[i * K + h] = number_of(what, 0, i, h);
  for (int h = 0; h < K; h++)
    for (int j = 0; j < N; j++)
      b64[h * N + j] = b[h * N + j] = number_of(what, 1, j, h);
}

static void refer(void) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0,
             /* products are exact, and the rounding of their sum is negligible against the bound */
          magnitude = 0;
      for (int h = 0; h < K; h++) {
        sum += a64[i * K + h] * b64[h * N + j];
        magnitude += fabs(a64[i * K + h] * b64[h * N + j]);
      }
      exact[i * N + j] = sum;
      size[i * N + j] = magnitude;
    }
}

static tesela_status multiply(const char *device, const char *strategy, const char *accuracy,
                              tesela_record *record) {
  const tesela_gemm_desc desc = {.m = M,
                                 .n = N,
                                 .k = K,
                                 .a = {.data = a},
                                 .b = {.data = b},
                                 .c = {.data = c},
                                 .options.device = device,
                                 .options.accuracy = accuracy,
                                 .options.strategy = strategy};
  return tesela_gemm(context, &desc, record);
}

static const char *const strategies[] = {"split_precision products=3", "split_precision products=6",
                                         "split_precision products=9"};

/* The largest error over its bound; NaN and infinity are where they belong. */
static double worst(const char *device, const char *strategy, const char *accuracy) {
  tesela_record record;
  double most = 0;
  if (multiply(device, strategy, accuracy, &record) != TESELA_OK)
    fail_msg("%s on %s: %s", strategy, device, tesela_last_error());
  for (int i = 0; i < M * N; i++) {
    const double allowed = record.error_bound * size[i] * (1 + 0x1p-30) + K * 0x1p-149;
    if (fabs(exact[i]) + allowed < 0x1p128)
      most = fmax(most, c[i] == c[i] ? fabs(c[i] - exact[i]) / allowed : INFINITY);
  }
  return most;
}

static void judge(const char *device) {
  double largest[3] = {0};
  for (int what = 0; what < KINDS; what++) {
    fill((kind)what);
    refer();
    for (int s = 0; s < 3; s++) {
      const double now = worst(device, strategies[s], s == 0 ? "1e-2" : NULL);
      if (now > 1)
        fail_msg("%s on %s, kind %d: %g of its bound", strategies[s], device, what, now);
      largest[s] = what == NORMAL ? now : largest[s];
    }
  }
  assert_true(largest[0] > 1e-3); /* parts that are left out are seen */
}

static void errors_are_within_bounds(void **state) {
  (void)state;
  judge("cpu");
}

static void errors_of_kernels_are_within_bounds(void **state) {
  (void)state;
  if (multiply("opencl:0", "split_precision", NULL, NULL) != TESELA_OK)
    skip();
  judge("opencl:0");
}

/* Errors of six products are far smaller than errors of three. */
static void more_products_are_more_exact(void **state) {
  (void)state;
  double sums[3] = {0};
  fill(NORMAL);
  refer();
  for (int s = 0; s < 3; s++) {
    assert_int_equal(multiply("cpu", strategies[s], s == 0 ? "1e-2" : NULL, NULL), TESELA_OK);
    for (int i = 0; i < M * N; i++)
      sums[s] += fabs(c[i] - exact[i]);
  }
  assert_true(sums[0] > 8 * sums[1] && sums[1] < 2 * sums[2]);
}

static void lines_that_are_not_finite_leave_the_others_alone(void **state) {
  (void)state;
  fill(NORMAL);
  refer();
  a[5 * K + 3] = INFINITY;
  b[7 * N + 2] = NAN;
  a[9 * K + 1] = 0x1p120f;
  a[9 * K + 2] = 0x1p-120f;
  assert_int_equal(multiply("cpu", "split_precision", NULL, NULL), TESELA_OK);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const float got = c[i * N + j];
      if (j == 2)
        assert_true(isnan(got));
      else if (i == 5)
        assert_true(isinf(got) && signbit(got) == signbit(b[3 * N + j]));
      else if (i != 9)
        assert_true(fabs(got - exact[i * N + j]) < 1e-4);
      else
        assert_true(isfinite(got));
    }
}

static void refusals_say_why(void **state) {
  (void)state;
  assert_int_equal(multiply("cpu", "split_precision products=3", NULL, NULL), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "only a requested accuracy"));
  assert_int_equal(multiply("cpu", "split_precision products=3", "1e-6", NULL), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "guarantees"));
}

/* Sums of whole numbers that could overflow are refused. */
static void sums_may_be_too_long(void **state) {
  (void)state;
  for (int64_t k = 65536; k <= 65537; k++) {
    const tesela_gemm_desc desc = {
        .m = 4, .n = 4, .k = k, .options.device = "cpu", .options.strategy = "split_precision"};
    tesela_plan *plan = NULL;
    const tesela_status status = tesela_plan_create(context, &desc, &plan);
    assert_int_equal(status, k == 65536 ? TESELA_OK : TESELA_UNSUPPORTED);
    if (status != TESELA_OK)
      assert_non_null(strstr(tesela_last_error(), "sums of up to 65536 terms cannot overflow"));
    tesela_plan_destroy(plan);
  }
}

int main(void) {
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_within_bounds),
      cmocka_unit_test(errors_of_kernels_are_within_bounds),
      cmocka_unit_test(more_products_are_more_exact),
      cmocka_unit_test(sums_may_be_too_long),
      cmocka_unit_test(lines_that_are_not_finite_leave_the_others_alone),
      cmocka_unit_test(refusals_say_why),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  return failed;
}
