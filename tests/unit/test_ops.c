/* Dots and transposes as problems, as cases, and before the judge; strategies with planted faults must be
 * caught. */
#include "unit/cpu.h"
#include "unit/unit.h"

#include "core/status.h"
#include "matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- problems --- */

static void problems_survive_their_text(void **state) {
  (void)state;
  for (int op = 0; op < TSL_OP_COUNT; op++)
    for (uint64_t i = 0; i < 200; i++) {
      tsl_case what;
      tsl_text text = {0};
      tsl_record record;
      tsl_problem read;
      tsl_case_random((tsl_op)op, 5, i, i % 2 ? TESELA_F32 : TESELA_F64, &what);
      tsl_problem_print(&what.problem, &text);
      assert_int_equal(tsl_record_parse(tsl_text_get(&text), &record), TESELA_OK);
      assert_int_equal(tsl_problem_parse(&record, (tsl_op)op, &read), TESELA_OK);
      assert_int_equal(read.op, op);
      assert_int_equal(read.in_place, what.problem.in_place);
      assert_int_equal(read.a.row_stride, what.problem.a.row_stride);
      assert_int_equal(read.b.row_stride, what.problem.b.row_stride);
      assert_int_equal(read.c.cols, what.problem.c.cols);
      assert_true(read.alpha[0] == what.problem.alpha[0] && read.beta[0] == what.problem.beta[0]);
      tsl_record_free(&record);
      tsl_text_free(&text);
    }
}

static void expect_refused(const tsl_problem *problem, const char *words) {
  assert_int_equal(tsl_problem_check(problem), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), words));
}

static void impossible_problems_are_refused(void **state) {
  (void)state;
  tsl_problem dot = tsl_problem_dot(5, TESELA_F32), transpose = tsl_problem_transpose(3, 4, TESELA_F32),
              gemm = tsl_problem_gemm(2, 2, 2, TESELA_F32);
  assert_int_equal(tsl_problem_check(&dot), TESELA_OK);
  assert_int_equal(tsl_problem_check(&transpose), TESELA_OK);
  dot.m = 2;
  expect_refused(&dot, "1 x 1");
  transpose.beta[0] = 1;
  expect_refused(&transpose, "no beta");
  transpose.beta[0] = 0;
  transpose.in_place = true;
  expect_refused(&transpose, "square");
  transpose = tsl_problem_transpose(3, 3, TESELA_F32);
  transpose.in_place = true;
  assert_int_equal(tsl_problem_check(&transpose), TESELA_OK);
  transpose.a.row_stride = 7;
  expect_refused(&transpose, "same strides");
  gemm.in_place = true;
  expect_refused(&gemm, "in place needs a triangular A or B");
}

/* A product of squares, whose A has this structure. */
static tsl_problem with_structure(tesela_type type, tesela_structure structure, tesela_triangle triangle) {
  tsl_problem problem = tsl_problem_gemm(4, 4, 4, type);
  problem.a.structure = structure;
  problem.a.triangle = triangle;
  return problem;
}

static void impossible_structures_are_refused(void **state) {
  (void)state;
  tsl_problem problem = with_structure(TESELA_F32, TESELA_SYMMETRIC, TESELA_LOWER);
  assert_int_equal(tsl_problem_check(&problem), TESELA_OK);
  problem.b.structure = TESELA_TRIANGULAR;
  problem.b.triangle = TESELA_UPPER;
  expect_refused(&problem, "A or B must be general");
  problem = with_structure(TESELA_F32, TESELA_SYMMETRIC, TESELA_WHOLE);
  expect_refused(&problem, "stored triangle must be specified");
  problem = with_structure(TESELA_F32, TESELA_GENERAL, TESELA_UPPER);
  expect_refused(&problem, "all of it is used");
  problem = with_structure(TESELA_F32, (tesela_structure)9, TESELA_UPPER);
  expect_refused(&problem, "structure 9");
  problem = with_structure(TESELA_F16, TESELA_TRIANGULAR, TESELA_UPPER);
  expect_refused(&problem, "f32, f64, c64 or c128");
  problem = with_structure(TESELA_F64, TESELA_TRIANGULAR, TESELA_UPPER);
  problem.m = problem.a.rows = problem.c.rows = 3;
  expect_refused(&problem, "must be square");
  problem = with_structure(TESELA_F64, TESELA_UNIT_TRIANGULAR, TESELA_UPPER);
  problem.in_place = true;
  assert_int_equal(tsl_problem_check(&problem), TESELA_OK);
  problem.beta[0] = 1;
  expect_refused(&problem, "no beta");
  problem.beta[0] = 0;
  problem.c.row_stride = 5;
  expect_refused(&problem, "same strides");
  problem = tsl_problem_gemm(4, 4, 2, TESELA_C64);
  problem.c.triangle = TESELA_LOWER;
  problem.c.structure = TESELA_HERMITIAN;
  assert_int_equal(tsl_problem_check(&problem), TESELA_OK);
  problem.beta[1] = 1;
  expect_refused(&problem, "beta has an imaginary part");
  problem = tsl_problem_gemm(4, 3, 2, TESELA_C64);
  problem.c.triangle = TESELA_LOWER;
  expect_refused(&problem, "4 x 3");
  problem = tsl_problem_dot(4, TESELA_F64);
  problem.c.triangle = TESELA_LOWER;
  expect_refused(&problem, "only operands of one product");
}

static void structures_count_what_they_store(void **state) {
  (void)state;
  tsl_problem problem = with_structure(TESELA_F64, TESELA_TRIANGULAR, TESELA_LOWER);
  assert_true(tsl_problem_flops(&problem) == 2 * 4 * 10 && tsl_problem_bytes(&problem) == 8 * (10 + 16 + 16));
  const tsl_problem swapped = tsl_problem_swapped(&problem);
  assert_true(swapped.b.structure == TESELA_TRIANGULAR && swapped.b.triangle == TESELA_UPPER);
  assert_int_equal(tsl_problem_structured(&swapped), TSL_OPERAND_B);
  problem.in_place = true;
  assert_false(tsl_problem_uses(&problem, TSL_OPERAND_B));
  assert_true(tsl_problem_reads(&problem, TSL_OPERAND_C) &&
              tsl_problem_bytes(&problem) == 8 * (10 + 16 + 16));
  problem = tsl_problem_gemm(4, 4, 3, TESELA_F32);
  problem.c.triangle = TESELA_UPPER;
  assert_true(tsl_problem_flops(&problem) == 2 * 10 * 3 && tsl_problem_bytes(&problem) == 4 * (12 + 12 + 10));
}

static void operands_take_part_as_the_operation_says(void **state) {
  (void)state;
  tsl_problem transpose = tsl_problem_transpose(5, 5, TESELA_F64), dot = tsl_problem_dot(7, TESELA_F32);
  assert_true(tsl_problem_reads(&transpose, TSL_OPERAND_A) && !tsl_problem_reads(&transpose, TSL_OPERAND_C));
  assert_false(tsl_problem_uses(&transpose, TSL_OPERAND_B));
  assert_true(tsl_problem_bytes(&transpose) == 2 * 25 * 8 && tsl_problem_flops(&transpose) == 0);
  transpose.in_place = true;
  assert_true(!tsl_problem_uses(&transpose, TSL_OPERAND_A) && tsl_problem_reads(&transpose, TSL_OPERAND_C));
  assert_true(tsl_problem_bytes(&transpose) == 2 * 25 * 8);
  transpose.in_place = false;
  transpose.alpha[0] = 0;
  assert_false(tsl_problem_uses(&transpose, TSL_OPERAND_A));
  assert_true(tsl_problem_bytes(&dot) == 4 * 15 && tsl_problem_flops(&dot) == 14);
}

/* --- cases --- */

static void cases_are_problems_of_their_operation(void **state) {
  (void)state;
  const tsl_type_info *type;
  for (int op = TSL_OP_DOT; op < TSL_OP_COUNT; op++)
    for (int t = 0; (type = tsl_type_at(t)) != NULL; t++) {
      tsl_case what;
      int count = 0, in_place = 0, longest = 0, scaled = 0, stepped = 0;
      if (op == TSL_OP_SOLVE && (type->sums != type->type || type->is_integer))
        continue; /* solves have none of it */
      for (; tsl_case_standard((tsl_op)op, count, type->type, &what); count++) {
        const tsl_problem *problem = &what.problem;
        assert_int_equal(problem->op, op);
        assert_int_equal(problem->c.type, tsl_result_type((tsl_op)op, type->type));
        assert_int_equal(tsl_problem_check(problem), TESELA_OK);
        in_place += problem->in_place;
        scaled += problem->alpha[0] != 1;
        stepped += problem->a.col_stride < 0;
        longest = problem->k > longest ? (int)problem->k : longest;
      }
      assert_true(count > 150 && count < 350 && stepped > 5);
      if (op == TSL_OP_TRANSPOSE)
        assert_true(in_place > 20 && (scaled > 10) == (type->type == TESELA_F32 || type->type == TESELA_F64));
      else if (op == TSL_OP_SOLVE)
        assert_true(in_place > 50 && scaled > 10 && longest > 500);
      else
        assert_true(longest == 300000 && scaled > 10);
    }
}

/* --- the judge --- */

static void transpose_into(const tsl_problem *problem, const void *a, void *c) {
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++)
      test_set(&problem->c, c, i, j, problem->alpha[0] * test_get(&problem->a, a, j, i));
}

static void each_wrong_element_is_found(void **state) {
  (void)state;
  const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_F16, TESELA_I8, TESELA_I32};
  for (int t = 0; t < 5; t++) {
    tsl_problem problem = tsl_problem_transpose(5, 3, types[t]);
    problem.alpha[0] = types[t] == TESELA_F32 ? 1.5 : 1;
    void *a, *c, *memory[] = {test_matrix(&problem.a, &a), test_matrix(&problem.c, &c)};
    const tsl_judge judge = {.factor = 1};
    tsl_verdict verdict;
    test_fill(&problem.a, a, TSL_DRAW_INTEGER, 4);
    transpose_into(&problem, a, c);
    assert_int_equal(tsl_judge_result(&problem, a, NULL, NULL, c, &judge, &verdict), TESELA_OK);
    assert_true(verdict.right && verdict.checked == 15);
    for (int i = 0; i < 15; i++) {
      const double kept = test_get(&problem.c, c, i / 3, i % 3);
      test_set(&problem.c, c, i / 3, i % 3, kept + 1);
      assert_int_equal(tsl_judge_result(&problem, a, NULL, NULL, c, &judge, &verdict), TESELA_OK);
      assert_false(verdict.right);
      assert_true(verdict.row == i / 3 && verdict.col == i % 3 && strlen(verdict.why) > 10);
      test_set(&problem.c, c, i / 3, i % 3, kept);
    }
    free(memory[0]);
    free(memory[1]);
  }
}

/* Without a factor, a transpose keeps bits: zeros keep their sign. */
static void a_copy_keeps_bits(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_transpose(1, 1, TESELA_F32);
  const tsl_judge judge = {.factor = 1};
  const float zero = 0, negative = -0.0f;
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_result(&problem, &negative, NULL, NULL, &negative, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(tsl_judge_result(&problem, &negative, NULL, NULL, &zero, &judge, &verdict), TESELA_OK);
  assert_false(verdict.right);
}

/* 1e8 + 1 - 1e8 in one direction and the other: a sum in f32 loses the 1, which the bound of sums allows and
 * that of a rounded result does not. */
static void a_rounded_dot_has_no_excuse(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_dot(3, TESELA_F32);
  const float x[] = {1e8f, 1, -1e8f}, y[] = {1, 1, 1}, right = 1, lost = 0;
  const tsl_judge sum = {.factor = 5}, rounded = {.factor = 1, .rounded = true};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_result(&problem, x, y, NULL, &lost, &sum, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(tsl_judge_result(&problem, x, y, NULL, &lost, &rounded, &verdict), TESELA_OK);
  assert_false(verdict.right);
  assert_int_equal(tsl_judge_result(&problem, x, y, NULL, &right, &rounded, &verdict), TESELA_OK);
  assert_true(verdict.right);
}

/* --- planted faults --- */

static enum {
  NONE,
  NOT_TRANSPOSED,
  LAST_MISSING,
  TOUCHES_A,
  READS_C,
  CONJUGATES,
  REAL_ALPHA,
  INFINITE
} fault;

static tsl_accuracy exact(const tsl_problem *problem, const tsl_config *config) {
  (void)problem;
  (void)config;
  return (tsl_accuracy){.factor = 1, .is_reproducible = true};
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)problem;
  (void)config;
  (void)device;
  return 1;
}

static tsl_shape laid_out(const tsl_shape *shape, const tsl_operand *operand) {
  tsl_shape out = *shape;
  out.row_stride = operand->row_stride;
  out.col_stride = operand->col_stride;
  return out;
}

static tesela_status run_transpose(const tsl_work *work, const tsl_operands *on, tsl_stream *stream) {
  (void)stream;
  const tsl_problem *problem = &work->problem;
  const tsl_shape from = laid_out(&problem->a, &on->a), to = laid_out(&problem->c, &on->c);
  const double alpha = problem->alpha[0];
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++) {
      if (fault == LAST_MISSING && i == problem->m - 1 && j == problem->n - 1)
        continue;
      if (!problem->in_place) {
        const bool turned = fault == NOT_TRANSPOSED && i < problem->n && j < problem->m;
        const double value = alpha == 0 ? 0 : test_get(&from, on->a.host, turned ? i : j, turned ? j : i);
        const double old = fault == READS_C ? 0 * test_get(&to, on->c.host, i, j) : 0;
        const bool is_infinite = fault == INFINITE && alpha != 1 && i == 0 && j == 0;
        test_set(&to, on->c.host, i, j, is_infinite ? INFINITY : alpha * value + old);
      } else if (i <= j) {
        const double upper = test_get(&to, on->c.host, i, j), lower = test_get(&to, on->c.host, j, i);
        test_set(&to, on->c.host, i, j, alpha * lower);
        test_set(&to, on->c.host, j, i, alpha * upper);
      }
    }
  if (fault == TOUCHES_A && on->a.host)
    test_set(&from, on->a.host, 0, 0, 5);
  return TESELA_OK;
}

static tesela_status run_dot(const tsl_work *work, const tsl_operands *on, tsl_stream *stream) {
  (void)stream;
  const tsl_problem *problem = &work->problem;
  const tsl_shape x = laid_out(&problem->a, &on->a), y = laid_out(&problem->b, &on->b);
  const int64_t terms = problem->alpha[0] == 0 ? 0 : problem->k - (fault == LAST_MISSING && problem->k > 0);
  double sum = 0;
  for (int64_t i = 0; i < terms; i++)
    sum += test_get(&x, on->a.host, 0, i) * test_get(&y, on->b.host, i, 0);
  sum = terms > 0 ? sum * problem->alpha[0] : 0;
  if (problem->beta[0] != 0 || fault == READS_C)
    sum += problem->beta[0] * test_get(&problem->c, on->c.host, 0, 0);
  test_set(&problem->c, on->c.host, 0, 0, sum);
  return TESELA_OK;
}

/* A complex product in the order of its definition, each step rounded to the parts' type. */
static double rounded(tesela_type type, double value) {
  return tsl_type(type)->component == TESELA_F32 ? (double)(float)value : value;
}

static void multiply(tesela_type type, const double a[2], const double b[2], double out[2]) {
  const double re = rounded(type, a[0] * b[0]), im = rounded(type, a[0] * b[1]);
  out[0] = rounded(type, re - rounded(type, a[1] * b[1]));
  out[1] = rounded(type, im + rounded(type, a[1] * b[0]));
}

static void load_complex(const tsl_shape *shape, const void *origin, int64_t row, int64_t col,
                         double out[2]) {
  const int64_t at = row * shape->row_stride + col * shape->col_stride;
  tsl_type_load(shape->type, (const unsigned char *)origin + at * (int64_t)tsl_type(shape->type)->size, out);
}

static void multiply_element(const tsl_problem *problem, const tsl_shape shapes[3], const tsl_operands *on,
                             int64_t i, int64_t j, double out[2]) {
  const tesela_type type = problem->c.type;
  const double alpha[2] = {problem->alpha[0], fault == REAL_ALPHA ? 0 : problem->alpha[1]};
  double a[2], b[2], product[2], sum[2] = {0, 0}, scaled[2] = {0, 0};
  for (int64_t l = 0; tsl_problem_reads(problem, TSL_OPERAND_A) && l < problem->k; l++) {
    load_complex(&shapes[0], on->a.host, i, l, a);
    load_complex(&shapes[1], on->b.host, l, j, b);
    if (fault == CONJUGATES)
      b[1] = -b[1];
    multiply(type, a, b, product);
    for (int part = 0; part < 2; part++)
      sum[part] = rounded(type, sum[part] + product[part]);
  }
  if (problem->k > 0)
    multiply(type, alpha, sum, scaled);
  if (tsl_problem_reads(problem, TSL_OPERAND_C)) {
    load_complex(&shapes[2], on->c.host, i, j, a);
    multiply(type, problem->beta, a, product);
    for (int part = 0; part < 2; part++)
      scaled[part] = rounded(type, scaled[part] + product[part]);
  }
  out[0] = scaled[0];
  out[1] = scaled[1];
}

static tesela_status run_complex(const tsl_work *work, const tsl_operands *on, tsl_stream *stream) {
  (void)stream;
  const tsl_problem *problem = &work->problem;
  const tsl_shape shapes[3] = {laid_out(&problem->a, &on->a), laid_out(&problem->b, &on->b),
                               laid_out(&problem->c, &on->c)};
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++) {
      double value[2];
      multiply_element(problem, shapes, on, i, j, value);
      const int64_t at = i * shapes[2].row_stride + j * shapes[2].col_stride;
      tsl_type_store(problem->c.type,
                     (unsigned char *)on->c.host + at * (int64_t)tsl_type(problem->c.type)->size, value);
    }
  return TESELA_OK;
}

static tsl_accuracy complex_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return (tsl_accuracy){.factor = 2 * (double)problem->k + 6, .is_reproducible = true};
}

static const tsl_types complex_types[] = {
    {TESELA_C64, TESELA_C64, TESELA_C64}, {TESELA_C128, TESELA_C128, TESELA_C128}, {0, 0, 0}};

static const tsl_strategy planted[] = {
    {.name = "planted",
     .op = TSL_OP_DOT,
     .version = 1,
     .needs = TSL_CAN_HOST,
     .accuracy = tsl_accuracy_in_order,
     .score = score,
     .run = run_dot},
    {.name = "planted",
     .op = TSL_OP_TRANSPOSE,
     .version = 1,
     .needs = TSL_CAN_HOST,
     .accuracy = exact,
     .score = score,
     .run = run_transpose},
    {.name = "planted",
     .op = TSL_OP_GEMM,
     .version = 1,
     .needs = TSL_CAN_HOST,
     .supports = {.types = complex_types},
     .accuracy = complex_accuracy,
     .score = score,
     .run = run_complex},
};

static int count_wrong_of(const tsl_strategy *strategy, tesela_type type) {
  const tsl_types types = {type, type, type};
  const tsl_config config = {{0}};
  tsl_case what;
  int wrong = 0;
  for (int i = 0; tsl_case_standard(strategy->op, i, type, &what); i++) {
    tsl_case_report report;
    tsl_case_set_types(&what, &types);
    if (what.data == TSL_DATA_SPECIAL && !tsl_type(type)->is_complex)
      continue; /* what double makes of signalling NaN and overflow is not the planted strategy's subject */
    assert_int_equal(tsl_check_case(strategy, &config, cpu, &what, &report), TESELA_OK);
    wrong += report.result == TSL_CASE_WRONG;
    assert_true(report.result == TSL_CASE_RIGHT || report.result == TSL_CASE_WRONG);
  }
  return wrong;
}

static int count_wrong(const tsl_strategy *strategy) {
  return count_wrong_of(strategy, TESELA_F32);
}

static void complex_faults_are_caught(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const tesela_type type = complex_types[t].c;
    fault = NONE;
    assert_int_equal(count_wrong_of(&planted[2], type), 0);
    fault = CONJUGATES;
    assert_true(count_wrong_of(&planted[2], type) > 100);
    fault = REAL_ALPHA;
    assert_true(count_wrong_of(&planted[2], type) > 50);
  }
  fault = NONE;
}

static void planted_faults_are_caught(void **state) {
  (void)state;
  fault = NONE;
  assert_int_equal(count_wrong(&planted[0]), 0);
  assert_int_equal(count_wrong(&planted[1]), 0);
  fault = LAST_MISSING;
  assert_true(count_wrong(&planted[0]) > 50);
  assert_true(count_wrong(&planted[1]) > 10);
  fault = READS_C;
  assert_true(count_wrong(&planted[0]) > 50);
  assert_true(count_wrong(&planted[1]) > 10);
  fault = NOT_TRANSPOSED;
  assert_true(count_wrong(&planted[1]) > 10);
  fault = TOUCHES_A;
  assert_true(count_wrong(&planted[1]) > 10);
  fault = INFINITE;
  assert_true(count_wrong(&planted[1]) > 0);
  fault = NONE;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems_survive_their_text),
      cmocka_unit_test(impossible_problems_are_refused),
      cmocka_unit_test(impossible_structures_are_refused),
      cmocka_unit_test(structures_count_what_they_store),
      cmocka_unit_test(operands_take_part_as_the_operation_says),
      cmocka_unit_test(cases_are_problems_of_their_operation),
      cmocka_unit_test(each_wrong_element_is_found),
      cmocka_unit_test(a_copy_keeps_bits),
      cmocka_unit_test(a_rounded_dot_has_no_excuse),
      cmocka_unit_test(planted_faults_are_caught),
      cmocka_unit_test(complex_faults_are_caught),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
