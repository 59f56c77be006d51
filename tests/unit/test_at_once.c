/* Products that are done without looking for a plan: which they are, and that they have the bits of a plan.
 */
#include "unit/unit.h"

#include "api/small_gemm.h"
#include "core/random.h"
#include "dispatch/direct_rule.h"
#include "planner/planner.h"

#include <string.h>
#include <tesela/tesela.h>

static bool is_done_at_once(tesela_context *context, const tesela_gemm_desc *desc) {
  return tsl_small_gemm_run(context, desc);
}

static tsl_devices *devices;
static tsl_device *cpu;
static tesela_context *context;

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK ||
         tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  tsl_devices_destroy(devices);
  return 0;
}

static bool is_taken(const tsl_problem *problem, const tsl_wisdom *wisdom) {
  const tsl_choice choice = {.devices = devices, .device = "cpu", .wisdom = wisdom};
  return tsl_direct_strategy(problem, &choice) != NULL;
}

static void test_which(void **state) {
  (void)state;
  const tsl_problem plain = tsl_problem_gemm(12, 13, 14, TESELA_F32);
  assert_true(is_taken(&plain, NULL));
  tsl_problem other = tsl_problem_gemm(32, 32, 32, TESELA_F64);
  assert_true(is_taken(&other, NULL));
  const tsl_problem left_out[] = {
      tsl_problem_gemm(101, 100, 100, TESELA_F32), tsl_problem_gemm(4, 4, 65, TESELA_F32),
      tsl_problem_gemm(100, 100, 8, TESELA_F32),   tsl_problem_gemm(2, 64, 64, TESELA_F32),
      tsl_problem_gemm(8, 8, 8, TESELA_C64),       tsl_problem_gemm(8, 8, 8, TESELA_BF16),
      tsl_problem_gemm(0, 8, 8, TESELA_F32),       tsl_problem_gemm(8, 8, 0, TESELA_F32)};
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
    assert_false(is_taken(&left_out[i], NULL));
  other = plain;
  other.alpha[0] = 0;
  assert_false(is_taken(&other, NULL));
  other = plain;
  other.ask.bits = TSL_REPRODUCIBILITY_RUN;
  assert_false(is_taken(&other, NULL));
  other = plain;
  other.activation = TESELA_RELU;
  assert_false(is_taken(&other, NULL));
  other = plain; /* B by its columns: to be copied */
  other.b.row_stride = 1;
  other.b.col_stride = other.k;
  assert_false(is_taken(&other, NULL));
  other.c.row_stride = 1; /* with C and A by theirs, too, nothing is */
  other.c.col_stride = other.m;
  other.a.row_stride = 1;
  other.a.col_stride = other.m;
  assert_true(is_taken(&other, NULL));
}

/* Products for many threads, and products whose layout is slow for a strategy that does not copy,
 * are refused. */
static void test_larger(void **state) {
  (void)state;
  const tsl_problem larger = tsl_problem_gemm(33, 100, 90, TESELA_F64);
  tsl_problem apart = larger;
  apart.b.row_stride = 1024;
  const int threads = cpu->threads;
  cpu->threads = 2;
  assert_true(is_taken(&larger, NULL));
  assert_false(is_taken(&apart, NULL));
  cpu->threads = 16;
  assert_false(is_taken(&larger, NULL));
  cpu->threads = threads;
}

/* exact gives a thread at least one block of C, so more threads than blocks do not help a thin product. */
static void test_few_blocks(void **state) {
  (void)state;
  const tsl_problem thin = tsl_problem_gemm(8, 144, 464, TESELA_F32);
  tsl_strategy_request request;
  assert_int_equal(tsl_planner_request(TSL_OP_GEMM, "exact", &request), TESELA_OK);
  const int threads = cpu->threads, counts[] = {1, 16, 64};
  double seconds[3];
  for (int i = 0; i < 3; i++) {
    cpu->threads = counts[i];
    seconds[i] = request.strategy->score(&thin, &request.config, cpu);
  }
  cpu->threads = threads;
  assert_true(seconds[1] > seconds[0] / 5);
  assert_true(seconds[2] == seconds[1]);
}

static void test_choices(void **state) {
  (void)state;
  const tsl_problem plain = tsl_problem_gemm(12, 13, 14, TESELA_F32);
  tsl_choice choice = {.devices = devices, .device = "auto", .sparing = true};
  assert_non_null(tsl_direct_strategy(&plain, &choice));
  choice.sparing = false; /* a list of all devices */
  assert_null(tsl_direct_strategy(&plain, &choice));
  choice = (tsl_choice){.devices = devices, .device = "opencl:0"};
  assert_null(tsl_direct_strategy(&plain, &choice));
  choice = (tsl_choice){.devices = devices, .device = "cpu", .strategy = "host_packed"};
  assert_null(tsl_direct_strategy(&plain, &choice));
  choice = (tsl_choice){.devices = devices, .device = "cpu", .vendors = true};
  assert_null(tsl_direct_strategy(&plain, &choice));
  choice = (tsl_choice){.devices = devices, .device = "cpu", .place = TSL_PLACE_DEVICE};
  assert_null(tsl_direct_strategy(&plain, &choice));
}

/* A measurement of a similar product decides. */
static void test_wisdom(void **state) {
  (void)state;
  const tsl_problem measured = tsl_problem_gemm(20, 20, 20, TESELA_F32),
                    near = tsl_problem_gemm(12, 12, 12, TESELA_F32),
                    far = tsl_problem_gemm(8, 12, 12, TESELA_F32),
                    other_type = tsl_problem_gemm(20, 20, 20, TESELA_F64);
  tsl_strategy_request request;
  tsl_text line = {0};
  tsl_wisdom *wisdom;
  assert_int_equal(tsl_planner_request(TSL_OP_GEMM, "sequential", &request), TESELA_OK);
  const tsl_wisdom_record record =
      tsl_wisdom_record_of(&measured, request.strategy, &request.config, cpu, 1e-6, 0);
  tsl_wisdom_print(&record, &line);
  for (int own = 0; own < 2; own++) {
    const char *text = tsl_text_get(&line);
    assert_int_equal(tsl_wisdom_from(own ? "" : text, own ? text : "", &wisdom), TESELA_OK);
    assert_false(is_taken(&measured, wisdom));
    assert_false(is_taken(&near, wisdom));
    assert_true(is_taken(&far, wisdom));
    assert_true(is_taken(&other_type, wisdom));
    tsl_wisdom_close(wisdom);
  }
  tsl_text_free(&line);
}

/* --- the public call --- */

enum { MOST = 40, COUNT = MOST * MOST };
static double a[COUNT], b[COUNT], by_plan[COUNT], at_once[COUNT];

static tesela_gemm_desc product(int64_t m, int64_t n, int64_t k, tesela_type type, double *c) {
  return (tesela_gemm_desc){.m = m,
                            .n = n,
                            .k = k,
                            .a = {.data = a, .type = type},
                            .b = {.data = b, .type = type},
                            .c = {.data = c}};
}

static void test_bits(void **state) {
  (void)state;
  static const double alphas[] = {1, -0.7}, betas[] = {0, 1, 0.3};
  tesela_record record;
  for (int type = TESELA_F64; type <= TESELA_F32; type++)
    for (int i = 0; i < 300; i++) {
      const int64_t m = 1 + i * 7 % 39, n = 1 + i * 11 % 37, k = 1 + i * 13 % 33;
      tesela_gemm_desc desc = product(m, n, k, (tesela_type)type, by_plan);
      tsl_random_fill(TSL_DRAW_NORMAL, 1, 0, (tesela_type)type, a, COUNT);
      tsl_random_fill(TSL_DRAW_NORMAL, 2, 0, (tesela_type)type, b, COUNT);
      tsl_random_fill(TSL_DRAW_NORMAL, 3, 0, (tesela_type)type, by_plan, COUNT);
      memcpy(at_once, by_plan, sizeof at_once);
      desc.alpha = &alphas[i % 2];
      desc.beta = &betas[i % 3];
      desc.a.transpose = i / 2 % 2;
      desc.b.transpose = i / 4 % 4 == 3;
      desc.c.transpose = i / 8 % 2;
      assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
      desc.c.data = at_once;
      assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
      if (memcmp(by_plan, at_once, sizeof at_once) != 0)
        fail_msg("%d: %lld x %lld x %lld differs from its plan", i, (long long)m, (long long)n, (long long)k);
    }
}

/* C is unchanged, and the regular path returns the error message. */
static void test_wrong(void **state) {
  (void)state;
  tesela_context *own;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &own), TESELA_OK);
  assert_int_equal(tesela_wisdom_forget(own), TESELA_OK);
  tesela_gemm_desc desc = product(9, 9, 9, TESELA_F64, at_once);
  assert_true(is_done_at_once(own, &desc));
  memcpy(by_plan, at_once, sizeof at_once);
  desc.c.data = a + 3;
  assert_false(is_done_at_once(own, &desc));
  assert_int_equal(tesela_gemm(own, &desc, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "overlaps"));
  desc.c.data = at_once;
  desc.a.data = (char *)a + 4;
  assert_false(is_done_at_once(own, &desc));
  desc.a.data = NULL;
  assert_false(is_done_at_once(own, &desc));
  desc = product(9, -1, 9, TESELA_F64, at_once);
  assert_false(is_done_at_once(own, &desc));
  desc = product(9, 9, 9, TESELA_F64, at_once);
  desc.a.row_stride = 2;
  desc.a.col_stride = 1;
  desc.c.row_stride = 3; /* elements of C overlap */
  assert_false(is_done_at_once(own, &desc));
  assert_memory_equal(by_plan, at_once, sizeof at_once);
  tesela_context_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_which),   cmocka_unit_test(test_larger), cmocka_unit_test(test_few_blocks),
      cmocka_unit_test(test_choices), cmocka_unit_test(test_wisdom), cmocka_unit_test(test_bits),
      cmocka_unit_test(test_wrong),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
