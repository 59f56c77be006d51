/* The model counts clocks of a compute unit. Constants were fitted on an H200 (docs/lab/thin_tile.md). */
#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/thin_tile/thin_tile.h"

#include <math.h>

/* CPUs (PoCL). Seconds of a strip's row whose page misses the TLB, from memory and from a cache. Factors:
 * clocks over the minimum; sums that spill to memory. */
static const double walk_seconds = 20e-9, walk_again_seconds = 6e-9, processor_clocks = 1.3, spilled = 1.75;

static bool thin_tile_is_aligned(const tsl_thin_tile *tile, int64_t step, int64_t pitch) {
  return step == 1 && pitch % tile->lanes == 0;
}
static bool large_aligned(const tsl_thin_tile *tile) {
  const tsl_shape *b = &tile->problem.b;
  return tile->b_along_k ? thin_tile_is_aligned(tile, b->row_stride, b->col_stride)
                         : thin_tile_is_aligned(tile, b->col_stride, b->row_stride);
}
static bool thin_aligned(const tsl_thin_tile *tile) {
  return thin_tile_is_aligned(tile, tile->problem.a.col_stride, tile->problem.a.row_stride);
}

/* Returns the bytes that a unit's groups have in flight. */
static double flight_of(const tsl_thin_tile *tile, double groups) {
  return groups * tile->items / tile->items_m * tile->flight * tile->micro_n * 16;
}

/* Returns the clocks in which `groups` groups that share a unit compute their `chunks` chunks. */
static double clocks_of_round(const tsl_thin_tile *tile, const tsl_launch_pace *units, double groups,
                              double chunks) {
  const tsl_thin_constants *rates = tile->rates;
  const double steps = chunks * tile->steps, items = groups * tile->items, warps = items / 32;
  const double loads = tile->micro_m + tile->micro_n;
  const double products = (double)tile->micro_m * tile->micro_n * tile->lanes;
  const bool large = large_aligned(tile), thin = thin_aligned(tile);
  /* registers for an address of each vector, and for loading the thin operand */
  const double above = fmax(0, tsl_thin_tile_registers(tile) - rates->registers_easy);
  const double beside = loads + tile->micro_n * (large ? 1 : rates->read_odd_instructions) +
                        (thin ? rates->bring_instructions : rates->bring_odd_instructions) * tile->tile_m *
                            tile->slices / tile->items +
                        rates->pressure * above;
  const double issue = steps * items / units->lanes * (products + beside / units->slots);
  /* latency is exposed where few items share a unit */
  const double multiply = issue / fmin(1, (warps + rates->warps_more) / 13.9);
  const double local = steps * warps * loads * rates->local_clocks;
  const double scattered =
      large || tile->b_along_k
          ? 0
          : steps * items / fmin(32, tile->items_n) * tile->micro_n * tile->lanes * rates->scattered_clocks;
  const double bytes = groups * tile->tile_n * chunks * tile->chunk * tile->size;
  const double rate = flight_of(tile, groups) * (large ? 1 : rates->flight_odd) / rates->memory_wait;
  const double least = chunks * rates->chunk_clocks * (large && thin ? 1 : rates->chunk_odd);
  return fmax(fmax(fmax(multiply, fmax(local, scattered)), bytes / rate) +
                  rates->overlap * fmin(multiply, bytes / rate),
              least);
}

static double graphics_seconds(const tsl_thin_tile *tile, const tsl_device *device) {
  const tsl_thin_constants *rates = tile->rates;
  const tsl_problem *problem = &tile->problem;
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double batch = (double)tsl_problem_batch(problem);
  const double groups =
      tsl_ceil_ratio(m, tile->tile_m) * tsl_ceil_ratio(n, tile->tile_n) * tile->split * batch;
  const double chunks = tsl_ceil_ratio(tsl_ceil_ratio(k, tile->split), tile->chunk);
  const double most = ceil(groups / units.count), sharing = fmin(tsl_thin_tile_groups(tile, device), most);
  const double rounds = floor(most / fmax(1, sharing)), remainder = most - rounds * sharing;
  const double folds = tile->slices > 1 ? (double)tile->micro_m / tsl_thin_tile_fold_rows(tile) : 0;
  const double around = rates->group_clocks + folds * rates->fold_clocks;
  double clocks = rates->part_clocks * (tile->split - 1) +
                  rounds * clocks_of_round(tile, &units, sharing, chunks) +
                  around * (1 + rates->later * (rounds - 1));
  if (remainder > 0)
    clocks += clocks_of_round(tile, &units, remainder, chunks) + rates->later * around;
  const double reads = groups * (tile->tile_m + tile->tile_n) * chunks * tile->chunk * tile->size;
  const bool whole_c = problem->c.col_stride == 1 ? problem->c.row_stride % tile->lanes == 0
                                                  : problem->c.col_stride % tile->lanes == 0;
  const double bytes =
      tsl_problem_bytes(problem) + (whole_c ? 0 : (rates->store_odd - 1) * m * n * batch * tile->size);
  const double memory = fmax(bytes, reads / rates->shared_rate) / (rates->memory_rate * device->bandwidth);
  /* units with few bytes in flight fall behind occasionally */
  const double scarce = 1 + fmin(0.2, 0.02 * 65536 / fmax(1, flight_of(tile, sharing)));
  const double busy = clocks / units.clock;
  const double seconds =
      scarce * sqrt(busy * busy + memory * memory) + rates->launch_share * device->launch_seconds;
  if (tile->split == 1)
    return seconds + m * n * batch * tile->size / (rates->store_bytes * units.count * units.clock);
  const double parts = (2 * tile->split + 1) * m * (double)tsl_thin_tile_pitch(tile) * tile->size * batch;
  return 1.02 * seconds + parts / (rates->part_rate * device->bandwidth) +
         tsl_launch_second_seconds(device, rates->sum_launch_share);
}

/* Returns the bytes of the large operand's strip or of the thin operand that are read again. None are if a
 * core's part of the last cache holds a k split. */
static double thin_tile_bytes_again(const tsl_thin_tile *tile, const tsl_device *device, double part) {
  const tsl_problem *problem = &tile->problem;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double share = (double)device->cache_bytes / 8 / fmax(1, device->compute_units);
  const bool strip_stays = part * tile->tile_n * tile->size <= share,
             thin_stays = part * m * tile->size <= share;
  const double again = (strip_stays ? 0 : n * (tsl_ceil_ratio(m, tile->tile_m) - 1)) +
                       (thin_stays ? 0 : m * (tsl_ceil_ratio(n, tile->tile_n) - 1));
  return device->cache_bytes > 0 ? again * k * tile->size * (double)tsl_problem_batch(problem) : 0;
}

/* Returns the seconds with one item per group. */
static double processor_seconds(const tsl_thin_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const double vectors = tile->b_along_k ? tile->micro_n : (double)tile->micro_n / tile->lanes;
  const double sums = tile->micro_m * vectors, registers = tile->vector >= 64 ? 31 : 15;
  const double spills = sums + vectors + 1 > registers ? spilled : 1;
  const int width = problem->c.type == TESELA_F64 ? device->vector_f64 : device->vector_f32;
  const double narrow = fmax(1, (double)width / tile->lanes), wide = tile->lanes > width ? 1.5 : 1;
  const double waits = fmax(1, 8 / sums), loads = 1 + (0.5 * tile->micro_m + vectors) / sums;
  /* vectors along k of an operand with another layout are gathered */
  const double gathers = tile->b_along_k && problem->m > 1 && problem->a.col_stride != 1 ? 5 : 1;
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double down = tsl_ceil_ratio(m, tile->tile_m),
               groups =
                   down * tsl_ceil_ratio(n, tile->tile_n) * tile->split * (double)tsl_problem_batch(problem);
  const double part = tsl_ceil_ratio(tsl_ceil_ratio(k, tile->split), tile->chunk) * tile->chunk;
  const double clocks = processor_clocks * tile->tile_m * tile->tile_n * part / units.lanes * spills *
                            narrow * wide * waits * loads * gathers +
                        1000;
  const double compute = ceil(groups / units.count) * clocks / units.clock;
  /* columns of tiles are narrow, so memory is read in short runs; lower tiles hit a cache */
  const double bytes =
      tsl_problem_bytes(problem) * (1 + 0.2 * (down - 1)) + thin_tile_bytes_again(tile, device, part);
  const double parts =
      tile->split > 1 ? (2 * tile->split + 1) * m * n * tile->size * (double)tsl_problem_batch(problem) : 0;
  /* where a strip's rows are in separate pages, each row costs a page walk */
  const double row = fabs((double)problem->b.row_stride) * tile->size;
  const double walks =
      tile->b_along_k ? 0 : groups / down / tile->split * k * fmin(1, row / 4096) / units.count;
  const double first = fmax(fmax(compute, 1.3 * bytes / device->bandwidth), walk_seconds * walks);
  return first + (down - 1) * walk_again_seconds * walks + parts / device->bandwidth +
         (tile->split > 1 ? 2 : 1) * device->launch_seconds;
}

double tsl_thin_tile_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  tile.rates = &tsl_model_constants_of(device)->thin_tile;
  if (tile.processor)
    return processor_seconds(&tile, device) * (device->is_cpu ? 1 : 10);
  /* barriers split a CPU's loops */
  return graphics_seconds(&tile, device) * (device->is_cpu ? 100 : 1);
}

/* Counts the large operand straight to registers, the thin operand through local memory. */
void tsl_thin_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account) {
  const tsl_thin_tile tile = tsl_thin_tile_of(problem, config);
  const double m = (double)tile.problem.m, n = (double)tile.problem.n;
  const double groups = ceil(m / tile.tile_m) * ceil(n / tile.tile_n) * tile.split;
  const double depth = ceil(ceil((double)problem->k / tile.split) / tile.chunk) * tile.chunk;
  const double products = groups * depth * tile.tile_m * tile.tile_n;
  const double of_thin = products / tile.micro_n * tile.size, of_large = products / tile.micro_m * tile.size;
  const double needed =
      tile.processor ? groups : ceil(m / tile.micro_m) * ceil(n / tile.micro_n) * tile.slices * tile.split;
  tsl_cost_counts_groups(groups, tile.processor ? 1 : tile.items, needed,
                         tile.processor ? 0 : tsl_thin_tile_local_bytes(&tile), device, account);
  if (!device->is_cpu)
    account->per_unit = tsl_thin_tile_groups(&tile, device);
  account->computed = products;
  account->global.read = of_large;
  if (tile.processor) {
    account->global.read += of_thin;
  } else {
    account->local = (tsl_moved){.read = of_thin, .written = groups * depth * tile.tile_m * tile.size};
    account->global.read += account->local.written;
  }
  tsl_cost_counts_result(problem, 1, account);
  if (tile.split > 1)
    tsl_cost_counts_copies(tile.split * m * (double)tsl_thin_tile_pitch(&tile) * tile.size, account);
}
