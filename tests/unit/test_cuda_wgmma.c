/* cuda_wgmma on a mock device: refusals, and division of memory and work. */
#include "unit/hopper.h"
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/data.h"
#include "judge/judge.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

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
  assert_refused_for(strategy, "", &device, &wide, "request accuracy=");
  assert_refused_for(strategy, "", &device, &deep, "31 bits");
  assert_refused_for(strategy, "tile_m=256 tile_n=256", &device, &floats,
                     "256 sums per thread; the limit is 128");
  assert_refused_for(strategy, "tile_m=128 tile_n=256", &small, &floats,
                     "do not fit into the 102400 bytes of mock:0");
  tsl_problem asked = wide;
  asked.ask.accuracy = TSL_ACCURACY_NUMBER;
  asked.ask.number = 1e-2;
  const tsl_config fallback = tsl_strategy_defaults(strategy);
  assert_null(tsl_strategy_refuse(strategy, &asked, &fallback, &device));
  asked.ask.number = 0x1p-9;
  assert_refused_for(strategy, "", &device, &asked, "guarantees |error| <=");
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &asked.ask), TESELA_OK);
  for (int64_t k = 1; k < (int64_t)1 << 22; k = 3 * k + 1) {
    asked.k = asked.a.cols = asked.b.rows = k;
    assert_null(tsl_strategy_refuse(strategy, &asked, &fallback, &device));
  }
  tsl_problem batch = floats;
  batch.batch = 2;
  assert_refused_for(strategy, "cluster=4", &device, &batch, "a product of one round");
  assert_refused_for(strategy, "cluster=4 form=stream", &device, &floats, "a product of one round");
  assert_refused_for(strategy, "tile_m=64 tile_n=8 cluster=8", &device, &floats, "a product of one round");
  assert_refused_for(strategy, "band=4 form=flow", &device, &floats, "form=flow takes band=8");
  tsl_problem along = floats;
  along.b.row_stride = 1, along.b.col_stride = 256;
  const tsl_problem bytes = problem_of(256, 256, 256, TESELA_I8, TESELA_I32);
  assert_refused_for(strategy, "tile_n=40", &device, &bytes, "a multiple of 16 columns");
  /* Every width is taken of the other types, by clusters, too. */
  for (int width = 8; width <= 256; width += 8) {
    char text[64];
    snprintf(text, sizeof text, "tile_n=%d cluster=%d", width, 2 << width / 8 % 2);
    const tsl_config config = config_of(strategy, text);
    const char *why = tsl_strategy_refuse(strategy, &along, &config, &device);
    if (why)
      fail_msg("%s: %s", text, why);
  }
}

/* Stages, boxes and barriers fill a block's shared memory, and never exceed it. */
static void memory_is_shared_out(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    tesela_type c;
    int64_t k;
    int stages, boxes;
  } cases[] = {
      {"tile_m=128 tile_n=256", TESELA_F32, 512, 3, 4},   {"tile_m=128 tile_n=256", TESELA_BF16, 1024, 3, 4},
      {"tile_m=128 tile_n=256", TESELA_BF16, 1536, 4, 2}, /* stages count more where k is long */
      {"tile_m=128 tile_n=232", TESELA_BF16, 4096, 4, 2}, {"tile_m=128 tile_n=192", TESELA_BF16, 4096, 4, 3},
      {"tile_m=64 tile_n=128", TESELA_F32, 512, 8, 4},    {"tile_m=64 tile_n=64", TESELA_BF16, 512, 12, 1},
      {"tile_m=64 tile_n=16", TESELA_BF16, 512, 10, 1}, /* two blocks of a multiprocessor */
      {"tile_m=256 tile_n=128", TESELA_F32, 512, 3, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(512, 512, cases[i].k, TESELA_BF16, cases[i].c);
    problem.b.row_stride = 1, problem.b.col_stride = cases[i].k;
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_int_equal(tile.boxes, cases[i].boxes);
    assert_true(tile.shared_bytes <= device.local_bytes_inside);
    const uint64_t boxes = (uint64_t)tile.warpgroups * (uint64_t)tile.boxes * 8192,
                   stages = (uint64_t)tile.stages * (uint64_t)(tile.tile_m + tile.b_lines) * 128;
    assert_true(tile.shared_bytes >= boxes + stages + 16 * (uint64_t)tile.stages + 1023);
  }
}

/* For tf32 with A in registers, two stages are read at a time. Where four stages fit after reducing
 * the number of boxes, there are four. */
static void stages_for_registers_are_four(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int stages, boxes;
  } cases[] = {{"tile_m=128 tile_n=256 order=swapped", 4, 2},
               {"tile_m=128 tile_n=256 cluster=2 band=4 order=swapped", 4, 2},
               {"tile_m=256 tile_n=128 order=swapped", 4, 2},
               {"tile_m=128 tile_n=128 order=swapped", 5, 4},
               {"tile_m=64 tile_n=128 cluster=2 order=swapped", 8, 4},
               {"tile_m=64 tile_n=32 order=swapped", 12, 2},
               {"tile_m=128 tile_n=256 order=direct", 3, 4}}; /* B is turned first, A read along k */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(512, 512, 512, TESELA_F32, TESELA_F32);
    assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask), TESELA_OK);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_int_equal(tile.boxes, cases[i].boxes);
    assert_true(tile.shared_bytes <= device.local_bytes_inside);
  }
}

/* With tiles of any width a block's stages hold all boxes of its last tile, in f32 with split-k. Stages of a
 * B with adjacent columns have whole boxes of 64. The walk skips only configs that are refused. */
static void any_width_fits(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const tesela_type ab[] = {TESELA_BF16, TESELA_F32, TESELA_I8, TESELA_E4M3};
  for (size_t t = 0; t < sizeof ab / sizeof *ab; t++) {
    const tesela_type c = ab[t] == TESELA_I8 ? TESELA_I32 : ab[t] == TESELA_F32 ? TESELA_F32 : TESELA_BF16;
    tsl_problem problem = problem_of(4096, 4096, 4096, ab[t], c);
    tsl_config config;
    int legal = 0, walked = 0, all = 0;
    problem.ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_NUMBER, .number = 1};
    for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, &device, &walk);)
      walked += !strategy->refuse(&problem, &walk.config, &device);
    for (; tsl_strategy_config(strategy, all, &config); all++) {
      if (strategy->refuse(&problem, &config, &device))
        continue;
      for (int kind = TSL_CUDA_WGMMA_PLAIN; kind <= TSL_CUDA_WGMMA_JOINED; kind++) {
        const tsl_cuda_wgmma tile =
            tsl_cuda_wgmma_derive(&problem, &config, &device, (tsl_cuda_wgmma_launch_kind)kind);
        const int64_t stages = (int64_t)tile.stages * (tile.tile_m + tile.b_lines) * 128,
                      pair = tile.by_columns && tile.c_element == 4 ? 2 : 1,
                      sums = (tile.tile_n + 32 * pair - 1) / (32 * pair) * (32 * pair) * tile.tile_m * 4;
        if (tile.stages == 0)
          continue;
        assert_true(tile.is_flow || tile.boxes % pair == 0);
        assert_true(tile.resident * (tile.shared_bytes + 1024) <= device.local_bytes_inside + 1024);
        assert_true(stages >= sums);
        assert_true(tile.b_mn_major ? tile.b_lines % 64 == 0 && tile.b_lines >= tile.tile_n
                                    : tile.b_lines == tile.tile_n);
      }
      legal++;
    }
    print_message("  %d configs, %d legal\n", all, legal);
    assert_true(legal > 500);
    assert_int_equal(legal, walked);
  }
}

/* Few tiles share the units by parts of k, none of which is short; their sums are scratch memory, behind both
 * operands. */
static void few_tiles_split_k(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, parts, blocks;
  } cases[] = {{"tile_m=128 tile_n=256", 4096, 4096, 4096, 1, 132},
               {"tile_m=128 tile_n=256 cluster=2", 4096, 4096, 4096, 1, 132},
               {"tile_m=128 tile_n=256 cluster=4", 4096, 4096, 4096, 1, 120}, /* of 132 */
               {"tile_m=64 tile_n=64 cluster=8", 256, 128, 65536, 15, 120},
               {"tile_m=128 tile_n=128", 128, 128, 65536, 132, 132},
               {"tile_m=128 tile_n=128 cluster=2", 256, 128, 65536, 66, 132},
               {"tile_m=128 tile_n=128", 128, 128, 1024, 4, 4}, /* 16 panels */
               {"tile_m=128 tile_n=128", 128, 128, 0, 1, 1},
               /* Parts of k for 32 bytes a row in f32: 16 panels are one part where A is in registers, and
                * four parts otherwise. */
               {"tile_m=64 tile_n=128 order=swapped", 512, 512, 512, 1, 32},
               {"tile_m=64 tile_n=128 order=direct", 512, 512, 512, 4, 128},
               {"tile_m=64 tile_n=128 order=swapped", 128, 128, 65536, 66, 132}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tesela_type type = strstr(cases[i].config, "order") ? TESELA_F32 : TESELA_BF16;
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, type, TESELA_F32);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_cuda_wgmma_schedule shares = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_int_equal(shares.parts, cases[i].parts);
    assert_int_equal(shares.blocks, cases[i].blocks);
    assert_int_equal(shares.sums_bytes, shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 4);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     tile.a_bytes + tile.b_bytes + shares.sums_bytes);
  }
}

/* Products of a batch are shared out like tiles, k of none is split, and what copies of their factors take is
 * limited. Small blocks are several of a multiprocessor. */
static void batches_are_shared_out(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t size, batch;
    int resident, stages;
    int64_t blocks, packed;
  } cases[] = {{"tile_m=64 tile_n=64", 64, 4096, 3, 4, 396, 4096},
               {"tile_m=64 tile_n=64", 64, 100, 3, 4, 100, 100},
               {"tile_m=64 tile_n=128", 1024, 50, 2, 3, 264, 16},
               {"tile_m=128 tile_n=256", 4096, 3, 1, 4, 132, 1},
               {"tile_m=128 tile_n=128 cluster=2", 256, 64, 1, 6, 132, 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(cases[i].size, cases[i].size, cases[i].size, TESELA_BF16, TESELA_BF16);
    problem.batch = cases[i].batch;
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_cuda_wgmma_schedule shares = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.resident, cases[i].resident);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_true((uint64_t)tile.resident * (tile.shared_bytes + 1024) <= device.local_bytes_inside + 1024);
    assert_int_equal(shares.parts, 1);
    assert_int_equal(shares.blocks, cases[i].blocks);
    assert_int_equal(tile.packed, cases[i].packed);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     tile.packed * (tile.a_bytes + tile.b_bytes));
  }
  tsl_problem many = problem_of(64, 64, 64, TESELA_BF16, TESELA_BF16);
  many.batch = (int64_t)1 << 31;
  assert_refused_for(strategy, "tile_n=64", &device, &many, "more than blocks can count");
  many.batch = 2;
  assert_refused_for(strategy, "tile_n=64 form=flow", &device, &many, "a single product, not a batch");
}

/* Blocks of form=flow use at most half of a unit's shared memory, so that two run on a unit. The
 * launch has one block for each part of k of each tile, and one block a unit where there are more
 * parts. */
static void small_blocks_flow(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, parts, blocks;
    int stages;
  } cases[] = {
      {"tile_m=64 tile_n=16 cluster=2 order=swapped form=flow", 16, 4096, 4096, 1, 128, 10}, /* of 11 */
      {"tile_m=128 tile_n=32 cluster=1 order=swapped form=flow", 24, 11008, 4096, 1, 86, 5},
      {"tile_m=128 tile_n=128 cluster=8 form=flow", 128, 128, 65536, 16, 128, 3},
      {"tile_m=64 tile_n=64 cluster=2 form=flow", 256, 256, 512, 1, 32, 6},
      {"tile_m=64 tile_n=64 cluster=1 form=flow", 256, 256, 512, 2, 32, 6}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_cuda_wgmma_schedule shares = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.stages, cases[i].stages);
    assert_true(2 * (tile.shared_bytes + 1024) <= device.local_bytes_inside + 1024);
    assert_int_equal(shares.parts, cases[i].parts);
    assert_int_equal(shares.blocks, cases[i].blocks);
    assert_int_equal(shares.sums_bytes, shares.parts == 1 ? 0 : shares.parts * problem.m * problem.n * 4);
  }
}

/* Where bits=rows leaves a unit to each block of a long product, a narrow block's stages fill the
 * shared memory of a unit. Other products, and blocks of the free choice, are laid out as before. Stages of
 * few flowing columns have several panels anyway. */
static void blocks_alone_fill_a_unit(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k;
    int stages, stage_panels;
    bool is_alone;
  } cases[] = {{"tile_m=64 tile_n=8 order=swapped form=flow", 8, 2112, 7168, 24, 4, true},
               {"tile_m=64 tile_n=40 order=swapped form=flow", 40, 2112, 7168, 16, 4, true}, /* of 17 */
               {"tile_m=64 tile_n=64 order=swapped form=flow", 64, 4096, 4096, 14, 1, true},
               {"tile_m=64 tile_n=64 order=swapped", 64, 4096, 4096, 13, 1, true},
               {"tile_m=128 tile_n=8 order=swapped form=flow", 8, 4096, 4096, 13, 1, true},
               {"tile_m=64 tile_n=32 order=swapped", 64, 4096, 4096, 16, 4, true}, /* 128 blocks */
               {"tile_m=64 tile_n=24 order=swapped", 64, 4096, 4096, 9, 1, false}, /* 192 blocks */
               {"tile_m=64 tile_n=24 order=swapped form=flow", 24, 2112, 1024, 10, 1, false},
               {"tile_m=64 tile_n=16 order=swapped form=flow", 16, 2112, 1024, 10, 2, false},
               {"tile_m=64 tile_n=8 order=swapped form=flow", 8, 2112, 1024, 12, 2, false},
               {"tile_m=64 tile_n=8 order=swapped form=flow", 8, 28672, 8192, 12, 4, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_BF16);
    const tsl_config config = config_of(strategy, cases[i].config);
    problem.b.row_stride = 1, problem.b.col_stride = cases[i].k;
    assert_false(tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN).is_alone);
    problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.is_alone, cases[i].is_alone);
    assert_int_equal(tile.together, cases[i].is_alone || cases[i].stage_panels > 1 ? 1 : 4);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_int_equal(tile.stage_panels, cases[i].stage_panels);
    assert_true(tile.shared_bytes <= device.local_bytes_inside);
    assert_true(tile.shared_bytes >= (uint64_t)tile.stages * (uint64_t)(tile.tile_m + tile.b_lines) * 128 +
                                         16 * (uint64_t)tile.stages + 1023);
  }
}

/* A flowing block computes one part of a tile, so all run, however few fit at once. Persistent blocks
 * are at most as many as fit. */
static void flowing_blocks_all_run(void **state) {
  (void)state;
  static const struct {
    const char *config;
    int64_t m, n, blocks;
  } rows[] = {
      {"tile_m=64 tile_n=16 order=swapped form=flow", 8, 64 * 1000, 1000},
      {"tile_m=64 tile_n=16 order=swapped form=flow cluster=2", 8, 64 * 1000, 2000},
      {"tile_m=128 tile_n=128", 12800, 12800, 132},
      {"tile_m=128 tile_n=128 form=stream", 128 * 133, 128, 132},
  };
  const tsl_device device = hopper();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tsl_problem problem = problem_of(rows[i].m, rows[i].n, 4096, TESELA_BF16, TESELA_F32);
    const tsl_config config = config_of(strategy, rows[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_int_equal(tsl_cuda_wgmma_count_blocks(&tile, &schedule, 1, device.compute_units), rows[i].blocks);
  }
}

/* In an incomplete last round the panels of owners and of helpers add up to all panels, and both
 * finish at about the same time. Partial sums and flags are in scratch memory. */
static void last_rounds_are_helped(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, k, whole, owned, helped;
  } cases[] = {{"tile_m=128 tile_n=256 cluster=2 form=stream", 3000, 3000, 3000, 132, 19, 2},
               {"tile_m=128 tile_n=256 form=stream", 2560, 2560, 2560, 132, 30, 1}, /* two turns */
               {"tile_m=128 tile_n=256 cluster=2 form=stream", 512, 14336, 4096, 66, 51, 1},
               {"tile_m=64 tile_n=64 form=stream", 300, 300, 128, 0, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_BF16);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_cuda_wgmma_schedule shares = tsl_cuda_wgmma_get_schedule(&tile, &device);
    const int64_t last = shares.tiles_m * shares.tiles_n - shares.whole,
                  parts = last * shares.helped * tile.cluster;
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(shares.owned, cases[i].owned);
    assert_true(shares.whole == cases[i].whole && shares.helped == cases[i].helped);
    assert_true(shares.blocks == 132 && shares.parts == 1);
    assert_true(shares.owned > 0 && shares.owned + shares.helped <= (problem.k + 63) / 64);
    assert_true(last > 0 && last < 132 / tile.cluster);
    assert_true(shares.flags_bytes >= 8 * parts * tile.warpgroups && shares.flags_bytes % 16 == 0);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     tile.a_bytes + tile.b_bytes + shares.flags_bytes +
                         parts * tile.tile_m * tile.tile_n * 4);
  }
  const tsl_problem full = problem_of(132 * 128, 128, 4096, TESELA_BF16, TESELA_BF16);
  tsl_problem other = problem_of(3000, 3000, 64, TESELA_BF16, TESELA_BF16),
              numbers = problem_of(3000, 3000, 3000, TESELA_F32, TESELA_F32);
  assert_refused_for(strategy, "band=4 form=stream", &device, &other, "form=stream takes band=8");
  assert_refused_for(strategy, "form=stream", &device, &full, "132 tiles fill whole rounds of 132");
  assert_refused_for(strategy, "form=stream", &device, &other, "k of 64 is one panel");
  other.batch = 2;
  assert_refused_for(strategy, "form=stream", &device, &other, "a single product, not a batch");
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &numbers.ask), TESELA_OK);
  assert_refused_for(strategy, "order=swapped form=stream", &device, &numbers,
                     "does not support A from registers");
}

/* Ten binary places of a number, as tensor cores read f32. */
static float cut(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  bits &= ~(uint32_t)0x1fff;
  memcpy(&number, &bits, sizeof bits);
  return number;
}

/* Returns the judge's verdict on a product with truncated factors (f32 as tf32), by the strategy's
 * guarantee. Without `knows_flushes` the guarantee omits numbers that truncation makes 0. */
static bool is_right(tsl_data data, uint64_t seed, bool knows_flushes) {
  enum { M = 18, N = 20, K = 33 };
  static float a[M * K], b[K * N], c[M * N];
  tsl_problem problem = problem_of(M, N, K, TESELA_F32, TESELA_F32);
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_verdict verdict;
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask), TESELA_OK);
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
  const tsl_judge judge = {.factor = promised.factor,
                           .flushes = knows_flushes ? tsl_accuracy_underflow(&promised) : 0};
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

/* Packed operands: elements with gaps, rows that do not start at multiples of 16 bytes, rows in the
 * other direction. */
static void operands_that_maps_do_not_take_are_packed(void **state) {
  (void)state;
  const tsl_rows rows = {.rows = 100, .elements = 100}, one = {.rows = 1, .elements = 100};
  static const struct {
    tsl_rows_place place; /* offset, row stride, step, and distance between products */
    bool one, packs;
  } cases[] = {{{NULL, 8, 104, 1, 0}, false, false},     {{NULL, 8, 104, 2, 0}, false, true},
               {{NULL, 8, 100, 1, 0}, false, true},      {{NULL, 4, 104, 1, 0}, false, true},
               {{NULL, 8, -104, 1, 0}, false, true},     {{NULL, 8, 101, 1, 0}, true, false},
               {{NULL, 8, 104, 1, 10400}, false, false}, {{NULL, 8, 104, 1, -10400}, false, false},
               {{NULL, 8, 104, 1, 10404}, false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsl_cuda_wgmma_packs(&cases[i].place, cases[i].one ? &one : &rows, 2), cases[i].packs);
}

/* Arguments of the launch that copies rows of both factors. */
static cuda_wgmma_lines_arguments copied;
static uint64_t copying_blocks;

static tesela_status keep_lines(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                                const tsl_argument *arguments, int count) {
  (void)stream;
  (void)kernel;
  assert_int_equal(count, 4);
  assert_int_equal(arguments[3].bytes, sizeof copied);
  memcpy(&copied, arguments[3].value, sizeof copied);
  copying_blocks = grid->groups[0];
  return TESELA_OK;
}

/* One whose launches are kept. */
static tsl_device copying_device(void) {
  static const tsl_device_ops ops = {.launch = keep_lines};
  tsl_device device = hopper();
  device.ops = &ops;
  device.cache_bytes = 50 << 20;
  return device;
}

/* Copies rows of elements of any size as bytes. Rows with gaps between elements of more than one
 * byte are left to the packing kernels. */
static void rows_are_copied_as_bytes(void **state) {
  (void)state;
  tsl_device device = copying_device();
  tsl_buffer from = {.device = &device}, scratch = {.device = &device};
  const tsl_work work = {.strategy = strategy, .device = &device};
  static const int64_t rows = 37, k = 301, stride = 305, offset = 3;
  for (int element = 1; element <= 4; element *= 2)
    for (int64_t step = 1; step <= 2; step++) {
      const int64_t pitch = (k * element + 15) / 16 * 16, a_bytes = (rows * pitch + 127) / 128 * 128;
      const tsl_cuda_wgmma tile = {.input_bytes = element, .element = element};
      const tsl_cuda_wgmma_factor as_it_lies = {
          .rows = {rows, k, pitch}, .place = {&from, offset, stride, 1, 0}, .packs = true};
      tsl_cuda_wgmma_factor factors[] = {as_it_lies, as_it_lies};
      factors[1].place.step = step;
      factors[1].copy_offset = a_bytes;
      const bool both = element == 1 || step == 1;
      copied = (cuda_wgmma_lines_arguments){.fits = 0};
      assert_int_equal(tsl_cuda_wgmma_lines(&work, NULL, &tile, &scratch, NULL, factors), TESELA_OK);
      for (int i = 0; i < 2; i++) {
        const cuda_wgmma_lines *of = &copied.of[i];
        assert_int_equal(factors[i].packs, i == 1 && !both);
        if (factors[i].packs) {
          assert_int_equal(of->units, 0);
          assert_ptr_equal(factors[i].place.buffer, &from);
          continue;
        }
        assert_int_equal(of->lines, rows);
        assert_int_equal(of->elements, k * element);
        assert_int_equal(of->offset, offset * element);
        assert_int_equal(of->line, stride * element);
        assert_int_equal(of->step, i == 1 ? step : 1);
        assert_int_equal(of->end,
                         (offset + (rows - 1) * stride) * element + (k * element - 1) * of->step + 1);
        assert_int_equal(of->to, i * a_bytes);
        assert_int_equal(of->pitch, pitch);
        /* Units have 1024 chunks of 16 bytes, or 512 that bulk copies bring, of lines that are as many chunks
         * as a power of two. */
        const bool by_bulk = of->step == 1;
        const int64_t most = by_bulk ? 512 : 1024;
        const int64_t chunks = (k * element + 15) / 16, shift = of->shift;
        assert_true((int64_t)1 << shift >= chunks && (int64_t)1 << (shift - 1) < chunks);
        assert_int_equal(of->units, (rows + (most >> shift) - 1) / (most >> shift));
        assert_int_equal(of->way, by_bulk ? TSL_CUDA_WGMMA_LINES_BY_BULK : TSL_CUDA_WGMMA_LINES_GATHERED);
        assert_ptr_equal(factors[i].place.buffer, &scratch);
        assert_int_equal(factors[i].place.offset * element, i * a_bytes);
        assert_int_equal(factors[i].place.row_stride * element, pitch);
        assert_int_equal(factors[i].place.step, 1);
      }
      assert_int_equal(copying_blocks, copied.of[0].units + copied.of[1].units);
      assert_int_equal(copied.fits, 1);
    }
}

/* Lines of less than 129 bytes are gathered in place. More lines than blocks have room for are
 * copied in several turns. `fits` is 0 where the copies exceed the last cache. */
static void short_and_many_lines(void **state) {
  (void)state;
  tsl_device device = copying_device();
  tsl_buffer from = {.device = &device}, scratch = {.device = &device};
  const tsl_work work = {.strategy = strategy, .device = &device};
  static const struct {
    int64_t rows, k;
    int way, fits;
  } cases[] = {{100, 128, TSL_CUDA_WGMMA_LINES_GATHERED, 1},
               {100, 129, TSL_CUDA_WGMMA_LINES_BY_BULK, 1},
               {100000, 401, TSL_CUDA_WGMMA_LINES_BY_BULK, 1},
               {1000000, 401, TSL_CUDA_WGMMA_LINES_BY_BULK, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t pitch = (cases[i].k + 15) / 16 * 16;
    const tsl_cuda_wgmma tile = {.input_bytes = 1, .element = 1};
    tsl_cuda_wgmma_factor factors[] = {
        {.rows = {cases[i].rows, cases[i].k, pitch}, .place = {&from, 1, cases[i].k, 1, 0}, .packs = true},
        {.packs = false}};
    assert_int_equal(tsl_cuda_wgmma_lines(&work, NULL, &tile, &scratch, NULL, factors), TESELA_OK);
    assert_int_equal(copied.of[0].way, cases[i].way);
    assert_int_equal(copied.of[1].units, 0);
    assert_int_equal(copied.fits, cases[i].fits);
    assert_int_equal(copying_blocks, copied.of[0].units < 2 * 132 ? copied.of[0].units : 2 * 132);
  }
}

/* For f32 as tf32, an A that is not contiguous along k is read to registers without packing. Maps write
 * columns of C, from registers by pairs of boxes. The units need B along k: row-major factors are swapped. */
static void factors_across_go_to_registers(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    bool a_across, b_across; /* columns of A lie side by side; rows of B do */
    const char *config;
    bool from_registers, by_map;
  } cases[] = {{false, true, "order=direct", false, true},
               {false, true, "order=swapped", true, true},
               {true, false, "order=direct", true, true},
               {true, false, "order=swapped", false, true},
               {false, false, "order=direct", false, true},
               {false, false, "order=swapped", false, true},
               {true, true, "order=direct", true, true},
               {true, true, "order=swapped", true, true},
               {false, true, "tile_m=64 tile_n=32 order=swapped", true, false},
               {false, false, "tile_m=64 tile_n=8 order=swapped", false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(512, 1024, 256, TESELA_F32, TESELA_F32);
    if (cases[i].a_across)
      problem.a.row_stride = 1, problem.a.col_stride = 512;
    if (!cases[i].b_across)
      problem.b.row_stride = 1, problem.b.col_stride = 256;
    assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask), TESELA_OK);
    const tsl_config config = config_of(strategy, cases[i].config);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.from_registers, cases[i].from_registers);
    assert_int_equal(tile.a_mn_major, cases[i].from_registers);
    assert_false(tile.b_mn_major);
    const tsl_gemm_sizes rows = {.m = 1024, .n = 512, .c_row_stride = 512, .c_col_stride = 1},
                         columns = {.m = 1024, .n = 512, .c_row_stride = 1, .c_col_stride = 1024},
                         *sizes = tile.by_columns ? &columns : &rows;
    assert_int_equal(tsl_cuda_wgmma_by_map(&tile, sizes, false), cases[i].by_map);
    assert_false(tsl_cuda_wgmma_by_map(&tile, sizes, true));
  }
  /* Lines of C that end between multiples of 16 bytes are not written by maps. */
  tsl_problem problem = problem_of(512, 1024, 256, TESELA_F32, TESELA_F32);
  const tsl_config swapped = config_of(strategy, "order=swapped");
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &swapped, &device, TSL_CUDA_WGMMA_PLAIN);
  tsl_gemm_sizes odd = {.m = 1022, .n = 512, .c_row_stride = 1, .c_col_stride = 1024};
  assert_false(tsl_cuda_wgmma_by_map(&tile, &odd, false));
  odd.m = 1024, odd.n = 511;
  assert_true(tsl_cuda_wgmma_by_map(&tile, &odd, false));
}

/* 8-bit integers are read to registers too, where a map writes C, the tile has a slab's rows, and
 * no epilogue follows the sums. */
static void bytes_across_go_to_registers(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    tesela_type ab, c;
    int64_t n;
    double beta;
    tesela_activation activation;
    const char *config;
    bool from_registers;
  } cases[] = {{TESELA_I8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped", true},
               {TESELA_U8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped tile_m=256", true},
               {TESELA_I8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=direct", false},
               {TESELA_I8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped tile_m=64", false},
               {TESELA_I8, TESELA_I32, 1023, 0, TESELA_NO_ACTIVATION, "order=swapped", false},
               {TESELA_I8, TESELA_I32, 1024, 1, TESELA_NO_ACTIVATION, "order=swapped", false},
               {TESELA_I8, TESELA_I32, 1024, 0, TESELA_RELU, "order=swapped", false},
               {TESELA_I8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped form=stream", false},
               {TESELA_I8, TESELA_I32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped form=flow", false},
               {TESELA_E4M3, TESELA_F32, 1024, 0, TESELA_NO_ACTIVATION, "order=swapped eights=units", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(512, cases[i].n, 256, cases[i].ab, cases[i].c);
    problem.beta[0] = cases[i].beta;
    problem.activation = cases[i].activation;
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.from_registers, cases[i].from_registers);
    assert_int_equal(tile.a_mn_major, cases[i].from_registers);
    assert_false(tile.b_mn_major);
    assert_int_equal(tsl_cuda_wgmma_packed_bytes(&tile) == 0, cases[i].from_registers);
    /* Products that differ have one kernel, which knows no registers. */
    assert_false(tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_JOINED).from_registers);
    const tsl_cuda_wgmma_schedule shares = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_true(strategy->resources.scratch(&problem, &config, &device) >=
                (uint64_t)(tile.a_bytes + tile.b_bytes + shares.sums_bytes));
  }
}

/* Vectors of the last step that go from column to column, as kernels see columns, have room beside stages;
 * others need none. */
static void last_steps_have_memory(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    tesela_bias_axis along;
    tesela_scaling scale_a, scale_b;
    int bias, a, b;
    int64_t extra_smem;
  } cases[] = {
      {"tile_m=128 tile_n=256", TESELA_BIAS_ROW, TESELA_NO_SCALE, TESELA_NO_SCALE, 1, 0, 0, 2 * 256 * 4},
      {"tile_m=128 tile_n=256", TESELA_BIAS_COLUMN, TESELA_SCALE_TENSOR, TESELA_NO_SCALE, 2, 2, 0, 0},
      {"tile_m=64 tile_n=64", TESELA_NO_BIAS, TESELA_SCALE_LINES, TESELA_SCALE_LINES, 0, 2, 1, 64 * 4},
      {"tile_m=64 tile_n=64 order=swapped", TESELA_BIAS_COLUMN, TESELA_SCALE_LINES, TESELA_SCALE_LINES, 1, 1,
       2, 2 * 64 * 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(512, 512, 512, TESELA_BF16, TESELA_BF16);
    tsl_problem_add_bias(&problem, cases[i].along, TESELA_F32, 1);
    tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_A, cases[i].scale_a, 1);
    tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_B, cases[i].scale_b, 1);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_EPILOGUE);
    assert_int_equal(tile.bias, cases[i].bias);
    assert_int_equal(tile.scale_a, cases[i].a);
    assert_int_equal(tile.scale_b, cases[i].b);
    assert_int_equal(tile.extra_smem, cases[i].extra_smem);
    const uint64_t boxes = (uint64_t)tile.warpgroups * (uint64_t)tile.boxes * 8192,
                   stages = (uint64_t)tile.stages * (uint64_t)(tile.tile_m + tile.tile_n) * 128;
    assert_true(tile.shared_bytes <= device.local_bytes_inside && tile.stages >= 2);
    assert_true(tile.shared_bytes >=
                boxes + stages + 16 * (uint64_t)tile.stages + 1023 + (uint64_t)tile.extra_smem);
    assert_true(tsl_strategy_fuses_epilogue(strategy, &problem, &config, &device));
    /* Sums have no matrix of their own then. */
    const tsl_problem sums = tsl_problem_drop_epilogue(&problem);
    assert_int_equal(tsl_strategy_scratch(strategy, &problem, &config, &device),
                     tsl_strategy_scratch(strategy, &sums, &config, &device));
  }
}

/* A bias changes no limit: f32 is not truncated without a request, and form=flow takes no batch. */
static void a_bias_lifts_no_limit(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_problem single = problem_of(99, 99, 99, TESELA_F32, TESELA_F32);
  tsl_problem_add_bias(&single, TESELA_BIAS_ROW, TESELA_F32, 1);
  tsl_problem batch = single;
  batch.batch = 3;
  assert_refused_for(strategy, "", &device, &single, "request accuracy=");
  assert_refused_for(strategy, "form=flow", &device, &batch, "not a batch");
}

/* One run computes products of the batch's types, whose operands maps read in place and whose beta is 0. */
static void products_that_differ(void **state) {
  (void)state;
  static const struct {
    const char *what;
    int64_t m, n, k, a_row, b_row, c_row, c_offset;
    double alpha, beta;
    tesela_type c;
    bool is_taken;
  } cases[] = {
      {"as the batch", 512, 512, 512, 512, 512, 512, 0, 1, 0, TESELA_BF16, true},
      {"another size", 1, 136, 72, 72, 136, 136, 0, 1, 0, TESELA_BF16, true},
      {"rows apart, alpha", 33, 64, 8, 16, 72, 80, 8, -2, 0, TESELA_BF16, true},
      {"C's rows end at odd addresses", 33, 63, 8, 16, 64, 63, 0, 1, 0, TESELA_BF16, false},
      {"C begins at an odd address", 33, 64, 8, 16, 64, 64, 1, 1, 0, TESELA_BF16, false},
      {"A is packed", 33, 64, 9, 9, 64, 64, 0, 1, 0, TESELA_BF16, false},
      {"C is read", 33, 64, 8, 16, 64, 64, 0, 1, 1, TESELA_BF16, false},
      {"no terms", 33, 64, 0, 16, 64, 64, 0, 1, 0, TESELA_BF16, false},
      {"terms that count 0", 33, 64, 8, 16, 64, 64, 0, 0, 0, TESELA_BF16, false},
      {"another C", 33, 64, 8, 16, 64, 64, 0, 1, 0, TESELA_F32, false},
  };
  tsl_device device = hopper();
  tsl_work work = {
      .strategy = strategy, .device = &device, .config = config_of(strategy, "tile_m=128 tile_n=128")};
  work.problem = problem_of(512, 512, 512, TESELA_BF16, TESELA_BF16);
  work.problem.batch = 16;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, cases[i].c);
    problem.a.row_stride = cases[i].a_row;
    problem.b.row_stride = cases[i].b_row;
    problem.c.row_stride = cases[i].c_row;
    problem.alpha[0] = cases[i].alpha;
    problem.beta[0] = cases[i].beta;
    const tsl_operands operands = {
        .a = {.row_stride = cases[i].a_row, .col_stride = 1},
        .b = {.row_stride = cases[i].b_row, .col_stride = 1},
        .c = {.row_stride = cases[i].c_row, .col_stride = 1, .offset = cases[i].c_offset}};
    const tsl_fused_product one = {&problem, &operands};
    if (strategy->fused->takes(&work, &one) != cases[i].is_taken)
      fail_msg("%s: taken or not", cases[i].what);
  }
  tsl_problem biased = work.problem;
  biased.batch = 0;
  tsl_problem_add_bias(&biased, TESELA_BIAS_ROW, TESELA_BF16, 1);
  const tsl_operands operands = {.a = {.row_stride = 512, .col_stride = 1},
                                 .b = {.row_stride = 512, .col_stride = 1},
                                 .c = {.row_stride = 512, .col_stride = 1}};
  assert_false(strategy->fused->takes(&work, &(tsl_fused_product){&biased, &operands}));
  /* A work of one product has no such runs, and none are where memory is short. */
  tsl_problem plain = work.problem;
  plain.batch = 0;
  const tsl_work single = {.strategy = strategy, .device = &device, .config = work.config, .problem = plain};
  assert_false(strategy->fused->takes(&single, &(tsl_fused_product){&plain, &operands}));
  device.local_bytes_inside = 70 << 10;
  assert_int_equal(strategy->fused->build(&work), TESELA_UNSUPPORTED);
  assert_false(strategy->fused->takes(&work, &(tsl_fused_product){&plain, &operands}));
  device = hopper();
  assert_true(strategy->fused->takes(&work, &(tsl_fused_product){&plain, &operands}));
  /* A table of 128 has room for all products of a run, and one row behind them. */
  assert_int_equal(strategy->fused->scratch(1), 2 * 512);
  assert_int_equal(strategy->fused->scratch(1000), 129 * 512);
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(memory_is_shared_out),
      cmocka_unit_test(any_width_fits),
      cmocka_unit_test(stages_for_registers_are_four),
      cmocka_unit_test(few_tiles_split_k),
      cmocka_unit_test(batches_are_shared_out),
      cmocka_unit_test(small_blocks_flow),
      cmocka_unit_test(blocks_alone_fill_a_unit),
      cmocka_unit_test(flowing_blocks_all_run),
      cmocka_unit_test(last_rounds_are_helped),
      cmocka_unit_test(cut_factors_are_guaranteed),
      cmocka_unit_test(operands_that_maps_do_not_take_are_packed),
      cmocka_unit_test(last_steps_have_memory),
      cmocka_unit_test(products_that_differ),
      cmocka_unit_test(rows_are_copied_as_bytes),
      cmocka_unit_test(short_and_many_lines),
      cmocka_unit_test(factors_across_go_to_registers),
      cmocka_unit_test(bytes_across_go_to_registers),
      cmocka_unit_test(a_bias_lifts_no_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
