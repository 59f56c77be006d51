/* Runs whose copies overlap with computation, on a device without shared memory (PoCL, with that
 * capability hidden). Blocks and pieces of every shape are judged, each operation fails at each of
 * its calls, and threads run at once. The sizes of TESELA_STAGING make many small blocks and
 * pieces. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "cases_structured.h"
#include "check/plain_children.h"
#include "core/status.h"
#include "fake/by_hand.h"
#include "fake/fake.h"
#include "judge/check.h"
#include "plan/block_grid.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "unit/config.h"

static tsl_devices *devices;
static tsl_device *device;

static void staging(const char *sizes) {
  assert_int_equal(setenv("TESELA_STAGING", sizes, 1), 0);
}

static int find_device(void **state) {
  (void)state;
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  tesela_fake_polls(true);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:0", &device), TESELA_OK);
  return 0;
}

static int forget_device(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return *tesela_fake_live_text();
}

/* --- geometry --- */

/* Each element of C is in one block, and a block comes when its panels are there. */
static void covers(int64_t m, int64_t n, int64_t block) {
  const tsl_problem problem = tsl_problem_gemm(m, n, 5, TESELA_F32);
  const tsl_block_grid grain = tsl_block_grid_of(&problem, block);
  tsl_panel_arrivals arrivals = {0};
  int count = 0, seen[TSL_PIPELINE_BLOCKS] = {0};
  int64_t elements = 0;
  assert_true(grain.row_blocks * grain.col_blocks <= TSL_PIPELINE_BLOCKS);
  while (tsl_block_grid_next(&grain, &problem, &arrivals)) {
    int i, j;
    for (int index = 0; tsl_block_grid_block(&arrivals, index, &i, &j); index++) {
      const tsl_copy_part part = tsl_block_grid_part(&grain, i, j);
      assert_true(i < arrivals.a && j < arrivals.b && part.rows > 0 && part.cols > 0);
      assert_true(part.row + part.rows <= m && part.col + part.cols <= n);
      assert_int_equal(seen[i * grain.col_blocks + j]++, 0);
      elements += part.rows * part.cols;
      count++;
    }
  }
  assert_int_equal(count, grain.row_blocks * grain.col_blocks);
  assert_int_equal(elements, m * n);
}

static void test_geometry(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 2, 7, 63, 64, 65, 257, 1000, 8192, 100001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
      covers(sizes[i], sizes[j], 1);
      covers(sizes[i], sizes[j], 300);
      covers(sizes[i], sizes[j], 4325376);
    }
  const tsl_problem large = tsl_problem_gemm(8192, 8192, 8192, TESELA_F32);
  const tsl_block_grid grain = tsl_block_grid_of(&large, 4325376); /* an H200's */
  assert_int_equal(grain.rows, 2048);
  assert_int_equal(grain.cols, 2048);
}

static double seconds_of(const tsl_block_grid *grid, const tsl_block_seconds *each) {
  const tsl_problem problem = tsl_problem_gemm(grid->m, grid->n, 16384, TESELA_F32);
  return tsl_block_grid_seconds(grid, &problem, &(tsl_block_rates){45e9, 45e9, true}, each);
}

/* A block has a time of its own, which small ones use badly: then blocks are larger than usual. A block that
 * is the whole product begins late. */
static double badly(const tsl_problem *problem, const tsl_config *config, const tsl_device *on) {
  (void)config, (void)on;
  return 1e-3 + tsl_problem_flops(problem) / 2e14;
}
static double well(const tsl_problem *problem, const tsl_config *config, const tsl_device *on) {
  (void)config, (void)on;
  return tsl_problem_flops(problem) / 2e14;
}

static void test_grids_by_models(void **state) {
  (void)state;
  tsl_strategy strategy = *tsl_strategy_find(TSL_OP_GEMM, "element");
  tsl_device gpu = *device;
  gpu.link_bandwidth = 25e9;
  gpu.compute_units = 132;
  const tsl_work work = {.strategy = &strategy,
                         .problem = tsl_problem_gemm(16384, 16384, 16384, TESELA_F32),
                         .config = tsl_strategy_defaults(&strategy),
                         .device = &gpu};
  tsl_staging_sizes sizes;
  tsl_block_seconds each;
  assert_int_equal(unsetenv("TESELA_STAGING"), 0);
  assert_true(tsl_staging_sizes_of(&gpu, &sizes) && !sizes.is_given);
  strategy.score = well;
  const tsl_block_grid small = tsl_block_grid_for(&work, &sizes, &each);
  strategy.score = badly;
  const tsl_block_grid large = tsl_block_grid_for(&work, &sizes, &each);
  const int small_count = small.row_blocks * small.col_blocks,
            large_count = large.row_blocks * large.col_blocks;
  print_message("%d blocks if small ones are good, %d if not\n", small_count, large_count);
  assert_true(small_count > 32 && large_count > 2 && large_count < 32);
  tsl_block_seconds as_small;
  for (int i = 0; i < 4; i++)
    as_small.of[i / 2][i % 2] = 1e-3 + 2.0 * (double)small.rows * (double)small.cols * 16384 / 2e14;
  assert_true(seconds_of(&large, &each) < 0.9 * seconds_of(&small, &as_small));
  staging("block=500");
  assert_true(tsl_staging_sizes_of(&gpu, &sizes) && sizes.is_given);
  assert_int_equal(tsl_block_grid_for(&work, &sizes, &each).row_blocks, 8);
  assert_true(each.of[0][0] == 0);
}

/* Blocks with so many columns take other kernels. */
static int64_t other_cols;
static tesela_status build_by_cols(tsl_work *work) {
  work->source_count = 1;
  work->source_hash.low = work->problem.n == other_cols;
  return TESELA_OK;
}

/* If the last block of the fastest grid's rows takes other kernels, the plan takes the next grid. */
static void test_blocks_of_other_kernels(void **state) {
  (void)state;
  tsl_strategy strategy = *tsl_strategy_find(TSL_OP_GEMM, "element");
  tsl_device gpu = *device;
  tsl_subplan_factory children = {.choice = NULL};
  gpu.link_bandwidth = 25e9;
  gpu.compute_units = 132;
  strategy.score = badly;
  strategy.build = build_by_cols;
  strategy.release = NULL;
  tsl_work work = {.strategy = &strategy,
                   .problem = tsl_problem_gemm(9000, 9000, 16384, TESELA_F32),
                   .config = tsl_strategy_defaults(&strategy),
                   .device = &gpu,
                   .subplans = &children};
  tsl_staging_sizes sizes;
  tsl_block_seconds each;
  tsl_pipeline_plan *cut;
  assert_int_equal(unsetenv("TESELA_STAGING"), 0);
  assert_true(tsl_staging_sizes_of(&gpu, &sizes));
  const tsl_block_grid best = tsl_block_grid_for(&work, &sizes, &each);
  other_cols = tsl_block_grid_part(&best, 0, best.col_blocks - 1).cols;
  assert_true(best.col_blocks > 1 && other_cols < best.cols);
  assert_int_equal(build_by_cols(&work), TESELA_OK);
  assert_int_equal(tsl_pipeline_plan_create(&work, &cut), TESELA_OK);
  assert_true(cut->grid.col_blocks > 1 && cut->grid.col_blocks != best.col_blocks);
  assert_true(cut->made_count > 1);
  tsl_pipeline_plan_destroy(cut);
  other_cols = 0;
}

static void test_pieces(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(37, 29, 11, TESELA_F32);
  tsl_transfer transfer;
  assert_true(tsl_transfer_plan(&problem.c, &transfer));
  const tsl_transfer_path way = {.shape = &problem.c, .transfer = &transfer};
  const tsl_copy_part part = {3, 20, 5, 17};
  for (size_t most = 4; most < 2000; most += 36) {
    unsigned char seen[37][29] = {{0}};
    tsl_line_chunk_iterator pieces = tsl_staged_copy_begin(&way, &part, most);
    tsl_line_chunk piece;
    while (tsl_staged_copy_next(&pieces, &piece)) {
      assert_true(piece.lines > 0 && piece.length > 0 && (size_t)(piece.lines * piece.length) * 4 <= most);
      for (int64_t i = 0; i < piece.lines; i++)
        for (int64_t j = 0; j < piece.length; j++)
          seen[piece.line + i][piece.first + j]++;
    }
    for (int i = 0; i < 37; i++)
      for (int j = 0; j < 29; j++)
        assert_int_equal(seen[i][j], i >= 3 && i < 23 && j >= 5 && j < 22);
  }
}

/* --- results --- */

static int overlapped(void) {
  const int launches = tesela_fake_calls(TESELA_FAKE_LAUNCH);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_PINNED) > 0, 1);
  return launches;
}

/* By kernels that are soon compiled, where there is a choice: how they get to the sums is nothing to these
 * tests. */
static void judged(const char *name, const tsl_case *what) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, name);
  const tsl_config config =
      strcmp(name, "register_tile") == 0
          ? config_of(strategy, "form=packed vector=16 tile_m=16 tile_n=16 micro_m=2 micro_n=4 stages=1")
          : tsl_strategy_defaults(strategy);
  const tsl_subplan_factory plain = plain_children_for(strategy);
  tsl_case by_plain = *what;
  tsl_case_report report;
  by_plain.children = &plain;
  assert_int_equal(tsl_check_case(strategy, &config, device, &by_plain, &report), TESELA_OK);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED)
    fail_msg("%s: %s", report.plan, report.why);
}

/* So that pieces are few. */
static bool is_small(const tsl_problem *problem) {
  return tsl_problem_flops(problem) < 4e6 && problem->m * problem->n < 100000 &&
         problem->k * (problem->m + problem->n) < 200000;
}

static void test_standard_cases(void **state) {
  (void)state;
  static const struct {
    const char *strategy;
    tesela_type type;
  } rows[] = {{"element", TESELA_F32},
              {"element", TESELA_C64},
              {"element", TESELA_I8},
              {"register_tile", TESELA_F32}};
  staging("slot=20000 block=2000 least=1");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_case what;
    for (int index = (int)i; tsl_case_standard(TSL_OP_GEMM, index, rows[i].type, &what); index += 3) {
      what.seed *= 2; /* even: in host memory alone */
      what.repeats = 2;
      if (is_small(&what.problem))
        judged(rows[i].strategy, &what);
    }
  }
  overlapped();
}

static void test_random_cases(void **state) {
  (void)state;
  static const char *const sizes[] = {"slot=700 block=900 least=1", "slot=5000 block=3000 least=1",
                                      "slot=100000 block=1000000 least=1"};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    staging(sizes[s]);
    for (uint64_t index = 0; index < 3; index++) {
      tsl_case what;
      tsl_case_random(TSL_OP_GEMM, 77 + s, index, index % 2 ? TESELA_F64 : TESELA_F32, &what);
      what.seed *= 2;
      judged("register_tile", &what);
    }
  }
}

/* For a triangle of C, no element outside it is written, for any pieces. */
static void test_structures(void **state) {
  (void)state;
  static const char *const sizes[] = {"slot=700 block=900 least=1", "slot=100000 block=1000000 least=1"};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    tsl_case what;
    staging(sizes[s]);
    for (int index = (int)s; tsl_case_structured(index, TESELA_F64, &what); index += 23) {
      what.seed *= 2;
      if (tsl_problem_flops(&what.problem) < 4e6)
        judged("structured", &what);
    }
  }
  overlapped();
}

/* --- one product, by hand --- */

static tsl_plan *plan_of(const product *p) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  if (tsl_planner_create(&p->problem, strategy, &config, device, TSL_PLACE_HOST, &plan) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return plan;
}

/* As many launches as blocks; phases that add up; and off is off. */
static void test_blocks(void **state) {
  (void)state;
  product p;
  tsl_phases phases;
  fill(&p, -1);
  staging("slot=512 block=500 least=1");
  tsl_plan *plan = plan_of(&p);
  assert_non_null(plan->cut);
  const int blocks = plan->cut->grid.row_blocks * plan->cut->grid.col_blocks;
  assert_true(blocks >= 4);
  tesela_fake_reset();
  must_run(plan, &p);
  assert_int_equal(overlapped(), blocks);
  must_timed(plan, &p, &phases);
  assert_true(phases.total > 0 && phases.compute > 0 && phases.copy_out > 0);
  assert_true(phases.copy_in + phases.compute + phases.copy_out < 1.5 * phases.total + 1e-3);
  tsl_plan_destroy(plan);
  staging("0");
  plan = plan_of(&p);
  assert_null(plan->cut);
  tesela_fake_reset();
  must_run(plan, &p);
  assert_int_equal(tesela_fake_calls(TESELA_FAKE_LAUNCH), 1);
  tsl_plan_destroy(plan);
}

/* Returns true if some of C was written before the last copy to the device, which fails. */
static bool returns_early(bool polls) {
  product p;
  fill(&p, 0);
  tesela_fake_polls(polls);
  tsl_devices *own;
  tsl_device *kept = device;
  assert_int_equal(tsl_devices_create(&own), TESELA_OK);
  assert_int_equal(tsl_devices_find(own, "fake:0", &device), TESELA_OK);
  tsl_plan *plan = plan_of(&p);
  tesela_fake_reset();
  must_run(plan, &p);
  const int copies = tesela_fake_calls(TESELA_FAKE_COPY_IN);
  memcpy(p.c, p.before, sizeof p.c);
  tesela_fake_reset();
  tesela_fake_fail(TESELA_FAKE_COPY_IN, copies);
  assert_int_equal(run(plan, &p), TESELA_DEVICE_FAILED);
  assert_int_equal(tesela_fake_failures(), 1);
  tesela_fake_reset();
  tsl_plan_destroy(plan);
  tsl_devices_destroy(own);
  device = kept;
  tesela_fake_polls(true);
  return memcmp(p.c, p.before, sizeof p.c) != 0;
}

/* Blocks return while panels arrive, but only if the device tells that they are computed. */
static void test_both_directions(void **state) {
  (void)state;
  staging("slot=512 block=500 least=1");
  assert_true(returns_early(true));
  assert_false(returns_early(false));
}

/* Sizes that are none, too small or too large do no harm. */
static void test_sizes(void **state) {
  (void)state;
  static const char *const texts[] = {"slot=1 block=1 least=1",
                                      "slot=0 block=-3 least=x",
                                      "slot=9223372036854775807",
                                      "slot=3074457345618258603 least=1",
                                      "nonsense = =",
                                      "least=1 block=7 slot=65"};
  product p;
  fill(&p, -1);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tsl_staging_sizes sizes;
    staging(texts[i]);
    assert_true(tsl_staging_sizes_of(device, &sizes));
    assert_true(sizes.slot >= 64 && sizes.slot % 64 == 0 && sizes.slot <= 1 << 30 && sizes.block > 0);
    tsl_plan *plan = plan_of(&p);
    must_run(plan, &p);
    tsl_plan_destroy(plan);
  }
}

/* Little is copied as ever. */
static void test_least(void **state) {
  (void)state;
  product p;
  fill(&p, -1);
  staging("slot=512 block=500");
  tsl_plan *plan = plan_of(&p);
  tesela_fake_reset();
  must_run(plan, &p);
  assert_int_equal(tesela_fake_calls(TESELA_FAKE_LAUNCH), 1);
  tsl_plan_destroy(plan);
}

/* Whatever fails, at whichever call: the result is right, or C is as it was, or the status promises nothing
 * of it; the next run is right; nothing is left. */
static void fail_at(tesela_fake_operation operation, bool is_timed, int *failures) {
  bool failed = true;
  *failures = 0;
  for (int nth = 1; failed; nth++) {
    product p;
    tsl_phases phases;
    fill(&p, -1);
    find_device(NULL);
    tsl_plan *plan = plan_of(&p);
    tesela_fake_reset();
    tesela_fake_fail(operation, nth);
    const tesela_status status = run_timed(plan, &p, is_timed ? &phases : NULL);
    failed = tesela_fake_failures() > 0;
    *failures += failed;
    if (status == TESELA_OK)
      assert_memory_equal(p.c, p.expected, sizeof p.c);
    else if (status != TESELA_DEVICE_FAILED)
      assert_memory_equal(p.c, p.before, sizeof p.c);
    if (status != TESELA_OK)
      assert_non_null(strstr(tesela_last_error(), "on demand"));
    else if (failed && operation != TESELA_FAKE_FINISH)
      assert_true(operation == TESELA_FAKE_PINNED || operation == TESELA_FAKE_STREAM ||
                  operation == TESELA_FAKE_EVENT);
    tesela_fake_reset();
    must_run(plan, &p);
    tsl_plan_destroy(plan);
    forget_device(NULL);
    if (*tesela_fake_live_text())
      fail_msg("%s number %d left %s", tesela_fake_name(operation), nth, tesela_fake_live_text());
  }
}

static void test_failures(void **state) {
  tsl_devices *kept = devices;
  tsl_device *kept_device = device;
  int failures;
  (void)state;
  tsl_devices_destroy(kept); /* the devices' cached objects would be counted */
  staging("slot=4096 block=800 least=1");
  for (int timed = 0; timed < 2; timed++) {
    fail_at(TESELA_FAKE_PINNED, timed, &failures);
    assert_int_equal(failures, 1);
    fail_at(TESELA_FAKE_COPY_IN, timed, &failures);
    assert_true(failures > 8);
    fail_at(TESELA_FAKE_COPY_OUT, timed, &failures);
    assert_true(failures >= 4);
    fail_at(TESELA_FAKE_LAUNCH, timed, &failures);
    assert_true(failures >= 4);
    fail_at(TESELA_FAKE_EVENT, timed, &failures);
    assert_true(failures > 30);
    fail_at(TESELA_FAKE_STREAM, timed, &failures);
    assert_true(failures >= 3);
    fail_at(TESELA_FAKE_ALLOCATION, timed, &failures);
    assert_int_equal(failures, 3);
    fail_at(TESELA_FAKE_FINISH, timed, &failures);
  }
  (void)kept_device;
  find_device(NULL);
}

/* --- threads --- */

static void test_threads(void **state) {
  (void)state;
  product p;
  staging("slot=4096 block=800 least=1");
  fill(&p, -1);
  tsl_plan *plan = plan_of(&p);
  must_in_threads(plan);
  tsl_plan_destroy(plan);
}

/* A limit applies to devices that are already listed, and to devices listed later. */
static void test_limit(void **state) {
  (void)state;
  tsl_devices *own;
  tsl_device *found;
  assert_int_equal(tsl_devices_create(&own), TESELA_OK);
  tsl_devices_limit(own, 1);
  assert_int_equal(tsl_devices_find(own, "fake:0", &found), TESELA_OK);
  assert_int_equal(tsl_team_threads(tsl_device_host_team(found)), 1);
  tsl_devices_limit(own, 2);
  assert_true(tsl_team_threads(tsl_device_host_team(found)) <= 2);
  assert_int_equal(found->host_threads, 2);
  tsl_devices_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_geometry),        cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_blocks),          cmocka_unit_test(test_least),
      cmocka_unit_test(test_sizes),           cmocka_unit_test(test_standard_cases),
      cmocka_unit_test(test_random_cases),    cmocka_unit_test(test_structures),
      cmocka_unit_test(test_failures),        cmocka_unit_test(test_threads),
      cmocka_unit_test(test_limit),           cmocka_unit_test(test_both_directions),
      cmocka_unit_test(test_grids_by_models), cmocka_unit_test(test_blocks_of_other_kernels),
  };
  tesela_fake_install();
  return cmocka_run_group_tests(tests, find_device, forget_device);
}
