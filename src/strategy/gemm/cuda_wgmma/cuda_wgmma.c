/* The variants of cuda_wgmma.cu: parameters, what is legal, and why not. */
#include "strategy/gemm/cuda_wgmma/cuda_wgmma.h"

static const tsl_param params[] = {
    [TSL_CUDA_WGMMA_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {64, 128, 256}},
    [TSL_CUDA_WGMMA_TILE_N] = {"tile_n", "columns of a block's tile", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_WGMMA_CLUSTER] = {"cluster", "blocks below each other that share columns of B", 1, {1, 2}},
    [TSL_CUDA_WGMMA_BAND] = {"band", "rows of tiles that blocks take together", 8, {4, 8, 16}},
    [TSL_CUDA_WGMMA_ORDER] = {"order",
                              "direct: A B; swapped: the transposed product, B' A'",
                              TSL_CUDA_WGMMA_DIRECT,
                              {TSL_CUDA_WGMMA_DIRECT, TSL_CUDA_WGMMA_SWAPPED}},
    {NULL, NULL, 0, {0}},
};

static const char *const order_names[] = {"direct", "swapped"};

static const char *const probes[] = {
    "tile_m=128 tile_n=256 cluster=2 band=8 order=direct",
    "tile_m=64 tile_n=64 cluster=1 band=4 order=swapped",
    "tile_m=128 tile_n=16 cluster=1 band=8 order=swapped",
    "tile_m=256 tile_n=128 cluster=1 band=16 order=direct",
    "tile_m=64 tile_n=128 cluster=2 band=8 order=direct",
    NULL,
};

/* Sums that a thread of a warpgroup has registers for. */
enum { SUMS_MOST = 128 };

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(problem, config, device);
  const int sums = tile.tile_m / tile.warpgroups * tile.tile_n / 128,
            columns = TSL_CUDA_WGMMA_PANEL / tile.element;
  if (sums > SUMS_MOST)
    return tsl_refusal("tiles of %d x %d are %d sums a thread, where %d have room", tile.tile_m, tile.tile_n,
                       sums, SUMS_MOST);
  if (tile.stages == 0)
    return tsl_refusal("two stages of %d and %d rows of %d bytes do not fit into the %llu bytes of %s",
                       tile.tile_m, tile.tile_n, TSL_CUDA_WGMMA_PANEL,
                       (unsigned long long)device->local_bytes_inside, device->name);
  if (tile.b_across && tile.tile_n / tile.cluster < columns)
    return tsl_refusal("tile_n=%d%s: of a B whose columns lie side by side, each block loads %d or more",
                       tile.tile_n, tile.cluster > 1 ? " cluster=2" : "", columns);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2 || problem->k > INT32_MAX / 2)
    return tsl_refusal("copies by tensor maps count rows and columns in 31 bits");
  const tsl_cuda_wgmma_shares shares =
      tsl_cuda_wgmma_shares_of(&tile, tile.problem.m, tile.problem.n, problem->k, device);
  static const double most_tiles = 0x7f000000;
  if ((double)shares.tiles_m * (double)shares.tiles_n > most_tiles)
    return tsl_refusal("%lld x %lld tiles of C are more than blocks can count", (long long)shares.tiles_m,
                       (long long)shares.tiles_n);
  return NULL;
}

/* Packed copies of both operands, whether or not a run's strides need them, and the sums of parts of k. */
static uint64_t scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(problem, config, device);
  const tsl_cuda_wgmma_shares shares =
      tsl_cuda_wgmma_shares_of(&tile, tile.problem.m, tile.problem.n, problem->k, device);
  return (uint64_t)tile.a_bytes + (uint64_t)tile.b_bytes + (uint64_t)shares.sums_bytes;
}

const tsl_strategy tsl_gemm_cuda_wgmma = {
    .name = "cuda_wgmma",
    .idea = "narrow types by sm_90's tensor cores in CUDA C++: warpgroups multiply what one thread copies by "
            "tensor "
            "maps, clusters share it, and blocks stay",
    .lifts = "what OpenCL's dialect cannot say: maps from the host, clusters, early launches",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_WGMMA,
    .accuracy = tsl_accuracy_of_tensor_cores,
    .params = params,
    .refuse = refuse,
    .score = tsl_cuda_wgmma_seconds,
    .build = tsl_cuda_wgmma_build,
    .run = tsl_cuda_wgmma_run,
    .release = tsl_cuda_wgmma_release,
    .takes = {.types = tsl_types_narrow, .why = "wgmma multiplies narrow types"},
    .values = {.names = {[TSL_CUDA_WGMMA_ORDER] = order_names}},
    .uses = {.scratch = scratch, .account = tsl_cuda_wgmma_account},
    .testing = {.probes = probes},
};
