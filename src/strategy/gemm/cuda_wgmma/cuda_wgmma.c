/* The variants of cuda_wgmma.cu: parameters, what is legal, and why not. */
#include "strategy/gemm/cuda_wgmma/cuda_wgmma.h"

static const tsl_param params[] = {
    [TSL_CUDA_WGMMA_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {64, 128, 256}},
    [TSL_CUDA_WGMMA_TILE_N] = {"tile_n", "columns of a block's tile", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_WGMMA_CLUSTER] = {"cluster",
                                "blocks that share columns of B, or parts of k where they flow",
                                1,
                                {1, 2, 4, 8}},
    [TSL_CUDA_WGMMA_BAND] = {"band", "rows of tiles that blocks take together", 8, {4, 8, 16}},
    [TSL_CUDA_WGMMA_ORDER] = {"order",
                              "direct: A B; swapped: the transposed product, B' A'",
                              TSL_CUDA_WGMMA_DIRECT,
                              {TSL_CUDA_WGMMA_DIRECT, TSL_CUDA_WGMMA_SWAPPED}},
    [TSL_CUDA_WGMMA_FORM] = {"form",
                             "stay: blocks take tile after tile; flow: a small block for each part of k",
                             TSL_CUDA_WGMMA_STAY,
                             {TSL_CUDA_WGMMA_STAY, TSL_CUDA_WGMMA_FLOW}},
    {NULL, NULL, 0, {0}},
};

static const char *const order_names[] = {"direct", "swapped"}, *const form_names[] = {"stay", "flow"};

static const char *const probes[] = {
    "tile_m=128 tile_n=256 cluster=2 band=8 order=direct",
    "tile_m=64 tile_n=64 cluster=1 band=4 order=swapped",
    "tile_m=128 tile_n=16 cluster=1 band=8 order=swapped",
    "tile_m=256 tile_n=128 cluster=1 band=16 order=direct",
    "tile_m=64 tile_n=128 cluster=2 band=8 order=direct",
    "tile_m=128 tile_n=16 cluster=4 band=8 order=swapped form=flow",
    "tile_m=64 tile_n=64 cluster=8 band=8 order=direct form=flow",
    NULL,
};

static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_F32, TESELA_F32, TESELA_F32}, /* cut to tf32 */
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Of f32, the units read the first ten binary places and cut off the rest: two factors lose less than 2^-9 of their product. Its
 * sums align fewer products at once than those of narrower types, so that each costs more cuts. Of a number with less than ten places,
 * below the smallest normal one, nothing may be left. */
static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  static const double cut = 0x1p-9 / 0x1p-24;
  const double k = (double)problem->k;
  if (problem->a.type != TESELA_F32)
    return tsl_accuracy_of_tensor_cores(problem, config);
  return (tsl_accuracy){
      .factor = cut + 2.5 * k + 24 + 0x1p-22 * k, .repeats = true, .flushes = 0x1p-126, .cuts = true};
}

/* Sums that a thread of a warpgroup has registers for. */
enum { SUMS_MOST = 128, BAND = 8 };

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_of(problem, config, device);
  const int sums = tile.tile_m / tile.warpgroups * tile.tile_n / 128,
            columns = TSL_CUDA_WGMMA_PANEL / tile.element;
  if (problem->a.type == TESELA_F32 && !tsl_ask_has_accuracy(&problem->ask))
    return "f32 is cut to tf32's ten binary places here, which only an ask allows (accuracy=tf32)";
  if (sums > SUMS_MOST)
    return tsl_refusal("tiles of %d x %d are %d sums a thread, where %d have room", tile.tile_m, tile.tile_n,
                       sums, SUMS_MOST);
  if (!tile.flows && tile.cluster > 2)
    return tsl_refusal("cluster=%d: more than two blocks share only k, by form=flow", tile.cluster);
  if (tile.flows && tile.band != BAND)
    return tsl_refusal("band=%d: blocks that flow take tiles as they come, which band=%d stands for",
                       tile.band, BAND);
  if (tile.stages == 0)
    return tsl_refusal("two stages of %d and %d rows of %d bytes do not fit into the %llu bytes of %s%s",
                       tile.tile_m, tile.tile_n, TSL_CUDA_WGMMA_PANEL,
                       (unsigned long long)device->local_bytes_inside, device->name,
                       tile.flows ? ", which blocks share" : "");
  if (tile.b_across && tsl_cuda_wgmma_columns(&tile) < columns)
    return tsl_refusal("tile_n=%d%s: of a B whose columns lie side by side, each block loads %d or more",
                       tile.tile_n, tile.cluster > 1 && !tile.flows ? " cluster=2" : "", columns);
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
    .accuracy = accuracy,
    .params = params,
    .refuse = refuse,
    .score = tsl_cuda_wgmma_seconds,
    .build = tsl_cuda_wgmma_build,
    .run = tsl_cuda_wgmma_run,
    .release = tsl_cuda_wgmma_release,
    .takes = {.types = types, .why = "wgmma multiplies narrow types, and f32 as tf32"},
    .values = {.names = {[TSL_CUDA_WGMMA_ORDER] = order_names, [TSL_CUDA_WGMMA_FORM] = form_names}},
    .uses = {.scratch = scratch, .account = tsl_cuda_wgmma_account},
    .testing = {.probes = probes},
};
