/* The judge of narrow types: f16 and bf16 with sums in f32, integers modulo 2^32, and what tile units flush
 * to zero. */
#include "unit/unit.h"

#include "core/status.h"
#include "matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A product of one element, C = alpha (a . b) + beta before, and a result that is right or wrong. */
typedef struct trial {
  const char *what;
  tsl_types types;
  double a[3], b[3];
  double alpha, beta, before, result;
  double factor; /* of a sum of three terms in f32: 7 */
  bool exact;
  double flushes;
  bool right;
} trial;

#define TYPES(a, b, c)                                                                                       \
  { TESELA_##a, TESELA_##b, TESELA_##c }

static const trial trials[] = {
    {"a product in f32", TYPES(BF16, BF16, F32), {3, 0, 0}, {5, 1, 1}, 1, 0, 0, 15, 7, false, 0, true},
    {"f32 is not bf16", TYPES(BF16, BF16, F32), {3, 0, 0}, {5, 1, 1}, 1, 0, 0, 15.01, 7, false, 0, false},
    {"rounded to bf16", TYPES(BF16, BF16, BF16), {257, 0, 0}, {1, 1, 1}, 1, 0, 0, 256, 7, false, 0, true},
    {"two units off", TYPES(BF16, BF16, BF16), {258, 0, 0}, {1, 1, 1}, 1, 0, 0, 264, 7, false, 0, false},
    {"exact sums, rounded", TYPES(BF16, BF16, BF16), {256, 3, 0}, {1, 1, 1}, 1, 0, 0, 260, 7, true, 0, true},
    {"exact sums, cut", TYPES(BF16, BF16, BF16), {256, 3, 0}, {1, 1, 1}, 1, 0, 0, 258, 7, true, 0, false},
    {"sums in bf16", TYPES(BF16, BF16, BF16), {256, 1, 1}, {1, 1, 1}, 1, 0, 0, 256, 7, true, 0, false},
    {"alpha in f32", TYPES(BF16, BF16, F32), {1, 0, 0}, {1, 1, 1}, 0.1f, 0, 0, 0.1f, 7, false, 0, true},
    {"alpha of 8 bits", TYPES(F16, F16, F16), {1, 0, 0}, {1, 1, 1}, 0.1, 0, 0, 0.1001, 7, false, 0, false},
    {"beta C0", TYPES(F16, F16, F16), {1, 1, 0}, {1, 1, 1}, 2, 3, 5, 19, 7, true, 0, true},
    {"too large for f16",
     TYPES(F16, F16, F16),
     {300, 0, 0},
     {300, 1, 1},
     1,
     0,
     0,
     INFINITY,
     7,
     false,
     0,
     true},
    {"not infinite", TYPES(F16, F16, F16), {300, 0, 0}, {300, 1, 1}, 1, 0, 0, 65504, 7, false, 0, false},
    {"large on the way",
     TYPES(F16, F16, F16),
     {300, -300, 2},
     {300, 299, 1},
     1,
     0,
     0,
     302,
     7,
     false,
     0,
     true},
    {"overflow on the way",
     TYPES(F16, F16, F16),
     {300, -300, 2},
     {300, 299, 1},
     1,
     0,
     0,
     INFINITY,
     7,
     false,
     0,
     false},
    {"the same, exact",
     TYPES(F16, F16, F16),
     {300, -300, 2},
     {300, 299, 1},
     1,
     0,
     0,
     INFINITY,
     7,
     true,
     0,
     false},
    {"exact and too large",
     TYPES(F16, F16, F16),
     {300, 0, 0},
     {300, 1, 1},
     1,
     0,
     0,
     INFINITY,
     7,
     true,
     0,
     true},
    {"large and exact", TYPES(F16, F16, F16), {200, 0, 0}, {150, 1, 1}, 1, 0, 0, 30000, 7, true, 0, true},
    {"NaN", TYPES(F16, F16, F32), {INFINITY, 0, 0}, {0, 1, 1}, 1, 0, 0, NAN, 7, false, 0, true},
    {"subnormal bf16", TYPES(BF16, BF16, F32), {0x1p-130, 0, 0}, {1, 1, 1}, 1, 0, 0, 0, 7, false, 0, false},
    {"flushed", TYPES(BF16, BF16, F32), {0x1p-130, 0, 0}, {1, 1, 1}, 1, 0, 0, 0, 7, false, 0x1p-126, true},
    {"flushed before a large one",
     TYPES(BF16, BF16, F32),
     {0x1p-130, 0, 0},
     {0x1p100, 1, 1},
     1,
     0,
     0,
     0,
     7,
     false,
     0x1p-126,
     true},
    {"normal numbers are not flushed",
     TYPES(BF16, BF16, F32),
     {0x1p-20, 0, 0},
     {1, 0, 0},
     1,
     0,
     0,
     0,
     7,
     false,
     0x1p-126,
     false},
    {"flushed before infinity",
     TYPES(BF16, BF16, F32),
     {0x1p-130, 0, 0},
     {INFINITY, 1, 1},
     1,
     0,
     0,
     NAN,
     7,
     false,
     0x1p-126,
     true},
    {"infinity times a subnormal",
     TYPES(BF16, BF16, F32),
     {0x1p-130, 0, 0},
     {INFINITY, 1, 1},
     1,
     0,
     0,
     NAN,
     7,
     false,
     0,
     false},
    {"integers", TYPES(I8, I8, I32), {-128, 127, 3}, {-128, -128, 1}, 1, 0, 0, 131, 0, true, 0, true},
    {"one off", TYPES(I8, I8, I32), {-128, 127, 3}, {-128, -128, 1}, 1, 0, 0, 132, 0, true, 0, false},
    {"one off, data not called exact",
     TYPES(I8, I8, I32),
     {1, 1, 1},
     {1, 1, 1},
     1,
     0,
     0,
     4,
     9,
     false,
     0,
     false},
    {"unsigned by signed",
     TYPES(U8, I8, I32),
     {255, 255, 1},
     {-128, -128, 2},
     1,
     0,
     0,
     -65278,
     0,
     true,
     0,
     true},
    {"signed by unsigned", TYPES(I8, U8, I32), {-1, 0, 0}, {255, 0, 0}, 2, -1, 7, -517, 0, true, 0, true},
    {"unsigned", TYPES(U8, U8, I32), {255, 255, 0}, {255, 255, 0}, 1, 0, 0, 130050, 0, true, 0, true},
    {"wraps", TYPES(I8, I8, I32), {64, 64, 0}, {64, 64, 0}, 1 << 18, 0, 0, -2147483648.0, 0, true, 0, true},
    {"saturates",
     TYPES(I8, I8, I32),
     {64, 64, 0},
     {64, 64, 0},
     1 << 18,
     0,
     0,
     2147483647.0,
     0,
     true,
     0,
     false},
    {"i32 by i32 wraps", TYPES(I32, I32, I32), {65536, 3, 0}, {65536, 5, 0}, 1, 1, 1, 16, 0, true, 0, true},
};

static void one_element_at_a_time(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    const trial *one = &trials[i];
    tsl_problem problem = tsl_problem_gemm(1, 1, 3, one->types.a);
    problem.b.type = one->types.b;
    problem.c.type = one->types.c;
    problem.alpha[0] = one->alpha;
    problem.beta[0] = one->beta;
    unsigned char a[12], b[12], before[4], c[4];
    for (int l = 0; l < 3; l++) {
      test_set(&problem.a, a, 0, l, one->a[l]);
      test_set(&problem.b, b, l, 0, one->b[l]);
    }
    test_set(&problem.c, before, 0, 0, one->before);
    test_set(&problem.c, c, 0, 0, one->result);
    const tsl_accuracy accuracy = tsl_accuracy_in_type((tsl_accuracy){.factor = one->factor}, one->types.c);
    const tsl_judge judge = {.factor = accuracy.factor, .exact = one->exact, .flushes = one->flushes};
    tsl_verdict verdict;
    assert_int_equal(tsl_judge_gemm(&problem, a, b, one->beta != 0 ? before : NULL, c, &judge, &verdict),
                     TESELA_OK);
    if (verdict.right != one->right || (verdict.why[0] == '\0') != verdict.right) {
      print_error("%s: judged %s (%s)\n", one->what, verdict.right ? "right" : "wrong", verdict.why);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

/* Relaxed arithmetic may take a subnormal C as 0, also where nothing is multiplied; matrix units do so only
 * where they multiply. */
static void what_was_in_c_is_flushed_by_relaxed_arithmetic(void **state) {
  (void)state;
  const float a = 1, b = 1, before = 0x1p-130F, none = 0;
  tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_F32);
  problem.alpha[0] = 0;
  problem.beta[0] = 1.5;
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    const tsl_judge judge = {.factor = 5, .flushes = 0x1p-126, .finite = relaxed != 0};
    tsl_verdict verdict;
    assert_int_equal(tsl_judge_gemm(&problem, &a, &b, &before, &none, &judge, &verdict), TESELA_OK);
    assert_int_equal(verdict.right, relaxed);
  }
}

/* Wrong elements are found wherever they are, in any layout, and in a sample that has the corners. */
static void one_wrong_integer_is_found(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(70, 45, 33, TESELA_I8);
  problem.a.row_stride = 1;
  problem.a.col_stride = 71;
  problem.c.row_stride = -50;
  problem.alpha[0] = -3;
  void *a, *b, *c,
      *memory[] = {test_matrix(&problem.a, &a), test_matrix(&problem.b, &b), test_matrix(&problem.c, &c)};
  test_fill(&problem.a, a, TSL_DRAW_GRADED, 1);
  test_fill(&problem.b, b, TSL_DRAW_GRADED, 2);
  test_product(&problem, a, b, c);
  tsl_judge judge = {.exact = true};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(verdict.checked, 70 * 45);
  static const int places[][2] = {{0, 0}, {69, 44}, {31, 7}, {32, 44}};
  for (int i = 0; i < 4; i++) {
    const double was = test_get(&problem.c, c, places[i][0], places[i][1]);
    test_set(&problem.c, c, places[i][0], places[i][1], was + 1);
    assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
    assert_false(verdict.right);
    assert_int_equal(verdict.row, places[i][0]);
    assert_int_equal(verdict.col, places[i][1]);
    assert_non_null(strstr(verdict.why, "1 of 3150 elements are wrong"));
    assert_int_equal(verdict.wrong, 1);
    test_set(&problem.c, c, places[i][0], places[i][1], was);
  }
  judge.operations_max = 20000;
  test_set(&problem.c, c, 69, 44, 1e6);
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  assert_true(verdict.checked < 1000);
  assert_int_equal(verdict.row, 69);
  assert_int_equal(verdict.col, 44);
  for (int i = 0; i < 3; i++)
    free(memory[i]);
}

/* Types that a product of integers may have. */
static void integers_ask_for_integers(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(2, 2, 2, TESELA_U8);
  assert_int_equal(problem.c.type, TESELA_I32);
  assert_int_equal(tsl_problem_check(&problem), TESELA_OK);
  problem.alpha[0] = 0.5;
  assert_int_equal(tsl_problem_check(&problem), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "alpha is 0.5"));
  problem.alpha[0] = 1;
  problem.beta[0] = 0x1p31;
  assert_int_equal(tsl_problem_check(&problem), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "beta is 2147483648"));
  problem.beta[0] = NAN;
  assert_int_equal(tsl_problem_check(&problem), TESELA_BAD_CALL);
  problem.beta[0] = 0;
  problem.b.type = TESELA_F32;
  assert_int_equal(tsl_problem_check(&problem), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "B is f32"));
  assert_int_equal(tsl_problem_dot(5, TESELA_I8).c.type, TESELA_I32);
  assert_int_equal(tsl_problem_transpose(5, 5, TESELA_I8).c.type, TESELA_I8);
  assert_int_equal(tsl_problem_gemm(5, 5, 5, TESELA_BF16).c.type, TESELA_BF16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_element_at_a_time),
      cmocka_unit_test(what_was_in_c_is_flushed_by_relaxed_arithmetic),
      cmocka_unit_test(one_wrong_integer_is_found),
      cmocka_unit_test(integers_ask_for_integers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
