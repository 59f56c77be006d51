/* tesela_gemm_batched(): the bits of single calls by strides and by addresses, shared operands, one run on a
 * device, and a sentence for every wrong call, before anything is computed. */
#include "core/log.h"
#include "opencl.h"
#include "unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>
#include <unistd.h>

enum { M = 9, N = 14, K = 11, COUNT = 300, A = M * K, B = K * N, C = M * N + 3 };

static tesela_context *context;
static float a[COUNT * A], b[COUNT * B], c[COUNT * C], expected[COUNT * C];
static const double beta = 0.5;

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < COUNT * A; i++)
    a[i] = (float)(i * 37 % 101) / 7 - 6;
  for (int i = 0; i < COUNT * B; i++)
    b[i] = (float)(i * 53 % 97) / 3 - 11;
  return tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

static void reset(void) {
  for (int i = 0; i < COUNT * C; i++)
    c[i] = expected[i] = (float)(i % 31);
}

static tesela_gemm_desc desc_of(const char *strategy) {
  return (tesela_gemm_desc){.m = M,
                            .n = N,
                            .k = K,
                            .a = {.data = a},
                            .b = {.data = b},
                            .c = {.data = c},
                            .beta = &beta,
                            .options.strategy = strategy};
}

static void one_by_one(const char *strategy, int64_t a_stride) {
  for (int64_t i = 0; i < COUNT; i++) {
    tesela_gemm_desc desc = desc_of(strategy);
    desc.a.data = a + i * a_stride;
    desc.b.data = b + i * B;
    desc.c.data = expected + i * C;
    assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
  }
}

static void same_bits(void **state) {
  static const char *const strategies[] = {"host_small", "host_packed", "sequential_optimized", NULL};
  (void)state;
  for (int s = 0; s < 4; s++) {
    tesela_record record;
    tesela_gemm_desc desc = desc_of(strategies[s]);
    const tesela_batch by_strides = {.count = COUNT, .a_stride = A, .b_stride = B, .c_stride = C};
    reset();
    one_by_one(strategies[s], A);
    assert_int_equal(tesela_gemm_batched(context, &desc, &by_strides, &record), TESELA_OK);
    assert_memory_equal(c, expected, sizeof c);
    assert_true(record.seconds > 0 && record.error_bound > 0 && strstr(record.plan, "m=9 n=14 k=11"));
    const void *each_a[COUNT];
    void *each_c[COUNT];
    for (int i = 0; i < COUNT; i++) { /* backwards; one A for all */
      each_a[i] = a;
      each_c[i] = c + (COUNT - 1 - i) * C;
    }
    desc.a.data = desc.c.data = NULL;
    desc.b.data = b + (COUNT - 1) * B;
    const tesela_batch by_addresses = {.count = COUNT, .a = each_a, .c = each_c, .b_stride = -B};
    reset();
    one_by_one(strategies[s], 0);
    assert_int_equal(tesela_gemm_batched(context, &desc, &by_addresses, NULL), TESELA_OK);
    assert_memory_equal(c, expected, sizeof c);
  }
}

/* Many more than caches hold, whose operands are read in another order. */
static void past_the_caches(void **state) {
  enum { SIDE = 30, ONE = SIDE * SIDE, MANY = 4000, EACH = 397 };
  (void)state;
  double *all = malloc(3 * sizeof *all * ONE * MANY), one[ONE];
  assert_non_null(all);
  for (int i = 0; i < 3 * ONE * MANY; i++)
    all[i] = (double)(i * 29 % 113) / 11 - 5;
  double *to = all + 2 * ONE * MANY;
  tesela_gemm_desc desc = {.m = SIDE,
                           .n = SIDE,
                           .k = SIDE,
                           .a = {.data = all, .type = TESELA_F64},
                           .b = {.data = all + ONE * MANY, .type = TESELA_F64},
                           .c = {.data = to}};
  const tesela_batch batch = {.count = MANY, .a_stride = ONE, .b_stride = ONE, .c_stride = ONE};
  assert_int_equal(tesela_gemm_batched(context, &desc, &batch, NULL), TESELA_OK);
  for (int i = 0; i < MANY; i += EACH) {
    desc.a.data = all + i * ONE;
    desc.b.data = all + (MANY + i) * ONE;
    desc.c.data = one;
    assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
    assert_memory_equal(one, to + i * ONE, sizeof one);
  }
  free(all);
}

static void in_buffers(void **state) {
  tesela_buffer *buffers[3];
  (void)state;
  const size_t sizes[3] = {sizeof a, sizeof b, sizeof c};
  const void *const from[3] = {a, b, c};
  reset();
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tesela_buffer_create(context, "cpu", sizes[i], &buffers[i]), TESELA_OK);
    assert_int_equal(tesela_buffer_write(buffers[i], 0, from[i], sizes[i]), TESELA_OK);
  }
  tesela_gemm_desc desc = desc_of("host_small");
  desc.a = (tesela_matrix){.buffer = buffers[0]};
  desc.b = (tesela_matrix){.buffer = buffers[1]};
  desc.c = (tesela_result){.buffer = buffers[2]};
  const tesela_batch batch = {.count = COUNT, .a_stride = A, .b_stride = B, .c_stride = C};
  one_by_one("host_small", A);
  assert_int_equal(tesela_gemm_batched(context, &desc, &batch, NULL), TESELA_OK);
  assert_int_equal(tesela_buffer_read(buffers[2], 0, c, sizeof c), TESELA_OK);
  assert_memory_equal(c, expected, sizeof c);
  const tesela_batch longer = {.count = COUNT + 1, .a_stride = A, .b_stride = B, .c_stride = C};
  assert_int_equal(tesela_gemm_batched(context, &desc, &longer, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "product 300: a.offset"));
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* Sums of small whole numbers are exact in any order. Matrices of the batch lie apart, C's backwards; B is
 * one for all. */
enum { DM = 37, DN = 29, DK = 300, DCOUNT = 7, DA = DM * DK + 5, DC = DM * DN + 3 };
static float device_a[DCOUNT * DA], device_b[DK * DN], device_c[DCOUNT * DC], device_right[DCOUNT * DC];

static void fill_device_data(void) {
  for (int i = 0; i < DCOUNT * DA; i++)
    device_a[i] = (float)(i * 37 % 11 - 5);
  for (int i = 0; i < DK * DN; i++)
    device_b[i] = (float)(i * 53 % 13 - 6);
  for (int i = 0; i < DCOUNT * DC; i++)
    device_c[i] = device_right[i] = (float)(i % 31);
  for (int p = 0; p < DCOUNT; p++)
    for (int i = 0; i < DM; i++)
      for (int j = 0; j < DN; j++) {
        float *at = device_right + (DCOUNT - 1 - p) * DC + i * DN + j, sum = 0;
        for (int l = 0; l < DK; l++)
          sum += device_a[p * DA + i * DK + l] * device_b[l * DN + j];
        *at = sum + 2 * *at;
      }
}

static void on_a_device(void **state) {
  static const struct {
    const char *strategy, *plan;
    bool together;
  } ways[] = {
      {"register_tile", "gemm register_tile", true},
      {"register_tile form=local tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=16 slices=2 split=4",
       "split=4", true},
      {"thin_tile", "gemm thin_tile", true},
      {"thin_tile vector=16 micro_m=4 micro_n=4 items_m=2 items_n=4 slices=8 split=2", "split=2", true},
      {NULL, "batch=7", true},
      {"tile_local", "gemm tile_local", false}};
  static const double two = 2;
  const size_t sizes[3] = {sizeof device_a, sizeof device_b, sizeof device_c};
  const void *const from[3] = {device_a, device_b, device_c};
  tesela_buffer *buffers[3];
  static float got[DCOUNT * DC];
  (void)state;
  fill_device_data();
  for (int i = 0; i < 3; i++)
    assert_int_equal(tesela_buffer_create(context, "opencl:0", sizes[i], &buffers[i]), TESELA_OK);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    for (int i = 0; i < 3; i++)
      assert_int_equal(tesela_buffer_write(buffers[i], 0, from[i], sizes[i]), TESELA_OK);
    const tesela_gemm_desc desc = {.m = DM,
                                   .n = DN,
                                   .k = DK,
                                   .a = {.buffer = buffers[0]},
                                   .b = {.buffer = buffers[1]},
                                   .c = {.buffer = buffers[2], .offset = (DCOUNT - 1) * DC},
                                   .beta = &two,
                                   .options.strategy = ways[w].strategy};
    const tesela_batch batch = {.count = DCOUNT, .a_stride = DA, .c_stride = -DC};
    tesela_record record;
    if (tesela_gemm_batched(context, &desc, &batch, &record) != TESELA_OK)
      fail_msg("%s: %s", ways[w].plan, tesela_last_error());
    assert_non_null(strstr(record.plan, ways[w].plan));
    assert_true((strstr(record.plan, "batch=7") != NULL) == ways[w].together);
    assert_int_equal(tesela_buffer_read(buffers[2], 0, got, sizeof got), TESELA_OK);
    assert_memory_equal(got, device_right, sizeof got);
    tesela_plan *plan; /* of a batch: steps from product to product are no plan's */
    const tesela_status parsed = tesela_plan_parse(context, record.plan, &plan);
    assert_int_equal(parsed, ways[w].together ? TESELA_BAD_INPUT : TESELA_OK);
    if (ways[w].together && !strstr(tesela_last_error(), "batch= is only for tesela_gemm_batched()"))
      fail_msg("%s: %s", record.plan, tesela_last_error());
    tesela_plan_destroy(plan);
  }
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* Batches in host memory: one transfer and one run. Where memory is shared, aligned operands are
 * not copied. Elements between the results are not written. */
static void from_host_memory(void **state) {
  static const double two = 2;
  static const char *const strategies[] = {"register_tile", "thin_tile", "tile_local"};
  static float got[DCOUNT * DC + 64], right[DCOUNT * DC + 64];
  (void)state;
  fill_device_data();
  for (size_t s = 0; s < 6; s++) {
    const int off = s < 3 ? 1 : (int)(-(uintptr_t)got % 64 / sizeof *got); /* off, and on a line of a cache */
    for (size_t i = 0; i < sizeof got / sizeof *got; i++)
      got[i] = right[i] = -7;
    memcpy(got + off, device_c, sizeof device_c);
    memcpy(right + off, device_right, sizeof device_right);
    const tesela_gemm_desc desc = {.m = DM,
                                   .n = DN,
                                   .k = DK,
                                   .a = {.data = device_a},
                                   .b = {.data = device_b},
                                   .c = {.data = got + off + (DCOUNT - 1) * DC},
                                   .beta = &two,
                                   .options.device = "opencl:0",
                                   .options.strategy = strategies[s % 3]};
    const tesela_batch batch = {.count = DCOUNT, .a_stride = DA, .c_stride = -DC};
    tesela_record record;
    if (tesela_gemm_batched(context, &desc, &batch, &record) != TESELA_OK)
      fail_msg("%s: %s", strategies[s % 3], tesela_last_error());
    assert_true((strstr(record.plan, "batch=7") != NULL) == (s % 3 < 2));
    assert_memory_equal(got, right, sizeof got);
  }
}

/* Rows with gaps, columns with gaps, and a batch whose products lie closer than a product's rows reach. */
static void from_gaps_in_host_memory(void **state) {
  enum { SIZE = 6, PRODUCTS = 4 };
  static float x[4096], y[4096], z[4096], expected_z[4096];
  (void)state;
  for (int i = 0; i < 4096; i++) {
    x[i] = (float)(i % 17 - 8);
    y[i] = (float)(i % 23 - 11);
    z[i] = expected_z[i] = (float)(i % 5);
  }
  tesela_gemm_desc desc = {.m = SIZE,
                           .n = SIZE,
                           .k = SIZE,
                           .a = {.data = x, .row_stride = 1, .col_stride = 9},
                           .b = {.data = y, .row_stride = 40, .col_stride = 2},
                           .c = {.data = expected_z, .row_stride = 50, .col_stride = 1},
                           .beta = &beta};
  const tesela_batch batch = {.count = PRODUCTS, .a_stride = 3, .b_stride = 13, .c_stride = 12};
  assert_int_equal(tesela_gemm_batched(context, &desc, &batch, NULL), TESELA_OK);
  desc.c.data = z;
  desc.options.device = "opencl:0";
  desc.options.strategy = "register_tile";
  tesela_record record;
  assert_int_equal(tesela_gemm_batched(context, &desc, &batch, &record), TESELA_OK);
  assert_non_null(strstr(record.plan, "batch=4"));
  assert_memory_equal(z, expected_z, sizeof z);
}

/* How often the planner was asked for a batch's plan in one call. */
static int plans_asked(const tesela_gemm_desc *desc, const tesela_batch *batch) {
  char line[4096];
  int count = 0;
  FILE *log = tmpfile();
  assert_non_null(log);
  const int kept = dup(STDERR_FILENO);
  assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
  setenv("TESELA_LOG", "plan", 1);
  tsl_log_reload();
  const tesela_status status = tesela_gemm_batched(context, desc, batch, NULL);
  unsetenv("TESELA_LOG");
  tsl_log_reload();
  assert_true(dup2(kept, STDERR_FILENO) >= 0);
  close(kept);
  assert_int_equal(status, TESELA_OK);
  rewind(log);
  while (fgets(line, sizeof line, log))
    count += strstr(line, "batch=7") != NULL;
  fclose(log);
  return count;
}

/* A batch that no strategy computes in one run is planned once, not at every call. */
static void refused_once(void **state) {
  const size_t sizes[3] = {sizeof device_a, sizeof device_b, sizeof device_c};
  tesela_buffer *buffers[3];
  (void)state;
  tesela_gemm_desc desc = {.m = DM,
                           .n = DN,
                           .k = DK,
                           .a = {.data = device_a},
                           .b = {.data = device_b},
                           .c = {.data = device_c},
                           .options.device = "opencl:0",
                           .options.strategy = "element"};
  const tesela_batch batch = {.count = DCOUNT, .a_stride = DA, .c_stride = DC};
  assert_int_equal(plans_asked(&desc, &batch), 1);
  assert_int_equal(plans_asked(&desc, &batch), 0);
  for (int i = 0; i < 3; i++)
    assert_int_equal(tesela_buffer_create(context, "opencl:0", sizes[i], &buffers[i]), TESELA_OK);
  desc.a = (tesela_matrix){.buffer = buffers[0]};
  desc.b = (tesela_matrix){.buffer = buffers[1]};
  desc.c = (tesela_result){.buffer = buffers[2]};
  assert_int_equal(plans_asked(&desc, &batch), 1);
  assert_int_equal(plans_asked(&desc, &batch), 0);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

static void expect_refused(const tesela_gemm_desc *desc, const tesela_batch *batch, const char *words) {
  reset();
  assert_int_equal(tesela_gemm_batched(context, desc, batch, NULL), TESELA_BAD_CALL);
  if (!strstr(tesela_last_error(), words))
    print_error("'%s' lacks '%s'\n", tesela_last_error(), words);
  assert_non_null(strstr(tesela_last_error(), words));
  assert_memory_equal(c, expected, sizeof c);
}

static void wrong_calls(void **state) {
  (void)state;
  const tesela_gemm_desc desc = desc_of(NULL);
  const tesela_batch good = {.count = COUNT, .a_stride = A, .b_stride = B, .c_stride = C};
  tesela_batch batch = good;
  expect_refused(&desc, NULL, "batch is NULL");
  expect_refused(NULL, &good, "desc is NULL");
  batch.count = -1;
  expect_refused(&desc, &batch, "batch.count is -1");
  batch = good;
  batch.c_stride = 0;
  expect_refused(&desc, &batch, "batch.c_stride is 0");
  batch.c_stride = M * N - 1;
  expect_refused(&desc, &batch, "overwrite each other");
  batch = good;
  batch.a_stride = INT64_MAX / 64;
  expect_refused(&desc, &batch, "batch.a_stride");
  const void *each[COUNT];
  for (int i = 0; i < COUNT; i++)
    each[i] = a + i * A;
  batch = good;
  batch.a = each;
  expect_refused(&desc, &batch, "batch.a and desc.a.data");
  tesela_gemm_desc by_address = desc;
  by_address.a.data = NULL;
  each[217] = NULL;
  expect_refused(&by_address, &batch, "product 217: a.data is NULL");
  each[217] = c + 217 * C;
  expect_refused(&by_address, &batch, "product 217: c overlaps a");
  batch = good;
  batch.count = 0;
  assert_int_equal(tesela_gemm_batched(context, &desc, &batch, NULL), TESELA_OK);
  assert_memory_equal(c, expected, sizeof c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits),
      cmocka_unit_test(past_the_caches),
      cmocka_unit_test(wrong_calls),
  };
  const struct CMUnitTest on_opencl[] = {
      cmocka_unit_test(in_buffers),       cmocka_unit_test(on_a_device),
      cmocka_unit_test(from_host_memory), cmocka_unit_test(from_gaps_in_host_memory),
      cmocka_unit_test(refused_once),
  };
  const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
  if (failed)
    return failed;
  return opencl_is_missing() ? OPENCL_SKIPPED : cmocka_run_group_tests(on_opencl, set_up, tear_down);
}
