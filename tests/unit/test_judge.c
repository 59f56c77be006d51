/* The judge must accept right results and reject wrong ones. */
#include "unit/unit.h"

#include "core/status.h"
#include "judge/judge_element.h"
#include "judge/judge_sums.h"
#include "judge/reference.h"
#include "matrices.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A problem with operands and a result that is right. */
typedef struct trial {
  tsl_problem problem;
  tsl_judge judge;
  void *memory[4], *a, *b, *c, *before;
} trial;

static void set_up(trial *on, const tsl_problem *problem, tsl_distribution distribution) {
  on->problem = *problem;
  on->judge = (tsl_judge){.factor = (double)problem->k + 2};
  on->memory[0] = test_matrix(&problem->a, &on->a);
  on->memory[1] = test_matrix(&problem->b, &on->b);
  on->memory[2] = test_matrix(&problem->c, &on->c);
  on->memory[3] = test_matrix(&problem->c, &on->before);
  test_fill(&problem->a, on->a, distribution, 1);
  test_fill(&problem->b, on->b, distribution, 2);
  test_fill(&problem->c, on->c, distribution, 3);
  test_fill(&problem->c, on->before, distribution, 3);
  test_product(problem, on->a, on->b, on->c);
}

static void tear_down(trial *on) {
  for (int i = 0; i < 4; i++)
    free(on->memory[i]);
}

static tsl_verdict judged(const trial *on) {
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&on->problem, on->a, on->b, on->before, on->c, &on->judge, &verdict),
                   TESELA_OK);
  return verdict;
}

static void expect_right(const trial *on) {
  const tsl_verdict verdict = judged(on);
  if (!verdict.right)
    print_error("%s\n", verdict.why);
  assert_true(verdict.right);
  assert_true(verdict.error_ratio <= 1);
  assert_int_equal(verdict.wrong, 0);
  assert_string_equal(verdict.why, "");
}

static void expect_wrong_at(const trial *on, int64_t row, int64_t col) {
  const tsl_verdict verdict = judged(on);
  assert_false(verdict.right);
  assert_true(verdict.error_ratio > 1);
  assert_int_equal(verdict.row, row);
  assert_int_equal(verdict.col, col);
  assert_true(strlen(verdict.why) > 20);
}

static tsl_problem usual(tesela_type type) {
  tsl_problem problem = tsl_problem_gemm(37, 70, 300, type);
  problem.alpha[0] = 1.5;
  problem.beta[0] = -0.5;
  problem.a.row_stride = 1; /* stored transposed and padded */
  problem.a.col_stride = 41;
  problem.c.row_stride = -75; /* upside down */
  return problem;
}

static const tesela_type types[] = {TESELA_F32, TESELA_F64};

static void right_results_pass(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const tsl_problem problem = usual(types[t]);
    for (int d = 0; d < TSL_DRAW_COUNT; d++) {
      trial on;
      set_up(&on, &problem, (tsl_distribution)d);
      expect_right(&on);
      assert_int_equal(judged(&on).checked, 37 * 70);
      tear_down(&on);
    }
  }
}

static void one_wrong_element_is_found(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const tsl_problem problem = usual(types[t]);
    trial on;
    set_up(&on, &problem, TSL_DRAW_NORMAL);
    const double was = test_get(&problem.c, on.c, 36, 64);
    const double step = 2 * on.judge.factor * tsl_type(types[t])->unit_roundoff * 400;
    test_set(&problem.c, on.c, 36, 64, was + step);
    expect_wrong_at(&on, 36, 64);
    assert_non_null(strstr(judged(&on).why, "C(36, 64)"));
    assert_int_equal(judged(&on).wrong, 1);
    test_set(&problem.c, on.c, 36, 64, was);
    expect_right(&on);
    tear_down(&on);
  }
}

static void exchanged_indices_are_found(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(20, 20, 20, TESELA_F32);
  trial on;
  set_up(&on, &problem, TSL_DRAW_NORMAL);
  on.problem.c.row_stride = 1;
  on.problem.c.col_stride = 20;
  assert_false(judged(&on).right);
  tear_down(&on);
}

static void forgotten_scalars_are_found(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const tsl_problem problem = usual(types[t]);
    trial on;
    set_up(&on, &problem, TSL_DRAW_NORMAL);
    on.problem.alpha[0] = 1;
    assert_false(judged(&on).right);
    on.problem.alpha[0] = 1.5;
    on.problem.beta[0] = 0.5;
    assert_false(judged(&on).right);
    on.problem.beta[0] = -0.5;
    expect_right(&on);
    tear_down(&on);
  }
}

/* Sums in single precision and backwards are as right as any. */
static void another_order_passes(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(9, 11, 2000, TESELA_F32);
  trial on;
  set_up(&on, &problem, TSL_DRAW_NORMAL);
  for (int64_t i = 0; i < 9; i++)
    for (int64_t j = 0; j < 11; j++) {
      float sum = 0;
      for (int64_t l = 1999; l >= 0; l--)
        sum += (float)test_get(&problem.a, on.a, i, l) * (float)test_get(&problem.b, on.b, l, j);
      test_set(&problem.c, on.c, i, j, (double)sum);
    }
  expect_right(&on);
  assert_true(judged(&on).grade > 0.5);
  tear_down(&on);
}

static void exact_data_must_match(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(12, 13, 50, TESELA_F32);
  trial on;
  set_up(&on, &problem, TSL_DRAW_INTEGER);
  on.judge.exact = true;
  expect_right(&on);
  const double was = test_get(&problem.c, on.c, 5, 6);
  test_set(&problem.c, on.c, 5, 6, (double)nextafterf((float)was, INFINITY));
  expect_wrong_at(&on, 5, 6);
  on.judge.exact = false; /* one unit in the last place is inside of the bound */
  expect_right(&on);
  tear_down(&on);
}

/* One element: a . b with a chosen result. */
typedef struct dot_case {
  const char *what;
  tesela_type type;
  double a[3], b[3], alpha, beta, before, result;
  bool right;
} dot_case;

#define F32_MAX 3.4028234663852886e38
static const dot_case dots[] = {
    {"NaN stays", TESELA_F32, {NAN, 1, 1}, {1, 1, 1}, 1, 0, 0, NAN, true},
    {"NaN is lost", TESELA_F32, {NAN, 1, 1}, {1, 1, 1}, 1, 0, 0, 2, false},
    {"NaN from nothing", TESELA_F32, {1, 1, 1}, {1, 1, 1}, 1, 0, 0, NAN, false},
    {"infinity stays", TESELA_F32, {INFINITY, 1, 1}, {1, 1, 1}, 1, 0, 0, INFINITY, true},
    {"infinity times zero", TESELA_F32, {INFINITY, 1, 1}, {0, 1, 1}, 1, 0, 0, NAN, true},
    {"infinity times zero is not skipped", TESELA_F32, {INFINITY, 1, 1}, {0, 1, 1}, 1, 0, 0, 2, false},
    {"infinity keeps its sign", TESELA_F32, {INFINITY, 1, 1}, {-1, 1, 1}, 1, 0, 0, INFINITY, false},
    {"alpha turns infinity", TESELA_F64, {INFINITY, 1, 1}, {1, 1, 1}, -2, 0, 0, -INFINITY, true},
    {"infinity must not become NaN", TESELA_F32, {INFINITY, 1, 1}, {1, 1, 1}, 1, 0, 0, NAN, false},
    {"infinities of both signs", TESELA_F64, {INFINITY, -INFINITY, 1}, {1, 1, 1}, 1, 0, 0, NAN, true},
    {"infinities of both signs, one kept",
     TESELA_F64,
     {INFINITY, -INFINITY, 1},
     {1, 1, 1},
     1,
     0,
     0,
     INFINITY,
     false},
    {"infinities of both signs, lost", TESELA_F64, {INFINITY, -INFINITY, 1}, {1, 1, 1}, 1, 0, 0, 1, false},
    {"infinity before", TESELA_F32, {1, 1, 1}, {1, 1, 1}, 1, -1, INFINITY, -INFINITY, true},
    {"infinity before against one in A", TESELA_F32, {INFINITY, 1, 1}, {1, 1, 1}, 1, -1, INFINITY, NAN, true},
    {"NaN before", TESELA_F64, {1, 1, 1}, {1, 1, 1}, 1, 2, NAN, NAN, true},
    {"NaN before with beta = 0", TESELA_F64, {1, 1, 1}, {1, 1, 1}, 1, 0, NAN, 3, true},
    {"NaN before with beta = 0 leaks", TESELA_F64, {1, 1, 1}, {1, 1, 1}, 1, 0, NAN, NAN, false},
    {"NaN in A with alpha = 0", TESELA_F32, {NAN, 1, 1}, {1, 1, 1}, 0, 1, 5, 5, true},
    {"NaN in A with alpha = 0 leaks", TESELA_F32, {NAN, 1, 1}, {1, 1, 1}, 0, 1, 5, NAN, false},
    {"overflow", TESELA_F32, {1e38, 1e38, 1e38}, {3, 3, 3}, 1, 0, 0, INFINITY, true},
    {"overflow is not the largest number",
     TESELA_F32,
     {1e38, 1e38, 1e38},
     {3, 3, 3},
     1,
     0,
     0,
     F32_MAX,
     false},
    {"overflow is not NaN", TESELA_F32, {1e38, 1e38, 1e38}, {3, 3, 3}, 1, 0, 0, NAN, false},
    {"overflow has a sign", TESELA_F32, {1e38, 1e38, 1e38}, {3, 3, 3}, 1, 0, 0, -INFINITY, false},
    {"overflow in double", TESELA_F64, {1e200, 1, 1}, {-1e200, 1, 1}, 1, 0, 0, -INFINITY, true},
    {"overflow in double is seen", TESELA_F64, {1e200, 1, 1}, {-1e200, 1, 1}, 1, 0, 0, 0, false},
    {"a partial sum may overflow", TESELA_F32, {2e38, 2e38, -2e38}, {1, 1, 1}, 1, 0, 0, INFINITY, true},
    {"a partial sum need not overflow", TESELA_F32, {2e38, 2e38, -2e38}, {1, 1, 1}, 1, 0, 0, 2e38, true},
    {"but not downwards", TESELA_F32, {2e38, 2e38, -2e38}, {1, 1, 1}, 1, 0, 0, -INFINITY, false},
    {"the same in double", TESELA_F64, {1e308, 1e308, -1e308}, {1, 1, 1}, 1, 0, 0, 1e308, true},
    {"the same in double, infinite", TESELA_F64, {1e308, 1e308, -1e308}, {1, 1, 1}, 1, 0, 0, INFINITY, true},
    {"the same in double, wrong", TESELA_F64, {1e308, 1e308, -1e308}, {1, 1, 1}, 1, 0, 0, 1.1e308, false},
    {"products may overflow both ways", TESELA_F32, {1e30, 1e30, 1}, {1e30, -1e30, 1}, 1, 0, 0, NAN, true},
    {"sums overflow before alpha", TESELA_F32, {3e38, 3e38, 1}, {1, 1, 1}, 0.25, 0, 0, INFINITY, true},
    {"or alpha saves them", TESELA_F32, {3e38, 3e38, 1}, {1, 1, 1}, 0.25, 0, 0, 1.5e38, true},
    {"the largest number", TESELA_F32, {F32_MAX, 1, 1}, {1, 1, 1}, 1, 0, 0, F32_MAX, true},
    {"at the edge of overflow both are right",
     TESELA_F32,
     {F32_MAX, 1, 1},
     {1, 1, 1},
     1,
     0,
     0,
     INFINITY,
     true},
    {"zeros", TESELA_F32, {0, 0, 0}, {1, 2, 3}, 1, 0, 0, 0, true},
    {"negative zero is zero", TESELA_F64, {0, 0, 0}, {1, 2, 3}, -1, 0, 0, -0.0, true},
    {"nothing comes from zeros", TESELA_F32, {0, 0, 0}, {1, 2, 3}, 1, 0, 0, 1e-45, false},
    {"nothing comes from zeros in double", TESELA_F64, {0, 0, 0}, {1, 2, 3}, 1, 0, 0, 5e-324, false},
    {"lost below the smallest number", TESELA_F64, {1e-200, 0, 0}, {1e-200, 1, 1}, 1, 0, 0, 0, true},
    {"within the smallest numbers", TESELA_F64, {1e-160, 0, 0}, {1e-160, 1, 1}, 1, 0, 0, 1e-320, true},
    {"outside of the smallest numbers", TESELA_F64, {1e-160, 0, 0}, {1e-160, 1, 1}, 1, 0, 0, 1e-310, false},
    {"subnormal", TESELA_F32, {1e-40, 1e-40, 0}, {1, 1, 1}, 1, 0, 0, 2e-40, true},
    {"subnormals are not flushed", TESELA_F32, {1e-40, 1e-40, 0}, {1, 1, 1}, 1, 0, 0, 0, false},
    {"cancellation", TESELA_F64, {1e16, 1, -1e16}, {1, 1, 1}, 1, 0, 0, 1, true},
};

static void one_element_at_a_time(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
    const dot_case *dot = &dots[i];
    tsl_problem problem = tsl_problem_gemm(1, 1, 3, dot->type);
    problem.alpha[0] = dot->alpha;
    problem.beta[0] = dot->beta;
    trial on;
    set_up(&on, &problem, TSL_DRAW_NORMAL);
    for (int l = 0; l < 3; l++) {
      test_set(&problem.a, on.a, 0, l, dot->a[l]);
      test_set(&problem.b, on.b, l, 0, dot->b[l]);
    }
    test_set(&problem.c, on.before, 0, 0, dot->before);
    test_set(&problem.c, on.c, 0, 0, dot->result);
    const tsl_verdict verdict = judged(&on);
    if (verdict.right != dot->right) {
      print_error("%s: judged %s (%s)\n", dot->what, verdict.right ? "right" : "wrong", verdict.why);
      wrong++;
    }
    tear_down(&on);
  }
  assert_int_equal(wrong, 0);
}

/* For a result that is rounded once, an error of one unit in the last place is wrong. */
static void rounded_results_are_the_nearest(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1, 1, 3, TESELA_F32);
  trial on;
  set_up(&on, &problem, TSL_DRAW_NORMAL);
  const double a[] = {1, 0x1p-24, 0x1p-26};
  for (int l = 0; l < 3; l++) {
    test_set(&problem.a, on.a, 0, l, a[l]);
    test_set(&problem.b, on.b, l, 0, 1);
  }
  on.judge.exact = false;
  on.judge.rounded = true;
  const double results[] = {1 + 0x1p-23, 1, 1 + 0x1p-22, 1 - 0x1p-24};
  for (int i = 0; i < 4; i++) {
    test_set(&problem.c, on.c, 0, 0, results[i]);
    if (judged(&on).right != (i == 0))
      fail_msg("1 + %g is judged %s", results[i] - 1, i == 0 ? "wrong" : "right");
  }
  tear_down(&on);
}

/* Double alone would give 0 here. */
static void double_has_twice_its_digits(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1, 1, 4, TESELA_F64);
  const double a[] = {1e16, 1, -1e16, 0x1p-60}, b[] = {1, 1, 1, 1};
  double c = 1 + 0x1p-52;
  const tsl_judge judge = {.factor = 6};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, &c, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_true(verdict.error == 0x1p-52 - 0x1p-60);
}

/* Both ways to a reference must agree to far more digits than double has. */
static void both_references_agree(void **state) {
  (void)state;
  enum { DEPTH = 500 };
  tsl_problem problem = tsl_problem_gemm(1, 1, DEPTH, TESELA_F64);
  problem.alpha[0] = 1.7;
  problem.beta[0] = -0.3;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    double a[DEPTH], b[DEPTH], high = 0, low = 0, magnitude = 0, rest, total;
    const double before = tsl_random_value(TSL_DRAW_NORMAL, seed, 9999);
    for (int l = 0; l < DEPTH; l++) {
      a[l] = tsl_random_value(TSL_DRAW_GRADED, seed, (uint64_t)l);
      b[l] = tsl_random_value(TSL_DRAW_GRADED, ~seed, (uint64_t)l);
    }
    const tsl_sums sums = {&high, &low, &magnitude};
    tsl_reference_add_products(1, 1, DEPTH, a, b, &sums);
    tsl_reference_scale_and_add(1.7, high, low, -0.3, before, &total, &rest);
    const tsl_limits limits = {.largest = 1e308};
    tsl_reference_number element;
    tsl_reference_element(&problem, 1.7, -0.3, a, b, &before, 0, 0, &limits, &element);
    const double other = ldexp(element.high, element.exponent),
                 other_rest = ldexp(element.low, element.exponent);
    assert_true(fabs((total - other) + (rest - other_rest)) <= 1e-28 * magnitude);
    assert_true(fabs(ldexp(element.magnitude, element.exponent) - 1.7 * magnitude - 0.3 * fabs(before)) <=
                1e-12 * magnitude);
    assert_false(element.may_overflow_up || element.may_overflow_down || element.nan || element.plus ||
                 element.minus);
  }
}

/* An element that the judge skips has a smaller error than the largest so far, and is not wrong.
 * Most elements are skipped. */
static void what_is_less_is_so(void **state) {
  (void)state;
  enum { MOST = 4 };
  static const double results[] = {1, 1 + 0x1p-23, 1.5, 0x1p-130, 0x1p126, 3e38, INFINITY, NAN, 0},
                      grades[MOST] = {0, 0.5, 20, INFINITY}, betas[] = {0, -0.5};
  const int count = (int)(sizeof results / sizeof *results);
  int passed = 0, all = 0;
  for (int i = 0; i < count * count * count * 2 * MOST; i++) {
    const int kinds[] = {i % count, i / count % count, i / (count * count) % count};
    const double value = results[kinds[0]], high = results[kinds[1]], before = results[kinds[2]],
                 beta = betas[i / (count * count * count) % 2],
                 most = grades[i / (count * count * count * 2)];
    float c = (float)value, old = (float)before;
    tsl_problem problem = tsl_problem_gemm(1, 1, 30, TESELA_F32);
    problem.beta[0] = beta;
    const tsl_judge rule = {.factor = 32};
    tsl_element_judge facts = {.problem = &problem,
                               .before = (const unsigned char *)&old,
                               .c = (const unsigned char *)&c,
                               .judge = &rule};
    tsl_element_judge_prepare(&facts);
    tsl_comparison seen;
    tsl_compare_element(&facts, 0, 0, high, 0, fabs(high), &seen);
    all += most > 0 && isfinite(c) && !seen.unknown && seen.ratio <= 1 && seen.grade <= most / 2;
    if (!tsl_element_judge_is_surely_right(&facts, (double)c, (double)old, high, 0, fabs(high), most))
      continue;
    passed++;
    assert_true(!seen.unknown && seen.ratio <= 1 && seen.grade <= most);
  }
  assert_true(passed > all / 4);
}

static void large_products_are_sampled(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(400, 30, 20, TESELA_F32);
  trial on;
  set_up(&on, &problem, TSL_DRAW_NORMAL);
  on.judge.operations_max = 40000;
  const tsl_verdict verdict = judged(&on);
  assert_true(verdict.right);
  assert_true(verdict.checked >= 30 && verdict.checked < 400 * 30 / 2);
  test_set(&problem.c, on.c, 399, 29, 1e6);
  expect_wrong_at(&on, 399, 29);
  on.judge.operations_max = 100; /* less than a row */
  assert_true(judged(&on).checked < 30);
  tear_down(&on);
}

static void nothing_to_judge_is_right(void **state) {
  (void)state;
  const tsl_problem no_rows = tsl_problem_gemm(0, 5, 5, TESELA_F32),
                    no_depth = tsl_problem_gemm(2, 2, 0, TESELA_F32);
  const tsl_judge judge = {.factor = 2};
  const float zeros[4] = {0}, ones[4] = {1, 1, 1, 1};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&no_rows, NULL, NULL, NULL, NULL, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(verdict.checked, 0);
  assert_int_equal(tsl_judge_gemm(&no_depth, NULL, NULL, NULL, zeros, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(tsl_judge_gemm(&no_depth, NULL, NULL, NULL, ones, &judge, &verdict), TESELA_OK);
  assert_false(verdict.right);
}

/* A dot's products are shared by the threads: right ones pass, one lost term of many shows. */
static void deep_products(void **state) {
  (void)state;
  for (int twice = 0; twice < 2; twice++) {
    trial on;
    tsl_problem problem = tsl_problem_dot(((int64_t)1 << 17) + 777, twice ? TESELA_F64 : TESELA_F32);
    problem.a.col_stride = 2;
    problem.b.row_stride = -3;
    set_up(&on, &problem, TSL_DRAW_NORMAL);
    on.judge.factor = 1000;
    expect_right(&on);
    const double lost = 3;
    if (twice)
      *(double *)on.c += lost;
    else
      *(float *)on.c += (float)lost;
    on.judge.factor = twice ? 1000 : 100;
    expect_wrong_at(&on, 0, 0);
    tear_down(&on);
  }
}

/* Partial sums join in order: the same bits for any number of threads, equal to a sequential sum. */
static void parts_are_joined_in_order(void **state) {
  (void)state;
  enum { COUNT = 3 * 65536 + 700 };
  tsl_problem problem = tsl_problem_dot(COUNT, TESELA_F64);
  const tsl_limits limits = {.largest = DBL_MAX};
  trial on;
  tsl_reference_number right;
  set_up(&on, &problem, TSL_DRAW_GRADED);
  const tsl_terms terms = {TESELA_F64, TESELA_F64, on.a, on.b, 1, 1, COUNT};
  tsl_reference_element(&problem, 1, 0, on.a, on.b, NULL, 0, 0, &limits, &right);
  double high[3], low[3], magnitude[3];
  for (int threads = 1; threads <= 3; threads++) {
    const tsl_sums sums = {&high[threads - 1], &low[threads - 1], &magnitude[threads - 1]};
    tsl_pool *pool;
    assert_int_equal(tsl_pool_create(threads, &pool), TESELA_OK);
    assert_int_equal(tsl_reference_sum_terms(tsl_pool_team(pool, 0), &terms, &sums), TESELA_OK);
    tsl_pool_destroy(pool);
  }
  for (int i = 1; i < 3; i++) {
    assert_memory_equal(&high[0], &high[i], sizeof *high);
    assert_memory_equal(&low[0], &low[i], sizeof *low);
    assert_memory_equal(&magnitude[0], &magnitude[i], sizeof *magnitude);
  }
  const double value = ldexp(right.high, right.exponent), rest = ldexp(right.low, right.exponent);
  assert_true(fabs((high[0] - value) + (low[0] - rest)) <= 1e-25 * magnitude[0]);
  assert_true(fabs(magnitude[0] - ldexp(right.magnitude, right.exponent)) <= 1e-10 * magnitude[0]);
  /* Without the low part, rounding shows: it is not zero by chance. */
  assert_true(low[0] != 0);
  tear_down(&on);
}

/* Whatever this processor has, and a compiler makes of it: the judge's verdict is that of any other. */
static void every_set_has_the_same_sums(void **state) {
  (void)state;
  enum { COLS = 37, DEPTH = 90 };
  double x[TSL_SUMS_STEP], y[DEPTH * COLS];
  double kept[2][3][COLS], sums[3][COLS];
  tsl_sums_lanes kept_lanes[2], lanes;
  int sets = 0;
  for (int i = 0; i < DEPTH * COLS; i++)
    y[i] = tsl_random_value(TSL_DRAW_GRADED, 1, (uint64_t)i);
  for (int i = 0; i < TSL_SUMS_STEP; i++)
    x[i] = tsl_random_value(TSL_DRAW_GRADED, 2, (uint64_t)i);
#define TRY(isa, header, needs, flags, floats, fused, runs)                                                  \
  for (int compensated = 0; (runs) && compensated < 2; compensated++) {                                      \
    memset(sums, 0, sizeof sums);                                                                            \
    memset(&lanes, 0, sizeof lanes);                                                                         \
    tsl_sums_kernels_##isa.row(COLS, DEPTH, x, y, sums[0], compensated ? sums[1] : NULL, sums[2]);           \
    tsl_sums_kernels_##isa.lanes(compensated != 0, x, y, &lanes);                                            \
    /* The first set's are kept, of each kind. */                                                            \
    if (sets++ < 2) {                                                                                        \
      memcpy(kept[compensated], sums, sizeof sums);                                                          \
      kept_lanes[compensated] = lanes;                                                                       \
    }                                                                                                        \
    assert_memory_equal(sums, kept[compensated], sizeof sums);                                               \
    assert_memory_equal(&lanes, &kept_lanes[compensated], sizeof lanes);                                     \
    assert_true(compensated == (sums[1][COLS - 1] != 0) && compensated == (lanes.low[0] != 0));              \
  }
  TSL_ISA_LIST(TRY)
#undef TRY
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_results_pass),          cmocka_unit_test(one_wrong_element_is_found),
      cmocka_unit_test(exchanged_indices_are_found), cmocka_unit_test(forgotten_scalars_are_found),
      cmocka_unit_test(another_order_passes),        cmocka_unit_test(exact_data_must_match),
      cmocka_unit_test(one_element_at_a_time),       cmocka_unit_test(rounded_results_are_the_nearest),
      cmocka_unit_test(double_has_twice_its_digits), cmocka_unit_test(both_references_agree),
      cmocka_unit_test(large_products_are_sampled),  cmocka_unit_test(what_is_less_is_so),
      cmocka_unit_test(nothing_to_judge_is_right),   cmocka_unit_test(deep_products),
      cmocka_unit_test(parts_are_joined_in_order),   cmocka_unit_test(every_set_has_the_same_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
