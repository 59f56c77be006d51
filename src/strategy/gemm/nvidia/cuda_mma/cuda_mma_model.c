/* Tile, memory layout and division of work of cuda_mma, and its performance model in clocks of a
 * multiprocessor (measurements: docs/lab/cuda_mma.md). */
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_mma/cuda_mma.h"

#include <math.h>

/* Supported tiles, with their tile of a warp. */
static const struct {
  int tile_m, tile_n, warp_m, warp_n, groups; /* groups: blocks of a multiprocessor by registers */
  double efficiency;                          /* fraction of the peak for large k */
} shapes[] = {
    {128, 256, 64, 64, 1, 0.821}, {256, 128, 64, 64, 1, 0.848}, {128, 128, 64, 64, 2, 0.832},
    {128, 64, 64, 32, 3, 0.800},  {64, 128, 32, 64, 3, 0.712},  {64, 64, 32, 32, 4, 0.692},
    {128, 32, 32, 32, 4, 0.427},  {32, 128, 32, 32, 4, 0.700},  {64, 32, 32, 16, 4, 0.337},
    {32, 64, 16, 32, 4, 0.452},   {128, 16, 32, 16, 4, 0.295},  {16, 128, 16, 32, 4, 0.520},
    {32, 32, 16, 16, 4, 0.235},   {64, 16, 16, 16, 4, 0.227},   {16, 64, 16, 16, 4, 0.306},
};

enum { MAX_STAGES = 8, BLOCK_BYTES = 1024 /* reserved by the system for each block */ };

static void mma_layout_memory(tsl_cuda_mma *tile, const tsl_device *device) {
  const int64_t stage = (int64_t)(tile->tile_m + tile->tile_n) * tile->depth_bytes,
                inside =
                    (int64_t)(device->local_bytes_inside ? device->local_bytes_inside : device->local_bytes),
                own = (inside + BLOCK_BYTES) / tile->groups - BLOCK_BYTES, fits = own / stage;
  tile->stages = fits < 2 ? 0 : (int)tsl_min(fits, MAX_STAGES);
  tile->shared_bytes = (uint64_t)(tile->stages * stage);
}

/* Returns true if a distance in elements of `element` bytes is a multiple of `width` bytes. */
static bool is_multiple(int64_t elements, int element, int width) {
  return elements * element % width == 0;
}

int tsl_cuda_mma_width(int element, int64_t along, int64_t line, int64_t lines, int64_t offset,
                       int64_t step) {
  int width = along == 1 ? 16 : 0;
  while (width > 0 && !(is_multiple(offset, element, width) && is_multiple(step, element, width) &&
                        (lines <= 1 || is_multiple(line, element, width))))
    width = width > 4 ? width / 2 : 0;
  return width;
}

static int shape_width(int element, const tsl_shape *shape, bool by_rows, int64_t step) {
  return by_rows ? tsl_cuda_mma_width(element, shape->col_stride, shape->row_stride, shape->rows, 0, step)
                 : tsl_cuda_mma_width(element, shape->row_stride, shape->col_stride, shape->cols, 0, step);
}

tsl_cuda_mma tsl_cuda_mma_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  tsl_cuda_mma tile = {
      .swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1,
      .packs = config->value[TSL_CUDA_MMA_FROM] == TSL_CUDA_MMA_PACKED,
      .is_eight = problem->a.type == TESELA_E4M3 || problem->a.type == TESELA_E5M2,
      .element = (int)tsl_type(problem->a.type)->size,
      .tile_m = (int)config->value[TSL_CUDA_MMA_TILE_M],
      .tile_n = (int)config->value[TSL_CUDA_MMA_TILE_N],
      .depth_bytes = (int)config->value[TSL_CUDA_MMA_DEPTH],
  };
  tile.depth = tile.depth_bytes / tile.element;
  tile.problem = tile.swapped ? tsl_problem_swapped(problem) : *problem;
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  tile.a_mn_major = !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_mn_major = !tsl_launch_along(b->row_stride, b->col_stride);
  tile.a_width = shape_width(tile.element, a, !tile.a_mn_major, 0);
  tile.b_width = shape_width(tile.element, b, tile.b_mn_major, 0);
  if (tile.packs) {
    const tsl_rows rows_a = tsl_rows_of(tile.problem.m, problem->k, tile.a_mn_major, tile.element),
                   rows_b = tsl_rows_of(tile.problem.n, problem->k, tile.b_mn_major, tile.element);
    tile.a_bytes = tsl_rows_bytes(&rows_a), tile.b_bytes = tsl_rows_bytes(&rows_b);
  }
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].tile_m == tile.tile_m && shapes[i].tile_n == tile.tile_n) {
      tile.warp_m = shapes[i].warp_m, tile.warp_n = shapes[i].warp_n, tile.groups = shapes[i].groups;
      tile.efficiency = shapes[i].efficiency;
      tile.items = 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n);
      mma_layout_memory(&tile, device);
    }
  return tile;
}

/* Multiply-adds per clock and multiprocessor of mma.sync with 16-bit elements and f32 sums, by first
 * architecture: data sheets' numbers of the faster cards; 90 is measured (only wgmma reaches twice as many).
 * 8-bit integers have twice the rate, tf32 half; 8-bit floating point is multiplied as 16 bits. */
static const struct {
  int architecture; /* 10 times the compute capability */
  double rate;      /* multiply-adds per clock and multiprocessor */
} rates[] = {{80, 1024}, {86, 512}, {90, 1150}, {100, 1024}, {110, 512}};

/* Clocks: from a block's start to its first full stage; epilogue of a thread per sum, and its factor where
 * elements of C are stored one by one; latency of a panel's copies; barrier of a panel. */
static const double first_clocks = 1950, sum_clocks = 51, ones_cost = 15, panel_clocks = 1660,
                    barrier_clocks = 42;
/* Clocks of a warp for a chunk whose bounds are checked, and for each element copied alone. */
static const double look_clocks = 490, element_clocks = 25;
static const double few_warps = 0.76; /* rate with one warp per tensor core, relative to two */
/* Reached fraction of memory bandwidth; bytes from L2 per clock and multiprocessor; start of the reduction;
 * fraction of launch latency that remains between successive launches. */
static const double bandwidth_share = 0.84, cache_bytes = 46, fold_seconds = 4.9e-6, launch_share = 0.39;

static double mma_unit_rate(const tsl_cuda_mma *tile, const tsl_device *device) {
  double rate = rates[0].rate;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (device->architecture >= rates[i].architecture)
      rate = rates[i].rate;
  return tile->is_eight ? rate : rate * 2 / tile->element;
}

/* Returns the extra clocks of a panel's copies where tiles are partial or operands are not aligned. */
static double part_clocks(const tsl_cuda_mma *tile) {
  const tsl_problem *problem = &tile->problem;
  const int width_a = tile->packs ? 16 : tile->a_width, width_b = tile->packs ? 16 : tile->b_width;
  const double chunks_a = (double)tile->tile_m * tile->depth_bytes / 16 / tile->items,
               chunks_b = (double)tile->tile_n * tile->depth_bytes / 16 / tile->items;
  if (width_a == 16 && width_b == 16 && problem->m >= tile->tile_m && problem->n >= tile->tile_n)
    return 0;
  return chunks_a * (look_clocks + (width_a ? 0 : element_clocks * 16 / tile->element)) +
         chunks_b * (look_clocks + (width_b ? 0 : element_clocks * 16 / tile->element));
}

/* Returns the time of three overlapping activities: about the longest, more if others are nearly as long. */
static double mma_overlap_seconds(double a, double b, double c) {
  return pow(pow(a, 3.5) + pow(b, 3.5) + pow(c, 3.5), 1 / 3.5);
}

/* Returns the bytes of both operands' packed copies, of operands whose copies are below 16 bytes. */
static double packed_bytes(const tsl_cuda_mma *tile) {
  return tile->packs ? (tile->a_width < 16 ? (double)tile->a_bytes : 0) +
                           (tile->b_width < 16 ? (double)tile->b_bytes : 0)
                     : 0;
}

static double mma_packing_seconds(const tsl_cuda_mma *tile, const tsl_device *device) {
  const double bytes = packed_bytes(tile);
  return bytes > 0 ? 2.5 * bytes / device->bandwidth + device->launch_seconds : 0;
}

/* Returns the predicted seconds of a run with `tiles` tiles of C and `parts` split-k parts. */
static double mma_seconds_of(const tsl_cuda_mma *tile, double tiles, int64_t parts,
                             const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const double units = fmax(1, device->compute_units),
               blocks = tiles * (double)parts * (double)tsl_problem_batch(problem),
               each = ceil(blocks / units), together = fmin(each, tile->groups),
               warps = together * tile->items / 128, area = (double)tile->tile_m * tile->tile_n;
  const double panels = ceil(ceil((double)problem->k / tile->depth) / (double)parts),
               bytes = (double)(tile->tile_m + tile->tile_n) * tile->depth_bytes;
  const bool by_quads = problem->c.col_stride == 1 && (problem->m == 1 || problem->c.row_stride % 4 == 0);
  const double stored = sum_clocks * (by_quads ? 1 : ones_cost),
               rate = mma_unit_rate(tile, device) * tile->efficiency * (warps >= 2 ? 1 : few_warps),
               rounds = ceil(each / tile->groups),
               waited = rounds * panels * (panel_clocks / fmax(1, tile->stages - 1) + part_clocks(tile)),
               products = each * panels *
                          (tile->depth * area / rate + barrier_clocks + part_clocks(tile) * warps / 4),
               clocks = fmax(products, waited) + rounds * (first_clocks + stored * area / tile->items),
               cached = blocks * panels * bytes / (cache_bytes * units);
  const double clock = 1e6 * fmax(1, device->clock_mhz),
               seconds =
                   mma_overlap_seconds(clocks / clock, cached / clock,
                                       tsl_problem_bytes(problem) / (bandwidth_share * device->bandwidth));
  const double sums = 8.0 * (double)problem->m * (double)problem->n * (double)parts;
  return launch_share * device->launch_seconds + seconds +
         (parts > 1 ? fold_seconds + sums / device->bandwidth : 0);
}

double tsl_cuda_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  const tsl_cuda_mma_schedule schedule = tsl_cuda_mma_get_schedule(&tile, device);
  return mma_packing_seconds(&tile, device) +
         mma_seconds_of(&tile, (double)schedule.tiles_m * (double)schedule.tiles_n, schedule.parts, device);
}

/* Minimal panels of a split-k part. The model chooses the number of parts; all blocks must be resident. */
enum { PART_PANELS = 4 };

static int64_t mma_parts_of(const tsl_cuda_mma *tile, int64_t tiles, const tsl_device *device) {
  const int64_t slots = device->compute_units * (int64_t)tile->groups,
                panels = tsl_ceil_div(tile->problem.k, tile->depth),
                most = tiles > 0 && tsl_problem_batch(&tile->problem) == 1
                           ? tsl_min(slots / tiles, panels / PART_PANELS)
                           : 1;
  int64_t best = 1;
  double least = INFINITY;
  for (int64_t parts = 1; parts <= tsl_max(1, most); parts++) {
    const double seconds = mma_seconds_of(tile, (double)tiles, parts, device);
    if (seconds < least)
      least = seconds, best = parts;
  }
  return best;
}

tsl_cuda_mma_schedule tsl_cuda_mma_get_schedule(const tsl_cuda_mma *tile, const tsl_device *device) {
  const int64_t m = tile->problem.m, n = tile->problem.n;
  tsl_cuda_mma_schedule schedule = {.tiles_m = tsl_ceil_div(m, tile->tile_m),
                                    .tiles_n = tsl_ceil_div(n, tile->tile_n)};
  const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
  schedule.parts = mma_parts_of(tile, tiles, device);
  schedule.blocks = tiles * schedule.parts;
  schedule.pitch = tsl_round_up(n, 4);
  schedule.sums_bytes = schedule.parts > 1 ? schedule.parts * m * schedule.pitch * 4 : 0;
  return schedule;
}

void tsl_cuda_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  const tsl_cuda_mma_schedule schedule = tsl_cuda_mma_get_schedule(&tile, device);
  const double tiles = (double)schedule.tiles_m * (double)schedule.tiles_n,
               depth = ceil((double)problem->k / tile.depth) * tile.depth,
               bytes = tiles * depth * tile.element;
  tsl_cost_counts_groups((double)schedule.blocks, tile.items, (double)schedule.blocks * tile.items,
                         (int64_t)tile.shared_bytes, device, account);
  account->per_unit = tile.groups;
  account->computed = tiles * depth * tile.tile_m * tile.tile_n;
  account->local =
      (tsl_moved){.read = bytes * tile.tile_m * tile.tile_n * (1.0 / tile.warp_m + 1.0 / tile.warp_n),
                  .written = bytes * (tile.tile_m + tile.tile_n)};
  account->global.read = account->local.written;
  account->rate =
      2 * mma_unit_rate(&tile, device) * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  tsl_cost_counts_copies(packed_bytes(&tile), account);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
