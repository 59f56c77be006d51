/* The public calls for solves with triangles on the cpu: every side, triangle, transpose and type against
 * products of integers, errors, plans. */
#include "unit/unit.h"

#include <tesela/tesela.h>

#include "core/types.h"
#include "unit/context.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5, COLS = 3, MOST = 5, PAD = 7 };

/* One way to call: bits of a number. */
typedef struct way {
  bool right, upper, unit, transposed, conjugated, in_place, by_columns;
  tesela_type type;
} way;

static void put(tesela_type type, void *data, int64_t place, double re, double im) {
  const double value[2] = {re, im};
  tsl_type_store(type, (char *)data + place * (int64_t)tsl_type(type)->size, value);
}

/* Element (i, j) of the triangle as it takes part, by the matrix that is stored: its place is `row` and
 * `col`. */
static void element_of_a(const way *how, int i, int j, double out[2]) {
  const int row = how->transposed ? j : i, col = how->transposed ? i : j;
  const bool is_there = how->upper ? row <= col : row >= col;
  out[0] = !is_there ? 0 : i == j ? (how->unit ? 1 : i % 2 ? -2 : 4) : row - 2 * col + 3;
  out[1] = !is_there || i == j || !tsl_type(how->type)->is_complex ? 0 : row + col - 2;
  if (how->conjugated)
    out[1] = -out[1];
}

/* Stores A, with NaN where no element may be read. */
static void store_a(const way *how, int size, void *a) {
  for (int i = 0; i < PAD * PAD; i++)
    put(how->type, a, i, NAN, NAN);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) {
      double value[2];
      const int row = how->transposed ? j : i, col = how->transposed ? i : j;
      element_of_a(how, i, j, value);
      if ((how->upper ? row <= col : row >= col) && !(how->unit && i == j))
        put(how->type, a, row * PAD + col, value[0], how->conjugated ? -value[1] : value[1]);
    }
}

static double solution(int i, int j, int part) {
  return part == 0 ? 2 * i - 3 * j + 1 : i + j - 2;
}

/* B of X, so that the solution is X times alpha = 2. */
static void store_b(const way *how, void *b) {
  const bool is_complex = tsl_type(how->type)->is_complex;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      double sum[2] = {0, 0};
      for (int l = 0; l < (how->right ? COLS : ROWS); l++) {
        double a[2];
        element_of_a(how, how->right ? l : i, how->right ? j : l, a);
        const double re = how->right ? solution(i, l, 0) : solution(l, j, 0), im = !is_complex ? 0
                                                                                   : how->right
                                                                                       ? solution(i, l, 1)
                                                                                       : solution(l, j, 1);
        sum[0] += a[0] * re - a[1] * im;
        sum[1] += a[0] * im + a[1] * re;
      }
      put(how->type, b, how->by_columns ? i + j * PAD : i * PAD + j, sum[0], sum[1]);
    }
}

static void solve(const way *how) {
  double a[2 * PAD * PAD], b[2 * PAD * PAD], x[2 * PAD * PAD];
  const double alpha[2] = {2, 0};
  store_a(how, how->right ? COLS : ROWS, a);
  memset(b, 0, sizeof b);
  memset(x, 0xff, sizeof x); /* NaN */
  store_b(how, how->in_place ? x : b);
  const int64_t row_stride = how->by_columns ? 1 : PAD, col_stride = how->by_columns ? PAD : 1;
  tesela_solve_desc desc = {.rows = ROWS,
                            .cols = COLS,
                            .a = {.data = a,
                                  .row_stride = PAD,
                                  .col_stride = 1,
                                  .type = how->type,
                                  .transpose = how->transposed,
                                  .conjugate = how->conjugated},
                            .structure = how->unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR,
                            .triangle = how->upper ? TESELA_UPPER : TESELA_LOWER,
                            .right = how->right,
                            .x = {.data = x, .row_stride = row_stride, .col_stride = col_stride},
                            .in_place = how->in_place,
                            .alpha = alpha};
  if (!how->in_place)
    desc.b = (tesela_matrix){.data = b, .row_stride = row_stride, .col_stride = col_stride};
  must(tesela_solve(context, &desc, NULL));
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      double value[2];
      const int64_t place = how->by_columns ? i + j * PAD : i * PAD + j;
      tsl_type_load(how->type, (char *)x + place * (int64_t)tsl_type(how->type)->size, value);
      assert_true(value[0] == 2 * solution(i, j, 0));
      assert_true(!tsl_type(how->type)->is_complex || value[1] == 2 * solution(i, j, 1));
    }
}

static void every_way_solves_exactly(void **state) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  (void)state;
  for (int t = 0; t < 4; t++)
    for (unsigned bits = 0; bits < 128; bits++) {
      const way how = {bits & 1, bits & 2, bits & 4, bits & 8, bits & 16, bits & 32, bits & 64, types[t]};
      if (!how.conjugated || tsl_type(how.type)->is_complex)
        solve(&how);
    }
}

static void singular_diagonals_follow_ieee(void **state) {
  (void)state;
  const double a[] = {0, 9, 1, 1}, b[] = {-1, 0};
  double x[2];
  const tesela_solve_desc desc = {.rows = 2,
                                  .cols = 1,
                                  .a = {.data = a, .type = TESELA_F64},
                                  .triangle = TESELA_LOWER,
                                  .b = {.data = b},
                                  .x = {.data = x}};
  must(tesela_solve(context, &desc, NULL));
  assert_true(x[0] == -INFINITY && x[1] == INFINITY);
}

/* The reciprocal of a subnormal number is infinite. */
static void far_diagonals_are_divided_by(void **state) {
  static const char *const strategies[] = {"sequential", "host_blocked"};
  (void)state;
  for (int s = 0; s < 2; s++)
    for (int parts = 1; parts <= 2; parts++) {
      const double a[2] = {1e-310, 0}, b[2] = {2e-310, 0};
      double x[2] = {NAN, 0};
      const tesela_solve_desc desc = {.rows = 1,
                                      .cols = 1,
                                      .a = {.data = a, .type = parts == 1 ? TESELA_F64 : TESELA_C128},
                                      .triangle = TESELA_LOWER,
                                      .b = {.data = b},
                                      .x = {.data = x},
                                      .options.strategy = strategies[s]};
      must(tesela_solve(context, &desc, NULL));
      assert_true(x[0] == 2 && x[1] == 0);
    }
}

/* --- few right-hand sides --- */

enum { LINES = 197, LINE_PAD = LINES + 4 }; /* complex sums are joined after 96 columns, and after 192 */

static double drawn(int i, int j) {
  return (double)((i * 7919 + j * 104729) % 1009) / 1009 - 0.4;
}

/* Stores a triangle with NaN outside it, and NaN on the diagonal where the diagonal is ones. The
 * rows keep the results' magnitudes. */
static void store_line(const way *how, int size, void *a) {
  for (int i = 0; i < (size + 2) * LINE_PAD; i++)
    put(how->type, a, i, NAN, NAN);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      if ((how->upper ? i <= j : i >= j) && !(how->unit && i == j))
        put(how->type, a, how->by_columns ? i + j * LINE_PAD : i * LINE_PAD + j,
            i == j ? 1 + drawn(i, j) / 4 : drawn(i, j) / size, drawn(j + 1, i) / size);
}

/* The first of `cols` columns of X, each `LINE_PAD` numbers long. */
static void solve_columns(const way *how, int size, int cols, const void *a, void *x) {
  const bool is_complex = how->type == TESELA_C64 || how->type == TESELA_C128;
  const double alpha[2] = {0.3, is_complex ? 0.1 : 0};
  const tesela_solve_desc desc = {.rows = size,
                                  .cols = cols,
                                  .a = {.data = a,
                                        .row_stride = how->by_columns ? 1 : LINE_PAD,
                                        .col_stride = how->by_columns ? LINE_PAD : 1,
                                        .type = how->type,
                                        .transpose = how->transposed,
                                        .conjugate = how->conjugated},
                                  .structure = how->unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR,
                                  .triangle = how->upper ? TESELA_UPPER : TESELA_LOWER,
                                  .x = {.data = x, .row_stride = 1, .col_stride = LINE_PAD},
                                  .in_place = 1,
                                  .alpha = alpha,
                                  .options.strategy = "host_blocked"};
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < LINE_PAD; i++)
      put(how->type, x, j * LINE_PAD + i, drawn(i, 3 + j), drawn(i, 7 + j));
  must(tesela_solve(context, &desc, NULL));
}

/* Few right-hand sides have kernels of their own. Each column has the same bits as among many
 * columns, and the memory after it is unchanged. */
static void few_right_hand_sides_have_the_bits_of_many(void **state) {
  enum { LINES_MOST = 4, MORE = 9 };
  static double a[2 * LINE_PAD * LINE_PAD], few[2 * LINES_MOST * LINE_PAD], among[2 * MORE * LINE_PAD];
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  static const int sizes[] = {5, 16, 31, 32, 33, 48, 62, 101, 150, LINES};
  (void)state;
  for (int s = 0; s < 10; s++)
    for (unsigned bits = 0; bits < 128; bits++) {
      const way how = {.upper = bits & 1,
                       .unit = bits & 2,
                       .transposed = bits & 4,
                       .by_columns = bits & 8,
                       .conjugated = (bits & 16) && bits >= 64,
                       .type = types[bits / 32]};
      store_line(&how, sizes[s], a);
      solve_columns(&how, sizes[s], MORE, a, among);
      for (int cols = 1; cols <= LINES_MOST; cols++) {
        solve_columns(&how, sizes[s], cols, a, few);
        assert_memory_equal(few, among, (size_t)cols * LINE_PAD * tsl_type(how.type)->size);
      }
      double last[2];
      tsl_type_load(how.type, (char *)few + (sizes[s] - 1) * (int64_t)tsl_type(how.type)->size, last);
      assert_true(isfinite(last[0]) && last[0] != 0);
    }
}

/* --- bits of a column, among few and many, and by several threads --- */

enum { TALL = 230, MANY = 150, FEW = 3, THREADS = 5 };

static void store_tall(tesela_type type, bool by_columns, void *a) {
  for (int i = 0; i < TALL; i++)
    for (int j = 0; j < TALL; j++) {
      const double scale = i == j ? 0.25 : j < i ? 1.0 / TALL : NAN;
      put(type, a, by_columns ? i + j * TALL : i * TALL + j, (i == j) + drawn(i, j) * scale,
          drawn(j, i) * scale);
    }
}

static void solve_tall(tesela_context *by, tesela_type type, bool by_columns, int cols, const void *a,
                       void *x) {
  const double alpha[2] = {1, 0};
  const tesela_solve_desc desc = {.rows = TALL,
                                  .cols = cols,
                                  .a = {.data = a,
                                        .row_stride = by_columns ? 1 : TALL,
                                        .col_stride = by_columns ? TALL : 1,
                                        .type = type},
                                  .structure = TESELA_TRIANGULAR,
                                  .triangle = TESELA_LOWER,
                                  .x = {.data = x, .row_stride = 1, .col_stride = TALL},
                                  .in_place = 1,
                                  .alpha = alpha,
                                  .options.strategy = "host_blocked"};
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < TALL; i++)
      put(type, x, j * TALL + i, drawn(i, 3 + j), drawn(5 + j, i));
  must(tesela_solve(by, &desc, NULL));
}

/* Few right-hand sides are solved on A as it lies, many on copies of it, and threads make many into few. */
static void columns_have_the_same_bits_in_any_company(void **state) {
  static double a[2 * TALL * TALL], one[2 * TALL * MANY], other[2 * TALL * MANY];
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  tesela_context *alone, *several;
  (void)state;
  must(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &alone));
  must(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = THREADS}, &several));
  for (int form = 0; form < 8; form++) {
    const tesela_type type = types[form / 2];
    const size_t column = TALL * tsl_type(type)->size;
    store_tall(type, form % 2, a);
    solve_tall(alone, type, form % 2, MANY, a, one);
    solve_tall(alone, type, form % 2, FEW, a, other);
    assert_memory_equal(one, other, FEW * column);
    solve_tall(several, type, form % 2, MANY, a, other);
    assert_memory_equal(one, other, MANY * column);
  }
  tesela_context_destroy(alone);
  tesela_context_destroy(several);
}

static void mistakes_have_sentences(void **state) {
  (void)state;
  float a[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, b[9] = {0}, x[9];
  const tesela_solve_desc good = {
      .rows = 3, .cols = 3, .a = {.data = a}, .triangle = TESELA_UPPER, .b = {.data = b}, .x = {.data = x}};
  tesela_solve_desc desc = good;
  must(tesela_solve(context, &desc, NULL));
  desc.triangle = TESELA_WHOLE;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "stored triangle must be specified");
  desc = good;
  desc.structure = TESELA_SYMMETRIC;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "a solve needs a triangular");
  desc = good;
  desc.in_place = 1;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "desc.b is given");
  desc = good;
  desc.x.data = b;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "overlaps");
  desc = good;
  desc.a.type = TESELA_F16;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "f32, f64, c64 or c128");
  desc = good;
  desc.b.conjugate = 1;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "desc.b.conjugate");
  desc = good;
  desc.rows = -1;
  expect(tesela_solve(context, &desc, NULL), TESELA_BAD_CALL, "desc.rows");
}

static void plans_run_and_are_text(void **state) {
  (void)state;
  double a[4] = {2, NAN, 1, 4}, b[2] = {2, 9}, x[2];
  const tesela_solve_desc desc = {.rows = 2,
                                  .cols = 1,
                                  .a = {.data = a, .type = TESELA_F64},
                                  .triangle = TESELA_LOWER,
                                  .b = {.data = b},
                                  .x = {.data = x},
                                  .options.strategy = "sequential"};
  const tesela_matrix am = {.data = a}, bm = {.data = b};
  const tesela_result xm = {.data = x};
  tesela_plan *plan, *again;
  tesela_record record;
  must(tesela_plan_create_solve(context, &desc, &plan));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &am, .b = &bm, .c = &xm}, &record));
  assert_true(x[0] == 1 && x[1] == 2);
  assert_non_null(strstr(record.plan, "solve sequential "));
  assert_non_null(strstr(record.plan, "a_is=triangular_lower"));
  must(tesela_plan_parse(context, record.plan, &again));
  x[0] = x[1] = 0;
  must(tesela_plan_run(again, &(tesela_operands){.a = &am, .b = &bm, .c = &xm}, NULL));
  assert_true(x[0] == 1 && x[1] == 2);
  expect(tesela_plan_run(
             again,
             &(tesela_operands){
                 .a = &am, .b = &bm, .c = &xm, .epilogue = &(tesela_epilogue){.bias_axis = TESELA_NO_BIAS}},
             NULL),
         TESELA_BAD_CALL, "for a solve");
  tesela_plan_destroy(again);
  tesela_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_solves_exactly),
      cmocka_unit_test(singular_diagonals_follow_ieee),
      cmocka_unit_test(far_diagonals_are_divided_by),
      cmocka_unit_test(mistakes_have_sentences),
      cmocka_unit_test(plans_run_and_are_text),
      cmocka_unit_test(few_right_hand_sides_have_the_bits_of_many),
      cmocka_unit_test(columns_have_the_same_bits_in_any_company),
  };
  return cmocka_run_group_tests(tests, context_set_up, context_tear_down);
}
