/* Level 3 by BLAS's names (tesela_level3.h). Compares each call with its definition on whole
 * numbers, which have one right answer, for all types, sides, triangles, transposes and layouts.
 * Elements that must not be read are NaN. */
#include "unit/unit.h"

#include <tesela/tesela_level3.h>

#include "core/types.h"
#include "unit/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- matrices of whole numbers, complex all --- */

enum { M = 5, N = 4, K = 3, PITCH = 7 };
typedef struct number {
  double re, im;
} number;
typedef struct matrix {
  number at[PITCH][PITCH];
} matrix;

static number times(number x, number y) {
  return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static number plus(number x, number y) {
  return (number){x.re + y.re, x.im + y.im};
}

static number conjugated(number x) {
  return (number){x.re, -x.im};
}

static matrix drawn(int seed, bool is_complex) {
  matrix made;
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++)
      made.at[i][j] =
          (number){(i * 5 + j * 3 + seed * 7) % 11 - 5, is_complex ? (i * 2 + j * 7 + seed) % 9 - 4 : 0};
  return made;
}

static matrix transposed(const matrix *matrix_in, bool conjugate) {
  matrix out;
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++)
      out.at[i][j] = conjugate ? conjugated(matrix_in->at[j][i]) : matrix_in->at[j][i];
  return out;
}

static matrix product(const matrix *a, const matrix *b, int k) {
  matrix out;
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++) {
      number sum = {0, 0};
      for (int l = 0; l < k; l++)
        sum = plus(sum, times(a->at[i][l], b->at[l][j]));
      out.at[i][j] = sum;
    }
  return out;
}

static matrix combined(number alpha, const matrix *x, number beta, const matrix *y) {
  matrix out;
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++)
      out.at[i][j] = plus(times(alpha, x->at[i][j]), times(beta, y->at[i][j]));
  return out;
}

static bool is_in(tesela_triangle triangle, int i, int j) {
  return triangle == TESELA_WHOLE || (triangle == TESELA_LOWER ? i >= j : i <= j);
}

/* All of the matrix of which `triangle` is stored. */
static matrix completed(const matrix *from, tesela_structure structure, tesela_triangle triangle) {
  matrix out = *from;
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++) {
      const number other = from->at[j][i];
      if (!is_in(triangle, i, j))
        out.at[i][j] = structure == TESELA_SYMMETRIC   ? other
                       : structure == TESELA_HERMITIAN ? conjugated(other)
                                                       : (number){0, 0};
      if (i == j && structure == TESELA_HERMITIAN)
        out.at[i][j].im = 0;
      if (i == j && structure == TESELA_UNIT_TRIANGULAR)
        out.at[i][j] = (number){1, 0};
    }
  return out;
}

/* --- in memory --- */

typedef struct way {
  tesela_type type;
  tesela_triangle triangle;
  bool by_column, is_complex; /* how all matrices lie */
} way;

static size_t offset_of(const way *on, int i, int j) {
  return (size_t)(on->by_column ? j * PITCH + i : i * PITCH + j) * tsl_type(on->type)->size;
}

/* Returns a stored matrix with NaN outside the triangle, and in the parts of the diagonal that no
 * call may read. The caller frees it. */
static char *stored(const way *on, const matrix *from, tesela_structure structure, tesela_triangle triangle) {
  char *memory = calloc(PITCH * PITCH, tsl_type(on->type)->size);
  assert_non_null(memory);
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++) {
      double value[2] = {from->at[i][j].re, from->at[i][j].im};
      if (!is_in(triangle, i, j) || (i == j && structure == TESELA_UNIT_TRIANGULAR))
        value[0] = value[1] = NAN;
      if (i == j && structure == TESELA_HERMITIAN)
        value[1] = NAN;
      tsl_type_store(on->type, memory + offset_of(on, i, j), value);
    }
  return memory;
}

static tesela_matrix read(const way *on, const void *data) {
  return (tesela_matrix){.data = data,
                         .row_stride = on->by_column ? 1 : PITCH,
                         .col_stride = on->by_column ? PITCH : 1,
                         .type = on->type};
}

static tesela_result written(const way *on, void *data) {
  const tesela_matrix as = read(on, data);
  return (tesela_result){
      .data = data, .row_stride = as.row_stride, .col_stride = as.col_stride, .type = on->type};
}

/* The m x n elements of the triangle are right, and all other bits those from before. */
static void compare(const way *on, const matrix *right, int m, int n, tesela_triangle triangle,
                    const char *before, const char *after) {
  for (int i = 0; i < PITCH; i++)
    for (int j = 0; j < PITCH; j++) {
      const size_t at = offset_of(on, i, j);
      double value[2] = {0, 0};
      if (i >= m || j >= n || !is_in(triangle, i, j)) {
        assert_memory_equal(before + at, after + at, tsl_type(on->type)->size);
        continue;
      }
      tsl_type_load(on->type, after + at, value);
      if (value[0] != right->at[i][j].re || (on->is_complex && value[1] != right->at[i][j].im))
        fail_msg("(%d, %d) is %g%+gi and should be %g%+gi", i, j, value[0], value[1], right->at[i][j].re,
                 right->at[i][j].im);
    }
}

typedef void trial(const way *on);

static void each_way(trial *try) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  for (int t = 0; t < 4; t++)
    for (int triangle = TESELA_LOWER; triangle < TESELA_TRIANGLES; triangle++)
      for (int by_column = 0; by_column < 2; by_column++)
        try(&(way){.type = types[t],
                   .triangle = (tesela_triangle)triangle,
                   .by_column = by_column,
                   .is_complex = tsl_type(types[t])->is_complex});
}

static void *copy_of(const void *memory, const way *on) {
  const size_t bytes = PITCH * PITCH * tsl_type(on->type)->size;
  void *copy = malloc(bytes);
  assert_non_null(copy);
  return memcpy(copy, memory, bytes);
}

static const double alpha_pair[] = {-2, 3}, beta_pair[] = {2, -1};

static number scalar(const way *on, const double pair[2], bool real) {
  return (number){pair[0], on->is_complex && !real ? pair[1] : 0};
}

/* --- a factor with a structure --- */

typedef tesela_status call(tesela_context *on, const tesela_gemm_desc *desc, tesela_record *record);

/* C = alpha A B + beta C: of M x M by M x N, or M x N by N x N. */
static void try_factor(const way *on, call *calls, tesela_structure structure, bool right) {
  const matrix square = drawn(1, on->is_complex), other = drawn(2, on->is_complex),
               c = drawn(3, on->is_complex);
  const matrix full = completed(&square, structure, on->triangle);
  const matrix sum = right ? product(&other, &full, N) : product(&full, &other, M);
  const number alpha = scalar(on, alpha_pair, false), beta = scalar(on, beta_pair, false);
  const matrix expected = combined(alpha, &sum, beta, &c);
  char *const s = stored(on, &square, structure, on->triangle);
  char *const o = stored(on, &other, TESELA_GENERAL, TESELA_WHOLE);
  char *const r = stored(on, &c, TESELA_GENERAL, TESELA_WHOLE), *const before = copy_of(r, on);
  tesela_gemm_desc desc = {.m = M,
                           .n = N,
                           .a = read(on, right ? o : s),
                           .b = read(on, right ? s : o),
                           .c = written(on, r),
                           .alpha = alpha_pair,
                           .beta = beta_pair};
  *(right ? &desc.structure.b_triangle : &desc.structure.a_triangle) = on->triangle;
  must(calls(context, &desc, NULL));
  compare(on, &expected, M, N, TESELA_WHOLE, before, r);
  free(s);
  free(o);
  free(r);
  free(before);
}

static void try_symmetric(const way *on) {
  for (int right = 0; right < 2; right++) {
    try_factor(on, tesela_symm, TESELA_SYMMETRIC, right);
    try_factor(on, tesela_hemm, TESELA_HERMITIAN, right);
  }
}

static void one_factor_is_symmetric_or_hermitian(void **state) {
  (void)state;
  each_way(try_symmetric);
}

/* C = alpha A C or alpha C B; the triangle transposed (and conjugated), too. */
static void try_triangle(const way *on, bool right, bool unit, bool transposes, bool conjugates) {
  const tesela_structure structure = unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
  const matrix square = drawn(1, on->is_complex), c = drawn(3, on->is_complex), none = {{{{0, 0}}}};
  const matrix whole = completed(&square, structure, on->triangle);
  const matrix full = transposes ? transposed(&whole, conjugates) : whole;
  const matrix sum = right ? product(&c, &full, N) : product(&full, &c, M);
  const matrix expected = combined(scalar(on, alpha_pair, false), &sum, (number){0, 0}, &none);
  char *const s = stored(on, &square, structure, on->triangle);
  char *const r = stored(on, &c, TESELA_GENERAL, TESELA_WHOLE), *const before = copy_of(r, on);
  tesela_gemm_desc desc = {.m = M, .n = N, .c = written(on, r), .alpha = alpha_pair};
  tesela_matrix *const factor = right ? &desc.b : &desc.a;
  *factor = read(on, s);
  factor->transpose = transposes;
  factor->conjugate = conjugates;
  *(right ? &desc.structure.b_triangle : &desc.structure.a_triangle) = on->triangle;
  if (unit)
    *(right ? &desc.structure.b : &desc.structure.a) = structure;
  must(tesela_trmm(context, &desc, NULL));
  compare(on, &expected, M, N, TESELA_WHOLE, before, r);
  /* The solve of the product is exact where the diagonal is ones: it returns the product's input. */
  if (unit) {
    const matrix twice = combined((number){2, 0}, &c, (number){0, 0}, &none);
    const double doubled[] = {2, 0}, one[] = {1, 0};
    desc.alpha = one;
    memcpy(r, before, PITCH * PITCH * tsl_type(on->type)->size);
    must(tesela_trmm(context, &desc, NULL));
    const tesela_solve_desc solve = {.rows = M,
                                     .cols = N,
                                     .a = *factor,
                                     .structure = structure,
                                     .triangle = on->triangle,
                                     .right = right,
                                     .x = desc.c,
                                     .alpha = doubled};
    must(tesela_trsm(context, &solve, NULL));
    compare(on, &twice, M, N, TESELA_WHOLE, before, r);
  }
  free(s);
  free(r);
  free(before);
}

static void try_triangles(const way *on) {
  for (int right = 0; right < 2; right++)
    for (int unit = 0; unit < 2; unit++)
      for (int op = 0; op < (on->is_complex ? 3 : 2); op++)
        try_triangle(on, right, unit, op > 0, op > 1);
}

static void triangles_multiply_and_solve_in_place(void **state) {
  (void)state;
  each_way(try_triangles);
}

/* --- updates --- */

typedef struct update {
  call *calls;
  bool two, hermitian;
} update;

/* `turned`: K x N matrices are stored, whose transposes (or conjugate transposes) are meant. */
static void try_update(const way *on, const update *update_in, bool turned) {
  const bool hermitian = update_in->hermitian && on->is_complex;
  const number alpha = scalar(on, alpha_pair, hermitian && !update_in->two),
               beta = scalar(on, beta_pair, hermitian);
  const tesela_structure structure = hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
  const matrix a0 = drawn(1, on->is_complex), b0 = drawn(2, on->is_complex), c = drawn(3, on->is_complex);
  const matrix a = turned ? transposed(&a0, hermitian) : a0, b = turned ? transposed(&b0, hermitian) : b0;
  const matrix first = transposed(update_in->two ? &b : &a, hermitian), second = transposed(&a, hermitian);
  const matrix ab = product(&a, &first, K), ba = product(&b, &second, K);
  const number swapped = !update_in->two ? (number){0, 0} : hermitian ? conjugated(alpha) : alpha;
  const matrix sum = combined(alpha, &ab, swapped, &ba);
  matrix old = c;
  for (int i = 0; hermitian && i < PITCH; i++)
    old.at[i][i].im = 0;
  const matrix expected = combined((number){1, 0}, &sum, beta, &old);
  char *const s = stored(on, &a0, TESELA_GENERAL, TESELA_WHOLE);
  char *const o = stored(on, &b0, TESELA_GENERAL, TESELA_WHOLE);
  char *const r = stored(on, &c, structure, on->triangle), *const before = copy_of(r, on);
  tesela_gemm_desc desc = {.n = N,
                           .k = K,
                           .a = read(on, s),
                           .c = written(on, r),
                           .alpha = alpha_pair,
                           .beta = beta_pair,
                           .structure.c_triangle = on->triangle};
  if (update_in->two)
    desc.b = read(on, o);
  desc.a.transpose = desc.b.transpose = turned;
  desc.a.conjugate = desc.b.conjugate = turned && hermitian;
  tesela_record record = {.seconds = -1};
  must(update_in->calls(context, &desc, &record));
  compare(on, &expected, N, N, on->triangle, before, r);
  assert_true(record.seconds >= 0 && record.error_bound >= 0 && record.plan);
  free(s);
  free(o);
  free(r);
  free(before);
}

static const update updates[] = {{tesela_syrk, false, false},
                                 {tesela_herk, false, true},
                                 {tesela_syr2k, true, false},
                                 {tesela_her2k, true, true}};
enum { UPDATES = sizeof updates / sizeof *updates };

static void try_updates(const way *on) {
  for (int i = 0; i < UPDATES; i++)
    for (int turned = 0; turned < 2; turned++)
      try_update(on, &updates[i], turned);
}

static void updates_have_symmetric_results(void **state) {
  (void)state;
  each_way(try_updates);
}

/* Without alpha and beta the sum alone is the result, and C is not read. */
static void zero_is_the_default(void **state) {
  (void)state;
  const float a[] = {1, 2, 3, 4, 5, 6};
  float c[4] = {NAN, NAN, NAN, NAN};
  tesela_gemm_desc desc = {.n = 2,
                           .k = 3,
                           .a = {.data = a},
                           .b = {.data = a},
                           .c = {.data = c},
                           .structure.c_triangle = TESELA_LOWER};
  for (int i = 0; i < UPDATES; i++) {
    const float times = updates[i].two ? 2 : 1;
    c[0] = c[1] = c[2] = c[3] = NAN;
    must(updates[i].calls(context, &desc, NULL));
    assert_true(c[0] == 14 * times && isnan(c[1]) && c[2] == 32 * times && c[3] == 77 * times);
  }
  desc.structure.c_triangle = TESELA_WHOLE;
  must(tesela_syrk(context, &desc, NULL));
  assert_true(c[0] == 14 && c[1] == 32 && c[2] == 32 && c[3] == 77);
}

/* An update of rank 2k promises what sums of twice as many terms do; where it is two products, what their
 * roundings add up to. */
static void updates_of_rank_2k_have_one_record(void **state) {
  (void)state;
  const float a[] = {1, 2, 3, 4};
  float c[4];
  tesela_record one, both;
  tesela_gemm_desc desc = {.n = 2,
                           .k = 2,
                           .a = {.data = a},
                           .b = {.data = a},
                           .c = {.data = c},
                           .structure.c_triangle = TESELA_UPPER};
  must(tesela_syrk(context, &desc, &one));
  must(tesela_syr2k(context, &desc, &both));
  assert_true(both.error_bound > one.error_bound && both.error_bound < 2.001 * one.error_bound);
  desc.structure.c_triangle = TESELA_WHOLE;
  must(tesela_syrk(context, &desc, &one));
  must(tesela_syr2k(context, &desc, &both));
  assert_true(one.error_bound > 0 && both.error_bound >= 2 * one.error_bound);
  assert_true(both.error_bound < 2.001 * one.error_bound);
}

/* --- error messages use the names of the called function --- */

static void mistakes_are_named(void **state) {
  (void)state;
  float a[4] = {1, 2, 3, 4}, c[4] = {5, 6, 7, 8};
  const tesela_gemm_desc square = {
      .m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = a}, .c = {.data = c}};
  tesela_gemm_desc desc = square;
  call *const all[] = {tesela_symm, tesela_hemm,  tesela_trmm, tesela_syrk,
                       tesela_herk, tesela_syr2k, tesela_her2k};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    expect(all[i](context, NULL, NULL), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_trsm(context, NULL, NULL), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_symm(context, &desc, NULL), TESELA_BAD_CALL, "stored triangle must be specified");
  desc.structure.a_triangle = TESELA_LOWER;
  expect(tesela_trmm(context, &desc, NULL), TESELA_BAD_CALL, "desc.b is given");
  desc.structure.b_triangle = TESELA_LOWER;
  expect(tesela_symm(context, &desc, NULL), TESELA_BAD_CALL, "B is general");
  desc = square;
  desc.structure.a_triangle = TESELA_LOWER;
  desc.k = 3;
  expect(tesela_symm(context, &desc, NULL), TESELA_BAD_CALL, "");
  desc = square;
  desc.structure.c_triangle = TESELA_LOWER;
  desc.m = 3;
  expect(tesela_syrk(context, &desc, NULL), TESELA_BAD_CALL, "must be square");
  assert_true(c[0] == 5 && c[1] == 6 && c[2] == 7 && c[3] == 8);
  const tesela_solve_desc solve = {
      .rows = 2, .cols = 2, .a = {.data = a}, .b = {.data = a}, .x = {.data = c}, .triangle = TESELA_LOWER};
  expect(tesela_trsm(context, &solve, NULL), TESELA_BAD_CALL, "desc.b is given");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_factor_is_symmetric_or_hermitian),
      cmocka_unit_test(triangles_multiply_and_solve_in_place),
      cmocka_unit_test(updates_have_symmetric_results),
      cmocka_unit_test(zero_is_the_default),
      cmocka_unit_test(updates_of_rank_2k_have_one_record),
      cmocka_unit_test(mistakes_are_named),
  };
  return cmocka_run_group_tests(tests, context_set_up, context_tear_down);
}
