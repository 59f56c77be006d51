/* Host side of subgroup_mma.cl. The model is from data sheets, not measured (docs/lab/subgroup_mma.md). */
#include "host/int_math.h"
#include "strategy/gemm/portable/opencl_matrix_units/opencl_matrix_units.h"

#include <math.h>
#include <stdio.h>

static const tsl_param params[] = {
    [TSL_MATRIX_UNITS_TILE_M] = {"tile_m", "rows of a group's tile of C", 64, {32, 64, 128}},
    [TSL_MATRIX_UNITS_TILE_N] = {"tile_n", "columns of a group's tile", 64, {32, 64, 128, 256}},
    [TSL_MATRIX_UNITS_PART_M] = {"sub_m", "rows of a sub-group's tile", 32, {8, 16, 32, 64}},
    [TSL_MATRIX_UNITS_PART_N] = {"sub_n", "columns of a sub-group's tile", 32, {16, 32, 64}},
    [TSL_MATRIX_UNITS_DEPTH] = {"depth", "bytes of a line in a panel", 64, {64, 128}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=64 tile_n=64 sub_m=32 sub_n=32 depth=64",   /* AMD */
    "tile_m=64 tile_n=64 sub_m=16 sub_n=32 depth=64",   /* dpas_16, WMMA */
    "tile_m=64 tile_n=64 sub_m=8 sub_n=32 depth=64",    /* Intel */
    "tile_m=128 tile_n=128 sub_m=64 sub_n=64 depth=64", /* MFMA */
    "tile_m=64 tile_n=128 sub_m=32 sub_n=32 depth=64",  /* WMMA */
    "tile_m=32 tile_n=32 sub_m=16 sub_n=16 depth=128",  NULL,
};

/* Limits of a group's items: some devices have no larger groups, and smaller ones leave schedulers idle. */
enum { MIN_ITEMS = 32, MAX_ITEMS = 256 };

/* Returns the tile, without items where a sub-group's part is not a multiple of the instruction's sums. */
static tsl_matrix_tile subgroup_mma_tile(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_fragments *fragments) {
  tsl_matrix_tile tile = tsl_matrix_tile_of(problem, config);
  tile.local_bytes = 2 * (int64_t)(tile.tile_m + tile.tile_n) * (tile.depth + 16);
  if (tile.tile_m % tile.part_m == 0 && tile.tile_n % tile.part_n == 0 &&
      tile.part_m % fragments->rows == 0 && tile.part_n % fragments->cols == 0)
    tile.items = fragments->items * (tile.tile_m / tile.part_m) * (tile.tile_n / tile.part_n);
  return tile;
}

/* Returns the estimated registers of an item. A chunk in flight is four words, its address two. */
static int count_registers(const tsl_matrix_tile *tile, const tsl_fragments *fragments) {
  const int chunks = (tile->tile_m + tile->tile_n) * tile->depth / 16 / tile->items;
  return tile->part_m * tile->part_n / fragments->items +
         tile->part_m / fragments->rows * fragments->words_a + fragments->words_b + 6 * chunks;
}

static const char *subgroup_mma_refuse_types(const tsl_problem *problem, const tsl_fragments *fragments,
                                             const char *device) {
  if (!fragments->unsigned_bytes && (problem->a.type == TESELA_U8 || problem->b.type == TESELA_U8))
    return tsl_refusal("%s of %s multiplies signed bytes only", fragments->name, device);
  if (!fragments->subnormal_f16 && problem->a.type == TESELA_F16)
    return tsl_refusal("%s of %s treats subnormal f16 as zero", fragments->name, device);
  return NULL;
}

static const char *subgroup_mma_refuse(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device) {
  const tsl_fragments *fragments = device->fragments;
  if (!fragments)
    return "the device's matrix instructions are unknown";
  const char *no = subgroup_mma_refuse_types(problem, fragments, device->name);
  if (no)
    return no;
  const tsl_matrix_tile tile = subgroup_mma_tile(problem, config, fragments);
  if (tile.items == 0)
    return tsl_refusal("tiles of %d x %d in %d x %d are not multiples of the %d x %d sums of %s", tile.tile_m,
                       tile.tile_n, tile.part_m, tile.part_n, fragments->rows, fragments->cols,
                       fragments->name);
  const int most = (int)tsl_min(tsl_device_line_items_max(device), MAX_ITEMS);
  if (tile.items < MIN_ITEMS || tile.items > most)
    return tsl_refusal("tiles of %d x %d in %d x %d are %d work-items: takes %d to %d", tile.tile_m,
                       tile.tile_n, tile.part_m, tile.part_n, tile.items, MIN_ITEMS, most);
  if (tile.tile_m * tile.depth / 16 % tile.items != 0 || tile.tile_n * tile.depth / 16 % tile.items != 0)
    return tsl_refusal("%d work-items do not divide the %d and %d chunks of 16 bytes of a panel", tile.items,
                       tile.tile_m * tile.depth / 16, tile.tile_n * tile.depth / 16);
  /* IGC 1.0.12504 crashes for K-major operands (docs/lab/subgroup_mma.md) and ends the user's process. */
  if (fragments->rows == 8 && tile.tile_m < tile.tile_n && tile.tile_m * tile.depth / 16 == tile.items)
    return tsl_refusal(
        "Intel's compiler may crash where each of %d work-items brings one chunk of A and %d of B",
        tile.items, tile.tile_n / tile.tile_m);
  if ((uint64_t)tile.local_bytes > device->local_bytes)
    return tsl_refusal(
        "panels of %d and %d lines of %d bytes, two of each, take %lld bytes of local memory, %s has %llu",
        tile.tile_m, tile.tile_n, tile.depth, (long long)tile.local_bytes, device->name,
        (unsigned long long)device->local_bytes);
  const int registers = count_registers(&tile, fragments);
  if (registers > fragments->registers)
    return tsl_refusal("a sub-group's tile of %d x %d takes about %d registers of an item, %s has %d to give",
                       tile.part_m, tile.part_n, registers, fragments->name, fragments->registers);
  return NULL;
}

/* Returns the accuracy, as for opencl_mma: products are exact; each sum of a few products is truncated below
 * f32's last place at most once. AMD's rounding differs from NVIDIA's and between models (Li, Li, Fang,
 * Swirydowicz, Laguna, Gopalakrishnan 2024), and Intel's is unknown. The self-test refuses larger errors. */
static tsl_accuracy subgroup_mma_accuracy(const tsl_problem *problem, const tsl_config *config) {
  tsl_accuracy made = tsl_accuracy_of_tensor_cores(problem, config);
  made.flush_threshold = problem->a.type == TESELA_BF16 ? 0x1p-126 : 0; /* gfx90a flushes subnormals */
  return made;
}

/* Bytes per clock of local memory and of the last cache, relative to the unit's 16-bit operations per clock;
 * best reached fraction of the rate. */
static const double local_share = 128.0 / 1024, cache_share = 32.0 / 1024, best_share = 0.6;
enum { PANEL_CLOCKS = 150, TILE_CLOCKS = 2500 };

static double subgroup_mma_seconds(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  const tsl_fragments *fragments = device->fragments;
  const tsl_matrix_tile tile = subgroup_mma_tile(problem, config, fragments);
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double tiles = (double)tile.tiles_m * (double)tile.tiles_n;
  const double panels = ceil((double)problem->k * tile.size / tile.depth);
  const double rate = tile.size == 1 ? fragments->rate_8 : fragments->rate_16;
  const double multiply = 2.0 * tile.tile_m * tile.tile_n * tile.depth / tile.size / (rate * best_share);
  const double lines = tile.tile_m + tile.tile_n, bytes = lines * tile.depth;
  /* Each sub-group reads its lines of both operands; each panel is written once. */
  const double read =
      (double)tile.items / fragments->items * (tile.part_m + tile.part_n) * tile.depth + bytes;
  const double local = read / (local_share * fragments->rate_16);
  const double copy = bytes / (cache_share * fragments->rate_16);
  const double longest = fmax(multiply, fmax(local, copy)), all = multiply + local + copy;
  const double shown = tile.items < 128 ? 0.4 : 0.25; /* fraction that is not hidden */
  const double panel = longest + shown * (all - longest) + PANEL_CLOCKS;
  const double clocks = ceil(tiles / units) * (panels * panel + TILE_CLOCKS);
  return fmax(clocks / clock, tsl_problem_bytes(problem) / device->bandwidth) + device->launch_seconds;
}

static void subgroup_mma_account(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device, tsl_cost_counts *account) {
  const tsl_fragments *fragments = device->fragments;
  const tsl_matrix_tile tile = subgroup_mma_tile(problem, config, fragments);
  const double sub_groups = (double)tile.items / fragments->items;
  const double rate = tile.size == 1 ? fragments->rate_8 : fragments->rate_16;
  tsl_matrix_tile_account(problem, &tile, (double)tile.tiles_m * (double)tile.tiles_n,
                          sub_groups * (tile.part_m + tile.part_n) * tile.depth,
                          rate * 1e6 * device->clock_mhz * device->compute_units, device, account);
}

static tesela_status subgroup_mma_build(tsl_work *work) {
  const tsl_fragments *fragments = work->device->fragments;
  const tsl_matrix_tile tile = subgroup_mma_tile(&work->problem, &work->config, fragments);
  const tsl_problem *problem = &tile.problem;
  const int64_t tiles = tile.tiles_m * tile.tiles_n > 0 ? tile.tiles_m * tile.tiles_n : 1;
  const tsl_grid grid = {{tsl_launch_limited(work->device, 0, tiles), 1, 1}, {tile.items, 1, 1}};
  char defines[256];
  snprintf(defines, sizeof defines,
           "#define %s\n#define TSL_TYPE_AB %d\n#define TSL_TYPE_C %d\n#define TSL_SIGNED_A %d\n"
           "#define TSL_SIGNED_B %d\n#define A_MN_MAJOR %d\n#define B_MN_MAJOR %d\n",
           fragments->define, tsl_launch_type_code(problem->a.type), tsl_launch_type_code(problem->c.type),
           problem->a.type != TESELA_U8, problem->b.type != TESELA_U8, tile.a_mn_major, tile.b_mn_major);
  return tsl_launch_build_with(work, "strategy/gemm/portable/subgroup_mma/subgroup_mma.cl",
                               "tsl_gemm_subgroup_mma", &grid, tsl_type(problem->c.type)->sums, defines);
}

static tesela_status subgroup_mma_run(const tsl_work *work, const tsl_operands *operands,
                                      tsl_stream *stream) {
  const tsl_shape *c = &work->problem.c;
  return tsl_launch_gemm_swapped(work, operands, c->row_stride == 1 && c->col_stride != 1, stream);
}

static const char *subgroup_mma_row_order(const tsl_problem *problem, const tsl_config *config,
                                          const tsl_device *device) {
  (void)problem, (void)config, (void)device;
  return "matrix instructions";
}

const tsl_strategy tsl_gemm_subgroup_mma = {
    .name = "subgroup_mma",
    .idea = "narrow types by the matrix instructions of Intel's and AMD's graphics processors, through their "
            "OpenCL C",
    .lifts = "one product a lane and instruction, on graphics processors",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_OPENCL | TSL_CAN_FRAGMENTS,
    .accuracy = subgroup_mma_accuracy,
    .row_order = subgroup_mma_row_order,
    .params = params,
    .refuse = subgroup_mma_refuse,
    .score = subgroup_mma_seconds,
    .build = subgroup_mma_build,
    .run = subgroup_mma_run,
    .release = tsl_launch_release,
    .supports = {.types = tsl_types_narrow, .why = "matrix instructions multiply narrow types"},
    .resources = {.count_costs = subgroup_mma_account},
    .testing = {.probes = probes},
};
