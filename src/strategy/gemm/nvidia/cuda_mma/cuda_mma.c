/* Descriptor of cuda_mma, on the base in sm80: parameters, refusals, accuracy. Measurements:
 * docs/lab/cuda_mma.md. */
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

enum { EIGHTS_ARCHITECTURE = 89 }; /* first architecture that converts 8-bit floating point to f16 */

static const tsl_param params[] = {
    [TSL_SM80_TILE_M] = {"tile_m", "rows of a block's tile of C", 128, {16, 32, 64, 128, 256}},
    [TSL_SM80_TILE_N] = {"tile_n", "columns of a block's tile", 128, {16, 32, 64, 128, 256}},
    [TSL_CUDA_MMA_DEPTH] = {"depth",
                            "bytes of a line in a panel; 256 for up to two warps",
                            64,
                            {64, 128, 256}},
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
    "tile_m=32 tile_n=16 depth=64",
    "tile_m=16 tile_n=32 depth=256",
    NULL,
};

const char *tsl_cuda_mma_refuse_types(const tsl_problem *problem, const tsl_device *device) {
  if (problem->a.type == TESELA_F32 && !tsl_numeric_requirements_has_accuracy(&problem->ask))
    return "f32 is rounded to tf32's ten binary places here: request accuracy=tf32 to allow it";
  if (tsl_sm80_is_eight(problem) && device->architecture < EIGHTS_ARCHITECTURE)
    return tsl_refusal("%s is sm_%d; 8-bit floating point needs sm_%d or newer", device->name,
                       device->architecture, EIGHTS_ARCHITECTURE);
  return NULL;
}

static const char *mma_refuse(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_sm80_tile_of(problem, config, device);
  const char *refusal = tsl_cuda_mma_refuse_types(problem, device);
  if (refusal)
    return refusal;
  if (tile.packs && tsl_problem_batch(problem) > 1)
    return "from=packed takes a single product, not a batch";
  if (tile.packs && tile.a_width == 16 && tile.b_width == 16)
    return "from=packed: A and B are already aligned";
  if (config->value[TSL_CUDA_MMA_DEPTH] > 128 && tile.items > 64)
    return tsl_refusal("depth=%d is for tiles of up to two warps", (int)config->value[TSL_CUDA_MMA_DEPTH]);
  return tsl_sm80_refuse(&tile, device);
}

#define EIGHTS(a, b)                                                                                         \
  {TESELA_##a, TESELA_##b, TESELA_F32}, {TESELA_##a, TESELA_##b, TESELA_BF16}, {                             \
    TESELA_##a, TESELA_##b, TESELA_F16                                                                       \
  }
const tsl_types tsl_cuda_mma_types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_I8, TESELA_I8, TESELA_I32},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_U8, TESELA_I8, TESELA_I32},
    {TESELA_I8, TESELA_U8, TESELA_I32},
    {TESELA_U8, TESELA_U8, TESELA_I32},
    {TESELA_F32, TESELA_F32, TESELA_F32}, /* rounded to tf32 */
    EIGHTS(E4M3, E4M3),
    EIGHTS(E4M3, E5M2),
    EIGHTS(E5M2, E4M3),
    EIGHTS(E5M2, E5M2),
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

/* Returns the accuracy. For f32 a product of rounded factors loses less than 2^-9. Sums of these align fewer
 * products at a time, which adds truncations. Subnormal factors may become 0. */
tsl_accuracy tsl_cuda_mma_accuracy(const tsl_problem *problem, const tsl_config *config) {
  static const double cut = 0x1p-9 / 0x1p-24;
  const double k = (double)problem->k;
  if (problem->a.type != TESELA_F32)
    return tsl_accuracy_of_tensor_cores(problem, config);
  return (tsl_accuracy){.factor = cut + 2.5 * k + 24 + 0x1p-22 * k,
                        .is_reproducible = true,
                        .flush_threshold = 0x1p-126,
                        .truncates_inputs = true};
}

/* Returns the order of sums, which cuda_wgmma's instructions share (measured on an H200). But widened 8-bit
 * numbers are grouped in another order, and cuda_wgmma does not round f32. It computes these where the device
 * has it. */
const char *tsl_cuda_mma_row_order(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)config;
  const bool is_f32 = problem->a.type == TESELA_F32;
  if (!is_f32 && !tsl_sm80_is_eight(problem))
    return "mma";
  return device->capabilities & TSL_CAN_WGMMA ? NULL
         : is_f32                             ? "mma of rounded tf32"
                                              : "mma of widened numbers";
}

static const char *mma_row_order(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  return tsl_sm80_truncates(problem, device) ? "mma of tf32"
                                             : tsl_cuda_mma_row_order(problem, config, device);
}

const tsl_strategy tsl_gemm_cuda_mma = {
    .name = "cuda_mma",
    .idea = "narrow types by tensor cores in CUDA C++, for sm_80 and newer: "
            "asynchronous copies between products, from any layout",
    .lifts = "packing of operands, copies in bursts",
    .partner = "opencl_mma",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .build_seconds = 0.7,
    .accuracy = tsl_cuda_mma_accuracy,
    .row_order = mma_row_order,
    .params = params,
    .refuse = mma_refuse,
    .score = tsl_sm80_seconds,
    .build = tsl_sm80_build,
    .run = tsl_sm80_run,
    .release = tsl_sm80_release,
    .supports = {.types = tsl_cuda_mma_types,
                 .why = "these instructions multiply narrow types, and f32 as tf32",
                 .batches = true},
    .tuning = {.names = {[TSL_CUDA_MMA_FROM] = from_names}},
    .resources = {.scratch = tsl_sm80_scratch, .count_costs = tsl_sm80_account},
    .testing = {.probes = probes},
};
