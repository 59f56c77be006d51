/* The choices of cuda_wgmma's model on a mock device; stages, boxes and clusters of its tiles. */
#include "unit/hopper.h"
#include "unit/unit.h"
#include "unit/variants.h"

#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <stdio.h>

static const tsl_strategy *strategy;

/* It takes the order in which nothing is packed, whichever factor lies across. */
static void the_model_likes_what_is_not_packed(void **state) {
  (void)state;
  const tsl_device device = hopper();
  for (int64_t size = 1024; size <= 16384; size *= 2)
    for (int b_across = 0; b_across < 2; b_across++) {
      tsl_problem problem = problem_of(size, size, size, TESELA_F32, TESELA_F32);
      tsl_shape *across = b_across ? &problem.b : &problem.a, *along = b_across ? &problem.a : &problem.b;
      double seconds;
      across->row_stride = b_across ? size : 1, across->col_stride = b_across ? 1 : size;
      along->row_stride = b_across ? size : 1, along->col_stride = b_across ? 1 : size;
      assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &problem.ask), TESELA_OK);
      const tsl_config best = best_config(strategy, &problem, &device, &seconds);
      say_choice(strategy, &problem, &best, seconds);
      const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &best, &device, TSL_CUDA_WGMMA_PLAIN);
      assert_true(tile.from_registers);
      assert_int_equal(tile.swapped, b_across);
      /* Measured on the device: clusters win for the longest products, with bands of four. At 1024 they are
       * as fast as single blocks, and at 8192 pairs of 128 x 200 as fast as of 128 x 256. */
      if (size > 1024)
        assert_int_equal(tile.cluster, size <= 4096 ? 1 : 2);
      if (size == 8192)
        continue;
      assert_int_equal(tile.tile_m * tile.tile_n, size == 1024 ? 64 * 128 : 128 * 256);
      assert_int_equal(tile.raster_height, size > 8192 ? 4 : 8);
    }
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
               {16, 4096, 4096, 64 * 8, 64 * 64}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, cases[i].k, TESELA_BF16, TESELA_F32);
    double seconds;
    const tsl_config best = best_config(strategy, &problem, &device, &seconds);
    say_choice(strategy, &problem, &best, seconds);
    const int64_t tile = value_of(strategy, &best, "tile_m") * value_of(strategy, &best, "tile_n");
    assert_true(tile >= cases[i].least && tile <= cases[i].most);
  }
}

/* Where the ask allows it, 8-bit units multiply: as few sums in f32 as the ask leaves. */
static void the_model_likes_what_an_ask_allows(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *ask;
    bool as_f16;
    int64_t most; /* of panels whose sums are apart */
  } cases[] = {{"default", true, 0}, {"0.01", true, 0}, {"0.05", false, 1}, {"e4m3", false, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(8192, 8192, 8192, TESELA_E4M3, TESELA_BF16);
    problem.b.row_stride = 1, problem.b.col_stride = 8192;
    double seconds;
    assert_int_equal(tsl_numeric_requirements_parse_accuracy(cases[i].ask, &problem.ask), TESELA_OK);
    const tsl_config best = best_config(strategy, &problem, &device, &seconds);
    say_choice(strategy, &problem, &best, seconds);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &best, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.element, cases[i].as_f16 ? 2 : 1);
    assert_true(tile.split_accumulators <= cases[i].most &&
                (tile.split_accumulators > 0) == !cases[i].as_f16);
  }
}

/* A block's last tile leaves from the stages, which must hold it, however short k is. */
static void stages_hold_a_tile(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const tesela_type types[][2] = {{TESELA_BF16, TESELA_BF16}, {TESELA_BF16, TESELA_F32},
                                         {TESELA_I8, TESELA_I32},    {TESELA_F16, TESELA_F32},
                                         {TESELA_E4M3, TESELA_BF16}, {TESELA_F32, TESELA_F32}};
  enum { BOX_ROWS = 64, BOX_BYTES = 128 };
  int checked = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int rows = 64; rows <= 256; rows *= 2)
      for (int cols = 8; cols <= 256; cols += 8)
        for (int k = 19; k <= 8192; k *= 20)
          for (int way = 0; way < 4; way++) {
            char text[96];
            tsl_problem problem = problem_of(1000, 2000, k, types[t][0], types[t][1]);
            if (way & 1)
              problem.c.row_stride = 1, problem.c.col_stride = 1000;
            snprintf(text, sizeof text, "tile_m=%d tile_n=%d cluster=1 order=%s", rows, cols,
                     way & 2 ? "swapped" : "direct");
            const tsl_config config = config_of(strategy, text);
            const tsl_cuda_wgmma tile =
                tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
            const int64_t wide = BOX_BYTES / (tsl_cuda_wgmma_problem_by_map(&tile) ? tile.c_element : 4),
                          boxes = tile.by_columns ? tsl_ceil_div(tile.tile_n, TSL_CUDA_WGMMA_BOX_COLUMNS) *
                                                        (TSL_CUDA_WGMMA_BOX_COLUMNS / wide)
                                                  : tsl_ceil_div(tile.tile_n, wide);
            if (tile.stages == 0 || tile.tile_m / tile.warpgroups * tile.tile_n / 128 > 128)
              continue;
            const int64_t stage = (tile.tile_m + tile.b_lines) * TSL_CUDA_WGMMA_PANEL;
            if (tile.stages * stage < tile.tile_m / BOX_ROWS * boxes * BOX_ROWS * BOX_BYTES)
              fail_msg("%s, k = %d, type %d: %d stages of %lld bytes, %lld boxes", text, k, (int)types[t][0],
                       tile.stages, (long long)stage, (long long)(tile.tile_m / BOX_ROWS * boxes));
            checked++;
          }
  assert_true(checked > 1000);
}

/* Boxes of a K-major operand's last tile have its lines inside of the matrix. Blocks of a cluster share them,
 * in equal parts. */
static void last_tiles_have_short_boxes(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    int64_t m, n;
    const char *config;
    bool b_mn_major;
    int lines[2], tails[2]; /* of A and B */
  } cases[] = {
      {3, 9216, "tile_m=64 tile_n=72 cluster=1 order=direct form=stay", false, {64, 72}, {3, 72}},
      {130, 100, "tile_m=128 tile_n=80 cluster=1 order=direct form=flow", false, {128, 80}, {2, 20}},
      {240, 100, "tile_m=64 tile_n=80 cluster=2 order=direct form=stay", false, {64, 40}, {48, 10}},
      {3, 200, "tile_m=64 tile_n=112 cluster=2 order=direct form=stay", false, {32, 112}, {2, 88}},
      {960, 100, "tile_m=64 tile_n=72 cluster=4 order=direct form=stay", false, {32, 36}, {32, 14}},
      {500, 200, "tile_m=128 tile_n=72 cluster=8 order=direct form=stay", false, {32, 36}, {29, 28}},
      {140, 300, "tile_m=64 tile_n=88 cluster=8 order=direct form=stay", true, {32, 16}, {6, 16}},
      {128, 200, "tile_m=64 tile_n=112 cluster=1 order=direct form=stay", true, {64, 64}, {64, 64}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_problem problem = problem_of(cases[i].m, cases[i].n, 640, TESELA_BF16, TESELA_F32);
    problem.b.row_stride = cases[i].b_mn_major ? cases[i].n : 1;
    problem.b.col_stride = cases[i].b_mn_major ? 1 : 640;
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    const tsl_operands operands = {.scratch = NULL};
    const tsl_cuda_wgmma_launch run = {
        .operands = &operands, .tile = &tile, .sizes = {.m = cases[i].m, .n = cases[i].n, .k = 640}};
    tsl_cuda_wgmma_factor factors[2];
    tsl_cuda_wgmma_find_factors(&run, factors);
    for (int f = 0; f < 2; f++) {
      assert_int_equal(factors[f].box_lines, cases[i].lines[f]);
      assert_int_equal(factors[f].tail_lines, cases[i].tails[f]);
    }
  }
}

/* Fewest clusters cover C. Of equal ones, two blocks lie along m and share B, and more load least. Different
 * products in one launch share B. */
static void clusters_lie_along_n_and_m(void **state) {
  (void)state;
  const tsl_device device = hopper();
  static const struct {
    const char *config;
    int64_t m, n, tiles_m, tiles_n;
    int cluster_m, cluster_n;
  } cases[] = {{"tile_m=128 tile_n=120 cluster=2", 1400, 1400, 11, 6, 1, 2},
               {"tile_m=128 tile_n=120 cluster=2", 1400, 1500, 11, 7, 1, 2}, /* 77 clusters; 78 along m */
               {"tile_m=128 tile_n=128 cluster=2", 1408, 1408, 6, 11, 2, 1},
               {"tile_m=128 tile_n=128 cluster=2", 1536, 1408, 6, 11, 2, 1},
               {"tile_m=64 tile_n=72 cluster=2", 40, 9216, 1, 64, 1, 2},
               {"tile_m=64 tile_n=72 cluster=1", 40, 9216, 1, 128, 1, 1},
               {"tile_m=64 tile_n=80 cluster=8", 1280, 474, 5, 3, 4, 2},
               {"tile_m=64 tile_n=112 cluster=8", 440, 1896, 1, 17, 8, 1},
               {"tile_m=64 tile_n=112 cluster=8", 1896, 440, 15, 1, 2, 4},
               {"tile_m=64 tile_n=128 cluster=4", 336, 2456, 3, 10, 2, 2},
               {"tile_m=64 tile_n=16 cluster=4", 640, 640, 5, 20, 2, 2},
               {"tile_m=64 tile_n=16 cluster=8", 512, 640, 2, 20, 4, 2},
               {"tile_m=64 tile_n=64 cluster=8", 64, 4096, 1, 8, 1, 8},
               {"tile_m=64 tile_n=64 cluster=8 form=flow", 64, 4096, 1, 64, 1, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = problem_of(cases[i].m, cases[i].n, 4096, TESELA_BF16, TESELA_BF16);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN),
                         joined = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_JOINED);
    const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, &device);
    assert_int_equal(tile.cluster_m, cases[i].cluster_m);
    assert_int_equal(tile.cluster_n, cases[i].cluster_n);
    assert_int_equal(schedule.tiles_m, cases[i].tiles_m);
    assert_int_equal(schedule.tiles_n, cases[i].tiles_n);
    assert_int_equal(joined.cluster_n, 1);
  }
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_model_likes_what_is_not_packed), cmocka_unit_test(the_model_likes_what_fits),
      cmocka_unit_test(the_model_likes_what_an_ask_allows), cmocka_unit_test(stages_hold_a_tile),
      cmocka_unit_test(last_tiles_have_short_boxes),        cmocka_unit_test(clusters_lie_along_n_and_m),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
