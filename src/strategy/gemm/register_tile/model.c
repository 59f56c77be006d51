/* The model of register_tile: what a panel costs a group, how many groups share a compute unit, and what memory adds. It
 * counts clocks of a unit; its constants were fitted to measurements on an H200 (NOTES.md), and hold elsewhere as
 * far as units have four schedulers of 32 lanes or the like. */
#include "strategy/gemm/register_tile/register_tile.h"

#include <math.h>

/* Clocks that a warp waits between the numbers of one depth and the next, where no other warp fills them; clocks from
 * asking global memory to the answer; clocks of a group's beginning and end; of a barrier. */
static const double depth_wait = 5, memory_wait = 1680, group_clocks = 10600, barrier_clocks = 10;
/* Instructions for each vector that an item fetches, its share of the loop's own included; clocks for each part of k. */
static const double fetch_instructions = 42.4, part_clocks = 108;
/* Form 4: instructions of each vector; clocks of each number that is copied, alone or with others; those of a group's
 * beginning and end; how much slower its loop is otherwise, and with two stages. */
static const double copy_instructions = 0.5, alone_clocks = 0.18, together_clocks = 0.03, flow_clocks = 7400,
                    flow_slower = 1.13, two_stages_slower = 1.09;
/* Instructions of a loop that the instruction cache holds. */
static const double loop_most = 1800;
/* Registers of an item from which on the compiler has to save them, and instructions a depth for each one above. */
static const double registers_easy = 212, pressure = 4;
/* What groups read of the same, as a share of the bandwidth of memory. */
static const double shared_rate = 0.85;

/* A device as the model sees it. */
typedef struct pace {
  double count, clock; /* compute units, hertz */
  double lanes;        /* multiply-adds that a unit starts in a clock */
  double slots; /* instructions that its schedulers start while one multiply-add of all lanes is started */
} pace;

static pace pace_of(const tsl_problem *problem, const tsl_device *device) {
  const bool twice = tsl_type(problem->c.type)->component == TESELA_F64;
  const double peak = twice ? device->peak_f64 : device->peak_f32;
  const double count = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  return (pace){count, clock, fmax(peak / 2 / count / clock, 1e-3),
                twice ? fmax(1, device->peak_f32 / peak) : 1};
}

static double ratio_up(double value, double step) {
  return ceil(value / step);
}

/* Multiply-adds of one product of elements; depths of a panel that a slice multiplies. */
static double adds_of(const tsl_register_tile *tile) {
  return tile->complex ? 4 : 1;
}
static double share_of(const tsl_register_tile *tile) {
  return (double)tile->tile_k / tile->slices;
}

/* Clocks of one multiply-add of all lanes, everything beside it included: other instructions in the schedulers' slots,
 * and local memory, which gives 128 bytes a clock to one of four warps. */
static double clocks_each(const tsl_register_tile *tile, double slots) {
  const double sums = tile->micro_m * tile->micro_n * adds_of(tile);
  const double loads = (double)(tile->micro_m + tile->micro_n) * tile->numbers / tile->lanes;
  const double fetches =
      (double)(tile->tile_m + tile->tile_n) * tile->numbers * tile->slices / tile->lanes / tile->items;
  const double above = fmax(0, tsl_register_tile_registers(tile) - registers_easy);
  const bool flows = tile->form == TSL_REGISTER_TILE_FLOW;
  const double beside = loads + (flows ? copy_instructions : fetch_instructions) * fetches + pressure * above,
               local = 8 * loads / (sums * slots);
  const double loop = share_of(tile) * (sums + beside);
  /* Of two micro-tiles as large, the one in which multiply-adds go along rows finds its registers sooner where slices leave
   * few of them, the other one where there are enough. */
  const bool rows = tile->micro_m > tile->micro_n, columns = tile->micro_m < tile->micro_n;
  const double turned = tile->slices > 1 || tile->complex ? (columns ? 1.03 : 1) : (rows ? 1.005 : 1);
  /* Slices of complex numbers have not been measured: they are not believed to be faster than what has. */
  const double unknown = tile->slices > 1 && tile->complex ? 1.1 : 1;
  return unknown * turned * (flows ? flow_slower : 1) * (1 + beside / sums / slots) *
         (1 + local * local * local / slots) * (loop > loop_most ? 1.15 : 1);
}

/* Clocks in which form 4's copies of a panel keep local memory. Lines along k are copied number by number. */
static double clocks_of_copies(const tsl_problem *problem, const tsl_register_tile *tile) {
  const bool a_alone = !tile->copied && tsl_launch_along(problem->a.col_stride, problem->a.row_stride);
  const bool b_alone = !tile->copied && tsl_launch_along(problem->b.row_stride, problem->b.col_stride);
  return tile->tile_k * (tile->tile_m * (a_alone ? alone_clocks : together_clocks) +
                         tile->tile_n * (b_alone ? alone_clocks : together_clocks));
}

/* Clocks in which each of `groups` groups that share a unit goes through a panel. */
static double clocks_of_panel(const tsl_problem *problem, const tsl_register_tile *tile, const pace *units,
                              double each, double groups) {
  const double warps = groups * tile->items / 128; /* for each of four schedulers */
  const double products = (double)tile->tile_m * tile->tile_n * tile->tile_k * adds_of(tile);
  const double multiply = groups * products / units->lanes * each / fmin(1, warps);
  const double busy = multiply + share_of(tile) * depth_wait / warps;
  if (tile->form == TSL_REGISTER_TILE_FLOW)
    return fmax((busy + groups * clocks_of_copies(problem, tile)) *
                    (tile->stages == 2 ? two_stages_slower : 1),
                memory_wait / 2 / (tile->stages - 1));
  /* What is asked for in one panel is needed in the next. */
  return tile->stages == 1 ? fmax(busy + 2 * barrier_clocks, memory_wait)
                           : fmax(busy, memory_wait + busy / 10);
}

/* Clocks in which slices' sums meet: written and read through local memory, in rounds with barriers. */
static double clocks_of_fold(const tsl_register_tile *tile) {
  const double sums = (double)tile->tile_m * tile->tile_n * tile->slices * tile->size;
  return tile->slices == 1 ? 0 : sums / 128 + 100 * ceil(sums / (double)tsl_register_tile_local_bytes(tile));
}

static double local_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const pace units = pace_of(problem, device);
  const double groups = ratio_up(problem->m, tile->tile_m) * ratio_up(problem->n, tile->tile_n) *
                        tile->split * (double)tsl_problem_batch(problem);
  const double panels = ratio_up(ratio_up(ratio_up(problem->k, tile->products), tile->split), tile->tile_k);
  const double most = ceil(groups / units.count),
               sharing = fmin(tsl_register_tile_groups(tile, device), most);
  const double each = clocks_each(tile, units.slots), rounds = floor(most / sharing),
               rest = most - rounds * sharing,
               around =
                   (tile->form == TSL_REGISTER_TILE_FLOW ? flow_clocks : group_clocks) + clocks_of_fold(tile);
  double clocks = rounds * (panels * clocks_of_panel(problem, tile, &units, each, sharing) + around);
  if (rest > 0)
    clocks += panels * clocks_of_panel(problem, tile, &units, each, rest) + around;
  const double reads = groups * (tile->tile_m + tile->tile_n) * panels * tile->tile_k * tile->size;
  const double memory = fmax(tsl_problem_bytes(problem), reads / shared_rate) / device->bandwidth;
  clocks += part_clocks * (tile->split - 1);
  double seconds = fmax(clocks / units.clock, memory) + device->launch_seconds;
  if (tile->copied)
    seconds += 3 * tsl_register_tile_copies(problem, tile) / device->bandwidth + device->launch_seconds;
  if (tile->split == 1)
    return seconds;
  /* Parts are written, read and added; memory for them is worth a little. */
  const double parts = (2 * tile->split + 1) * (double)problem->m * (double)problem->n * tile->size *
                       (double)tsl_problem_batch(problem);
  return 1.02 * seconds + parts / (2.4 * device->bandwidth) + device->launch_seconds / 2;
}

/* Panels in scratch memory, read through caches; for processors with vector registers. */
static double panel_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const pace units = pace_of(problem, device);
  /* A complex number has two sums, and four multiply-adds. */
  const double parts = tile->complex ? 2 : 1, vectors = (double)tile->micro_n / tile->lanes * parts;
  const double sums = tile->micro_m * vectors;
  /* 32 vector registers of 64 bytes, 16 of others; sums that do not fit go through memory. */
  const double room = tile->vector >= 64 ? 31 : 15, needed = sums + vectors + 1;
  const int width =
      tsl_type(problem->c.type)->component == TESELA_F64 ? device->vector_f64 : device->vector_f32;
  const double spills = needed > room ? 4 : 1, narrow = fmax(1, (double)width / tile->lanes);
  const double wide = tile->lanes > width ? 1.5 : 1;
  /* A multiply-add waits eight others long for the one before it; factors are read beside them. */
  const double waits = fmax(1, 8 / sums), loads = 1 + (0.15 * tile->micro_m + 0.45 * vectors) / sums;
  const double slow = 1.3 * spills * narrow * wide * waits * loads;
  const double groups = ratio_up(problem->m, tile->tile_m) * ratio_up(problem->n, tile->tile_n);
  const double group =
      parts * parts * tile->tile_m * tile->tile_n * (double)problem->k / units.lanes * slow + group_clocks;
  const double copies = 4 * tsl_register_tile_copies(problem, tile) / device->bandwidth;
  return ceil(groups / units.count) * group / units.clock + copies + 3 * device->launch_seconds;
}

double tsl_register_tile_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  const tsl_problem turned = tsl_register_tile_turned(problem);
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  switch (tile.form) {
  case TSL_REGISTER_TILE_LOCAL:
  case TSL_REGISTER_TILE_FLOW: /* barriers cut a processor's loops to pieces */
    return local_seconds(&turned, &tile, device) * (device->is_cpu ? 100 : 1);
  case TSL_REGISTER_TILE_PANELS: /* items of a group read the same from global memory */
    return panel_seconds(&turned, &tile, device) * (device->is_cpu ? 1.2 : 3);
  default: /* one item leaves all lanes of a graphics processor but one empty */
    return panel_seconds(&turned, &tile, device) * (device->is_cpu ? 1 : 64);
  }
}
