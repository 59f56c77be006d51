/* Products of symmetric, hermitian and triangular matrices, and triangles of C, by the public
 * calls. Each structure, triangle, side and layout, on whole numbers, which have one right answer.
 * Elements that must not be read are NaN. */
#include "unit/unit.h"

#include <tesela/tesela.h>

#include "problem/structure.h"
#include "unit/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- matrices as they are stored, in pairs of numbers --- */

enum { MOST = 6, PITCH = 7 };
typedef struct numbers {
  double at[MOST][PITCH][2];
} numbers;

/* Small whole numbers, and another matrix for each seed. */
static numbers drawn(int seed, bool is_complex) {
  numbers made;
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < PITCH; j++) {
      made.at[i][j][0] = (i * 5 + j * 3 + seed * 7) % 11 - 5;
      made.at[i][j][1] = is_complex ? (i * 2 + j * 7 + seed) % 9 - 4 : 0;
    }
  return made;
}

static bool is_beside(tesela_triangle triangle, int i, int j) {
  return (triangle == TESELA_LOWER && i < j) || (triangle == TESELA_UPPER && i > j);
}

/* Stores element (i, j) of a matrix in `out`, by the definition of its structure. */
static void value_of(const numbers *from, tesela_structure structure, tesela_triangle triangle, int i, int j,
                     double out[2]) {
  const bool beside = is_beside(triangle, i, j),
             is_hermitian = structure == TESELA_HERMITIAN || structure == TESELA_HERMITIAN_SUM;
  const double *element = beside ? from->at[j][i] : from->at[i][j];
  out[0] = element[0];
  out[1] = beside && is_hermitian ? -element[1] : element[1];
  if (is_hermitian && i == j)
    out[1] = 0;
  if (beside && (structure == TESELA_TRIANGULAR || structure == TESELA_UNIT_TRIANGULAR))
    out[0] = out[1] = 0;
  if (structure == TESELA_UNIT_TRIANGULAR && i == j) {
    out[0] = 1;
    out[1] = 0;
  }
}

/* Returns the matrix in memory, with NaN where no call may read. The caller frees it. */
static void *stored(const numbers *from, tesela_type type, tesela_structure structure,
                    tesela_triangle triangle) {
  const size_t size = tsl_type(type)->size;
  char *memory = calloc((size_t)MOST * PITCH, size);
  assert_non_null(memory);
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < PITCH; j++) {
      double value[2] = {from->at[i][j][0], from->at[i][j][1]};
      if (is_beside(triangle, i, j) || (structure == TESELA_UNIT_TRIANGULAR && i == j))
        value[0] = value[1] = NAN;
      if (structure == TESELA_HERMITIAN && i == j)
        value[1] = NAN;
      tsl_type_store(type, memory + (size_t)(i * PITCH + j) * size, value);
    }
  return memory;
}

/* --- products --- */

typedef struct way {
  tesela_structure structures[3];
  tesela_triangle triangles[3];
  bool in_place, transposes[3], conjugates[2];
  tesela_type type;
  double alpha[2], beta[2];
} way;

static void multiply(const double x[2], const double y[2], double out[2]) {
  const double real = x[0] * y[0] - x[1] * y[1], imaginary = x[0] * y[1] + x[1] * y[0];
  out[0] = real;
  out[1] = imaginary;
}

/* Element (i, j) of an operand as it takes part. */
static void taken(const way *on, const numbers held[3], int operand, int i, int j, double out[2]) {
  const bool turns = on->transposes[operand];
  value_of(&held[operand], on->structures[operand], on->triangles[operand], turns ? j : i, turns ? i : j,
           out);
  if (operand < 2 && on->conjugates[operand])
    out[1] = -out[1];
}

static int general_of(const way *on) {
  return on->structures[0] == TESELA_GENERAL ? 0 : 1;
}

static void expected(const way *on, const numbers held[3], int k, int i, int j, double out[2]) {
  const tesela_structure result = on->structures[2];
  const bool is_sum = result == TESELA_SYMMETRIC_SUM || result == TESELA_HERMITIAN_SUM;
  double x[2], y[2], sum[2] = {0, 0}, old[2];
  for (int l = 0; l < k && is_sum; l++) {
    taken(on, held, 0, j, l, x);
    taken(on, held, 1, l, i, y);
    multiply(x, y, y);
    sum[0] += y[0];
    sum[1] += result == TESELA_HERMITIAN_SUM ? -y[1] : y[1];
  }
  for (int l = 0; l < k; l++) {
    taken(on, held, on->in_place && general_of(on) == 0 ? 2 : 0, i, l, x);
    taken(on, held, on->in_place && general_of(on) == 1 ? 2 : 1, l, j, y);
    multiply(x, y, y);
    sum[0] += y[0];
    sum[1] += y[1];
  }
  taken(on, held, 2, i, j, old);
  multiply(on->alpha, sum, sum);
  multiply(on->beta, old, old);
  out[0] = sum[0] + old[0];
  out[1] = (result == TESELA_HERMITIAN || result == TESELA_HERMITIAN_SUM) && i == j ? 0 : sum[1] + old[1];
}

static tesela_gemm_desc described(const way *on, const int sizes[3], void *const memory[3]) {
  const int general = on->in_place ? general_of(on) : 3;
  tesela_matrix matrices[2] = {{.data = NULL}, {.data = NULL}};
  for (int i = 0; i < 2; i++)
    if (i != general)
      matrices[i] = (tesela_matrix){.data = memory[i],
                                    .row_stride = PITCH,
                                    .col_stride = 1,
                                    .transpose = on->transposes[i],
                                    .conjugate = on->conjugates[i],
                                    .type = on->type};
  return (tesela_gemm_desc){.m = sizes[0],
                            .n = sizes[1],
                            .k = sizes[2],
                            .a = matrices[0],
                            .b = matrices[1],
                            .c = {.data = memory[2],
                                  .row_stride = PITCH,
                                  .col_stride = 1,
                                  .transpose = on->transposes[2],
                                  .type = on->type},
                            .alpha = on->alpha,
                            .beta = on->beta,
                            .structure.a = on->structures[0],
                            .structure.a_triangle = on->triangles[0],
                            .structure.b = on->structures[1],
                            .structure.b_triangle = on->triangles[1],
                            .structure.c = on->structures[2],
                            .structure.c_triangle = on->triangles[2],
                            .structure.in_place = on->in_place};
}

/* Compares each element of C's memory with the definition, or with its bits from before where it
 * must not change. */
static void compare(const way *on, const numbers held[3], const int sizes[3], const char *before,
                    const char *after) {
  const size_t size = tsl_type(on->type)->size;
  const bool turns = on->transposes[2];
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < PITCH; j++) {
      const size_t at = (size_t)(i * PITCH + j) * size;
      const int row = turns ? j : i, col = turns ? i : j;
      double value[2] = {0, 0}, right[2];
      if (row >= sizes[0] || col >= sizes[1] || is_beside(on->triangles[2], i, j)) {
        assert_memory_equal(before + at, after + at, size);
        continue;
      }
      tsl_type_load(on->type, after + at, value);
      expected(on, held, sizes[2], row, col, right);
      assert_true(value[0] == right[0]);
      assert_true(!tsl_type(on->type)->is_complex || value[1] == right[1]);
    }
}

static void try_way(const way *on) {
  const bool is_complex = tsl_type(on->type)->is_complex, of_c = on->triangles[2] != TESELA_WHOLE;
  const bool by_a = on->structures[0] != TESELA_GENERAL;
  const int sizes[3] = {5, of_c ? 5 : 6, of_c ? 3 : by_a ? 5 : 6};
  const numbers held[3] = {drawn(1, is_complex), drawn(2, is_complex), drawn(3, is_complex)};
  void *memory[3];
  for (int i = 0; i < 3; i++)
    memory[i] = stored(&held[i], on->type, on->structures[i], on->triangles[i]);
  const size_t bytes = (size_t)MOST * PITCH * tsl_type(on->type)->size;
  if (on->beta[0] == 0 && !on->in_place)
    memset(memory[2], 0xff, bytes);
  char *before = malloc(bytes);
  assert_non_null(before);
  memcpy(before, memory[2], bytes);
  const tesela_gemm_desc desc = described(on, sizes, memory);
  must(tesela_gemm(context, &desc, NULL));
  compare(on, held, sizes, before, memory[2]);
  for (int i = 0; i < 3; i++)
    free(memory[i]);
  free(before);
}

/* All types, layouts and conjugates of a kind of product. */
static void try_all(way on) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  for (int t = 0; t < 4; t++)
    for (int turns = 0; turns < 8; turns++)
      for (int conjugates = 0; conjugates < 4; conjugates++)
        for (int scaled = 0; scaled < 2; scaled++) {
          on.type = types[t];
          for (int i = 0; i < 3; i++)
            on.transposes[i] = turns >> i & 1;
          for (int i = 0; i < 2; i++)
            on.conjugates[i] = conjugates >> i & 1;
          const bool is_complex = tsl_type(on.type)->is_complex;
          if ((!is_complex && conjugates) ||
              (on.in_place && (on.conjugates[general_of(&on)] || on.transposes[general_of(&on)])))
            continue;
          on.alpha[0] = scaled ? -2 : 1;
          const bool is_hermitian =
              on.structures[2] == TESELA_HERMITIAN || on.structures[2] == TESELA_HERMITIAN_SUM;
          on.alpha[1] = scaled && is_complex && on.structures[2] != TESELA_HERMITIAN_SUM ? 3 : 0;
          on.beta[0] = scaled && !on.in_place ? 2 : 0;
          on.beta[1] = scaled && is_complex && !on.in_place && !is_hermitian ? -1 : 0;
          try_way(&on);
        }
}

static void factors_have_structures(void **state) {
  (void)state;
  for (int side = 0; side < 2; side++)
    for (int structure = TESELA_SYMMETRIC; structure <= TESELA_UNIT_TRIANGULAR; structure++)
      for (int triangle = TESELA_LOWER; triangle < TESELA_TRIANGLES; triangle++)
        for (int in_place = 0; in_place < 2; in_place++) {
          way on = {.in_place = in_place};
          on.structures[side] = (tesela_structure)structure;
          on.triangles[side] = (tesela_triangle)triangle;
          if (!in_place || structure >= TESELA_TRIANGULAR)
            try_all(on);
        }
}

static void triangles_of_c_are_computed(void **state) {
  (void)state;
  for (int triangle = TESELA_LOWER; triangle < TESELA_TRIANGLES; triangle++)
    for (int i = 0; i < 4; i++) {
      static const tesela_structure results[] = {TESELA_GENERAL, TESELA_HERMITIAN, TESELA_SYMMETRIC_SUM,
                                                 TESELA_HERMITIAN_SUM};
      way on = {.triangles = {TESELA_WHOLE, TESELA_WHOLE, (tesela_triangle)triangle}};
      on.structures[2] = results[i];
      try_all(on);
    }
}

/* --- cached plans --- */

/* Sizes, types and strides are one; each call has its own plan all the same, also where general ones have a
 * short way. */
static void plans_differ_by_structure(void **state) {
  (void)state;
  const float a[] = {2, 3, 5, 7}, b[] = {1, 2, 3, 4};
  float c[4];
  tesela_gemm_desc desc = {.m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3; i++)
      must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 11 && c[1] == 16 && c[2] == 26 && c[3] == 38);
    desc.structure.a = TESELA_SYMMETRIC;
    desc.structure.a_triangle = TESELA_LOWER;
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 17 && c[1] == 24 && c[2] == 26 && c[3] == 38);
    desc.structure.a_triangle = TESELA_UPPER;
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 11 && c[1] == 16 && c[2] == 24 && c[3] == 34);
    desc.structure.a = TESELA_TRIANGULAR;
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 11 && c[1] == 16 && c[2] == 21 && c[3] == 28);
    desc.structure.a = TESELA_GENERAL;
    desc.structure.a_triangle = TESELA_WHOLE;
    memset(c, 0, sizeof c);
    desc.structure.c_triangle = TESELA_LOWER;
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 11 && c[1] == 0 && c[2] == 26 && c[3] == 38);
    desc.structure.c_triangle = TESELA_WHOLE;
    desc.structure.b = TESELA_UNIT_TRIANGULAR;
    desc.structure.b_triangle = TESELA_LOWER;
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == 11 && c[1] == 3 && c[2] == 26 && c[3] == 7);
    desc.structure.b = TESELA_GENERAL;
    desc.structure.b_triangle = TESELA_WHOLE;
  }
}

static void plans_packed_operands_and_batches_have_structures(void **state) {
  (void)state;
  const float nan = NAN, a[] = {2, nan, 5, 7};
  float c[] = {1, 2, 3, 4, 10, 20, 30, 40};
  tesela_plan *plan, *again;
  tesela_packed *packed;
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 2,
                           .a = {.data = a},
                           .c = {.data = c},
                           .structure.a = TESELA_TRIANGULAR,
                           .structure.a_triangle = TESELA_LOWER,
                           .structure.in_place = 1};
  must(tesela_gemm_batched(context, &desc, &(tesela_batch){.count = 2, .c_stride = 4}, NULL));
  assert_true(c[0] == 2 && c[1] == 4 && c[2] == 26 && c[3] == 38 && c[4] == 20 && c[7] == 380);
  must(tesela_plan_create(context, &desc, &plan));
  assert_non_null(strstr(tesela_plan_describe(plan), " a_is=triangular_lower in_place=1"));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .c = &desc.c}, NULL));
  assert_true(c[0] == 4 && c[1] == 8 && c[2] == 192 && c[3] == 286);
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(again), tesela_plan_describe(plan));
  assert_int_equal(tesela_pack(plan, NULL, &desc.a, &packed), TESELA_BAD_CALL);
  must(tesela_pack(plan, &desc.a, NULL, &packed));
  must(tesela_plan_run(again, &(tesela_operands){.a = &(tesela_matrix){.packed = packed}, .c = &desc.c},
                       NULL));
  assert_true(c[0] == 8 && c[1] == 16 && c[2] == 1364 && c[3] == 2042);
  tesela_packed_destroy(packed);
  tesela_plan_destroy(plan);
  tesela_plan_destroy(again);
}

/* alpha = 0 reads no factor, and in place C becomes 0 whatever it holds. */
static void factors_of_0_are_not_read(void **state) {
  (void)state;
  const double none = 0, twice = 2;
  float c[] = {NAN, NAN, NAN, NAN};
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 2,
                           .c = {.data = c},
                           .alpha = &none,
                           .structure.b = TESELA_TRIANGULAR,
                           .structure.b_triangle = TESELA_UPPER,
                           .structure.in_place = 1};
  must(tesela_gemm(context, &desc, NULL));
  assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0);
  float triangle[] = {1, NAN, 2, 3};
  desc = (tesela_gemm_desc){
      .m = 2, .n = 2, .c = {.data = triangle}, .beta = &twice, .structure.c_triangle = TESELA_LOWER};
  must(tesela_gemm(context, &desc, NULL)); /* k = 0 */
  assert_true(triangle[0] == 2 && isnan(triangle[1]) && triangle[2] == 4 && triangle[3] == 6);
}

/* --- what cannot be --- */

static void expect_refused(const tesela_gemm_desc *desc, tesela_status status, const char *words) {
  assert_int_equal(tesela_gemm(context, desc, NULL), status);
  if (!strstr(tesela_last_error(), words))
    fail_msg("'%s' is not in '%s'", words, tesela_last_error());
}

static void contradictions_are_refused(void **state) {
  (void)state;
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 4}, c[4];
  const tesela_gemm_desc general = {
      .m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  tesela_gemm_desc desc = general;
  desc.structure.in_place = 1;
  expect_refused(&desc, TESELA_BAD_CALL, "in place needs a triangular A or B");
  desc.structure.a = TESELA_TRIANGULAR;
  desc.structure.a_triangle = TESELA_LOWER;
  expect_refused(&desc, TESELA_BAD_CALL, "desc.b is given, but in_place multiplies what desc.c holds");
  desc.b = (tesela_matrix){.conjugate = 1};
  expect_refused(&desc, TESELA_BAD_CALL, "desc.b is given");
  desc = general;
  desc.structure.c = TESELA_SYMMETRIC;
  desc.structure.c_triangle = TESELA_LOWER;
  expect_refused(&desc, TESELA_BAD_CALL, "C is symmetric");
  desc = general;
  desc.structure.a_triangle = (tesela_triangle)7;
  desc.a.transpose = 1;
  expect_refused(&desc, TESELA_BAD_CALL, "triangle 7");
  desc = general;
  desc.structure.b = TESELA_SYMMETRIC;
  expect_refused(&desc, TESELA_BAD_CALL, "stored triangle must be specified");
  desc.structure.b_triangle = TESELA_UPPER;
  desc.options.strategy = "host_small";
  expect_refused(&desc, TESELA_UNSUPPORTED, "takes general matrices, and all of C");
}

/* A description's size tells which fields it has: an older program's description has no structures. */
static void older_descriptions_are_general(void **state) {
  (void)state;
  const float a[] = {2, 3, 5, 7}, b[] = {1, 2, 3, 4};
  float c[4];
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 2,
                           .a = {.data = a},
                           .b = {.data = b},
                           .c = {.data = c},
                           .structure.a = TESELA_SYMMETRIC,
                           .structure.a_triangle = TESELA_LOWER};
  must(tesela_call_sized(context, TESELA_GEMM, &desc, NULL, offsetof(tesela_gemm_desc, structure), 0));
  assert_true(c[0] == 11 && c[1] == 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_have_structures),
      cmocka_unit_test(triangles_of_c_are_computed),
      cmocka_unit_test(plans_differ_by_structure),
      cmocka_unit_test(plans_packed_operands_and_batches_have_structures),
      cmocka_unit_test(factors_of_0_are_not_read),
      cmocka_unit_test(contradictions_are_refused),
      cmocka_unit_test(older_descriptions_are_general),
  };
  return cmocka_run_group_tests(tests, context_set_up, context_tear_down);
}
