#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

#include <math.h>

enum { TILE, RELAXED };
static const tsl_param params[] = {
    [TILE] = {"tile", "edge of a tile, and of a work-group", 16, {8, 16, 32}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy tile_local_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_in_order(problem, config), problem, config->value[RELAXED] != 0);
}

static const char *tile_local_grid_for(const tsl_problem *problem, const tsl_config *config,
                                       const tsl_device *device, tsl_grid *grid) {
  const int tile = (int)config->value[TILE];
  return tsl_launch_grid(device, problem->n, problem->m, tile, tile, grid);
}

/* Returns the bytes of two tiles with padded rows. */
static int64_t tile_local_local_bytes(const tsl_problem *problem, int64_t tile) {
  return 2 * tile * (tile * (int64_t)tsl_type(problem->c.type)->size + 16);
}

static const char *tile_local_refuse(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const int64_t tile = config->value[TILE], bytes = tile_local_local_bytes(problem, tile);
  if ((uint64_t)bytes > device->local_bytes)
    return tsl_refusal("tile=%d needs %lld bytes of local memory, %s has %llu", (int)tile, (long long)bytes,
                       device->name, (unsigned long long)device->local_bytes);
  tsl_grid grid;
  return tile_local_grid_for(problem, config, device, &grid);
}

/* Returns the predicted seconds. Larger tiles need less global memory traffic, but fewer groups fill a
 * compute unit while others wait at a barrier. */
static double tile_local_score(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const int tile = (int)config->value[TILE];
  const double reuse = tile / (tile + 8.0), waiting = 1 + tile * tile / 2048.0;
  const double efficiency = device->is_cpu ? 0.005 / waiting : 0.18 * reuse / waiting;
  return fmax(tsl_launch_seconds(problem, device, efficiency, tile, tile),
              tsl_launch_chain_seconds(device, ceil((double)problem->k / tile)));
}

static void tile_local_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  const double tile = (double)config->value[TILE], size = (double)tsl_type(problem->c.type)->size;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double down = ceil(m / tile), across = ceil(n / tile), steps = ceil(k / tile);
  tsl_grid grid;
  if (!tile_local_grid_for(problem, config, device, &grid))
    tsl_cost_counts_grid(&grid, problem->n, problem->m, tile_local_local_bytes(problem, config->value[TILE]),
                         device, account);
  account->computed = down * across * steps * tile * tile * tile;
  account->local.written = down * across * steps * 2 * tile * tile * size;
  account->local.read = 2 * account->computed * size;
  tsl_cost_counts_operands(problem, across * m * k, down * k * n, account);
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status tile_local_build(tsl_work *work) {
  tsl_grid grid;
  tile_local_grid_for(&work->problem, &work->config, work->device, &grid);
  return tsl_launch_build(work, "strategy/gemm/ladder/tile_local/tile_local.cl", "tsl_gemm_tile_local",
                          &grid);
}

const tsl_strategy tsl_gemm_tile_local = {
    .name = "tile_local",
    .idea = "work-groups multiply tiles of A and B that they share in local memory",
    .lifts = "traffic to global memory, by the tile's edge",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = tile_local_accuracy,
    .params = params,
    .refuse = tile_local_refuse,
    .build_seconds = 0.2,
    .score = tile_local_score,
    .build = tile_local_build,
    .run = tsl_launch_gemm,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[TILE] = {1, 128}, [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .resources = {.count_costs = tile_local_account},
};
