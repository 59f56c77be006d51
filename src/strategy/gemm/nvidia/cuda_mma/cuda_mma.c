/* Descriptor of cuda_mma: parameters, refusals, accuracy. Measurements: docs/lab/cuda_mma.md. */
#include "strategy/gemm/nvidia/cuda_mma/cuda_mma.h"

static const tsl_param params[] = {
    [TSL_CUDA_MMA_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_MMA_TILE_N] = {"tile_n", "columns of a block's tile", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_MMA_DEPTH] = {"depth", "bytes of a line in a panel", 64, {64, 128}},
    [TSL_CUDA_MMA_FROM] = {"from",
                           "place: panels are copied from A and B; packed: from aligned copies of A and B",
                           TSL_CUDA_MMA_PLACE,
                           {TSL_CUDA_MMA_PLACE, TSL_CUDA_MMA_PACKED}},
    {NULL, NULL, 0, {0}},
};

static const char *const from_names[] = {"place", "packed"};

/* The first probe is compiled for all types; it compiles in a third of the default's time. */
static const char *const probes[] = {
    "tile_m=64 tile_n=64 depth=64",
    "tile_m=128 tile_n=128 depth=64",
    "tile_m=128 tile_n=256 depth=128",
    "tile_m=16 tile_n=128 depth=128",
    "tile_m=256 tile_n=128 depth=64",
    "tile_m=128 tile_n=16 depth=64",
    "tile_m=32 tile_n=64 depth=128",
    "tile_m=64 tile_n=128 depth=64 from=packed",
    NULL,
};

static const char *mma_refuse(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  if (problem->a.type == TESELA_F32 && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "f32 is truncated to tf32's ten binary places here: request accuracy=tf32 to allow it";
  if (tile.is_eight && device->architecture < TSL_CUDA_MMA_EIGHTS)
    return tsl_refusal("%s is sm_%d; 8-bit floating point needs sm_%d or newer", device->name,
                       device->architecture, TSL_CUDA_MMA_EIGHTS);
  if (tile.warp_m == 0)
    return tsl_refusal("no arrangement of warps makes tiles of %d x %d", tile.tile_m, tile.tile_n);
  if (tile.stages == 0)
    return tsl_refusal(
        "two stages of %d rows and %d columns of %d bytes do not fit into the %llu bytes of %s, which %d "
        "blocks share",
        tile.tile_m, tile.tile_n, tile.depth_bytes, (unsigned long long)device->local_bytes_inside,
        device->name, tile.groups);
  if (tile.packs && tsl_problem_batch(problem) > 1)
    return "from=packed takes a single product, not a batch";
  if (tile.packs && tile.a_width == 16 && tile.b_width == 16)
    return "from=packed: A and B are already aligned";
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2 || problem->k > INT32_MAX / 2)
    return tsl_refusal("its kernel counts rows and columns in 31 bits");
  static const double most_blocks = 0x7f000000;
  const tsl_cuda_mma_schedule schedule = tsl_cuda_mma_get_schedule(&tile, device);
  if ((double)schedule.tiles_m * (double)schedule.tiles_n * (double)schedule.parts > most_blocks)
    return tsl_refusal("%lld x %lld tiles of C are more than blocks can count", (long long)schedule.tiles_m,
                       (long long)schedule.tiles_n);
  return NULL;
}

static uint64_t mma_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  return (uint64_t)(tile.a_bytes + tile.b_bytes + tsl_cuda_mma_get_schedule(&tile, device).sums_bytes);
}

#define EIGHTS(a, b)                                                                                         \
  {TESELA_##a, TESELA_##b, TESELA_F32}, {TESELA_##a, TESELA_##b, TESELA_BF16}, {                             \
    TESELA_##a, TESELA_##b, TESELA_F16                                                                       \
  }
static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_F32, TESELA_F32, TESELA_F32}, /* truncated to tf32 */
    EIGHTS(E4M3, E4M3),
    EIGHTS(E4M3, E5M2),
    EIGHTS(E5M2, E4M3),
    EIGHTS(E5M2, E5M2),
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Returns the accuracy. For f32 the tensor cores truncate factors: a product loses less than 2^-9. Their sums
 * align fewer products at a time, which adds truncations. Subnormal factors may become 0. */
static tsl_accuracy mma_accuracy(const tsl_problem *problem, const tsl_config *config) {
  static const double cut = 0x1p-9 / 0x1p-24;
  const double k = (double)problem->k;
  if (problem->a.type != TESELA_F32)
    return tsl_accuracy_of_tensor_cores(problem, config);
  return (tsl_accuracy){.factor = cut + 2.5 * k + 24 + 0x1p-22 * k,
                        .is_reproducible = true,
                        .flush_threshold = 0x1p-126,
                        .truncates_inputs = true};
}

const tsl_strategy tsl_gemm_cuda_mma = {
    .name = "cuda_mma",
    .idea = "narrow types by tensor cores in CUDA C++, for sm_80 and newer: "
            "asynchronous copies between products, from any layout",
    .lifts = "packing of operands, copies in bursts",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .build_seconds = 0.7,
    .accuracy = mma_accuracy,
    .params = params,
    .refuse = mma_refuse,
    .score = tsl_cuda_mma_seconds,
    .build = tsl_cuda_mma_build,
    .run = tsl_cuda_mma_run,
    .release = tsl_cuda_mma_release,
    .supports = {.types = types,
                 .why = "these instructions multiply narrow types, and f32 as tf32",
                 .batches = true},
    .tuning = {.names = {[TSL_CUDA_MMA_FROM] = from_names}},
    .resources = {.scratch = mma_scratch, .count_costs = tsl_cuda_mma_account},
    .testing = {.probes = probes},
};
