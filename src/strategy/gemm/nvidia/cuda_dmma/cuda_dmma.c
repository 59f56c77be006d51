/* Descriptor of cuda_dmma, on the base in sm80: parameters and refusals. Measurements: docs/lab/cuda_dmma.md.
 */
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

static const tsl_param params[] = {
    [TSL_SM80_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 48, 64, 96, 128}},
    [TSL_SM80_TILE_N] = {"tile_n", "columns of a block's tile", 64, {16, 32, 48, 64, 96, 128}},
    [TSL_CUDA_DMMA_SLICES] = {"slices",
                              "slices of a panel's k, each multiplied by its own warps",
                              1,
                              {1, 2, 4, 8}},
    [TSL_CUDA_DMMA_CLUSTER] = {"cluster", "blocks that split k and add their sums", 1, {1, 2, 4, 8}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=128 tile_n=64",
    "tile_m=32 tile_n=64",
    "tile_m=128 tile_n=128",
    "tile_m=64 tile_n=64",
    "tile_m=16 tile_n=128",
    "tile_m=128 tile_n=32",
    "tile_m=64 tile_n=64 slices=2",
    "tile_m=16 tile_n=32 slices=8",
    "tile_m=32 tile_n=32 slices=8 cluster=4",
    "tile_m=64 tile_n=64 cluster=2",
    "tile_m=32 tile_n=32 slices=4",
    "tile_m=48 tile_n=96",
    "tile_m=96 tile_n=48",
    "tile_m=16 tile_n=64",
    "tile_m=64 tile_n=16",
    "tile_m=16 tile_n=16 slices=4",
    "tile_m=64 tile_n=64 slices=4 cluster=2",
    "tile_m=32 tile_n=64 slices=8",
    "tile_m=64 tile_n=32 slices=8 cluster=4",
    "tile_m=128 tile_n=32 slices=2",
    "tile_m=64 tile_n=128",
    "tile_m=32 tile_n=32 slices=2",
    "tile_m=64 tile_n=32 slices=2 cluster=2",
    "tile_m=32 tile_n=64 slices=2",
    NULL,
};

static const char *dmma_refuse(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_sm80_tile_of(problem, config, device);
  if (tile.cluster > 1 && !(device->capabilities & TSL_CAN_WGMMA))
    return "clusters need sm_90";
  if (tile.cluster > 1 && problem->k < tile.cluster * (int64_t)tile.depth)
    return tsl_refusal("k is shorter than %d panels of %d", tile.cluster, tile.depth);
  return tsl_sm80_refuse(&tile, device);
}

/* Returns the order of sums, unless warps share k or blocks split it otherwise than in its parts. In f64 an
 * instruction rounds after each product, as fused multiply-adds do (measured on an H200). In c64 C's layout
 * changes the order. */
static const char *dmma_row_order(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  (void)device;
  const int64_t cluster = config->value[TSL_CUDA_DMMA_CLUSTER];
  if (config->value[TSL_CUDA_DMMA_SLICES] != 1 ||
      (cluster != 1 && cluster != tsl_row_parts_of(problem).count) || problem->c.type == TESELA_C64)
    return NULL;
  return problem->c.type == TESELA_F64 ? TSL_ROW_PARTS : "dmma of c128 in parts of k";
}

static const tsl_types types[] = {
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

const tsl_strategy tsl_gemm_cuda_dmma = {
    .name = "cuda_dmma",
    .idea = "f64 and c128 by tensor cores, c64 by FMA: asynchronous copies bring panels several stages "
            "ahead, in the layout of memory",
    .lifts = "FMA's rate in f64, half of the tensor cores' rate",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 2,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_F64,
    .accuracy = tsl_accuracy_in_order,
    .row_order = dmma_row_order,
    .params = params,
    .refuse = dmma_refuse,
    .build_seconds = 0.8,
    .score = tsl_sm80_seconds,
    .build = tsl_sm80_build,
    .run = tsl_sm80_run,
    .release = tsl_sm80_release,
    .skips = TSL_CAN_CUDA,
    .supports = {.types = types,
                 .why = "it multiplies f64 and complex numbers",
                 .conjugates = true,
                 .batches = true},
    .resources = {.scratch = tsl_sm80_scratch, .count_costs = tsl_sm80_account},
    .testing = {.probes = probes},
};
