#include "strategy/kernel_launch/simple_kernel.h"

#include <math.h>

enum { TILE, RELAXED };
static const tsl_param params[] = {
    [TILE] = {"tile", "edge of a tile, and of a work-group", 16, {8, 16, 32}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

/* Larger tiles need less global memory traffic, but pad k more, and fewer groups fill a compute unit while
 * others wait at a barrier. Rows of the two tiles in local memory are padded. On a processor PoCL's compiler
 * computes four work-items in a vector, but gathers their elements from the tiles one by one. */
static tsl_simple_kernel tile_local_describe(const tsl_problem *problem, const tsl_config *config,
                                             const tsl_device *device) {
  (void)device;
  const double tile = (double)config->value[TILE], size = (double)tsl_type(problem->c.type)->size;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double down = ceil(m / tile), across = ceil(n / tile), steps = ceil(k / tile);
  const double reuse = tile / (tile + 8), waiting = 1 + tile * tile / 2048;
  const double loaded = down * across * steps * 2 * tile * tile; /* to local memory */
  return (tsl_simple_kernel){.columns = (int)tile,
                             .rows = (int)tile,
                             .local_bytes = (int64_t)(2 * tile * (tile * size + 16)),
                             .efficiency = 0.18 * reuse / waiting * fmax(1, k) / fmax(tile, steps * tile),
                             .waits = steps,
                             .a = across * m * k,
                             .b = down * k * n,
                             .computed = loaded * tile / 2,
                             .local = {.read = loaded * tile * size, .written = loaded * size},
                             .barriers = 2 * steps,
                             .loads_together = true,
                             .lanes = 4,
                             .gathers = true,
                             .kept = 48 * tile * tile};
}
TSL_SIMPLE_KERNEL(tile_local, tsl_accuracy_in_order(problem, config))

const tsl_strategy tsl_gemm_tile_local = {
    .name = "tile_local",
    .idea = "work-groups multiply tiles of A and B that they share in local memory",
    .lifts = "traffic to global memory, by the tile's edge",
    .partner = "element",
    .rung = 7,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .build_seconds = 0.2,
    TSL_SIMPLE_KERNEL_MEMBERS(tile_local),
    .tuning = {.ranges = {[TILE] = {1, 128}, [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
};
