/* The small product on the host: every tile of every instruction set, whole and partial, in both
 * directions. All entry points give the same bits, and the fast path has the same errors as the
 * regular path. */
#include "unit/host_product.h"

#include <stdlib.h>
#include <string.h>

#include "strategy/gemm/host/host_small/host_small_job.h"
#include "strategy/host_jobs/host_job.h"

static int at_once;

/* Expects the same bits from a call without a job, where possible. Compares all of C's memory with
 * the job's result. */
static void expect_at_once(host_product *product, unsigned offers, const void *before) {
  void *c = product->operands.c.host, *by_job = host_product_keep(product);
  tsl_call called = tsl_call_of(&product->problem, &product->operands);
  host_product_restore(product, before);
  called.a.data = product->operands.a.host;
  called.b.data = product->operands.b.host;
  called.c.data = c;
  const bool done = tsl_small_run_direct(&called, offers);
  at_once += done;
  if (memcmp(c, done ? by_job : before, product->c_bytes) != 0)
    fail_msg("%lld x %lld x %lld at once differs", (long long)called.m, (long long)called.n,
             (long long)called.k);
  free(by_job);
}

static int far;

/* And by tiles for operands in no cache, where there are such. */
static void expect_far(host_product *product, unsigned offers, const void *before) {
  void *c = product->operands.c.host, *by_job = host_product_keep(product);
  const tsl_call called = tsl_call_of(&product->problem, &product->operands);
  tsl_small_job job;
  host_product_restore(product, before);
  if (tsl_small_job_make_far(&called, offers, &job)) {
    far++;
    assert_int_equal(tsl_small_job_run(&job, product->operands.a.host, product->operands.b.host, c),
                     TESELA_OK);
    if (memcmp(c, by_job, product->c_bytes) != 0)
      fail_msg("%lld x %lld x %lld far from caches differs", (long long)called.m, (long long)called.n,
               (long long)called.k);
  }
  host_product_restore(product, by_job);
  free(by_job);
}

static void expect_right(const tsl_problem *problem, unsigned offers) {
  host_product made = host_product_of(problem);
  tsl_small_job job;
  if (problem->beta[0] == 0)
    memset(made.operands.c.host, 0xff, made.c_bytes); /* NaN: never read */
  void *before = host_product_keep(&made);
  const tsl_call called = tsl_call_of(problem, &made.operands);
  tsl_small_job_make(&called, offers, &job, NULL);
  assert_int_equal(tsl_small_job_run(&job, made.operands.a.host, made.operands.b.host, made.operands.c.host),
                   TESELA_OK);
  expect_right_sums(&made, before, tsl_accuracy_of_sum(problem->k).factor);
  expect_far(&made, offers, before);
  if (!tsl_type(problem->c.type)->is_complex)
    expect_at_once(&made, offers, before);
  free(before);
  host_product_free(&made);
}

/* Returns the number of this processor's instruction sets, from its highest set down, in `out`. */
static int sets_of(unsigned out[4]) {
  tsl_devices *devices;
  tsl_device *device;
  int count = 0;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &device), TESELA_OK);
  out[count++] = 0;
  if (device->capabilities & TSL_CAN_AVX2)
    out[count++] = TSL_CAN_AVX2;
  if (device->capabilities & TSL_CAN_AVX512) {
    out[count++] = TSL_CAN_AVX2 | TSL_CAN_AVX512;
    out[count++] =
        TSL_CAN_AVX2 | TSL_CAN_AVX512 | TSL_CAN_AVX512_PAIRS; /* wider tiles of the same instructions */
  }
  tsl_devices_destroy(devices);
  return count;
}

static void set_layout(tsl_problem *problem, int layout) {
  tsl_shape *const shapes[] = {&problem->a, &problem->b, &problem->c};
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (layout >> i & 1)
      by_columns(shapes[i]);
}

static void every_tile(void **state) {
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  far = 0;
  for (int set = 0; set < count; set++)
    for (int type = TESELA_F64; type <= TESELA_F32; type++)
      for (int64_t rows = 1; rows <= 17; rows++)
        for (int64_t columns = 1; columns <= 49; columns += columns < 9 ? 1 : 5) {
          tsl_problem problem = tsl_problem_gemm(rows, columns, 3 + columns % 3, (tesela_type)type);
          problem.alpha[0] = rows % 2 ? 1 : -1.5;
          problem.beta[0] = columns % 2 ? 0 : 0.5;
          set_layout(&problem, (int)(rows + columns) % 8);
          expect_right(&problem, sets[set]);
        }
  assert_true(at_once > 0);
  assert_int_equal(far > 0, (sets[count - 1] & TSL_CAN_AVX512) != 0);
}

/* Products that a direct call takes: every layout of the smallest products, and larger ones with
 * gaps between lines. */
static void without_job(void **state) {
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  for (int set = 0; set < count; set++)
    for (int type = TESELA_F64; type <= TESELA_F32; type++)
      for (int way = 0; way < 16; way++)
        for (int64_t rows = 1; rows <= 64; rows += rows < 17 ? 3 : 23) {
          tsl_problem problem = tsl_problem_gemm(rows, (way * 5 + rows * 7) % 64 + 1,
                                                 1 + (way + 3 * rows) % 26, (tesela_type)type);
          problem.alpha[0] = way % 3 ? 1 : -1.5;
          problem.beta[0] = way % 2 ? 0 : 0.5;
          set_layout(&problem, way % 8);
          if (way >= 8) { /* padded */
            problem.a.row_stride += problem.a.row_stride > 1 ? 3 : 0;
            problem.b.row_stride += problem.b.row_stride > 1 ? 1 : 0;
            problem.c.row_stride += problem.c.row_stride > 1 ? 2 : 0;
          }
          expect_right(&problem, sets[set]);
        }
}

/* Products whose sizes tiles are made for, and the same next to them: what only the sums' number tells. */
static void exact_tiles(void **state) {
  static const int64_t sizes[] = {4, 8, 16};
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  for (int set = 0; set < count; set++)
    for (int type = TESELA_F64; type <= TESELA_F32; type++)
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 24; way++) {
          const int64_t size = sizes[i];
          tsl_problem problem = tsl_problem_gemm(way < 16 ? size : 2 * size, size,
                                                 way % 8 == 7 ? size + 1 : size, (tesela_type)type);
          problem.alpha[0] = way % 2 ? 1 : -1.5;
          problem.beta[0] = way / 2 % 2 ? 0 : 0.5;
          set_layout(&problem, way % 8);
          if (way >= 8) { /* padded */
            problem.a.row_stride += problem.a.row_stride > 1 ? 3 : 0;
            problem.b.row_stride += problem.b.row_stride > 1 ? 1 : 0;
            problem.c.row_stride += problem.c.row_stride > 1 ? 2 : 0;
          }
          expect_right(&problem, sets[set]);
        }
}

/* Complex tiles, whole and partial: conjugates, complex scalars, every layout, with and without gaps. */
static void complex_tiles(void **state) {
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  for (int set = 0; set < count; set++)
    for (int type = TESELA_C64; type <= TESELA_C128; type++)
      for (int64_t rows = 1; rows <= 26; rows++)
        for (int64_t columns = 1; columns <= 25; columns += columns < 9 ? 1 : 4) {
          const int way = (int)(5 * rows + columns);
          tsl_problem problem = tsl_problem_gemm(rows, columns, 1 + way % 9, (tesela_type)type);
          problem.conjugate_a = way % 2;
          problem.conjugate_b = way / 2 % 2;
          problem.alpha[0] = way % 3 ? 1 : -1.5;
          problem.alpha[1] = way % 3 == 2 ? 0.75 : 0;
          problem.beta[0] = way % 5 < 2 ? 0 : 0.5;
          problem.beta[1] = way % 5 == 4 ? -2 : 0;
          set_layout(&problem, (int)(rows + columns) % 8);
          if (way / 4 % 2) {
            problem.a.row_stride += problem.a.row_stride > 1 ? 3 : 0;
            problem.b.row_stride += problem.b.row_stride > 1 ? 1 : 0;
            problem.c.row_stride += problem.c.row_stride > 1 ? 2 : 0;
          }
          expect_right(&problem, sets[set]);
        }
}

/* Copies on the stack, and copies that are too large for the stack. */
static void copies(void **state) {
  static const tesela_type types[] = {TESELA_F64, TESELA_F32, TESELA_C64, TESELA_C128};
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  for (int set = 0; set < count; set++)
    for (int t = 0; t < 4; t++)
      for (int layout = 0; layout < 8; layout++) {
        const bool is_complex =
            tsl_type(types[t])->is_complex; /* fewer: an emulator checks these sums slowly */
        tsl_problem problem =
            tsl_problem_gemm(is_complex ? 7 : 21, is_complex ? 11 : 37, layout % 2 ? 1030 : 30, types[t]);
        problem.b.row_stride = 3; /* no direction lies side by side */
        problem.b.col_stride = 3 * problem.k;
        problem.beta[0] = 2;
        set_layout(&problem, layout & 5);
        expect_right(&problem, sets[set]);
      }
}

/* Rows of B that share a set of the first-level cache are copied if three tiles or more read them. */
static void conflicting_rows_are_copied(void **state) {
  unsigned sets[4];
  const int count = sets_of(sets);
  (void)state;
  for (int set = 0; set < count; set++)
    for (int type = 0; type < 4; type++)
      for (int64_t rows = 1; rows <= 33; rows += 8)
        for (int columns = 0; columns < 2; columns++) {
          const tesela_type word =
              (const tesela_type[]){TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128}[type];
          tsl_problem problem = tsl_problem_gemm(rows, columns ? 37 : 3, 9, word);
          problem.b.row_stride = (int64_t)(4096 / tsl_type(word)->size);
          const tsl_operands strides = tsl_strides_of(&problem);
          const tsl_call called = tsl_call_of(&problem, &strides);
          tsl_small_job job;
          tsl_small_job_make(&called, sets[set], &job, NULL);
          const tsl_small_panel *panel = job.panels > 1 ? &job.whole : &job.last;
          assert_int_equal(job.copies_b, panel->tallers + panel->lowers > 2);
          expect_right(&problem, sets[set]);
        }
}

/* --- the public calls --- */

enum { SIZE = 13, COUNT = SIZE * SIZE };
static float a[COUNT], b[COUNT], c[3][COUNT];

static tesela_gemm_desc desc_of(float *dst) {
  return (tesela_gemm_desc){.m = SIZE,
                            .n = SIZE,
                            .k = SIZE,
                            .a = {.data = a},
                            .b = {.data = b},
                            .c = {.data = dst},
                            .options.device = "cpu",
                            .options.strategy = "host_small"};
}

static void same_bits(void **state) {
  tesela_context *context;
  tesela_plan *plan;
  tesela_record record;
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    a[i] = (float)(i * 37 % 101) / 7;
    b[i] = (float)(i * 53 % 97) / 3 - 11;
  }
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  const tesela_gemm_desc desc = desc_of(c[0]), second = desc_of(c[1]), third = desc_of(c[2]);
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
                   TESELA_OK);
  assert_int_equal(
      tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &second.c}, &record),
      TESELA_OK);
  assert_true(record.error_bound > 0);
  assert_int_equal(tesela_gemm(context, &third, NULL), TESELA_OK);
  assert_memory_equal(c[0], c[1], sizeof c[0]);
  assert_memory_equal(c[0], c[2], sizeof c[0]);
  assert_true(c[0][0] != 0);
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
}

static void expect_refused(tesela_plan *plan, const void *first, const void *second, void *result,
                           const char *word) {
  union {
    const void *read;
    void *any;
  } from_a = {first}, from_b = {second};
  const tesela_matrix left = {.data = from_a.any}, right = {.data = from_b.any};
  const tesela_result out = {.data = result};
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.a = &left, .b = &right, .c = &out}, NULL),
                   TESELA_BAD_CALL);
  if (!strstr(tesela_last_error(), word))
    print_error("'%s' has no '%s'\n", tesela_last_error(), word);
  assert_non_null(strstr(tesela_last_error(), word));
}

static void wrong_calls(void **state) {
  static float block[3 * COUNT + 1];
  tesela_context *context;
  tesela_plan *plan;
  (void)state;
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  const tesela_gemm_desc desc = desc_of(c[0]);
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  float *const at = block + COUNT;
  expect_refused(plan, NULL, b, at, "a.data is NULL");
  expect_refused(plan, a, b, NULL, "c.data is NULL");
  expect_refused(plan, a, (const char *)b + 2, at, "aligned");
  expect_refused(plan, at, b, at, "overlaps a");
  expect_refused(plan, at + COUNT - 1, b, at, "overlaps a");
  expect_refused(plan, a, at - COUNT + 1, at, "overlaps b");
  /* Neighbours do not overlap. */
  const tesela_matrix below = {.data = at - COUNT}, above = {.data = at + COUNT};
  const tesela_result out = {.data = at};
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.a = &below, .b = &above, .c = &out}, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_plan_run(plan, &(tesela_operands){.b = &above, .c = &out}, NULL), TESELA_BAD_CALL);
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_tile),  cmocka_unit_test(exact_tiles),
      cmocka_unit_test(without_job), cmocka_unit_test(complex_tiles),
      cmocka_unit_test(copies),      cmocka_unit_test(same_bits),
      cmocka_unit_test(wrong_calls), cmocka_unit_test(conflicting_rows_are_copied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
