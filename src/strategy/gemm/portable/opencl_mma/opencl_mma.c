/* Descriptor of opencl_mma's two kernels: parameters and refusals. Measurements: docs/lab/opencl_mma.md. */
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"

static const tsl_param params[] = {
    [TSL_MATRIX_UNITS_TILE_M] = {"tile_m", "rows of a group's tile of C", 128, {64, 128, 256}},
    [TSL_MATRIX_UNITS_TILE_N] = {"tile_n",
                                 "columns of a group's tile; 192 for four warps",
                                 128,
                                 {64, 128, 192, 256}},
    [TSL_MATRIX_UNITS_PART_M] = {"warp_m", "rows of a warp's tile", 64, {32, 64}},
    [TSL_MATRIX_UNITS_PART_N] = {"warp_n", "columns of a warp's tile; 48 of 192", 64, {32, 48, 64}},
    [TSL_MATRIX_UNITS_DEPTH] = {"depth", "bytes of a line in a panel", 64, {64, 128}},
    [TSL_OPENCL_MMA_STAGES] = {"stages", "panels of each operand in local memory", 3, {2, 3, 4, 6, 8}},
    [TSL_OPENCL_MMA_BAND] = {"band", "rows of tiles that groups take together", 8, {4, 8, 16}},
    [TSL_OPENCL_MMA_GROUPS] = {"groups",
                               "persistent groups per compute unit; 999: one group per tile",
                               2,
                               {1, 2, 4, 999}},
    [TSL_OPENCL_MMA_WARPS] = {"warps", "warps of one matrix instruction; 4: wgmma of sm_90", 1, {1, 4}},
    [TSL_OPENCL_MMA_FROM] =
        {"from",
         "place: panels are copied from A and B, by one warp; packed: from aligned copies "
         "of A and B",
         TSL_OPENCL_MMA_PACKED,
         {TSL_OPENCL_MMA_PLACE, TSL_OPENCL_MMA_PACKED}},
    {NULL, NULL, 0, {0}},
};

static const char *const from_names[] = {"place", "packed"};

static const char *const probes[] = {
    "tile_m=128 tile_n=128 warp_m=64 warp_n=64 depth=64 stages=3 band=8 groups=2",
    "tile_m=64 tile_n=128 warp_m=32 warp_n=64 depth=128 stages=2 band=4 groups=1",
    "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=4 band=8 groups=1",
    "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=4 band=8 groups=1 warps=4",
    "tile_m=64 tile_n=64 warp_m=32 warp_n=32 depth=64 stages=4 band=8 groups=2 from=place",
    "tile_m=128 tile_n=192 warp_m=64 warp_n=48 depth=128 stages=4 band=8 groups=1 warps=4",
    NULL,
};

/* Limits of a group's items. An item's registers hold sums, the operands of two steps, and the rest. */
enum { MIN_ITEMS = 128, MAX_ITEMS = 256 };

/* Returns true if only one of tile_n=192 and warp_n=48 is given. */
static bool has_odd_columns(const tsl_matrix_tile *tile) {
  return (tile->tile_n == 192) != (tile->part_n == 48);
}

/* Returns why a product is refused by the instructions of four warps (opencl_mma_group.cl), or NULL. */
static const char *refuse_group(const tsl_opencl_mma *mma, const tsl_device *device) {
  const tsl_matrix_tile *tile = &mma->tile;
  const tsl_problem *problem = &tile->problem;
  if (mma->in_place)
    return "from=place is for one warp: four warps together copy aligned panels";
  if ((device->capabilities & TSL_CAN_MMA_GROUP) == 0)
    return tsl_refusal("%s has no matrix instructions of four warps (OpenCL on sm_90 has)", device->name);
  if (tile->depth != 128)
    return tsl_refusal("depth=%d: four warps together take lines of 128 bytes", tile->depth);
  if (tile->tile_n == 64)
    return "tile_n=64: four warps together multiply 128, 192 or 256 columns";
  if (mma->rows % 64 != 0 || mma->rows == 0 || tile->tile_m % mma->rows != 0)
    return tsl_refusal("four warps of %d x %d have %d rows of %d columns, and tile_m=%d", tile->part_m,
                       tile->part_n, mma->rows, tile->tile_n, tile->tile_m);
  if (problem->m > INT32_MAX || problem->n > INT32_MAX || problem->k > INT32_MAX)
    return tsl_refusal("copies of panels count lines and numbers in 32 bits");
  return NULL;
}

/* Returns the items that multiply. */
static int count_multiplying(const tsl_opencl_mma *mma) {
  return mma->tile.items - (mma->warps == 4 ? TSL_OPENCL_MMA_WARP : 0);
}

/* Returns how many leading parameters exclude each other; 0: none. */
static int opencl_mma_prune(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(problem, config);
  const tsl_matrix_tile *tile = &mma.tile;
  const int items = count_multiplying(&mma);
  if (items < MIN_ITEMS || items > MAX_ITEMS || has_odd_columns(tile))
    return TSL_MATRIX_UNITS_PART_N + 1;
  return (uint64_t)mma.stages * (uint64_t)(tile->tile_m + tile->tile_n) * (uint64_t)tile->depth >
                 tsl_device_local_bytes_max(device)
             ? TSL_OPENCL_MMA_STAGES + 1
             : 0;
}

static const char *opencl_mma_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(problem, config);
  const tsl_matrix_tile tile = mma.tile;
  const bool is_group = mma.warps == 4;
  const char *why = is_group ? refuse_group(&mma, device) : NULL;
  if (why != NULL)
    return why;
  if (mma.in_place && mma.a_width == 16 && mma.b_width == 16)
    return "from=place: A and B are already aligned";
  if (count_multiplying(&mma) < MIN_ITEMS || count_multiplying(&mma) > MAX_ITEMS)
    return tsl_refusal("tiles of %d x %d by %d x %d are %d work-items: takes %d to %d", tile.tile_m,
                       tile.tile_n, tile.part_m, tile.part_n, tile.items, MIN_ITEMS, MAX_ITEMS);
  if (has_odd_columns(&tile) || (tile.tile_n == 192 && !is_group))
    return "tile_n=192 and warp_n=48 belong together, for four warps together";
  const uint64_t local = tsl_device_local_bytes_max(device);
  if ((uint64_t)tile.local_bytes > local)
    return tsl_refusal(
        "%d panels of %d and %d lines of %d bytes take %lld bytes of local memory, %s has %llu", mma.stages,
        tile.tile_m, tile.tile_n, tile.depth, (long long)tile.local_bytes, device->name,
        (unsigned long long)local);
  const int block = 128 / tile.size;
  if ((tile.a_mn_major && tile.tile_m % block != 0) || (tile.b_mn_major && tile.tile_n % block != 0))
    return tsl_refusal("tile_%c=%d is no multiple of the %d numbers that are copied side by side",
                       tile.a_mn_major && tile.tile_m % block != 0 ? 'm' : 'n',
                       tile.a_mn_major && tile.tile_m % block != 0 ? tile.tile_m : tile.tile_n, block);
  const double tiles = (double)tile.tiles_m * (double)tile.tiles_n;
  /* Tile numbers have 32 bits and exceed the last tile by at most a round of groups. */
  static const double most_tiles = 0x7f000000;
  if (tiles > most_tiles)
    return tsl_refusal("%.0f tiles of C are more than the %.0f that groups can count", tiles, most_tiles);
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, device);
  const tsl_grid grid = {{(uint64_t)schedule.groups, 1, 1}, {tile.items, 1, 1}};
  return tsl_launch_fits(device, &grid);
}

/* Returns the workspace bytes: packed copies of both operands, the groups' tensor maps, and partial sums. */
static uint64_t opencl_mma_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(problem, config);
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, device);
  return (uint64_t)(mma.a_bytes + mma.b_bytes + tsl_opencl_mma_maps(&mma, &schedule) + schedule.sums_bytes +
                    schedule.flags_bytes);
}

static const char *opencl_mma_row_order(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return "mma";
}

const tsl_strategy tsl_gemm_opencl_mma = {
    .name = "opencl_mma",
    .idea = "narrow types by NVIDIA's matrix instructions of one or four warps, as PTX in OpenCL C",
    .lifts = "one product a lane and instruction, on graphics processors",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 3,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_MMA,
    .build_seconds = 1.6,
    .accuracy = tsl_accuracy_of_tensor_cores,
    .row_order = opencl_mma_row_order,
    .params = params,
    .refuse = opencl_mma_refuse,
    .score = tsl_opencl_mma_seconds,
    .build = tsl_opencl_mma_build,
    .run = tsl_opencl_mma_run,
    .release = tsl_launch_release,
    .supports = {.types = tsl_types_narrow, .why = "tensor cores multiply narrow types"},
    .tuning = {.prune = opencl_mma_prune, .names = {[TSL_OPENCL_MMA_FROM] = from_names}},
    .resources = {.scratch = opencl_mma_scratch, .count_costs = tsl_opencl_mma_account},
    .testing = {.probes = probes},
};
