/* split_precision by f16: the error of each element is within the guarantee, on PoCL where it is installed.
 * Lines: ordinary numbers with some tiny ones; lines whose range is not proven; lines for which a sample is
 * misleading. The rounding to f16 is right for each line. */

#include "unit/unit.h"

#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

#include "strategy/gemm/emulated/split_precision/split_precision_host.h"

enum { M = 37, N = 131, K = 300, DEPTH = 160 };

static tesela_context *context;
static float a[M * K], b[K * N], c[M * N];

/* Numbers of one size; of which few are tiny; with zeros and tiny ones in A, or in B; by powers of
 * two along lines of A and against them in B, tiny ones of A where B's are largest; which become smaller
 * along lines; with exponents anywhere; so small that they are not normal; with infinities; one large number
 * behind what samples see. */
typedef enum kind {
  NORMAL,
  TINY,
  ZEROS_A,
  ZEROS_B,
  BALANCED,
  GRADED,
  SPREAD,
  SUBNORMAL,
  INFINITE,
  LATE,
  KINDS
} kind;

static float number_of(kind what, int operand, int line, int h) {
  const uint64_t bits = tsl_random_u64((uint64_t)operand + 1, (uint64_t)(line * 1009 + h));
  const double x = (double)(int64_t)bits * 0x1p-63;
  const bool is_rare = h % 29 == line % 29 && (what == TINY || line % 4 == 0);
  const bool has_zeros = (what == ZEROS_A && operand == 0) || (what == ZEROS_B && operand == 1);
  if (has_zeros && h % 3 == line % 3)
    return 0;
  if (what == INFINITE && operand == 0 && line == 5 && h == 7)
    return INFINITY;
  const bool is_tiny = h % 7 == 0 && line % 4 == 0 && h % 63 == 0;
  const int balanced = operand ? -(h % 7) : is_tiny ? -30 : h % 7;
  const int up = (what == TINY || what == ZEROS_A || what == ZEROS_B) && is_rare ? -30 - line % 9
                 : what == BALANCED                                              ? balanced
                 : what == GRADED                                                ? -h / 8 - line
                 : what == SPREAD                                                ? (int)(bits & 127) - 64
                 : what == SUBNORMAL ? (operand ? 60 : -130 - line % 12)
                 : what == LATE      ? (h == 40 && line % 4 == 1 ? 9 : 0)
                                     : 0;
  return (float)ldexp(x, up);
}

/* The largest error over its bound; where the exact element is finite the computed one is. */
static double worst(const char *accuracy, int k, bool a_turned, bool b_turned, bool c_turned, kind what) {
  const double alpha = 1.5, beta = what % 2 ? -0.5 : 0;
  tesela_record record;
  double most = 0;
  for (int i = 0; i < M; i++)
    for (int h = 0; h < k; h++)
      a[a_turned ? h * M + i : i * k + h] = number_of(what, 0, i, h);
  for (int j = 0; j < N; j++)
    for (int h = 0; h < k; h++)
      b[b_turned ? j * k + h : h * N + j] = number_of(what, 1, j, h);
  for (int i = 0; i < M * N; i++)
    c[i] = (float)i;
  const tesela_gemm_desc desc = {
      .m = M,
      .n = N,
      .k = k,
      .a = {.data = a, .row_stride = a_turned ? 1 : k, .col_stride = a_turned ? M : 1},
      .b = {.data = b, .row_stride = b_turned ? 1 : N, .col_stride = b_turned ? k : 1},
      .c = {.data = c, .row_stride = c_turned ? 1 : N, .col_stride = c_turned ? M : 1},
      .alpha = &alpha,
      .beta = &beta,
      .options.device = "opencl:0",
      .options.accuracy = accuracy,
      .options.strategy = "split_precision products=1"};
  if (tesela_gemm(context, &desc, &record) != TESELA_OK)
    fail_msg("kind %d: %s", what, tesela_last_error());
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      const int at = c_turned ? j * M + i : i * N + j;
      double sum = beta * at, size = fabs(sum);
      for (int h = 0; h < k;
           h++) { /* products are exact, and the rounding of their sum is negligible against the bound */
        const double product = alpha * number_of(what, 0, i, h) * number_of(what, 1, j, h);
        sum += product;
        size += fabs(product);
      }
      const double allowed = record.error_bound * size * (1 + 0x1p-30) + k * 0x1p-149;
      if (isfinite(sum) && fabs(sum) + allowed < 0x1p128)
        most = fmax(most, isfinite(c[at]) ? fabs(c[at] - sum) / allowed : INFINITY);
      else if (!isfinite(sum))
        assert_false(isfinite(c[at]));
    }
  return most;
}

static void errors_are_within_bounds(void **state) {
  (void)state;
  tesela_gemm_desc desc = {.m = 1, .n = 1, .k = 1, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  desc.options.device = "opencl:0", desc.options.strategy = "split_precision products=1",
  desc.options.accuracy = "1e-3";
  if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
    skip();
  for (int what = 0; what < KINDS; what++)
    for (int way = 0; way < 2; way++) {
      const double now = way ? worst("1e-3", DEPTH, what & 1, what & 2, what & 4, (kind)what)
                             : worst("2e-3", K, false, false, false, (kind)what);
      print_message("  kind %d: %.4f of its bound\n", what, now);
      assert_true(now <= 1);
      if (what <= BALANCED || what == LATE) /* factors were rounded: an error shows it */
        assert_true(now > 1e-3);
    }
}

static void refusals_say_why(void **state) {
  (void)state;
  tesela_gemm_desc desc = {.m = 1, .n = 1, .k = 1, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  desc.options.device = "opencl:0", desc.options.strategy = "split_precision products=1";
  assert_int_not_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
  desc.options.accuracy = "9e-4"; /* less than two roundings to 11 bits */
  assert_int_not_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
}

/* A number of f16 by its bits. */
static double half_of(unsigned bits) {
  const int field = (int)(bits >> 10 & 31);
  return field ? ldexp((bits & 1023) + 1024, field - 25) : ldexp(bits & 1023, -24);
}

/* Rounds numbers of all exponents and many digits, ties included: the result is the nearest f16,
 * and the even one of a tie. */
static void rounding_is_to_nearest(void **state) {
  (void)state;
  for (int field = 0; field < 255; field++)
    for (int i = 0; i < 400; i++) {
      const uint32_t bits =
          (uint32_t)field << 23 |
          (i < 200 ? (uint32_t)(tsl_random_u64(3, (uint64_t)i) & 0x7fffff) : (uint32_t)i << 12);
      float number;
      int exponent;
      memcpy(&number, &bits, sizeof number);
      for (int to = -20; to < 15; to += 5) { /* scaled to magnitudes from 2^to on */
        const int scale = number == 0 ? 0 : to - ilogb((double)number);
        const double x = ldexp((double)number, scale);
        const unsigned rounded = split_f16_rounded(bits, scale, &exponent);
        const double got = half_of(rounded), error = fabs(got - x);
        if (number != 0)
          assert_int_equal(exponent, to);
        assert_true(error <= (to < TSL_SPLIT_LEAST ? 0x1p-25 : ldexp(1, to - 11)));
        const double up = half_of(rounded + 1), down = rounded > 0 ? half_of(rounded - 1) : got;
        assert_true(error <= fabs(up - x) && error <= fabs(down - x));
        if (rounded > 0 && (error == fabs(up - x) || error == fabs(down - x)) && error > 0)
          assert_int_equal(rounded & 1, 0);
      }
    }
}

/* A line of powers of two, scaled by 1; NO_NUMBER: a zero. */
enum { TERMS = 256, NO_NUMBER = -1000 };

static int state_of(const int exponents[TERMS]) {
  split_index fields = 0;
  int small = 0, zeros = 0;
  for (int h = 0; h < TERMS; h++) {
    const bool is_zero = exponents[h] == NO_NUMBER;
    fields += is_zero ? -22 : exponents[h] + 127; /* as the kernel counts */
    small += is_zero || exponents[h] < TSL_SPLIT_LEAST;
    zeros += is_zero;
  }
  return split_f16_state(0, fields, small, zeros, 0, TERMS);
}

/* Returns the tiny numbers' largest error in units of 4 u |A||B|: it may be at most 1 for an element with a
 * proof. */
static double tiny_error(const int line[TERMS], const int other[TERMS]) {
  double size = 0, error = 0;
  for (int h = 0; h < TERMS; h++) {
    if (line[h] == NO_NUMBER || other[h] == NO_NUMBER)
      continue;
    size += ldexp(1, line[h] + other[h]);
    error += line[h] < TSL_SPLIT_LEAST ? 0x1p-25 * ldexp(1, other[h]) : 0;
  }
  return error > 0 ? error / (0x1p-22 * size) : 0;
}

/* Lines with zeros where the other line has its largest numbers, and otherwise numbers of one size each. */
static void lines_with_zeros_have_proofs(void **state) {
  (void)state;
  enum { SIZES = 29, LEAST = -14, ZEROS = 192, OTHER_ZEROS = 96, STEP = 32 };
  int proofs = 0;
  for (int i = 0; i < 2 * SIZES * SIZES * (ZEROS / STEP) * (OTHER_ZEROS / STEP); i++) {
    int line[TERMS], other[TERMS], rest = i;
    const int tiny = 1 + rest % 2, size = LEAST + (rest /= 2) % SIZES,
              other_size = LEAST + (rest /= SIZES) % SIZES, zeros = STEP * ((rest /= SIZES) % (ZEROS / STEP)),
              other_zeros = STEP * (rest / (ZEROS / STEP));
    for (int h = 0; h < TERMS; h++) {
      const bool is_tiny = h >= TERMS - tiny, is_other_zero = h >= zeros && h < zeros + other_zeros;
      line[h] = is_tiny ? -15 : h < zeros ? NO_NUMBER : is_other_zero ? 14 : size;
      other[h] = is_tiny || h < zeros ? 14 : is_other_zero ? NO_NUMBER : other_size;
    }
    if (split_is_native(state_of(line), state_of(other)))
      continue;
    assert_true(tiny_error(line, other) <= 1);
    proofs += zeros > 0;
  }
  print_message("  %d proofs with zeros\n", proofs);
  assert_true(proofs > 1000);
}

/* Half of a line is zeros, as after a ReLU, and few numbers are tiny: the fast product is right. */
static void a_line_of_half_zeros_is_not_native(void **state) {
  (void)state;
  int line[TERMS], other[TERMS];
  for (int h = 0; h < TERMS; h++) {
    line[h] = h % 2 ? NO_NUMBER : 12;
    other[h] = 8;
  }
  assert_false(split_is_native(state_of(line), state_of(other)));
  line[0] = -16; /* of 256 numbers one is tiny, so both means must be 4 or more */
  assert_true(split_is_native(state_of(line), state_of(line)));
  assert_true(split_is_native(state_of(line), state_of(other)));
  for (int h = 0; h < TERMS; h++)
    other[h] = 14;
  assert_false(split_is_native(state_of(line), state_of(other)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_with_zeros_have_proofs), cmocka_unit_test(a_line_of_half_zeros_is_not_native),
      cmocka_unit_test(rounding_is_to_nearest),       cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(errors_are_within_bounds),
  };
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  return failed;
}
