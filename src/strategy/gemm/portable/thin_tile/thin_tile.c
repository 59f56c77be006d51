/* Parameters and refusals of thin_tile.cl. Measurements: docs/lab/thin_tile.md. */
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

static const tsl_param params[] = {
    [TSL_THIN_TILE_VECTOR] = {"vector", "bytes of a vector; above 16, a group is one item", 16, {16, 32, 64}},
    [TSL_THIN_TILE_MICRO_M] = {"micro_m", "sums of an item along the thin side", 8, {1, 2, 4, 8, 16}},
    [TSL_THIN_TILE_MICRO_N] = {"micro_n", "sums of an item along the long side", 4, {4, 8, 16, 32, 64}},
    [TSL_THIN_TILE_ITEMS_M] = {"items_m", "items of a group along the thin side", 2, {1, 2, 4, 8, 16}},
    [TSL_THIN_TILE_ITEMS_N] = {"items_n", "items along the long side", 8, {1, 2, 4, 8, 16, 32, 64}},
    [TSL_THIN_TILE_SLICES] = {"slices", "items that share a sum", 8, {1, 2, 4, 8, 16, 32}},
    [TSL_THIN_TILE_STEPS] = {"steps", "vectors along k of each slice between barriers", 2, {1, 2, 4}},
    [TSL_THIN_TILE_FLIGHT] = {"flight", "steps that are prefetched", 2, {1, 2, 4}},
    [TSL_THIN_TILE_SPLIT] = {"split", "parts of k, added in order", 1, {1, 2, 4, 8, 16, 32, 64, 128, 256}},
    {NULL, NULL, 0, {0}},
};

/* Probes with and without shared sums, rows and columns of items, k splits, steps in flight, groups. */
static const char *const probes[] = {
    "vector=16 micro_m=4 micro_n=4 items_m=2 items_n=4 slices=8 steps=2 flight=2 split=1",
    "vector=16 micro_m=1 micro_n=8 items_m=4 items_n=16 slices=1 steps=1 flight=1 split=2",
    "vector=32 micro_m=2 micro_n=8 items_m=1 items_n=1 slices=1 steps=1 flight=1 split=2",
    NULL,
};

/* Maximum of an item's estimated registers (lockstep devices have 255), and limits of a group's items. */
enum { MAX_REGISTERS = 230, MIN_ITEMS = 64, MAX_ITEMS = 256 };

/* Returns the sums of an item; on CPUs with B not along k, the vectors of sums. */
static int thin_tile_sums_of(const tsl_thin_tile *tile) {
  return tile->micro_m * tile->micro_n / (tile->processor && !tile->b_along_k ? tile->lanes : 1);
}
static int max_sums(const tsl_thin_tile *tile) {
  return tile->processor ? 32 : 128 * 4 / tile->size;
}

/* Returns 0 if the sizes fit, else the leading parameters that are enough to know that they do not. */
static int thin_tile_misfit(const tsl_thin_tile *tile) {
  if (tile->lanes < 2 || tile->lanes > 16)
    return TSL_THIN_TILE_VECTOR + 1;
  if (thin_tile_sums_of(tile) > max_sums(tile) || (!tile->b_along_k && tile->micro_n % tile->lanes != 0))
    return TSL_THIN_TILE_MICRO_N + 1;
  if (tile->processor)
    return tile->items_m != 1   ? TSL_THIN_TILE_ITEMS_M + 1
           : tile->items_n != 1 ? TSL_THIN_TILE_ITEMS_N + 1
           : tile->slices != 1  ? TSL_THIN_TILE_SLICES + 1
           : tile->flight != 1  ? TSL_THIN_TILE_FLIGHT + 1
                                : 0;
  if (tile->items < MIN_ITEMS || tile->items > MAX_ITEMS)
    return TSL_THIN_TILE_SLICES + 1;
  return tile->steps % tile->flight != 0 ? TSL_THIN_TILE_FLIGHT + 1 : 0;
}

static const char *thin_tile_refuse_misfit(const tsl_thin_tile *tile, int place) {
  switch (place - 1) {
  case TSL_THIN_TILE_VECTOR:
    return tsl_refusal("vector=%d holds %d numbers of %d bytes: takes 2 to 16", tile->vector, tile->lanes,
                       tile->size);
  case TSL_THIN_TILE_MICRO_N:
    return tsl_refusal(
        "micro_m=%d micro_n=%d: columns come in vectors of %d numbers, and an item has at most %d sums%s",
        tile->micro_m, tile->micro_n, tile->b_along_k ? 1 : tile->lanes, max_sums(tile),
        tile->processor ? " (vectors)" : "");
  default:
    if (tile->processor)
      return tsl_refusal("vector=%d is for groups of one item: items_m=1 items_n=1 slices=1 flight=1",
                         tile->vector);
    return place - 1 == TSL_THIN_TILE_FLIGHT
               ? tsl_refusal("flight=%d does not divide steps=%d", tile->flight, tile->steps)
               : tsl_refusal("items_m=%d items_n=%d slices=%d are %d work-items: takes %d to %d",
                             tile->items_m, tile->items_n, tile->slices, tile->items, MIN_ITEMS, MAX_ITEMS);
  }
}

static bool thin_tile_too_many_registers(const tsl_thin_tile *tile) {
  const int each = tsl_thin_tile_registers(tile);
  return !tile->processor && (each > MAX_REGISTERS || each * tile->items > TSL_UNIT_REGISTERS);
}

static bool thin_tile_is_too_short(const tsl_problem *problem, const tsl_thin_tile *tile) {
  return tile->split > 1 && problem->k < (int64_t)tile->split * tile->chunk;
}

static const char *thin_tile_refuse(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  const int place = thin_tile_misfit(&tile);
  if (place)
    return thin_tile_refuse_misfit(&tile, place);
  if (thin_tile_is_too_short(problem, &tile))
    return tsl_refusal("k=%lld is too short for split=%d parts of at least %d products",
                       (long long)problem->k, tile.split, tile.chunk);
  if (tile.items > tsl_device_line_items_max(device))
    return tsl_refusal("items_m=%d items_n=%d slices=%d are %d work-items, %s allows %d", tile.items_m,
                       tile.items_n, tile.slices, tile.items, device->name,
                       tsl_device_line_items_max(device));
  const int64_t bytes = tsl_thin_tile_local_bytes(&tile);
  if ((uint64_t)bytes > device->local_bytes)
    return tsl_refusal("%d rows of %d numbers, twice, take %lld bytes of local memory, %s has %llu",
                       tile.tile_m, tile.chunk, (long long)bytes, device->name,
                       (unsigned long long)device->local_bytes);
  if (thin_tile_too_many_registers(&tile))
    return tsl_refusal("micro_m=%d micro_n=%d flight=%d needs about %d registers for each of %d items: takes "
                       "%d, and %d in all",
                       tile.micro_m, tile.micro_n, tile.flight, tsl_thin_tile_registers(&tile), tile.items,
                       MAX_REGISTERS, TSL_UNIT_REGISTERS);
  const tsl_thin_tile_grids grids =
      tsl_thin_tile_grids_of(&tile, tile.problem.m, tile.problem.n, tsl_problem_batch(problem), device);
  const char *why = tsl_launch_fits(device, &grids.multiply);
  return why ? why : tsl_launch_fits(device, &grids.sum);
}

static int thin_tile_prune(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  const int place = thin_tile_misfit(&tile);
  if (place)
    return place;
  if (tile.items > tsl_device_line_items_max(device))
    return TSL_THIN_TILE_SLICES + 1;
  if ((uint64_t)tsl_thin_tile_local_bytes(&tile) > device->local_bytes)
    return TSL_THIN_TILE_STEPS + 1;
  return thin_tile_too_many_registers(&tile) || thin_tile_is_too_short(problem, &tile)
             ? TSL_THIN_TILE_FLIGHT + 1
             : 0;
}

static uint64_t thin_tile_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  (void)device;
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  const tsl_split_k_product product = tsl_thin_tile_product(&tile);
  return tsl_split_k_scratch(&product, tile.problem.m, tsl_problem_batch(problem));
}

/* Returns the order of sums: that of register_tile, if groups split k in its parts and neither items nor a
 * processor's vectors share k. */
static const char *thin_tile_row_order(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  (void)device;
  return tile.slices == 1 && tile.split == tile.parts.count && !(tile.processor && tile.b_along_k)
             ? TSL_ROW_PARTS
             : NULL;
}

const tsl_strategy tsl_gemm_thin_tile = {
    .name = "thin_tile",
    .idea = "the large operand of a thin product streams through registers once; items share long sums",
    .lifts = "groups too few and tiles too wide for thin products",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = tsl_accuracy_in_order,
    .row_order = thin_tile_row_order,
    .params = params,
    .refuse = thin_tile_refuse,
    .score = tsl_thin_tile_seconds,
    .build = tsl_thin_tile_build,
    .run = tsl_thin_tile_run,
    .release = tsl_launch_release,
    .supports = {.batches = true},
    .tuning = {.prune = thin_tile_prune},
    .resources = {.scratch = thin_tile_scratch, .count_costs = tsl_thin_tile_account},
    .testing = {.probes = probes},
};
