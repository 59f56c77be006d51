/* cuda_mma on mock devices: refusals, division of memory and work, and its model's choices.
 * check_strategy tests the results on devices with tensor cores. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <string.h>

#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

/* Figures of data sheets: architecture, multiprocessors, MHz, KiB of shared memory that a block may take,
 * bytes a second. */
static tsl_device device_of(int architecture, int units, int clock, int kilobytes, double bandwidth) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | (architecture == 90 ? TSL_CAN_WGMMA : 0);
  device.architecture = architecture;
  device.compute_units = units;
  device.clock_mhz = clock;
  device.local_bytes_inside = (uint64_t)kilobytes << 10;
  device.bandwidth = bandwidth;
  return device;
}
static tsl_device ampere(void) {
  return device_of(80, 108, 1410, 163, 1.55e12);
}
static tsl_device hopper(void) {
  return device_of(90, 132, 1980, 227, 4.8e12);
}
/* Cards of sm_86, sm_89 and sm_120. */
static tsl_device card(int architecture) {
  return device_of(architecture, 82, 1700, 99, 9e11);
}

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type type, tesela_type result) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, result);
  problem.a.type = problem.b.type = type;
  return problem;
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_device device = ampere(), newer = card(89);
  tsl_device other = device, small = device;
  other.capabilities &= ~(unsigned)TSL_CAN_MMA;
  small.local_bytes_inside = 40 << 10;
  const tsl_problem numbers = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32),
                    doubles = tsl_problem_gemm(256, 256, 256, TESELA_F64),
                    eights = problem_of(256, 256, 256, TESELA_E4M3, TESELA_F32),
                    deep = problem_of(64, 64, (int64_t)1 << 31, TESELA_I8, TESELA_I32);
  tsl_problem floats = tsl_problem_gemm(256, 256, 256, TESELA_F32), many = numbers;
  assert_refused_for(strategy, "", &other, &numbers, "matrix instructions");
  assert_refused_for(strategy, "", &device, &doubles, "takes bf16 x bf16 -> f32");
  assert_refused_for(strategy, "", &device, &deep, "31 bits");
  assert_refused_for(strategy, "tile_m=16 tile_n=16", &device, &numbers,
                     "no arrangement of warps makes tiles of 16 x 16");
  assert_refused_for(strategy, "tile_m=16 tile_n=64 depth=256", &device, &numbers, "up to two warps");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 depth=128", &small, &numbers,
                     "do not fit into the 40960 bytes of mock:0");
  assert_refused_for(strategy, "", &device, &eights, "is sm_80; 8-bit floating point needs sm_89 or newer");
  const tsl_config config = config_of(strategy, "");
  assert_null(tsl_strategy_refuse(strategy, &eights, &config, &newer));
  assert_refused_for(strategy, "", &device, &floats, "request accuracy=tf32 to allow it");
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &floats.ask), TESELA_OK);
  assert_null(tsl_strategy_refuse(strategy, &floats, &config, &device));
  assert_refused_for(strategy, "from=packed", &device, &numbers, "are already aligned");
  many.batch = 3;
  many.a.row_stride = 257;
  assert_refused_for(strategy, "from=packed", &device, &many, "takes a single product, not a batch");
}

/* All blocks that a multiprocessor has registers for find memory there, each with 1024 bytes of the system's.
 */
static void memory_is_shared_out(void **state) {
  (void)state;
  const tsl_problem problem = problem_of(512, 512, 512, TESELA_BF16, TESELA_F32);
  const tsl_device devices[] = {ampere(), hopper(), card(86), card(120)};
  tsl_config config;
  int seen = 0;
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
    for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++) {
      const tsl_device *device = &devices[d];
      const tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, device);
      if (tile.stages == 0)
        continue;
      assert_true(tile.stages >= 2 && tile.groups >= 1 && tile.warp_m > 0);
      assert_true((tile.shared_bytes + 1024) * (uint64_t)tile.groups <= device->local_bytes_inside + 1024);
      assert_int_equal(tile.shared_bytes,
                       tile.stages * (tile.tile_m + tile.tile_n) * tile.depth * tile.element);
      assert_int_equal(tile.items, 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n));
      assert_int_equal(tile.depth * tile.element, value_of(strategy, &config, "depth"));
      assert_true(tile.items * tile.groups <= 512 && tile.items % 32 == 0);
      seen++;
    }
  assert_true(seen >= 28);
}

/* With bits=rows few blocks have more stages each; many blocks have as many as without. tf32 is truncated
 * where cuda_wgmma is its partner. */
static void few_rows_have_deep_stages(void **state) {
  (void)state;
  const tsl_device device = hopper(), other = ampere();
  const tsl_config config = config_of(strategy, "tile_m=16 tile_n=32 depth=128");
  tsl_problem few = problem_of(1, 4096, 4096, TESELA_BF16, TESELA_F32),
              many = problem_of(512, 4096, 4096, TESELA_BF16, TESELA_F32),
              floats = tsl_problem_gemm(1, 256, 256, TESELA_F32);
  const tsl_sm80_tile before = tsl_sm80_tile_of(&few, &config, &device);
  assert_false(tsl_sm80_truncates(&floats, &device));
  assert_int_equal(tsl_numeric_requirements_parse_bits("rows", &few.ask), TESELA_OK);
  many.ask = floats.ask = few.ask;
  const tsl_sm80_tile one = tsl_sm80_tile_of(&few, &config, &device),
                      full = tsl_sm80_tile_of(&many, &config, &device);
  assert_int_equal(one.groups, 2);
  assert_true(one.stages >= 3 * before.stages);
  assert_int_equal(full.groups, before.groups);
  assert_int_equal(full.stages, before.stages);
  assert_true(tsl_sm80_truncates(&floats, &device) && !tsl_sm80_truncates(&floats, &other));
}

/* Row-major: rows of A lie along k, columns of B across. A C of columns makes both change places. */
static void layouts_are_read_as_they_lie(void **state) {
  (void)state;
  const tsl_device device = ampere();
  const tsl_config config = config_of(strategy, "");
  tsl_problem problem = problem_of(512, 256, 128, TESELA_I8, TESELA_I32);
  problem.b.type = TESELA_U8;
  tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, &device);
  assert_false(tile.swapped);
  assert_false(tile.a_mn_major);
  assert_true(tile.b_mn_major);
  problem.c.row_stride = 1, problem.c.col_stride = 512;
  tile = tsl_sm80_tile_of(&problem, &config, &device);
  assert_true(tile.swapped);
  assert_int_equal(tile.problem.m, 256);
  assert_int_equal(tile.problem.a.type, TESELA_U8);
  assert_true(tile.a_mn_major);
  assert_false(tile.b_mn_major);
}

/* Copies are as wide as the first element, the lines and the products of a batch are aligned. */
static void copies_are_aligned(void **state) {
  (void)state;
  static const struct {
    int element;
    int64_t along, line, lines, offset, step;
    int width;
  } cases[] = {
      {2, 1, 104, 100, 8, 0, 16}, {2, 1, 100, 100, 8, 0, 8},   {2, 1, 102, 100, 8, 0, 4},
      {2, 1, 101, 100, 8, 0, 0},  {2, 1, 101, 1, 8, 0, 16},    {2, 2, 104, 100, 8, 0, 0},
      {2, 1, 104, 100, 2, 0, 4},  {2, 1, 104, 100, 8, 4, 8},   {2, 1, -104, 100, 8, 0, 16},
      {1, 1, 104, 100, 16, 0, 8}, {1, 1, 112, 100, 16, 0, 16}, {4, 1, 101, 100, 3, 0, 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsl_sm80_width(cases[i].element, 4, cases[i].along, cases[i].line, cases[i].lines,
                                    cases[i].offset, cases[i].step),
                     cases[i].width);
}

/* Few tiles share the units by parts of k, none of which is short; their sums are scratch memory. A batch is
 * no reason to split it. */
static void few_tiles_split_k(void **state) {
  (void)state;
  const tsl_device device = ampere();
  static const struct {
    int64_t m, n, k, batch, least, most; /* parts */
  } cases[] = {{4096, 4096, 4096, 1, 1, 1}, {64, 64, 32768, 1, 8, 128}, {128, 192, 32768, 1, 8, 72},
               {64, 64, 32, 1, 1, 1},       {64, 64, 32768, 300, 1, 1}, {64, 64, 0, 1, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_BF16);
    problem.batch = cases[i].batch;
    const tsl_config config = config_of(strategy, "tile_m=64 tile_n=64 depth=128");
    const tsl_sm80_tile tile = tsl_sm80_tile_of(&problem, &config, &device);
    const tsl_sm80_schedule shares = tsl_sm80_get_schedule(&tile, &device);
    assert_in_range(shares.parts, cases[i].least, cases[i].most);
    assert_true(shares.parts == 1 || shares.parts * 4 * tile.depth <= problem.k);
    assert_int_equal(shares.blocks, shares.tiles_m * shares.tiles_n * shares.parts);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 4);
  }
}

/* Operands that are not aligned are packed where the product is large, in workspace that is
 * reserved. */
static void what_is_not_aligned_is_packed(void **state) {
  (void)state;
  const tsl_device device = ampere();
  const tsl_problem large = problem_of(4095, 4095, 4095, TESELA_BF16, TESELA_F32),
                    small = problem_of(33, 33, 33, TESELA_BF16, TESELA_F32);
  double seconds;
  const tsl_config best = best_config(strategy, &large, &device, &seconds);
  say_choice(strategy, &large, &best, seconds);
  assert_int_equal(value_of(strategy, &best, "from"), TSL_CUDA_MMA_PACKED);
  assert_true(tsl_strategy_scratch(strategy, &large, &best, &device) >= (uint64_t)2 * 4095 * 4096 * 2);
  const tsl_config other = best_config(strategy, &small, &device, &seconds);
  say_choice(strategy, &small, &other, seconds);
  assert_int_equal(value_of(strategy, &other, "from"), TSL_CUDA_MMA_PLACE);
}

/* Large products get large tiles, small products get tiles that occupy all compute units, also on
 * devices that the table does not list. The model predicts between a half and all of the tensor
 * cores' peak rate. */
static void the_model_likes_what_fits(void **state) {
  (void)state;
  const tsl_device devices[] = {ampere(), hopper(), card(86), card(89), card(120), card(130)};
  static const double rates[] = {1024, 1150, 512, 512, 512, 512};
  static const struct {
    int64_t m, n, k, rows, least, most; /* rows of a tile at most, elements of it */
  } cases[] = {{4096, 4096, 4096, 256, 128 * 128, 128 * 256},
               {16, 4096, 4096, 16, 16 * 64, 16 * 128},
               {4096, 16, 4096, 128, 16 * 64, 16 * 128},
               {256, 256, 256, 64, 16 * 64, 64 * 64}};
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_F16, TESELA_F16);
      double seconds;
      const tsl_config best = best_config(strategy, &problem, &devices[d], &seconds);
      say_choice(strategy, &problem, &best, seconds);
      const int64_t rows = value_of(strategy, &best, "tile_m"),
                    tile = rows * value_of(strategy, &best, "tile_n");
      assert_true(rows <= cases[i].rows && tile >= cases[i].least && tile <= cases[i].most);
      const double share =
          4096.0 * 4096 * 4096 / seconds / (rates[d] * 1e6 * devices[d].compute_units * devices[d].clock_mhz);
      if (i == 0)
        assert_true(share > 0.5 && share < 1);
    }
}

/* Where units of sm_90 multiply by warpgroups, these are predicted to be faster, but for the smallest
 * products. */
static void wgmma_is_liked_better(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_strategy *wgmma = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  static const int64_t sizes[] = {1024, 2048, 4096, 8192};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const tsl_problem problem = problem_of(sizes[i], sizes[i], sizes[i], TESELA_BF16, TESELA_F32);
    double own, other;
    (void)best_config(strategy, &problem, &device, &own);
    (void)best_config(wgmma, &problem, &device, &other);
    assert_true(other < own);
  }
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_mma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(memory_is_shared_out),
      cmocka_unit_test(few_rows_have_deep_stages),
      cmocka_unit_test(layouts_are_read_as_they_lie),
      cmocka_unit_test(copies_are_aligned),
      cmocka_unit_test(few_tiles_split_k),
      cmocka_unit_test(what_is_not_aligned_is_packed),
      cmocka_unit_test(the_model_likes_what_fits),
      cmocka_unit_test(wgmma_is_liked_better),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
