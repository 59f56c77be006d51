/* Parameters and refusals of few_rows.cl. Measurements: docs/lab/few_rows.md. */
#include "strategy/gemm/portable/few_rows/few_rows.h"

#include "host/int_math.h"

static const tsl_param params[] = {
    [TSL_FEW_ROWS_ITEMS_N] = {"items_n", "items of a group along n", 32, {8, 16, 32, 64, 128, 256}},
    [TSL_FEW_ROWS_SLICES] = {"slices", "items that share a sum", 8, {1, 2, 4, 8, 16, 32, 64}},
    [TSL_FEW_ROWS_FLIGHT] = {"flight", "vectors that an item has on their way", 8, {4, 8, 16}},
    [TSL_FEW_ROWS_SPLIT] = {"split", "parts of k of groups, added in order", 1, {1, 2, 4, 8, 16, 32, 64}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "items_n=32 slices=8 flight=8 split=1",
    "items_n=8 slices=16 flight=4 split=1",
    "items_n=32 slices=4 flight=8 split=2",
    "items_n=128 slices=1 flight=16 split=1",
    NULL,
};

/* The sums' types come first. */
static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Limits of a group's items, and of an item's estimated registers. */
enum { ITEMS_MIN = 128, ITEMS_MAX = 512, REGISTERS_MAX = 200 };

static bool few_rows_has_fit_items(const tsl_few_rows *few, const tsl_device *device) {
  return few->items >= ITEMS_MIN && few->items <= ITEMS_MAX && few->items <= device->group_items_max &&
         few->items <= device->group_size_max[0];
}

static bool few_rows_too_many_registers(const tsl_few_rows *few) {
  const int each = tsl_few_rows_registers(few);
  return each > REGISTERS_MAX || each * few->items > TSL_UNIT_REGISTERS;
}

/* Returns true if slices or splits of k are shorter than a turn of an item. */
static bool few_rows_is_too_short(const tsl_few_rows *few) {
  return few->slices * few->split > 1 && few->parts.count != few->slices &&
         few->problem.k < (int64_t)few->slices * few->split * few->turn;
}

static const char *few_rows_refuse(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  if (few.rows > TSL_FEW_ROWS_MAX)
    return tsl_refusal("takes C of at most %d rows or columns, not %lld x %lld", TSL_FEW_ROWS_MAX,
                       (long long)problem->m, (long long)problem->n);
  if (!few_rows_has_fit_items(&few, device))
    return tsl_refusal("items_n=%d slices=%d are %d work-items: takes %d to %d, %s allows %d", few.items_n,
                       few.slices, few.items, ITEMS_MIN, ITEMS_MAX, device->name, device->group_items_max);
  if (few_rows_is_too_short(&few))
    return tsl_refusal("k=%lld is too short for split=%d and slices=%d parts of at least %d products",
                       (long long)problem->k, few.split, few.slices, few.turn);
  const int64_t bytes = tsl_few_rows_local_bytes(&few);
  if ((uint64_t)bytes > device->local_bytes)
    return tsl_refusal("lines of %d items take %lld bytes of local memory, %s has %llu", few.items,
                       (long long)bytes, device->name, (unsigned long long)device->local_bytes);
  if (few_rows_too_many_registers(&few))
    return tsl_refusal("flight=%d needs about %d registers for each of %d items: takes %d, and %d in all",
                       few.flight, tsl_few_rows_registers(&few), few.items, REGISTERS_MAX,
                       TSL_UNIT_REGISTERS);
  const tsl_few_rows_grids grids =
      tsl_few_rows_grids_of(&few, few.problem.m, few.problem.n, tsl_problem_batch(problem), device);
  const char *why = tsl_launch_fits(device, &grids.multiply);
  return why ? why : tsl_launch_fits(device, &grids.sum);
}

static int few_rows_prune(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  return few.rows > TSL_FEW_ROWS_MAX             ? TSL_FEW_ROWS_ITEMS_N + 1
         : !few_rows_has_fit_items(&few, device) ? TSL_FEW_ROWS_SLICES + 1
         : few_rows_too_many_registers(&few)     ? TSL_FEW_ROWS_FLIGHT + 1
                                                 : 0;
}

static uint64_t few_rows_scratch(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  (void)device;
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  const tsl_split_k_product product = tsl_few_rows_product(&few);
  return tsl_split_k_scratch(&product, few.problem.m, tsl_problem_batch(problem));
}

/* Returns the order of sums: that of register_tile, if slices are its parts of k. */
static const char *few_rows_row_order(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  const tsl_few_rows few = tsl_few_rows_of(problem, config);
  (void)device;
  return few.split == 1 && few.slices == few.parts.count && (few.slices == 1 || few.depth == few.parts.depth)
             ? TSL_ROW_PARTS
             : NULL;
}

const tsl_strategy tsl_gemm_few_rows = {
    .name = "few_rows",
    .idea = "up to eight rows of C: items read contiguous parts of the large operand at memory's speed",
    .lifts = "barriers for a thin operand, unaligned and complex elements read one by one",
    .partner = "thin_tile",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = tsl_accuracy_in_order,
    .row_order = few_rows_row_order,
    .params = params,
    .refuse = few_rows_refuse,
    .score = tsl_few_rows_seconds,
    .build = tsl_few_rows_build,
    .run = tsl_few_rows_run,
    .release = tsl_launch_release,
    .supports = {.types = types, .conjugates = true, .batches = true},
    .tuning = {.prune = few_rows_prune},
    .resources = {.scratch = few_rows_scratch, .count_costs = tsl_few_rows_account},
    .testing = {.probes = probes},
};
