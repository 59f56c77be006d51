/* Performance model of cuda_wgmma, in clocks of a multiprocessor (measurements: docs/lab/cuda_wgmma.md). */
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma.h"

#include <math.h>

/* `shared_clock`: fraction of the clock with clusters of two after rates->warm_seconds; with A from registers
 * after rates->warm_across_seconds, and best with half the raster height. `band_most`: best raster height. */
static const double band_most = 8;

static const double adding_clocks = 100; /* clocks between panels */

enum { SECTOR = 32 }; /* bytes that L2 delivers: 128 bytes that begin inside of one take five */

/* Returns the L2 slowdown of an operand: by the strides of its lines, or of their packed copy. */
static double l2_slowdown(const tsl_cuda_wgmma *tile, const tsl_shape *shape, bool across_rows, bool across) {
  const tsl_wgmma_constants *rates = tile->rates;
  enum { CHUNK = 16 };
  const bool by_columns = across_rows == across;
  const int64_t given = (by_columns ? shape->col_stride : shape->row_stride) * tile->element,
                packed = tsl_round_up((by_columns ? shape->rows : shape->cols) * tile->element, CHUNK),
                pitch = tile->element != tile->input_bytes || given % CHUNK != 0 ? packed : given;
  return pitch % SECTOR == 0 ? 1 : rates->unaligned;
}

/* Returns a panel's clocks: maximum of tensor cores, L2 and shared memory, plus times without overlap. Under
 * load tensor cores reach the fraction `reached` of their rate. */
static double wgmma_panel_clocks(const tsl_cuda_wgmma *tile, double reached) {
  const tsl_wgmma_constants *rates = tile->rates;
  const double blocks = tile->tile_m / 64.0, wide = fmax(tile->tile_n, 64);
  /* Every second tile of MN-major B begins inside of a sector if a tile's width ends there. */
  const bool is_between =
      tile->b_mn_major && tile->problem.n > tile->tile_n && tile->tile_n * tile->element % SECTOR != 0;
  const double odd_a = l2_slowdown(tile, &tile->problem.a, true, tile->a_mn_major),
               odd_b = is_between ? rates->unaligned
                                  : l2_slowdown(tile, &tile->problem.b, false, tile->b_mn_major);
  const double products = blocks * wide * 2,
               loaded = (odd_a * tile->a_lines_loaded + odd_b * tile->b_lines_loaded) * 128,
               arrives = (tile->tile_m + (double)tile->b_lines) * 128,
               read = blocks * (64 + (double)tile->tile_n) * 128;
  const double alone = tile->warpgroups == 1 ? 0.1 : 0.01;
  /* Partial accumulators are added while the other warpgroup's products run, if there is one. */
  const double adding = tile->split_accumulators == 0 ? 0
                        : tile->warpgroups == 1
                            ? blocks * (0.5 * wide + adding_clocks) / tile->split_accumulators
                            : 0.1 * products / tile->split_accumulators;
  /* Power limits the sum of what products and reads of shared memory cost. */
  const double shared = (arrives + read) / rates->shared_bytes,
               powered = (products + rates->shared_power * (shared - products)) / reached,
               longest = fmax(powered, fmax(loaded / rates->cache_bytes, shared));
  return longest + alone * products + adding;
}

/* Returns the clocks of a panel in each of `blocks` blocks that share a multiprocessor. A block waits for
 * memory, the less the more stages it has, and for half of another block's products. */
static double shared_panel_clocks(const tsl_cuda_wgmma *tile, double blocks, double reached) {
  enum { USUAL_STAGES = 12, NARROW = 64 };
  const double panel = wgmma_panel_clocks(tile, reached),
               least = tile->is_alone && tile->stage_panels > 1        ? tile->rates->stage_wait
                       : tile->is_flow || tile->split_accumulators > 0 ? 1
                                                                       : tile->rates->persistent_wait,
               waits = tile->tile_n <= NARROW ? fmax(least, (double)USUAL_STAGES / tile->stages) : 1;
  return fmax(blocks * panel, tile->rates->chain_clocks * waits + (ceil(blocks) - 1) * panel / 2);
}

/* Returns true if lines of the longer factor do not begin at sectors. */
static bool is_long_factor_unaligned(const tsl_cuda_wgmma *tile) {
  return (tile->problem.m > tile->problem.n
              ? l2_slowdown(tile, &tile->problem.a, true, tile->a_mn_major)
              : l2_slowdown(tile, &tile->problem.b, false, tile->b_mn_major)) > 1;
}

/* Returns the stride of an operand's elements within a line of its panels. */
static int64_t step_in_line(const tsl_shape *shape, bool across_rows, bool across) {
  return across_rows == across ? shape->row_stride : shape->col_stride;
}

static double bytes_if_packed(const tsl_shape *shape, bool across_rows, bool across, int element) {
  const tsl_rows_place place = {
      .step = step_in_line(shape, across_rows, across),
      .row_stride = across_rows == across ? shape->col_stride : shape->row_stride,
  };
  const tsl_rows rows = {.rows = 2, .elements = 2};
  return tsl_cuda_wgmma_packs(&place, &rows, element) ? (double)shape->rows * (double)shape->cols * element
                                                      : 0;
}

double tsl_cuda_wgmma_packed_bytes(const tsl_cuda_wgmma *tile) {
  const tsl_shape *a = &tile->problem.a, *b = &tile->problem.b;
  const double products = (double)tsl_problem_batch(&tile->problem);
  if (tile->element != tile->input_bytes)
    return 1.5 * products * ((double)a->rows * (double)a->cols + (double)b->rows * (double)b->cols);
  return products * (bytes_if_packed(a, true, tile->a_mn_major, tile->element) +
                     bytes_if_packed(b, false, tile->b_mn_major, tile->element));
}

/* Returns the predicted seconds of a product with form=flow. */
static double flow_form_seconds(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                                const tsl_problem *problem, const tsl_device *device) {
  const tsl_wgmma_constants *rates = tile->rates;
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double blocks = (double)schedule->blocks, panel = (tile->tile_m + (double)tile->b_lines) * 128;
  const double parts = (double)schedule->parts * tile->cluster,
               panels = ceil(ceil((double)problem->k / tile->depth) / parts);
  /* All blocks of a cluster run in one GPC, whose multiprocessors are no multiple of four or eight. */
  const double usable = tile->cluster > 2 ? rates->cluster_units * units : units;
  const double each = fmax(1, ceil(blocks / (blocks > TSL_CUDA_WGMMA_RESIDENT * usable ? usable : units))),
               memory = rates->flow_part * device->bandwidth;
  const bool reads_pages =
      tile->stage_panels > 1 && !tile->is_alone && blocks > units && panels >= TSL_CUDA_WGMMA_LONG_PANELS;
  const double from_memory = tsl_problem_bytes(problem) / memory *
                             (is_long_factor_unaligned(tile) ? rates->flow_unaligned : 1) *
                             (reads_pages ? rates->flow_stage_time : 1) *
                             (1 + rates->flow_idle * fmax(0, 1 - blocks / units)),
               from_cache = blocks * panels * panel / (rates->flow_cache * memory),
               loaded = panels * panel * (each > 2 ? each / 2 : 1) / rates->flow_block_bytes,
               multiplied = panels * shared_panel_clocks(tile, each, 1) / clock;
  const double uneven = each <= 1 ? rates->flow_alone
                                  : 1 + rates->flow_uneven * (each * units / blocks - 1) +
                                        rates->flow_queue * fmax(0, each - TSL_CUDA_WGMMA_RESIDENT);
  const double work = fmax(fmax(from_memory, from_cache), fmax(loaded, multiplied)) * uneven,
               stored = each * (double)tile->tile_m * tile->tile_n / tile->cluster / 128 *
                        rates->flow_element_clocks / clock,
               /* Blocks of a cluster read each other's sums. */
      joined = each * 4.0 * tile->tile_m * tile->tile_n * (1 - 1.0 / tile->cluster) / rates->flow_join_bytes /
               clock;
  return stored + joined + fmax(work, rates->flow_least_seconds) + rates->flow_seconds +
         (schedule->parts > 1 ? rates->flow_fold_seconds : 0) +
         rates->flow_lines_seconds * (tile->tile_m / 64.0 - 1 + tile->tile_n / 64.0) +
         rates->flow_cluster_seconds * fmax(0, log2(tile->cluster) - 1);
}

/* Batches: clocks of a warpgroup for 128 elements stored one by one; seconds to pack a product's rows. */
static const double element_clocks = 70, pack_seconds = 0.15e-6;

static double batch_seconds(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                            const tsl_problem *problem, const tsl_device *device) {
  const tsl_wgmma_constants *rates = tile->rates;
  const double products = (double)tsl_problem_batch(problem),
               tiles = (double)schedule->tiles_m * (double)schedule->tiles_n * products * tile->cluster;
  const double rounds = ceil(tiles / fmax(1, (double)schedule->blocks));
  const double multiplied = ceil((double)problem->k / tile->depth) * wgmma_panel_clocks(tile, 1),
               elements = (double)tile->tile_m * tile->tile_n;
  /* TMA stores overlap the products of other resident blocks; stores by threads do not. */
  const double one_by_one = tsl_cuda_wgmma_problem_by_map(tile)
                                ? 0
                                : elements / 128 * element_clocks / sqrt(tile->warpgroups),
               store = rates->tile_clocks + elements * tile->c_element / rates->store_bytes;
  const double clocks = rates->first_clocks + rounds * fmax(tile->resident * (multiplied + one_by_one),
                                                            multiplied + store + one_by_one);
  const double computed = clocks / (1e6 * fmax(1, device->clock_mhz)),
               moved = tsl_problem_bytes(problem) / (0.85 * device->bandwidth);
  const double packed =
      tsl_cuda_wgmma_packed_bytes(tile) > 0 ? products * pack_seconds / fmax(1, device->compute_units) : 0;
  return (sqrt(sqrt(pow(computed, 4) + pow(moved, 4))) + packed) *
             (1 + 0.002 * fabs(log2(tile->raster_height / 8.0))) +
         device->launch_seconds;
}

/* Returns the fraction of the tiles' lines that C has, where several tiles cover C's `size` lines. */
static double filled_part(int64_t size, int tile) {
  const int64_t tiles = tsl_ceil_div(size, tile);
  return tiles > 1 ? (double)size / ((double)tiles * tile) : 1;
}

/* Returns the clocks of a block: its start and its tiles, or with stream-k its rounds. */
static double block_clocks(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                           const tsl_device *device, double panels, double store, double reached) {
  const tsl_wgmma_constants *rates = tile->rates;
  const double clusters = fmax(1, (double)schedule->blocks / tile->cluster),
               tiles = (double)schedule->tiles_m * (double)schedule->tiles_n * (double)schedule->parts,
               pairs = tile->cluster > 1 ? rates->pair_clocks : 0,
               start = rates->first_clocks + rates->group_clocks * (tile->warpgroups - 1) + 2 * pairs;
  const double together = /* blocks that share a multiprocessor */
      fmax(1, (double)schedule->blocks / fmax(1, device->compute_units));
  const double empty =
      1 - filled_part(tile->problem.m, tile->tile_m) * filled_part(tile->problem.n, tile->tile_n);
  return start + ceil(tiles / clusters) * (store + pairs) +
         shared_panel_clocks(tile, together, reached) * (tile->cluster > 2 ? rates->grid_panels : 1) *
             (1 + rates->empty_part * empty) *
             (tile->is_stream ? (double)schedule->whole / clusters * panels + (double)schedule->ending
                              : ceil(tiles / clusters) * panels);
}

static double stay_form_seconds(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                                const tsl_problem *problem, const tsl_device *device) {
  const tsl_wgmma_constants *rates = tile->rates;
  if (tsl_problem_batch(problem) > 1)
    return batch_seconds(tile, schedule, problem, device);
  const double clock = 1e6 * fmax(1, device->clock_mhz);
  const double panels = ceil(ceil((double)problem->k / tile->depth) / (double)schedule->parts);
  const double c_bytes = (double)tile->tile_m * tile->tile_n * (schedule->parts > 1 ? 4 : tile->c_element);
  const double elements = (double)tile->tile_m * tile->tile_n / tile->warpgroups,
               one_clocks = tile->by_columns ? rates->column_clocks : rates->thread_clocks;
  const double store = rates->tile_clocks + (tsl_cuda_wgmma_problem_by_map(tile) || schedule->parts > 1
                                                 ? c_bytes / rates->store_bytes
                                                 : rates->threads_clocks + elements / 128 * one_clocks);
  const double cold = block_clocks(tile, schedule, device, panels, store, 1),
               hot = block_clocks(tile, schedule, device, panels, store, rates->hot_clock),
               shared = block_clocks(tile, schedule, device, panels, store, rates->shared_clock);
  double seconds = cold / clock;
  if (seconds > rates->cool_seconds)
    seconds = rates->cool_seconds + (seconds - rates->cool_seconds) * (hot / cold);
  const bool is_cut = tile->from_registers && tile->element == 4;
  const double warm = is_cut ? rates->warm_across_seconds : rates->warm_seconds;
  const bool is_won_back = seconds > warm && tile->cluster == 2;
  if (is_won_back)
    seconds = warm + (seconds - warm) * (shared / hot);
  const double idle = fmax(0, 1 - (double)schedule->blocks / fmax(1, (double)device->compute_units));
  const double moved = tsl_problem_bytes(problem) / (rates->memory_part * device->bandwidth) *
                       (is_long_factor_unaligned(tile) ? rates->memory_unaligned : 1) *
                       (1 + (tile->cluster > 1 ? rates->pairs_moves * idle : 0));
  seconds = sqrt(sqrt(pow(seconds, 4) + pow(moved, 4)));
  const double best_height = is_won_back && is_cut ? band_most / 2 : band_most;
  const double helped = tile->is_stream ? seconds * rates->helped_share + rates->helped_seconds : 0;
  return seconds * (1 + 0.002 * fabs(log2(tile->raster_height / best_height))) + helped +
         (tile->cluster > 1 ? rates->pair_seconds : 0) + rates->launch_share * device->launch_seconds;
}

/* Returns the seconds of the launches that pack: one for all contiguous lines of a product, and one for each
 * other operand. */
static double wgmma_packing_seconds(const tsl_cuda_wgmma *tile, const tsl_device *device) {
  const tsl_wgmma_constants *rates = tile->rates;
  const tsl_shape *shapes[] = {&tile->problem.a, &tile->problem.b};
  const bool mn_major[] = {tile->a_mn_major, tile->b_mn_major};
  bool has_lines = tile->input_bytes == 1 && tsl_cuda_wgmma_packed_bytes(tile) > 0;
  int others = 0;
  for (int i = 0; i < 2 && tile->input_bytes > 1; i++)
    if (bytes_if_packed(shapes[i], i == 0, mn_major[i], tile->element) > 0) {
      const bool is_line =
          step_in_line(shapes[i], i == 0, mn_major[i]) == 1 && tsl_problem_batch(&tile->problem) == 1;
      has_lines |= is_line, others += !is_line;
    }
  return (tile->input_bytes == 1 ? rates->lines_traffic : rates->rows_traffic) *
             tsl_cuda_wgmma_packed_bytes(tile) / device->bandwidth +
         (has_lines ? rates->lines_seconds : 0) + others * device->launch_seconds;
}

double tsl_cuda_wgmma_seconds(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_wgmma_constants *rates = &tsl_model_constants_of(device)->wgmma;
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(problem, config, device, TSL_CUDA_WGMMA_PLAIN);
  const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, device);
  const double folding = schedule.parts > 1
                             ? rates->fold_share * device->launch_seconds +
                                   rates->fold_moves * (double)schedule.sums_bytes / device->bandwidth
                             : 0;
  return wgmma_packing_seconds(&tile, device) + folding +
         (tile.is_flow ? flow_form_seconds(&tile, &schedule, problem, device)
                       : stay_form_seconds(&tile, &schedule, problem, device));
}

void tsl_cuda_wgmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account) {
  const tsl_cuda_wgmma tile = tsl_cuda_wgmma_derive(problem, config, device, TSL_CUDA_WGMMA_PLAIN);
  const tsl_cuda_wgmma_schedule schedule = tsl_cuda_wgmma_get_schedule(&tile, device);
  const double tiles =
                   (double)schedule.tiles_m * (double)schedule.tiles_n * (tile.is_flow ? 1 : tile.cluster),
               panels = ceil((double)problem->k / tile.depth),
               panel = (double)(tile.tile_m + tile.b_lines) * 128;
  tsl_cost_counts_groups((double)schedule.blocks, tile.items, (double)schedule.blocks * tile.items,
                         (int64_t)tile.shared_bytes, device, account);
  account->computed = tiles * panels * tile.tile_m * tile.tile_n * tile.depth;
  account->local =
      (tsl_moved){.read = tiles * panels * (tile.tile_m / 64.0) * (64 + (double)tile.tile_n) * 128,
                  .written = tiles * panels * panel};
  account->global.read = tiles * panels * 128 * (tile.a_lines_loaded + tile.b_lines_loaded);
  /* Each of four tensor cores multiplies and adds 512 numbers of 32 bytes along k a clock. */
  account->rate =
      2.0 * 4096 / tile.element * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  tsl_cost_counts_copies(tsl_cuda_wgmma_packed_bytes(&tile), account);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
