/* opencl_mma: what it refuses, how much scratch memory it asks for, and what its model likes on devices that exist on
 * paper. What it computes, check_strategy says on devices that have matrix instructions. */
#include "unit/config.h"
#include "unit/unit.h"

#include <math.h>
#include <string.h>

#include "strategy/gemm/opencl_mma/opencl_mma.h"

static const tsl_strategy *strategy;

/* A large graphics processor whose kernels may have more local memory than its driver tells. */
static const tsl_device graphics = {.kind = "paper",
                                    .name = "paper:0",
                                    .capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_MMA,
                                    .compute_units = 132,
                                    .clock_mhz = 1980,
                                    .memory_bytes = (uint64_t)1 << 37,
                                    .allocation_max = (uint64_t)1 << 37,
                                    .local_bytes = 49152,
                                    .local_bytes_inside = 227 << 10,
                                    .group_items_max = 1024,
                                    .group_size_max = {1024, 1024, 64},
                                    .group_count_max = {INT32_MAX, 65535, 65535},
                                    .warp = 32,
                                    .vector_f32 = 1,
                                    .vector_f64 = 1,
                                    .peak_f32 = 6.7e13,
                                    .peak_f64 = 3.3e13,
                                    .bandwidth = 4.8e12,
                                    .launch_seconds = 4e-6};

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type ab, tesela_type c) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, c);
  problem.a.type = problem.b.type = ab;
  return problem;
}

static void assert_refused(const char *text, const tsl_device *device, const tsl_problem *problem,
                           const char *part) {
  const tsl_config config = config_of(strategy, text);
  const char *why = tsl_strategy_refuse(strategy, problem, &config, device);
  if (!why || !strstr(why, part))
    fail_msg("%s: '%s' does not say '%s'", text, why ? why : "(can)", part);
}

static void refusals_have_numbers(void **state) {
  (void)state;
  tsl_device plain = graphics, other = graphics;
  plain.local_bytes_inside = 0;
  other.capabilities &= ~(unsigned)TSL_CAN_MMA;
  const tsl_problem floats = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32),
                    bytes = problem_of(256, 256, 256, TESELA_I8, TESELA_I32),
                    wide = problem_of(256, 256, 256, TESELA_F32, TESELA_F32);
  assert_refused("", &other, &floats, "matrix instructions");
  assert_refused("", &graphics, &wide, "narrow types");
  assert_refused("tile_m=256 tile_n=256 warp_m=32 warp_n=32", &graphics, &floats, "2048 work-items");
  assert_refused("tile_m=128 tile_n=256 depth=128 stages=4", &plain, &floats,
                 "196608 bytes of local memory, paper:0 has 49152");
  assert_refused("tile_m=256 tile_n=256 depth=128 stages=4", &graphics, &floats,
                 "512 work-items: takes 128 to 256");
  /* Row-major: 128 numbers of B of one byte lie side by side in a block, 64 of two bytes. */
  assert_refused("tile_m=256 tile_n=64 warp_n=32", &graphics, &bytes, "tile_n=64 is no multiple of the 128");
  const tsl_config narrow = config_of(strategy, "tile_m=256 tile_n=64 warp_n=32");
  assert_null(tsl_strategy_refuse(strategy, &floats, &narrow, &graphics));
}

/* Operands that lie badly are packed: each row to a multiple of 16 bytes, each operand to one of 128. */
static void scratch_holds_both_operands(void **state) {
  (void)state;
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem problem = problem_of(5, 7, 9, TESELA_BF16, TESELA_F32);
  /* A: 5 rows of 9 numbers, 32 bytes each; B: 9 rows of 7, 16 bytes each. */
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &graphics), 256 + 256);
  problem.b.row_stride = 1, problem.b.col_stride = 9; /* 7 columns of 9 numbers */
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &graphics), 256 + 256);
  problem = problem_of(4096, 4096, 4097, TESELA_I8, TESELA_I32);
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &graphics),
                   4096LL * 4112 + 4097LL * 4096);
}

static double best_of(const tsl_problem *problem, const tsl_device *device, tsl_config *best) {
  double seconds = INFINITY;
  for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, problem, device, &walk);) {
    if (tsl_strategy_refuse(strategy, problem, &walk.config, device))
      continue;
    const double now = strategy->score(problem, &walk.config, device);
    assert_true(isfinite(now) && now > 0);
    if (now < seconds)
      *best = walk.config;
    seconds = fmin(now, seconds);
  }
  assert_true(isfinite(seconds));
  return seconds;
}

static void say(const tsl_problem *problem, const tsl_config *config, double seconds) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  print_message("  %lld x %lld x %lld: %.1f us, %s\n", (long long)problem->m, (long long)problem->n,
                (long long)problem->k, 1e6 * seconds, tsl_text_get(&text));
  tsl_text_free(&text);
}

/* Large products get large tiles, small ones tiles that are enough for many units; bytes take half the time at most. */
static void the_model_likes_what_fits(void **state) {
  (void)state;
  tsl_config best;
  const tsl_problem large = problem_of(4096, 4096, 4096, TESELA_BF16, TESELA_F32),
                    bytes = problem_of(4096, 4096, 4096, TESELA_I8, TESELA_I32),
                    small = problem_of(512, 512, 4096, TESELA_BF16, TESELA_F32);
  const double seconds = best_of(&large, &graphics, &best);
  say(&large, &best, seconds);
  assert_true(value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n") >= 128 * 128);
  const double seconds_of_bytes = best_of(&bytes, &graphics, &best);
  say(&bytes, &best, seconds_of_bytes);
  assert_true(seconds_of_bytes < 0.65 * seconds);
  const double seconds_of_small = best_of(&small, &graphics, &best);
  say(&small, &best, seconds_of_small);
  assert_true(value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n") <= 128 * 64);
  tsl_device unknown = graphics;
  unknown.compute_units = 0;
  unknown.clock_mhz = 0;
  unknown.peak_f32 = 0;
  unknown.bandwidth = 1;
  (void)best_of(&large, &unknown, &best);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refusals_have_numbers),
                                     cmocka_unit_test(scratch_holds_both_operands),
                                     cmocka_unit_test(the_model_likes_what_fits)};
  strategy = tsl_strategy_find(TSL_OP_GEMM, "opencl_mma");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
