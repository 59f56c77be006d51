#include "unit/host_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

host_product host_product_of(const tsl_problem *problem) {
  host_product made = {.problem = *problem};
  tsl_operand *const operands[] = {&made.operands.a, &made.operands.b, &made.operands.c};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    *operands[i] = (tsl_operand){.row_stride = shape->row_stride, .col_stride = shape->col_stride};
    made.memory[i] = test_matrix(shape, &operands[i]->host);
    assert_non_null(made.memory[i]);
    tsl_random_fill(TSL_DRAW_NORMAL, (uint64_t)i, 0, shape->type, made.memory[i],
                    (size_t)tsl_shape_extent(shape));
  }
  made.c_bytes = (size_t)tsl_shape_extent(&problem->c) * tsl_type(problem->c.type)->size;
  return made;
}

void host_product_free(host_product *product) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    free(product->memory[i]);
}

void *host_product_keep(const host_product *product) {
  void *kept = malloc(product->c_bytes);
  assert_non_null(kept);
  return memcpy(kept, product->memory[TSL_OPERAND_C], product->c_bytes);
}

void host_product_restore(const host_product *product, const void *kept) {
  memcpy(product->memory[TSL_OPERAND_C], kept, product->c_bytes);
}

void expect_same_bits(const host_product *product, const void *kept) {
  assert_memory_equal(product->memory[TSL_OPERAND_C], kept, product->c_bytes);
}

void expect_right_sums(const host_product *product, const void *before, double factor) {
  const tsl_problem *problem = &product->problem;
  const tsl_judge judge = {.factor = factor, .operations_max = 1 << 20, .seed = 1};
  const int64_t below = tsl_shape_below(&problem->c) * (int64_t)tsl_type(problem->c.type)->size;
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_result(problem, product->operands.a.host, product->operands.b.host,
                                    before ? (const char *)before + below : NULL, product->operands.c.host,
                                    &judge, &verdict),
                   TESELA_OK);
  if (!verdict.right)
    print_error("%lld x %lld x %lld: %s\n", (long long)problem->m, (long long)problem->n,
                (long long)problem->k, verdict.why);
  assert_true(verdict.right);
}

void by_columns(tsl_shape *shape) {
  shape->row_stride = 1;
  shape->col_stride = shape->rows;
}

void expect_beta_c(tesela_status (*multiply)(const tsl_problem *problem, const tsl_operands *operands)) {
  for (int64_t m = 3; m < 20; m += 16) {
    double c[400];
    tsl_problem problem = tsl_problem_gemm(m, 20, 3, TESELA_F64);
    problem.alpha[0] = 0;
    problem.beta[0] = 2;
    const tsl_operands operands = {.a = {.row_stride = 3, .col_stride = 1},
                                   .b = {.row_stride = 20, .col_stride = 1},
                                   .c = {.host = c, .row_stride = 20, .col_stride = 1}};
    for (int i = 0; i < 400; i++)
      c[i] = i;
    assert_int_equal(multiply(&problem, &operands), TESELA_OK);
    for (int64_t i = 0; i < 400; i++)
      assert_true(c[i] == (i < 20 * m ? 2 * (double)i : (double)i));
    problem.alpha[0] = INFINITY;
    problem.k = 0;
    problem.beta[0] = 0;
    assert_int_equal(multiply(&problem, &operands), TESELA_OK);
    assert_true(c[0] == 0 && c[20 * m - 1] == 0);
  }
}
