/* Transpose in vectors on both sides: on the cpu whole cache lines (vector_host.c). On other devices sixteen
 * bytes an item through local memory (transpose_vector.cl). Measurements: docs/lab/transpose_vector.md. */
#include "strategy/params.h"
#include "strategy/transpose/host/vector/vector_host.h"
#include "strategy/transpose/shared/transpose_common.h"

#include <math.h>

enum { EDGE, BLOCKS, BAND };
static const tsl_param params[] = {
    [EDGE] = {"edge", "vectors of 16 bytes along a tile's edge (not used on the cpu)", 8, {8, 16, 32}},
    [BLOCKS] = {"blocks",
                "blocks of an item, each a vector wide and high (not used on the cpu)",
                1,
                {1, 2, 4}},
    [BAND] = {"band", "height of the raster in rows of tiles (not used on the cpu)", 1, {1, 4, 16, 64}},
    {NULL, NULL, 0, {0}},
};
static const char *const probes[] = {"edge=8 blocks=1 band=1", "edge=16 blocks=2 band=4",
                                     "edge=32 blocks=4 band=16", "edge=16 blocks=1 band=64", NULL};
enum { VECTOR_BYTES = 16 };

static int transpose_vector_elements_per_vector(const tsl_problem *problem) {
  return VECTOR_BYTES / (int)tsl_type(problem->c.type)->size;
}

static tsl_transpose_tiling transpose_vector_tiling_of(const tsl_problem *problem, const tsl_config *config) {
  const int edge = (int)config->value[EDGE];
  return (tsl_transpose_tiling){.tile = edge * transpose_vector_elements_per_vector(problem),
                                .items = edge * edge / (int)config->value[BLOCKS],
                                .band = (int)config->value[BAND]};
}

static const char *transpose_vector_refuse(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device) {
  const char *why = tsl_transpose_refuse_scaling(problem);
  if (why || tsl_device_is_host(device))
    return why ? why : tsl_params_refuse_kernels(params, config, device);
  const char *missing = tsl_refuse_missing(TSL_CAN_KERNELS | TSL_CAN_LOCAL, device);
  if (missing)
    return missing;
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(problem, config);
  return tsl_transpose_refuse_tiles(problem, &tiling, device);
}

/* Returns true if rows (`transposed`: columns) consist of whole vectors, given an aligned start. */
static bool has_vectors(const tsl_shape *shape, bool transposed, int width) {
  const int64_t along = transposed ? shape->row_stride : shape->col_stride;
  const int64_t apart = transposed ? shape->col_stride : shape->row_stride;
  return along == 1 && apart % width == 0;
}

/* Returns the fraction of a GPU's bandwidth. Unaligned vectors fall back to single elements, where
 * `tile_local` is better. Preferred configs fill a unit and have 64 bytes an item in flight. */
static double transpose_vector_efficiency_of(const tsl_problem *problem, const tsl_config *config) {
  const int width = transpose_vector_elements_per_vector(problem);
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(problem, config);
  const tsl_shape *a = problem->in_place ? &problem->c : &problem->a;
  const bool vectors = (has_vectors(a, false, width) && has_vectors(&problem->c, false, width)) ||
                       (has_vectors(a, true, width) && has_vectors(&problem->c, true, width));
  const double flight = (double)config->value[BLOCKS] * width;
  const double far = 0.01 * fabs(log2(flight / 4)) + 0.01 * fabs(log2(tiling.items / 256.0)) +
                     0.005 * log2((double)config->value[BAND]);
  return (vectors ? 0.83 : 0.35) - far;
}

static double transpose_vector_score(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(problem, config);
  if (tsl_device_is_host(device))
    return tsl_transpose_seconds(problem, device, 0.85) + 2e-7;
  const double share = transpose_vector_efficiency_of(problem, config);
  return tsl_transpose_tiles_seconds(problem, &tiling, device, device->is_cpu ? 0.22 * share : share);
}

static void transpose_vector_account(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device, tsl_cost_counts *account) {
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(problem, config);
  account->workers = device->threads;
  if (tsl_device_is_host(device))
    tsl_transpose_account(problem, 1, account);
  else
    tsl_transpose_account_tiles(problem, &tiling, device, account);
}

static tesela_status transpose_vector_build(tsl_work *work) {
  if (tsl_device_is_host(work->device))
    return TESELA_OK;
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(&work->problem, &work->config);
  return tsl_transpose_build_tiles(work, "strategy/transpose/host/vector/transpose_vector.cl",
                                   "tsl_transpose_vector", &tiling);
}

static tesela_status transpose_vector_run(const tsl_work *work, const tsl_operands *operands,
                                          tsl_stream *stream) {
  const tsl_transpose_tiling tiling = transpose_vector_tiling_of(&work->problem, &work->config);
  if (!tsl_device_is_host(work->device))
    return tsl_transpose_launch_tiles(work, operands, stream, &tiling);
  tsl_vector_on_host(&work->problem, operands, work->device);
  return TESELA_OK;
}

const tsl_strategy tsl_transpose_vector = {
    .name = "vector",
    .idea = "vectors on both sides, transposed in registers",
    .lifts = "narrow accesses, and too few in flight",
    .partner = "tile_local",
    .rung = 3,
    .op = TSL_OP_TRANSPOSE,
    .version = 1,
    .accuracy = tsl_transpose_accuracy,
    .params = params,
    .refuse = transpose_vector_refuse,
    .score = transpose_vector_score,
    .build = transpose_vector_build,
    .run = transpose_vector_run,
    .release = tsl_launch_release,
    .supports = {.types = tsl_types_all},
    .resources = {.count_costs = transpose_vector_account},
    .testing = {.probes = probes},
};
