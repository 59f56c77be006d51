/* Products that pass through a device which cannot hold them: tilings of every cap, and judged
 * products with copies that overlap with computation and without. Also failures of each operation
 * at each of its calls, threads, and equal bits in each run. The device is PoCL with little memory
 * and, for overlapping copies, without shared memory. */
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "core/status.h"
#include "device/memory_pool.h"
#include "fake/by_hand.h"
#include "fake/fake.h"
#include "judge/check.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/composite/streamed/streamed.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

static tsl_devices *devices;
static tsl_device *device;        /* fake:0, whose copies overlap */
static tsl_device *shared_device; /* opencl:0 */
static tsl_subplan_factory simple;

static void cap(const char *bytes) {
  assert_int_equal(bytes ? setenv("TESELA_DEVICE_MEMORY", bytes, 1) : unsetenv("TESELA_DEVICE_MEMORY"), 0);
}

static int find_devices(void **state) {
  (void)state;
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  assert_int_equal(setenv("TESELA_STAGING", "slot=4096", 1), 0);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:0", &device), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl:0", &shared_device), TESELA_OK);
  return 0;
}

static int forget_devices(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return *tesela_fake_live_text();
}

static const tsl_strategy *streamed(void) {
  return tsl_strategy_find(TSL_OP_GEMM, "streamed");
}

static tsl_config config_of(int64_t rows, int64_t cols, int64_t depth) {
  tsl_config config = tsl_strategy_defaults(streamed());
  config.value[STREAMED_ROWS] = rows;
  config.value[STREAMED_COLS] = cols;
  config.value[STREAMED_DEPTH] = depth;
  return config;
}

/* --- caps --- */

static void test_cap(void **state) {
  (void)state;
  tsl_devices *own;
  tsl_device *found;
  static const char *const wrong[] = {"much", "-1", "0", "8GiBs"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cap(wrong[i]);
    assert_int_equal(tsl_devices_create(&own), TESELA_BAD_CALL);
    assert_non_null(strstr(tesela_last_error(), "TESELA_DEVICE_MEMORY"));
    assert_null(own);
  }
  cap("3MiB");
  assert_int_equal(tsl_devices_create(&own), TESELA_OK);
  assert_int_equal(tsl_devices_find(own, "opencl:0", &found), TESELA_OK);
  assert_int_equal(found->memory_limit, 3 << 20);
  assert_true(found->memory_bytes > 3 << 20);
  tsl_devices_destroy(own);
  cap("1000000GiB");
  assert_int_equal(tsl_devices_create(&own), TESELA_OK);
  assert_int_equal(tsl_devices_find(own, "opencl:0", &found), TESELA_OK);
  assert_int_equal(found->memory_limit, found->memory_bytes);
  tsl_devices_destroy(own);
  cap(NULL);
}

/* --- tilings --- */

/* Checks that each element of C is in one tile and each term in one slab. Successive tiles must be
 * neighbours, and everything must fit the device. */
static void covers(const tsl_problem *problem, const tsl_device *on, const tsl_streamed_tiling *t) {
  int64_t elements = 0, terms = 0, last_i = 0, last_j = 0;
  assert_true(t->bytes <= on->memory_limit);
  for (int64_t index = 0; index < t->row_tiles * t->col_tiles; index++) {
    int64_t i, j;
    tsl_tiling_tile_position(t, index, &i, &j);
    assert_true(i >= 0 && i < t->row_tiles && j >= 0 && j < t->col_tiles);
    assert_true(index == 0 || llabs(i - last_i) + llabs(j - last_j) == 1);
    const tsl_copy_part part = tsl_tiling_tile_rect(t, i, j);
    assert_true(part.rows > 0 && part.cols > 0 && part.rows <= t->rows && part.cols <= t->cols);
    elements += part.rows * part.cols;
    last_i = i;
    last_j = j;
  }
  assert_int_equal(elements, problem->m * problem->n);
  for (int64_t slab = 0; slab < t->slabs; slab++) {
    int64_t first, count;
    tsl_tiling_slab(t, slab, &first, &count);
    assert_int_equal(first, terms);
    assert_true(count > 0 && count <= t->depth);
    terms += count;
  }
  assert_int_equal(terms, problem->k);
}

/* Caps from ample (operands and the same again) to tiny: less memory moves more bytes. Where memory
 * is too small, the amount that the message calls enough is enough. */
static void test_tilings(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{1000, 1000, 1000}, {8192, 8192, 8192}, {100, 9000, 77},
                                     {9000, 33, 4000},   {64, 64, 100000},   {1, 1, 3000000}};
  const tsl_config config = tsl_strategy_defaults(streamed());
  tsl_device small = *device;
  small.peak_f32 = small.peak_f64 = 1e16; /* so that bytes are what takes time, whatever the machine */
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int type = 0; type < 2; type++) {
      const tsl_problem problem =
          tsl_problem_gemm(sizes[s][0], sizes[s][1], sizes[s][2], type ? TESELA_F64 : TESELA_F32);
      const double all = tsl_problem_bytes(&problem);
      double moved = 0;
      tsl_streamed_tiling t;
      int tried = 0;
      small.memory_limit = small.memory_bytes = small.allocation_max = (uint64_t)(2.03 * all) + 64;
      assert_non_null(strstr(tsl_tiling_of(&problem, &config, &small, tsl_strategy_at, &t), "holds all"));
      for (double part = 0.99;; part *= 0.6) {
        small.memory_limit = small.allocation_max = (uint64_t)(all * part);
        const char *why = tsl_tiling_of(&problem, &config, &small, tsl_strategy_at, &t);
        if (why) {
          assert_non_null(strstr(why, "needs at least"));
          break;
        }
        covers(&problem, &small, &t);
        assert_true(t.bytes_in + t.bytes_out >= all * 0.999 && t.bytes_in + t.bytes_out >= moved * 0.9);
        moved = t.bytes_in + t.bytes_out;
        tried++;
      }
      assert_true(tried > 2);
      assert_true(small.memory_limit < 64 << 10);
    }
}

/* Where the link is slow, as few bytes as the bound allows, give or take: 2 m n k / sqrt(memory). */
static void test_bound(void **state) {
  (void)state;
  const tsl_config config = tsl_strategy_defaults(streamed());
  const tsl_problem problem = tsl_problem_gemm(32768, 32768, 32768, TESELA_F64);
  tsl_device gpu = *device;
  tsl_streamed_tiling t;
  gpu.memory_bytes = (uint64_t)141 << 30;
  gpu.memory_limit = gpu.allocation_max = (uint64_t)8 << 30;
  gpu.peak_f64 = 1e14;
  gpu.link_bandwidth = 1e9;
  assert_null(tsl_tiling_of(&problem, &config, &gpu, tsl_strategy_at, &t));
  const double words = (double)gpu.memory_limit / 8, least = 2 * pow(32768, 3) / sqrt(words);
  print_message(
      "8 GiB, f64 32768: %lld x %lld tiles of %lld x %lld, slabs of %lld, %.1f GB in, %.2f of the bound\n",
      (long long)t.row_tiles, (long long)t.col_tiles, (long long)t.rows, (long long)t.cols,
      (long long)t.depth, t.bytes_in / 1e9, (t.bytes_in + t.bytes_out) / 8 / least);
  assert_true((t.bytes_in + t.bytes_out) / 8 < 2.5 * least);
}

/* Where computation hides copies, the tiling uses it. On a large GPU only the first panels and the
 * last tile add time, although more bytes than necessary travel. The chosen tiling's predicted time
 * is at most that of tilings chosen earlier. */
static void test_hidden(void **state) {
  (void)state;
  static const struct {
    tesela_type type;
    int64_t others[3][3];
    double most; /* over the product's own time */
  } cases[] = {{TESELA_F64, {{16384, 3008, 16384}, {16384, 10944, 2048}, {8192, 16384, 2048}}, 1.12},
               {TESELA_F32, {{32768, 4096, 16384}, {16384, 8192, 4096}, {16384, 10944, 2048}}, 1.06}};
  tsl_device gpu = *device;
  gpu.capabilities |= TSL_CAN_MMA;
  gpu.compute_units = 132;
  gpu.peak_f32 = 67e12;
  gpu.peak_f64 = 33.5e12;
  gpu.link_bandwidth = 25e9;
  gpu.bandwidth = 3.3e12;
  gpu.memory_bytes = (uint64_t)80 << 30;
  gpu.memory_limit = gpu.allocation_max = (uint64_t)8 << 30;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(32768, 32768, 32768, cases[i].type);
    const double alone = tsl_problem_flops(&problem) / (i ? 0.8 * gpu.peak_f32 : 2 * gpu.peak_f64);
    tsl_config config = tsl_strategy_defaults(streamed());
    tsl_streamed_tiling best, other;
    assert_null(tsl_tiling_of(&problem, &config, &gpu, tsl_strategy_at, &best));
    covers(&problem, &gpu, &best);
    const double told = tsl_tiling_seconds(&problem, &gpu, tsl_strategy_at, &best);
    print_message("8 GiB, %s 32768: tiles of %lld x %lld, slabs of %lld, %.1f GB in, %.0f ms beside %.0f\n",
                  tsl_type(problem.c.type)->name, (long long)best.rows, (long long)best.cols,
                  (long long)best.depth, best.bytes_in / 1e9, 1e3 * told, 1e3 * alone);
    assert_true(told >= alone && told <= cases[i].most * alone);
    for (int o = 0; o < 3; o++) {
      config = config_of(cases[i].others[o][0], cases[i].others[o][1], cases[i].others[o][2]);
      assert_null(tsl_tiling_of(&problem, &config, &gpu, tsl_strategy_at, &other));
      assert_true(told <= 1.01 * tsl_tiling_seconds(&problem, &gpu, tsl_strategy_at, &other));
    }
  }
}

/* An H200, as its driver describes it, of which a plan may have 8 GiB. */
static tsl_device large_gpu(void) {
  tsl_device gpu = *device;
  gpu.capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64 | TSL_CAN_F16 | TSL_CAN_CUDA |
                     TSL_CAN_MMA | TSL_CAN_MMA_GROUP | TSL_CAN_ASYNC_COPY | TSL_CAN_WGMMA;
  gpu.is_cpu = false;
  gpu.compute_units = 132;
  gpu.clock_mhz = 1980;
  gpu.peak_f32 = 66.9e12;
  gpu.peak_f64 = 33.45e12;
  gpu.link_bandwidth = 25e9;
  gpu.bandwidth = 4.8e12;
  gpu.memory_bytes = gpu.allocation_max = (uint64_t)140 << 30;
  gpu.memory_limit = (uint64_t)8 << 30;
  return gpu;
}

/* Stores the config text of the strategy for a slab of the tiling, in the memory that is left, with
 * its predicted seconds. */
static void strategy_text(const tsl_problem *problem, tsl_device *gpu, const tsl_streamed_tiling *t,
                          tsl_text *text) {
  const tsl_strategy *strategy = tsl_streamed_slab_strategy(problem, gpu, tsl_strategy_at);
  const uint64_t room = tsl_tiling_workspace_bytes(gpu, t);
  assert_non_null(strategy);
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem slab = tsl_problem_gemm(t->rows, t->cols, t->depth, problem->c.type);
  slab.beta[0] = t->slabs > 1;
  assert_true(t->bytes + room <= gpu->memory_limit);
  const uint64_t whole = tsl_strategy_scratch(strategy, &slab, &config, gpu);
  tsl_subplan_request wish = {.problem = &slab,
                              .device = gpu,
                              .in_buffers = true,
                              .workspace_most = room,
                              .most = tsl_accuracy_of_one_part(problem, &slab, t->slabs)};
  if (!tsl_subplan_satisfies(&wish, strategy, &config)) {
    tsl_text_add(text, "no %s", strategy->name);
    return;
  }
  const uint64_t takes = tsl_strategy_scratch(strategy, &slab, &config, gpu);
  assert_true(takes <= room && (takes == whole) == (whole <= room));
  const double seconds = tsl_strategy_seconds(strategy, &slab, &config, gpu, tsl_strategy_at);
  assert_true(seconds == tsl_streamed_slab_seconds(strategy, problem, gpu, t));
  tsl_config_print(strategy, &config, text);
  tsl_text_add(text, ", %.2f ms a slab, %.1f GB of %.1f", 1e3 * seconds, 1e-9 * (double)takes,
               1e-9 * (double)room);
}

static double show_tiling(const tsl_problem *problem, tsl_device *gpu, const tsl_streamed_tiling *t) {
  const double seconds = tsl_tiling_seconds(problem, gpu, tsl_strategy_at, t);
  tsl_text text = {0};
  strategy_text(problem, gpu, t, &text);
  print_message("8 GiB, %s 32768: rows=%lld cols=%lld depth=%lld: %.1f GB in, %.0f ms; %s\n",
                tsl_type(problem->c.type)->name, (long long)t->rows, (long long)t->cols, (long long)t->depth,
                t->bytes_in / 1e9, 1e3 * seconds, tsl_text_get(&text));
  tsl_text_free(&text);
  return seconds;
}

/* Where a strategy multiplies slabs faster than the device's nominal rate, tiles and slabs suit it.
 * They use the memory that buffers leave, which is less than a whole slab would need. */
static void test_room_for_slab_strategies(void **state) {
  (void)state;
  enum { OTHERS = 5 };
  static const struct {
    tesela_type type;
    double most; /* times the nominal rate's */
    int64_t others[OTHERS][3];
  } cases[] = {{TESELA_F64,
                0.9,
                {{8192, 8192, 16384},
                 {4096, 10944, 16384},
                 {16384, 16384, 4096},
                 {16384, 16384, 2048},
                 {16384, 10944, 4096}}},
               {TESELA_F32,
                0.4,
                {{10944, 8192, 16384},
                 {16384, 10944, 16384},
                 {16384, 16384, 8192},
                 {16384, 16384, 4096},
                 {10944, 10944, 8192}}}};
  tsl_device gpu = large_gpu();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_problem problem = tsl_problem_gemm(32768, 32768, 32768, cases[i].type);
    const double alone = tsl_problem_flops(&problem) / (i ? 0.8 * gpu.peak_f32 : 2 * gpu.peak_f64);
    tsl_config config = tsl_strategy_defaults(streamed());
    tsl_streamed_tiling best, other;
    assert_null(tsl_tiling_of(&problem, &config, &gpu, tsl_strategy_at, &best));
    covers(&problem, &gpu, &best);
    const double told = show_tiling(&problem, &gpu, &best);
    assert_true(told == tsl_strategy_seconds(streamed(), &problem, &config, &gpu, tsl_strategy_at));
    assert_true(told <= cases[i].most * alone);
    for (int o = 0; o < OTHERS; o++) {
      config = config_of(cases[i].others[o][0], cases[i].others[o][1], cases[i].others[o][2]);
      assert_null(tsl_tiling_of(&problem, &config, &gpu, tsl_strategy_at, &other));
      assert_true(told <= 1.03 * show_tiling(&problem, &gpu, &other));
    }
  }
  const tsl_problem narrow = tsl_problem_gemm(32768, 32768, 32768, TESELA_BF16);
  const tsl_config config = tsl_strategy_defaults(streamed());
  tsl_streamed_tiling tiling;
  assert_null(tsl_streamed_slab_strategy(&narrow, &gpu, tsl_strategy_at));
  assert_null(tsl_tiling_of(&narrow, &config, &gpu, tsl_strategy_at, &tiling));
  assert_true(tiling.rows == 4096 && tiling.cols == 16384 && tiling.slabs == 1);
}

/* Gets the best candidate of a product on the H200 with so much memory. */
static tsl_candidate best_in(uint64_t bytes, int64_t side, const char *strategy) {
  const tsl_problem problem = tsl_problem_gemm(side, side, side, TESELA_F32);
  const tsl_choice choice = {
      .devices = devices, .device = "fake:0", .strategy = strategy, .place = TSL_PLACE_HOST};
  const tsl_device kept = *device;
  tsl_candidate *list;
  int count;
  *device = large_gpu();
  device->memory_limit = bytes;
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  *device = kept;
  assert_true(count > 0);
  const tsl_candidate best = list[0];
  free(list);
  return best;
}

static int64_t block_in(uint64_t bytes, const char *strategy) {
  const tsl_candidate best = best_in(bytes, 16384, strategy);
  assert_string_equal(best.strategy->name, "residue_int8");
  assert_string_equal(best.refusal, "");
  return best.config.value[TSL_RESIDUE_INT8_BLOCK];
}

/* The operands fit, and the workspace shrinks to the memory that they leave. */
static void test_room_beside_operands(void **state) {
  (void)state;
  const uint64_t large = (uint64_t)140 << 30, small = (uint64_t)8 << 30;
  assert_int_equal(block_in(large, NULL), 0);
  assert_true(block_in(small, NULL) >= 256);
  assert_true(block_in(small, "residue_int8") >= 256);
  /* a parameter that the caller gives stays */
  assert_int_equal(block_in(large, "residue_int8 block=16384"), 16384);
  assert_string_not_equal(best_in(small, 16384, "residue_int8 block=16384").refusal, "");
}

static void test_too_small(void **state) {
  (void)state;
  const tsl_config config = tsl_strategy_defaults(streamed());
  const tsl_problem problem = tsl_problem_gemm(500, 500, 500, TESELA_F32);
  tsl_device tiny = *device;
  tsl_streamed_tiling t;
  tiny.memory_limit = 5000;
  const char *why = tsl_tiling_of(&problem, &config, &tiny, tsl_strategy_at, &t);
  assert_non_null(strstr(why, "needs at least 8.08 KiB of memory on fake:0, where a plan may take 4.88 KiB"));
  tiny.memory_limit = 8274;
  assert_null(tsl_tiling_of(&problem, &config, &tiny, tsl_strategy_at, &t));
  covers(&problem, &tiny, &t);
  tsl_problem narrow = problem; /* sums that are not cut */
  narrow.a.type = narrow.b.type = narrow.c.type = TESELA_BF16;
  assert_non_null(tsl_tiling_of(&narrow, &config, &tiny, tsl_strategy_at, &t));
  const tsl_config cut = config_of(64, 64, 100);
  assert_non_null(strstr(tsl_tiling_of(&narrow, &cut, device, tsl_strategy_at, &t), "not cut"));
  const tsl_problem complex = tsl_problem_gemm(500, 500, 500, TESELA_C64);
  assert_non_null(
      strstr(tsl_tiling_of(&complex, &cut, device, tsl_strategy_at, &t), "an infinity would become NaN"));
}

/* Room for the operands, but not for copies that kernels for narrow types may make: such products
 * are streamed too. */
static void test_just_enough(void **state) {
  (void)state;
  const tsl_config config = tsl_strategy_defaults(streamed());
  tsl_problem problem = tsl_problem_gemm(400, 400, 400, TESELA_F32);
  problem.a.type = problem.b.type = problem.c.type = TESELA_BF16;
  const uint64_t operands = 3 * 400 * 400 * 2, copies = 2 * 400 * 400 * 4;
  tsl_device small = *device;
  tsl_streamed_tiling t;
  small.memory_limit = operands + copies / 2;
  assert_null(tsl_tiling_of(&problem, &config, &small, tsl_strategy_at, &t));
  covers(&problem, &small, &t);
  small.memory_limit = (operands + copies) / 50 * 51;
  assert_non_null(strstr(tsl_tiling_of(&problem, &config, &small, tsl_strategy_at, &t), "holds all"));
}

/* --- results --- */

static int judged(tsl_device *on, tsl_case *what, int64_t rows, int64_t cols, int64_t depth) {
  const tsl_config config = config_of(rows, cols, depth);
  tsl_case_report report;
  what->children = &simple;
  assert_int_equal(tsl_check_case(streamed(), &config, on, what, &report), TESELA_OK);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED)
    fail_msg("%s: %s", report.plan, report.why);
  return report.result == TSL_CASE_RIGHT;
}

static void test_cases(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_I8};
  int right = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    tsl_case what;
    for (int i = (int)t; tsl_case_standard(TSL_OP_GEMM, i, types[t], &what); i += 4)
      right += judged(i % 8 < 4 ? device : shared_device, &what, 7 + i % 13, 5 + i % 17, 3 + i % 29);
    for (uint64_t i = 0; i < 6; i++) {
      tsl_case_random(TSL_OP_GEMM, 31, i, types[t], &what);
      right += judged(i % 2 ? device : shared_device, &what, (int64_t)(20 + i), 31, (int64_t)(40 * i));
    }
  }
  assert_true(right > 60);
}

/* --- one product, by hand --- */

static tsl_plan *plan_of(const product *p, tsl_device *on, tsl_config config) {
  tsl_plan *plan;
  if (tsl_plan_create(&p->problem, streamed(), &config, on, TSL_PLACE_HOST,
                      &(tsl_plan_options){.children = &simple}, &plan) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return plan;
}

/* As many launches as slabs of tiles, and as many bytes as are said; the text is read back. */
static void test_steps(void **state) {
  (void)state;
  static const int64_t tilings[][3] = {{45, 70, 33}, {45, 70, 10}, {20, 70, 33}, {20, 30, 33},
                                       {20, 30, 17}, {20, 30, 7},  {1, 1, 33},   {44, 69, 32}};
  product p;
  fill(&p, -1);
  for (size_t i = 0; i < sizeof tilings / sizeof *tilings; i++) {
    tsl_plan *plan = plan_of(&p, device, config_of(tilings[i][0], tilings[i][1], tilings[i][2]));
    const tsl_streamed_tiling *t = &((const tsl_streamed *)plan->work.state)->tiling;
    tsl_subplan_info share;
    tesela_fake_reset();
    must_run(plan, &p);
    assert_int_equal(tesela_fake_calls(TESELA_FAKE_LAUNCH), t->row_tiles * t->col_tiles * t->slabs);
    assert_true(tsl_plan_share(plan, 0, &share) && !tsl_plan_share(plan, 1, &share));
    assert_true(share.in_bytes == t->bytes_in && share.out_bytes == 4.0 * M * N);
    assert_non_null(strstr(plan->text, "gemm streamed version=1 rows="));
    tsl_plan_destroy(plan);
  }
}

/* Many pieces of what goes out between many that come in, of slots that both take in turn: tiles and panels
 * of unlike sizes. */
static void test_both_ways(void **state) {
  (void)state;
  static const char *const slots[] = {"slot=64", "slot=192", "slot=448", "slot=1024"};
  static const int64_t tilings[][3] = {{45, 20, 17}, {45, 35, 33}, {15, 70, 9}, {44, 11, 3},
                                       {9, 69, 33},  {45, 69, 17}, {40, 70, 32}};
  product p;
  for (size_t s = 0; s < sizeof slots / sizeof *slots; s++)
    for (size_t i = 0; i < sizeof tilings / sizeof *tilings; i++) {
      assert_int_equal(setenv("TESELA_STAGING", slots[s], 1), 0);
      fill(&p, i % 2 ? 0 : 2);
      tsl_plan *plan = plan_of(&p, device, config_of(tilings[i][0], tilings[i][1], tilings[i][2]));
      must_run(plan, &p);
      must_run(plan, &p);
      tsl_plan_destroy(plan);
    }
  assert_int_equal(setenv("TESELA_STAGING", "slot=4096", 1), 0);
}

/* Default sizes and kernels, on a device with little reported memory. */
static void test_by_memory(void **state) {
  (void)state;
  product p;
  tsl_plan *again;
  tsl_device *both[] = {device, shared_device};
  fill(&p, 2);
  for (int i = 0; i < 2; i++) {
    const uint64_t limit = both[i]->memory_limit;
    both[i]->memory_limit = 20 << 10;
    tsl_plan *plan = plan_of(&p, both[i], config_of(0, 0, 0));
    assert_true(tsl_plan_bytes(plan) > 0 && tsl_plan_bytes(plan) <= 20 << 10);
    must_run(plan, &p);
    if (tsl_planner_parse(devices, plan->text, &again) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    assert_string_equal(again->text, plan->text);
    must_run(again, &p);
    tsl_plan_destroy(again);
    tsl_plan_destroy(plan);
    const tsl_strategy *element = tsl_strategy_find(TSL_OP_GEMM, "element");
    const tsl_config defaults = tsl_strategy_defaults(element);
    const char *why = tsl_plan_refuse(&p.problem, element, &defaults, both[i], TSL_PLACE_HOST);
    assert_non_null(strstr(why, "20 KiB"));
    both[i]->memory_limit = limit;
  }
}

/* A run transfers each byte once, takes the memory that its tiling states, and returns it to the
 * device for the next run. */
static void test_memory(void **state) {
  (void)state;
  product p;
  fill(&p, 0);
  tsl_plan *plan = plan_of(&p, device, config_of(20, 30, 10));
  must_run(plan, &p);
  const int live = tesela_fake_live(TESELA_FAKE_LIVE_BUFFER);
  must_run(plan, &p);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), live);
  (void)tsl_pooled_buffers_destroy(device);
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), 0);
  tsl_plan_destroy(plan);
}

/* --- failures --- */

static void fail_at(tesela_fake_operation operation, double beta, int *failures) {
  bool failed = true;
  *failures = 0;
  for (int nth = 1; failed; nth++) {
    product p;
    fill(&p, beta);
    find_devices(NULL);
    tsl_plan *plan = plan_of(&p, device, config_of(20, 30, 17));
    tesela_fake_reset();
    tesela_fake_fail(operation, nth);
    const tesela_status status = run(plan, &p);
    failed = tesela_fake_failures() > 0;
    *failures += failed;
    if (status == TESELA_OK)
      assert_memory_equal(p.c, p.expected, sizeof p.c);
    else if (status != TESELA_DEVICE_FAILED)
      assert_memory_equal(p.c, p.before, sizeof p.c);
    if (status != TESELA_OK)
      assert_non_null(strstr(tesela_last_error(), "on demand"));
    else if (failed)
      assert_true(operation == TESELA_FAKE_PINNED || operation == TESELA_FAKE_STREAM ||
                  operation == TESELA_FAKE_EVENT || operation == TESELA_FAKE_FINISH);
    tesela_fake_reset();
    must_run(plan, &p);
    tsl_plan_destroy(plan);
    forget_devices(NULL);
    if (*tesela_fake_live_text())
      fail_msg("%s number %d left %s", tesela_fake_name(operation), nth, tesela_fake_live_text());
  }
}

static void test_failures(void **state) {
  static const struct {
    tesela_fake_operation operation;
    int least;
  } rows[] = {{TESELA_FAKE_ALLOCATION, 6}, {TESELA_FAKE_PINNED, 1},   {TESELA_FAKE_LAUNCH, 18},
              {TESELA_FAKE_COPY_IN, 20},   {TESELA_FAKE_COPY_OUT, 9}, {TESELA_FAKE_STREAM, 3},
              {TESELA_FAKE_EVENT, 60},     {TESELA_FAKE_FINISH, 0}};
  int failures;
  (void)state;
  tsl_devices_destroy(devices);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fail_at(rows[i].operation, i % 2 ? 0 : -1, &failures);
    if (failures < rows[i].least)
      fail_msg("%s failed %d times", tesela_fake_name(rows[i].operation), failures);
  }
  find_devices(NULL);
}

/* --- threads, and the same bits --- */

static void test_threads(void **state) {
  (void)state;
  product p;
  tsl_device *both[] = {device, shared_device};
  fill(&p, -1);
  for (int d = 0; d < 2; d++) {
    tsl_plan *plan = plan_of(&p, both[d], config_of(20, 30, 17));
    must_in_threads(plan);
    tsl_plan_destroy(plan);
  }
}

static void test_bits(void **state) {
  (void)state;
  product p;
  float first[M * (N + GAP)];
  fill(&p, 0.3);
  for (int i = 0; i < M * K; i++)
    p.a[i] = 1 / (float)(i + 3);
  for (int i = 0; i < 10; i++) {
    tsl_plan *plan = plan_of(&p, i % 2 ? device : shared_device, config_of(20, 30, 10));
    assert_int_equal(run(plan, &p), TESELA_OK);
    if (i == 0)
      memcpy(first, p.c, sizeof first);
    assert_memory_equal(first, p.c, sizeof first);
    tsl_plan_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cap),
      cmocka_unit_test(test_tilings),
      cmocka_unit_test(test_bound),
      cmocka_unit_test(test_hidden),
      cmocka_unit_test(test_room_for_slab_strategies),
      cmocka_unit_test(test_room_beside_operands),
      cmocka_unit_test(test_too_small),
      cmocka_unit_test(test_cases),
      cmocka_unit_test(test_just_enough),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_both_ways),
      cmocka_unit_test(test_by_memory),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_bits),
  };
  simple = tsl_subplans_by_models();
  simple.make = make_simple;
  tesela_fake_install();
  return cmocka_run_group_tests(tests, find_devices, forget_devices);
}
