/* Configurations of the sm_80 base: tiles, memory layout, and the constants of each element trait.
 * Measurements: docs/lab/cuda_mma.md, docs/lab/cuda_dmma.md. */
#include "host/int_math.h"
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

#include <math.h>

/* Elements: up to 32 bits, and f64, c128 and c64. */
enum { NARROW, F64, C128, C64 };

/* Supported tiles, with their measured efficiency. */
static const struct {
  int kind, tile_m, tile_n, slices, warp_m, warp_n;
  int groups;                 /* blocks of a multiprocessor by registers */
  double efficiency, by_ones; /* fraction of the peak for large k; with copies of single f64 */
} shapes[] = {
    {NARROW, 128, 256, 1, 64, 64, 1, 0.821, 0.821}, {NARROW, 256, 128, 1, 64, 64, 1, 0.848, 0.848},
    {NARROW, 128, 128, 1, 64, 64, 2, 0.832, 0.832}, {NARROW, 128, 64, 1, 64, 32, 3, 0.800, 0.800},
    {NARROW, 64, 128, 1, 32, 64, 3, 0.712, 0.712},  {NARROW, 64, 64, 1, 32, 32, 4, 0.692, 0.692},
    {NARROW, 128, 32, 1, 32, 32, 4, 0.427, 0.427},  {NARROW, 32, 128, 1, 32, 32, 4, 0.700, 0.700},
    {NARROW, 64, 32, 1, 32, 16, 4, 0.337, 0.337},   {NARROW, 32, 64, 1, 16, 32, 4, 0.452, 0.452},
    {NARROW, 128, 16, 1, 32, 16, 4, 0.295, 0.295},  {NARROW, 16, 128, 1, 16, 32, 4, 0.520, 0.520},
    {NARROW, 32, 32, 1, 16, 16, 4, 0.235, 0.235},   {NARROW, 64, 16, 1, 16, 16, 4, 0.227, 0.227},
    {NARROW, 16, 64, 1, 16, 16, 4, 0.306, 0.306},   {F64, 128, 64, 2, 64, 32, 1, 0.863, 0.557},
    {F64, 64, 128, 2, 32, 64, 1, 0.899, 0.583},     {F64, 128, 128, 1, 64, 32, 1, 0.900, 0.584},
    {F64, 128, 64, 1, 64, 32, 2, 0.958, 0.849},     {F64, 64, 128, 1, 32, 64, 2, 0.952, 0.711},
    {F64, 64, 64, 1, 32, 32, 3, 0.944, 0.612},      {F64, 128, 32, 1, 32, 32, 3, 0.801, 0.503},
    {F64, 32, 128, 1, 32, 32, 3, 0.927, 0.556},     {F64, 64, 32, 1, 32, 16, 4, 0.855, 0.648},
    {F64, 32, 64, 1, 32, 16, 4, 0.790, 0.510},      {F64, 128, 16, 1, 32, 16, 4, 0.792, 0.409},
    {F64, 16, 128, 1, 16, 32, 4, 0.695, 0.500},     {F64, 64, 64, 2, 32, 32, 1, 0.890, 0.568},
    {F64, 64, 32, 4, 32, 32, 1, 0.786, 0.465},      {F64, 32, 64, 4, 32, 32, 1, 0.765, 0.506},
    {F64, 32, 32, 8, 32, 32, 1, 0.670, 0.396},      {F64, 16, 64, 4, 16, 32, 1, 0.572, 0.268},
    {F64, 64, 16, 4, 32, 16, 1, 0.428, 0.268},      {F64, 16, 32, 8, 16, 32, 1, 0.494, 0.214},
    {F64, 32, 16, 8, 32, 16, 1, 0.475, 0.278},      {F64, 48, 96, 1, 48, 32, 2, 0.968, 0.602},
    {F64, 96, 48, 1, 32, 48, 2, 0.938, 0.583},      {C128, 128, 64, 1, 32, 32, 1, 0.877, 0.780},
    {C128, 64, 64, 1, 32, 32, 2, 0.833, 0.741},     {C128, 64, 32, 1, 32, 16, 3, 0.801, 0.701},
    {C128, 32, 64, 1, 16, 32, 3, 0.813, 0.713},     {C128, 64, 64, 2, 32, 32, 1, 0.846, 0.746},
    {C128, 32, 32, 4, 32, 32, 1, 0.926, 0.826},     {C128, 16, 32, 4, 16, 32, 1, 0.822, 0.722},
    {C128, 32, 16, 4, 32, 16, 1, 0.800, 0.700},     {C128, 16, 64, 1, 16, 16, 3, 0.800, 0.700},
    {C128, 64, 16, 1, 16, 16, 3, 0.800, 0.700},     {C128, 16, 16, 4, 16, 16, 3, 0.570, 0.487},
    {C64, 128, 64, 1, 32, 64, 2, 0.691, 0.657},     {C64, 64, 128, 1, 32, 64, 2, 0.686, 0.652},
    {C64, 64, 64, 2, 32, 64, 2, 0.676, 0.642},      {C64, 64, 64, 4, 32, 64, 1, 0.647, 0.615},
    {C64, 32, 64, 4, 32, 64, 2, 0.576, 0.547},      {C64, 32, 64, 8, 32, 64, 1, 0.528, 0.501},
    {C64, 32, 128, 2, 32, 64, 2, 0.571, 0.543},     {C64, 32, 128, 4, 32, 64, 1, 0.566, 0.538},
    {C64, 64, 32, 4, 64, 32, 2, 0.593, 0.563},      {C64, 64, 32, 8, 64, 32, 1, 0.603, 0.573},
    {C64, 128, 32, 2, 64, 32, 2, 0.686, 0.652},     {C64, 64, 32, 1, 32, 32, 6, 0.618, 0.588},
    {C64, 32, 64, 1, 32, 32, 6, 0.682, 0.648},      {C64, 32, 32, 4, 32, 32, 3, 0.637, 0.605},
    {C64, 16, 32, 4, 16, 32, 4, 0.565, 0.537},      {C64, 32, 16, 4, 32, 16, 4, 0.567, 0.538},
    {C64, 16, 16, 4, 16, 16, 4, 0.465, 0.442},      {C64, 16, 128, 1, 16, 32, 4, 0.613, 0.582},
    {C64, 128, 16, 1, 32, 16, 4, 0.624, 0.593},     {C64, 64, 64, 1, 32, 32, 3, 0.630, 0.598},
    {C64, 64, 32, 2, 32, 32, 3, 0.670, 0.636},      {C64, 32, 64, 2, 32, 32, 3, 0.670, 0.636},
    {C128, 32, 32, 2, 32, 16, 2, 0.771, 0.679},     {NARROW, 16, 32, 1, 16, 16, 8, 0.235, 0.235},
    {NARROW, 32, 16, 1, 16, 16, 8, 0.235, 0.235},   {F64, 16, 64, 1, 16, 16, 4, 0.572, 0.268},
    {F64, 64, 16, 1, 16, 16, 4, 0.428, 0.268},
};

static const tsl_sm80_trait narrow = {.path = "strategy/gemm/nvidia/cuda_mma/cuda_mma.cu",
                                      .kernel = "tsl_gemm_cuda_mma",
                                      .stages_max = 16,
                                      .part_panels = 4,
                                      .copy_min = 4,
                                      .store_elements = 4},
                            f64 = {.path = "strategy/gemm/nvidia/cuda_dmma/cuda_dmma.cu",
                                   .kernel = "tsl_gemm_cuda_dmma",
                                   .stages_max = 6,
                                   .part_panels = 2,
                                   .copy_min = 16,
                                   .store_elements = 2,
                                   .reduce_shares = 8};

enum {
  SLICE = 16, /* elements of k in a slice of a panel */
  PADDING = 32,
  REDUCE_PADDING = 64,
  STAY_DEPTH = 128
};

bool tsl_sm80_is_vector(int64_t count, int64_t along, int64_t line, int64_t lines, int64_t offset,
                        int64_t step) {
  return along == 1 && offset % count == 0 && step % count == 0 && (lines <= 1 || line % count == 0);
}

int tsl_sm80_width(int element, int least, int64_t along, int64_t line, int64_t lines, int64_t offset,
                   int64_t step) {
  int width = 16;
  while (width >= least && width > element &&
         !tsl_sm80_is_vector(width / element, along, line, lines, offset, step))
    width /= 2;
  return width >= least && (along == 1 || element == 16) ? width : 0;
}

static int sm80_shape_width(const tsl_sm80_tile *tile, const tsl_shape *shape, bool by_rows) {
  return by_rows ? tsl_sm80_width(tile->element, tile->trait->copy_min, shape->col_stride, shape->row_stride,
                                  shape->rows, 0, 0)
                 : tsl_sm80_width(tile->element, tile->trait->copy_min, shape->row_stride, shape->col_stride,
                                  shape->cols, 0, 0);
}

/* Returns the resident blocks of a multiprocessor: as many as registers allow. With bits=rows the blocks are
 * known, and few blocks have more stages each: at least two leave room for the next launch. */
static int count_resident_blocks(const tsl_sm80_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const int64_t tiles = tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n),
                blocks = tiles * (tile->folds ? 1 : tile->row_parts.count) * tsl_problem_batch(problem),
                each = tsl_ceil_div(blocks, tsl_max(1, device->compute_units));
  return tsl_problem_fixes_rows(problem) ? (int)tsl_min(tile->groups, tsl_max(2, each)) : tile->groups;
}

/* Sets as many stages of `stage` bytes as fit in shared memory with all resident blocks. The stages must hold
 * `least` bytes. */
static void set_stages(tsl_sm80_tile *tile, int64_t stage, int64_t least, const tsl_device *device) {
  const int64_t inside =
                    (int64_t)(device->local_bytes_inside ? device->local_bytes_inside : device->local_bytes),
                own = (inside + TSL_SM80_BLOCK_BYTES) / tile->groups - TSL_SM80_BLOCK_BYTES,
                fits = own / stage;
  tile->stages = fits < 2 ? 0 : (int)tsl_min(fits, tile->trait->stages_max);
  if (tile->stages * stage < least)
    tile->stages = 0;
  tile->shared_bytes = (uint64_t)(tile->stages * stage);
}

bool tsl_sm80_is_eight(const tsl_problem *problem) {
  return problem->a.type == TESELA_E4M3 || problem->a.type == TESELA_E5M2;
}

/* Returns the multiply-adds per clock of a multiprocessor. Table: mma.sync with 16-bit elements and f32 sums,
 * by first architecture, from data sheets of the faster cards; 90 is measured (only wgmma reaches twice as
 * many). 8-bit integers have twice the rate, tf32 half; 8-bit floating point is multiplied as 16 bits. */
static double narrow_unit_rate(const tsl_sm80_tile *tile, const tsl_device *device) {
  static const struct {
    int architecture; /* 10 times the compute capability */
    double rate;
  } rates[] = {{80, 1024}, {86, 512}, {90, 1150}, {100, 1024}, {110, 512}};
  double rate = rates[0].rate;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (device->architecture >= rates[i].architecture)
      rate = rates[i].rate;
  return tsl_sm80_is_eight(&tile->problem) ? rate : rate * 2 / tile->element;
}

/* Returns true if a tile may have lines outside of an operand. */
static bool is_partial(int64_t lines, int tile, bool mn_major, int element) {
  return lines < tile || (mn_major && lines * element % 16 != 0);
}

/* Returns the extra clocks of a thread's copies of a chunk, for copies of `width` bytes. Copies below 16
 * bytes pass through L1. is_looking: an operand has no width. Then the bounds of each chunk are checked, and
 * elements without a width are copied one by one. */
static double narrow_chunk_clocks(const tsl_sm80_tile *tile, int width, bool is_looking) {
  const tsl_sm80_constants *rates = tile->rates;
  return is_looking   ? rates->look_clocks + (width ? 0 : rates->element_clocks * 16 / tile->element)
         : width < 16 ? rates->copy_clocks * (2 + 4.0 / width)
                      : 0;
}

/* Returns the clocks that a panel waits for copies of `width` bytes, however deep it is. Elements without a
 * width arrive in registers. */
static double narrow_wait_clocks(const tsl_sm80_tile *tile, int width) {
  return width == 0 ? tile->rates->element_wait_clocks : width < 16 ? tile->rates->narrow_wait_clocks : 0;
}

/* Returns the extra clocks of a panel's copies where operands are not aligned. */
static double narrow_part_clocks(const tsl_sm80_tile *tile) {
  const int width_a = tile->packs ? 16 : tile->a_width, width_b = tile->packs ? 16 : tile->b_width;
  const bool is_looking = width_a == 0 || width_b == 0;
  const double chunks = (double)tile->depth * tile->element / 16 / tile->items;
  return narrow_wait_clocks(tile, width_a) + narrow_wait_clocks(tile, width_b) +
         chunks * tile->tile_m * narrow_chunk_clocks(tile, width_a, is_looking) +
         chunks * tile->tile_n * narrow_chunk_clocks(tile, width_b, is_looking);
}

/* Returns the extra clocks of a last panel that k does not fill. Each chunk is checked, and elements of a
 * chunk that k ends in arrive in registers. Panels that are all checked have no further checks. */
static double narrow_last_clocks(const tsl_sm80_tile *tile) {
  const int64_t k = tile->problem.k;
  const bool is_cut = k * tile->element % 16 != 0 && !(tile->a_mn_major && tile->b_mn_major),
             is_looking = !tile->packs && (tile->a_width == 0 || tile->b_width == 0);
  const double chunks = (double)tile->depth * tile->element / 16 / tile->items;
  return k % tile->depth == 0 || is_looking
             ? 0
             : tile->rates->last_clocks * chunks * (tile->tile_m + tile->tile_n) +
                   (is_cut ? tile->rates->last_wait_clocks : 0);
}

static void finish_narrow(tsl_sm80_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  tile->groups = count_resident_blocks(tile, device);
  if (tile->packs) {
    const tsl_rows rows_a = tsl_rows_of(problem->m, problem->k, tile->a_mn_major, tile->element),
                   rows_b = tsl_rows_of(problem->n, problem->k, tile->b_mn_major, tile->element);
    tile->a_bytes = tsl_rows_bytes(&rows_a), tile->b_bytes = tsl_rows_bytes(&rows_b);
  }
  set_stages(tile, (int64_t)(tile->tile_m + tile->tile_n) * tile->depth * tile->element, 0, device);
  tile->unit_rate = narrow_unit_rate(tile, device);
  tile->part_clocks = narrow_part_clocks(tile);
  tile->last_clocks = narrow_last_clocks(tile);
  tile->is_odd = problem->c.col_stride != 1 || (problem->m != 1 && problem->c.row_stride % 4 != 0);
}

/* Returns the padded bytes of a panel in shared memory. */
static int64_t bytes_of_panel(const tsl_sm80_tile *tile, bool mn_major, int lines) {
  const int row = mn_major ? lines : tile->depth, rows = mn_major ? tile->depth : lines;
  const int padding = tile->numbers == 1   ? PADDING
                      : tile->element == 8 ? PADDING / 2
                      : mn_major           ? PADDING
                                           : 2 * PADDING;
  return (int64_t)rows * (tile->element * row + padding);
}

/* Returns true if a tile can begin earlier to be whole; pairs need an even number of lines. */
static bool f64_is_whole(int64_t lines, int tile, bool mn_major) {
  return lines >= tile && (lines % 2 == 0 || !mn_major);
}

/* Returns true if k is at most a panel, whose copies may leave out lines and k. */
static bool f64_is_short(const tsl_sm80_tile *tile) {
  return tile->slices == 1 && tile->cluster == 1 && tile->problem.k > 0 && tile->problem.k <= tile->depth;
}

/* Returns true if blocks are persistent: loads overlap stores where tiles are many and k is short. */
static bool f64_is_persistent(const tsl_sm80_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const int64_t tiles = tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n);
  return tile->numbers == 1 && tile->slices == 1 && tile->cluster == 1 && tsl_problem_batch(problem) == 1 &&
         problem->k > 0 && problem->k <= STAY_DEPTH && problem->k % tile->depth == 0 &&
         tiles > (int64_t)device->compute_units * tile->groups &&
         f64_is_whole(problem->m, tile->tile_m, tile->a_mn_major) &&
         f64_is_whole(problem->n, tile->tile_n, tile->b_mn_major);
}

/* Returns the multiply-adds per clock of a multiprocessor: for c64 of f32's FMA. For f64 of the tensor cores,
 * twice FMA where f64 has half the rate of f32, else the rate of FMA. */
static double f64_unit_rate(const tsl_sm80_tile *tile, const tsl_device *device) {
  if (tsl_sm80_is_c64(tile))
    return fmax(1e-3, device->peak_f32 / (2e6 * fmax(1, device->clock_mhz) * fmax(1, device->compute_units)));
  const double fma = device->peak_f64 / (2e6 * fmax(1, device->clock_mhz) * fmax(1, device->compute_units));
  return fmax(1e-3, device->peak_f64 * 3 > device->peak_f32 ? 2 * fma : fma);
}

/* Returns true if sums meet in shared memory. */
static bool f64_meets(const tsl_sm80_tile *tile) {
  return tile->slices * tile->cluster > 1 || (tsl_sm80_is_c64(tile) && !tile->is_short);
}

/* Returns the clocks in which the sums of slices and of a cluster's blocks are added. A cluster costs fixed
 * clocks; sums cost clocks by their bytes. */
static double f64_meeting_clocks(const tsl_sm80_tile *tile) {
  const tsl_sm80_constants *rates = tile->rates;
  const double bytes = 2.0 * tile->sum * tile->tile_m * tile->tile_n;
  return (f64_meets(tile) ? tile->slices * bytes / rates->meeting_bytes : 0) +
         (tile->cluster > 1 ? rates->cluster_clocks + bytes / rates->meeting_bytes : 0);
}

/* Returns true if the parts of k for bits=rows have blocks of their own. Then the multiprocessors' work is
 * more even, which must outweigh the traffic of partial sums. */
static bool f64_splits_parts(const tsl_sm80_tile *tile, const tsl_device *device) {
  const tsl_problem *problem = &tile->problem;
  const double tiles =
                   (double)(tsl_ceil_div(problem->m, tile->tile_m) * tsl_ceil_div(problem->n, tile->tile_n)),
               parts = (double)tile->row_parts.count, units = fmax(1, device->compute_units),
               saved = ceil(tiles / units) - ceil(tiles * parts / units) / parts,
               clocks = saved * tile->tile_m * tile->tile_n * tile->numbers * tile->numbers *
                        (double)problem->k / (tile->unit_rate * tile->efficiency);
  return tsl_problem_batch(problem) == 1 && clocks / (1e6 * fmax(1, device->clock_mhz)) >
                                                tsl_sm80_reduce_seconds(tile, tile->row_parts.count, device);
}

static void finish_f64(tsl_sm80_tile *tile, const tsl_device *device) {
  const int64_t stage = bytes_of_panel(tile, tile->a_mn_major, tile->tile_m) +
                        bytes_of_panel(tile, tile->b_mn_major, tile->tile_n),
                sums = (int64_t)tile->slices * tile->tile_m * (tile->sum * tile->tile_n + REDUCE_PADDING);
  tile->is_short = f64_is_short(tile);
  tile->unit_rate = f64_unit_rate(tile, device);
  tile->folds = tile->row_parts.count > 1 && tile->cluster == 1 && !f64_splits_parts(tile, device);
  tile->groups = count_resident_blocks(tile, device);
  set_stages(tile, stage, f64_meets(tile) ? sums : 0, device);
  tile->is_persistent = tile->is_short || f64_is_persistent(tile, device);
  tile->meeting_clocks = f64_meeting_clocks(tile);
  tile->idle_units = tile->cluster > 2 ? tile->rates->cluster_units * (tile->cluster - 1) : 0;
  tile->is_odd = tsl_type(tile->problem.c.type)->size == 8 && tile->problem.c.row_stride % 2 != 0;
}

tsl_sm80_tile tsl_sm80_tile_of(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_type_info *type = tsl_type(problem->a.type);
  const int kind = type->size < 8 ? NARROW : type->size == 16 ? C128 : type->is_complex ? C64 : F64;
  const int64_t *value = config->value;
  const bool swapped = problem->c.row_stride == 1 && problem->c.col_stride != 1, is_narrow = kind == NARROW;
  const tsl_model_constants *constants = tsl_model_constants_of(device);
  tsl_sm80_tile tile = {.trait = is_narrow ? &narrow : &f64,
                        .rates = is_narrow ? &constants->mma : &constants->dmma,
                        .problem = swapped ? tsl_problem_swapped(problem) : *problem,
                        .swapped = swapped,
                        .element = (int)type->size,
                        .sum = is_narrow ? 4 : (int)type->size,
                        .numbers = type->is_complex ? 2 : 1,
                        .tile_m = (int)value[TSL_SM80_TILE_M],
                        .tile_n = (int)value[TSL_SM80_TILE_N],
                        .slices = is_narrow ? 1 : (int)value[TSL_CUDA_DMMA_SLICES],
                        .cluster = is_narrow ? 1 : (int)value[TSL_CUDA_DMMA_CLUSTER],
                        .row_parts = is_narrow || kind == C64 ? (tsl_row_parts){1, problem->k}
                                                              : tsl_row_parts_of(problem),
                        .packs = is_narrow && value[TSL_CUDA_MMA_FROM] == TSL_CUDA_MMA_PACKED};
  const tsl_shape *a = &tile.problem.a, *b = &tile.problem.b;
  tile.depth = is_narrow ? (int)value[TSL_CUDA_MMA_DEPTH] / tile.element : tile.slices * SLICE;
  tile.a_mn_major = !tsl_launch_along(a->col_stride, a->row_stride);
  tile.b_mn_major = !tsl_launch_along(b->row_stride, b->col_stride);
  tile.a_width = sm80_shape_width(&tile, a, !tile.a_mn_major);
  tile.b_width = sm80_shape_width(&tile, b, tile.b_mn_major);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].kind == kind && shapes[i].tile_m == tile.tile_m && shapes[i].tile_n == tile.tile_n &&
        shapes[i].slices == tile.slices) {
      tile.warp_m = shapes[i].warp_m, tile.warp_n = shapes[i].warp_n, tile.groups = shapes[i].groups;
      tile.efficiency = tile.a_width && tile.b_width ? shapes[i].efficiency : shapes[i].by_ones;
      tile.is_partial = is_partial(tile.problem.m, tile.tile_m, tile.a_mn_major, tile.element) ||
                        is_partial(tile.problem.n, tile.tile_n, tile.b_mn_major, tile.element);
      tile.items = 32 * (tile.tile_m / tile.warp_m) * (tile.tile_n / tile.warp_n) * tile.slices;
      if (is_narrow)
        finish_narrow(&tile, device);
      else
        finish_f64(&tile, device);
    }
  return tile;
}

bool tsl_sm80_truncates(const tsl_problem *problem, const tsl_device *device) {
  return problem->a.type == TESELA_F32 && tsl_problem_fixes_rows(problem) &&
         device->capabilities & TSL_CAN_WGMMA;
}
