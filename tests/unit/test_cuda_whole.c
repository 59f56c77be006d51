/* cuda_whole: refusals, how products share a block, and the limits of line copies. check_strategy
 * tests the results on devices that have tensor cores. */
#include "unit/unit.h"
#include "unit/variants.h"

#include "strategy/gemm/nvidia/cuda_whole/cuda_whole.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static tsl_device hopper(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_WGMMA;
  device.architecture = 90;
  device.compute_units = 132;
  device.clock_mhz = 1980;
  device.local_bytes_inside = 227 << 10;
  device.bandwidth = 3.35e12;
  return device;
}

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, int64_t batch) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, TESELA_BF16);
  problem.batch = batch;
  return problem;
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_device small = device, none = device;
  small.local_bytes_inside = 99 << 10;
  none.capabilities &= ~(unsigned)TSL_CAN_MMA;
  const tsl_problem some = problem_of(100, 100, 100, 1000), large = problem_of(256, 256, 256, 1),
                    largest = problem_of(64, 64, 5000, 1), doubles = tsl_problem_gemm(8, 8, 8, TESELA_F64);
  assert_refused_for(strategy, "", &none, &some, "matrix instructions");
  assert_refused_for(strategy, "", &device, &doubles, "takes bf16 x bf16 -> f32");
  assert_refused_for(strategy, "", &device, &largest, "64 x 64 x 5000 do not fit whole into shared memory");
  assert_refused_for(strategy, "tile_m=16 tile_n=16", &device, &some,
                     "take 49 warps; a block has registers for 16");
  assert_refused_for(strategy, "tile_m=64 tile_n=64 room=24", &device, &some,
                     "room=24 is too small: a product takes");
  assert_refused_for(strategy, "tile_m=64 tile_n=64 room=226", &device, &large,
                     "take 16 warps; a block has registers for 8");
  assert_refused_for(strategy, "tile_n=64 room=113", &small, &some, "room=113: mock:0 has 101376 bytes");
}

/* Products share a block as far as it has room and registers; eight lines are an odd number of chunks of 16
 * bytes apart, and behind those across k there is one of zeros. */
static void blocks_are_shared(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, batch, warps, together, blocks;
  } cases[] = {{"tile_m=48 tile_n=48 room=44", 33, 33, 33, 4096, 1, 6, 683},
               {"tile_m=48 tile_n=48 room=44", 33, 33, 33, 3, 1, 3, 1},
               {"tile_m=32 tile_n=64 room=56", 100, 100, 100, 1000, 8, 1, 1000},
               {"tile_m=64 tile_n=64 room=226", 64, 64, 64, 4096, 1, 8, 512},
               {"tile_m=32 tile_n=32 room=226", 1, 1, 1, 1, 1, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, cases[i].batch);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_whole tile = tsl_cuda_whole_of(&problem, &config);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.warps, cases[i].warps);
    assert_int_equal(tile.together, cases[i].together);
    assert_int_equal(tile.blocks, cases[i].blocks);
    assert_true(tile.together * tile.bytes <= tile.shared_bytes);
    for (int f = 0; f < 2; f++) {
      const tsl_cuda_whole_lines *lines = f ? &tile.b : &tile.a;
      assert_true(lines->pitch / 16 % 2 == 1 && lines->pitch >= 2 * ((lines->line_length + 15) / 16 * 16));
      assert_int_equal(lines->bytes, (lines->line_count + lines->across) * lines->pitch);
    }
    assert_true(cases[i].k == 1 || (!tile.a.across && tile.b.across));
    assert_true(tile.bytes >= 2 * cases[i].m * cases[i].n + 14);
  }
}

/* Copies are as wide as everything that their addresses are made of. */
static void copies_are_aligned(void **state) {
  (void)state;
  const tsl_cuda_whole_lines lines = {.line_count = 4, .line_length = 8},
                             one = {.line_count = 1, .line_length = 8};
  assert_int_equal(tsl_cuda_whole_width(&lines, 1, 64, 0, 4096), 16);
  assert_int_equal(tsl_cuda_whole_width(&lines, 1, 100, 0, 10000), 8);
  assert_int_equal(tsl_cuda_whole_width(&lines, 1, 64, 2, 4096), 4);
  assert_int_equal(tsl_cuda_whole_width(&lines, 1, -64, 0, 33), 2);
  assert_int_equal(tsl_cuda_whole_width(&lines, 1, 33, 0, 4096), 2);
  assert_int_equal(tsl_cuda_whole_width(&one, 1, 33, 0, 4096), 16);
  assert_int_equal(tsl_cuda_whole_width(&lines, 2, 64, 0, 4096), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(blocks_are_shared),
      cmocka_unit_test(copies_are_aligned),
  };
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_whole");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
