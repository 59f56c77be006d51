/* Tile, memory layout and division of work of cuda_dmma, and its performance model in clocks of a
 * multiprocessor (measurements: docs/lab/cuda_dmma.md). */
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.h"

#include <math.h>

/* Supported tiles, and their measured efficiency for large k. */
static const struct {
  int numbers, tile_m, tile_n, slices, warp_m, warp_n, groups; /* as in tsl_cuda_dmma */
  double by_pairs, by_ones; /* fraction of the peak with copies of 16 bytes, and of single f64 */
} shapes[] = {
    {1, 128, 64, 2, 64, 32, 1, 0.863, 0.557},  {1, 64, 128, 2, 32, 64, 1, 0.926, 0.601},
    {1, 128, 128, 1, 64, 32, 1, 0.936, 0.607}, {1, 128, 64, 1, 64, 32, 2, 0.910, 0.807},
    {1, 64, 128, 1, 32, 64, 2, 0.904, 0.675},  {1, 64, 64, 1, 32, 32, 3, 0.925, 0.600},
    {1, 128, 32, 1, 32, 32, 3, 0.801, 0.503},  {1, 32, 128, 1, 32, 32, 3, 0.936, 0.562},
    {1, 64, 32, 1, 32, 16, 4, 0.752, 0.570},   {1, 32, 64, 1, 32, 16, 4, 0.790, 0.510},
    {1, 128, 16, 1, 32, 16, 4, 0.792, 0.409},  {1, 16, 128, 1, 16, 32, 4, 0.723, 0.520},
    {1, 64, 64, 2, 32, 32, 1, 0.801, 0.511},   {1, 64, 32, 4, 32, 32, 1, 0.762, 0.451},
    {1, 32, 64, 4, 32, 32, 1, 0.719, 0.476},   {1, 32, 32, 8, 32, 32, 1, 0.603, 0.356},
    {1, 16, 64, 4, 16, 32, 1, 0.572, 0.268},   {1, 64, 16, 4, 32, 16, 1, 0.428, 0.268},
    {1, 16, 32, 8, 16, 32, 1, 0.494, 0.214},   {1, 32, 16, 8, 32, 16, 1, 0.475, 0.278},
    {2, 128, 64, 1, 32, 32, 1, 0.903, 0.803},  {2, 64, 64, 1, 32, 32, 2, 0.900, 0.800},
    {2, 64, 32, 1, 32, 16, 3, 0.801, 0.701},   {2, 32, 64, 1, 16, 32, 3, 0.813, 0.713},
    {2, 64, 64, 2, 32, 32, 1, 0.846, 0.746},   {2, 32, 32, 4, 32, 32, 1, 0.926, 0.826},
    {2, 16, 32, 4, 16, 32, 1, 0.822, 0.722},   {2, 32, 16, 4, 32, 16, 1, 0.800, 0.700},
};

enum {
  MAX_STAGES = 6,
  PADDING = 32,
  FOLD_PADDING = 64,
  BLOCK_BYTES = 1024, /* reserved by the system for each block */
  STAY_DEPTH = 128
};

/* Returns the padded bytes of a panel in shared memory; across: it is MN-major. */
static int64_t bytes_of_panel(int numbers, bool across, int lines, int depth) {
  const int row = across ? lines : depth, rows = across ? depth : lines;
  return (int64_t)rows * (8 * numbers * row + (numbers == 2 && !across ? 2 * PADDING : PADDING));
}

/* Sets as many stages as fit in shared memory. The stages must also hold sums that meet in shared memory. */
static void dmma_layout_memory(tsl_cuda_dmma *tile, const tsl_device *device) {
  const int64_t stage = bytes_of_panel(tile->numbers, tile->a_mn_major, tile->tile_m, tile->depth) +
                        bytes_of_panel(tile->numbers, tile->b_mn_major, tile->tile_n, tile->depth),
                own = ((int64_t)device->local_bytes_inside + BLOCK_BYTES) / tile->groups - BLOCK_BYTES,
                fits = own / stage,
                sums =
                    (int64_t)tile->slices * tile->tile_m * (8 * tile->numbers * tile->tile_n + FOLD_PADDING);
  tile->stages = fits < 2 ? 0 : (int)tsl_min(fits, MAX_STAGES);
  if (tile->slices * tile->cluster > 1 && tile->stages * stage < sums)
    tile->stages = 0;
  tile->shared_bytes = (uint64_t)(tile->stages * stage);
}

bool tsl_cuda_dmma_pairs(int numbers, int64_t along, int64_t line, int64_t lines, int64_t offset) {
  return numbers == 2 || (along == 1 && offset % 2 == 0 && (lines == 1 || line % 2 == 0));
}

static bool shape_by_pairs(int numbers, const tsl_shape *shape, bool by_rows) {
  return by_rows ? tsl_cuda_dmma_pairs(numbers, shape->col_stride, shape->row_stride, shape->rows, 0)
                 : tsl_cuda_dmma_pairs(numbers, shape->row_stride, shape->col_stride, shape->cols, 0);
}

static bool by_pairs(const tsl_cuda_dmma *tile) {
  return shape_by_pairs(tile->numbers, &tile->problem.a, !tile->a_mn_major) &&
         shape_by_pairs(tile->numbers, &tile->problem.b, tile->b_mn_major);
}

/* Returns true if a tile can begin earlier to be whole; pairs need an even number of lines. */
static bool dmma_is_whole(int64_t lines, int tile, bool across) {
  return lines >= tile && (lines % 2 == 0 || !across);
}

/* Returns true if blocks are persistent: loads overlap stores where tiles are many and k is short. */
static bool dmma_stays(const tsl_cuda_dmma *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const int64_t tiles = tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n);
  return tile->numbers == 1 && tile->slices == 1 && tile->cluster == 1 && tsl_problem_batch(problem) == 1 &&
         problem->k > 0 && problem->k <= STAY_DEPTH && problem->k % tile->depth == 0 &&
         tiles > (int64_t)device->compute_units * tile->groups &&
         dmma_is_whole(problem->m, tile->tile_m, tile->a_mn_major) &&
         dmma_is_whole(problem->n, tile->tile_n, tile->b_mn_major);
}

tsl_cuda_dmma tsl_cuda_dmma_of(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  tsl_cuda_dmma tile = {
      .swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .numbers = tsl_type(problem->c.type)->is_complex ? 2 : 1,
      .tile_m = (int)config->value[TSL_CUDA_DMMA_TILE_M],
      .tile_n = (int)config->value[TSL_CUDA_DMMA_TILE_N],
      .slices = (int)config->value[TSL_CUDA_DMMA_SLICES],
      .cluster = (int)config->value[TSL_CUDA_DMMA_CLUSTER],
  };
  tile.depth = tile.slices * TSL_CUDA_DMMA_DEPTH;
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  tile.a_mn_major = !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_mn_major = !tsl_launch_along(b->row_stride, b->col_stride);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].numbers == tile.numbers && shapes[i].tile_m == tile.tile_m &&
        shapes[i].tile_n == tile.tile_n && shapes[i].slices == tile.slices) {
      tile.warp_m = shapes[i].warp_m, tile.warp_n = shapes[i].warp_n, tile.groups = shapes[i].groups;
      tile.efficiency = by_pairs(&tile) ? shapes[i].by_pairs : shapes[i].by_ones;
      tile.items = 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n) * tile.slices;
      dmma_layout_memory(&tile, device);
      tile.is_persistent = dmma_stays(&tile, device);
    }
  return tile;
}

/* Clocks from a block's start to its first full stage; epilogue of a thread per sum; rate with one warp per
 * tensor core, relative to two; slowdown of bounds-checked single copies per copy and product of a warp. */
static const double first_clocks = 3480, sum_clocks = 125, few_warps = 0.683, part_cost = 0.83;
/* Slowdowns where elements of C are stored one by one: of the epilogue, and of memory traffic. */
static const double odd_sums = 3.13, odd_moves = 1.37;
static const double hidden = 0.548; /* fraction of a block's start and end that other resident blocks hide */
static const double panel_clocks = 1620; /* latency of a panel's copies */
/* Reached fraction of memory bandwidth; bytes from L2; start of the reduction; fraction of launch latency
 * that remains between successive launches. */
static const double bandwidth_share = 0.777, cache_bytes = 32.1 /* per clock and multiprocessor */,
                    fold_seconds = 2.9e-6, launch_share = 0.293;
/* Multiprocessors that clusters leave idle, for each block of a cluster but the first. */
static const double cluster_loss = 3.56;

/* Returns the f64 multiply-adds per clock of a multiprocessor's tensor cores: twice FMA where f64 has half
 * the rate of f32, else the rate of FMA. */
static double dmma_unit_rate(const tsl_device *device) {
  const double fma = device->peak_f64 / (2e6 * fmax(1, device->clock_mhz) * fmax(1, device->compute_units));
  return fmax(1e-3, device->peak_f64 * 3 > device->peak_f32 ? 2 * fma : fma);
}

/* Reduction within a cluster: fixed clocks, and bytes of sums moved in a clock. */
static const double blocks_clocks = 1840, fold_bytes = 175;

/* Returns the clocks in which the sums of slices and of a cluster's blocks are added. */
static double dmma_meeting_clocks(const tsl_cuda_dmma *tile) {
  const double bytes = 16.0 * tile->numbers * tile->tile_m * tile->tile_n;
  return (tile->slices * tile->cluster > 1 ? tile->slices * bytes / fold_bytes : 0) +
         (tile->cluster > 1 ? blocks_clocks + bytes / fold_bytes : 0);
}

/* Returns the time of three overlapping activities: about the longest, more if others are nearly as long. */
static double dmma_overlap_seconds(double a, double b, double c) {
  return pow(pow(a, 4) + pow(b, 4) + pow(c, 4), 0.25);
}

/* Returns the predicted seconds of a run with `tiles` tiles of C and `parts` split-k parts. */
static double dmma_seconds_of(const tsl_cuda_dmma *tile, double tiles, int64_t parts,
                              const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const double units = fmax(1, device->compute_units),
               blocks = tiles * (double)parts * (double)tsl_problem_batch(problem),
               each = ceil(blocks / fmax(1, units - cluster_loss * (tile->cluster - 1))),
               together = fmin(each, tile->groups), warps = together * tile->items / 128,
               numbers = tile->numbers, products_each = numbers * numbers,
               area = products_each * tile->tile_m * tile->tile_n,
               lines = numbers * (tile->tile_m + tile->tile_n);
  const double depth = ceil(ceil((double)problem->k / tile->depth) / (double)parts) * tile->depth;
  const bool is_part = problem->m < tile->tile_m || problem->n < tile->tile_n;
  const double copies = lines * tile->depth / tile->items,
               products = products_each * tile->warp_m * tile->warp_n / 64 /* of 16 x 8 x 8 each */,
               slowed = is_part ? 1 + part_cost * copies / products : 1,
               rate = dmma_unit_rate(device) * tile->efficiency * (warps >= 2 ? 1 : few_warps) / slowed;
  const double rounds = ceil(each / tile->groups),
               waited = rounds * depth / tile->depth * panel_clocks / fmax(1, tile->stages - 1);
  const bool is_odd = tile->numbers == 1 && parts == 1 && problem->c.row_stride % 2 != 0;
  const double sums_each = (double)tile->numbers * tile->tile_m * tile->tile_n / tile->items;
  /* After the first round, resident blocks start and end while others multiply. */
  const double around = sum_clocks * (is_odd ? odd_sums : 1) * sums_each + dmma_meeting_clocks(tile),
               later = (tile->is_persistent ? around : first_clocks + around) *
                       (1 - hidden * (tile->groups - 1) / tile->groups);
  const double clocks =
                   fmax(each * depth * area / rate, waited) + first_clocks + around + (rounds - 1) * later,
               cached = blocks * depth * lines * 8 / (cache_bytes * units);
  const double c_bytes =
      8.0 * numbers * (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem);
  const double clock = 1e6 * fmax(1, device->clock_mhz),
               seconds = dmma_overlap_seconds(
                   clocks / clock, cached / clock,
                   (tsl_problem_bytes(problem) + (is_odd ? odd_moves - 1 : 0) * c_bytes) /
                       (bandwidth_share * device->bandwidth));
  const double sums = 16.0 * tile->numbers * (double)problem->m * (double)problem->n * (double)parts;
  return launch_share * device->launch_seconds + seconds +
         (parts > 1 && tile->cluster == 1 ? fold_seconds + sums / device->bandwidth : 0);
}

double tsl_cuda_dmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(problem, config, device);
  const tsl_cuda_dmma_schedule schedule = tsl_cuda_dmma_get_schedule(&tile, device);
  return dmma_seconds_of(&tile, (double)schedule.tiles_m * (double)schedule.tiles_n, schedule.parts, device);
}

/* Minimal panels of a split-k part. The model chooses the number of parts; all blocks must be resident. */
enum { PART_PANELS = 2 };

/* Returns the number of split-k parts that the model finds fastest; the config's for a cluster. */
static int64_t dmma_parts_of(const tsl_cuda_dmma *tile, int64_t tiles, const tsl_device *device) {
  const int64_t slots = device->compute_units * (int64_t)tile->groups,
                panels = tsl_ceil_div(tile->problem.k, tile->depth),
                most = tiles > 0 && tsl_problem_batch(&tile->problem) == 1
                           ? tsl_min(slots / tiles, panels / PART_PANELS)
                           : 1;
  int64_t best = 1;
  double least = INFINITY;
  if (tile->cluster > 1)
    return tile->cluster;
  for (int64_t parts = 1; parts <= tsl_max(1, most); parts++) {
    const double seconds = dmma_seconds_of(tile, (double)tiles, parts, device);
    if (seconds < least)
      least = seconds, best = parts;
  }
  return best;
}

tsl_cuda_dmma_schedule tsl_cuda_dmma_get_schedule(const tsl_cuda_dmma *tile, const tsl_device *device) {
  const int64_t m = tile->problem.m, n = tile->problem.n;
  tsl_cuda_dmma_schedule schedule = {.tiles_m = tsl_ceil_div(m, tile->tile_m),
                                     .tiles_n = tsl_ceil_div(n, tile->tile_n)};
  const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
  schedule.parts = dmma_parts_of(tile, tiles, device);
  schedule.blocks = tiles * schedule.parts;
  schedule.pitch = tile->numbers == 2 ? n : tsl_round_up(n, 2);
  schedule.sums_bytes =
      schedule.parts > 1 && tile->cluster == 1 ? schedule.parts * m * schedule.pitch * 8 * tile->numbers : 0;
  return schedule;
}

void tsl_cuda_dmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account) {
  const tsl_cuda_dmma tile = tsl_cuda_dmma_of(problem, config, device);
  const tsl_cuda_dmma_schedule schedule = tsl_cuda_dmma_get_schedule(&tile, device);
  const double tiles = (double)schedule.tiles_m * (double)schedule.tiles_n,
               depth = ceil((double)problem->k / tile.depth) * tile.depth,
               bytes = tiles * depth * 8 * tile.numbers;
  tsl_cost_counts_groups((double)schedule.blocks, tile.items, (double)schedule.blocks * tile.items,
                         (int64_t)tile.shared_bytes, device, account);
  account->per_unit = tile.groups;
  account->computed = tiles * depth * tile.tile_m * tile.tile_n;
  account->local =
      (tsl_moved){.read = bytes * tile.tile_m * tile.tile_n * (1.0 / tile.warp_m + 1.0 / tile.warp_n),
                  .written = bytes * (tile.tile_m + tile.tile_n)};
  account->global.read = account->local.written;
  account->rate =
      2 * dmma_unit_rate(device) * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
