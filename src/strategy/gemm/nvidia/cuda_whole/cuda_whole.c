/* Descriptor of cuda_whole: parameters and refusals. Measurements: docs/lab/cuda_whole.md. */
#include "strategy/gemm/nvidia/cuda_whole/cuda_whole.h"

static const tsl_param params[] = {
    [TSL_CUDA_WHOLE_TILE_M] = {"tile_m", "rows of a warp's tile of C", 32, {16, 32, 48, 64}},
    [TSL_CUDA_WHOLE_TILE_N] = {"tile_n", "columns of a warp's tile", 32, {16, 32, 48, 64}},
    [TSL_CUDA_WHOLE_ROOM] = {"room", "KiB of shared memory of a block", 113, {24, 44, 56, 75, 113, 226}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {
    "tile_m=32 tile_n=32 room=75",
    "tile_m=64 tile_n=64 room=113",
    "tile_m=16 tile_n=48 room=24",
    "tile_m=48 tile_n=16 room=44",
    NULL,
};

static const tsl_types types[] = {
    {TESELA_BF16, TESELA_BF16, TESELA_F32},
    {TESELA_F16, TESELA_F16, TESELA_F32},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16},
    {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

static const char *cuda_whole_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  static const int64_t most_line = 4096;
  if (problem->m > most_line || problem->n > most_line || problem->k > most_line)
    return tsl_refusal("products of %lld x %lld x %lld do not fit whole into shared memory",
                       (long long)problem->m, (long long)problem->n, (long long)problem->k);
  const tsl_cuda_whole tile = tsl_cuda_whole_of(problem, config);
  if (tile.warps > tile.most_warps)
    return tsl_refusal("tiles of %d x %d take %lld warps; a block has registers for %d", tile.tile_m,
                       tile.tile_n, (long long)tile.warps, tile.most_warps);
  if (tile.shared_bytes > (int64_t)device->local_bytes_inside)
    return tsl_refusal("room=%lld: %s has %llu bytes", (long long)config->value[TSL_CUDA_WHOLE_ROOM],
                       device->name, (unsigned long long)device->local_bytes_inside);
  if (tile.together == 0)
    return tsl_refusal("room=%lld is too small: a product takes %lld bytes",
                       (long long)config->value[TSL_CUDA_WHOLE_ROOM], (long long)tile.bytes);
  static const int64_t most_blocks = 0x7f000000;
  if (tile.blocks > most_blocks)
    return tsl_refusal("%lld products are more than blocks can count", (long long)tsl_problem_batch(problem));
  return NULL;
}

const tsl_strategy tsl_gemm_cuda_whole = {
    .name = "cuda_whole",
    .idea = "batches of small products in narrow types by tensor cores, each one whole in shared memory",
    .lifts = "partial panels, elements stored one by one",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_CUDA | TSL_CAN_MMA,
    .accuracy = tsl_accuracy_of_tensor_cores,
    .params = params,
    .refuse = cuda_whole_refuse,
    .score = tsl_cuda_whole_seconds,
    .build = tsl_cuda_whole_build,
    .run = tsl_cuda_whole_run,
    .release = tsl_cuda_whole_release,
    .supports = {.types = types, .why = "its instructions multiply narrow types", .batches = true},
    .resources = {.count_costs = tsl_cuda_whole_account},
    .testing = {.probes = probes},
};
