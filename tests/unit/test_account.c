/* Cost models of the strategies: exact numbers of the ladder's strategies, computed by hand, and
 * properties that hold for every strategy, type, config and model. */
#include "unit/unit.h"
#include "unit/variants.h"

#include <math.h>
#include <string.h>

#include "device/devices.h"
#include "strategy/cost_counts.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static tsl_cost_counts account_on(const tsl_device *device, const char *name, const char *config_text,
                                  const tsl_problem *problem) {
  const tsl_strategy *strategy = tsl_strategy_find(problem->op, name);
  tsl_cost_counts account;
  assert_non_null(strategy);
  const tsl_config config = config_of(strategy, config_text);
  assert_null(tsl_strategy_refuse(strategy, problem, &config, device));
  assert_true(tsl_cost_counts_get(strategy, problem, &config, device, &account));
  return account;
}

static void assert_grid(const tsl_cost_counts *account, uint64_t across, uint64_t down, int items_x,
                        int items_y) {
  assert_int_equal(account->grid.groups[0], across);
  assert_int_equal(account->grid.groups[1], down);
  assert_int_equal(account->grid.items[0], items_x);
  assert_int_equal(account->grid.items[1], items_y);
}

/* C is 30 x 50. In groups of 16 x 8 elements that is 4 x 4 groups: 64 x 32 work-items. */
static void items_are_counted(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(30, 50, 100, TESELA_F32);
  const tsl_cost_counts account = account_on(&graphics, "element", "columns=16 rows=8", &problem);
  assert_grid(&account, 4, 4, 16, 8);
  assert_float_equal(account.items, 2048, 0);
  assert_float_equal(account.wasted, 2048 - 1500, 0);
  assert_float_equal(account.workers, 16, 0);
  assert_int_equal(account.per_unit, 16);
  assert_int_equal(account.launches, 1);
  const tsl_cost_counts rows = account_on(&graphics, "row", "items=64", &problem);
  assert_grid(&rows, 1, 1, 64, 1);
  assert_float_equal(rows.wasted, 34, 0);
}

/* Where a dimension has fewer groups than C needs, items go on to further rows, and none is wasted for that.
 */
static void a_grid_that_is_cut_wastes_nothing(void **state) {
  (void)state;
  tsl_device device = graphics;
  device.group_count_max[1] = 2;
  const tsl_problem problem = tsl_problem_gemm(100, 32, 8, TESELA_F32);
  const tsl_cost_counts account = account_on(&device, "element", "columns=32 rows=8", &problem);
  assert_grid(&account, 1, 2, 32, 8);
  assert_float_equal(account.wasted, 0, 0);
}

/* Numbers of A and B that the rungs ask for, for each multiply-add of a 64 x 64 x 64 product. */
static void the_ladder_lifts_traffic(void **state) {
  (void)state;
  static const struct {
    const char *name, *config;
    double a, b, panels, local_read, local_written; /* in elements */
  } rungs[] = {
      {"element", "", 64 * 64 * 64, 64 * 64 * 64, 1, 0, 0},
      {"row", "", 64 * 64 * 64, 64 * 64 * 64, 1, 0, 0},
      {"row_private", "panel=32", 64 * 64, 64 * 64 * 64, 2, 0, 0},
      {"row_private_column_local", "items=64 panel=32", 64 * 64, 64 * 64, 2, 64 * 64 * 64, 64 * 64},
      {"tile_local", "tile=8", 8 * 64 * 64, 8 * 64 * 64, 1, 2 * 64 * 64 * 64, 16 * 64 * 64},
      {"tile_local", "tile=32", 2 * 64 * 64, 2 * 64 * 64, 1, 2 * 64 * 64 * 64, 4 * 64 * 64},
  };
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  for (size_t t = 0; t < 2; t++)
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
      const double size = (double)tsl_type(types[t])->size, c = 64 * 64;
      tsl_problem problem = tsl_problem_gemm(64, 64, 64, types[t]);
      const tsl_cost_counts account = account_on(&graphics, rungs[i].name, rungs[i].config, &problem);
      assert_float_equal(account.global.read, size * (rungs[i].a + rungs[i].b + c * (rungs[i].panels - 1)),
                         0);
      assert_float_equal(account.global.written, size * c * rungs[i].panels, 0);
      assert_float_equal(account.local.read, size * rungs[i].local_read, 0);
      assert_float_equal(account.local.written, size * rungs[i].local_written, 0);
      assert_float_equal(account.computed, account.useful, 0);
      problem.beta[0] = 1;
      const tsl_cost_counts added = account_on(&graphics, rungs[i].name, rungs[i].config, &problem);
      assert_float_equal(added.global.read - account.global.read, size * c, 0);
    }
}

/* 9 x 9 x 9 in tiles of 8: two by two groups, two steps of whole tiles. */
static void edges_are_counted(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(9, 9, 9, TESELA_F32);
  const tsl_cost_counts account = account_on(&graphics, "tile_local", "tile=8", &problem);
  assert_float_equal(account.useful, 729, 0);
  assert_float_equal(account.computed, 16 * 16 * 16, 0);
  assert_float_equal(account.wasted, 256 - 81, 0);
}

/* Operations for each byte rise with the tile's edge. */
static void intensity_moves_to_the_right(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
  static const char *const configs[] = {"tile=8", "tile=16", "tile=32"};
  double before = 0.25;
  const tsl_cost_counts element = account_on(&graphics, "element", "", &problem);
  assert_float_equal(tsl_cost_counts_intensity(&problem, &element), before, 1e-3);
  for (size_t i = 0; i < 3; i++) {
    const tsl_cost_counts account = account_on(&graphics, "tile_local", configs[i], &problem);
    const double now = tsl_cost_counts_intensity(&problem, &account);
    assert_true(now > 1.9 * before);
    before = now;
  }
}

/* A product of a batch is one of many; alpha = 0 reads nothing of A and B. */
static void batches_and_empty_products(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(100, 100, 100, TESELA_F32);
  const char *config = "form=local vector=16 tile_m=64 tile_n=64 micro_m=8 micro_n=4 tile_k=8";
  const tsl_cost_counts one = account_on(&graphics, "register_tile", config, &problem);
  problem.batch = 7;
  const tsl_cost_counts many = account_on(&graphics, "register_tile", config, &problem);
  assert_float_equal(many.global.read, 7 * one.global.read, 1);
  assert_float_equal(many.memory, 7 * one.memory, 1);
  assert_float_equal(many.useful, 7e6, 0);
  problem.batch = 0;
  problem.alpha[0] = 0;
  const tsl_cost_counts none = account_on(&graphics, "element", "", &problem);
  assert_float_equal(none.useful, 0, 0);
  assert_float_equal(none.global.read, 0, 0);
}

/* Segments of 128 bytes that warps of 32 touch, and need. Rows of A on dimension 0 of the grid are a segment
 * each, unless A is column-major. */
static void lines_are_counted(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_cost_counts element = account_on(&graphics, "element", "columns=32 rows=8", &problem);
  assert_float_equal(element.touched, element.needed, 0);
  const tsl_cost_counts row = account_on(&graphics, "row", "", &problem);
  const double k = 64, warp_segment = 64. * 64 / 32 * 128; /* bytes of a segment for each warp of elements */
  assert_float_equal(row.touched, warp_segment * (32 * k + k + 32), 0);
  assert_float_equal(row.needed, warp_segment * (k + k + 1), 0);
  const tsl_cost_counts tile = account_on(&graphics, "tile_local", "tile=32", &problem);
  assert_float_equal(tile.touched, tile.needed, 0);
  problem.a.row_stride = problem.c.row_stride = 1;
  problem.a.col_stride = problem.c.col_stride = 64;
  const tsl_cost_counts columns = account_on(&graphics, "row", "", &problem);
  assert_float_equal(columns.touched, columns.needed, 0);
}

/* The limits of a GPU's unit: 2048 items, 4 times a group's local memory, or 32 groups. */
static void occupancy_has_a_limit(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(4096, 4096, 4096, TESELA_F64);
  assert_string_equal(account_on(&graphics, "element", "", &problem).filled_by, "work-items");
  assert_string_equal(account_on(&graphics, "element", "columns=16 rows=2", &problem).filled_by, "groups");
  tsl_device device = graphics;
  device.local_bytes = 18000;
  assert_string_equal(account_on(&device, "tile_local", "tile=32", &problem).filled_by, "work-items");
  const tsl_cost_counts few = account_on(&device, "tile_local", "tile=16", &problem);
  assert_string_equal(few.filled_by, few.per_unit < 8 ? "local memory" : "work-items");
}

/* --- all strategies --- */

static void assert_sane(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                        const tsl_device *device) {
  tsl_cost_counts account;
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  if (!tsl_cost_counts_get(strategy, problem, config, device, &account))
    fail_msg("%s: no account", tsl_text_get(&text));
  const double elements = (double)problem->m * (double)problem->n;
  const double m = (double)problem->m;
  const double a = problem->op == TSL_OP_TRANSPOSE ? elements
                   : problem->op == TSL_OP_SOLVE   ? m * (m + 1) / 2
                                                   : m * (double)problem->k,
               b = problem->op == TSL_OP_TRANSPOSE ? 0 : (double)problem->k * (double)problem->n;
  const double least =
      a * (double)tsl_type(problem->a.type)->size + b * (double)tsl_type(problem->b.type)->size;
  const tsl_bounds bounds = tsl_cost_counts_bounds(problem, device, &account);
  double most = 0, predicted = tsl_strategy_seconds(strategy, problem, config, device, tsl_strategy_at);
  for (int i = 0; i < TSL_BOUND_COUNT; i++) {
    if (!isfinite(bounds.seconds[i]) || bounds.seconds[i] < 0)
      fail_msg("%s: %s takes %g s", tsl_text_get(&text), tsl_bound_name((tsl_bound)i), bounds.seconds[i]);
    most = fmax(most, bounds.seconds[i]);
  }
  const bool kernels = account.grid.groups[0] > 0;
  if (!(account.computed >= account.useful) || !(account.global.read >= 0.999 * least) ||
      !(account.global.written >= elements * (double)tsl_type(problem->c.type)->size) ||
      !(account.memory >= 0.999 * tsl_problem_bytes(problem)) || !(account.wasted >= 0) ||
      kernels != (account.items > 0) || (kernels && !(account.wasted < account.items)) ||
      !(account.workers >= 1) || most != bounds.seconds[bounds.first] || !(predicted > 0))
    fail_msg("%s on %s, %lld x %lld x %lld: computed %g of %g, read %g, at least %g, memory %g of %g, items "
             "%g, wasted %g, workers %g",
             tsl_text_get(&text), device->name, (long long)problem->m, (long long)problem->n,
             (long long)problem->k, account.computed, account.useful, account.global.read, least,
             account.memory, tsl_problem_bytes(problem), account.items, account.wasted, account.workers);
  tsl_text_free(&text);
}

/* The product that a strategy takes: with a symmetric factor where it takes no general ones. */
static tsl_problem taken_by(const tsl_strategy *strategy, const tsl_problem *problem) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem structured = *problem;
  if (!strategy->supports.structures || problem->op != TSL_OP_GEMM || problem->m != problem->k)
    return *problem;
  structured.a.structure = TESELA_SYMMETRIC;
  structured.a.triangle = TESELA_LOWER;
  return strategy->refuse && strategy->refuse(problem, &config, &graphics) &&
                 !strategy->refuse(&structured, &config, &graphics)
             ? structured
             : *problem;
}

static int walk(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device) {
  int counted = 0, seen = 0;
  for (tsl_walk at = {.begun = false}; tsl_strategy_walk(strategy, problem, device, &at);)
    if (seen++ % 7 == 0 && !tsl_strategy_refuse(strategy, problem, &at.config, device)) {
      assert_sane(strategy, problem, &at.config, device);
      counted++;
    }
  return counted;
}

/* Half of a general product's work, and the diagonal's blocks whole: 8 levels of 1 / 2, 1 / 4, ... and 1 / 8.
 */
static void a_triangle_is_half(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(1024, 1024, 100, TESELA_F32);
  problem.c.triangle = TESELA_LOWER;
  const tsl_cost_counts account = account_on(&graphics, "structured", "block=128", &problem);
  assert_float_equal(account.useful, 100. * 1024 * 1025 / 2, 1);
  assert_float_equal(account.computed, 100. * 1024 * 1024 * (1 + 1. / 8) / 2, 1);
  assert_int_equal(account.launches, 1 + 3 + 1);
  problem = tsl_problem_gemm(1024, 1000, 1024, TESELA_F64);
  problem.a.structure = TESELA_TRIANGULAR;
  problem.a.triangle = TESELA_UPPER;
  const tsl_cost_counts factor = account_on(&graphics, "structured", "block=128", &problem);
  assert_float_equal(factor.computed, 1024. * 1024 * 1000 * (1 + 1. / 8) / 2, 1);
  problem.a.structure = TESELA_SYMMETRIC;
  const tsl_cost_counts symmetric = account_on(&graphics, "structured", "block=128", &problem);
  assert_float_equal(symmetric.computed, 1024. * 1024 * 1000, 1);
  assert_int_equal(symmetric.launches, 2);
}

/* A copy is read, written, and takes memory twice: when it is made and when it is used. */
static void copies_are_counted(void **state) {
  (void)state;
  tsl_cost_counts account = {.launches = 1, .memory = 100, .global = {.read = 10, .written = 20}};
  tsl_cost_counts_copies(64, &account);
  assert_float_equal(account.global.read, 74, 0);
  assert_float_equal(account.global.written, 84, 0);
  assert_float_equal(account.memory, 228, 0);
  assert_int_equal(account.launches, 2);
  /* image_microtile packs a B whose columns are contiguous: m n + m k + k n numbers, and the copy. */
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_IMAGES;
  device.image_width_max = device.image_height_max = 32768;
  device.image_pitch_alignment = 64;
  tsl_problem problem = tsl_problem_gemm(96, 200, 300, TESELA_F32);
  problem.b.row_stride = 1;
  problem.b.col_stride = 300;
  const tsl_cost_counts packed = account_on(&device, "image_microtile", "", &problem);
  assert_float_equal(packed.memory, 4.0 * (96 * 200 + 96 * 300 + 300 * 200) + 2 * 4.0 * 300 * 200, 0);
  assert_float_equal(packed.global.written, 4.0 * (96 * 200 + 300 * 200), 0);
}

static void every_strategy_tells(void **state) {
  tsl_devices *devices = *state;
  static const int64_t sizes[][3] = {{1, 1, 1}, {64, 64, 64}, {7, 300, 129}, {1000, 3, 257}, {130, 131, 1}};
  tsl_device mma = graphics;
  mma.capabilities |= TSL_CAN_MMA | TSL_CAN_MMA_GROUP | TSL_CAN_ASYNC_COPY | TSL_CAN_OPENCL | TSL_CAN_IMAGES |
                      TSL_CAN_CUDA | TSL_CAN_FRAGMENTS | TSL_CAN_WGMMA;
  mma.fragments = &tsl_fragments_all[TSL_FRAGMENTS_WMMA_12];
  mma.local_bytes_inside = 227 << 10;
  mma.image_width_max = mma.image_height_max = 32768;
  const tsl_strategy *strategy;
  for (int s = 0; (strategy = tsl_strategy_at(s)) != NULL; s++) {
    int counted = 0;
    tsl_types types;
    if (strategy->vendor.load || strategy->splits.parts) { /* what children move is theirs to tell */
      assert_null(strategy->resources.count_costs);
      continue;
    }
    for (int t = 0; tsl_strategy_types(strategy, t, &types); t++)
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tsl_problem problem = tsl_problem_of(strategy->op, sizes[i][0], sizes[i][1], sizes[i][2], types.a);
        if (strcmp(strategy->name, "split_precision") == 0) /* some configs need a required accuracy */
          assert_int_equal(tsl_numeric_requirements_parse_accuracy("1e-2", &problem.ask), TESELA_OK);
        problem.b.type = problem.op == TSL_OP_TRANSPOSE ? problem.b.type : types.b;
        problem.c.type = types.c;
        tsl_device *device;
        problem = taken_by(strategy, &problem);
        for (int d = 0; (device = tsl_devices_at(devices, d)) != NULL; d++)
          counted += walk(strategy, &problem, device);
        counted += walk(strategy, &problem, &mma);
      }
    print_message("  %s %s: %d\n", tsl_op_name(strategy->op), strategy->name, counted);
    assert_true(counted > 0);
  }
}

static int open_devices(void **state) {
  return tsl_devices_create((tsl_devices **)state) != TESELA_OK;
}

static int close_devices(void **state) {
  tsl_devices_destroy(*state);
  return 0;
}

/* tsl_strategy_probe() takes a probe that is no config for the end of the list. */
static void every_probe_is_a_config(void **state) {
  (void)state;
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    const char *const *probes = strategy->testing.probes;
    tsl_config config;
    for (int probe = 0; probes && probes[probe]; probe++)
      if (!tsl_strategy_probe(strategy, probe, &config))
        fail_msg("%s: \"%s\": %s", strategy->name, probes[probe], tesela_last_error());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items_are_counted),
      cmocka_unit_test(a_grid_that_is_cut_wastes_nothing),
      cmocka_unit_test(the_ladder_lifts_traffic),
      cmocka_unit_test(edges_are_counted),
      cmocka_unit_test(intensity_moves_to_the_right),
      cmocka_unit_test(batches_and_empty_products),
      cmocka_unit_test(a_triangle_is_half),
      cmocka_unit_test(lines_are_counted),
      cmocka_unit_test(occupancy_has_a_limit),
      cmocka_unit_test(copies_are_counted),
      cmocka_unit_test(every_probe_is_a_config),
      cmocka_unit_test_setup_teardown(every_strategy_tells, open_devices, close_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
