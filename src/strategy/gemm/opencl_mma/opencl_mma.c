/* The family of opencl_mma.cl: parameters, what is legal, and why not. */
#include "strategy/gemm/opencl_mma/opencl_mma.h"

static const tsl_param params[] = {
    [TSL_OPENCL_MMA_TILE_M] = {"tile_m", "rows of a group's tile of C", 128, {64, 128, 256}},
    [TSL_OPENCL_MMA_TILE_N] = {"tile_n", "columns of a group's tile", 128, {64, 128, 256}},
    [TSL_OPENCL_MMA_WARP_M] = {"warp_m", "rows of a warp's tile", 64, {32, 64}},
    [TSL_OPENCL_MMA_WARP_N] = {"warp_n", "columns of a warp's tile", 64, {32, 64}},
    [TSL_OPENCL_MMA_DEPTH] = {"depth", "bytes of a line in a panel", 64, {64, 128}},
    [TSL_OPENCL_MMA_STAGES] = {"stages", "panels of each operand in local memory", 3, {2, 3, 4, 6, 8}},
    [TSL_OPENCL_MMA_BAND] = {"band", "rows of tiles that groups take together", 8, {4, 8, 16}},
    [TSL_OPENCL_MMA_GROUPS] = {"groups",
                               "groups a compute unit, which take tile after tile; 999: one for each tile",
                               2,
                               {1, 2, 4, 999}},
    [TSL_OPENCL_MMA_WARPS] = {"warps", "warps that multiply together; 4: as sm_90 does", 1, {1, 4}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=128 tile_n=128 warp_m=64 warp_n=64 depth=64 stages=3 band=8 groups=2",
    "tile_m=64 tile_n=128 warp_m=32 warp_n=64 depth=128 stages=2 band=4 groups=1",
    "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=4 band=8 groups=1",
    "tile_m=128 tile_n=256 warp_m=64 warp_n=64 depth=128 stages=4 band=8 groups=1 warps=4",
    NULL,
};

enum { WARP = 32, ONE_EACH = 999 /* `groups` */ };

static int64_t rounded_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

tsl_opencl_mma_rows tsl_opencl_mma_rows_of(int64_t lines, int64_t k, bool across, int size) {
  const int64_t elements = across ? lines : k;
  return (tsl_opencl_mma_rows){across ? k : lines, elements, rounded_up(elements * size, 16)};
}

tsl_opencl_mma tsl_opencl_mma_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  tsl_opencl_mma tile = {
      .turned = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .size = (int)tsl_type(problem->a.type)->size,
      .tile_m = (int)value[TSL_OPENCL_MMA_TILE_M],
      .tile_n = (int)value[TSL_OPENCL_MMA_TILE_N],
      .warp_m = (int)value[TSL_OPENCL_MMA_WARP_M],
      .warp_n = (int)value[TSL_OPENCL_MMA_WARP_N],
      .depth = (int)value[TSL_OPENCL_MMA_DEPTH],
      .stages = (int)value[TSL_OPENCL_MMA_STAGES],
      .band = (int)value[TSL_OPENCL_MMA_BAND],
      .groups = (int)value[TSL_OPENCL_MMA_GROUPS],
      .warps = (int)value[TSL_OPENCL_MMA_WARPS],
  };
  tile.problem = tile.turned ? tsl_problem_turned(problem) : *problem;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  const bool is_group = tile.warps == 4;
  /* Four warps together take numbers of 8 bits along k alone. */
  const bool along = is_group && tile.size == 1;
  tile.a_across = !along && !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_across = !along && !tsl_launch_along(b->row_stride, b->col_stride);
  tile.rows = 4 * tile.warp_m * tile.warp_n / tile.tile_n;
  tile.items = 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n) + (is_group ? WARP : 0);
  tile.local_bytes = (int64_t)tile.stages * (tile.tile_m + tile.tile_n) * tile.depth;
  if (is_group)
    tile.local_bytes += TSL_OPENCL_MMA_MAPS + 16 * (int64_t)tile.stages + 1023;
  const tsl_opencl_mma_rows rows_a =
                                tsl_opencl_mma_rows_of(tile.problem.m, problem->k, tile.a_across, tile.size),
                            rows_b =
                                tsl_opencl_mma_rows_of(tile.problem.n, problem->k, tile.b_across, tile.size);
  tile.a_bytes = rounded_up(rows_a.rows * rows_a.pitch, 128);
  tile.b_bytes = rounded_up(rows_b.rows * rows_b.pitch, 128);
  return tile;
}

/* Four warps together split k where each part still has so many panels, into at most so many parts. */
enum { PART_PANELS = 2, MOST_PARTS = 64 };

tsl_opencl_mma_shares tsl_opencl_mma_shares_of(const tsl_opencl_mma *tile, int64_t m, int64_t n, int64_t k,
                                               const tsl_device *device) {
  const int64_t depth = tile->depth / tile->size, panels = (k + depth - 1) / depth,
                most = (int64_t)tile->groups * (device->compute_units > 0 ? device->compute_units : 1);
  tsl_opencl_mma_shares shares = {.tiles_m = (m + tile->tile_m - 1) / tile->tile_m,
                                  .tiles_n = (n + tile->tile_n - 1) / tile->tile_n,
                                  .parts = 1};
  const int64_t tiles = shares.tiles_m * shares.tiles_n;
  if (tile->warps == 4 && tile->groups != ONE_EACH && tiles > 0) {
    const int64_t by_groups = most / tiles, by_panels = panels / PART_PANELS;
    const int64_t parts = by_groups < by_panels ? by_groups : by_panels;
    shares.parts = parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts;
  }
  shares.groups = tiles * shares.parts < most ? tiles * shares.parts : most;
  if (shares.parts > 1)
    shares.sums_bytes = shares.parts * tiles * tile->tile_m * tile->tile_n * 4;
  return shares;
}

tsl_grid tsl_opencl_mma_grid(const tsl_opencl_mma *tile, const tsl_opencl_mma_shares *shares) {
  return (tsl_grid){{(uint64_t)shares->groups, 1, 1}, {tile->items, 1, 1}};
}

uint64_t tsl_opencl_mma_local(const tsl_device *device) {
  return device->local_bytes_inside > device->local_bytes ? device->local_bytes_inside : device->local_bytes;
}

/* --- what is legal --- */

/* Warps of a group; sums, factors of two steps and the rest, in registers of each item. */
enum { LEAST_ITEMS = 128, MOST_ITEMS = 256 };

/* What four warps that multiply together cannot do. */
static const char *refuse_group(const tsl_problem *problem, const tsl_opencl_mma *tile,
                                const tsl_device *device) {
  if ((device->capabilities & TSL_CAN_MMA_GROUP) == 0)
    return tsl_refusal("%s has no matrix instructions of four warps (OpenCL on sm_90 has)", device->name);
  if (tile->depth != 128)
    return tsl_refusal("depth=%d: four warps together take lines of 128 bytes", tile->depth);
  if (tile->tile_n != 128 && tile->tile_n != 256)
    return tsl_refusal("tile_n=%d: four warps together multiply 128 or 256 columns", tile->tile_n);
  if (tile->rows % 64 != 0 || tile->rows == 0 || tile->tile_m % tile->rows != 0)
    return tsl_refusal("four warps of %d x %d have %d rows of %d columns, and tile_m=%d", tile->warp_m,
                       tile->warp_n, tile->rows, tile->tile_n, tile->tile_m);
  if (problem->m > INT32_MAX || problem->n > INT32_MAX || problem->k > INT32_MAX)
    return tsl_refusal("copies of panels count lines and numbers in 32 bits");
  return NULL;
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_opencl_mma tile = tsl_opencl_mma_of(problem, config);
  const bool is_group = tile.warps == 4;
  const char *why = is_group ? refuse_group(problem, &tile, device) : NULL;
  if (why != NULL)
    return why;
  if (tile.items < LEAST_ITEMS || tile.items > MOST_ITEMS + (is_group ? WARP : 0))
    return tsl_refusal("tiles of %d x %d by %d x %d are %d work-items: takes %d to %d", tile.tile_m,
                       tile.tile_n, tile.warp_m, tile.warp_n, tile.items, LEAST_ITEMS, MOST_ITEMS);
  const uint64_t local = tsl_opencl_mma_local(device);
  if ((uint64_t)tile.local_bytes > local)
    return tsl_refusal(
        "%d panels of %d and %d lines of %d bytes take %lld bytes of local memory, %s has %llu", tile.stages,
        tile.tile_m, tile.tile_n, tile.depth, (long long)tile.local_bytes, device->name,
        (unsigned long long)local);
  const int block = 128 / tile.size;
  if ((tile.a_across && tile.tile_m % block != 0) || (tile.b_across && tile.tile_n % block != 0))
    return tsl_refusal("tile_%c=%d is no multiple of the %d numbers that are copied side by side",
                       tile.a_across && tile.tile_m % block != 0 ? 'm' : 'n',
                       tile.a_across && tile.tile_m % block != 0 ? tile.tile_m : tile.tile_n, block);
  const double tiles = (double)rounded_up(tile.problem.m, tile.tile_m) / tile.tile_m *
                       ((double)rounded_up(tile.problem.n, tile.tile_n) / tile.tile_n);
  /* The kernel counts them in 32 bits, and past the last by at most a round of groups. */
  static const double most_tiles = 0x7f000000;
  if (tiles > most_tiles)
    return tsl_refusal("%.0f tiles of C are more than the %.0f that groups can count", tiles, most_tiles);
  const tsl_opencl_mma_shares shares =
      tsl_opencl_mma_shares_of(&tile, tile.problem.m, tile.problem.n, problem->k, device);
  const tsl_grid grid = tsl_opencl_mma_grid(&tile, &shares);
  return tsl_launch_fits(device, &grid);
}

/* Room for packed copies of both operands: whether a run needs them, its strides decide. Behind them, what groups write. */
static uint64_t scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_opencl_mma tile = tsl_opencl_mma_of(problem, config);
  const tsl_opencl_mma_shares shares =
      tsl_opencl_mma_shares_of(&tile, tile.problem.m, tile.problem.n, problem->k, device);
  const int64_t maps = tile.warps == 4 ? shares.groups * TSL_OPENCL_MMA_MAPS : 0;
  return (uint64_t)tile.a_bytes + (uint64_t)tile.b_bytes + (uint64_t)maps + (uint64_t)shares.sums_bytes;
}

/* Products are exact. An instruction aligns 8 of them (16 on newer devices) and the sum before to the largest, cuts each
 * off below f32's last digit and adds (Fasi, Higham, Mikaitis, Pranesh 2021): at most nine cuts of 2 u for 8 products. */
static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  const double k = (double)problem->k;
  return tsl_accuracy_in_type((tsl_accuracy){.factor = 2.25 * k + 24 + 0x1p-22 * k, .repeats = true},
                              problem->c.type);
}

const tsl_strategy tsl_gemm_opencl_mma = {
    .name = "opencl_mma",
    .idea = "narrow types by tensor cores: NVIDIA's matrix instructions, of a warp or of four, and "
            "asynchronous copies, as PTX in kernels",
    .lifts = "one product a lane and instruction, on graphics processors",
    .op = TSL_OP_GEMM,
    .version = 2,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_MMA,
    .accuracy = accuracy,
    .params = params,
    .refuse = refuse,
    .score = tsl_opencl_mma_seconds,
    .build = tsl_opencl_mma_build,
    .run = tsl_opencl_mma_run,
    .release = tsl_opencl_mma_release,
    .takes = {.types = tsl_types_narrow, .why = "tensor cores multiply narrow types"},
    .uses = {.scratch = scratch, .account = tsl_opencl_mma_account},
    .testing = {.probes = probes},
};
