/* cuda_few_rows: refusals, tiles of products with few rows or columns, and the model. Devices with tensor
 * cores check its results by check_strategy. */
#include "unit/hopper.h"
#include "unit/unit.h"

#include "strategy/gemm/nvidia/cuda_few_rows/cuda_few_rows.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static void refusals_name_the_limit(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_device ampere = device;
  ampere.architecture = 80;
  const tsl_problem many = tsl_problem_gemm(17, 100, 400, TESELA_BF16),
                    single = tsl_problem_gemm(4, 100, 400, TESELA_F32),
                    wide = tsl_problem_gemm(4, INT64_C(1) << 31, 8, TESELA_BF16);
  tsl_problem eight = tsl_problem_gemm(4, 100, 400, TESELA_BF16);
  eight.a.type = eight.b.type = TESELA_E4M3;
  assert_refused_for(strategy, "", &device, &many, "at most 16 rows or columns, not 17 x 100");
  assert_refused_for(strategy, "", &device, &single, "request accuracy=tf32");
  assert_refused_for(strategy, "", &device, &wide, "in 31 bits");
  assert_refused_for(strategy, "", &ampere, &eight, "8-bit floating point needs sm_89");
  assert_refused_for(strategy, "tile_n=32 warps=16", &device, &many, "1024 threads; a block has at most 512");
}

/* Few columns are few rows of the swapped product. Tiles cover the long side of C. */
static void tiles_cover_the_long_side(void **state) {
  (void)state;
  static const struct {
    int64_t m, n;
    const char *config;
    int rows;
    int64_t blocks;
  } cases[] = {{1, 2112, "tile_n=16", 8, 132}, {8, 2113, "tile_n=16", 8, 133},
               {9, 2112, "tile_n=32", 16, 66}, {4096, 16, "tile_n=32", 16, 128},
               {4096, 1, "tile_n=32", 8, 128}, {1, 1, "tile_n=16", 8, 1}};
  const tsl_device device = hopper();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, 512, TESELA_F16);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_few_rows tile = tsl_cuda_few_rows_of(&problem, &config, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.swapped, cases[i].m > cases[i].n);
    assert_int_equal(tile.rows, cases[i].rows);
    assert_int_equal(tile.blocks, cases[i].blocks);
    assert_true(tile.problem.m <= tile.rows);
  }
}

/* A multiprocessor holds as many blocks as it gets, up to three. */
static void resident_blocks_are_even(void **state) {
  (void)state;
  static const struct {
    int64_t m, n;
    const char *config;
    int resident;
  } cases[] = {{8, 2112, "warps=16", 1}, {8, 4096, "warps=8", 2}, {8, 5120, "warps=8", 3},
               {9, 5120, "warps=8", 2},  {8, 9000, "warps=8", 2}, {16, 4096, "tile_n=32", 1}};
  const tsl_device device = hopper();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, 4096, TESELA_F16);
    const tsl_config config = config_of(strategy, cases[i].config);
    assert_int_equal(tsl_cuda_few_rows_of(&problem, &config, &device).resident, cases[i].resident);
  }
}

/* Elements of lines that are not aligned are loaded one by one. */
static void the_model_prefers_aligned_lines(void **state) {
  (void)state;
  const tsl_device device = hopper();
  const tsl_config config = config_of(strategy, "");
  tsl_problem aligned = tsl_problem_gemm(4, 4096, 4096, TESELA_BF16), odd, across;
  aligned.b.row_stride = 1, aligned.b.col_stride = 4096;
  odd = across = aligned;
  odd.b.col_stride = 4097;
  across.b.row_stride = 4096, across.b.col_stride = 1;
  const double seconds = strategy->score(&aligned, &config, &device);
  assert_true(seconds > 5e-6 && seconds < 30e-6);
  assert_true(strategy->score(&odd, &config, &device) > 3 * seconds);
  assert_true(strategy->score(&across, &config, &device) > 3 * seconds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_name_the_limit),
      cmocka_unit_test(tiles_cover_the_long_side),
      cmocka_unit_test(resident_blocks_are_even),
      cmocka_unit_test(the_model_prefers_aligned_lines),
  };
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_few_rows");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
