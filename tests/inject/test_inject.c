/* A product on a device that fails on demand: each operation in turn, at each of its calls. Every failure
 * must come out as a status with a sentence, leave nothing behind, leave host C alone, and spoil nothing that
 * comes after it. */
#include "unit/unit.h"

#include "api/api.h"
#include "core/status.h"
#include "fake/fake.h"

#include <tesela/tesela.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 40, K = 6, GAP = 3 };

static _Alignas(4096) float a[M * K], b[K * N + 1],
    room_for_c[M * (N + GAP) + 1], before[M * (N + GAP)], expected[M * (N + GAP)];

static const char *strategy = "element";
static float *b_start = b, *c = room_for_c;

/* B's columns are visited backwards, so that it is gathered; C has gaps; both are read. */
static tesela_gemm_desc product(void) {
  static const double alpha = 2, beta = -1;
  return (tesela_gemm_desc){.m = M,
                            .n = N,
                            .k = K,
                            .a = {.data = a},
                            .b = {.data = b_start + N - 1, .row_stride = N, .col_stride = -1},
                            .c = {.data = c, .row_stride = N + GAP, .col_stride = 1},
                            .alpha = &alpha,
                            .beta = &beta,
                            .options.device = "fake:0",
                            .options.strategy = strategy};
}

static void fill(void) {
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i % 5 - 2);
  for (int i = 0; i < K * N; i++)
    b_start[i] = (float)(i % 7 - 3);
  for (int i = 0; i < M * (N + GAP); i++)
    before[i] = expected[i] = (float)(i % 3);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int l = 0; l < K; l++)
        sum += a[i * K + l] * b_start[l * N + N - 1 - j];
      expected[i * (N + GAP) + j] = 2 * sum - before[i * (N + GAP) + j];
    }
}

static void expect_failure(tesela_status status, tesela_fake_operation operation, int nth) {
  if (status != tesela_fake_status(operation) || !strstr(tesela_last_error(), "on demand"))
    fail_msg("%s number %d gave %s: %s", tesela_fake_name(operation), nth, tesela_status_name(status),
             tesela_last_error());
  if (operation == TESELA_FAKE_BUILD)
    assert_non_null(strstr(tesela_last_log(), "on demand"));
}

static void expect_nothing_left(tesela_fake_operation operation, int nth) {
  if (*tesela_fake_live_text())
    fail_msg("%s number %d left %s behind", tesela_fake_name(operation), nth, tesela_fake_live_text());
}

/* A context, one call, and the end. Returns whether something failed. */
static int call_once(tesela_fake_operation operation, int nth, int is_timed, int is_copied) {
  tesela_context *context;
  tesela_record record;
  const tesela_gemm_desc desc = product();
  memcpy(c, before, sizeof before);
  tesela_fake_reset();
  tesela_fake_fail(operation, nth);
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  const tesela_status status = tesela_gemm(context, &desc, is_timed ? &record : NULL);
  const int failed = tesela_fake_failures() > 0;
  if (failed) {
    expect_failure(status, operation, nth);
    if (is_copied)
      assert_memory_equal(c, before, sizeof before);
    if (tesela_fake_torn() > 0)
      fail_msg("after %s number %d failed, %d buffers were destroyed while a stream had work on them",
               tesela_fake_name(operation), nth, tesela_fake_torn());
  } else {
    assert_int_equal(status, TESELA_OK);
    assert_memory_equal(c, expected, sizeof before);
  }
  tesela_fake_reset();
  memcpy(c, before, sizeof before);
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK); /* the context is as good as before */
  assert_memory_equal(c, expected, sizeof before);
  tesela_context_destroy(context);
  expect_nothing_left(operation, nth);
  return failed;
}

/* Counts the failures of each operation, so that a call that never came shows. */
static void fail_everywhere(int is_timed, int is_copied, int counts[TESELA_FAKE_COUNT]) {
  for (int operation = 0; operation < TESELA_FAKE_CALLS; operation++) {
    int nth = 1;
    while (call_once((tesela_fake_operation)operation, nth, is_timed, is_copied))
      nth++;
    counts[operation] = nth - 1;
  }
}

static void with_copies(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  fail_everywhere(0, 1, counts);
  assert_int_equal(counts[TESELA_FAKE_ALLOCATION], 3);
  assert_int_equal(counts[TESELA_FAKE_COPY_IN], 3);
  assert_int_equal(counts[TESELA_FAKE_COPY_OUT], 1);
  assert_int_equal(counts[TESELA_FAKE_BUILD], 1);
  assert_int_equal(counts[TESELA_FAKE_LAUNCH], 1);
  assert_int_equal(counts[TESELA_FAKE_STREAM], 1);
  assert_int_equal(counts[TESELA_FAKE_OPEN], 1);
  assert_int_equal(counts[TESELA_FAKE_EVENT], 0);
  assert_true(counts[TESELA_FAKE_LOAD] >= 2);
  tesela_fake_hide(0);
}

static void with_copies_and_clocks(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  fail_everywhere(1, 1, counts);
  assert_int_equal(counts[TESELA_FAKE_EVENT], 5); /* two are made, two recorded, one time asked for */
  assert_int_equal(counts[TESELA_FAKE_FINISH], 2);
  tesela_fake_hide(0);
}

static int shares_memory(const char *name) {
  tesela_context *context;
  tsl_device *device;
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  assert_int_equal(tsl_devices_find(context->devices, name, &device), TESELA_OK);
  const int shares = (device->capabilities & TSL_CAN_SHARED_MEMORY) != 0;
  tesela_context_destroy(context);
  return shares;
}

/* Where memory is shared, A and C are used where they lie; B, whose extent is aligned, too. */
static void with_shared_memory(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  if (!shares_memory("opencl:0")) {
    print_message("skipped: opencl:0 does not share memory with the host\n");
    skip();
  }
  fail_everywhere(0, 0, counts);
  assert_int_equal(counts[TESELA_FAKE_COPY_IN], 0);
  assert_int_equal(counts[TESELA_FAKE_COPY_OUT], 0);
  assert_int_equal(counts[TESELA_FAKE_ALLOCATION], 3);
  assert_true(counts[TESELA_FAKE_FINISH] >= 1);
}

/* A B that the device cannot use where it lies is gathered into mapped memory: nothing is copied besides. */
static void with_mapped_memory(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  if (!shares_memory("opencl:0"))
    skip();
  b_start = b + 1;
  fill();
  fail_everywhere(0, 0, counts);
  assert_int_equal(counts[TESELA_FAKE_MAP], 2);
  assert_int_equal(counts[TESELA_FAKE_COPY_IN], 0);
  assert_int_equal(counts[TESELA_FAKE_COPY_OUT], 0);
  b_start = b;
  fill();
}

/* A result that the device cannot write where it belongs fails on its way back, while A and B are used
 * where they lie. */
static void with_a_copied_result(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  if (!shares_memory("opencl:0"))
    skip();
  c = room_for_c + 1;
  fail_everywhere(0, 0, counts);
  c = room_for_c;
  assert_true(counts[TESELA_FAKE_MAP] + counts[TESELA_FAKE_COPY_OUT] >= 1);
}

/* Half of C is written when the copy fails: whatever the device calls it, the call says the status that
 * promises nothing. */
static void half_of_a_result_promises_nothing(void **state) {
  (void)state;
  for (int is_timed = 0; is_timed < 2; is_timed++) {
    tesela_context *context;
    tesela_record record;
    const tesela_gemm_desc desc = product();
    memcpy(c, before, sizeof before);
    tesela_fake_reset();
    tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
    tesela_fake_fail(TESELA_FAKE_COPY_OUT, 1);
    tesela_fake_fail_as(TESELA_FAKE_COPY_OUT, TESELA_OUT_OF_MEMORY);
    assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
    const tesela_status status = tesela_gemm(context, &desc, is_timed ? &record : NULL);
    assert_int_equal(tesela_fake_failures(), 1);
    assert_memory_not_equal(c, before, sizeof before);
    assert_memory_not_equal(c, expected, sizeof before);
    assert_string_equal(tesela_status_name(status), tesela_status_name(TESELA_DEVICE_FAILED));
    assert_non_null(strstr(tesela_last_error(), "on demand"));
    tesela_context_destroy(context);
    assert_string_equal(tesela_fake_live_text(), "");
    tesela_fake_hide(0);
  }
  tesela_fake_reset();
}

/* C lies in the gaps of A: the bytes of both are one range, over which there can be no two buffers. B
 * alone is used where it lies. */
static void operands_between_each_other_are_copied(void **state) {
  (void)state;
  enum { SIDE = 64 };
  static _Alignas(4096) float both[SIDE * 2 * SIDE], factor[SIDE * SIDE];
  tesela_context *context;
  if (!shares_memory("opencl:0"))
    skip();
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      both[i * 2 * SIDE + j] = (float)(i % 5 - j % 3);
      both[i * 2 * SIDE + SIDE + j] = -1;
      factor[i * SIDE + j] = (float)(i == j);
    }
  const tesela_gemm_desc desc = {.m = SIDE,
                                 .n = SIDE,
                                 .k = SIDE,
                                 .a = {.data = both, .row_stride = 2 * SIDE, .col_stride = 1},
                                 .b = {.data = factor},
                                 .c = {.data = both + SIDE, .row_stride = 2 * SIDE, .col_stride = 1},
                                 .options.device = "fake:0",
                                 .options.strategy = "element"};
  tesela_fake_reset();
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
  assert_int_equal(tesela_fake_wraps(), 1);
  for (int i = 0; i < SIDE; i++)
    assert_memory_equal(both + i * 2 * SIDE, both + i * 2 * SIDE + SIDE, SIDE * sizeof *both);
  tesela_context_destroy(context);
}

/* A batch whose factors come backwards, in memory that the device uses where it lies, and copied. */
static void batches_go_backwards(void **state) {
  (void)state;
  enum { SIDE = 32, COUNT = 4, EACH = SIDE * SIDE };
  static _Alignas(4096) float ones[EACH], factors[COUNT * EACH], results[COUNT * EACH + 16];
  for (int i = 0; i < COUNT * EACH; i++)
    factors[i] = (float)(i % 61);
  for (int i = 0; i < EACH; i++)
    ones[i] = (float)(i / SIDE == i % SIDE);
  const tesela_gemm_desc desc = {.m = SIDE,
                                 .n = SIDE,
                                 .k = SIDE,
                                 .a = {.data = ones},
                                 .b = {.data = factors + (COUNT - 1) * EACH},
                                 .c = {.data = results},
                                 .options.device = "fake:0",
                                 .options.strategy = "register_tile"};
  const tesela_batch batch = {.count = COUNT, .b_stride = -EACH, .c_stride = EACH};
  const int shares = shares_memory("opencl:0");
  for (int is_copied = 0; is_copied < 2; is_copied++) {
    tesela_context *context;
    for (int i = 0; i < COUNT * EACH + 16; i++)
      results[i] = 77;
    tesela_fake_reset();
    tesela_fake_hide(is_copied ? TSL_CAN_SHARED_MEMORY : 0);
    assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
    assert_int_equal(tesela_gemm_batched(context, &desc, &batch, NULL), TESELA_OK);
    assert_int_equal(tesela_fake_wraps(), is_copied || !shares ? 0 : 3);
    for (int i = 0; i < COUNT; i++)
      assert_memory_equal(results + i * EACH, factors + (COUNT - 1 - i) * EACH, EACH * sizeof *results);
    for (int i = COUNT * EACH; i < COUNT * EACH + 16; i++)
      assert_true(results[i] == 77);
    tesela_context_destroy(context);
  }
  tesela_fake_hide(0);
}

/* Images and scratch memory are no exception. */
static void with_images(void **state) {
  (void)state;
  int counts[TESELA_FAKE_COUNT];
  strategy = "image_microtile";
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  fail_everywhere(0, 1, counts);
  tesela_fake_hide(0);
  strategy = "element";
  assert_int_equal(counts[TESELA_FAKE_ALLOCATION], 4);
  assert_int_equal(counts[TESELA_FAKE_IMAGE], 1);
  assert_true(counts[TESELA_FAKE_LAUNCH] >= 1);
}

/* A plan outlives the failures of its runs. */
static void plans_survive(void **state) {
  (void)state;
  const tesela_gemm_desc desc = product();
  tesela_context *context;
  tesela_plan *plan;
  tesela_record record;
  tesela_fake_reset();
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  for (int operation = 0; operation < TESELA_FAKE_CALLS; operation++)
    for (int nth = 1;; nth++) {
      memcpy(c, before, sizeof before);
      tesela_fake_reset();
      tesela_fake_fail((tesela_fake_operation)operation, nth);
      const tesela_status status =
          tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record);
      if (tesela_fake_failures() == 0) {
        assert_int_equal(status, TESELA_OK);
        break;
      }
      expect_failure(status, (tesela_fake_operation)operation, nth);
      assert_memory_equal(c, before, sizeof before);
      tesela_fake_reset();
      assert_int_equal(
          tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
          TESELA_OK);
      assert_memory_equal(c, expected, sizeof before);
      assert_int_equal(tesela_fake_calls(TESELA_FAKE_STREAM), 1); /* that of the failed run is not trusted */
    }
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
  assert_string_equal(tesela_fake_live_text(), "");
  tesela_fake_hide(0);
}

/* Takes a buffer, writes, multiplies in place of its own, and reads; stops at the first failure. */
static tesela_status use_buffers(tesela_context *context, float *result) {
  tesela_buffer *from = NULL, *to = NULL;
  tesela_status status;
  TSL_GO(tesela_buffer_create(context, "fake:0", sizeof a + sizeof b, &from));
  TSL_GO(tesela_buffer_create(context, "fake:0", sizeof before, &to));
  TSL_GO(tesela_buffer_write(from, 0, a, sizeof a));
  TSL_GO(tesela_buffer_write(from, sizeof a, b, sizeof b));
  TSL_GO(tesela_buffer_write(to, 0, before, sizeof before));
  tesela_gemm_desc desc = product();
  desc.a = (tesela_matrix){.buffer = from};
  desc.b = (tesela_matrix){.buffer = from, .offset = M * K + N - 1, .row_stride = N, .col_stride = -1};
  desc.c = (tesela_result){.buffer = to, .row_stride = N + GAP, .col_stride = 1};
  TSL_GO(tesela_gemm(context, &desc, NULL));
  TSL_GO(tesela_buffer_read(to, 0, result, sizeof before));
out:
  tesela_buffer_destroy(from);
  tesela_buffer_destroy(to);
  return status;
}

static void with_buffers(void **state) {
  (void)state;
  for (int operation = 0; operation < TESELA_FAKE_CALLS; operation++)
    for (int nth = 1, failed = 1; failed; nth++) {
      tesela_context *context;
      tesela_fake_reset();
      tesela_fake_fail((tesela_fake_operation)operation, nth);
      assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
      const tesela_status status = use_buffers(context, c);
      failed = tesela_fake_failures() > 0;
      if (failed)
        expect_failure(status, (tesela_fake_operation)operation, nth);
      else
        assert_int_equal(status, TESELA_OK);
      assert_true(failed || memcmp(c, expected, sizeof before) == 0);
      tesela_context_destroy(context);
      expect_nothing_left((tesela_fake_operation)operation, nth);
    }
}

/* Left to itself, the planner goes on to a device that works. */
static void the_planner_goes_on(void **state) {
  (void)state;
  tesela_context *context;
  tesela_record record;
  tesela_gemm_desc desc = product();
  desc.options.device = desc.options.strategy = NULL;
  memcpy(c, before, sizeof before);
  tesela_fake_reset();
  tesela_fake_fail_from(TESELA_FAKE_OPEN, 1);
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
  assert_null(strstr(record.plan, "fake"));
  assert_memory_equal(c, expected, sizeof before);
  tesela_context_destroy(context);
  tesela_fake_reset();
}

/* On a device with a mebibyte, plans with a hundred kibibytes of staging buffers each push each other out. */
static void remembered_plans_stay_small(void **state) {
  (void)state;
  enum { ROWS = 100, SHAPES = 30 };
  static float x[ROWS * ROWS], y[ROWS * ROWS];
  tesela_context *context;
  tsl_device *fake;
  tesela_fake_reset();
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  assert_int_equal(tsl_devices_find(context->devices, "fake:0", &fake), TESELA_OK);
  fake->memory_bytes = 1 << 20;
  for (int i = 0; i < SHAPES; i++) {
    const tesela_gemm_desc desc = {.m = ROWS,
                                   .n = ROWS,
                                   .k = ROWS - i,
                                   .a = {.data = x},
                                   .b = {.data = x},
                                   .c = {.data = y},
                                   .options.device = "fake:0",
                                   .options.strategy = "element"};
    assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
    assert_true(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER) <= 9);
  }
  tesela_context_destroy(context);
  assert_string_equal(tesela_fake_live_text(), "");
  tesela_fake_hide(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_copies),
      cmocka_unit_test(with_copies_and_clocks),
      cmocka_unit_test(with_shared_memory),
      cmocka_unit_test(with_mapped_memory),
      cmocka_unit_test(with_a_copied_result),
      cmocka_unit_test(half_of_a_result_promises_nothing),
      cmocka_unit_test(operands_between_each_other_are_copied),
      cmocka_unit_test(batches_go_backwards),
      cmocka_unit_test(with_images),
      cmocka_unit_test(plans_survive),
      cmocka_unit_test(with_buffers),
      cmocka_unit_test(the_planner_goes_on),
      cmocka_unit_test(remembered_plans_stay_small),
  };
  setenv("TESELA_SELFTEST", "0", 1); /* no self-tests: their calls would be counted too */
  tesela_fake_inner("opencl:0");
  tesela_fake_install();
  fill();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
