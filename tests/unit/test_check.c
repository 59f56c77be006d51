/* The check must catch every way in which a strategy can be wrong: here are strategies that are. */
#include "unit/cpu.h"
#include "unit/unit.h"

#include "core/status.h"
#include "matrices.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Faults of the strategy below. */
typedef enum fault {
  NONE,
  FORGETS_ALPHA,
  FORGETS_BETA,
  READS_C,
  DROPS_LAST_TERM,
  SWAPS_STRIDES,
  PADS_ROWS,
  WRITES_BEHIND,
  WRITES_IN_FRONT,
  WRITES_A,
  SKIPS_ZEROS,
  SKIPS_LAST_COLUMN,
  FORGETS_OLD_BITS,
  READS_A_ALWAYS,
  FLUSHES_SMALL,
  FAILS,
  FAULTS
} fault;

static fault active;
static int run_count;

static double term(const tsl_problem *problem, const tsl_operands *with, int64_t i, int64_t l, int64_t j) {
  tsl_shape a = problem->a, b = problem->b;
  if (active == SWAPS_STRIDES) {
    a.row_stride = problem->a.col_stride;
    a.col_stride = problem->a.row_stride;
  }
  const double x = test_get(&a, with->a.host, i, l), y = test_get(&b, with->b.host, l, j);
  if (active == SKIPS_ZEROS && y == 0)
    return 0;
  return x * y;
}

static void set_element(const tsl_problem *problem, const tsl_operands *with, int64_t i, int64_t j) {
  double sum = 0;
  const bool reads = problem->alpha[0] != 0 || active == READS_A_ALWAYS;
  for (int64_t l = 0; reads && l < problem->k - (active == DROPS_LAST_TERM); l++)
    sum += term(problem, with, i, l, j);
  if (active == FLUSHES_SMALL && fabs(sum) < 1e-30)
    sum = 0;
  if (active != FORGETS_ALPHA)
    sum = reads ? sum * problem->alpha[0] : 0;
  if (active != FORGETS_BETA && (problem->beta[0] != 0 || active == READS_C))
    sum += problem->beta[0] * test_get(&problem->c, with->c.host, i, j);
  if (active == FORGETS_OLD_BITS && run_count % 2 && i == 1 && j == 1)
    sum = (double)nextafterf((float)sum, INFINITY);
  test_set(&problem->c, with->c.host, i, j, sum);
}

static tesela_status run(const tsl_work *work, const tsl_operands *with, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size;
  (void)stream;
  run_count++;
  if (active == FAILS)
    return tsl_fail(TESELA_DEVICE_FAILED, "cpu: out of steam");
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n - (active == SKIPS_LAST_COLUMN); j++)
      set_element(problem, with, i, j);
  unsigned char *lowest = (unsigned char *)with->c.host - tsl_shape_below(&problem->c) * size;
  if (active == WRITES_BEHIND)
    lowest[tsl_shape_extent(&problem->c) * size] = 0;
  if (active == WRITES_IN_FRONT)
    lowest[-1] = 0;
  if (active == PADS_ROWS && problem->c.row_stride > problem->n && problem->c.col_stride == 1 &&
      problem->m > 1)
    test_set(&problem->c, with->c.host, 0, problem->n, 0);
  if (active == WRITES_A && problem->k > 0)
    test_set(&problem->a, with->a.host, 0, 0, 42);
  return TESELA_OK;
}

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return (tsl_accuracy){.factor = (double)problem->k + 2, .is_reproducible = true};
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config, (void)device;
  return problem->k == 13 ? "k is unlucky" : NULL;
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return 1;
}

static const tsl_strategy strategy = {.name = "planted",
                                      .idea = "wrong on demand",
                                      .op = TSL_OP_GEMM,
                                      .version = 1,
                                      .needs = TSL_CAN_HOST,
                                      .accuracy = accuracy,
                                      .refuse = refuse,
                                      .score = score,
                                      .run = run};

static void check(const tsl_case *what, tsl_case_report *report) {
  const tsl_config config = tsl_strategy_defaults(&strategy);
  *report = (tsl_case_report){0};
  run_count = 0;
  assert_int_equal(tsl_check_case(&strategy, &config, cpu, what, report), TESELA_OK);
}

/* Cases of the standard list, up to `most`, that catch the active fault. */
static int caught(int most) {
  tsl_case what;
  int wrong = 0;
  for (int i = 0; wrong < most && tsl_case_standard(TSL_OP_GEMM, i, TESELA_F32, &what); i++) {
    tsl_case_report report;
    check(&what, &report);
    if (report.result == TSL_CASE_WRONG) {
      assert_true(strlen(report.why) > 10);
      assert_non_null(strstr(report.plan, "gemm planted version=1"));
      wrong++;
    }
  }
  return wrong;
}

static void the_right_one_passes(void **state) {
  (void)state;
  active = NONE;
  assert_int_equal(caught(1), 0);
  for (uint64_t i = 0; i < 40; i++) {
    tsl_case what;
    tsl_case_report report;
    tsl_case_random(TSL_OP_GEMM, 7, i, i % 2 ? TESELA_F32 : TESELA_F64, &what);
    check(&what, &report);
    if (report.result != TSL_CASE_RIGHT && report.result != TSL_CASE_REFUSED)
      print_error("%s: %s\n", report.plan, report.why);
    assert_true(report.result == TSL_CASE_RIGHT || report.result == TSL_CASE_REFUSED);
  }
}

/* A subnormal scale makes sums 0 in f32, and an infinite scale follows: NaN is right. Infinity is
 * also right, for a strategy that multiplies the scales first. */
static void an_infinite_scale_may_meet_what_was_lost(void **state) {
  enum { SEED = 1, DRAW = 77 };
  const tsl_strategy *plain = tsl_strategy_find(TSL_OP_GEMM, "sequential");
  const tsl_config config = tsl_strategy_defaults(plain);
  tsl_case what;
  tsl_case_report report = {0};
  (void)state;
  tsl_case_random(TSL_OP_GEMM, SEED, DRAW, TESELA_F32, &what);
  assert_true(what.data == TSL_DATA_SPECIAL && what.problem.scaling_a != TESELA_NO_SCALE);
  assert_int_equal(tsl_check_case(plain, &config, cpu, &what, &report), TESELA_OK);
  if (report.result != TSL_CASE_RIGHT)
    fail_msg("%s: %s", report.plan, report.why);
}

static void every_fault_is_caught(void **state) {
  (void)state;
  for (int f = NONE + 1; f < FAILS; f++) {
    active = (fault)f;
    const int count = caught(2);
    if (count < 2)
      print_error("fault %d was caught %d times\n", f, count);
    assert_int_equal(count, 2);
  }
}

static tsl_case one_case(void) {
  tsl_case what = {.problem = tsl_problem_gemm(6, 7, 8, TESELA_F32), .seed = 2, .repeats = 2};
  what.problem.c.row_stride = 9;
  return what;
}

/* Where C has no gaps, both bands are compared all the same. */
static void guards_of_a_dense_result(void **state) {
  (void)state;
  tsl_case what = one_case();
  tsl_case_report report;
  what.problem.c.row_stride = 7;
  active = NONE;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_RIGHT);
  active = WRITES_BEHIND;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_WRONG);
  assert_non_null(strstr(report.why, "behind C, at byte 168")); /* 6 * 7 * 4 */
  active = WRITES_IN_FRONT;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_WRONG);
  assert_non_null(strstr(report.why, "in front of C, at byte -1"));
}

static void guards_say_where(void **state) {
  (void)state;
  tsl_case what = one_case();
  tsl_case_report report;
  active = WRITES_BEHIND;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_WRONG);
  assert_non_null(strstr(report.why, "behind C, at byte 208")); /* (5 * 9 + 7) * 4 */
  active = WRITES_IN_FRONT;
  check(&what, &report);
  assert_non_null(strstr(report.why, "in front of C, at byte -1"));
  active = PADS_ROWS;
  check(&what, &report);
  assert_non_null(strstr(report.why, "in a gap of C, at byte 28"));
  active = WRITES_A;
  check(&what, &report);
  assert_non_null(strstr(report.why, "operand A was written to"));
  active = FORGETS_OLD_BITS;
  check(&what, &report);
  assert_non_null(strstr(report.why, "other bits"));
  what.seed = 3; /* through buffers too; a run is one more, so the fault lies there */
  what.repeats = 1;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_RIGHT);
}

static void a_failure_is_reported(void **state) {
  (void)state;
  const tsl_case what = one_case();
  tsl_case_report report;
  active = FAILS;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_FAILED);
  assert_string_equal(report.why, "cpu: out of steam");
}

static void a_refusal_is_reported(void **state) {
  (void)state;
  const tsl_case what = {.problem = tsl_problem_gemm(6, 7, 13, TESELA_F32), .seed = 1};
  tsl_case_report report;
  active = NONE;
  check(&what, &report);
  assert_int_equal(report.result, TSL_CASE_REFUSED);
  assert_non_null(strstr(report.why, "k is unlucky"));
}

/* Every kind of shape, layout, scalar and data that the header names must be in the list. */
static void the_standard_list_covers(void **state) {
  (void)state;
  tsl_case what;
  int count = 0, kinds[TSL_DATA_COUNT] = {0}, empty = 0, no_depth = 0, negative = 0, transposed = 0, gaps = 0,
      thin = 0, deep = 0, scalars[4][4] = {{0}};
  static const double values[] = {0, 1, -0.5, 1.5};
  for (; tsl_case_standard(TSL_OP_GEMM, count, TESELA_F64, &what); count++) {
    const tsl_problem *problem = &what.problem;
    assert_int_equal(tsl_problem_check(problem), TESELA_OK);
    assert_int_equal(problem->c.type, TESELA_F64);
    kinds[what.data]++;
    empty += problem->m == 0 || problem->n == 0;
    no_depth += problem->k == 0;
    negative += problem->c.row_stride < 0;
    transposed += problem->a.row_stride == 1 && problem->a.col_stride > 1;
    gaps += problem->c.col_stride > 1 && problem->c.row_stride > 1;
    thin += problem->m == 1 && problem->n > 100;
    deep += problem->k > 100 * problem->m;
    for (int i = 0; i < 16; i++)
      scalars[i / 4][i % 4] += problem->alpha[0] == values[i / 4] && problem->beta[0] == values[i % 4];
  }
  assert_true(count >= 200 && count <= 300);
  assert_true(empty && no_depth && negative && transposed && gaps && thin && deep);
  for (int i = 0; i < TSL_DATA_COUNT; i++)
    assert_true(kinds[i] > 5);
  for (int i = 0; i < 16; i++)
    assert_true(scalars[i / 4][i % 4] > 0);
  assert_false(tsl_case_standard(TSL_OP_GEMM, -1, TESELA_F32, &what));
}

static void random_cases_repeat(void **state) {
  (void)state;
  int differ = 0;
  for (uint64_t i = 0; i < 300; i++) {
    tsl_case one, same, other;
    tsl_case_random(TSL_OP_GEMM, 1, i, TESELA_F32, &one);
    tsl_case_random(TSL_OP_GEMM, 1, i, TESELA_F32, &same);
    tsl_case_random(TSL_OP_GEMM, 2, i, TESELA_F32, &other);
    assert_int_equal(tsl_problem_check(&one.problem), TESELA_OK);
    assert_int_equal(one.seed, same.seed);
    assert_int_equal(one.problem.m, same.problem.m);
    assert_int_equal(one.problem.c.row_stride, same.problem.c.row_stride);
    differ += one.problem.m != other.problem.m;
  }
  assert_true(differ > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_right_one_passes),     cmocka_unit_test(an_infinite_scale_may_meet_what_was_lost),
      cmocka_unit_test(every_fault_is_caught),    cmocka_unit_test(guards_say_where),
      cmocka_unit_test(guards_of_a_dense_result), cmocka_unit_test(a_failure_is_reported),
      cmocka_unit_test(a_refusal_is_reported),    cmocka_unit_test(the_standard_list_covers),
      cmocka_unit_test(random_cases_repeat),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
