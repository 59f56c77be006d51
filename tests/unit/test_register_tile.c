/* register_tile: its walk over the variants, refusals, and its model's choices on mock devices. Ten
 * runs of each way to multiply give equal bits. */
#include "unit/long.h"
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "judge/check.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"
#include "strategy/params.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

/* Two cores with vectors of 64 bytes. */
static tsl_device processor(void) {
  tsl_device device = graphics;
  device.is_cpu = 1;
  device.compute_units = 2;
  device.clock_mhz = 2600;
  device.group_items_max = device.group_size_max[0] = 4096;
  device.vector_f32 = 16;
  device.vector_f64 = 8;
  device.peak_f32 = 3.3e11;
  device.peak_f64 = 1.7e11;
  device.bandwidth = 3e10;
  device.warp = 1;
  device.launch_seconds = 2e-5;
  return device;
}

/* One with asynchronous copies. */
static tsl_device able(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_ASYNC_COPY;
  device.local_bytes_inside = 192 << 10;
  return device;
}

/* --- the variants --- */

static int compare_configs(const void *a, const void *b) {
  return memcmp(a, b, sizeof(tsl_config));
}

/* By the argument `sweep`: every config, which takes seconds. */
static bool is_sweep;

/* Every config that the walk omits is refused, and the walk omits most. The test takes every
 * eleventh config. No parameter has 11 values or a multiple of 11, so each value occurs with every
 * value of the others. */
static void the_walk_loses_nothing(void **state) {
  (void)state;
  enum { MOST_WALKED = 1 << 16 };
  static tsl_config walked[MOST_WALKED];
  const tsl_device here[] = {able(), processor()};
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  for (size_t d = 0; d < 2; d++) {
    const tsl_problem problem = tsl_problem_gemm(300, 200, 100, types[d]);
    tsl_config config;
    const int step = is_sweep ? 1 : 11;
    int all = 0, legal = 0, count = 0, legal_walked = 0;
    for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, &here[d], &walk); count++) {
      legal_walked += !tsl_strategy_refuse(strategy, &problem, &walk.config, &here[d]);
      assert_true(count < MOST_WALKED);
      walked[count] = walk.config;
    }
    qsort(walked, (size_t)count, sizeof *walked, compare_configs);
    memset(&config, 0, sizeof config);
    for (; tsl_strategy_config(strategy, all, &config); all += step) {
      if (tsl_strategy_refuse(strategy, &problem, &config, &here[d]))
        continue;
      legal++;
      if (!bsearch(&config, walked, (size_t)count, sizeof *walked, compare_configs))
        fail_msg("config %d is legal, and left out", all);
    }
    print_message("  %d configs, %d walked, %d of those that were looked at legal, of %d\n", all, count,
                  legal, legal_walked);
    assert_true(legal > 100 && legal_walked > legal * (step - 2) && (!is_sweep || legal == legal_walked));
    assert_true(count < all / 5);
  }
}

/* In the types in which checks take them by turns. */
static void probes_are_legal(void **state) {
  (void)state;
  tsl_device device = processor();
  tsl_config config;
  tsl_types types;
  int count = 0, kinds = 0;
  device.capabilities |= TSL_CAN_ASYNC_COPY;
  device.local_bytes_inside = 192 << 10;
  while (tsl_strategy_types(strategy, kinds, &types))
    kinds++;
  for (; tsl_strategy_probe(strategy, count, &config); count++) {
    assert_true(tsl_strategy_types(strategy, count % kinds, &types));
    tsl_problem problem = tsl_problem_gemm(300, 200, 100, types.c);
    problem.a.type = types.a;
    problem.b.type = types.b;
    const char *why = tsl_strategy_refuse(strategy, &problem, &config, &device);
    if (why)
      fail_msg("probe %d: %s", count, why);
  }
  assert_true(count >= 4);
}

static void nothing_to_walk_without_kernels(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(300, 200, 100, TESELA_F32);
  tsl_device device = graphics;
  tsl_walk walk = {.begun = false};
  device.capabilities = TSL_CAN_HOST;
  assert_false(tsl_strategy_walk(strategy, &problem, &device, &walk));
}

static void assert_refused(const char *text, const tsl_device *device, tesela_type type, const char *part) {
  const tsl_problem problem = tsl_problem_gemm(300, 200, 100, type);
  assert_refused_for(strategy, text, device, &problem, part);
}

static void refusals_have_numbers(void **state) {
  (void)state;
  tsl_device small = graphics, no_local = graphics;
  small.local_bytes = 4096;
  small.group_items_max = 64;
  no_local.capabilities &= ~(unsigned)TSL_CAN_LOCAL;
  assert_refused("form=local vector=32", &graphics, TESELA_F32, "vector=32 holds 8 numbers");
  assert_refused("form=local vector=8", &graphics, TESELA_F64, "vector=8 holds 1 numbers");
  assert_refused("form=local tile_m=16 micro_m=2", &graphics, TESELA_F32, "micro_m=2 does not fit tile_m=16");
  assert_refused("form=local tile_n=64 micro_n=24", &graphics, TESELA_F32,
                 "micro_n=24 does not fit tile_n=64");
  assert_refused("form=local tile_m=128 tile_n=64 micro_m=8 micro_n=4 tile_k=8", &graphics, TESELA_F32,
                 "256 items");
  assert_refused("form=local micro_m=8 micro_n=8 tile_k=32 slices=2", &graphics, TESELA_F32,
                 "a slice takes 2 to 8 depths");
  assert_refused("form=local micro_m=4 micro_n=4 tile_k=32 slices=4", &graphics, TESELA_F32,
                 "128 to 256 items");
  assert_refused("form=local tile_m=32 tile_n=32 micro_m=4 micro_n=4 split=8", &graphics, TESELA_I8,
                 "units of four");
  assert_refused("form=packed_serial vector=8 stages=1", &graphics, TESELA_C128, "vector=8 holds 1 numbers");
  assert_refused("form=packed split=4 stages=1", &graphics, TESELA_F32, "split=1 only");
  assert_refused("form=local split=16", &graphics, TESELA_F32, "k=100 is too short for split=16");
  assert_refused("form=local tile_m=64 tile_n=64 tile_k=16", &small, TESELA_F32,
                 "17408 bytes of local memory");
  assert_refused("form=local tile_m=64 tile_n=64 micro_m=8 micro_n=8 tile_k=8 stages=1", &no_local,
                 TESELA_F32, "which mock:0 lacks");
  assert_refused("form=packed tile_m=64 tile_n=64 micro_m=4 micro_n=4 stages=1", &small, TESELA_F32,
                 "needs 256 work-items, mock:0 allows 64");
  assert_refused("form=local tile_m=256 tile_n=256 micro_m=16 micro_n=16", &graphics, TESELA_F32,
                 "registers");
  const char *flows =
      "form=local_async vector=16 tile_m=64 tile_n=64 micro_m=16 micro_n=8 tile_k=64 stages=3 slices=8";
  const tsl_device copies = able();
  assert_refused(flows, &graphics, TESELA_F32, "mock:0 lacks");
  assert_refused(flows, &copies, TESELA_F64, "vector=16 holds 2 numbers");
  assert_refused(
      "form=local_async vector=16 tile_m=64 tile_n=64 micro_m=16 micro_n=8 tile_k=32 stages=3 slices=8",
      &copies, TESELA_F32, "8 depths of a panel");
  assert_refused("form=local_async vector=16 tile_m=128 tile_n=256 micro_m=8 micro_n=16 tile_k=8 stages=1",
                 &copies, TESELA_F32, "2 stages or more");
  /* Slices that are no whole warps: 48 items. Items share 128 lines unevenly if there are 96. */
  assert_refused(
      "form=local_async vector=16 tile_m=64 tile_n=48 micro_m=8 micro_n=8 tile_k=32 stages=3 slices=4",
      &copies, TESELA_F32, "whole vectors for each item");
  const tsl_config thirds = config_of(
      strategy,
      "form=local_async vector=16 tile_m=48 tile_n=128 micro_m=8 micro_n=8 tile_k=16 stages=3 slices=2");
  const tsl_problem problem = tsl_problem_gemm(300, 200, 100, TESELA_F32);
  assert_null(tsl_strategy_refuse(strategy, &problem, &thirds, &copies));
}

/* --- parts of k, and vectors along k --- */

static bool has_row_order(const tsl_problem *problem, const char *text) {
  const tsl_device device = able();
  const tsl_config config = config_of(strategy, text);
  return strategy->row_order(problem, &config, &device) != NULL;
}

/* k = 2048 has eight parts. Slices or groups take them, or a group alone; anything else is another order. */
static void parts_have_one_order(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(16, 4096, 2048, TESELA_F32);
  problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
#define THIN "form=local_async vector=16 tile_m=16 tile_n=32 micro_m=4 micro_n=4 stages=6 "
  assert_true(has_row_order(&problem, THIN "tile_k=64 slices=8 split=1"));
  assert_true(has_row_order(&problem, THIN "tile_k=32 slices=4 split=2"));
  assert_true(has_row_order(&problem, THIN "tile_k=8 slices=1 split=8"));
  assert_true(has_row_order(&problem, THIN "tile_k=8 slices=1 split=1"));
  assert_false(has_row_order(&problem, THIN "tile_k=32 slices=4 split=1"));
  assert_false(has_row_order(&problem, THIN "tile_k=64 slices=8 split=2"));
}

/* Returns 1 or 2 if A or B has vectors along k, else 0. */
static int k_vectors_of(const tsl_problem *problem, const char *text) {
  const tsl_config config = config_of(strategy, text);
  const tsl_register_tile tile = tsl_register_tile_of(problem, &config);
  return tile.a_k_vectors ? 1 : tile.b_k_vectors ? 2 : 0;
}

/* The longer operand, if it is contiguous along k and aligned, and an item has few of its lines. */
static void long_lines_are_vectors(void **state) {
  (void)state;
  tsl_problem wide = tsl_problem_gemm(16, 4096, 512, TESELA_F32),
              high = tsl_problem_gemm(4096, 16, 512, TESELA_F32);
  assert_int_equal(k_vectors_of(&wide, THIN "tile_k=8 slices=1"), 0);
  assert_int_equal(k_vectors_of(&high, THIN "tile_k=8 slices=1"), 1);
  wide.b.row_stride = 1;
  wide.b.col_stride = 512;
  assert_int_equal(k_vectors_of(&wide, THIN "tile_k=8 slices=1"), 2);
  assert_int_equal(k_vectors_of(&wide, "form=local vector=16 tile_m=16 tile_n=32 micro_m=4 micro_n=4"), 0);
  assert_int_equal(
      k_vectors_of(&wide, "form=local_async vector=16 tile_m=64 tile_n=256 micro_m=8 micro_n=16 tile_k=8"),
      0);
  wide.a.type = wide.b.type = TESELA_BF16; /* copied first */
  assert_int_equal(k_vectors_of(&wide, THIN "tile_k=8 slices=1"), 0);
  wide.a.type = wide.b.type = TESELA_F32;
  wide.b.col_stride = 513;
  assert_int_equal(k_vectors_of(&wide, THIN "tile_k=8 slices=1"), 0);
}

/* Returns true if planes of real and of imaginary parts of an extent begin half of the banks apart. */
static bool fills_banks(int extent, int padding) {
  return (extent + padding) % 32 == 16;
}

/* Elements of c64 are copied from the operands, without workspace, to planes of both parts. Other complex
 * types, and panels that a slice's items share unevenly, have no such copies. */
static void parts_lie_in_planes(void **state) {
  (void)state;
#define PLANES "form=local_async vector=16 micro_m=4 micro_n=8 tile_k=8 stages=3 "
  const tsl_device copies = able();
  static const int edges[] = {32, 48, 64, 128};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    char text[128];
    snprintf(text, sizeof text, PLANES "tile_m=%d tile_n=64", edges[i]);
    const tsl_config config = config_of(strategy, text);
    tsl_problem problem = tsl_problem_gemm(300, 200, 100, TESELA_C64);
    tsl_register_tile tile = tsl_register_tile_of(&problem, &config);
    assert_true(tile.planes == 2 && !tile.copied);
    assert_true(tile.pad_a == 0 && fills_banks(64, tile.pad_b)); /* B lies across lines */
    problem.a.row_stride = 1;
    problem.a.col_stride = 300;
    tile = tsl_register_tile_of(&problem, &config);
    assert_true(fills_banks(edges[i], tile.pad_a) && fills_banks(64, tile.pad_b));
    /* Three stages of eight depths. Both factors have two elements of padding more. */
    assert_int_equal(tsl_register_tile_local_bytes(&tile),
                     3 * 8 * sizeof(float) * 2 * (edges[i] + tile.pad_a + 64 + tile.pad_b + 4));
  }
  const tsl_problem problem = tsl_problem_gemm(300, 200, 100, TESELA_C64);
  const tsl_config plain = config_of(strategy, PLANES "tile_m=64 tile_n=64");
  assert_null(tsl_strategy_refuse(strategy, &problem, &plain, &copies));
  assert_refused(PLANES "tile_m=64 tile_n=64", &copies, TESELA_C128, "holds 2 numbers of 8 bytes");
  assert_refused(PLANES "tile_m=48 tile_n=128", &copies, TESELA_C64, "whole vectors for each item");
}

/* --- the model --- */

static tsl_config best_of(const tsl_problem *problem, const tsl_device *device) {
  double seconds;
  return best_config(strategy, problem, device, &seconds);
}

/* Large products go to large micro-tiles, whole; thin ones with a long sum to parts; processors to one item a
 * group. */
static void the_model_knows_its_devices(void **state) {
  (void)state;
  const tsl_problem large = tsl_problem_gemm(4096, 4096, 4096, TESELA_F32),
                    deep = tsl_problem_gemm(128, 128, 65536, TESELA_F32);
  const tsl_device cores = processor();
  const tsl_config on_graphics = best_of(&large, &graphics), in_parts = best_of(&deep, &graphics),
                   on_cores = best_of(&large, &cores);
  assert_int_equal(value_of(strategy, &on_graphics, "form"), 1);
  assert_int_equal(value_of(strategy, &on_graphics, "split"), 1);
  assert_true(value_of(strategy, &on_graphics, "micro_m") * value_of(strategy, &on_graphics, "micro_n") >=
              64);
  assert_true(value_of(strategy, &in_parts, "split") >= 16);
  assert_int_equal(value_of(strategy, &on_cores, "form"), 3);
  assert_int_equal(value_of(strategy, &on_cores, "vector"), 64);
}

/* No peak, clock or unit that a driver may leave out makes a prediction that is not a number. */
static void unknown_devices_have_predictions(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(777, 55, 333, TESELA_F32);
  tsl_device device = graphics;
  device.clock_mhz = 0;
  device.compute_units = 0;
  device.vector_f32 = 0;
  best_of(&problem, &device);
}

/* --- equal bits --- */

static tsl_case odd_case(tesela_type type) {
  tsl_case what = {
      .problem = tsl_problem_gemm(131, 77, 109, type), .data = TSL_DATA_NORMAL, .seed = 20, .repeats = 10};
  what.problem.alpha[0] = 1.5;
  what.problem.beta[0] = -0.5;
  return what;
}

static void assert_right(tsl_device *device, const tsl_config *config, const tsl_case *what) {
  tsl_case_report report;
  assert_int_equal(tsl_check_case(strategy, config, device, what, &report), TESELA_OK);
  if (report.result != TSL_CASE_RIGHT)
    fail_msg("%s: %s", report.plan, report.why);
}

static void run_ten_times(tsl_device *device, const tsl_config *config, tesela_type type, bool conjugate) {
  tsl_case what = odd_case(type);
  what.problem.conjugate_a = conjugate;
  assert_right(device, config, &what);
}

static void ten_runs_give_equal_bits(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  tsl_config config;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl", &device), TESELA_OK);
  for (int i = 0; tsl_strategy_probe(strategy, i, &config); i += is_long_form() ? 6 : 18)
    if (value_of(strategy, &config, "form") != 4) /* which NVIDIA's devices alone take */
      run_ten_times(device, &config, TESELA_F32, false);
  config =
      config_of(strategy, "form=packed_serial vector=32 tile_m=16 tile_n=16 micro_m=2 micro_n=8 stages=1");
  run_ten_times(device, &config, TESELA_C64, true);
  tsl_devices_destroy(devices);
}

/* --- odd lines --- */

/* The operand's columns become its lines. */
static void turn(tsl_shape *matrix, int64_t rows) {
  matrix->row_stride = 1;
  matrix->col_stride = rows;
}

/* Kernels whose neighbouring items copy and store neighbouring numbers, which processors do not get: by one
 * that is not told to be one. */
static void neighbours_copy_odd_lines(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl", &device), TESELA_OK);
  const int was = device->is_cpu;
  device->is_cpu = 0;
  const tsl_config
      whole = config_of(strategy,
                        "form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=2"),
      sliced = config_of(
          strategy,
          "form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=16 stages=1 slices=2");
  tsl_case lying = odd_case(TESELA_F32), turned = lying;
  turn(&turned.problem.a, turned.problem.m);
  turn(&turned.problem.b, turned.problem.k);
  turned.problem.beta[0] = 0;
  assert_right(device, &whole, &lying);
  assert_right(device, &sliced, &turned);
  /* Lockstep items are 4 x 8 and 2 x 16 of a tile. */
  static const char *const tiles[] = {"tile_m=16 tile_n=32 micro_m=4", "tile_m=16 tile_n=64 micro_m=8"};
  for (int i = 0; i < (is_long_form() ? 2 : 1); i++) {
    char text[128];
    snprintf(text, sizeof text, "form=local vector=16 micro_n=4 tile_k=32 stages=1 slices=4 %s", tiles[i]);
    const tsl_config few = config_of(strategy, text);
    assert_right(device, &few, &lying);
  }
  device->is_cpu = was;
  tsl_devices_destroy(devices);
}

int main(int argc, char **argv) {
  is_sweep = argc > 1 && strcmp(argv[1], "sweep") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_walk_loses_nothing),
      cmocka_unit_test(probes_are_legal),
      cmocka_unit_test(nothing_to_walk_without_kernels),
      cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(the_model_knows_its_devices),
      cmocka_unit_test(unknown_devices_have_predictions),
      cmocka_unit_test(parts_have_one_order),
      cmocka_unit_test(long_lines_are_vectors),
      cmocka_unit_test(parts_lie_in_planes),
      cmocka_unit_test(ten_runs_give_equal_bits),
      cmocka_unit_test(neighbours_copy_odd_lines),
  };
  strategy = tsl_strategy_find(TSL_OP_GEMM, "register_tile");
  if (!strategy)
    return 1;
  const struct CMUnitTest sweep[] = {cmocka_unit_test(the_walk_loses_nothing)};
  return is_sweep ? cmocka_run_group_tests(sweep, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
