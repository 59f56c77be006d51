/* cuda_dmma: what it refuses, how it shares memory and work out, and what its model likes on a device that is mocked. What it computes,
 * check_strategy says on devices that have tensor cores. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <string.h>

#include "strategy/gemm/cuda_dmma/cuda_dmma.h"

static const tsl_strategy *strategy;

static tsl_device hopper(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_F64 | TSL_CAN_WGMMA;
  device.local_bytes_inside = 227 << 10;
  return device;
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_device other = device, small = device;
  other.capabilities &= ~(unsigned)TSL_CAN_MMA;
  small.local_bytes_inside = 48 << 10;
  const tsl_problem doubles = tsl_problem_gemm(256, 256, 256, TESELA_F64),
                    floats = tsl_problem_gemm(256, 256, 256, TESELA_F32),
                    deep = tsl_problem_gemm(64, 64, (int64_t)1 << 31, TESELA_F64);
  assert_refused_for(strategy, "", &other, &doubles, "matrix instructions");
  assert_refused_for(strategy, "", &device, &floats, "these instructions multiply f64");
  assert_refused_for(strategy, "", &device, &deep, "31 bits");
  assert_refused_for(strategy, "tile_m=16 tile_n=16", &device, &doubles,
                     "no shape of warps makes tiles of 16 x 16 numbers in 1 slices");
  assert_refused_for(strategy, "tile_m=128 tile_n=128", &small, &doubles,
                     "do not fit into the 49152 bytes of mock:0");
}

/* All blocks that a multiprocessor has registers for find memory there, each with 1024 bytes of the system's. */
static void memory_is_shared_out(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_problem problem = tsl_problem_gemm(512, 512, 512, TESELA_F64);
  tsl_config config;
  int seen = 0;
  for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++, seen++) {
    const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&problem, &config, &device);
    if (tile.warp_m == 0)
      continue; /* of complex numbers */
    assert_true(tile.stages >= 2 && tile.groups >= 1);
    assert_true((tile.shared_bytes + 1024) * (uint64_t)tile.groups <= device.local_bytes_inside + 1024);
    const uint64_t dense = (uint64_t)(tile.stages * tile.depth) * 8 * (uint64_t)(tile.tile_m + tile.tile_n);
    assert_true(tile.shared_bytes > dense && tile.shared_bytes < dense * 3 / 2);
    assert_int_equal(tile.items,
                     32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n) * tile.slices);
    assert_int_equal(tile.depth, tile.slices * TSL_CUDA_DMMA_DEPTH);
    if (tile.slices * tile.cluster > 1) /* sums meet where panels were */
      assert_true((int64_t)tile.shared_bytes >= tile.slices * tile.tile_m * tile.tile_n * 8);
    assert_true(tile.items * tile.groups <= 512 && tile.items % 32 == 0);
  }
  assert_true(seen >= 5);
}

/* Row-major: rows of A lie along k, columns of B across. A C of columns makes both change places. */
static void layouts_are_read_as_they_lie(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_config config = config_of(strategy, "");
  tsl_problem problem = tsl_problem_gemm(512, 256, 128, TESELA_F64);
  tsl_cuda_dmma tile = tsl_cuda_dmma_of(&problem, &config, &device);
  assert_false(tile.swapped);
  assert_false(tile.a_across);
  assert_true(tile.b_across);
  problem.c.row_stride = 1, problem.c.col_stride = 512;
  tile = tsl_cuda_dmma_of(&problem, &config, &device);
  assert_true(tile.swapped);
  assert_int_equal(tile.problem.m, 256);
  assert_true(tile.a_across);
  assert_false(tile.b_across);
}

static void pairs_are_aligned(void **state) {
  (void)state;
  assert_true(tsl_cuda_dmma_pairs(1, 1, 104, 100, 8));
  assert_false(tsl_cuda_dmma_pairs(1, 2, 104, 100, 8));
  assert_false(tsl_cuda_dmma_pairs(1, 1, 105, 100, 8));
  assert_false(tsl_cuda_dmma_pairs(1, 1, 104, 100, 7));
  assert_true(tsl_cuda_dmma_pairs(1, 1, 105, 1, 8));
  assert_true(tsl_cuda_dmma_pairs(1, 1, -104, 100, 8));
  assert_true(tsl_cuda_dmma_pairs(2, 3, 105, 100, 7)); /* complex numbers are pairs */
}

/* Few tiles share the units by parts of k, none of which is short; their sums are scratch memory. */
static void few_tiles_split_k(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, least, most; /* parts */
  } cases[] = {
      {"tile_m=128 tile_n=128", 4096, 4096, 4096, 1, 1},  {"tile_m=64 tile_n=64", 64, 64, 16384, 64, 396},
      {"tile_m=128 tile_n=128", 256, 256, 32768, 17, 33}, {"tile_m=64 tile_n=64", 64, 64, 32, 1, 1},
      {"tile_m=64 tile_n=64", 64, 64, 0, 1, 1},           {"tile_m=64 tile_n=64", 1024, 1024, 1024, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, TESELA_F64);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&problem, &config, &device);
    const tsl_cuda_dmma_shares shares = tsl_cuda_dmma_shares_of(&tile, &device);
    assert_in_range(shares.parts, cases[i].least, cases[i].most);
    assert_true(shares.parts == 1 || shares.parts * 2 * TSL_CUDA_DMMA_DEPTH <= problem.k);
    assert_int_equal(shares.blocks, shares.tiles_m * shares.tiles_n * shares.parts);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 8);
  }
}

/* Blocks of a cluster share out k, without memory for sums; a batch is no reason to split it. */
static void clusters_and_batches_need_no_sums(void **state) {
  (void)state;
  tsl_device device = hopper();
  tsl_problem problem = tsl_problem_gemm(64, 64, 16384, TESELA_F64), short_one = problem;
  const tsl_config apart = config_of(strategy, "tile_m=64 tile_n=64"),
                   together = config_of(strategy, "tile_m=64 tile_n=64 slices=2 cluster=4");
  tsl_cuda_dmma tile = tsl_cuda_dmma_of(&problem, &together, &device);
  tsl_cuda_dmma_shares shares = tsl_cuda_dmma_shares_of(&tile, &device);
  assert_int_equal(shares.parts, 4);
  assert_int_equal(shares.blocks, 4);
  assert_int_equal(shares.sums_bytes, 0);
  short_one.k = short_one.a.cols = short_one.b.rows = short_one.a.row_stride = 100;
  assert_refused_for(strategy, "tile_m=64 tile_n=64 slices=2 cluster=4", &device, &short_one,
                     "k is shorter than 4 panels of 32");
  device.capabilities &= ~(unsigned)TSL_CAN_WGMMA;
  assert_refused_for(strategy, "tile_m=64 tile_n=64 cluster=2", &device, &problem, "clusters are of sm_90");
  problem.batch = 100;
  tile = tsl_cuda_dmma_of(&problem, &apart, &device);
  shares = tsl_cuda_dmma_shares_of(&tile, &device);
  assert_int_equal(shares.parts, 1);
  assert_int_equal(shares.sums_bytes, 0);
}

/* Complex numbers are twice as long and four products each; their tiles take as much memory as there is, too. */
static void complex_numbers_are_two(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_C128),
                    real = tsl_problem_gemm(1024, 1024, 1024, TESELA_F64);
  double seconds, real_seconds;
  const tsl_config best = best_config(strategy, &problem, &device, &seconds);
  say_choice(strategy, &problem, &best, seconds);
  (void)best_config(strategy, &real, &device, &real_seconds);
  assert_true(seconds > 2.5 * real_seconds && seconds < 6 * real_seconds);
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(&problem, &best, &device);
  assert_int_equal(tile.numbers, 2);
  const uint64_t dense = (uint64_t)(tile.stages * tile.depth) * 16 * (uint64_t)(tile.tile_m + tile.tile_n);
  assert_true(tile.stages >= 2 && tile.shared_bytes > dense);
  assert_true((tile.shared_bytes + 1024) * (uint64_t)tile.groups <= device.local_bytes_inside + 1024);
  assert_refused_for(strategy, "tile_m=128 tile_n=128", &device, &problem, "128 x 128 complex numbers");
}

/* Large products get large tiles, others what fills the units; no tile is longer than the product by much. */
static void the_model_likes_what_fits(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    int64_t m, n, k, tile_m, least, most; /* rows of a tile at most, elements of it */
  } cases[] = {{4096, 4096, 4096, 128, 128 * 128, 128 * 128}, {4093, 4093, 4093, 128, 128 * 64, 128 * 64},
               {1024, 1024, 1024, 128, 128 * 64, 128 * 64},   {16, 4096, 4096, 16, 16 * 32, 16 * 64},
               {64, 4096, 4096, 64, 64 * 64, 64 * 64},        {256, 256, 256, 32, 16 * 32, 16 * 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, TESELA_F64);
    double seconds;
    const tsl_config best = best_config(strategy, &problem, &device, &seconds);
    say_choice(strategy, &problem, &best, seconds);
    const int64_t rows = value_of(strategy, &best, "tile_m"),
                  tile = rows * value_of(strategy, &best, "tile_n");
    assert_true(rows <= cases[i].tile_m && tile >= cases[i].least && tile <= cases[i].most);
  }
}

/* A device whose tensor cores are for narrow types alone is not believed to multiply f64 by them any faster. */
static void slow_f64_stays_slow(void **state) {
  (void)state;
  const tsl_device fast = hopper();
  tsl_device slow = fast;
  slow.peak_f64 = slow.peak_f32 / 64;
  const tsl_problem problem = tsl_problem_gemm(4096, 4096, 4096, TESELA_F64);
  double seconds, much;
  (void)best_config(strategy, &problem, &fast, &seconds);
  (void)best_config(strategy, &problem, &slow, &much);
  assert_true(2.0 * 4096 * 4096 * 4096 / seconds > fast.peak_f64);
  assert_true(2.0 * 4096 * 4096 * 4096 / much < slow.peak_f64);
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_dmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(memory_is_shared_out),
      cmocka_unit_test(layouts_are_read_as_they_lie),
      cmocka_unit_test(pairs_are_aligned),
      cmocka_unit_test(few_tiles_split_k),
      cmocka_unit_test(clusters_and_batches_need_no_sums),
      cmocka_unit_test(complex_numbers_are_two),
      cmocka_unit_test(the_model_likes_what_fits),
      cmocka_unit_test(slow_f64_stays_slow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
