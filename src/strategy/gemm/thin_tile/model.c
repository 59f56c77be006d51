/* The model of thin_tile: the bytes of the large operand, how many of them are asked for at once, what multiplying them
 * costs, and the price of parts. In clocks of a compute unit, as register_tile's model; its constants were fitted to some
 * 200 measurements on an H200 (NOTES.md). */
#include "strategy/gemm/thin_tile/thin_tile.h"

#include <math.h>

/* Clocks from asking global memory to the answer; of a group's beginning and end; of a round in which slices add; of a
 * warp's vector from local memory. */
static const double memory_wait = 1600, group_clocks = 3400, fold_clocks = 1200, local_clocks = 6.2;
/* Instructions beside an item's own of each step, and of each vector of the thin operand that it brings; registers from
 * which on the compiler has to save them, and instructions for each one above. */
static const double step_instructions = 18, bring_instructions = 60, registers_easy = 134, pressure = 0.64;

/* Of a processor, from 12 configs of 16 x 4096 x 4096 on PoCL (NOTES.md): seconds for a row of a strip whose page its tables
 * do not hold, from memory and, in the tiles below, from a cache; clocks over the least, and those again where sums go
 * through memory. */
static const double walk_seconds = 20e-9, walk_again_seconds = 6e-9, processor_clocks = 1.3, spilled = 1.75;

/* A device as the model sees it. */
typedef struct pace {
  double count, clock; /* compute units, hertz */
  double lanes;        /* multiply-adds that a unit starts in a clock */
  double slots; /* instructions that its schedulers start while one multiply-add of all lanes is started */
} pace;

static pace pace_of(const tsl_problem *problem, const tsl_device *device) {
  const bool twice = problem->c.type == TESELA_F64;
  const double peak = twice ? device->peak_f64 : device->peak_f32;
  const double count = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  return (pace){count, clock, fmax(peak / 2 / count / clock, 1e-3),
                twice ? fmax(1, device->peak_f32 / peak) : 1};
}

static double ratio_up(double value, double step) {
  return ceil(value / step);
}

/* Clocks in which `groups` groups that share a unit go through their parts. */
static double clocks_of_round(const tsl_thin_tile *tile, const pace *units, double groups, double chunks) {
  const double steps = chunks * tile->steps, items = groups * tile->items, warps = items / 32;
  const double loads = tile->micro_m + tile->micro_n;
  const double products = (double)tile->micro_m * tile->micro_n * tile->lanes;
  /* An address for each vector, the loop's own, and what brings the thin operand. */
  const double above = fmax(0, tsl_thin_tile_registers(tile) - registers_easy);
  const double beside = loads + tile->micro_n + step_instructions +
                        bring_instructions * tile->tile_m * tile->slices / tile->items + pressure * above;
  const double issue = steps * items / units->lanes * (products + beside / units->slots);
  /* Items wait for one another's numbers where few share a unit. */
  const double multiply = issue / fmin(1, (warps + 2.7) / 13.9);
  const double local = steps * warps * loads * local_clocks;
  const double bytes = groups * tile->tile_n * chunks * tile->chunk * tile->size;
  const double flight = items / tile->items_m * tile->flight * tile->micro_n * 16;
  /* What neighbours read together; less than 64 bytes wastes some of each transfer. */
  const double run = tile->b_along_k ? 16.0 * tile->slices : 16.0 * fmin(8, tile->items_n);
  const double rate = flight / memory_wait * fmin(1, run / 72);
  return fmax(fmax(multiply, local), bytes / rate) + 0.64 * fmin(multiply, bytes / rate);
}

static double graphics_seconds(const tsl_thin_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const pace units = pace_of(problem, device);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double tiles = ratio_up(m, tile->tile_m) * ratio_up(n, tile->tile_n),
               groups = tiles * tile->split * (double)tsl_problem_batch(problem);
  const double chunks = ratio_up(ratio_up(k, tile->split), tile->chunk);
  const double most = ceil(groups / units.count), sharing = fmin(tsl_thin_tile_groups(tile, device), most);
  const double rounds = floor(most / sharing), rest = most - rounds * sharing;
  const double folds = tile->slices > 1 ? (double)tile->micro_m / tsl_thin_tile_fold_rows(tile) : 0;
  const double around = group_clocks + folds * fold_clocks;
  double clocks = rounds * (clocks_of_round(tile, &units, sharing, chunks) + around);
  if (rest > 0)
    clocks += clocks_of_round(tile, &units, rest, chunks) + around;
  /* What groups read in all comes from the second-level cache, strip by strip. */
  const double reads = groups * (tile->tile_m + tile->tile_n) * chunks * tile->chunk * tile->size;
  const double memory = fmax(tsl_problem_bytes(problem), reads / 0.8) / (0.93 * device->bandwidth);
  /* Units without a group ask for nothing, and those that ask for little at once fall behind now and then. */
  const double flight = sharing * tile->items / tile->items_m * tile->flight * tile->micro_n * 16;
  const double scarce = 1 + 0.1 * fmax(0, 1 - groups / units.count) + fmin(0.2, 0.02 * 65536 / flight);
  const double seconds = scarce * fmax(clocks / units.clock, memory) + device->launch_seconds;
  if (tile->split == 1)
    return seconds;
  const double parts = (2 * tile->split + 1) * m * (double)tsl_thin_tile_pitch(tile) * tile->size *
                       (double)tsl_problem_batch(problem);
  return 1.02 * seconds + parts / device->bandwidth + device->launch_seconds / 8;
}

/* What comes from memory again because a core's share of the last cache does not hold a part of k of it: the large operand's
 * strip for each tile below, the thin operand for each strip. */
static double bytes_again(const tsl_thin_tile *tile, const tsl_device *device, double part) {
  const tsl_problem *problem = &tile->problem;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double share = (double)device->cache_bytes / 8 / fmax(1, device->compute_units);
  const bool strip_stays = part * tile->tile_n * tile->size <= share,
             thin_stays = part * m * tile->size <= share;
  const double again = (strip_stays ? 0 : n * (ratio_up(m, tile->tile_m) - 1)) +
                       (thin_stays ? 0 : m * (ratio_up(n, tile->tile_n) - 1));
  return device->cache_bytes > 0 ? again * k * tile->size * (double)tsl_problem_batch(problem) : 0;
}

/* One item a group: vectors of the large operand from memory or a cache, times numbers of the thin one. */
static double processor_seconds(const tsl_thin_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const pace units = pace_of(problem, device);
  const double vectors = tile->b_along_k ? tile->micro_n : (double)tile->micro_n / tile->lanes;
  const double sums = tile->micro_m * vectors, room = tile->vector >= 64 ? 31 : 15;
  const double spills = sums + vectors + 1 > room ? spilled : 1;
  const int width = problem->c.type == TESELA_F64 ? device->vector_f64 : device->vector_f32;
  const double narrow = fmax(1, (double)width / tile->lanes), wide = tile->lanes > width ? 1.5 : 1;
  const double waits = fmax(1, 8 / sums), loads = 1 + (0.5 * tile->micro_m + vectors) / sums;
  /* Vectors along k of an operand that lies the other way are gathered: 4096 x 64 x 4096 on PoCL took 5 times as long. */
  const double gathers = tile->b_along_k && problem->m > 1 && problem->a.col_stride != 1 ? 5 : 1;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double down = ratio_up(m, tile->tile_m),
               groups = down * ratio_up(n, tile->tile_n) * tile->split * (double)tsl_problem_batch(problem);
  const double part = ratio_up(ratio_up(k, tile->split), tile->chunk) * tile->chunk;
  const double clocks = processor_clocks * tile->tile_m * tile->tile_n * part / units.lanes * spills *
                            narrow * wide * waits * loads * gathers +
                        1000;
  const double compute = ceil(groups / units.count) * clocks / units.clock;
  /* Columns of tiles are narrow, so that memory is read in short runs; those below find it in a cache. */
  const double bytes = tsl_problem_bytes(problem) * (1 + 0.2 * (down - 1)) + bytes_again(tile, device, part);
  const double parts =
      tile->split > 1 ? (2 * tile->split + 1) * m * n * tile->size * (double)tsl_problem_batch(problem) : 0;
  /* Where a strip's rows lie in pages of their own, each row costs a walk through the tables of pages. */
  const double row = fabs((double)problem->b.row_stride) * tile->size;
  const double walks =
      tile->b_along_k ? 0 : groups / down / tile->split * k * fmin(1, row / 4096) / units.count;
  const double first = fmax(fmax(compute, 1.3 * bytes / device->bandwidth), walk_seconds * walks);
  return first + (down - 1) * walk_again_seconds * walks + parts / device->bandwidth +
         (tile->split > 1 ? 2 : 1) * device->launch_seconds;
}

double tsl_thin_tile_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  if (tile.processor)
    return processor_seconds(&tile, device) * (device->is_cpu ? 1 : 10);
  /* Barriers cut a processor's loops to pieces. */
  return graphics_seconds(&tile, device) * (device->is_cpu ? 100 : 1);
}
