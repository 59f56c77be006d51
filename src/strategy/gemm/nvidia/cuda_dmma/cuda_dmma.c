/* Descriptor and element trait of cuda_dmma, on the base in sm80. Measurements: docs/lab/cuda_dmma.md. */
#include "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.h"

#include "host/int_math.h"

#include <math.h>
#include <stdio.h>

static const tsl_param params[] = {
    [TSL_SM80_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 64, 128}},
    [TSL_SM80_TILE_N] = {"tile_n", "columns of a block's tile", 64, {16, 32, 64, 128}},
    [TSL_CUDA_DMMA_SLICES] = {"slices",
                              "slices of a panel's k, each multiplied by its own warps",
                              1,
                              {1, 2, 4, 8}},
    [TSL_CUDA_DMMA_CLUSTER] = {"cluster", "blocks that split k and add their sums", 1, {1, 2, 4, 8}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=128 tile_n=64",          "tile_m=32 tile_n=64",          "tile_m=128 tile_n=128",
    "tile_m=64 tile_n=64",           "tile_m=16 tile_n=128",         "tile_m=128 tile_n=32",
    "tile_m=64 tile_n=64 slices=2",  "tile_m=16 tile_n=32 slices=8", "tile_m=32 tile_n=32 slices=8 cluster=4",
    "tile_m=64 tile_n=64 cluster=2", "tile_m=32 tile_n=32 slices=4", NULL,
};

static const tsl_sm80_shape shapes[] = {
    {1, 128, 64, 2, 64, 32, 1, 0.863, 0.557},
    {1, 64, 128, 2, 32, 64, 1, 0.926, 0.601},
    {1, 128, 128, 1, 64, 32, 1, 0.936, 0.607},
    {1, 128, 64, 1, 64, 32, 2, 0.910, 0.807},
    {1, 64, 128, 1, 32, 64, 2, 0.904, 0.675},
    {1, 64, 64, 1, 32, 32, 3, 0.925, 0.600},
    {1, 128, 32, 1, 32, 32, 3, 0.801, 0.503},
    {1, 32, 128, 1, 32, 32, 3, 0.936, 0.562},
    {1, 64, 32, 1, 32, 16, 4, 0.752, 0.570},
    {1, 32, 64, 1, 32, 16, 4, 0.790, 0.510},
    {1, 128, 16, 1, 32, 16, 4, 0.792, 0.409},
    {1, 16, 128, 1, 16, 32, 4, 0.723, 0.520},
    {1, 64, 64, 2, 32, 32, 1, 0.801, 0.511},
    {1, 64, 32, 4, 32, 32, 1, 0.762, 0.451},
    {1, 32, 64, 4, 32, 32, 1, 0.719, 0.476},
    {1, 32, 32, 8, 32, 32, 1, 0.603, 0.356},
    {1, 16, 64, 4, 16, 32, 1, 0.572, 0.268},
    {1, 64, 16, 4, 32, 16, 1, 0.428, 0.268},
    {1, 16, 32, 8, 16, 32, 1, 0.494, 0.214},
    {1, 32, 16, 8, 32, 16, 1, 0.475, 0.278},
    {2, 128, 64, 1, 32, 32, 1, 0.903, 0.803},
    {2, 64, 64, 1, 32, 32, 2, 0.900, 0.800},
    {2, 64, 32, 1, 32, 16, 3, 0.801, 0.701},
    {2, 32, 64, 1, 16, 32, 3, 0.813, 0.713},
    {2, 64, 64, 2, 32, 32, 1, 0.846, 0.746},
    {2, 32, 32, 4, 32, 32, 1, 0.926, 0.826},
    {2, 16, 32, 4, 16, 32, 1, 0.822, 0.722},
    {2, 32, 16, 4, 32, 16, 1, 0.800, 0.700},
    {0, 0, 0, 0, 0, 0, 0, 0, 0},
};

static const tsl_sm80_trait trait = {.path = "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.cu",
                                     .kernel = "tsl_gemm_cuda_dmma",
                                     .shapes = shapes,
                                     .stages_max = 6,
                                     .part_panels = 2,
                                     .copy_min = 16,
                                     .store_elements = 2,
                                     .reduce_shares = 8,
                                     .first_clocks = 3480,
                                     .sum_clocks = 125,
                                     .panel_clocks = 1620,
                                     .few_warps = 0.683,
                                     .hidden = 0.548,
                                     .bandwidth_share = 0.777,
                                     .cache_bytes = 32.1,
                                     .reduce_seconds = 2.9e-6,
                                     .launch_share = 0.293,
                                     .overlap = 4,
                                     .odd_sums = 3.13,
                                     .odd_part_sums = 1,
                                     .odd_moves = 1.37};

enum {
  SLICE = 16 /* elements of k in a slice of a panel */,
  PADDING = 32,
  REDUCE_PADDING = 64,
  STAY_DEPTH = 128
};

/* Returns the padded bytes of a panel in shared memory. */
static int64_t bytes_of_panel(const tsl_sm80_tile *tile, bool mn_major, int lines) {
  const int row = mn_major ? lines : tile->depth, rows = mn_major ? tile->depth : lines;
  return (int64_t)rows * (tile->element * row + (tile->numbers == 2 && !mn_major ? 2 * PADDING : PADDING));
}

/* Returns true if a tile can begin earlier to be whole; pairs need an even number of lines. */
static bool dmma_is_whole(int64_t lines, int tile, bool mn_major) {
  return lines >= tile && (lines % 2 == 0 || !mn_major);
}

/* Returns true if blocks are persistent: loads overlap stores where tiles are many and k is short. */
static bool dmma_is_persistent(const tsl_sm80_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const int64_t tiles = tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n);
  return tile->numbers == 1 && tile->slices == 1 && tile->cluster == 1 && tsl_problem_batch(problem) == 1 &&
         problem->k > 0 && problem->k <= STAY_DEPTH && problem->k % tile->depth == 0 &&
         tiles > (int64_t)device->compute_units * tile->groups &&
         dmma_is_whole(problem->m, tile->tile_m, tile->a_mn_major) &&
         dmma_is_whole(problem->n, tile->tile_n, tile->b_mn_major);
}

/* Returns the f64 multiply-adds per clock of a multiprocessor's tensor cores: twice FMA where f64 has half
 * the rate of f32, else the rate of FMA. */
static double dmma_unit_rate(const tsl_device *device) {
  const double fma = device->peak_f64 / (2e6 * fmax(1, device->clock_mhz) * fmax(1, device->compute_units));
  return fmax(1e-3, device->peak_f64 * 3 > device->peak_f32 ? 2 * fma : fma);
}

/* Returns the slowdown of products where copies are checked one by one: by copies per product of a warp. */
static double dmma_slowdown(const tsl_sm80_tile *tile) {
  static const double part_cost = 0.83;
  const double copies = (double)tile->numbers * (tile->tile_m + tile->tile_n) * tile->depth / tile->items,
               products = (double)tile->numbers * tile->numbers * tile->warp_m * tile->warp_n / 64;
  return tile->problem.m < tile->tile_m || tile->problem.n < tile->tile_n ? 1 + part_cost * copies / products
                                                                          : 1;
}

/* Returns the clocks in which the sums of slices and of a cluster's blocks are added. A cluster costs fixed
 * clocks; sums cost clocks by their bytes. */
static double dmma_meeting_clocks(const tsl_sm80_tile *tile) {
  static const double cluster_clocks = 1840, clock_bytes = 175;
  const double bytes = 2.0 * tile->sum * tile->tile_m * tile->tile_n;
  return (tile->slices * tile->cluster > 1 ? tile->slices * bytes / clock_bytes : 0) +
         (tile->cluster > 1 ? cluster_clocks + bytes / clock_bytes : 0);
}

tsl_sm80_tile tsl_cuda_dmma_tile(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  static const double cluster_loss =
      3.56; /* idle multiprocessors for each block of a cluster but the first */
  tsl_sm80_tile tile = tsl_sm80_tile_of(&trait, problem, config, (int)config->value[TSL_CUDA_DMMA_SLICES]);
  tile.cluster = (int)config->value[TSL_CUDA_DMMA_CLUSTER];
  tile.depth = tile.slices * SLICE;
  if (tile.warp_m == 0)
    return tile;
  const int64_t stage = bytes_of_panel(&tile, tile.a_mn_major, tile.tile_m) +
                        bytes_of_panel(&tile, tile.b_mn_major, tile.tile_n),
                sums = (int64_t)tile.slices * tile.tile_m * (tile.sum * tile.tile_n + REDUCE_PADDING);
  tsl_sm80_set_stages(&tile, stage, tile.slices * tile.cluster > 1 ? sums : 0, device);
  tile.is_persistent = dmma_is_persistent(&tile, device);
  tile.unit_rate = dmma_unit_rate(device);
  tile.slowdown = dmma_slowdown(&tile);
  tile.meeting_clocks = dmma_meeting_clocks(&tile);
  tile.idle_units = cluster_loss * (tile.cluster - 1);
  tile.is_odd = tile.numbers == 1 && tile.problem.c.row_stride % 2 != 0;
  return tile;
}

static const char *dmma_refuse(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(problem, config, device);
  if (tile.cluster > 1 && !(device->capabilities & TSL_CAN_WGMMA))
    return "clusters need sm_90";
  if (tile.cluster > 1 && problem->k < tile.cluster * (int64_t)tile.depth)
    return tsl_refusal("k is shorter than %d panels of %d", tile.cluster, tile.depth);
  return tsl_sm80_refuse(&tile, device);
}

static double dmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(problem, config, device);
  return tsl_sm80_seconds(&tile, device);
}

static uint64_t dmma_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(problem, config, device);
  return tsl_sm80_scratch(&tile, device);
}

static void dmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                         tsl_cost_counts *account) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(problem, config, device);
  tsl_sm80_account(&tile, device, account);
}

static tesela_status dmma_build(tsl_work *work) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(&work->problem, &work->config, work->device);
  char defines[100];
  snprintf(defines, sizeof defines, "#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n#define STAYS %d\n",
           tile.problem.conjugate_a ? -1 : 1, tile.problem.conjugate_b ? -1 : 1, tile.is_persistent);
  return tsl_sm80_build(work, &tile, defines);
}

static tesela_status dmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_sm80_tile tile = tsl_cuda_dmma_tile(&work->problem, &work->config, work->device);
  return tsl_sm80_run(work, &tile, operands, stream);
}

static const tsl_types types[] = {
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

const tsl_strategy tsl_gemm_cuda_dmma = {
    .name = "cuda_dmma",
    .idea = "f64 and c128 by tensor cores in CUDA C++: asynchronous copies bring panels several stages "
            "ahead, in the layout of memory",
    .lifts = "FMA's rate in f64, half of the tensor cores' rate",
    .op = TSL_OP_GEMM,
    .version = 2,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_F64,
    .accuracy = tsl_accuracy_in_order,
    .params = params,
    .refuse = dmma_refuse,
    .build_seconds = 0.8,
    .score = dmma_seconds,
    .build = dmma_build,
    .run = dmma_run,
    .release = tsl_sm80_release,
    .skips = TSL_CAN_CUDA,
    .supports = {.types = types,
                 .why = "these instructions multiply f64",
                 .conjugates = true,
                 .batches = true},
    .resources = {.scratch = dmma_scratch, .count_costs = dmma_account},
    .testing = {.probes = probes},
};
