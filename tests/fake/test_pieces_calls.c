/* Operands in pieces by the public calls: a call, a plan, an operand in a buffer together with
 * pieces, and the errors for wrong pieces. */
#include "unit/unit.h"

#include <string.h>

#include "fake/buffers.h"
#include "fake/fake.h"

static void wrong(tesela_context *context, const tesela_gemm_desc *desc, tesela_status status,
                  const char *words) {
  const tesela_status came = tesela_gemm(context, desc, NULL);
  if (came != status || !strstr(tesela_last_error(), words))
    fail_msg("%d, not %d: %s; not: %s", came, status, came ? tesela_last_error() : "", words);
}

/* A (12 x 8) by columns on both, stored transposed; B (8 x 10) on one; C (12 x 10) by rows on both. */
typedef struct called {
  tesela_context *context;
  tesela_buffer *one, *other;
  float numbers[400];
  tesela_shard a[2], b[1], c[2];
  tesela_shards a_shards, b_shards, c_shards;
  tesela_gemm_desc desc;
} called;

static void describe(called *called_in) {
  assert_int_equal(tesela_context_create(NULL, &called_in->context), TESELA_OK);
  buffers_for(called_in->context, "opencl:0", &called_in->one, 400);
  buffers_for(called_in->context, "cpu", &called_in->other, 400);
  for (int i = 0; i < 400; i++)
    called_in->numbers[i] = (float)(i % 7 - 3);
  assert_int_equal(tesela_buffer_write(called_in->one, 0, called_in->numbers, 240 * 4), TESELA_OK);
  assert_int_equal(tesela_buffer_write(called_in->other, 0, called_in->numbers, 240 * 4), TESELA_OK);
  called_in->a[0] = (tesela_shard){called_in->one, {.row = 0, .rows = 5, .cols = 12}};
  called_in->a[1] = (tesela_shard){called_in->other, {.row = 5, .rows = 3, .cols = 12}};
  called_in->b[0] = (tesela_shard){called_in->other, {.rows = 8, .cols = 10, .offset = 50}};
  called_in->c[0] = (tesela_shard){called_in->one, {.row = 0, .rows = 7, .cols = 10, .offset = 240}};
  called_in->c[1] = (tesela_shard){called_in->other, {.row = 7, .rows = 5, .cols = 10, .offset = 240}};
  called_in->a_shards = (tesela_shards){called_in->a, 2};
  called_in->b_shards = (tesela_shards){called_in->b, 1};
  called_in->c_shards = (tesela_shards){called_in->c, 2};
  called_in->desc = (tesela_gemm_desc){.m = 12,
                                       .n = 10,
                                       .k = 8,
                                       .a = {.transpose = 1},
                                       .a.shards = &called_in->a_shards,
                                       .b.shards = &called_in->b_shards,
                                       .c.shards = &called_in->c_shards};
}

/* That C has the sums, which are then taken from it. */
static void expect_sums(const called *called_in) {
  float c[120];
  assert_int_equal(tesela_buffer_read(called_in->one, 240 * 4, c, 70 * 4), TESELA_OK);
  assert_int_equal(tesela_buffer_read(called_in->other, 240 * 4, c + 70, 50 * 4), TESELA_OK);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 10; j++) {
      float sum = 0;
      for (int l = 0; l < 8; l++)
        sum += called_in->numbers[(l < 5 ? l : l - 5) * 12 + i] * called_in->numbers[50 + l * 10 + j];
      assert_true(c[i * 10 + j] == sum);
    }
  assert_int_equal(tesela_buffer_write(called_in->one, 240 * 4, called_in->numbers, 70 * 4), TESELA_OK);
  assert_int_equal(tesela_buffer_write(called_in->other, 240 * 4, called_in->numbers, 50 * 4), TESELA_OK);
}

static void call_once(const called *called_in) {
  tesela_record record;
  if (tesela_gemm(called_in->context, &called_in->desc, &record) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_non_null(strstr(record.plan, "gemm several version=1 cut=3 device=opencl:0,cpu place=pieces "));
  expect_sums(called_in);
}

static void call_by_plan(const called *called_in) {
  const tesela_matrix a = {.shards = &called_in->a_shards}, b = {.shards = &called_in->b_shards};
  const tesela_result c = {.shards = &called_in->c_shards};
  tesela_plan *plan;
  if (tesela_plan_create(called_in->context, &called_in->desc, &plan) != TESELA_OK ||
      tesela_plan_run(plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){0}, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "a.shards is NULL: the plan is for 2 shards"));
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.a = &b, .b = &b, .c = &c}, NULL),
                   TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "a has 1 pieces, and the plan is for 2"));
  tesela_plan_destroy(plan);
  expect_sums(called_in);
}

static void call_with_a_buffer(const called *called_in) {
  tesela_gemm_desc desc = called_in->desc;
  desc.b.shards = NULL;
  desc.b = (tesela_matrix){.buffer = called_in->other, .offset = 50};
  assert_int_equal(tesela_gemm(called_in->context, &desc, NULL), TESELA_OK);
  expect_sums(called_in);
}

static void expect_refusals(called *called_in) {
  tesela_gemm_desc desc = called_in->desc;
  called_in->a[1].at.row = 4;
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "pieces 0 and 1 both have element (0, 4)");
  called_in->a[1].at = (tesela_rectangle){.row = 6, .rows = 2, .cols = 12};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "its 2 pieces have 84 elements instead of 12 x 8 = 96");
  called_in->a[1].at = (tesela_rectangle){.row = 5, .rows = 4, .cols = 12};
  wrong(called_in->context, &desc, TESELA_BAD_CALL,
        "piece 1, 12 x 4 from (0, 5) on, is not inside of 12 x 8");
  called_in->a[1].at = (tesela_rectangle){.row = 5, .rows = 3, .cols = 12, .row_stride = 24, .col_stride = 2};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "strides 2 and 24");
  called_in->a[1].at = (tesela_rectangle){.row = 5, .rows = 3, .cols = 12, .row_stride = 1, .col_stride = 3};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "all must be alike");
  called_in->a[1].at = (tesela_rectangle){.row = 5, .rows = 3, .cols = 12, .offset = 380};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "desc.a: piece 1 has offset 380 and takes 36 elements");
  called_in->a[1].at = (tesela_rectangle){.row = 5, .rows = 3, .cols = 12, .offset = 250};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "desc.c: piece 1 overlaps piece 1 of desc.a");
  called_in->a[1].at.offset = 0;
  desc.a.data = called_in->numbers;
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "desc.a.data and desc.a.shards are both given");
  desc.a = (tesela_matrix){.transpose = 1, .row_stride = 12, .col_stride = 1, .shards = &called_in->a_shards};
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "and desc.a.shards are both given");
  desc.a = (tesela_matrix){.transpose = 1, .shards = &called_in->a_shards};
  desc.options.device = "opencl:0";
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "opencl:0 is one device");
  desc.options.device = "cpu,fake:0";
  wrong(called_in->context, &desc, TESELA_BAD_CALL,
        "desc.a: piece 0 is on opencl:0, which is none of cpu,fake:0");
  desc.options.device = NULL;
  desc.epilogue = &(tesela_epilogue){.activation = TESELA_RELU};
  wrong(called_in->context, &desc, TESELA_UNSUPPORTED, "without an epilogue");
  desc.epilogue = NULL;
  desc.options.measure_error = 1;
  wrong(called_in->context, &desc, TESELA_UNSUPPORTED, "errors are not measured");
  desc.options.measure_error = 0;
  desc.options.strategy = "element";
  wrong(called_in->context, &desc, TESELA_UNSUPPORTED, "not in pieces");
  desc.options.strategy = NULL;
  called_in->a_shards.count = -1;
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "desc.a.shards.count is -1");
  called_in->a_shards.count = 2;
  called_in->a[0].buffer = NULL;
  wrong(called_in->context, &desc, TESELA_BAD_CALL, "desc.a.shards: piece 0 has no buffer");
}

static void test_calls(void **state) {
  called of;
  char *text;
  (void)state;
  describe(&of);
  call_once(&of);
  call_by_plan(&of);
  call_with_a_buffer(&of);
  assert_int_equal(tesela_explain(of.context, &of.desc, &text), TESELA_OK);
  assert_non_null(strstr(text, "\"links\""));
  assert_non_null(strstr(text, "place=pieces"));
  tesela_text_free(text);
  expect_refusals(&of);
  tesela_buffer_destroy(of.one);
  tesela_buffer_destroy(of.other);
  tesela_context_destroy(of.context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
  tesela_fake_install();
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
