/* The judge with numbers that are not finite: complex products, whose parts are real sums by IEEE
 * 754 only, and scalars that are infinite or NaN. */
#include "judge/data.h"
#include "judge/nonfinite.h"
#include "matrices.h"
#include "unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define INF INFINITY
enum { TERMS = 2 };

/* A product of one element of k terms, and a result that is right or wrong. */
typedef struct trial {
  const char *what;
  tesela_type type;
  int64_t k;
  double a[TERMS][2], b[TERMS][2], alpha[2], beta[2], before[2], result[2];
  bool right;
} trial;

#define ONE                                                                                                  \
  { 1, 0 }
#define NIL                                                                                                  \
  { 0, 0 }

static const trial trials[] = {
    {"finite", TESELA_C64, 2, {{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, ONE, NIL, NIL, {-18, 68}, true},
    {"finite, off", TESELA_C64, 2, {{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, ONE, NIL, NIL, {-18, 68.1}, false},
    {"an infinite part reaches both", TESELA_C64, 1, {{INF, 1}}, {{2, 3}}, ONE, NIL, NIL, {INF, INF}, true},
    {"the other sign", TESELA_C128, 1, {{INF, 1}}, {{2, -3}}, ONE, NIL, NIL, {INF, -INF}, true},
    {"a sign is wrong", TESELA_C128, 1, {{INF, 1}}, {{2, -3}}, ONE, NIL, NIL, {INF, INF}, false},
    {"infinity times a part of 0", TESELA_C64, 1, {{INF, 1}}, {{1, 0}}, {2, 1}, NIL, NIL, {NAN, NAN}, true},
    {"alpha's part of 0 left out", TESELA_C64, 1, {{INF, 1}}, {{1, 0}}, ONE, NIL, NIL, {INF, NAN}, true},
    {"alpha's part of 0 multiplied", TESELA_C64, 1, {{INF, 1}}, {{1, 0}}, ONE, NIL, NIL, {NAN, NAN}, true},
    {"no recovery as in Annex G", TESELA_C64, 1, {{INF, 1}}, {{1, 0}}, ONE, NIL, NIL, {INF, INF}, false},
    {"infinity lost", TESELA_C64, 1, {{INF, 1}}, {{2, 3}}, ONE, NIL, NIL, {2, INF}, false},
    {"both signs", TESELA_C128, 2, {{INF, 1}, {-INF, 1}}, {{1, 1}, {1, 1}}, ONE, NIL, NIL, {NAN, NAN}, true},
    {"both signs, lost",
     TESELA_C128,
     2,
     {{INF, 1}, {-INF, 1}},
     {{1, 1}, {1, 1}},
     ONE,
     NIL,
     NIL,
     {INF, NAN},
     false},
    {"NaN in a part", TESELA_C64, 1, {{1, NAN}}, {{1, 1}}, ONE, NIL, NIL, {NAN, NAN}, true},
    {"NaN in a part, lost", TESELA_C64, 1, {{1, NAN}}, {{1, 1}}, ONE, NIL, NIL, {1, NAN}, false},
    {"NaN from nowhere", TESELA_C64, 1, {{1, 2}}, {{1, 1}}, ONE, NIL, NIL, {NAN, 3}, false},
    {"alpha turns the parts", TESELA_C64, 1, {{INF, 1}}, {{2, 3}}, {1, 1}, NIL, NIL, {NAN, INF}, true},
    {"alpha turns the parts, wrong",
     TESELA_C64,
     1,
     {{INF, 1}},
     {{2, 3}},
     {1, 1},
     NIL,
     NIL,
     {INF, INF},
     false},
    {"alpha infinite", TESELA_C64, 1, {{1, 2}}, {{3, 0.5}}, {INF, 1}, NIL, NIL, {INF, INF}, true},
    {"alpha infinite, its 0 left out",
     TESELA_C64,
     1,
     {{1, 2}},
     {{3, 0.5}},
     {-INF, 0},
     NIL,
     NIL,
     {-INF, -INF},
     true},
    {"alpha infinite, finite result",
     TESELA_C64,
     1,
     {{1, 2}},
     {{3, 0.5}},
     {INF, 0},
     NIL,
     NIL,
     {2, INF},
     false},
    {"alpha infinite on a sum of 0",
     TESELA_C128,
     1,
     {{0, 0}},
     {{3, 1}},
     {INF, 0},
     NIL,
     NIL,
     {NAN, NAN},
     true},
    {"alpha infinite, sum underflows",
     TESELA_C64,
     1,
     {{1e-30, 0}},
     {{1e-30, 0}},
     {INF, 0},
     NIL,
     NIL,
     {NAN, NAN},
     true},
    {"alpha infinite, k = 0", TESELA_C64, 0, {NIL}, {NIL}, {INF, 0}, {2, 0}, {3, 1}, {6, 2}, true},
    {"alpha infinite, k = 0, scaled",
     TESELA_C64,
     0,
     {NIL},
     {NIL},
     {INF, 0},
     {2, 0},
     {3, 1},
     {NAN, NAN},
     false},
    {"alpha NaN", TESELA_C64, 1, {{1, 2}}, {{3, 0.5}}, {NAN, 0}, NIL, NIL, {NAN, NAN}, true},
    {"alpha NaN, lost", TESELA_C64, 1, {{1, 2}}, {{3, 0.5}}, {NAN, 0}, NIL, NIL, {INF, NAN}, false},
    {"C0 infinite, its 0 left out", TESELA_C64, 1, {{1, 2}}, {{1, 0}}, ONE, ONE, {INF, 4}, {INF, 6}, true},
    {"C0 infinite, its 0 multiplied",
     TESELA_C64,
     1,
     {{1, 2}},
     {{1, 0}},
     ONE,
     ONE,
     {INF, 4},
     {INF, NAN},
     true},
    {"C0 infinite, other part off", TESELA_C64, 1, {{1, 2}}, {{1, 0}}, ONE, ONE, {INF, 4}, {INF, 7}, false},
    {"C0 infinite, lost", TESELA_C64, 1, {{1, 2}}, {{1, 0}}, ONE, ONE, {INF, 4}, {1, 6}, false},
    {"C0 NaN, not read", TESELA_C64, 1, {{1, 2}}, {{1, 0}}, ONE, NIL, {NAN, NAN}, {1, 2}, true},
    {"beta infinite", TESELA_C128, 1, {{1, 2}}, {{1, 0}}, ONE, {0, INF}, {3, 4}, {-INF, INF}, true},
    {"beta infinite, wrong sign",
     TESELA_C128,
     1,
     {{1, 2}},
     {{1, 0}},
     ONE,
     {0, INF},
     {3, 4},
     {INF, INF},
     false},
    {"overflow of c64", TESELA_C64, 1, {{1e30, 0}}, {{1e30, 0}}, ONE, NIL, NIL, {INF, 0}, true},
    {"overflow of c64, times alpha's 0",
     TESELA_C64,
     1,
     {{1e30, 0}},
     {{1e30, 0}},
     ONE,
     NIL,
     NIL,
     {INF, NAN},
     true},
    {"overflow has a sign", TESELA_C64, 1, {{1e30, 0}}, {{1e30, 0}}, ONE, NIL, NIL, {-INF, 0}, false},
    {"real: alpha infinite, k = 0", TESELA_F32, 0, {NIL}, {NIL}, {INF, 0}, {2, 0}, {3, 0}, {6, 0}, true},
    {"real: alpha infinite, k = 0, scaled",
     TESELA_F32,
     0,
     {NIL},
     {NIL},
     {INF, 0},
     {2, 0},
     {3, 0},
     {NAN, 0},
     false},
    {"real: alpha NaN, k = 0", TESELA_F64, 0, {NIL}, {NIL}, {NAN, 0}, NIL, NIL, NIL, true},
    {"real: alpha infinite",
     TESELA_F32,
     2,
     {{1, 0}, {2, 0}},
     {{1, 0}, {1, 0}},
     {INF, 0},
     NIL,
     NIL,
     {INF, 0},
     true},
    {"real: alpha infinite, sum underflows",
     TESELA_F32,
     1,
     {{1e-30, 0}},
     {{1e-30, 0}},
     {INF, 0},
     NIL,
     NIL,
     {NAN, 0},
     true},
    {"real: alpha infinite, sign",
     TESELA_F32,
     2,
     {{1, 0}, {2, 0}},
     {{1, 0}, {1, 0}},
     {INF, 0},
     NIL,
     NIL,
     {-INF, 0},
     false},
    {"real: alpha infinite, NaN",
     TESELA_F32,
     2,
     {{1, 0}, {2, 0}},
     {{1, 0}, {1, 0}},
     {INF, 0},
     NIL,
     NIL,
     {NAN, 0},
     false},
    {"real: terms of both signs",
     TESELA_F64,
     2,
     {{1, 0}, {-2, 0}},
     {{1, 0}, {1, 0}},
     {INF, 0},
     NIL,
     NIL,
     {-INF, 0},
     true},
    {"real: infinity times 0",
     TESELA_F64,
     2,
     {{1, 0}, {-1, 0}},
     {{1, 0}, {1, 0}},
     {INF, 0},
     NIL,
     NIL,
     {NAN, 0},
     true},
    {"real: beta infinite, C0 negative",
     TESELA_F32,
     1,
     {{1, 0}},
     {{1, 0}},
     ONE,
     {INF, 0},
     {-2, 0},
     {-INF, 0},
     true},
    {"real: beta infinite, C0 0", TESELA_F32, 1, {{1, 0}}, {{1, 0}}, ONE, {INF, 0}, {0, 0}, {NAN, 0}, true},
    {"real: infinities meet", TESELA_F32, 1, {{1, 0}}, {{1, 0}}, {INF, 0}, {INF, 0}, {-2, 0}, {NAN, 0}, true},
    {"real: infinities meet, lost",
     TESELA_F32,
     1,
     {{1, 0}},
     {{1, 0}},
     {INF, 0},
     {INF, 0},
     {-2, 0},
     {INF, 0},
     false},
};

static void one_element_at_a_time(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    const trial *one = &trials[i];
    tsl_problem problem = tsl_problem_gemm(1, 1, one->k, one->type);
    unsigned char a[TERMS * 16], b[TERMS * 16], before[16], c[16];
    for (int part = 0; part < 2; part++) {
      problem.alpha[part] = one->alpha[part];
      problem.beta[part] = one->beta[part];
    }
    const size_t size = tsl_type(one->type)->size;
    for (int64_t l = 0; l < one->k; l++) {
      tsl_type_store(one->type, a + (size_t)l * size, one->a[l]);
      tsl_type_store(one->type, b + (size_t)l * size, one->b[l]);
    }
    tsl_type_store(one->type, before, one->before);
    tsl_type_store(one->type, c, one->result);
    const tsl_judge judge = {.factor = 2 * (double)one->k + 4};
    tsl_verdict verdict;
    assert_int_equal(tsl_judge_gemm(&problem, a, b,
                                    tsl_problem_reads(&problem, TSL_OPERAND_C) ? before : NULL, c, &judge,
                                    &verdict),
                     TESELA_OK);
    if (verdict.right != one->right || (verdict.why[0] == '\0') != verdict.right) {
      print_error("%s: judged %s (%s)\n", one->what, verdict.right ? "right" : "wrong", verdict.why);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

/* An element counts once if its real part, its imaginary part or both are wrong. */
static void wrong_elements_count_once(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(2, 2, 1, TESELA_C128);
  const double a[4] = {1, 0, 1, 0}, b[4] = {1, 0, 1, 0}, c[8] = {1, 0, 2, 0, 1, 3, 4, 5};
  const tsl_judge judge = {.factor = 6};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  assert_false(verdict.right);
  assert_int_equal(verdict.checked, 4);
  assert_int_equal(verdict.wrong, 3);
}

/* Conjugates turn signs of infinities as of all numbers. */
static void a_conjugate_turns_infinities(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_C128);
  const double a[2] = {1, INF}, b[2] = {1, 1}, right[2] = {INF, -INF}, wrong[2] = {-INF, INF};
  const tsl_judge judge = {.factor = 6};
  tsl_verdict verdict;
  problem.conjugate_a = true;
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, right, &judge, &verdict), TESELA_OK);
  assert_true(verdict.right);
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, wrong, &judge, &verdict), TESELA_OK);
  assert_false(verdict.right);
}

/* Where arithmetic may flush small numbers to 0, an infinity times such a number may become NaN,
 * and only NaN. The small numbers' contributions may be missing. */
static void small_numbers_may_be_taken_as_0(void **state) {
  (void)state;
  static const struct {
    float a[2], b[2], c[2];
    double turn, flushes; /* alpha's imaginary part */
    bool right;
  } rows[] = {{{INF, 1}, {0x1p-130f, 2}, {NAN, INF}, 1, 0, true},
              {{INF, 1}, {0x1p-130f, 2}, {NAN, NAN}, 1, 0, false},
              {{INF, 1}, {0x1p-130f, 2}, {NAN, NAN}, 1, 0x1p-126, true},
              {{INF, 1}, {0x1p-130f, 2}, {NAN, 0}, 1, 0x1p-126, false},
              {{INF, 1}, {0x1p-120f, 2}, {NAN, NAN}, 1, 0x1p-126, false},
              {{0x1p-130f, 2}, {INF, 1}, {NAN, NAN}, 1, 0x1p-126, true},
              {{1, 0x1p-130f}, {3, 0x1p100f}, {3, 0x1p100f}, 0, 0x1p-126, true},
              {{0x1p-130f, 0}, {0x1p100f, 0}, {0, 0}, 0, 0, false},
              {{0x1p-130f, 0}, {0x1p100f, 0}, {0, 0}, 0, 0x1p-126, true},
              {{0x1p-120f, 0}, {0x1p100f, 0}, {0, 0}, 0, 0x1p-126, false}};
  tsl_problem problem = tsl_problem_gemm(1, 1, 1, TESELA_C64);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tsl_judge judge = {.factor = 6, .flushes = rows[i].flushes};
    tsl_verdict verdict;
    problem.alpha[1] = rows[i].turn;
    assert_int_equal(tsl_judge_gemm(&problem, rows[i].a, rows[i].b, NULL, rows[i].c, &judge, &verdict),
                     TESELA_OK);
    if (verdict.right != rows[i].right)
      fail_msg("row %d: %s", (int)i, verdict.right ? "right" : verdict.why);
  }
}

/* Special data are special in each type that has such numbers: NaN, both infinities and subnormals, in either
 * part. */
static void special_data_are_not_finite(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_BF16, TESELA_C64, TESELA_C128};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const tsl_type_info *type = tsl_type(types[t]);
    const tsl_shape shape = {.type = types[t], .rows = 64, .cols = 64, .row_stride = 64, .col_stride = 1};
    unsigned char *data = malloc(64 * 64 * type->size);
    assert_int_equal(tsl_data_fill(TSL_DATA_SPECIAL, 5, &shape, 8, data), TESELA_OK);
    for (int part = 0; part < (type->is_complex ? 2 : 1); part++) {
      int kinds[TSL_KIND_NAN + 1] = {0}, subnormal = 0;
      for (size_t i = 0; i < 64 * 64; i++) {
        double value[2];
        tsl_type_load(types[t], data + i * type->size, value);
        kinds[tsl_kind_of(value[part])]++;
        subnormal += value[part] != 0 && fabs(value[part]) <= 1000 * type->smallest;
      }
      assert_true(kinds[TSL_KIND_NAN] > 0);
      assert_true(kinds[TSL_KIND_PLUS] > 0);
      assert_true(kinds[TSL_KIND_MINUS] > 0);
      assert_true(kinds[TSL_KIND_FINITE] > 3 * 64 * 64 / 4);
      assert_true(subnormal > 0);
    }
    free(data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_element_at_a_time),        cmocka_unit_test(wrong_elements_count_once),
      cmocka_unit_test(a_conjugate_turns_infinities), cmocka_unit_test(small_numbers_may_be_taken_as_0),
      cmocka_unit_test(special_data_are_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
