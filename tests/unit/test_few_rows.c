/* few_rows: refusals, the model's choices and orders of sums on a mock device; NVRTC's code. On devices:
 * equal bits in ten runs, and random forms. */

#include "unit/unit.h"
#include "unit/variants.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/status.h"
#include "device/cuda/nvrtc.h"
#include "device/source.h"
#include "host/int_math.h"
#include "judge/check.h"
#include "strategy/gemm/portable/few_rows/few_rows.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/row_parts.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

static void assert_refused(const char *text, int64_t m, tesela_type type, const char *part) {
  const tsl_problem problem = tsl_problem_gemm(m, 300, 100, type);
  assert_refused_for(strategy, text, &graphics, &problem, part);
}

static void refusals_have_numbers(void **state) {
  (void)state;
  assert_refused("", 9, TESELA_F32, "at most 8 rows or columns, not 9 x 300");
  assert_refused("items_n=8 slices=4", 1, TESELA_F32, "32 work-items: takes 128 to 512");
  assert_refused("items_n=256 slices=8", 1, TESELA_F32, "2048 work-items");
  assert_refused("items_n=8 slices=16 flight=16", 1, TESELA_F32,
                 "k=100 is too short for split=1 and slices=16");
  assert_refused("items_n=128 slices=1 flight=16", 8, TESELA_C128, "registers for each of 128 items");
}

/* A large operand is read once, at nearly memory's speed, in groups for all units. */
static void the_model_reaches_memory(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
    tesela_type type;
    bool transposed;
  } products[] = {{1, 4096, 4096, TESELA_F32, false},  {1, 4096, 4096, TESELA_F32, true},
                  {2197, 1, 2855, TESELA_C64, false},  {1, 9216, 8192, TESELA_C64, true},
                  {4, 4096, 4096, TESELA_C128, false}, {1, 7473, 1822, TESELA_BF16, true}};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    tsl_problem problem = tsl_problem_gemm(products[i].m, products[i].n, products[i].k, products[i].type);
    double seconds;
    if (products[i].transposed) {
      problem.b.row_stride = 1;
      problem.b.col_stride = problem.k;
    }
    const tsl_config best = best_config(strategy, &problem, &graphics, &seconds);
    const double least = tsl_problem_bytes(&problem) / graphics.bandwidth;
    say_choice(strategy, &problem, &best, seconds);
    assert_true(seconds >= least && seconds < 1.75 * least + 10e-6);
  }
}

/* With bits=rows, slices are the parts of k, in any layout. */
static void rows_have_configs(void **state) {
  (void)state;
  static const int64_t sizes[][2] = {{2112, 7168}, {4096, 4096}, {7168, 2048}, {1001, 3001}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int along_k = 0; along_k < 2; along_k++) {
      tsl_problem problem = tsl_problem_gemm(1, sizes[i][0], sizes[i][1], TESELA_F32);
      problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
      if (along_k) {
        problem.b.row_stride = 1;
        problem.b.col_stride = problem.k;
      }
      int ordered = 0;
      for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, &graphics, &walk);)
        if (!tsl_strategy_refuse(strategy, &problem, &walk.config, &graphics)) {
          const char *order = strategy->row_order(&problem, &walk.config, &graphics);
          ordered += order && strcmp(order, TSL_ROW_PARTS) == 0;
        }
      assert_true(ordered >= 4);
    }
}

/* Compiles the kernel of a config for a problem by NVRTC. Returns the PTX, which the caller frees. */
static char *ptx_of(const tsl_nvrtc_target *target, const tsl_problem *problem, const tsl_config *config) {
  static const char *const folders[] = {"kernel", "device/cuda/include", NULL};
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  tsl_text text = {0};
  tsl_binary binary;
  tsl_launch_defines(tsl_type(problem->c.type)->sums, strategy, config, NULL, &text);
  tsl_few_rows_define(&few, &text);
  assert_int_equal(tsl_source_flatten("strategy/gemm/portable/few_rows/few_rows.cl", folders, &text),
                   TESELA_OK);
  assert_int_equal(tsl_text_status(&text), TESELA_OK);
  const tsl_build build = {.name = "few_rows", .text = tsl_text_get(&text), .options = ""};
  if (tsl_nvrtc_compile("nvrtc", target, &build, &binary) != TESELA_OK)
    fail_msg("%d rows of %s, along k %d, reads of %d: %s", few.rows, tsl_type(problem->a.type)->name,
             few.b_along_k, few.read, tesela_last_error());
  tsl_text_free(&text);
  return binary.data;
}

/* Kernels of all types compile for CUDA, also of empty products. Lines that are aligned to 8 bytes come in
 * vectors. No array is in local memory of an item. Loads follow the wait for the launch before. Shown by PTX.
 * B by rows and by columns take turns. */
static void compiles_for_cuda(void **state) {
  (void)state;
  static const int rows[] = {0, 1, 3, 6};
  tsl_nvrtc_target target;
  if (tsl_nvrtc_load(0) != TESELA_OK) {
    print_message("  skipped: %s\n", tesela_last_error());
    skip();
  }
  assert_int_equal(tsl_nvrtc_target_for(9999, &target), TESELA_OK); /* PTX */
  int compiled = 0;
  for (const tsl_types *types = strategy->supports.types; types->a != TESELA_TYPE_DEFAULT; types++)
    for (int form = 0; form < 3; form++) {
      static const int aligned[] = {16, 1, 2}, short_of[] = {0, 3, 2};
      const int64_t number = types - strategy->supports.types;
      const bool along_k = (number + form) % 2, swapped = number / 2 % 2;
      const int few = rows[(number + form) % 4], n = 304 - short_of[form], k = 704 - short_of[form];
      tsl_problem problem = tsl_problem_gemm(few, n, k, types->a);
      double seconds;
      problem.c.type = types->c;
      problem.conjugate_b = tsl_type(types->c)->is_complex;
      if (along_k) {
        problem.b.row_stride = 1;
        problem.b.col_stride = k;
      }
      if (swapped)
        problem = tsl_problem_swapped(&problem);
      const tsl_config config = best_config(strategy, &problem, &graphics, &seconds);
      char *ptx = ptx_of(&target, &problem, &config);
      const tsl_few_rows few_rows = tsl_few_rows_of(&problem, &config);
      const int size = (int)tsl_type(types->a)->size;
      assert_int_equal(few_rows.read, tsl_min(aligned[form], few_rows.vector_elements));
      if ((strstr(ptx, "ld.global.nc.v") != NULL) !=
          (few_rows.read * size >= (size == 8 && few_rows.numbers == 1 ? 16 : 8)))
        fail_msg("%s form %d swapped %d", tsl_type(types->a)->name, form, swapped);
      assert_null(strstr(ptx, "ld.local"));
      const char *wait = strstr(ptx, "griddepcontrol.wait"), *load = strstr(ptx, "ld.global");
      assert_true(wait && load && wait < load);
      free(ptx);
      compiled++;
    }
  print_message("  %d kernels\n", compiled);
}

static void ten_runs_give_equal_bits(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{3, 150, 700}, {150, 3, 700}, {1, 1, 3000}};
  static const tesela_type types[] = {TESELA_F32, TESELA_C64, TESELA_BF16};
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl", &device), TESELA_OK);
  const tsl_config config = config_of(strategy, "items_n=16 slices=8 flight=4 split=4");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tsl_case what = {.problem = tsl_problem_gemm(sizes[i][0], sizes[i][1], sizes[i][2], types[i]),
                     .data = TSL_DATA_NORMAL,
                     .seed = 20,
                     .repeats = 10};
    tsl_case_report report;
    what.problem.alpha[0] = 1.5;
    what.problem.beta[0] = -0.5;
    assert_int_equal(tsl_check_case(strategy, &config, device, &what, &report), TESELA_OK);
    if (report.result != TSL_CASE_RIGHT)
      fail_msg("%s: %s", report.plan, report.why);
  }
  tsl_devices_destroy(devices);
}

static uint64_t first_seed = 1; /* or the test's argument */

/* Draws a number below `below`. */
static int64_t draw(uint64_t seed, uint64_t *index, int64_t below) {
  return (int64_t)(tsl_random_u64(seed, (*index)++) % (uint64_t)below);
}

/* Draws a problem of any form, and a config that takes it. Returns false where no config was found. */
static bool draw_case(uint64_t seed, const tsl_device *device, tsl_case *what, tsl_config *config) {
  uint64_t i = 0;
  int types = 0;
  while (strategy->supports.types[types].a != TESELA_TYPE_DEFAULT)
    types++;
  const tsl_types *of = &strategy->supports.types[draw(seed, &i, types)];
  const int64_t few = 1 + draw(seed, &i, TSL_FEW_ROWS_MAX), n = 1 + draw(seed, &i, 400),
                k = draw(seed, &i, 8) ? 1 + draw(seed, &i, 1500) : draw(seed, &i, 20),
                odd = 1 << draw(seed, &i, 5), padding = draw(seed, &i, 3);
  const bool is_complex = tsl_type(of->c)->is_complex;
  *what = (tsl_case){.problem = tsl_problem_gemm(few, tsl_round_up(n, odd), tsl_round_up(k, odd), of->a),
                     .data = TSL_DATA_NORMAL,
                     .seed = seed,
                     .repeats = 2};
  tsl_problem *problem = &what->problem;
  problem->c.type = of->c;
  problem->alpha[0] = draw(seed, &i, 3) - 0.5;
  problem->beta[0] = draw(seed, &i, 2) * 0.5;
  if (is_complex) {
    problem->alpha[1] = (double)draw(seed, &i, 2);
    problem->conjugate_a = draw(seed, &i, 2);
    problem->conjugate_b = draw(seed, &i, 2);
  }
  if (draw(seed, &i, 2)) {
    problem->b.row_stride = 1;
    problem->b.col_stride = problem->k + padding * odd;
  } else {
    problem->b.row_stride = problem->n + padding * odd;
  }
  if (draw(seed, &i, 2)) {
    problem->a.row_stride = 1;
    problem->a.col_stride = few;
  }
  if (draw(seed, &i, 2))
    problem->ask.bits = TSL_REPRODUCIBILITY_ROWS;
  if (draw(seed, &i, 2))
    *problem = tsl_problem_swapped(problem);
  for (int turn = 0; turn < 300; turn++) {
    static const int items[] = {8, 16, 32, 64, 128, 256}, splits[] = {1, 1, 1, 2, 4, 8};
    config->value[TSL_FEW_ROWS_ITEMS_N] = items[draw(seed, &i, 6)];
    config->value[TSL_FEW_ROWS_SLICES] = 1 << draw(seed, &i, 7);
    config->value[TSL_FEW_ROWS_FLIGHT] = 4 << draw(seed, &i, 3);
    config->value[TSL_FEW_ROWS_SPLIT] = splits[draw(seed, &i, 6)];
    if (!tsl_strategy_refuse(strategy, problem, config, device))
      return true;
  }
  return false;
}

static void check_forms(tsl_device *device, int count) {
  int right = 0;
  for (uint64_t seed = first_seed * 1000; seed < first_seed * 1000 + (uint64_t)count; seed++) {
    tsl_case what;
    tsl_case_report report;
    tsl_config config = tsl_strategy_defaults(strategy);
    if (!draw_case(seed, device, &what, &config))
      continue;
    assert_int_equal(tsl_check_case(strategy, &config, device, &what, &report), TESELA_OK);
    if (report.result == TSL_CASE_REFUSED)
      print_message("  seed %llu refused: %s\n", (unsigned long long)seed, report.why);
    else if (report.result != TSL_CASE_RIGHT)
      fail_msg("seed %llu: %s: %s", (unsigned long long)seed, report.plan, report.why);
    right += report.result == TSL_CASE_RIGHT;
  }
  print_message("  %d right\n", right);
  assert_true(right > count / 2);
}

/* Any rows, types, layouts, alignments, conjugates, factors and configs. */
static void forms_are_right(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl", &device), TESELA_OK);
  check_forms(device, 16);
  tsl_devices_destroy(devices);
}

static void forms_are_right_on_cuda(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  const bool is_there = tsl_devices_find(devices, "cuda", &device) == TESELA_OK;
  if (is_there)
    check_forms(device, 16);
  tsl_devices_destroy(devices);
  if (!is_there)
    skip();
}

/* test_few_rows [SEED]: forms of another seed */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_have_numbers),    cmocka_unit_test(the_model_reaches_memory),
      cmocka_unit_test(rows_have_configs),        cmocka_unit_test(compiles_for_cuda),
      cmocka_unit_test(ten_runs_give_equal_bits), cmocka_unit_test(forms_are_right),
      cmocka_unit_test(forms_are_right_on_cuda),
  };
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  strategy = tsl_strategy_find(TSL_OP_GEMM, "few_rows");
  if (!strategy)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
