/* Code shared by strategies that call a BLAS: which layouts BLAS can express, and with which
 * arguments. The test does what BLAS would do with the arguments, and compares with the product
 * itself. */
#include "unit/unit.h"

#include "core/status.h"
#include "strategy/strategy_list.h"
#include "strategy/vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };
static double a_data[ROOM], b_data[ROOM], c_data[ROOM];

static const tsl_strategy strategy = {.name = "by_hand", .op = TSL_OP_GEMM};
static tsl_device device = {.name = "mock"};

typedef struct layout {
  int64_t row_stride, col_stride;
} layout;

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, layout a, layout b, layout c) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, TESELA_F64);
  problem.a.row_stride = a.row_stride, problem.a.col_stride = a.col_stride;
  problem.b.row_stride = b.row_stride, problem.b.col_stride = b.col_stride;
  problem.c.row_stride = c.row_stride, problem.c.col_stride = c.col_stride;
  return problem;
}

static tsl_operands operands_of(const tsl_problem *problem) {
  return (tsl_operands){.a = {a_data, NULL, 0, problem->a.row_stride, problem->a.col_stride},
                        .b = {b_data, NULL, 0, problem->b.row_stride, problem->b.col_stride},
                        .c = {c_data, NULL, 0, problem->c.row_stride, problem->c.col_stride}};
}

/* The definition of BLAS's dgemm, column-major, with its conditions on the leading dimensions. */
static void dgemm(const tsl_blas_product *p) {
  const double *a = p->a->host, *b = p->b->host;
  double *c = p->c->host;
  assert_true(p->a_leading >= (p->a_transposed ? p->k : p->m) && p->a_leading >= 1);
  assert_true(p->b_leading >= (p->b_transposed ? p->n : p->k) && p->b_leading >= 1);
  assert_true(p->c_leading >= p->m && p->c_leading >= 1);
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++) {
      double sum = 0;
      for (int64_t l = 0; l < p->k; l++)
        sum += a[p->a_transposed ? l + i * p->a_leading : i + l * p->a_leading] *
               b[p->b_transposed ? j + l * p->b_leading : l + j * p->b_leading];
      double *element = &c[i + j * p->c_leading];
      *element = p->alpha * sum + (p->beta == 0 ? 0 : p->beta * *element);
    }
}

static void fill(void) {
  for (int i = 0; i < ROOM; i++) {
    a_data[i] = i % 7 - 3;
    b_data[i] = i % 5 - 2;
    c_data[i] = i % 3;
  }
}

static double exact(const tsl_problem *problem, int64_t i, int64_t j, double c) {
  double sum = 0;
  for (int64_t l = 0; l < problem->k; l++)
    sum += a_data[i * problem->a.row_stride + l * problem->a.col_stride] *
           b_data[l * problem->b.row_stride + j * problem->b.col_stride];
  return problem->alpha[0] * sum + problem->beta[0] * c;
}

static void check(tsl_problem problem, const char *what) {
  static double before[ROOM];
  const tsl_work work = {.strategy = &strategy, .problem = problem, .device = &device};
  const tsl_operands operands = operands_of(&problem);
  tsl_blas_product product;
  assert_int_equal(tsl_problem_check(&problem), TESELA_OK);
  if (tsl_blas_refuse(&problem, INT64_MAX))
    fail_msg("%s: %s", what, tsl_blas_refuse(&problem, INT64_MAX));
  assert_int_equal(tsl_blas_product_of(&work, &operands, &product), TESELA_OK);
  fill();
  memcpy(before, c_data, sizeof before);
  dgemm(&product);
  for (int64_t i = 0; i < problem.m; i++)
    for (int64_t j = 0; j < problem.n; j++) {
      const int64_t at = i * problem.c.row_stride + j * problem.c.col_stride;
      if (c_data[at] != exact(&problem, i, j, before[at]))
        fail_msg("%s: element %d, %d is %g", what, (int)i, (int)j, c_data[at]);
      before[at] = c_data[at];
    }
  assert_memory_equal(before, c_data, sizeof before); /* and nothing else */
}

static const int64_t sizes[][3] = {{5, 4, 3}, {1, 4, 3}, {5, 1, 3}, {5, 4, 1}, {1, 1, 3},
                                   {1, 4, 1}, {5, 1, 1}, {1, 1, 1}, {5, 4, 0}, {2, 2, 2}};

/* Row- and column-major, dense and padded, for each operand. */
static void layouts_are_said_rightly(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int which = 0; which < 64; which++) {
      const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
      const int64_t rows[] = {m, k, m}, cols[] = {k, n, n};
      layout layouts[3];
      char what[96];
      for (int i = 0; i < 3; i++) {
        const int kind = which >> 2 * i & 3, pad = kind & 2 ? 3 : 0;
        layouts[i] = kind & 1 ? (layout){1, (rows[i] > 0 ? rows[i] : 1) + pad}
                              : (layout){(cols[i] > 0 ? cols[i] : 1) + pad, 1};
      }
      snprintf(what, sizeof what, "%d x %d x %d, layouts %d", (int)m, (int)n, (int)k, which);
      tsl_problem problem = problem_of(m, n, k, layouts[0], layouts[1], layouts[2]);
      check(problem, what);
      problem.alpha[0] = -2, problem.beta[0] = 3;
      check(problem, what);
      problem.alpha[0] = 0;
      check(problem, what);
    }
}

/* A vector may have any stride, also where the other one, which is never used, is nonsense. */
static void vectors_may_stride(void **state) {
  (void)state;
  check(problem_of(5, 1, 3, (layout){3, 1}, (layout){7, -9}, (layout){4, 0}), "C a column with gaps");
  check(problem_of(1, 5, 3, (layout){0, 4}, (layout){5, 1}, (layout){-1, 6}), "C a row with gaps");
  check(problem_of(5, 4, 1, (layout){9, 0}, (layout){-2, 8}, (layout){4, 1}), "an outer product");
}

static void unread_operands_may_lie_anyhow(void **state) {
  (void)state;
  tsl_problem problem = problem_of(5, 4, 3, (layout){0, -1}, (layout){2, 2}, (layout){4, 1});
  problem.alpha[0] = 0;
  assert_null(tsl_blas_refuse(&problem, INT64_MAX));
  const tsl_operands operands = operands_of(&problem);
  const tsl_work work = {.strategy = &strategy, .problem = problem, .device = &device};
  tsl_blas_product product;
  assert_int_equal(tsl_blas_product_of(&work, &operands, &product), TESELA_OK);
  assert_int_equal(product.k, 0);
  assert_true(product.alpha == 0);
}

static void what_blas_cannot_say_is_refused(void **state) {
  (void)state;
  const layout dense = {1, 5}, strange[] = {{2, 10}, {-1, 5}, {1, -5}, {0, 1}, {1, 0}, {1, 4}, {3, 1}};
  for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
    const tsl_problem a = problem_of(5, 5, 5, strange[i], dense, dense),
                      b = problem_of(5, 5, 5, dense, strange[i], dense),
                      c = problem_of(5, 5, 5, dense, dense, strange[i]);
    const tsl_work work = {.strategy = &strategy, .problem = a, .device = &device};
    const tsl_operands operands = operands_of(&a);
    tsl_blas_product product;
    assert_non_null(strstr(tsl_blas_refuse(&a, INT64_MAX), " of A, 5 x 5"));
    assert_non_null(strstr(tsl_blas_refuse(&b, INT64_MAX), " of B, 5 x 5"));
    assert_non_null(strstr(tsl_blas_refuse(&c, INT64_MAX), " of C, 5 x 5"));
    assert_int_equal(tsl_blas_product_of(&work, &operands, &product), TESELA_UNSUPPORTED);
    assert_non_null(strstr(tesela_last_error(), "by_hand on mock"));
  }
  const tsl_problem empty = problem_of(5, 0, 5, (layout){-1, -1}, dense, dense);
  assert_null(tsl_blas_refuse(&empty, INT64_MAX));
}

static void sizes_are_compared_with_the_interface(void **state) {
  (void)state;
  const int64_t most = INT32_MAX;
  const layout column = {1, most + 1}, row = {most + 1, 1};
  const tsl_problem fits = tsl_problem_gemm(most, 1, 1, TESELA_F64),
                    long_k = tsl_problem_gemm(1, 1, most + 1, TESELA_F64);
  const tsl_problem wide_a = problem_of(3, 3, 3, column, (layout){3, 1}, (layout){3, 1}),
                    wide_b = problem_of(3, 3, 3, (layout){3, 1}, row, (layout){3, 1});
  assert_null(tsl_blas_refuse(&fits, most));
  assert_non_null(
      strstr(tsl_blas_refuse(&long_k, most), "counts to 2147483647, and A, 1 x 2147483648, has 2147483648"));
  assert_non_null(strstr(tsl_blas_refuse(&wide_a, most), "and A, 3 x 3, has 2147483648"));
  assert_non_null(strstr(tsl_blas_refuse(&wide_b, most), "and B, 3 x 3, has 2147483648"));
  assert_null(tsl_blas_refuse(&wide_b, INT64_MAX));
}

/* The name says it, too. */
static void vendors_are_named_so(void **state) {
  (void)state;
  for (int i = 0; tsl_strategy_at(i); i++)
    assert_int_equal(tsl_strategy_at(i)->vendor.load != NULL,
                     strncmp(tsl_strategy_at(i)->name, "vendor_", 7) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_are_said_rightly),
      cmocka_unit_test(vectors_may_stride),
      cmocka_unit_test(unread_operands_may_lie_anyhow),
      cmocka_unit_test(what_blas_cannot_say_is_refused),
      cmocka_unit_test(sizes_are_compared_with_the_interface),
      cmocka_unit_test(vendors_are_named_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
