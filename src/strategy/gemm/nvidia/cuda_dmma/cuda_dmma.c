/* Descriptor of cuda_dmma: parameters and refusals. Measurements: docs/lab/cuda_dmma.md. */
#include "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.h"

static const tsl_param params[] = {
    [TSL_CUDA_DMMA_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 64, 128}},
    [TSL_CUDA_DMMA_TILE_N] = {"tile_n", "columns of a block's tile", 64, {16, 32, 64, 128}},
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

static const char *dmma_refuse(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(problem, config, device);
  if (tile.warp_m == 0)
    return tsl_refusal("no arrangement of warps makes tiles of %d x %d %snumbers in %d slices", tile.tile_m,
                       tile.tile_n, tile.numbers == 2 ? "complex " : "", tile.slices);
  if (tile.cluster > 1 && !(device->capabilities & TSL_CAN_WGMMA))
    return "clusters need sm_90";
  if (tile.cluster > 1 && problem->k < tile.cluster * (int64_t)tile.depth)
    return tsl_refusal("k is shorter than %d panels of %d", tile.cluster, tile.depth);
  if (tile.stages == 0)
    return tsl_refusal("two stages of %d rows and %d columns do not fit into the %llu bytes of %s",
                       tile.tile_m, tile.tile_n, (unsigned long long)device->local_bytes_inside,
                       device->name);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2 || problem->k > INT32_MAX / 2)
    return tsl_refusal("its kernel counts rows and columns in 31 bits");
  static const double most_blocks = 0x7f000000;
  const tsl_cuda_dmma_schedule schedule = tsl_cuda_dmma_get_schedule(&tile, device);
  if ((double)schedule.tiles_m * (double)schedule.tiles_n * (double)schedule.parts > most_blocks)
    return tsl_refusal("%lld x %lld tiles of C are more than blocks can count", (long long)schedule.tiles_m,
                       (long long)schedule.tiles_n);
  return NULL;
}

static uint64_t dmma_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(problem, config, device);
  return (uint64_t)tsl_cuda_dmma_get_schedule(&tile, device).sums_bytes;
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
    .score = tsl_cuda_dmma_seconds,
    .build = tsl_cuda_dmma_build,
    .run = tsl_cuda_dmma_run,
    .release = tsl_cuda_dmma_release,
    .skips = TSL_CAN_CUDA,
    .supports = {.types = types,
                 .why = "these instructions multiply f64",
                 .conjugates = true,
                 .batches = true},
    .resources = {.scratch = dmma_scratch, .count_costs = tsl_cuda_dmma_account},
    .testing = {.probes = probes},
};
