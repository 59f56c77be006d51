/* Grids and a device's limits, on PoCL with a small artificial limit of groups along each
 * dimension. Every launch stays within the limit, or is refused with the dimension. A grid that
 * exceeds the limit fails at the launch, as in drivers. */
#include "unit/unit.h"

#include "core/status.h"
#include "core/text.h"
#include "judge/check.h"
#include "opencl.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <string.h>

/* The device under test, with few groups, and its operations. */
static tsl_device *few;
static const tsl_device_ops *own;

static tesela_status launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                            const tsl_argument *arguments, int count) {
  for (int d = 0; d < 3; d++)
    if (grid->groups[d] == 0 || grid->groups[d] > few->group_count_max[d])
      return tsl_fail(TESELA_DEVICE_FAILED, "a launch of %llu groups along dimension %d, which has %llu",
                      (unsigned long long)grid->groups[d], d, (unsigned long long)few->group_count_max[d]);
  return own->launch(stream, kernel, grid, arguments, count);
}

typedef struct product {
  tsl_op op;
  const char *config;
  tesela_type type;
  int64_t m, n, k;
  bool fits; /* else refused for its groups */
} product;

/* Groups along dimension 0, 1 and 2 of the device. */
static const uint64_t most[3] = {60, 3, 2};

static const product products[] = {
    /* Copies into panels have a group for every 4 rows (2 to 8 columns) along dimension 1. */
    {TSL_OP_GEMM,
     "register_tile form=packed_serial vector=32 tile_m=16 tile_n=16 micro_m=4 micro_n=16 tile_k=8 stages=1 "
     "slices=1 "
     "split=1",
     TESELA_F32, 50, 70, 40, true},
    {TSL_OP_GEMM,
     "register_tile form=packed vector=32 tile_m=16 tile_n=32 micro_m=2 micro_n=8 tile_k=8 stages=1 slices=1 "
     "split=1",
     TESELA_C64, 50, 70, 10, true},
    {TSL_OP_GEMM,
     "register_tile form=packed_serial vector=32 tile_m=16 tile_n=16 micro_m=4 micro_n=16 tile_k=8 stages=1 "
     "slices=1 "
     "split=1",
     TESELA_F32, 500, 70, 4, false},
    /* Parts of k are dimension 1; copies into units and sums go on. */
    {TSL_OP_GEMM,
     "register_tile form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=2 slices=1 "
     "split=2",
     TESELA_C64, 50, 40, 100, true},
    {TSL_OP_GEMM,
     "register_tile form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=2 slices=1 "
     "split=4",
     TESELA_C64, 50, 40, 100, false},
    {TSL_OP_GEMM,
     "thin_tile vector=32 micro_m=2 micro_n=8 items_m=1 items_n=1 slices=1 steps=1 flight=1 split=2",
     TESELA_F32, 7, 50, 100, true},
    {TSL_OP_GEMM,
     "thin_tile vector=32 micro_m=2 micro_n=8 items_m=1 items_n=1 slices=1 steps=1 flight=1 split=4",
     TESELA_F32, 7, 50, 100, false},
    {TSL_OP_GEMM, "element columns=16 rows=4", TESELA_F32, 50, 70, 5, true},
    {TSL_OP_GEMM, "element columns=16 rows=4", TESELA_F32, 5, 1000, 5, false},
    {TSL_OP_GEMM, "row items=64", TESELA_F32, 5000, 2, 3, true},
    {TSL_OP_GEMM, "tile_local tile=8", TESELA_F32, 70, 50, 5, true},
    {TSL_OP_DOT, "block_tree", TESELA_F32, 1, 1, 50000, true},
    {TSL_OP_DOT, "fixed_tree", TESELA_F32, 1, 1, 300000, true},
    {TSL_OP_TRANSPOSE, "element", TESELA_F32, 200, 300, 0, true},
    {TSL_OP_TRANSPOSE, "tile_local", TESELA_F32, 500, 600, 0, true},
};

static void check(const product *p, tsl_device *device) {
  tsl_record record;
  tsl_config config;
  tsl_case_report report;
  assert_int_equal(tsl_record_parse(p->config, &record), TESELA_OK);
  const tsl_strategy *strategy = tsl_strategy_find(p->op, tsl_record_word(&record, 0));
  assert_non_null(strategy);
  config = tsl_strategy_defaults(strategy);
  assert_int_equal(tsl_config_parse(strategy, &record, &config, NULL), TESELA_OK);
  tsl_record_free(&record);
  tsl_case what = {.data = TSL_DATA_NORMAL, .seed = 1};
  what.problem = tsl_problem_of(p->op, p->m, p->n, p->k, p->type);
  assert_int_equal(tsl_check_case(strategy, &config, device, &what, &report), TESELA_OK);
  if (report.result != (p->fits ? TSL_CASE_RIGHT : TSL_CASE_REFUSED))
    fail_msg("%s, %d x %d x %d: %s", p->config, (int)p->m, (int)p->n, (int)p->k,
             report.result == TSL_CASE_RIGHT ? "was not refused" : report.why);
  if (!p->fits)
    assert_non_null(strstr(report.why, "work-groups along dimension"));
}

static void grids_stay_within(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl:0", &device), TESELA_OK);
  own = device->ops;
  few = device;
  tsl_device_ops ops = *own;
  ops.launch = launch;
  device->ops = &ops;
  memcpy(device->group_count_max, most, sizeof most);
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    check(&products[i], device);
  device->ops = own;
  tsl_devices_destroy(devices);
}

/* Batches count along dimension 2: one more than there are is refused, whatever takes batches. */
static void batches_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"register_tile", "thin_tile"};
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl:0", &device), TESELA_OK);
  device->group_count_max[2] = 2;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, names[i]);
    tsl_config config;
    assert_true(tsl_strategy_probe(strategy, 0, &config));
    tsl_problem problem = tsl_problem_gemm(8, 8, 64, TESELA_F32);
    problem.batch = 2;
    assert_null(tsl_strategy_refuse(strategy, &problem, &config, device));
    problem.batch = 3;
    const char *why = tsl_strategy_refuse(strategy, &problem, &config, device);
    assert_non_null(why);
    assert_non_null(strstr(why, "3 work-groups along dimension 2"));
  }
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grids_stay_within),
                                     cmocka_unit_test(batches_are_refused)};
  return opencl_is_missing() ? OPENCL_SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
