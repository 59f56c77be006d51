/* Parameters and refusals of register_tile. Measurements: docs/lab/register_tile.md. */
#include "strategy/gemm/portable/register_tile/register_tile.h"

static const tsl_param params[] = {
    [TSL_REGISTER_TILE_FORM] = {"form",
                                "local (local memory), local_async (asynchronous copies), "
                                "packed, packed_serial (scratch memory; one item a group)",
                                TSL_REGISTER_TILE_LOCAL,
                                {TSL_REGISTER_TILE_LOCAL, TSL_REGISTER_TILE_PACKED,
                                 TSL_REGISTER_TILE_PACKED_SERIAL, TSL_REGISTER_TILE_LOCAL_ASYNC}},
    [TSL_REGISTER_TILE_VECTOR] = {"vector", "bytes of a vector", 16, {8, 16, 32, 64}},
    [TSL_REGISTER_TILE_TILE_M] = {"tile_m",
                                  "rows of a group's tile of C",
                                  64,
                                  {4, 8, 16, 24, 32, 48, 64, 128, 256}},
    [TSL_REGISTER_TILE_TILE_N] = {"tile_n",
                                  "columns of a group's tile",
                                  64,
                                  {4, 8, 16, 24, 32, 48, 64, 128, 256}},
    [TSL_REGISTER_TILE_MICRO_M] = {"micro_m", "rows of an item's micro-tile", 8, {2, 4, 8, 16}},
    [TSL_REGISTER_TILE_MICRO_N] = {"micro_n",
                                   "columns of an item's micro-tile",
                                   8,
                                   {2, 4, 8, 16, 24, 32, 48}},
    [TSL_REGISTER_TILE_TILE_K] = {"tile_k", "products of a panel in local memory", 8, {8, 16, 32, 64, 128}},
    [TSL_REGISTER_TILE_STAGES] = {"stages", "panels of each operand in local memory", 2, {1, 2, 3, 6}},
    [TSL_REGISTER_TILE_SLICES] = {"slices",
                                  "items that share the products of a micro-tile",
                                  1,
                                  {1, 2, 4, 8, 16, 32}},
    [TSL_REGISTER_TILE_SPLIT] = {"split",
                                 "parts of k, added in order",
                                 1,
                                 {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 64, 128}},
    {NULL, NULL, 0, {0}},
};

static const char *const form_names[] = {"local", "packed", "packed_serial", "local_async"};

/* Probes cover both shapes of tiles, both ways of loading and each form. The first is tested in all types,
 * each other probe in one type, in the order of the types. */
static const char *const probes[] = {
    "form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=2 slices=1 split=1",
    "form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=1 slices=2 split=2",
    "form=packed_serial vector=64 tile_m=16 tile_n=48 micro_m=4 micro_n=48 tile_k=8 stages=1 slices=1 "
    "split=1",
    "form=packed vector=32 tile_m=16 tile_n=32 micro_m=2 micro_n=8 tile_k=8 stages=1 slices=1 split=1",
    "form=local vector=8 tile_m=32 tile_n=16 micro_m=2 micro_n=4 tile_k=8 stages=2 slices=1 split=4",
    "form=packed_serial vector=64 tile_m=64 tile_n=48 micro_m=8 micro_n=48 tile_k=8 stages=1 slices=1 "
    "split=1",
    "form=packed vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=8 tile_k=8 stages=1 slices=1 split=1",
    "form=local vector=16 tile_m=32 tile_n=64 micro_m=4 micro_n=8 tile_k=32 stages=2 slices=4 split=1",
    "form=packed_serial vector=64 tile_m=32 tile_n=32 micro_m=4 micro_n=32 tile_k=8 stages=1 slices=1 "
    "split=1",
    "form=local_async vector=16 tile_m=64 tile_n=32 micro_m=8 micro_n=8 tile_k=32 stages=2 slices=4 split=1",
    "form=local_async vector=16 tile_m=32 tile_n=64 micro_m=4 micro_n=8 tile_k=16 stages=3 slices=2 split=4",
    "form=local_async vector=16 tile_m=64 tile_n=64 micro_m=8 micro_n=8 tile_k=8 stages=2 slices=1 split=2",
    "form=local_async vector=16 tile_m=64 tile_n=64 micro_m=16 micro_n=8 tile_k=64 stages=2 slices=8 split=1",
    "form=local vector=16 tile_m=64 tile_n=32 micro_m=8 micro_n=4 tile_k=16 stages=2 slices=2 split=5",
    "form=local_async vector=16 tile_m=32 tile_n=64 micro_m=4 micro_n=8 tile_k=32 stages=3 slices=4 split=3",
    NULL,
};

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Maximum of the estimated registers of an item: lockstep devices have 255, and the estimate may be low. */
enum { MAX_REGISTERS = 230 };

/* k of a panel without slices; k of each slice; items of a group with slices. */
enum {
  MIN_TILE = 16, /* rows of a tile of other forms than local_async */
  MAX_DEPTH = 32,
  MIN_SLICE_DEPTH = 2,
  MAX_SLICE_DEPTH = 8,
  MIN_SLICED_ITEMS = 128,
  MAX_SLICED_ITEMS = 256,
  MAX_PART_SLICED_ITEMS = 512
};

static int sliced_items_limit(const tsl_register_tile *tile) {
  return tile->part_slices ? MAX_PART_SLICED_ITEMS : MAX_SLICED_ITEMS;
}

/* Returns true if a panel is whole vectors for each item of a slice, and whole depths. Some items of a slice
 * may copy nothing if a tile is very thin or no power of two. */
static bool is_shared_evenly(int extent, int depths, int items) {
  if (extent < MIN_TILE || extent % 3 == 0 || items % 3 == 0)
    return extent / 4 <= items;
  return extent / 4 <= items && items % (extent / 4) == 0 && extent * depths / 4 % items == 0;
}

/* Returns true if single complex elements of a panel, or their parts, are shared by all items of a slice. */
static bool is_shared_by_numbers(int extent, int items) {
  return 2 * extent % items == 0 || items % (2 * extent) == 0;
}

/* Returns 0 if a slice's whole warps divide panels evenly, else as register_tile_misfit(). */
static int async_misfit(const tsl_register_tile *tile) {
  const int places = tile->items / tile->slices, share = tile->tile_k / tile->slices;
  if (tile->lanes != 4 || tile->size / tile->numbers != 4)
    return TSL_REGISTER_TILE_VECTOR + 1;
  if (tile->stages < 2)
    return TSL_REGISTER_TILE_STAGES + 1;
  if (tile->planes == 2)
    return places % 32 == 0 && share == 8 && is_shared_by_numbers(tile->tile_m, places) &&
                   is_shared_by_numbers(tile->tile_n, places)
               ? 0
               : TSL_REGISTER_TILE_SLICES + 1;
  return places % 32 == 0 && share == 8 && is_shared_evenly(tile->tile_m, share, places) &&
                 is_shared_evenly(tile->tile_n, share, places)
             ? 0
             : TSL_REGISTER_TILE_SLICES + 1;
}

/* Returns 0 if the sizes fit, else the leading parameters that are enough to know that they do not. */
static int register_tile_misfit(const tsl_register_tile *tile) {
  const bool local = tile->local;
  if (tile->lanes < 2 || tile->lanes > 16 || (local && tile->vector > 16))
    return TSL_REGISTER_TILE_VECTOR + 1;
  if (tile->tile_m < MIN_TILE && tile->form != TSL_REGISTER_TILE_LOCAL_ASYNC)
    return TSL_REGISTER_TILE_TILE_M + 1;
  const int adjacent = local ? tile->numbers / tile->planes : 1; /* numbers of an element in a vector */
  if (tile->tile_m % tile->micro_m != 0 || (local && tile->micro_m * adjacent % tile->lanes != 0))
    return TSL_REGISTER_TILE_MICRO_M + 1;
  if (tile->tile_n % tile->micro_n != 0 || tile->micro_n * adjacent % tile->lanes != 0)
    return TSL_REGISTER_TILE_MICRO_N + 1;
  if (!local)
    return tile->tile_k != params[TSL_REGISTER_TILE_TILE_K].values[0] ? TSL_REGISTER_TILE_TILE_K + 1
           : tile->stages != 1                                        ? TSL_REGISTER_TILE_STAGES + 1
           : tile->slices != 1                                        ? TSL_REGISTER_TILE_SLICES + 1
           : tile->split != 1                                         ? TSL_REGISTER_TILE_SPLIT + 1
                                                                      : 0;
  if (tile->slices > 1
          ? tile->tile_k < MIN_SLICE_DEPTH * tile->slices || tile->tile_k > MAX_SLICE_DEPTH * tile->slices ||
                tile->items < MIN_SLICED_ITEMS || tile->items > sliced_items_limit(tile)
          : tile->tile_k > MAX_DEPTH)
    return TSL_REGISTER_TILE_SLICES + 1;
  if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
    return async_misfit(tile);
  if (tile->stages > 2)
    return TSL_REGISTER_TILE_STAGES + 1;
  const int round = tile->items * tile->lanes;
  const int numbers = tile->tile_k * tile->numbers;
  return tile->tile_m * numbers % round != 0 || tile->tile_n * numbers % round != 0
             ? TSL_REGISTER_TILE_SLICES + 1
             : 0;
}

static const char *register_tile_refuse_misfit(const tsl_register_tile *tile, int place) {
  switch (place - 1) {
  case TSL_REGISTER_TILE_VECTOR:
    if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
      return tsl_refusal("vector=%d holds %d numbers of %d bytes: form=local_async takes four of 4",
                         tile->vector, tile->lanes, tile->size / tile->numbers);
    return tsl_refusal("vector=%d holds %d numbers of %d bytes: form=%s takes 2 to %d", tile->vector,
                       tile->lanes, tile->size, form_names[tile->form - 1],
                       tile->local ? 16 / tile->size : 16);
  case TSL_REGISTER_TILE_TILE_M:
    return tsl_refusal("tile_m=%d is for form=local_async", tile->tile_m);
  case TSL_REGISTER_TILE_MICRO_M:
    return tsl_refusal("micro_m=%d does not fit tile_m=%d in vectors of %d numbers", tile->micro_m,
                       tile->tile_m, tile->lanes);
  case TSL_REGISTER_TILE_MICRO_N:
    return tsl_refusal("micro_n=%d does not fit tile_n=%d in vectors of %d numbers", tile->micro_n,
                       tile->tile_n, tile->lanes);
  default:
    if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
      return tsl_refusal(
          "form=local_async takes 2 stages or more, slices of whole warps with 8 depths of a panel each, and "
          "panels that are whole vectors for each item: tile_m=%d, tile_n=%d, tile_k=%d, slices=%d "
          "with %d items are not",
          tile->tile_m, tile->tile_n, tile->tile_k, tile->slices, tile->items);
    return tile->form == TSL_REGISTER_TILE_LOCAL
               ? tsl_refusal(
                     "panels of %d and %d by %d numbers are not whole vectors of %d for each of %d items, or "
                     "slices=%d does not fit: a slice takes %d to %d depths, and its group has %d to "
                     "%d items",
                     tile->tile_m, tile->tile_n, tile->tile_k, tile->lanes, tile->items, tile->slices,
                     MIN_SLICE_DEPTH, MAX_SLICE_DEPTH, MIN_SLICED_ITEMS, sliced_items_limit(tile))
               : tsl_refusal(
                     "form=%s takes tile_k=8, stages=1, slices=1 and split=1 only: it has no panels in "
                     "local memory",
                     form_names[tile->form - 1]);
  }
}

/* Returns true if an item needs too many registers. Never on CPUs, which spill to their caches. */
static bool register_tile_too_many_registers(const tsl_register_tile *tile, const tsl_device *device) {
  const int each = tsl_register_tile_registers(tile);
  const bool counted = !device->is_cpu || tile->local;
  return counted && (each > MAX_REGISTERS || each * tile->items > TSL_UNIT_REGISTERS);
}

static bool can_copy(const tsl_device *device) {
  return device->capabilities & TSL_CAN_ASYNC_COPY;
}
/* Returns the limit of local memory; totals and asynchronous copies may use memory that is requested at
 * launch. */
static uint64_t local_memory_limit(const tsl_register_tile *tile, const tsl_device *device) {
  return tsl_register_tile_requests_memory(tile) ? tsl_device_local_bytes_max(device) : device->local_bytes;
}
static bool is_too_large(const tsl_register_tile *tile, const tsl_device *device) {
  return (uint64_t)tsl_register_tile_local_bytes(tile) > local_memory_limit(tile, device);
}

static bool register_tile_is_too_short(const tsl_problem *problem, const tsl_register_tile *tile) {
  return tile->split > 1 && problem->k < (int64_t)tile->split * tile->tile_k * tile->products;
}

static const char *refuse_grids(const tsl_register_tile *tile, const tsl_problem *problem,
                                const tsl_device *device) {
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const tsl_register_tile_grids grids =
      tsl_register_tile_grids_of(tile, swapped.m, swapped.n, swapped.k, tsl_problem_batch(problem), device);
  const tsl_grid *const all[] = {&grids.multiply, &grids.copy, &grids.sum};
  const char *why = NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all && !why; i++)
    why = tsl_launch_fits(device, all[i]);
  return why;
}

static const char *register_tile_refuse(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  const int place = register_tile_misfit(&tile);
  if (place)
    return register_tile_refuse_misfit(&tile, place);
  if (register_tile_is_too_short(problem, &tile))
    return tsl_refusal("k=%lld is too short for split=%d parts of at least tile_k=%d%s",
                       (long long)problem->k, tile.split, tile.tile_k,
                       tile.products > 1 ? " units of four" : "");
  const int64_t bytes = tsl_register_tile_local_bytes(&tile);
  if (bytes > 0 && !(device->capabilities & TSL_CAN_LOCAL))
    return tsl_refusal("form=%s keeps panels in local memory, which %s lacks", form_names[tile.form - 1],
                       device->name);
  if (tile.form == TSL_REGISTER_TILE_LOCAL_ASYNC && !can_copy(device))
    return tsl_refusal("form=local_async takes asynchronous copies to local memory, which %s lacks",
                       device->name);
  if (is_too_large(&tile, device))
    return tsl_refusal("two operands' panels take %lld bytes of local memory, %s has %llu", (long long)bytes,
                       device->name, (unsigned long long)local_memory_limit(&tile, device));
  if (tile.items > tsl_device_line_items_max(device))
    return tsl_refusal("tile_m=%d tile_n=%d by micro_m=%d micro_n=%d needs %d work-items, %s allows %d",
                       tile.tile_m, tile.tile_n, tile.micro_m, tile.micro_n, tile.items, device->name,
                       tsl_device_line_items_max(device));
  if (register_tile_too_many_registers(&tile, device))
    return tsl_refusal(
        "micro_m=%d micro_n=%d needs about %d registers for each of %d items, %s has %d and %d in all",
        tile.micro_m, tile.micro_n, tsl_register_tile_registers(&tile), tile.items, device->name,
        MAX_REGISTERS, TSL_UNIT_REGISTERS);
  const int64_t batch = tsl_problem_batch(problem);
  if (batch > 1 && (tile.copied || !tile.local))
    return tsl_refusal("form=%s copies operands first, of one product at a time", form_names[tile.form - 1]);
  return refuse_grids(&tile, problem, device);
}

static int register_tile_prune(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  tsl_register_tile tile = tsl_register_tile_of(problem, config);
  tile.folds = tile.local_totals = false; /* depends on `split`, which comes after all other parameters */
  if (tile.form == TSL_REGISTER_TILE_LOCAL_ASYNC && !can_copy(device))
    return TSL_REGISTER_TILE_FORM + 1;
  const int place = register_tile_misfit(&tile);
  if (place)
    return place;
  if (tile.items > tsl_device_line_items_max(device) || register_tile_too_many_registers(&tile, device) ||
      is_too_large(&tile, device))
    return TSL_REGISTER_TILE_SLICES + 1;
  return register_tile_is_too_short(problem, &tile) ? TSL_REGISTER_TILE_SLICES + 1 : 0;
}

/* Returns the order of sums, unless items share k or groups split it otherwise than in its parts. */
static const char *register_tile_row_order(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device) {
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  (void)device;
  const int parts = tile.part_slices ? tile.split * tile.slices : tile.split;
  return tile.folds || ((tile.slices == 1 || tile.part_slices) && parts == tile.parts.count) ? TSL_ROW_PARTS
                                                                                             : NULL;
}

const tsl_strategy tsl_gemm_register_tile = {
    .name = "register_tile",
    .idea = "micro-tiles of C in registers, panels of A and B in local memory, all in vectors",
    .lifts = "loads for each multiply-add, waits for global memory",
    .partner = "tile_local",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = tsl_accuracy_in_order,
    .row_order = register_tile_row_order,
    .skips = TSL_CAN_CUDA,
    .params = params,
    .refuse = register_tile_refuse,
    .build_seconds = 2.2,
    .score = tsl_register_tile_seconds,
    .build = tsl_register_tile_build,
    .run = tsl_register_tile_run,
    .release = tsl_launch_release,
    .supports = {.types = types, .conjugates = true, .batches = true},
    .tuning = {.names = {[TSL_REGISTER_TILE_FORM] = form_names}, .prune = register_tile_prune},
    .resources = {.scratch = tsl_register_tile_scratch, .count_costs = tsl_register_tile_account},
    .testing = {.probes = probes},
};
