/* cuda_strip: refusals, and how blocks share the rows and strips of C. check_strategy tests the results on
 * devices that have tensor cores. */
#include "unit/hopper.h"
#include "unit/unit.h"

#include "strategy/gemm/nvidia/cuda_strip/cuda_strip.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static void refusals_name_the_limit(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_device ampere = device;
  ampere.architecture = 80;
  const tsl_problem deep = tsl_problem_gemm(100, 100, 4000, TESELA_BF16),
                    single = tsl_problem_gemm(100, 100, 8, TESELA_F32),
                    tall = tsl_problem_gemm(INT64_C(1) << 31, 8, 8, TESELA_BF16);
  tsl_problem apart = tsl_problem_gemm(100, 100, 8, TESELA_BF16),
              eight = tsl_problem_gemm(100, 100, 8, TESELA_BF16);
  apart.c.row_stride = 200, apart.c.col_stride = 2;
  eight.a.type = eight.b.type = TESELA_E4M3;
  assert_refused_for(strategy, "tile_n=128", &device, &deep, "k = 4000 takes 1041408 bytes of shared memory");
  assert_refused_for(strategy, "", &device, &single, "request accuracy=tf32");
  assert_refused_for(strategy, "", &device, &tall, "counts rows and columns in 31 bits");
  assert_refused_for(strategy, "", &device, &apart, "neither rows nor columns of C are contiguous");
  assert_refused_for(strategy, "", &ampere, &eight, "8-bit floating point needs sm_89");
}

/* The blocks' strips and rows cover C, and no block has no rows. */
static void blocks_cover_c(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
    const char *config;
    int resident;
  } cases[] = {{2633, 4170, 1, "tile_n=128", 3},  {2633, 4170, 1, "tile_n=64", 5},
               {1, 1, 1, "tile_n=32", 7},         {14, 7842, 1, "tile_n=32", 7},
               {7493, 125, 30, "tile_n=64", 5},   {100000, 16, 8, "tile_n=32", 7},
               {64, 100000, 600, "tile_n=128", 1}};
  const tsl_device device = hopper();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(cases[i].m, cases[i].n, cases[i].k, TESELA_F16);
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_strip tile = tsl_cuda_strip_of(&problem, &config, &device);
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
    assert_int_equal(tile.resident, cases[i].resident);
    assert_true(tile.strips * tile.tile_n >= cases[i].n && (tile.strips - 1) * tile.tile_n < cases[i].n);
    assert_true(tile.groups >= 1 && (tile.groups - 1) * 64 < cases[i].m);
    assert_true(tile.groups * tile.rounds * 64 >= cases[i].m);
    assert_true(tile.groups * tile.strips <= tile.waves * 132 * tile.resident);
    assert_true(tile.steps * 16 >= cases[i].k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_name_the_limit),
      cmocka_unit_test(blocks_cover_c),
  };
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_strip");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
