/* The judge of products with structures: cases are problems, two right ways pass, and planted faults are
 * caught. */
#include "unit/cpu.h"
#include "unit/long.h"
#include "unit/unit.h"

#include "cases_structured.h"
#include "core/status.h"
#include "judge/check.h"
#include "judge/densify.h"
#include "problem/structure.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
enum { TYPES = sizeof types / sizeof *types };

/* --- cases --- */

static void each_kind_has_cases(void **state) {
  (void)state;
  for (int t = 0; t < TYPES; t++) {
    int seen[TSL_OPERANDS][TESELA_STRUCTURES][TESELA_TRIANGLES] = {{{0}}}, in_place[2] = {0, 0}, count = 0;
    tsl_case what;
    for (; tsl_case_structured(count, types[t], &what); count++) {
      const tsl_problem *problem = &what.problem;
      assert_int_equal(tsl_problem_check(problem), TESELA_OK);
      assert_true(tsl_problem_has_structure(problem));
      for (int i = 0; i < TSL_OPERANDS; i++) {
        const tsl_shape *shape = tsl_problem_shape(problem, i);
        seen[i][shape->structure][shape->triangle]++;
      }
      if (problem->in_place)
        in_place[tsl_problem_structured(problem)]++;
    }
    const bool is_complex = tsl_type(types[t])->is_complex;
    for (int structure = TESELA_SYMMETRIC; structure <= TESELA_UNIT_TRIANGULAR; structure++)
      for (int triangle = TESELA_LOWER; triangle < TESELA_TRIANGLES; triangle++)
        for (int i = 0; i < TSL_OPERAND_C; i++)
          assert_true((seen[i][structure][triangle] > 10) == (is_complex || structure != TESELA_HERMITIAN));
    for (int triangle = TESELA_LOWER; triangle < TESELA_TRIANGLES; triangle++) {
      assert_true(seen[TSL_OPERAND_C][TESELA_GENERAL][triangle] > 10);
      assert_true((seen[TSL_OPERAND_C][TESELA_HERMITIAN][triangle] > 10) == is_complex);
      assert_true(seen[TSL_OPERAND_C][TESELA_SYMMETRIC_SUM][triangle] > 10);
      assert_true((seen[TSL_OPERAND_C][TESELA_HERMITIAN_SUM][triangle] > 10) == is_complex);
    }
    assert_true(in_place[0] > 40 && in_place[1] > 40 && count < 600);
    for (uint64_t i = 0; i < 300; i++) {
      tsl_case_random_structured(3, i, types[t], &what);
      if (tsl_problem_check(&what.problem) != TESELA_OK)
        fail_msg("random case %d: %s", (int)i, tesela_last_error());
    }
  }
  tsl_case narrow;
  assert_true(tsl_case_structured(100, TESELA_F16, &narrow));
  assert_int_equal(tsl_problem_check(&narrow.problem), TESELA_OK);
  assert_false(tsl_problem_has_structure(&narrow.problem));
}

/* A self-test tries small cases with the problem's structures, triangles and place. */
static void quick_cases_are_alike(void **state) {
  (void)state;
  tsl_case what, quick;
  for (int t = 0; t < TYPES; t++)
    for (int i = 0; tsl_case_structured(i, types[t], &what); i++) {
      const tsl_problem *like = &what.problem;
      int count = 0;
      for (; tsl_case_quick(like, count, &quick); count++) {
        if (tsl_problem_check(&quick.problem) != TESELA_OK)
          fail_msg("case %d, quick case %d: %s", i, count, tesela_last_error());
        assert_int_equal(quick.problem.in_place, like->in_place);
        for (int operand = 0; operand < TSL_OPERANDS; operand++) {
          const tsl_shape *one = tsl_problem_shape(like, operand),
                          *other = tsl_problem_shape(&quick.problem, operand);
          assert_true(one->structure == other->structure && one->triangle == other->triangle);
        }
      }
      assert_int_equal(count, 5);
    }
}

/* --- strategies --- */

static enum {
  NONE,
  MULTIPLIES_ZEROS, /* as right as leaving them out */
  WHOLE_C,
  OTHER_TRIANGLE,
  NO_CONJUGATE,
  NOT_UNIT,
  GENERAL_FACTOR,
  MIRRORED,
  COMPLEX_DIAGONAL,
  LAST_MISSING,
  FAULTS
} fault;

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem;
  (void)config;
  (void)device;
  return 1;
}

static void spoil_shape(tsl_shape *shape, bool is_factor) {
  if (fault == OTHER_TRIANGLE && is_factor && shape->triangle != TESELA_WHOLE)
    shape->triangle = shape->triangle == TESELA_LOWER ? TESELA_UPPER : TESELA_LOWER;
  if (fault == NO_CONJUGATE && is_factor && shape->structure == TESELA_HERMITIAN)
    shape->structure = TESELA_SYMMETRIC;
  if (fault == NOT_UNIT && shape->structure == TESELA_UNIT_TRIANGULAR)
    shape->structure = TESELA_TRIANGULAR;
  if (fault == MIRRORED && shape->structure == TESELA_TRIANGULAR)
    shape->structure = TESELA_SYMMETRIC;
  if (fault == COMPLEX_DIAGONAL && !is_factor && !tsl_is_sum(shape->structure))
    shape->structure = TESELA_GENERAL;
  if ((fault == GENERAL_FACTOR && is_factor) || (fault == WHOLE_C && !is_factor)) {
    shape->structure = TESELA_GENERAL;
    shape->triangle = TESELA_WHOLE;
  }
}

/* By general operands, zeros and all. */
static tesela_status run_plain(const tsl_work *work, const tsl_operands *on, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_indices rows = {NULL, problem->m}, cols = {NULL, problem->n};
  const size_t size = tsl_type(problem->c.type)->size;
  tsl_dense_sample plain;
  TSL_TRY(tsl_dense_sample_create(problem, on->a.host, on->b.host, on->c.host, &rows, &cols, &plain));
  tsl_work general = *work;
  general.problem = plain.problem;
  const tsl_shape *shapes[] = {&plain.problem.a, &plain.problem.b};
  tsl_operands with = {.a = {.host = plain.a}, .b = {.host = plain.b}};
  unsigned char *c = calloc((size_t)(problem->m * problem->n) + 1, size);
  assert_non_null(c);
  if (plain.before)
    memcpy(c, plain.before, (size_t)(problem->m * problem->n) * size);
  tsl_operand *const operands[] = {&with.a, &with.b};
  for (int i = 0; i < 2; i++) {
    operands[i]->row_stride = shapes[i]->row_stride;
    operands[i]->col_stride = shapes[i]->col_stride;
  }
  with.c = (tsl_operand){.host = c, .row_stride = problem->n, .col_stride = 1};
  const tesela_status status = tsl_strategy_specification(TSL_OP_GEMM)->run(&general, &with, stream);
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++) {
      double value[2];
      if (!tsl_shape_stores(&problem->c, i, j))
        continue;
      tsl_type_load(problem->c.type, c + (size_t)(i * problem->n + j) * size, value);
      if (tsl_is_hermitian(problem->c.structure) && i == j)
        value[1] = 0;
      tsl_type_store(
          problem->c.type,
          (unsigned char *)on->c.host + (i * on->c.row_stride + j * on->c.col_stride) * (int64_t)size, value);
    }
  free(c);
  tsl_dense_sample_free(&plain);
  return status;
}

static tesela_status run(const tsl_work *work, const tsl_operands *on, tsl_stream *stream) {
  tsl_work spoilt = *work;
  tsl_problem *problem = &spoilt.problem;
  tsl_operands with = *on;
  if (fault == MULTIPLIES_ZEROS)
    return run_plain(work, on, stream);
  spoil_shape(&problem->a, problem->a.structure != TESELA_GENERAL);
  spoil_shape(&problem->b, problem->b.structure != TESELA_GENERAL);
  if (problem->c.triangle != TESELA_WHOLE)
    spoil_shape(&problem->c, false);
  if (fault == LAST_MISSING && problem->m > 0)
    problem->m--;
  if (fault == GENERAL_FACTOR && problem->in_place) { /* it has no order that would be right */
    with.a = with.a.host ? with.a : with.c;
    problem->in_place = false;
  }
  return tsl_strategy_specification(TSL_OP_GEMM)->run(&spoilt, &with, stream);
}

static const tsl_types own_types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                      {TESELA_F64, TESELA_F64, TESELA_F64},
                                      {TESELA_C64, TESELA_C64, TESELA_C64},
                                      {TESELA_C128, TESELA_C128, TESELA_C128},
                                      {0, 0, 0}};
static const tsl_strategy planted = {.name = "planted",
                                     .op = TSL_OP_GEMM,
                                     .version = 1,
                                     .needs = TSL_CAN_HOST,
                                     .supports = {.types = own_types, .conjugates = true, .structures = true},
                                     .accuracy = tsl_accuracy_in_order,
                                     .score = score,
                                     .run = run};

/* Returns the number of wrong cases with at most `most` multiply-adds. */
static int count_wrong(tesela_type type, double most, const char **why) {
  const tsl_config config = {{0}};
  static tsl_case_report report;
  tsl_case what;
  int wrong = 0;
  *why = "";
  for (int i = 0; tsl_case_structured(i, type, &what); i++) {
    if ((double)what.problem.m * (double)what.problem.n * (double)what.problem.k > most)
      continue;
    assert_int_equal(tsl_check_case(&planted, &config, cpu, &what, &report), TESELA_OK);
    assert_true(report.result == TSL_CASE_RIGHT || report.result == TSL_CASE_WRONG);
    assert_true(report.result == TSL_CASE_RIGHT || strlen(report.why) > 10);
    wrong += report.result == TSL_CASE_WRONG;
    if (report.result == TSL_CASE_WRONG && !**why) {
      static char text[1100];
      snprintf(text, sizeof text, "case %d, %s: %s", i, report.plan, report.why);
      *why = text;
    }
  }
  return wrong;
}

static void right_ways_pass(void **state) {
  (void)state;
  for (int f = NONE; f <= MULTIPLIES_ZEROS; f++)
    for (int t = 0; t < TYPES; t++) {
      const char *why;
      fault = f;
      /* Larger ones are what strategies are tried on, each by its own test. */
      const int wrong = count_wrong(types[t], is_long_form() ? 5e4 : 5e3, &why);
      if (wrong > 0)
        fail_msg("%s, way %d: %d wrong; %s", tsl_type(types[t])->name, f, wrong, why);
    }
}

static void random_cases_are_right(void **state) {
  (void)state;
  const tsl_config config = {{0}};
  tsl_case_report report;
  tsl_case what;
  for (int f = NONE; f <= MULTIPLIES_ZEROS; f++)
    for (uint64_t i = 0; i < (is_long_form() ? 120 : 40); i++) {
      fault = f;
      tsl_case_random_structured(17, i, types[i % TYPES], &what);
      assert_int_equal(tsl_check_case(&planted, &config, cpu, &what, &report), TESELA_OK);
      if (report.result != TSL_CASE_RIGHT)
        fail_msg("way %d, random case %d, %s: %s", f, (int)i, report.plan, report.why);
    }
}

static void faults_are_caught(void **state) {
  (void)state;
  for (int f = MULTIPLIES_ZEROS + 1; f < FAULTS; f++)
    for (int t = 0; t < TYPES; t++) {
      const bool is_complex = tsl_type(types[t])->is_complex;
      const char *why;
      fault = f;
      const int wrong = count_wrong(types[t], 2e4, &why);
      if ((f == NO_CONJUGATE || f == COMPLEX_DIAGONAL) && !is_complex)
        assert_int_equal(wrong, 0);
      else if (wrong < 8)
        fail_msg("fault %d in %s was caught %d times", f, tsl_type(types[t])->name, wrong);
    }
}

/* The judge reads every element of the triangle and no other: it finds a change in the triangle,
 * and ignores a change outside it. */
static void the_triangle_is_looked_at(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(4, 4, 1, TESELA_F64);
  const double a[4] = {1, 2, 3, 4}, nan = NAN;
  double c[16];
  for (int upper = 0; upper < 2; upper++) {
    problem.c.triangle = upper ? TESELA_UPPER : TESELA_LOWER;
    for (int i = 0; i < 16; i++)
      c[i] = (upper ? i / 4 <= i % 4 : i / 4 >= i % 4) ? a[i / 4] * a[i % 4] : nan;
    const tsl_judge judge = {.factor = 5};
    tsl_verdict verdict;
    assert_int_equal(tsl_judge_result(&problem, a, a, NULL, c, &judge, &verdict), TESELA_OK);
    assert_true(verdict.right && verdict.checked == 10);
    for (int i = 0; i < 16; i++) {
      const double kept = c[i];
      c[i] = 77;
      assert_int_equal(tsl_judge_result(&problem, a, a, NULL, c, &judge, &verdict), TESELA_OK);
      assert_true(verdict.right == isnan(kept));
      assert_true(isnan(kept) || (verdict.row == i / 4 && verdict.col == i % 4));
      c[i] = kept;
    }
  }
}

/* An infinity outside a triangle is multiplied by zeros: NaN and the sum of the other terms are
 * right, any other result is wrong. */
static void zeros_may_be_left_out(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(2, 1, 2, TESELA_F32);
  problem.a.structure = TESELA_TRIANGULAR;
  problem.a.triangle = TESELA_LOWER;
  const float a[] = {2, NAN, 3, 5}, b[] = {7, INFINITY};
  const tsl_judge judge = {.factor = 6};
  const struct {
    float c[2];
    bool right;
  } results[] = {{{14, INFINITY}, true},
                 {{NAN, INFINITY}, true},
                 {{15, INFINITY}, false},
                 {{INFINITY, INFINITY}, false},
                 {{14, 21}, false}};
  for (int i = 0; i < 5; i++) {
    tsl_verdict verdict;
    assert_int_equal(tsl_judge_result(&problem, a, b, NULL, results[i].c, &judge, &verdict), TESELA_OK);
    assert_true(verdict.right == results[i].right);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quick_cases_are_alike), cmocka_unit_test(each_kind_has_cases),
      cmocka_unit_test(right_ways_pass),       cmocka_unit_test(random_cases_are_right),
      cmocka_unit_test(faults_are_caught),     cmocka_unit_test(the_triangle_is_looked_at),
      cmocka_unit_test(zeros_may_be_left_out),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
