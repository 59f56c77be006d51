/* tesela_pack(): runs with packed operands give the bits of runs with the matrices, whatever became of these;
 * every wrong call has its sentence. */
#include "unit/unit.h"

#include "judge/data.h"
#include "matrices.h"

#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

static tesela_context *context;

static int set_up(void **state) {
  (void)state;
  return tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* The last column says how operands lie: C by columns (the transposed product is computed), A backwards. */
typedef enum way { PLAIN, C_BY_COLUMNS, A_BACKWARDS } way;
typedef struct product {
  const char *strategy;
  tesela_type a, b, c;
  int64_t m, n, k;
  way way;
} product;

#define F32 TESELA_F32, TESELA_F32, TESELA_F32
#define C128 TESELA_C128, TESELA_C128, TESELA_C128
#define BF16 TESELA_BF16, TESELA_BF16, TESELA_F32
#define U8I8 TESELA_U8, TESELA_I8, TESELA_I32
#define I8 TESELA_I8, TESELA_I8, TESELA_I32

/* host_packed: panels; rows, columns and parts, which reuse one operand or split k; small sides
 * that are not packed. Then other strategies with a packed form of their own, and strategies
 * without one. */
static const product products[] = {
    {"host_packed depth=128 block=256", F32, 650, 1100, 300, PLAIN},
    {"host_packed depth=128 block=256", F32, 650, 1100, 300, C_BY_COLUMNS},
    {"host_packed depth=128 block=256", F32, 1500, 90, 300, PLAIN},
    {"host_packed depth=128 block=256", F32, 90, 1500, 300, A_BACKWARDS},
    {"host_packed depth=128 block=256", F32, 37, 45, 3000, PLAIN},
    {"host_packed depth=128 block=256", C128, 45, 37, 2100, C_BY_COLUMNS},
    {"host_packed", F32, 5, 700, 300, PLAIN},
    {"host_amx depth=128 block=128", BF16, 130, 200, 700, PLAIN},
    {"host_amx depth=128 block=128", U8I8, 200, 130, 1300, C_BY_COLUMNS},
    {"host_amx depth=128 block=128", BF16, 40, 70, 3000, C_BY_COLUMNS},
    {"host_amx", I8, 65, 33, 70, PLAIN},
    {"host_small", F32, 17, 19, 23, A_BACKWARDS},
    {"sequential_optimized", F32, 30, 20, 10, C_BY_COLUMNS},
};

typedef struct operand {
  tsl_shape shape;
  void *memory, *origin;
  size_t bytes;
} operand;

static operand operand_of(const tsl_shape *shape, uint64_t seed) {
  operand made = {.shape = *shape};
  made.bytes = (size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size;
  made.memory = test_matrix(shape, &made.origin);
  assert_int_equal(tsl_data_fill(TSL_DATA_NORMAL, seed, shape, 1, made.origin), TESELA_OK);
  return made;
}

static tesela_matrix matrix_of(const operand *operand_in) {
  return (tesela_matrix){.data = operand_in->origin,
                         .type = operand_in->shape.type,
                         .row_stride = operand_in->shape.row_stride,
                         .col_stride = operand_in->shape.col_stride};
}

static tesela_result result_of(const operand *operand_in) {
  return (tesela_result){.data = operand_in->origin,
                         .type = operand_in->shape.type,
                         .row_stride = operand_in->shape.row_stride,
                         .col_stride = operand_in->shape.col_stride};
}

static void expect_same_bits(const product *product_in) {
  tsl_problem problem = tsl_problem_gemm(product_in->m, product_in->n, product_in->k, product_in->a);
  problem.b.type = product_in->b;
  problem.c.type = product_in->c;
  if (product_in->way == C_BY_COLUMNS)
    problem.c.row_stride = 1, problem.c.col_stride = product_in->m + 1;
  if (product_in->way == A_BACKWARDS)
    problem.a.row_stride = -problem.a.row_stride;
  operand a = operand_of(&problem.a, 1), b = operand_of(&problem.b, 2), c = operand_of(&problem.c, 3);
  const tesela_matrix plain_a = matrix_of(&a), plain_b = matrix_of(&b);
  const tesela_result plain_c = result_of(&c);
  const double beta[2] = {3, 0};
  const tesela_gemm_desc desc = {.m = product_in->m,
                                 .n = product_in->n,
                                 .k = product_in->k,
                                 .a = plain_a,
                                 .b = plain_b,
                                 .c = plain_c,
                                 .beta = beta,
                                 .options.strategy = product_in->strategy};
  void *before = malloc(c.bytes), *expected = malloc(c.bytes);
  tesela_plan *plan;
  tesela_packed *packed_a, *packed_b;
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  memcpy(before, c.memory, c.bytes);
  assert_int_equal(
      tesela_plan_run(plan, &(tesela_operands){.a = &plain_a, .b = &plain_b, .c = &plain_c}, NULL),
      TESELA_OK);
  memcpy(expected, c.memory, c.bytes);
  assert_memory_not_equal(expected, before, c.bytes);
  assert_int_equal(tesela_pack(plan, &plain_a, NULL, &packed_a), TESELA_OK);
  assert_int_equal(tesela_pack(plan, NULL, &plain_b, &packed_b), TESELA_OK);
  const tesela_matrix of_a = {.packed = packed_a}, of_b = {.packed = packed_b};
  const tesela_matrix *const left[] = {&plain_a, &of_a, &of_a}, *const right[] = {&of_b, &plain_b, &of_b};
  for (int i = 0; i < 3; i++) {
    memcpy(c.memory, before, c.bytes);
    if (i == 2) { /* the packed operand's original memory is not read */
      memset(a.memory, 0xff, a.bytes);
      memset(b.memory, 0xff, b.bytes);
    }
    assert_int_equal(
        tesela_plan_run(plan, &(tesela_operands){.a = left[i], .b = right[i], .c = &plain_c}, NULL),
        TESELA_OK);
    if (memcmp(c.memory, expected, c.bytes) != 0)
      fail_msg("%s, %d x %d x %d: other bits with %s packed", product_in->strategy, (int)product_in->m,
               (int)product_in->n, (int)product_in->k,
               i == 0   ? "b"
               : i == 1 ? "a"
                        : "both");
  }
  tesela_plan_destroy(plan);
  tesela_packed_destroy(packed_a);
  tesela_packed_destroy(packed_b);
  free(before);
  free(expected);
  free(a.memory);
  free(b.memory);
  free(c.memory);
}

static void same_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
    expect_same_bits(&products[i]);
}

static void expect_wrong(tesela_status status, const char *words) {
  assert_int_equal(status, TESELA_BAD_CALL);
  if (!strstr(tesela_last_error(), words))
    fail_msg("\"%s\" does not say \"%s\"", tesela_last_error(), words);
}

static void wrong_calls(void **state) {
  float data[16] = {1}, c[16];
  const tesela_matrix matrix = {.data = data};
  const tesela_result result = {.data = c};
  const double zero = 0;
  tesela_gemm_desc desc = {.m = 4, .n = 4, .k = 4, .options.strategy = "host_packed"};
  tesela_plan *plan, *other, *same, *empty, *on_buffers;
  tesela_packed *packed, *none;
  tesela_buffer *buffer;
  (void)state;
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  assert_int_equal(tesela_plan_create(context, &desc, &same), TESELA_OK);
  desc.k = 3;
  assert_int_equal(tesela_plan_create(context, &desc, &other), TESELA_OK);
  desc.alpha = &zero;
  assert_int_equal(tesela_plan_create(context, &desc, &empty), TESELA_OK);
  assert_int_equal(tesela_buffer_create(context, "cpu", 64, &buffer), TESELA_OK);
  desc.a.buffer = desc.b.buffer = desc.c.buffer = buffer;
  assert_int_equal(tesela_plan_create(context, &desc, &on_buffers), TESELA_OK);

  expect_wrong(tesela_pack(NULL, &matrix, NULL, &none), "plan is NULL");
  expect_wrong(tesela_pack(plan, &matrix, NULL, NULL), "packed is NULL");
  expect_wrong(tesela_pack(plan, NULL, NULL, &none), "a and b are both NULL");
  expect_wrong(tesela_pack(plan, &matrix, &matrix, &none), "a and b are both given");
  expect_wrong(tesela_pack(plan, NULL, &(tesela_matrix){0}, &none), "b.data is NULL");
  expect_wrong(tesela_pack(empty, NULL, &matrix, &none), "does not read b");
  expect_wrong(tesela_pack(on_buffers, NULL, &matrix, &none), "for buffers");
  assert_null(none);

  assert_int_equal(tesela_pack(plan, NULL, &matrix, &packed), TESELA_OK);
  const tesela_matrix of_b = {.packed = packed}, twice = {.packed = packed, .data = data};
  expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &matrix, .b = &twice, .c = &result}, NULL),
               "b.data and b.packed are both given");
  expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &of_b, .b = &matrix, .c = &result}, NULL),
               "a.packed was packed as b");
  expect_wrong(tesela_plan_run(other, &(tesela_operands){.a = &matrix, .b = &of_b, .c = &result}, NULL),
               "another plan, \"gemm host_packed");
  tesela_plan_destroy(plan); /* another one of the same text takes it */
  assert_int_equal(tesela_plan_run(same, &(tesela_operands){.a = &matrix, .b = &of_b, .c = &result}, NULL),
                   TESELA_OK);
  assert_true(c[0] == 1);

  tesela_packed_destroy(packed);
  tesela_packed_destroy(NULL);
  tesela_plan_destroy(same);
  tesela_plan_destroy(other);
  tesela_plan_destroy(empty);
  tesela_plan_destroy(on_buffers);
  tesela_buffer_destroy(buffer);
}

/* A plan with a fast path checks its operands as other plans do: each operand must have exactly one
 * place. */
static void given_twice(void **state) {
  static const char *const strategies[] = {"host_small", "host_packed"};
  float data[16] = {1}, c[16];
  (void)state;
  for (int s = 0; s < 2; s++) {
    const tesela_gemm_desc desc = {
        .m = 4, .n = 4, .k = 4, .options.device = "cpu", .options.strategy = strategies[s]};
    const tesela_matrix good = {.data = data};
    const tesela_result result = {.data = c};
    tesela_plan *plan;
    tesela_packed *packed;
    tesela_buffer *buffer;
    assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
    assert_int_equal(tesela_pack(plan, NULL, &good, &packed), TESELA_OK);
    assert_int_equal(tesela_buffer_create(context, "cpu", 64, &buffer), TESELA_OK);
    const tesela_matrix with_packed = {.data = data, .packed = packed},
                        with_buffer = {.data = data, .buffer = buffer},
                        neither = {.buffer = buffer, .packed = packed};
    const tesela_result c_with_buffer = {.data = c, .buffer = buffer};
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &good, .b = &with_packed, .c = &result}, NULL),
                 "b.data and b.packed are both given");
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &with_packed, .b = &good, .c = &result}, NULL),
                 "a.data and a.packed are both given");
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &with_buffer, .b = &good, .c = &result}, NULL),
                 "a.data and a.buffer are both given");
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &good, .b = &with_buffer, .c = &result}, NULL),
                 "b.data and b.buffer are both given");
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &good, .b = &neither, .c = &result}, NULL),
                 "b.buffer and b.packed are both given");
    expect_wrong(tesela_plan_run(plan, &(tesela_operands){.a = &good, .b = &good, .c = &c_with_buffer}, NULL),
                 "c.data and c.buffer are both given");
    /* Batches, which have a quick way of their own. */
    const void *each[2] = {data, data};
    void *each_c[2] = {c, c + 16};
    tesela_gemm_desc both = desc;
    both.b = with_packed;
    expect_wrong(
        tesela_gemm_batched(context, &both, &(tesela_batch){.count = 2, .a = each, .c = each_c}, NULL),
        "desc.b.data and desc.b.packed are both given");
    both.b = (tesela_matrix){.packed = packed};
    expect_wrong(tesela_gemm_batched(context, &both,
                                     &(tesela_batch){.count = 2, .a = each, .b = each, .c = each_c}, NULL),
                 "batch.b and desc.b.packed are both given");
    tesela_buffer_destroy(buffer);
    tesela_packed_destroy(packed);
    tesela_plan_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(wrong_calls),
                                     cmocka_unit_test(given_twice)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
