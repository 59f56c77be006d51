/* cuda_wgmma's sums of 8-bit floating point, and of f16 by panels: the precision of the units'
 * sums, and the guarantees. */
#include "unit/hopper.h"
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <string.h>

#include "judge/data.h"
#include "judge/judge.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

enum { PLACES = 13, TOGETHER = 32, PANEL = 128 };

/* The exponent that a number is taken by: of one below the smallest normal number that one's. */
static int exponent_of(double number, tesela_type type) {
  const int least = type == TESELA_E4M3 ? -6 : -14, own = ilogb(number);
  return own < least ? least : own;
}

static double cut_below(double number, int exponent) {
  const double place = ldexp(1, exponent - PLACES);
  return trunc(number / place) * place;
}

/* One instruction: the products of up to 32 pairs and the sum before, cut below the largest exponent, and
 * their sum cut again. */
static double unit_sum(const double *a, const double *b, int count, const tesela_type types[2],
                       double before) {
  int most = before != 0 ? ilogb(before) : -1000;
  double sum = 0;
  for (int i = 0; i < count; i++) {
    const int own = a[i] * b[i] != 0 ? exponent_of(a[i], types[0]) + exponent_of(b[i], types[1]) : -1000;
    most = own > most ? own : most;
  }
  for (int i = 0; i < count; i++)
    sum += cut_below(a[i] * b[i], most);
  sum += cut_below(before, most);
  return sum == 0 ? 0 : cut_below(sum, ilogb(sum));
}

/* Returns the sum of all terms along k; with `apart`, each panel is summed separately. If the plain
 * sum is not finite, returns the plain sum. */
static float sum_of_eights(const double *a, const double *b, int k, const tesela_type types[2], bool apart) {
  float sum = 0;
  double units = 0, plain = 0;
  for (int i = 0; i < k; i++)
    plain += a[i] * b[i];
  if (!isfinite(plain))
    return (float)plain;
  for (int i = 0; i < k; i += TOGETHER) {
    units = unit_sum(a + i, b + i, k - i < TOGETHER ? k - i : TOGETHER, types, units);
    if (apart && (i + TOGETHER) % PANEL == 0) {
      sum += (float)units;
      units = 0;
    }
  }
  return sum + (float)units;
}

/* Judges such sums by the guarantee of this config (`right`), and by the guarantee of numbers
 * widened to f16 (`right_as_f16`). */
static void judge_eights(tsl_data data, uint64_t seed, const tesela_type types[2], bool apart, bool *right,
                         bool *right_as_f16) {
  enum { M = 9, N = 7, K = 300 };
  static uint8_t a[M * K], b[K * N];
  static float c[M * N];
  tsl_problem problem = problem_of(M, N, K, types[0], TESELA_F32);
  problem.b.type = types[1];
  const tsl_config config = config_of(strategy, apart ? "eights=panels" : "eights=units"),
                   f16 = tsl_strategy_defaults(strategy);
  tsl_verdict verdict;
  assert_int_equal(tsl_data_fill(data, seed, &problem.a, K, a), TESELA_OK);
  assert_int_equal(tsl_data_fill(data, seed + 1, &problem.b, K, b), TESELA_OK);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double row[K], column[K], pair[2];
      for (int k = 0; k < K; k++) {
        tsl_type_load(types[0], &a[i * K + k], pair);
        row[k] = pair[0];
        tsl_type_load(types[1], &b[k * N + j], pair);
        column[k] = pair[0];
      }
      c[i * N + j] = sum_of_eights(row, column, K, types, apart);
    }
  const tsl_judge judge = {.factor = strategy->accuracy(&problem, &config).factor},
                  careful = {.factor = strategy->accuracy(&problem, &f16).factor};
  assert_int_equal(tsl_judge_result(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  *right = verdict.right;
  assert_int_equal(tsl_judge_result(&problem, a, b, NULL, c, &careful, &verdict), TESELA_OK);
  *right_as_f16 = verdict.right;
}

static void sums_of_eights_are_guaranteed(void **state) {
  static const tesela_type types[][2] = {
      {TESELA_E4M3, TESELA_E4M3}, {TESELA_E5M2, TESELA_E4M3}, {TESELA_E5M2, TESELA_E5M2}};
  int wrong_as_f16 = 0;
  (void)state;
  for (uint64_t seed = 1; seed < 20; seed += 2)
    for (int data = 0; data < TSL_DATA_COUNT; data++)
      for (int t = 0; t < 3; t++)
        for (int apart = 0; apart < 2; apart++) {
          bool right, right_as_f16;
          judge_eights((tsl_data)data, seed, types[t], apart, &right, &right_as_f16);
          if (!right)
            fail_msg("%s data, seed %d, %s x %s, %s: wrong", tsl_data_name((tsl_data)data), (int)seed,
                     tsl_type(types[t][0])->name, tsl_type(types[t][1])->name, apart ? "panels" : "units");
          wrong_as_f16 += !right_as_f16;
        }
  print_message("  %d are wrong by the bound of f16\n", wrong_as_f16);
  assert_true(wrong_as_f16 > 20); /* the sums do not meet f16's stricter guarantee */
}

/* The worst that a panel may meet: a product whose exponent says three places more than it has, and 127 that
 * are just cut off. */
static void the_bound_of_eights_is_met(void **state) {
  (void)state;
  static const tesela_type types[2] = {TESELA_E4M3, TESELA_E4M3};
  double a[PANEL], b[PANEL], exact = 0;
  for (int i = 0; i < PANEL; i++) {
    a[i] = i == 0 ? 0x1p-9 : 0x1p-6; /* their product's exponent is that of 2^-6 2^8 */
    b[i] = i == 0 ? 0x1p8 : 0x1.cp-6;
    exact += a[i] * b[i];
  }
  const tsl_problem problem = problem_of(1, 1, PANEL, TESELA_E4M3, TESELA_F32);
  const tsl_config config = config_of(strategy, "eights=panels");
  const double lost = (exact - (double)sum_of_eights(a, b, PANEL, types, true)) / exact,
               bound = strategy->accuracy(&problem, &config).factor * 0x1p-24;
  print_message("  lost %.4f, bound %.4f\n", lost, bound);
  assert_true(lost > 0.02 && lost <= bound && bound < 2 * lost);
}

/* Without a required accuracy, 8-bit numbers are widened to f16. Only a required accuracy allows
 * the 8-bit units' sums. */
static void eights_wait_for_an_ask(void **state) {
  (void)state;
  const tsl_device device = hopper();
  tsl_problem problem = problem_of(256, 256, 256, TESELA_E4M3, TESELA_BF16);
  const tsl_problem floats = problem_of(256, 256, 256, TESELA_BF16, TESELA_F32);
  const tsl_config widened = tsl_strategy_defaults(strategy),
                   panels = config_of(strategy, "tile_m=256 tile_n=128 eights=panels"),
                   units = config_of(strategy, "tile_m=128 tile_n=256 eights=units");
  assert_null(tsl_strategy_refuse(strategy, &problem, &widened, &device));
  assert_refused_for(strategy, "eights=panels", &device, &problem, "request accuracy=e4m3 or a number");
  assert_refused_for(strategy, "eights=units", &device, &problem, "request accuracy=e4m3 or a number");
  assert_refused_for(strategy, "eights=units", &device, &floats, "takes e4m3 and e5m2");
  const tsl_cuda_wgmma as_f16 = tsl_cuda_wgmma_derive(&problem, &widened, &device, TSL_CUDA_WGMMA_PLAIN),
                       as_eights = tsl_cuda_wgmma_derive(&problem, &panels, &device, TSL_CUDA_WGMMA_PLAIN);
  assert_int_equal(as_f16.element, 2);
  assert_int_equal(as_f16.depth, 64);
  assert_true(as_f16.b_mn_major && !as_eights.b_mn_major); /* 8-bit units read along k alone */
  assert_int_equal(as_eights.element, 1);
  /* Boxes go out in equal turns, and what holds two stages at a time has four. */
  static const struct {
    const char *config;
    int stages, boxes;
  } cases[] = {{"tile_m=256 tile_n=128 eights=panels", 3, 4},
               {"tile_m=256 tile_n=128 eights=pairs", 4, 2},
               {"tile_m=128 tile_n=192 eights=panels", 4, 3},
               {"tile_m=128 tile_n=192 eights=pairs", 4, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_config config = config_of(strategy, cases[i].config);
    const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN);
    assert_int_equal(tile.stages, cases[i].stages);
    assert_int_equal(tile.boxes, cases[i].boxes);
    assert_true(tile.shared_bytes <= device.local_bytes_inside);
  }
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("e4m3", &problem.ask), TESELA_OK);
  for (int64_t k = 1; k < (int64_t)1 << 20; k = 3 * k + 1) {
    problem.k = problem.a.cols = problem.b.rows = k;
    assert_null(tsl_strategy_refuse(strategy, &problem, &panels, &device));
  }
  assert_refused_for(strategy, "tile_m=128 tile_n=256 eights=units", &device, &problem,
                     "request an accuracy by number");
  assert_refused_for(strategy, "tile_m=128 tile_n=256 eights=panels", &device, &problem, "the limit is 192");
  problem.ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_NUMBER, .number = 1e4};
  assert_null(tsl_strategy_refuse(strategy, &problem, &units, &device));
  problem.ask.number = 1e-3;
  assert_refused_for(strategy, "tile_m=256 tile_n=128 eights=panels", &device, &problem, "guarantees");
  problem.ask.number = 5e-3; /* bf16's own rounding and careful sums */
  problem.k = problem.a.cols = problem.b.rows = 256;
  assert_null(tsl_strategy_refuse(strategy, &problem, &widened, &device));
}

/* Where the required accuracy is more than one f16 sum along k guarantees, sums of 64 or of 128
 * terms are added to f32 sums, which do guarantee it. */
static void f16_is_summed_by_panels(void **state) {
  (void)state;
  static const char panels[] = "tile_m=256 tile_n=128 eights=panels",
                    pairs[] = "tile_m=256 tile_n=128 eights=pairs";
  const tsl_device device = hopper();
  tsl_problem problem = problem_of(4096, 4096, 4096, TESELA_F16, TESELA_F32);
  assert_refused_for(strategy, panels, &device, &problem, "only where the requested accuracy");
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("1e-3", &problem.ask),
                   TESELA_OK); /* one sum's is 5.5e-4 */
  assert_refused_for(strategy, panels, &device, &problem, "only where the requested accuracy");
  assert_int_equal(tsl_numeric_requirements_parse_accuracy("2e-5", &problem.ask), TESELA_OK);
  const tsl_config config = config_of(strategy, panels), two = config_of(strategy, pairs);
  assert_null(tsl_strategy_refuse(strategy, &problem, &config, &device));
  assert_int_equal(tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN).split_accumulators,
                   1);
  assert_int_equal(tsl_cuda_wgmma_derive(&problem, &config, &device, TSL_CUDA_WGMMA_PLAIN).element, 2);
  assert_float_equal(strategy->accuracy(&problem, &config).factor, 2.25 * 64 + 26 + 80, 1e-2);
  assert_refused_for(strategy, pairs, &device, &problem, "guarantees"); /* 354 u are 2.1e-5 */
  assert_float_equal(strategy->accuracy(&problem, &two).factor, 2.25 * 128 + 26 + 40, 1e-2);
  problem.a.type = problem.b.type = TESELA_BF16;
  assert_refused_for(strategy, panels, &device, &problem, "takes e4m3 and e5m2");
}

int main(void) {
  strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_of_eights_are_guaranteed),
      cmocka_unit_test(the_bound_of_eights_is_met),
      cmocka_unit_test(eights_wait_for_an_ask),
      cmocka_unit_test(f16_is_summed_by_panels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
