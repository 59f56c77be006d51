/* outer_product: refusals and the model's choices on a mock device; random forms on devices. */

#include "unit/unit.h"
#include "unit/variants.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/status.h"
#include "judge/check.h"
#include "strategy/params.h"
#include "strategy/row_parts.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static void refusals_have_numbers(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(300, 200, 9, TESELA_F32);
  assert_refused_for(strategy, "", &graphics, &problem, "takes k from 1 to 8, not 9");
  problem = tsl_problem_gemm(300, 200, 2, TESELA_F32);
  problem.c.row_stride = 500, problem.c.col_stride = 2;
  assert_refused_for(strategy, "", &graphics, &problem, "neither rows nor columns of C are contiguous");
  problem = tsl_problem_gemm(300, 200, 2, TESELA_F16);
  assert_non_null(tsl_strategy_refuse(strategy, &problem, &(tsl_config){{32, 4}}, &graphics));
}

/* A large C is written at nearly memory's speed, whatever its rows' alignment. */
static void the_model_reaches_memory(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
    tesela_type type;
  } products[] = {{4748, 1617, 1, TESELA_C64}, {4341, 4432, 1, TESELA_F32}, {3574, 6052, 1, TESELA_C128},
                  {2500, 1999, 2, TESELA_F64}, {6520, 640, 8, TESELA_C64},  {7948, 163, 1, TESELA_C128}};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    const tsl_problem problem =
        tsl_problem_gemm(products[i].m, products[i].n, products[i].k, products[i].type);
    double seconds;
    const tsl_config best = best_config(strategy, &problem, &graphics, &seconds);
    const double least = tsl_problem_bytes(&problem) / graphics.bandwidth;
    say_choice(strategy, &problem, &best, seconds);
    assert_true(seconds >= least && seconds < 1.6 * least + 6e-6);
    assert_string_equal(strategy->row_order(&problem, &best, &graphics), TSL_ROW_PARTS);
  }
}

static uint64_t first_seed = 1; /* or the test's argument */

static int64_t draw(uint64_t seed, uint64_t *index, int64_t below) {
  return (int64_t)(tsl_random_u64(seed, (*index)++) % (uint64_t)below);
}

/* Draws a problem of any form, and a config. */
static tsl_case draw_case(uint64_t seed, const tsl_device *device, tsl_config *config) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  uint64_t i = 0;
  const tesela_type type = types[draw(seed, &i, 4)];
  tsl_case what = {.problem = tsl_problem_gemm(1 + draw(seed, &i, 150), 1 + draw(seed, &i, 300),
                                               1 + draw(seed, &i, 8), type),
                   .data = TSL_DATA_NORMAL,
                   .seed = seed,
                   .repeats = 2};
  tsl_problem *problem = &what.problem;
  const int64_t m = problem->m, n = problem->n, k = problem->k, gap = draw(seed, &i, 4);
  problem->alpha[0] = (double)draw(seed, &i, 3) - 0.5;
  problem->beta[0] = (double)draw(seed, &i, 2) * 0.5;
  if (tsl_type(type)->is_complex) {
    problem->alpha[1] = (double)draw(seed, &i, 2);
    problem->conjugate_a = draw(seed, &i, 2);
    problem->conjugate_b = draw(seed, &i, 2);
  }
  if (draw(seed, &i, 2))
    problem->a.row_stride = 1, problem->a.col_stride = m + gap;
  if (draw(seed, &i, 2))
    problem->b.row_stride = 1, problem->b.col_stride = k + gap;
  problem->c.row_stride = n + gap;
  if (draw(seed, &i, 2))
    *problem = tsl_problem_swapped(problem);
  do {
    config->value[0] = 8 << draw(seed, &i, 5);
    config->value[1] = 1 << draw(seed, &i, 6);
    config->value[2] = (const int[]){16, 32, 128}[draw(seed, &i, 3)];
  } while (tsl_strategy_refuse(strategy, problem, config, device));
  return what;
}

/* Any types, layouts, alignments, conjugates, factors and configs. */
static void check_forms(const char *name, int count) {
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  const bool is_there = tsl_devices_find(devices, name, &device) == TESELA_OK;
  for (uint64_t seed = first_seed * 1000; is_there && seed < first_seed * 1000 + (uint64_t)count; seed++) {
    tsl_case_report report;
    tsl_config config = tsl_strategy_defaults(strategy);
    tsl_case what = draw_case(seed, device, &config);
    assert_int_equal(tsl_check_case(strategy, &config, device, &what, &report), TESELA_OK);
    if (report.result != TSL_CASE_RIGHT)
      fail_msg("seed %llu: %s: %s", (unsigned long long)seed, report.plan, report.why);
  }
  tsl_devices_destroy(devices);
  if (!is_there)
    skip();
}
static void forms_are_right(void **state) {
  (void)state;
  check_forms("opencl", 16);
}
static void forms_are_right_on_cuda(void **state) {
  (void)state;
  check_forms("cuda", 64);
}

/* test_outer_product [SEED]: forms of another seed */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(the_model_reaches_memory),
      cmocka_unit_test(forms_are_right),
      cmocka_unit_test(forms_are_right_on_cuda),
  };
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  strategy = tsl_strategy_find(TSL_OP_GEMM, "outer_product");
  if (!strategy)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
