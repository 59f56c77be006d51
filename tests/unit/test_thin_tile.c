/* thin_tile: its walk over the variants, refusals, its model's choices on mock devices, and NVRTC's
 * code for it. Ten runs of thin products of either orientation give equal bits. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "device/cuda/nvrtc.h"
#include "device/source.h"
#include "judge/check.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static const tsl_strategy *strategy;

/* --- the variants --- */

/* Every twentieth config that the walk may have left out is refused if it was; the walk visits few that are.
 */
static void the_walk_loses_nothing(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  for (size_t t = 0; t < 2; t++) {
    const tsl_problem problem = tsl_problem_gemm(16, 300, 1000, types[t]);
    tsl_config config;
    int walked = 0, legal = 0, pruned = 0;
    for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, &graphics, &walk); walked++)
      legal += !tsl_strategy_refuse(strategy, &problem, &walk.config, &graphics);
    for (int i = 0; tsl_strategy_config(strategy, i, &config); i += 101)
      if (strategy->tuning.prune(&problem, &config, &graphics) != 0) {
        assert_non_null(tsl_strategy_refuse(strategy, &problem, &config, &graphics));
        pruned++;
      }
    print_message("  %d walked, %d legal\n", walked, legal);
    assert_true(legal > 500 && pruned > 500);
    assert_true(walked < 60000);
  }
}

static void assert_refused(const char *text, const tsl_device *device, tesela_type type, const char *part) {
  const tsl_problem problem = tsl_problem_gemm(16, 300, 100, type);
  assert_refused_for(strategy, text, device, &problem, part);
}

static void refusals_have_numbers(void **state) {
  (void)state;
  tsl_device small = graphics, no_local = graphics;
  small.local_bytes = 2048;
  small.group_items_max = 64;
  no_local.capabilities &= ~(unsigned)TSL_CAN_LOCAL;
  assert_refused("vector=64 micro_m=1 micro_n=8 items_m=1 items_n=1 slices=1 flight=1", &graphics, TESELA_F32,
                 "vectors of 16 numbers");
  assert_refused("micro_m=16 micro_n=16", &graphics, TESELA_F32, "at most 128 sums");
  assert_refused("micro_m=16 micro_n=8", &graphics, TESELA_F64, "at most 64 sums");
  assert_refused("vector=64 micro_n=16", &graphics, TESELA_F32, "groups of one item");
  assert_refused("items_m=16 items_n=16 slices=8", &graphics, TESELA_F32, "2048 work-items: takes 64 to 256");
  assert_refused("steps=1 flight=2", &graphics, TESELA_F32, "flight=2 does not divide steps=1");
  assert_refused("slices=8 steps=2 split=4", &graphics, TESELA_F32, "k=100 is too short for split=4");
  assert_refused("items_m=2 items_n=8 slices=8", &small, TESELA_F32, "128 work-items, mock:0 allows 64");
  assert_refused("items_m=1 items_n=8 slices=8", &small, TESELA_F32, "bytes of local memory");
  assert_refused("", &no_local, TESELA_F32, "local memory");
}

/* --- the model --- */

/* Thin products get tiles that are not much wider than they are, enough groups for all units, and no time
 * below what memory needs; a deep one is cut into many parts. */
static void the_model_likes_thin_tiles(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{1, 4096, 4096},  {4096, 1, 4096},   {16, 4096, 4096}, {64, 4096, 4096},
                                     {4096, 64, 4096}, {128, 128, 65536}, {64, 64, 16384},  {4096, 4096, 64}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const tsl_problem problem = tsl_problem_gemm(sizes[i][0], sizes[i][1], sizes[i][2], TESELA_F32);
    const int64_t thin = problem.m < problem.n ? problem.m : problem.n, wide = problem.m + problem.n - thin;
    double seconds;
    const tsl_config best = best_config(strategy, &problem, &graphics, &seconds);
    const int64_t tile_m = value_of(strategy, &best, "micro_m") * value_of(strategy, &best, "items_m"),
                  tile_n = value_of(strategy, &best, "micro_n") * value_of(strategy, &best, "items_n");
    const int64_t groups =
        (thin + tile_m - 1) / tile_m * ((wide + tile_n - 1) / tile_n) * value_of(strategy, &best, "split");
    say_choice(strategy, &problem, &best, seconds);
    assert_true(seconds >= tsl_problem_bytes(&problem) / graphics.bandwidth);
    assert_true(tile_m < 2 * thin);
    assert_true(groups >= 64);
    assert_int_equal(value_of(strategy, &best, "vector"), 16);
  }
}

/* No peak, clock or unit that a driver may leave out makes a prediction that is not a number. */
static void unknown_devices_have_predictions(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(777, 5, 333, TESELA_F64);
  tsl_device device = graphics;
  double seconds;
  device.clock_mhz = 0;
  device.compute_units = 0;
  device.vector_f64 = 0;
  best_config(strategy, &problem, &device, &seconds);
}

/* --- code --- */

/* The large operand comes in vectors of 16 bytes, the thin one from local memory in such; nothing is spilled
 * to memory by the front end. Shown by PTX, which needs no GPU. */
static void moves_sixteen_bytes(void **state) {
  (void)state;
  static const char *const folders[] = {"kernel", "device/cuda/include", NULL};
  static const char *const moves[] = {"ld.global.nc.v4.f32", "ld.shared.v4.f32", "st.shared.v4.f32"};
  tsl_nvrtc_target target;
  if (tsl_nvrtc_load(0) != TESELA_OK) {
    print_message("  skipped: %s\n", tesela_last_error());
    skip();
  }
  assert_int_equal(tsl_nvrtc_target_for(9999, &target), TESELA_OK); /* PTX */
  const tsl_config config = config_of(strategy, "micro_m=4 items_m=1 items_n=8 slices=8 steps=1 flight=1");
  for (int along_k = 0; along_k < 2; along_k++) {
    tsl_text text = {0};
    tsl_binary binary;
    tsl_launch_defines(TESELA_F32, strategy, &config, NULL, &text);
    tsl_text_add(&text, "#define B_ALONG_K %d\n", along_k);
    assert_int_equal(tsl_source_flatten("strategy/gemm/portable/thin_tile/thin_tile.cl", folders, &text),
                     TESELA_OK);
    assert_int_equal(tsl_text_status(&text), TESELA_OK);
    const tsl_build build = {.name = "thin_tile", .text = tsl_text_get(&text), .options = ""};
    assert_int_equal(tsl_nvrtc_compile("nvrtc", &target, &build, &binary), TESELA_OK);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
      if (!strstr(binary.data, moves[i]))
        fail_msg("no %s with B_ALONG_K=%d", moves[i], along_k);
    assert_null(strstr(binary.data, "ld.local"));
    free(binary.data);
    tsl_text_free(&text);
  }
}

/* --- equal bits --- */

static void ten_runs_give_equal_bits(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{3, 150, 700}, {150, 3, 700}, {1, 1, 3000}};
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl", &device), TESELA_OK);
  const tsl_config config =
      config_of(strategy, "micro_m=2 micro_n=4 items_m=2 items_n=4 slices=8 steps=1 flight=1 split=16");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tsl_case what = {.problem = tsl_problem_gemm(sizes[i][0], sizes[i][1], sizes[i][2], TESELA_F32),
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_walk_loses_nothing),     cmocka_unit_test(refusals_have_numbers),
      cmocka_unit_test(the_model_likes_thin_tiles), cmocka_unit_test(unknown_devices_have_predictions),
      cmocka_unit_test(moves_sixteen_bytes),        cmocka_unit_test(ten_runs_give_equal_bits),
  };
  strategy = tsl_strategy_find(TSL_OP_GEMM, "thin_tile");
  if (!strategy)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
