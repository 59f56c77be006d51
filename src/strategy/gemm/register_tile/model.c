/* The model of register_tile: what a group costs a compute unit, how many of them a unit gets, and what memory adds. */
#include "strategy/gemm/register_tile/register_tile.h"

#include <math.h>

/* A unit's clocks are those in which all its lanes do one multiply-add. */
typedef struct units {
  double count; /* compute units */
  double rate;  /* multiply-adds a second of one */
} units;

static units unit_of(const tsl_problem *problem, const tsl_device *device) {
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double count = fmax(1, device->compute_units);
  return (units){count, peak / 2 / count};
}

static double tiles_of(const tsl_problem *problem, const tsl_register_tile *tile) {
  return ceil((double)problem->m / tile->tile_m) * ceil((double)problem->n / tile->tile_n);
}

static double local_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const units unit = unit_of(problem, device);
  const double groups = tiles_of(problem, tile) * tile->split, part = ceil((double)problem->k / tile->split);
  const double sharing = tsl_register_tile_groups(tile, device);
  const double each = ceil(groups / unit.count), at_once = fmin(sharing, each);
  /* Slots of a depth's instructions over those that multiply: vectors from local memory, and the panel's share. */
  const double depth = tile->micro_m * tile->micro_n;
  const double loads = (tile->micro_m + tile->micro_n) / (double)tile->lanes;
  const double panel =
      (48.0 + 4.0 * (tile->tile_m + tile->tile_n) * tile->tile_k / tile->lanes / tile->items) / tile->tile_k;
  const double issue = 1 + (loads + panel) / depth, local_rate = 4 * 2 * loads / depth;
  /* Warps of each of four schedulers hide each other's waits. */
  const double warps = tile->items * at_once / 128, waits = 1 + 0.12 / warps;
  const double efficiency = 1 / (fmax(issue, local_rate) * waits);
  const double group = (double)tile->tile_m * tile->tile_n * part / (unit.rate * efficiency);
  const double compute = each * group + ceil(each / at_once) * 2e-6;
  const double reads = groups * (tile->tile_m + tile->tile_n) * part * tile->size;
  const double bytes = tsl_problem_bytes(problem);
  const double parts =
      tile->split > 1 ? (2.0 * tile->split + 1) * (double)problem->m * (double)problem->n * tile->size : 0;
  return fmax(compute, fmax(bytes / device->bandwidth, reads / (3 * device->bandwidth))) +
         (parts > 0 ? parts / (1.5 * device->bandwidth) + device->launch_seconds / 2 : 0) +
         device->launch_seconds;
}

static double panel_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const units unit = unit_of(problem, device);
  const bool single = tile->form == TSL_REGISTER_TILE_SINGLE;
  const double vectors = tile->micro_n / (double)tile->lanes, sums = tile->micro_m * vectors;
  /* Vector registers: 32 of 64 bytes, 16 of others; more sums than that go through memory. */
  const int width = problem->c.type == TESELA_F64 ? device->vector_f64 : device->vector_f32;
  const double room = tile->vector >= 64 ? 30 : 15, needed = sums + vectors + 1;
  const double spills = needed > room ? 4 : 1, narrow = fmax(1, (double)width / tile->lanes);
  const double wide = tile->lanes > width ? 1.5 : 1;
  /* A multiply-add waits eight others long for the one before it; reads of factors come beside them. */
  const double waits = fmax(1, 8 / sums), loads = 1 + 0.3 * (tile->micro_m + vectors) / sums;
  const double efficiency = 1 / (spills * narrow * wide * waits * loads * 1.3);
  const double each = ceil(tiles_of(problem, tile) / unit.count);
  const double group = (double)tile->tile_m * tile->tile_n * (double)problem->k / (unit.rate * efficiency);
  const double copies = 4 * (tsl_register_tile_scratch(problem, tile) * tile->size) / device->bandwidth;
  /* Items that share lanes of a graphics processor: local memory would do better. */
  const double kind = device->is_cpu == single ? 1 : device->is_cpu ? 1.2 : 100;
  return each * group * kind + copies + 3 * device->launch_seconds;
}

double tsl_register_tile_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  const tsl_problem turned = tsl_register_tile_turned(problem);
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  if (tile.form != TSL_REGISTER_TILE_LOCAL)
    return panel_seconds(&turned, &tile, device);
  /* Barriers cut a processor's loops to pieces. */
  return local_seconds(&turned, &tile, device) * (device->is_cpu ? 100 : 1);
}
