/* What follows from a problem and a config of cuda_mma: a tile, its memory, how its work is shared out; and
 * its model, in clocks of a multiprocessor, whose constants docs/lab/cuda_mma.md tells the origin of. */
#include "host/int_math.h"
#include "strategy/gemm/cuda_mma/cuda_mma.h"

#include <math.h>

/* Tiles, their warps' tiles, blocks a multiprocessor has registers for, and what tensor cores make of their
 * rate in long sums. */
static const struct {
  int tile_m, tile_n, warp_m, warp_n, groups;
  double efficiency;
} shapes[] = {
    {128, 256, 64, 64, 1, 0.821}, {256, 128, 64, 64, 1, 0.848}, {128, 128, 64, 64, 2, 0.832},
    {128, 64, 64, 32, 3, 0.800},  {64, 128, 32, 64, 3, 0.712},  {64, 64, 32, 32, 4, 0.692},
    {128, 32, 32, 32, 4, 0.427},  {32, 128, 32, 32, 4, 0.700},  {64, 32, 32, 16, 4, 0.337},
    {32, 64, 16, 32, 4, 0.452},   {128, 16, 32, 16, 4, 0.295},  {16, 128, 16, 32, 4, 0.520},
    {32, 32, 16, 16, 4, 0.235},   {64, 16, 16, 16, 4, 0.227},   {16, 64, 16, 16, 4, 0.306},
};

enum { STAGES_MOST = 8, BLOCK_BYTES = 1024 /* of the system's in each block's shared memory */ };

/* As many stages as there is memory for. */
static void mma_share_memory(tsl_cuda_mma *tile, const tsl_device *device) {
  const int64_t stage = (int64_t)(tile->tile_m + tile->tile_n) * tile->depth_bytes,
                inside =
                    (int64_t)(device->local_bytes_inside ? device->local_bytes_inside : device->local_bytes),
                own = (inside + BLOCK_BYTES) / tile->groups - BLOCK_BYTES, fits = own / stage;
  tile->stages = fits < 2 ? 0 : (int)tsl_min(fits, STAGES_MOST);
  tile->shared_bytes = (uint64_t)(tile->stages * stage);
}

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
  tile.a_across = !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_across = !tsl_launch_along(b->row_stride, b->col_stride);
  tile.a_width = shape_width(tile.element, a, !tile.a_across, 0);
  tile.b_width = shape_width(tile.element, b, tile.b_across, 0);
  if (tile.packs) {
    const tsl_rows rows_a = tsl_rows_of(tile.problem.m, problem->k, tile.a_across, tile.element),
                   rows_b = tsl_rows_of(tile.problem.n, problem->k, tile.b_across, tile.element);
    tile.a_bytes = tsl_rows_bytes(&rows_a), tile.b_bytes = tsl_rows_bytes(&rows_b);
  }
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].tile_m == tile.tile_m && shapes[i].tile_n == tile.tile_n) {
      tile.warp_m = shapes[i].warp_m, tile.warp_n = shapes[i].warp_n, tile.groups = shapes[i].groups;
      tile.efficiency = shapes[i].efficiency;
      tile.items = 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n);
      mma_share_memory(&tile, device);
    }
  return tile;
}

/* --- the model --- */

/* Multiply-adds of 16 bits, sums in f32, that a multiprocessor's tensor cores do in a clock by mma.sync, by
 * the architecture from which the number holds: data sheets' (of the faster of two kinds, where cards
 * differ); 90 measured, where only others reach twice as many. Others by their bytes: of 8 bits twice as many
 * integers, of tf32 half; 8-bit floating point is multiplied as 16 bits. */
static const struct {
  int architecture;
  double rate;
} rates[] = {{80, 1024}, {86, 512}, {90, 1150}, {100, 1024}, {110, 512}};

/* Clocks from a block's start to its first full stage; of its last step for each sum of a thread, and how
 * much longer it takes where numbers of C are stored one by one; from asking for a panel until it has come;
 * and of a panel's barrier. */
static const double first_clocks = 1950, sum_clocks = 51, ones_cost = 15, panel_clocks = 1660,
                    barrier_clocks = 42;
/* What chunks cost a warp that are looked at one by one, and those of them that come element by element, each
 * element. */
static const double look_clocks = 490, element_clocks = 25;
/* What one warp for each tensor core makes of what two do. */
static const double few_warps = 0.76;
/* Of memory's bandwidth, and bytes of the last cache's a clock and multiprocessor, what such copies reach; of
 * a fold, its start; and of a launch's, what is left where one follows another. */
static const double bandwidth_share = 0.84, cache_bytes = 46, fold_seconds = 4.9e-6, launch_share = 0.39;

static double mma_unit_rate(const tsl_cuda_mma *tile, const tsl_device *device) {
  double rate = rates[0].rate;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (device->architecture >= rates[i].architecture)
      rate = rates[i].rate;
  return tile->is_eight ? rate : rate * 2 / tile->element;
}

/* Clocks of a thread's copies for each panel, beyond those of a whole one's. */
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

/* Three that go on at once: the longest, and more where others are nearly as long. */
static double mma_together_of(double a, double b, double c) {
  return pow(pow(a, 3.5) + pow(b, 3.5) + pow(c, 3.5), 1 / 3.5);
}

/* Bytes that are packed first. */
static double packed_bytes(const tsl_cuda_mma *tile) {
  return tile->packs ? (tile->a_width < 16 ? (double)tile->a_bytes : 0) +
                           (tile->b_width < 16 ? (double)tile->b_bytes : 0)
                     : 0;
}

static double mma_packing_seconds(const tsl_cuda_mma *tile, const tsl_device *device) {
  const double bytes = packed_bytes(tile);
  return bytes > 0 ? 2.5 * bytes / device->bandwidth + device->launch_seconds : 0;
}

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
               seconds = mma_together_of(clocks / clock, cached / clock,
                                         tsl_problem_bytes(problem) / (bandwidth_share * device->bandwidth));
  const double sums = 8.0 * (double)problem->m * (double)problem->n * (double)parts;
  return launch_share * device->launch_seconds + seconds +
         (parts > 1 ? fold_seconds + sums / device->bandwidth : 0);
}

double tsl_cuda_mma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  const tsl_cuda_mma_shares shares = tsl_cuda_mma_shares_of(&tile, device);
  return mma_packing_seconds(&tile, device) +
         mma_seconds_of(&tile, (double)shares.tiles_m * (double)shares.tiles_n, shares.parts, device);
}

/* As many parts of k as the model likes best, of at least so many panels each, and for no more blocks than
 * units take at once. */
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

tsl_cuda_mma_shares tsl_cuda_mma_shares_of(const tsl_cuda_mma *tile, const tsl_device *device) {
  const int64_t m = tile->problem.m, n = tile->problem.n;
  tsl_cuda_mma_shares shares = {.tiles_m = tsl_ceil_div(m, tile->tile_m),
                                .tiles_n = tsl_ceil_div(n, tile->tile_n)};
  const int64_t tiles = shares.tiles_m * shares.tiles_n;
  shares.parts = mma_parts_of(tile, tiles, device);
  shares.blocks = tiles * shares.parts;
  shares.pitch = tsl_round_up(n, 4);
  shares.sums_bytes = shares.parts > 1 ? shares.parts * m * shares.pitch * 4 : 0;
  return shares;
}

void tsl_cuda_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  const tsl_cuda_mma tile = tsl_cuda_mma_of(problem, config, device);
  const tsl_cuda_mma_shares shares = tsl_cuda_mma_shares_of(&tile, device);
  const double tiles = (double)shares.tiles_m * (double)shares.tiles_n,
               depth = ceil((double)problem->k / tile.depth) * tile.depth,
               bytes = tiles * depth * tile.element;
  tsl_cost_counts_groups((double)shares.blocks, tile.items, (double)shares.blocks * tile.items,
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
  tsl_cost_counts_copies((double)shares.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
