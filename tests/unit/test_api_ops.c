/* The public calls for dots and transposes on the cpu: defaults, layouts, errors, plans. */
#include "unit/unit.h"

#include <tesela/tesela.h>

#include "strategy/strategy.h"
#include "unit/context.h"

#include <string.h>

/* --- dots --- */

static float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};

static void dots_have_defaults(void **state) {
  (void)state;
  float result = -1;
  const tesela_dot_desc desc = {.n = 4, .x = {.data = x}, .y = {.data = y}, .result = {.data = &result}};
  tesela_record record;
  must(tesela_dot(context, &desc, &record));
  assert_true(result == 70);
  assert_non_null(strstr(record.plan, "dot "));
  assert_true(record.error_bound > 0 && record.error_bound < 1e-5);
}

static void dots_take_strides_and_scalars(void **state) {
  (void)state;
  double v[] = {1, 2, 3, 4, 5, 6}, result = 10;
  const double alpha = 2, beta = -1;
  const tesela_dot_desc desc = {.n = 3,
                                .x = {.data = v, .stride = 2, .type = TESELA_F64},
                                .y = {.data = v + 5, .stride = -2},
                                .result = {.data = &result},
                                .alpha = &alpha,
                                .beta = &beta};
  must(tesela_dot(context, &desc, NULL));
  assert_true(result == 2 * (1 * 6 + 3 * 4 + 5 * 2) - 10);
}

static void empty_dots_are_zero(void **state) {
  (void)state;
  float result = 5;
  const tesela_dot_desc desc = {.result = {.data = &result}};
  must(tesela_dot(context, &desc, NULL));
  assert_true(result == 0);
}

static void wrong_dots_are_refused(void **state) {
  (void)state;
  float result = 5;
  tesela_dot_desc desc = {.n = 4, .x = {.data = x}, .result = {.data = &result}};
  expect(tesela_dot(context, &desc, NULL), TESELA_BAD_CALL, "desc.y.data is NULL");
  desc.y.data = y;
  desc.n = -1;
  expect(tesela_dot(context, &desc, NULL), TESELA_BAD_CALL, "desc.n is -1");
  desc.n = 4;
  desc.result.data = x;
  expect(tesela_dot(context, &desc, NULL), TESELA_BAD_CALL, "desc.result overlaps desc.x");
  desc.result.data = &result;
  desc.options.strategy = "nonsense";
  expect(tesela_dot(context, &desc, NULL), TESELA_BAD_INPUT, "not a strategy for dot");
  desc.options.strategy = NULL;
  desc.result.reserved = 3;
  expect(tesela_dot(context, &desc, NULL), TESELA_BAD_CALL, "desc.result.reserved is 3");
  assert_true(result == 5);
  assert_int_equal(tesela_dot(context, NULL, NULL), TESELA_BAD_CALL);
  assert_int_equal(tesela_dot(NULL, &desc, NULL), TESELA_BAD_CALL);
}

static void dot_plans_run_again_and_come_back(void **state) {
  (void)state;
  float result = 0, other = 0;
  const tesela_dot_desc desc = {.n = 4};
  const tesela_vector a = {.data = x}, b = {.data = y};
  const tesela_scalar c = {.data = &result}, d = {.data = &other};
  tesela_plan *plan, *again;
  must(tesela_plan_create_dot(context, &desc, &plan));
  must(tesela_plan_run(plan, &(tesela_operands){.x = &a, .y = &b, .result = &c}, NULL));
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(plan), tesela_plan_describe(again));
  must(tesela_plan_run(again, &(tesela_operands){.x = &b, .y = &a, .result = &d}, NULL));
  assert_true(result == 70 && other == 70);
  tesela_plan_destroy(plan);
  tesela_plan_destroy(again);
}

/* --- transposes --- */

static void transposes_have_defaults(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4, 5, 6}, b[6] = {0};
  const float right[] = {1, 4, 2, 5, 3, 6};
  const tesela_transpose_desc desc = {.rows = 2, .cols = 3, .a = {.data = a}, .b = {.data = b}};
  must(tesela_transpose(context, &desc, NULL));
  assert_memory_equal(b, right, sizeof right);
}

static void transposes_scale_and_keep_gaps(void **state) {
  (void)state;
  const double alpha = -2;
  double a[] = {1, 2, 9, 3, 4, 9}, b[] = {0, 0, 7, 0, 0, 7};
  const double right[] = {-2, -6, 7, -4, -8, 7};
  const tesela_transpose_desc desc = {.rows = 2,
                                      .cols = 2,
                                      .a = {.data = a, .row_stride = 3, .col_stride = 1, .type = TESELA_F64},
                                      .b = {.data = b, .row_stride = 3, .col_stride = 1},
                                      .alpha = &alpha};
  must(tesela_transpose(context, &desc, NULL));
  assert_memory_equal(b, right, sizeof right);
}

static void every_type_moves(void **state) {
  (void)state;
  for (int type = TESELA_F64; type <= TESELA_U8; type++) {
    const size_t size = tsl_type((tesela_type)type)->size;
    unsigned char a[6 * 16], b[6 * 16];
    for (size_t i = 0; i < sizeof a; i++)
      a[i] = (unsigned char)(i * 37 + 1);
    const tesela_transpose_desc desc = {
        .rows = 3, .cols = 2, .a = {.data = a, .type = (tesela_type)type}, .b = {.data = b}};
    must(tesela_transpose(context, &desc, NULL));
    for (size_t i = 0; i < 3; i++)
      for (size_t j = 0; j < 2; j++)
        assert_memory_equal(a + (i * 2 + j) * size, b + (j * 3 + i) * size, size);
  }
}

static void squares_turn_in_place(void **state) {
  (void)state;
  int32_t a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const int32_t right[] = {1, 4, 7, 2, 5, 8, 3, 6, 9};
  tesela_transpose_desc desc = {.rows = 3, .cols = 3, .b = {.data = a, .type = TESELA_I32}, .in_place = 1};
  must(tesela_transpose(context, &desc, NULL));
  assert_memory_equal(a, right, sizeof right);
  desc.cols = 2;
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "square");
  desc.a.data = x;
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "desc.a is given");
}

/* Calls in place and not in place have different plans, even with equal sizes, types and strides. */
static void both_ways_are_kept_apart(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4}, b[4];
  const float transposed[] = {1, 3, 2, 4};
  tesela_transpose_desc desc = {.rows = 2, .cols = 2, .a = {.data = a}, .b = {.data = b}};
  must(tesela_transpose(context, &desc, NULL));
  assert_memory_equal(b, transposed, sizeof transposed);
  desc.a.data = NULL;
  desc.b.data = a;
  desc.in_place = 1;
  must(tesela_transpose(context, &desc, NULL));
  assert_memory_equal(a, transposed, sizeof transposed);
}

/* --- conjugates --- */

static void products_conjugate_what_is_said(void **state) {
  (void)state;
  double a[] = {1, 2}, b[] = {3, 4}, c[2];
  const double right[4][2] = {{-5, 10}, {11, -2}, {11, 2}, {-5, -10}};
  for (int way = 0; way < 4; way++) {
    const tesela_gemm_desc desc = {.m = 1,
                                   .n = 1,
                                   .k = 1,
                                   .a = {.data = a, .type = TESELA_C128, .conjugate = way & 1},
                                   .b = {.data = b, .type = TESELA_C128, .conjugate = way & 2},
                                   .c = {.data = c, .type = TESELA_C128}};
    must(tesela_gemm(context, &desc, NULL));
    assert_true(c[0] == right[way][0] && c[1] == right[way][1]);
    tesela_plan *plan, *again;
    must(tesela_plan_create(context, &desc, &plan));
    must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
    assert_string_equal(tesela_plan_describe(plan), tesela_plan_describe(again));
    tesela_plan_destroy(plan);
    tesela_plan_destroy(again);
  }
}

static void wrong_transposes_are_refused(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4}, b[4];
  tesela_transpose_desc desc = {.rows = 2, .cols = 2, .a = {.data = a}, .b = {.data = a}};
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "desc.b overlaps desc.a");
  desc.b.data = NULL;
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "desc.b.data is NULL");
  desc.b.data = b;
  desc.rows = -3;
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "desc.rows is -3");
  desc.rows = 2;
  desc.b.type = TESELA_F64;
  desc.b.data = x;
  expect(tesela_transpose(context, &desc, NULL), TESELA_UNSUPPORTED, "f64");
}

/* A plan runs only the operation that it was made for. */
static void plans_of_another_operation_are_refused(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  const tesela_matrix from = {.data = a};
  const tesela_result to = {.data = b};
  const tesela_vector v = {.data = a};
  tesela_plan *plan;
  must(tesela_plan_create_dot(context, &(tesela_dot_desc){.n = 2}, &plan));
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &from, .b = &from, .c = &to}, NULL), TESELA_BAD_CALL,
         "operands.a is given, but the plan is for a dot");
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &from, .c = &to}, NULL), TESELA_BAD_CALL,
         "operands.a is given, but the plan is for a dot");
  tesela_plan_destroy(plan);
  must(tesela_plan_create_transpose(context, &(tesela_transpose_desc){.rows = 2, .cols = 2}, &plan));
  expect(tesela_plan_run(plan, &(tesela_operands){.x = &v, .y = &v, .result = &(tesela_scalar){.data = b}},
                         NULL),
         TESELA_BAD_CALL, "the plan is for a transpose");
  tesela_plan_destroy(plan);
  assert_true(b[0] == 5 && b[1] == 6 && b[2] == 7 && b[3] == 8);
}

static void transposes_do_not_conjugate(void **state) {
  (void)state;
  float a[8] = {1}, b[8];
  const tesela_transpose_desc desc = {.rows = 2,
                                      .cols = 2,
                                      .a = {.data = a, .type = TESELA_C64, .conjugate = 1},
                                      .b = {.data = b, .type = TESELA_C64}};
  expect(tesela_transpose(context, &desc, NULL), TESELA_BAD_CALL, "desc.a.conjugate is set");
}

static void transpose_plans_come_back(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4};
  const float right[] = {1, 3, 2, 4};
  const tesela_transpose_desc desc = {.rows = 2, .cols = 2, .in_place = 1};
  const tesela_result c = {.data = a};
  tesela_plan *plan, *again;
  must(tesela_plan_create_transpose(context, &desc, &plan));
  must(tesela_plan_parse(context, tesela_plan_describe(plan), &again));
  assert_string_equal(tesela_plan_describe(plan), tesela_plan_describe(again));
  must(tesela_plan_run(again, &(tesela_operands){.c = &c}, NULL));
  assert_memory_equal(a, right, sizeof right);
  tesela_plan_destroy(plan);
  tesela_plan_destroy(again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dots_have_defaults),
      cmocka_unit_test(dots_take_strides_and_scalars),
      cmocka_unit_test(empty_dots_are_zero),
      cmocka_unit_test(wrong_dots_are_refused),
      cmocka_unit_test(dot_plans_run_again_and_come_back),
      cmocka_unit_test(transposes_have_defaults),
      cmocka_unit_test(transposes_scale_and_keep_gaps),
      cmocka_unit_test(every_type_moves),
      cmocka_unit_test(squares_turn_in_place),
      cmocka_unit_test(both_ways_are_kept_apart),
      cmocka_unit_test(products_conjugate_what_is_said),
      cmocka_unit_test(wrong_transposes_are_refused),
      cmocka_unit_test(plans_of_another_operation_are_refused),
      cmocka_unit_test(transposes_do_not_conjugate),
      cmocka_unit_test(transpose_plans_come_back),
  };
  return cmocka_run_group_tests(tests, context_set_up, context_tear_down);
}
