/* cuda_dmma on a mock device: when its blocks stay resident. check_strategy tests the results on
 * devices that have tensor cores. */
#include "unit/unit.h"
#include "unit/variants.h"

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static tsl_device hopper(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_WGMMA | TSL_CAN_F64;
  device.architecture = 90;
  device.compute_units = 132;
  device.clock_mhz = 1980;
  device.local_bytes_inside = (uint64_t)227 << 10;
  device.peak_f32 = 66.9e12;
  device.peak_f64 = 33.5e12;
  device.bandwidth = 3.35e12;
  return device;
}

/* Where panels are whole, sums short, and tiles more than find room; by pairs along m or n, an odd number of
 * lines has a last tile whose lines are not all there. */
static void blocks_stay_where_sums_are_short(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k;
    bool is_persistent;
  } cases[] = {
      {"tile_m=64 tile_n=64", 4096, 4096, 64, true},
      {"tile_m=64 tile_n=64", 3001, 3000, 128, true},
      {"tile_m=64 tile_n=64", 3000, 3001, 64, false},
      {"tile_m=64 tile_n=64", 4096, 4096, 65, false},
      {"tile_m=64 tile_n=64", 4096, 4096, 256, false},
      {"tile_m=64 tile_n=64", 1024, 1024, 64, false},
      {"tile_m=64 tile_n=64", 48, 100000, 64, false},
      {"tile_m=64 tile_n=64 slices=2", 4096, 4096, 64, false},
      {"tile_m=64 tile_n=64 cluster=2", 4096, 4096, 64, false},
      {"tile_m=128 tile_n=128", 2048, 2048, 64, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, TESELA_F64);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.is_persistent, cases[i].is_persistent);
    /* Parts are of few tiles, and take no turns. */
    assert_true(!tile.is_persistent || tsl_sm80_get_schedule(&tile, &device).parts == 1);
  }
}

static void batches_and_complex_numbers_do_not(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_config config = config_of(strategy, "tile_m=64 tile_n=64");
  const tsl_problem complex_numbers = tsl_problem_gemm(4096, 4096, 64, TESELA_C128);
  tsl_problem many = tsl_problem_gemm(4096, 4096, 64, TESELA_F64);
  many.batch = 2;
  assert_false(tsl_sm80_tile_of(&complex_numbers, &config, &device).is_persistent);
  assert_false(tsl_sm80_tile_of(&many, &config, &device).is_persistent);
}

/* A k of one panel is copied without padding, for all types, sizes and batches. */
static void a_short_k_is_one_panel(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    tesela_type type;
    int64_t k, batch;
    const char *config;
    bool is_short;
  } cases[] = {
      {TESELA_C128, 1, 1, "tile_m=32 tile_n=64", true},
      {TESELA_C128, 16, 1, "tile_m=32 tile_n=64", true},
      {TESELA_C128, 17, 1, "tile_m=32 tile_n=64", false},
      {TESELA_C64, 8, 3, "tile_m=64 tile_n=32", true},
      {TESELA_F64, 7, 1, "tile_m=64 tile_n=64", true},
      {TESELA_F64, 0, 1, "tile_m=64 tile_n=64", false},
      {TESELA_F64, 8, 1, "tile_m=64 tile_n=64 slices=2", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = tsl_problem_gemm(3000, 3001, cases[i].k, cases[i].type);
    problem.batch = cases[i].batch;
    const tsl_config config = config_of(strategy, cases[i].config);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tsl_sm80_tile_of(&problem, &config, &device).is_short, cases[i].is_short);
  }
}

/* Few parts of k are joined by the last part's block. Parts may be more than resident blocks if their sums
 * are few. */
static void few_parts_are_joined(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    tesela_type type;
    int64_t m, n, k;
    const char *config;
    bool joins, fits;
  } cases[] = {
      {TESELA_F64, 688, 368, 3840, "tile_m=64 tile_n=128 slices=2", true, true},
      {TESELA_F64, 90, 7168, 18432, "tile_m=32 tile_n=128", true, false},
      {TESELA_F64, 128, 128, 65536, "tile_m=64 tile_n=64", false, true},
      {TESELA_F64, 688, 368, 3840, "tile_m=64 tile_n=64 cluster=2", false, true},
      {TESELA_C64, 118, 297, 5219, "tile_m=32 tile_n=32 slices=4", true, true},
      {TESELA_C64, 118, 297, 5219, "tile_m=64 tile_n=32 slices=8", false, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, cases[i].type);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, &device);
    const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(&tile, &device);
    const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
    assert_true(schedule.parts > 1);
    assert_int_equal(schedule.joins, cases[i].joins);
    assert_int_equal(schedule.blocks <= (int64_t)device.compute_units * tile.groups, cases[i].fits);
    if (cases[i].joins) {
      assert_int_equal(schedule.sums_bytes,
                       tiles * (schedule.parts - 1) * tile.tile_m * tile.tile_n * tile.sum);
      assert_true(schedule.flags_bytes >= 8 * tiles * (schedule.parts - 1));
    }
    assert_int_equal(tsl_sm80_scratch(&problem, &config, &device),
                     schedule.sums_bytes + schedule.flags_bytes);
  }
}

/* Where blocks take long and do not fill all multiprocessors, as many are resident as an even spread needs.
 */
static void long_blocks_spread_evenly(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const int64_t all = (int64_t)device.local_bytes_inside + TSL_SM80_BLOCK_BYTES;
  static const struct {
    int64_t m, n, k;
    const char *config;
    int resident; /* blocks of a multiprocessor; 0: as many as fit */
  } cases[] = {
      {4096, 1056, 2048, "tile_m=128 tile_n=64 cluster=2", 0},
      {2048, 2048, 8192, "tile_m=128 tile_n=128", 0},
      {1024, 1024, 16, "tile_m=64 tile_n=64", 0},
      {1024, 640, 1024, "tile_m=64 tile_n=64 cluster=4", 0},
      {704, 704, 1024, "tile_m=64 tile_n=64", 1},
      {1024, 1024, 1024, "tile_m=64 tile_n=64", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, TESELA_F64);
    if (cases[i].resident > 0) /* without split-k */
      (void)tsl_numeric_requirements_parse_bits("rows", &problem.ask);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, &device);
    const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(&tile, &device);
    const int64_t bytes = schedule.shared_bytes + TSL_SM80_BLOCK_BYTES, resident = cases[i].resident;
    assert_true(bytes <= all);
    if (resident == 0)
      assert_int_equal(schedule.shared_bytes, tile.shared_bytes);
    else
      assert_true(resident * bytes <= all && (resident + 1) * bytes > all);
  }
}

/* A tile is partial if it has lines outside of C, or if a chunk of 16 bytes crosses the end of MN-major
 * lines. */
static void tiles_at_the_end_are_partial(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    tesela_type type;
    int64_t m, n;
    bool is_partial;
  } cases[] = {
      {TESELA_F64, 64, 64, false},  {TESELA_F64, 5, 4096, true},    {TESELA_F64, 4096, 63, true},
      {TESELA_F64, 65, 66, false},  {TESELA_F64, 4096, 4097, true}, {TESELA_C64, 65, 66, false},
      {TESELA_C64, 128, 129, true}, {TESELA_C128, 65, 65, false},
  };
  const tsl_config whole = config_of(strategy, "tile_m=64 tile_n=64"),
                   sliced = config_of(strategy, "tile_m=64 tile_n=64 slices=2");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, 512, cases[i].type);
    const tsl_config config = cases[i].type == TESELA_C64 ? sliced : whole;
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tsl_sm80_tile_of(&problem, &config, &device).is_partial, cases[i].is_partial);
  }
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_dmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_stay_where_sums_are_short),
      cmocka_unit_test(batches_and_complex_numbers_do_not),
      cmocka_unit_test(a_short_k_is_one_panel),
      cmocka_unit_test(few_parts_are_joined),
      cmocka_unit_test(long_blocks_spread_evenly),
      cmocka_unit_test(tiles_at_the_end_are_partial),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
