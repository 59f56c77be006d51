/* cuda_wgmma: what it refuses, how it shares memory and work out, and what its model likes on a device that is mocked. What it
 * computes, check_strategy says on devices that have warpgroups. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <string.h>

#include "judge/data.h"
#include "judge/judge.h"
#include "strategy/gemm/cuda_wgmma/cuda_wgmma.h"

static const tsl_strategy *strategy;

static tsl_device hopper(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_WGMMA;
  device.local_bytes_inside = 227 << 10;
  return device;
}

static tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type ab, tesela_type c) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, c);
  problem.a.type = problem.b.type = ab;
  return problem;
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_device other = device, small = device;
  other.capabilities &= ~(unsigned)TSL_CAN_WGMMA;
  small.local_bytes_inside = 100 << 10;
  const tsl_problem floats = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32),
                    wide = problem_of(256, 256, 256, TESELA_F32, TESELA_F32),
                    deep = problem_of(64, 64, (int64_t)1 << 31, TESELA_BF16, TESELA_F32);
  assert_refused_for(strategy, "", &other, &floats, "warpgroup");
  assert_refused_for(strategy, "", &device, &wide, "only an ask allows");
  assert_refused_for(strategy, "", &device, &deep, "31 bits");
  assert_refused_for(strategy, "tile_m=256 tile_n=256", &device, &floats, "256 sums a thread, where 128");
  assert_refused_for(strategy, "tile_m=128 tile_n=256", &small, &floats,
                     "do not fit into the 102400 bytes of mock:0");
  tsl_problem asked = wide;
  asked.ask.accuracy = TSL_ACCURACY_NUMBER;
  asked.ask.number = 1e-2;
  const tsl_config fallback = tsl_strategy_defaults(strategy);
  assert_null(tsl_strategy_refuse(strategy, &asked, &fallback, &device));
  asked.ask.number = 0x1p-9;
  assert_refused_for(strategy, "", &device, &asked, "guarantees |error| <=");
  assert_int_equal(tsl_ask_parse_accuracy("tf32", &asked.ask), TESELA_OK);
  for (int64_t k = 1; k < (int64_t)1 << 22; k = 3 * k + 1) {
    asked.k = asked.a.cols = asked.b.rows = k;
    assert_null(tsl_strategy_refuse(strategy, &asked, &fallback, &device));
  }
  assert_refused_for(strategy, "cluster=4", &device, &floats, "more than two blocks share only k");
  assert_refused_for(strategy, "band=4 form=flow", &device, &floats, "take tiles as they come");
  /* Row-major: 64 columns of B side by side are what is copied at a time, by each block of a cluster. */
  assert_refused_for(strategy, "tile_n=32", &device, &floats, "each block loads 64 or more");
  assert_refused_for(strategy, "tile_n=64 cluster=2", &device, &floats, "cluster=2");
  const tsl_config narrow = config_of(strategy, "tile_n=16");
  tsl_problem along = floats;
  along.b.row_stride = 1, along.b.col_stride = 256;
  assert_null(tsl_strategy_refuse(strategy, &along, &narrow, &device));
}

/* Stages, boxes and barriers fill what a block may have, and never more. */
static void memory_is_shared_out(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    tesela_type c;
    int stages, boxes;
  } cases[] = {{"tile_m=128 tile_n=256", TESELA_F32, 3, 4},
               {"tile_m=128 tile_n=256", TESELA_BF16, 3, 4},
               {"tile_m=64 tile_n=128", TESELA_F32, 8, 4},
               {"tile_m=64 tile_n=64", TESELA_BF16, 12, 1},
               {"tile_m=256 tile_n=128", TESELA_F32, 3, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(512, 512, 512, TESELA_BF16, cases[i].c);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(&problem, &config, &device);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_int_equal(tile.boxes, cases[i].boxes);
    assert_true(tile.shared_bytes <= device.local_bytes_inside);
    const uint64_t boxes = (uint64_t)tile.warpgroups * (uint64_t)tile.boxes * 8192,
                   stages = (uint64_t)tile.stages * (uint64_t)(tile.tile_m + tile.tile_n) * 128;
    assert_true(tile.shared_bytes >= boxes + stages + 16 * (uint64_t)tile.stages + 1023);
  }
}

/* Few tiles share the units by parts of k, none of which is short; their sums are scratch memory, behind both operands. */
static void few_tiles_split_k(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, parts, blocks;
  } cases[] = {{"tile_m=128 tile_n=256", 4096, 4096, 4096, 1, 132},
               {"tile_m=128 tile_n=256 cluster=2", 4096, 4096, 4096, 1, 132},
               {"tile_m=128 tile_n=128", 128, 128, 65536, 132, 132},
               {"tile_m=128 tile_n=128 cluster=2", 256, 128, 65536, 66, 132},
               {"tile_m=128 tile_n=128", 128, 128, 1024, 4, 4}, /* 16 panels */
               {"tile_m=128 tile_n=128", 128, 128, 0, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(&problem, &config, &device);
    const tsl_cuda_wgmma_shares shares =
        tsl_cuda_wgmma_shares_of(&tile, problem.m, problem.n, problem.k, &device);
    assert_int_equal(shares.parts, cases[i].parts);
    assert_int_equal(shares.blocks, cases[i].blocks);
    assert_int_equal(shares.sums_bytes, shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 4);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     tile.a_bytes + tile.b_bytes + shares.sums_bytes);
  }
}

/* Blocks that flow leave room for as many others beside them; one for each part of k of each tile, and one a unit where parts are many. */
static void small_blocks_flow(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, parts, blocks;
    int stages;
  } cases[] = {{"tile_m=64 tile_n=16 cluster=2 order=swapped form=flow", 16, 4096, 4096, 1, 128, 11},
               {"tile_m=128 tile_n=32 cluster=1 order=swapped form=flow", 24, 11008, 4096, 1, 86, 5},
               {"tile_m=128 tile_n=128 cluster=8 form=flow", 128, 128, 65536, 16, 128, 3},
               {"tile_m=64 tile_n=64 cluster=2 form=flow", 256, 256, 512, 1, 32, 6},
               {"tile_m=64 tile_n=64 cluster=1 form=flow", 256, 256, 512, 2, 32, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(&problem, &config, &device);
    const tsl_cuda_wgmma_shares shares =
        tsl_cuda_wgmma_shares_of(&tile, tile.problem.m, tile.problem.n, problem.k, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.stages, cases[i].stages);
    assert_true(2 * (tile.shared_bytes + 1024) <= device.local_bytes_inside + 1024);
    assert_int_equal(shares.parts, cases[i].parts);
    assert_int_equal(shares.blocks, cases[i].blocks);
    assert_int_equal(shares.sums_bytes, shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 4);
  }
}

/* Ten binary places of a number, as tensor cores read f32. */
static float cut(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  bits &= ~(uint32_t)0x1fff;
  memcpy(&number, &bits, sizeof bits);
  return number;
}

/* What the judge says of a product whose factors are cut (f32 as tf32), by the strategy's guarantee, or by one that does not know
 * of numbers of which nothing is left. */
static bool is_right(tsl_data data, uint64_t seed, bool knows_flushes) {
  enum { M = 18, N = 20, K = 33 };
  static float a[M * K], b[K * N], c[M * N];
  tsl_problem problem = problem_of(M, N, K, TESELA_F32, TESELA_F32);
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_verdict verdict;
  assert_int_equal(tsl_ask_parse_accuracy("tf32", &problem.ask), TESELA_OK);
  assert_int_equal(tsl_data_fill(data, seed, &problem.a, K, a), TESELA_OK);
  assert_int_equal(tsl_data_fill(data, seed + 1, &problem.b, K, b), TESELA_OK);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++)
        sum += (double)cut(a[i * K + k]) * (double)cut(b[k * N + j]);
      c[i * N + j] = (float)sum;
    }
  const tsl_accuracy promised = strategy->accuracy(&problem, &config);
  const tsl_judge judge = {.factor = promised.factor, .flushes = knows_flushes ? promised.flushes : 0};
  assert_int_equal(tsl_judge_result(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  return verdict.right;
}

static void cut_factors_are_guaranteed(void **state) {
  int wrong = 0;
  (void)state;
  for (uint64_t seed = 1; seed < 40; seed += 2) {
    for (int data = 0; data < TSL_DATA_COUNT; data++)
      if (!is_right((tsl_data)data, seed, true))
        fail_msg("%s data, seed %d: wrong", tsl_data_name((tsl_data)data), (int)seed);
    wrong += !is_right(TSL_DATA_SPECIAL, seed, false);
  }
  assert_true(wrong > 0); /* infinities met numbers of which nothing is left */
}

/* What is packed: elements that lie apart, rows that do not start at multiples of 16 bytes, rows in the other direction. */
static void operands_that_maps_do_not_take_are_packed(void **state) {
  (void)state;
  const tsl_rows rows = {.rows = 100, .elements = 100}, one = {.rows = 1, .elements = 100};
  assert_false(tsl_cuda_wgmma_packs(104, 1, 8, &rows, 2));
  assert_true(tsl_cuda_wgmma_packs(104, 2, 8, &rows, 2));
  assert_true(tsl_cuda_wgmma_packs(100, 1, 8, &rows, 2));
  assert_true(tsl_cuda_wgmma_packs(104, 1, 4, &rows, 2));
  assert_true(tsl_cuda_wgmma_packs(-104, 1, 8, &rows, 2));
  assert_false(tsl_cuda_wgmma_packs(101, 1, 8, &one, 2));
}

/* Large products get large tiles, small and thin ones tiles that are enough for many units. */
static void the_model_likes_what_fits(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    int64_t m, n, k;
    int64_t least, most; /* elements of a tile */
  } cases[] = {{4096, 4096, 4096, 128 * 256, 128 * 256},
               {1024, 1024, 1024, 64 * 128, 64 * 128},
               {512, 512, 512, 64 * 32, 64 * 128},
               {16, 4096, 4096, 64 * 16, 64 * 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    double seconds;
    const tsl_config best = best_config(strategy, &problem, &device, &seconds);
    say_choice(strategy, &problem, &best, seconds);
    const int64_t tile = value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n");
    assert_true(tile >= cases[i].least && tile <= cases[i].most);
  }
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(memory_is_shared_out),
      cmocka_unit_test(few_tiles_split_k),
      cmocka_unit_test(small_blocks_flow),
      cmocka_unit_test(cut_factors_are_guaranteed),
      cmocka_unit_test(operands_that_maps_do_not_take_are_packed),
      cmocka_unit_test(the_model_likes_what_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
