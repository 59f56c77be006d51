/* The public calls on the first OpenCL device, which every machine that tests has (PoCL). */
#include "unit/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { M = 37, N = 29, K = 41 };

static float a[M * K], b[K * N], expected[M * N];
static tesela_context *context;

static int set_up(void **state) {
  const tesela_context_desc desc = {.device = "opencl"};
  (void)state;
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < K; l++)
        expected[i * N + j] += a[i * K + l] * b[l * N + j];
  return tesela_context_create(&desc, &context) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* Page-aligned operands are used where they lie, others are copied: the same result, and both take part in
 * the record. */
static void aligned_or_not(void **state) {
  (void)state;
  float *memory = aligned_alloc(4096, 16384);
  assert_true(sizeof a + 4 <= 16384);
  for (int skew = 0; skew < 2; skew++) {
    float c[M * N] = {0};
    tesela_record record;
    memcpy(memory + skew, a, sizeof a);
    const tesela_gemm_desc desc = {
        .m = M, .n = N, .k = K, .a = {.data = memory + skew}, .b = {.data = b}, .c = {.data = c}};
    must(tesela_gemm(context, &desc, &record));
    assert_memory_equal(c, expected, sizeof c);
    assert_non_null(strstr(record.plan, "device=opencl:0 place=host"));
    assert_true(record.seconds_compute > 0 && record.seconds_copy_in > 0 && record.seconds_copy_out > 0);
    assert_true(record.seconds_allocate + record.seconds_copy_in + record.seconds_compute +
                    record.seconds_copy_out <=
                record.seconds * 1.01);
  }
  free(memory);
}

/* X X' with X given twice, and operands that lie between each other's elements. */
static void shared_and_interleaved_operands(void **state) {
  (void)state;
  float *both = aligned_alloc(4096, 4096), square[9], x[] = {1, 2, 3};
  const tesela_gemm_desc outer = {
      .m = 3, .n = 3, .k = 1, .a = {.data = x}, .b = {.data = x, .transpose = 1}, .c = {.data = square}};
  must(tesela_gemm(context, &outer, NULL));
  for (int i = 0; i < 9; i++)
    assert_true(square[i] == x[i / 3] * x[i % 3]);
  for (int i = 0; i < 16; i++)
    both[i] = (float)i;
  float swap[] = {0, 1, 1, 0};
  const tesela_gemm_desc between = {.m = 4,
                                    .n = 2,
                                    .k = 2,
                                    .a = {.data = both, .row_stride = 4, .col_stride = 2},
                                    .b = {.data = swap},
                                    .c = {.data = both + 1, .row_stride = 4, .col_stride = 2}};
  must(tesela_gemm(context, &between, NULL));
  for (int i = 0; i < 4; i++) {
    assert_true(both[4 * i] == (float)(4 * i) && both[4 * i + 2] == (float)(4 * i + 2));
    assert_true(both[4 * i + 1] == both[4 * i + 2] && both[4 * i + 3] == both[4 * i]);
  }
  free(both);
}

static void chained_in_buffers(void **state) {
  (void)state;
  tesela_buffer *in, *out;
  float c[M * N];
  must(tesela_buffer_create(context, NULL, sizeof a + sizeof b, &in));
  must(tesela_buffer_create(context, "opencl:0", 2 * sizeof c, &out));
  must(tesela_buffer_write(in, 0, a, sizeof a));
  must(tesela_buffer_write(in, sizeof a, b, sizeof b));
  tesela_gemm_desc desc = {.m = M,
                           .n = N,
                           .k = K,
                           .a = {.buffer = in},
                           .b = {.buffer = in, .offset = M * K},
                           .c = {.buffer = out}};
  must(tesela_gemm(context, &desc, NULL));
  /* and once more behind it, transposed, upside down */
  desc.c = (tesela_result){.buffer = out, .offset = M * N + M - 1, .row_stride = -1, .col_stride = M};
  tesela_record record;
  must(tesela_gemm(context, &desc, &record));
  assert_non_null(strstr(record.plan, "place=device"));
  assert_true(record.seconds_copy_in == 0 && record.seconds_copy_out == 0);
  must(tesela_buffer_read(out, 0, c, sizeof c));
  assert_memory_equal(c, expected, sizeof c);
  must(tesela_buffer_read(out, sizeof c, c, sizeof c));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      assert_true(c[M - 1 - i + j * M] == expected[i * N + j]);
  tesela_buffer_destroy(out);
  tesela_buffer_destroy(in);
}

static void buffers_of_two_contexts(void **state) {
  (void)state;
  tesela_context *other;
  tesela_buffer *own, *foreign;
  must(tesela_context_create(NULL, &other));
  must(tesela_buffer_create(context, "opencl:0", 64, &own));
  must(tesela_buffer_create(other, "opencl:0", 64, &foreign));
  tesela_gemm_desc desc = {
      .m = 2, .n = 2, .k = 2, .a = {.buffer = own}, .b = {.buffer = foreign}, .c = {.buffer = own}};
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL, "desc.b.buffer on opencl:0 of another context");
  desc.a.buffer = desc.b.buffer = desc.c.buffer = foreign;
  desc.options.device = "opencl:0";
  expect(tesela_gemm(context, &desc, NULL), TESELA_BAD_CALL,
         "the buffers are on opencl:0 of another context");
  tesela_buffer_destroy(foreign);
  tesela_buffer_destroy(own);
  tesela_context_destroy(other);
}

static void buffers_say_where_the_product_runs(void **state) {
  (void)state;
  tesela_buffer *here, *there;
  tesela_plan *plan;
  must(tesela_buffer_create(context, "cpu", 64, &here));
  must(tesela_buffer_create(context, "opencl:0", 64, &there));
  tesela_gemm_desc desc = {.m = 2, .n = 2, .k = 2, .a = {.buffer = here}, .b = {.buffer = there}};
  expect(tesela_plan_create(context, &desc, &plan), TESELA_BAD_CALL,
         "desc.a.buffer is on cpu and desc.b.buffer on opencl:0");
  desc.a.buffer = NULL;
  desc.options.device = "cpu";
  expect(tesela_plan_create(context, &desc, &plan), TESELA_BAD_CALL,
         "desc.options.device is cpu, but the buffers are on opencl:0");
  desc.options.device = "opencl"; /* its first device */
  must(tesela_plan_create(context, &desc, &plan));
  assert_non_null(strstr(tesela_plan_describe(plan), "device=opencl:0 place=device"));
  const tesela_matrix wrong = {.buffer = here}, right = {.buffer = there};
  const tesela_result result = {.buffer = there};
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &right, .b = &wrong, .c = &result}, NULL),
         TESELA_BAD_CALL, "b.buffer is on cpu, but the plan runs on opencl:0");
  tesela_plan_destroy(plan);
  tesela_buffer_destroy(there);
  tesela_buffer_destroy(here);
}

static void plans_come_back_from_text(void **state) {
  (void)state;
  tesela_plan *plan;
  float c[M * N] = {0};
  const tesela_matrix first = {.data = a}, second = {.data = b};
  const tesela_result third = {.data = c};
  must(tesela_plan_parse(context,
                         "gemm tile_local version=1 tile=8 device=opencl:0 place=host m=37 n=29 k=41 "
                         "types=f32,f32,f32",
                         &plan));
  must(tesela_plan_run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL));
  assert_memory_equal(c, expected, sizeof c);
  tesela_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_or_not),
      cmocka_unit_test(shared_and_interleaved_operands),
      cmocka_unit_test(chained_in_buffers),
      cmocka_unit_test(buffers_of_two_contexts),
      cmocka_unit_test(buffers_say_where_the_product_runs),
      cmocka_unit_test(plans_come_back_from_text),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
