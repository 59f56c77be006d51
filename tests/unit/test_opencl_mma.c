/* opencl_mma on mock devices: refusals, scratch memory, and the choices of its model.
 * check_strategy tests the results on devices that have matrix instructions. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <string.h>

#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

/* One whose kernels may have more local memory than its driver tells. */
static tsl_device with_matrices(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_MMA;
  device.local_bytes_inside = 227 << 10;
  return device;
}

/* One whose four warps multiply together. */
static tsl_device with_groups(void) {
  tsl_device device = with_matrices();
  device.capabilities |= TSL_CAN_MMA_GROUP;
  return device;
}

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type ab, tesela_type c) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, c);
  problem.a.type = problem.b.type = ab;
  return problem;
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_device matrices = with_matrices();
  tsl_device plain = matrices, other = matrices;
  plain.local_bytes_inside = 0;
  other.capabilities &= ~(unsigned)TSL_CAN_MMA;
  const tsl_problem floats = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32),
                    bytes = problem_of(256, 256, 256, TESELA_I8, TESELA_I32),
                    wide = problem_of(256, 256, 256, TESELA_F32, TESELA_F32);
  assert_refused_for(strategy, "", &other, &floats, "matrix instructions");
  assert_refused_for(strategy, "", &matrices, &wide, "narrow types");
  assert_refused_for(strategy, "tile_m=256 tile_n=256 warp_m=32 warp_n=32", &matrices, &floats,
                     "2048 work-items");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 depth=128 stages=4", &plain, &floats,
                     "196608 bytes of local memory, mock:0 has 49152");
  assert_refused_for(strategy, "tile_m=256 tile_n=256 depth=128 stages=4", &matrices, &floats,
                     "512 work-items: takes 128 to 256");
  /* Row-major: 128 numbers of B of one byte lie side by side in a block, 64 of two bytes. */
  assert_refused_for(strategy, "tile_m=256 tile_n=64 warp_n=32", &matrices, &bytes,
                     "tile_n=64 is no multiple of the 128");
  const tsl_config narrow = config_of(strategy, "tile_m=256 tile_n=64 warp_n=32");
  assert_null(tsl_strategy_refuse(strategy, &floats, &narrow, &matrices));
}

#define FOUR "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=4 warps=4"

static void four_warps_have_limits(void **state) {
  (void)state;
  const tsl_device one = with_matrices(), four = with_groups();
  const tsl_problem floats = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32),
                    huge = problem_of(64, 64, (int64_t)1 << 31, TESELA_BF16, TESELA_F32);
  const tsl_config whole = config_of(strategy, FOUR);
  assert_null(tsl_strategy_refuse(strategy, &floats, &whole, &four));
  assert_refused_for(strategy, FOUR, &one, &floats, "no matrix instructions of four warps");
  assert_refused_for(strategy, FOUR, &four, &huge, "32 bits");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=64 stages=4 warps=4", &four,
                     &floats, "lines of 128 bytes");
  assert_refused_for(strategy, "tile_m=128 tile_n=64 warp_m=64 warp_n=64 depth=128 stages=4 warps=4", &four,
                     &floats, "128, 192 or 256 columns");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 warp_m=64 warp_n=32 depth=128 stages=4 warps=4", &four,
                     &floats, "32 rows of 256 columns");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=6 warps=4", &four,
                     &floats, "bytes of local memory");
}

/* Operands that lie badly are packed: each row to a multiple of 16 bytes, each operand to one of 128. */
static void scratch_holds_both_operands(void **state) {
  (void)state;
  const tsl_device matrices = with_matrices();
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem problem = problem_of(5, 7, 9, TESELA_BF16, TESELA_F32);
  /* A: 5 rows of 9 numbers, 32 bytes each; B: 9 rows of 7, 16 bytes each. */
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &matrices), 256 + 256);
  problem.b.row_stride = 1, problem.b.col_stride = 9; /* 7 columns of 9 numbers */
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &matrices), 256 + 256);
  problem = problem_of(4096, 4096, 4097, TESELA_I8, TESELA_I32);
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &matrices),
                   4096LL * 4112 + 4097LL * 4096);
  /* Bytes of B along k, and descriptions of 256 bytes for each of 16 x 32 tiles, or of as many groups as run.
   */
  const tsl_device four = with_groups();
  const tsl_config together = config_of(strategy, FOUR " groups=1");
  const int64_t tiles = 16 * 32, groups = four.compute_units < tiles ? four.compute_units : tiles;
  assert_int_equal(tsl_strategy_scratch(strategy, &problem, &together, &four),
                   2 * 4096LL * 4112 + groups * 256);
}

/* Operands that lie badly are copied as they are by one warp, without scratch memory. */
static void operands_in_place(void **state) {
  (void)state;
  const tsl_device matrices = with_matrices(), four = with_groups();
  const tsl_config place = config_of(strategy, "tile_m=64 tile_n=64 warp_m=32 warp_n=32 from=place");
  const tsl_problem odd = problem_of(5, 7, 9, TESELA_BF16, TESELA_F32),
                    even = problem_of(64, 64, 72, TESELA_BF16, TESELA_F32);
  assert_null(tsl_strategy_refuse(strategy, &odd, &place, &matrices));
  assert_int_equal(tsl_strategy_scratch(strategy, &odd, &place, &matrices), 0);
  assert_refused_for(strategy, "from=place", &matrices, &even, "already aligned");
  assert_refused_for(strategy, FOUR " from=place", &four, &odd, "one warp");
  /* The offset counts, too; steps between elements allow no copies. */
  assert_int_equal(tsl_opencl_mma_width(2, 8, 16, 1), 16);
  assert_int_equal(tsl_opencl_mma_width(2, 2, 16, 1), 4);
  assert_int_equal(tsl_opencl_mma_width(2, 0, 70, 1), 4);
  assert_int_equal(tsl_opencl_mma_width(2, 0, 9, 1), 0);
  assert_int_equal(tsl_opencl_mma_width(1, 4, -12, 1), 4);
  assert_int_equal(tsl_opencl_mma_width(2, 0, 16, 2), 0);
}

/* Few tiles share the units by parts of k, none of which is short; their sums are scratch memory, too. */
static void few_tiles_split_k(void **state) {
  (void)state;
  tsl_device four = with_groups();
  four.compute_units = 132;
  static const struct {
    int64_t m, n, k, split_k, groups;
  } cases[] = {{4096, 4096, 4096, 1, 132}, /* 512 tiles */
               {128, 2048, 4096, 16, 128}, /* 8 tiles, at most 16 for each; 64 panels */
               {128, 256, 1024, 8, 8},     /* 16 panels, at least 2 a part */
               {128, 256, 192, 1, 1},      {128, 256, 65536, 64, 64},
               {128, 256, 0, 1, 1},        {0, 256, 4096, 1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    const tsl_config one = config_of(strategy, FOUR " groups=1"),
                     each = config_of(strategy, FOUR " groups=999");
    tsl_opencl_mma tile = tsl_opencl_mma_of(&problem, &one);
    tsl_opencl_mma_schedule shares = tsl_opencl_mma_get_schedule(&tile, &four);
    assert_int_equal(shares.split_k, cases[i].split_k);
    assert_int_equal(shares.groups, cases[i].groups);
    assert_int_equal(shares.sums_bytes, shares.split_k == 1 ? 0 : shares.split_k * problem.m * problem.n * 4);
    if (problem.m > 0)
      assert_int_equal(tsl_strategy_scratch(strategy, &problem, &one, &four),
                       tile.a_bytes + tile.b_bytes + shares.groups * 256 + shares.sums_bytes);
    const tsl_config warp = config_of(strategy, "tile_m=128 tile_n=256 depth=128 stages=2 groups=1");
    tile = tsl_opencl_mma_of(&problem, &warp);
    shares = tsl_opencl_mma_get_schedule(&tile, &four);
    assert_int_equal(shares.split_k, cases[i].split_k);
    if (problem.m > 0)
      assert_int_equal(tsl_strategy_scratch(strategy, &problem, &warp, &four),
                       tile.a_bytes + tile.b_bytes + shares.sums_bytes);
    tile = tsl_opencl_mma_of(&problem, &each);
    shares = tsl_opencl_mma_get_schedule(&tile, &four);
    assert_int_equal(shares.split_k, 1);
  }
}

/* The group of a tile's last part adds few rows of few parts; a further launch adds more. */
static void few_rows_are_joined(void **state) {
  (void)state;
  tsl_device device = with_groups();
  device.compute_units = 132;
  const tsl_config warp = config_of(strategy, "tile_m=64 tile_n=64 warp_m=32 warp_n=32 depth=128 groups=1");
  static const struct {
    int64_t m, n, k, split_k;
    bool joins;
  } cases[] = {{8, 296, 8040, 26, true}, {64, 64, 65536, 64, false}, {64, 640, 65536, 13, false},
               {64, 64, 256, 2, false},  {20, 64, 256, 2, true},     {64, 64, 128, 1, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    const tsl_opencl_mma mma = tsl_opencl_mma_of(&problem, &warp);
    const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, &device);
    assert_int_equal(schedule.split_k, cases[i].split_k);
    assert_int_equal(schedule.joins, cases[i].joins);
    assert_int_equal(schedule.flags_bytes, cases[i].joins ? 8 * schedule.groups : 0);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &warp, &device),
                     mma.a_bytes + mma.b_bytes + schedule.sums_bytes + schedule.flags_bytes);
  }
}

/* Large products get large tiles, small ones tiles that are enough for many units; bytes take half the time
 * at most. */
static void the_model_likes_what_fits(void **state) {
  (void)state;
  const tsl_device matrices = with_matrices();
  const tsl_problem large = problem_of(4096, 4096, 4096, TESELA_BF16, TESELA_F32),
                    bytes = problem_of(4096, 4096, 4096, TESELA_I8, TESELA_I32),
                    small = problem_of(512, 512, 128, TESELA_BF16, TESELA_F32);
  double seconds, seconds_of_bytes, seconds_of_small;
  tsl_config best = best_config(strategy, &large, &matrices, &seconds);
  say_choice(strategy, &large, &best, seconds);
  assert_true(value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n") >= 128 * 128);
  best = best_config(strategy, &bytes, &matrices, &seconds_of_bytes);
  say_choice(strategy, &bytes, &best, seconds_of_bytes);
  assert_true(seconds_of_bytes < 0.65 * seconds);
  best = best_config(strategy, &small, &matrices, &seconds_of_small);
  say_choice(strategy, &small, &best, seconds_of_small);
  assert_true(value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n") <= 128 * 64);
  const tsl_device four = with_groups();
  double seconds_of_four;
  best = best_config(strategy, &large, &four, &seconds_of_four);
  say_choice(strategy, &large, &best, seconds_of_four);
  assert_int_equal(value_of(strategy, &best, "warps"), 4);
  assert_true(seconds_of_four < 0.7 * seconds);
  tsl_device unknown = matrices;
  unknown.compute_units = 0;
  unknown.clock_mhz = 0;
  unknown.peak_f32 = 0;
  unknown.bandwidth = 1;
  (void)best_config(strategy, &large, &unknown, &seconds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),    cmocka_unit_test(four_warps_have_limits),
      cmocka_unit_test(operands_in_place),        cmocka_unit_test(few_tiles_split_k),
      cmocka_unit_test(few_rows_are_joined),      cmocka_unit_test(scratch_holds_both_operands),
      cmocka_unit_test(the_model_likes_what_fits)};
  strategy = tsl_strategy_find(TSL_OP_GEMM, "opencl_mma");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
