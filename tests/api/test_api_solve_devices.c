/* Solves by blocks on the device that has the operands. Inputs: whole numbers, which have one right
 * result; triangles whose rows differ by many orders of magnitude, compared with the host's solve;
 * singular diagonals. Elements that must not be read are NaN; elements that must not be written
 * keep their values. */
#include "unit/calls.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { N = 140, COLS = 13, PITCH = 147, RUNS = 10 };
static const char strategy[] = "device_blocked block=64 columns=8";

static tesela_context *context;
static tesela_buffer *triangle, *result;
static float t[N * PITCH], x[N * PITCH], before[N * PITCH];

static int set_up(void **state) {
  const tesela_context_desc desc = {.device = "opencl"};
  (void)state;
  must(tesela_context_create(&desc, &context));
  must(tesela_buffer_create(context, "opencl:0", sizeof t, &triangle));
  must(tesela_buffer_create(context, "opencl:0", sizeof x, &result));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tesela_buffer_destroy(triangle);
  tesela_buffer_destroy(result);
  tesela_context_destroy(context);
  return 0;
}

/* --- whole numbers --- */

/* Element (i, j) of a triangle: its diagonal is powers of two, so that quotients are whole, too. */
static float whole(bool upper, int i, int j) {
  return i == j ? (float)(1 << i % 3) : (upper ? i < j : i > j) ? (float)((i * 3 + j * 5) % 7 - 3) : NAN;
}

static float solution(int i, int j) {
  return (float)((i * 2 + j * 3) % 9 - 4);
}

static void store_whole(bool upper, bool unit) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < PITCH; j++)
      t[i * PITCH + j] = j >= N || (unit && i == j) ? NAN : whole(upper, i, j);
  must(tesela_buffer_write(triangle, 0, t, sizeof t));
}

/* B, by rows from the 3rd column on; around it NaN. */
static void store_sides(bool upper, bool unit) {
  for (int i = 0; i < N * PITCH; i++)
    before[i] = NAN;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < COLS; j++) {
      double sum = 0;
      for (int l = upper ? i : 0; l <= (upper ? N - 1 : i); l++)
        sum += (l == i && unit ? 1 : (double)whole(upper, i, l)) * (double)solution(l, j);
      before[i * PITCH + j + 2] = (float)sum;
    }
}

/* From the right X' inverse(A'): the same system, whose operands lie as they do from the left. */
static void solve_whole(bool upper, bool unit, bool right) {
  static const double twice[] = {2, 0};
  static float first[N * PITCH];
  const tesela_solve_desc desc = {
      .rows = right ? COLS : N,
      .cols = right ? N : COLS,
      .a = {.buffer = triangle, .row_stride = PITCH, .col_stride = 1, .transpose = right},
      .structure = unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR,
      .triangle = upper ? TESELA_UPPER : TESELA_LOWER,
      .right = right,
      .x = {.buffer = result, .offset = 2, .row_stride = right ? 1 : PITCH, .col_stride = right ? PITCH : 1},
      .in_place = 1,
      .alpha = twice,
      .options.strategy = strategy};
  store_whole(upper, unit);
  store_sides(upper, unit);
  for (int run = 0; run < RUNS; run++) {
    must(tesela_buffer_write(result, 0, before, sizeof before));
    must(tesela_solve(context, &desc, NULL));
    must(tesela_buffer_read(result, 0, x, sizeof x));
    if (run == 0)
      memcpy(first, x, sizeof x);
    assert_memory_equal(first, x, sizeof x);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < COLS; j++) {
      float *at = &x[i * PITCH + j + 2];
      if (*at != 2 * solution(i, j))
        fail_msg("X(%d, %d) is %g", i, j, (double)*at);
      *at = NAN;
    }
  for (int i = 0; i < N * PITCH; i++)
    assert_true(isnan(x[i]));
}

static void whole_numbers_are_found(void **state) {
  (void)state;
  for (int form = 0; form < 8; form++)
    solve_whole(form & 1, form & 2, form & 4);
}

/* --- triangles that are far from orthogonal --- */

static float drawn(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)((double)(*seed >> 8) / (1 << 23) - 1);
}

/* Stores a triangle whose rows and columns are scaled by 2^-12 to 2^12, with off-diagonal elements
 * as large as the diagonal's. The inverse of a block has elements far larger than the reciprocals
 * of its diagonal. So a solve by inverses would lose many digits. */
static void store_graded(void) {
  uint32_t seed = 7;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < PITCH; j++) {
      const float scale = ldexpf(1, (i * 5) % 25 - 12 + ((j * 7) % 25 - 12)), value = drawn(&seed) * scale;
      t[i * PITCH + j] = j > i ? NAN : i == j ? scale : value;
    }
  for (int i = 0; i < N * PITCH; i++)
    before[i] = drawn(&seed);
  must(tesela_buffer_write(triangle, 0, t, sizeof t));
}

/* The largest |b - A x| / (u (|A||x| + |b|)) of all elements that are finite. */
static double error_of(const char *device, const char *by) {
  tesela_solve_desc desc = {.rows = N,
                            .cols = COLS,
                            .a = {.data = t, .row_stride = PITCH, .col_stride = 1},
                            .triangle = TESELA_LOWER,
                            .b = {.data = before, .row_stride = PITCH, .col_stride = 1},
                            .x = {.data = x, .row_stride = PITCH, .col_stride = 1},
                            .options.device = device,
                            .options.strategy = by};
  double most = 0;
  must(tesela_solve(context, &desc, NULL));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < COLS; j++) {
      double left = (double)before[i * PITCH + j], all = fabs(left);
      for (int l = 0; l <= i; l++) {
        const double term = (double)t[i * PITCH + l] * (double)x[l * PITCH + j];
        left -= term;
        all += fabs(term);
      }
      assert_true(isfinite(x[i * PITCH + j]));
      most = fmax(most, fabs(left) / (all * 0x1p-24));
    }
  return most;
}

static void graded_triangles_are_solved_as_the_host_does(void **state) {
  (void)state;
  store_graded();
  const double reference = error_of("cpu", "sequential"), host = error_of("cpu", "host_blocked"),
               own = error_of("opencl:0", strategy);
  if (!(reference > 0 && host > 0 && own <= 2 * fmax(reference, host)))
    fail_msg("off by %g u; the specification by %g, the host by %g", own, reference, host);
}

/* --- what IEEE 754 says of a diagonal --- */

/* All elements after an infinity are NaN, because zeros are multiplied by it. */
static void singular_diagonals_make_infinities(void **state) {
  static const int singular = 70; /* of the second block */
  (void)state;
  for (int i = 0; i < N * PITCH; i++)
    t[i] = 0;
  for (int i = 0; i < N; i++)
    t[i * PITCH + i] = i == singular ? 0 : i == 3 ? 0x1p-140f : 2;
  for (int i = 0; i < N * PITCH; i++)
    before[i] = i / PITCH == 3 ? 0x1p-139f : 4;
  tesela_solve_desc desc = {.rows = N,
                            .cols = COLS,
                            .a = {.data = t, .row_stride = PITCH, .col_stride = 1},
                            .triangle = TESELA_LOWER,
                            .b = {.data = before, .row_stride = PITCH, .col_stride = 1},
                            .x = {.data = x, .row_stride = PITCH, .col_stride = 1},
                            .options.strategy = strategy};
  must(tesela_solve(context, &desc, NULL));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < COLS; j++) {
      const float value = x[i * PITCH + j];
      assert_true(i < singular ? value == 2 : i == singular ? value == INFINITY : isnan(value));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers_are_found),
                                     cmocka_unit_test(graded_triangles_are_solved_as_the_host_does),
                                     cmocka_unit_test(singular_diagonals_make_infinities)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
