/* Host side of transpose_tile_local.cl. Measurements: docs/lab/transpose_tile_local.md. */
#include "strategy/transpose/shared/transpose_common.h"

#include <math.h>

enum { TILE, ROWS };
static const tsl_param params[] = {
    [TILE] = {"tile", "edge of a tile", 32, {16, 32, 64}},
    [ROWS] = {"rows", "rows of a tile for each work-item", 4, {2, 4, 8, 16}},
    {NULL, NULL, 0, {0}},
};
enum { BAND = 1 };
static const char *const probes[] = {"tile=32 rows=4", "tile=16 rows=2", "tile=64 rows=16", NULL};

static tsl_transpose_tiling transpose_tile_local_tiling_of(const tsl_config *config) {
  const int tile = (int)config->value[TILE];
  return (tsl_transpose_tiling){.tile = tile, .items = tile * tile / (int)config->value[ROWS], .band = BAND};
}

static const char *transpose_tile_local_refuse(const tsl_problem *problem, const tsl_config *config,
                                               const tsl_device *device) {
  const tsl_transpose_tiling tiling = transpose_tile_local_tiling_of(config);
  const char *why = tsl_transpose_refuse_scaling(problem);
  return why ? why : tsl_transpose_refuse_tiles(problem, &tiling, device);
}

/* Predicts the seconds. Narrow elements, one a lane, have fewer bytes in flight than vectors. Four rows an
 * item are enough in flight with the fewest registers. */
static double transpose_tile_local_score(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device) {
  const tsl_transpose_tiling tiling = transpose_tile_local_tiling_of(config);
  const double bytes = (double)tsl_type(problem->c.type)->size;
  const double narrow = fmin(1, 0.5 + bytes / 8);
  const double far =
      0.01 * fabs(log2((double)config->value[ROWS] / 4)) + 0.01 * fabs(log2(tiling.tile / 32.0));
  const double efficiency = device->is_cpu ? 0.08 : 0.7 * narrow;
  return tsl_transpose_tiles_seconds(problem, &tiling, device, efficiency - far);
}

static void transpose_tile_local_account(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device, tsl_cost_counts *account) {
  const tsl_transpose_tiling tiling = transpose_tile_local_tiling_of(config);
  tsl_transpose_account_tiles(problem, &tiling, device, account);
}

static tesela_status transpose_tile_local_build(tsl_work *work) {
  const tsl_transpose_tiling tiling = transpose_tile_local_tiling_of(&work->config);
  return tsl_transpose_build_tiles(work, "strategy/transpose/ladder/tile_local/transpose_tile_local.cl",
                                   "tsl_transpose_tile_local", &tiling);
}

static tesela_status transpose_tile_local_run(const tsl_work *work, const tsl_operands *operands,
                                              tsl_stream *stream) {
  const tsl_transpose_tiling tiling = transpose_tile_local_tiling_of(&work->config);
  return tsl_transpose_launch_tiles(work, operands, stream, &tiling);
}

const tsl_strategy tsl_transpose_tile_local = {
    .name = "tile_local",
    .idea = "work-groups turn square tiles in local memory",
    .lifts = "a whole line of memory for each element that is read",
    .partner = "element",
    .rung = 2,
    .op = TSL_OP_TRANSPOSE,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = tsl_transpose_accuracy,
    .params = params,
    .refuse = transpose_tile_local_refuse,
    .score = transpose_tile_local_score,
    .build = transpose_tile_local_build,
    .run = transpose_tile_local_run,
    .release = tsl_launch_release,
    .supports = {.types = tsl_types_all},
    .resources = {.count_costs = transpose_tile_local_account},
    .testing = {.probes = probes},
};
