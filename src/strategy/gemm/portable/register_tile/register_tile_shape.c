#include "host/int_math.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"

#include <math.h>

/* Returns true if the totals of parts of k are in local memory. They are where they exceed the registers that
 * the sums leave, or where the kernel declares its local memory at launch. */
static bool has_local_totals(const tsl_register_tile *tile) {
  enum { REGISTERS_MAX = 64 };
  return tile->folds && tile->local &&
         (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC ||
          tile->micro_m * tile->micro_n * tile->size > 4 * REGISTERS_MAX);
}

/* Selects vectors along k for the longer operand of form=local_async, if its lines have aligned vectors. An
 * item loads four depths of its lines, so it must have few. */
static void select_k_vectors(const tsl_problem *problem, tsl_register_tile *tile) {
  enum { MICRO_MAX = 8 };
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const bool is_b = swapped.n >= swapped.m;
  const int64_t line = is_b ? swapped.b.col_stride : swapped.a.row_stride,
                depth = is_b ? swapped.b.row_stride : swapped.a.col_stride;
  const bool selected = tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC && !tile->copied && !tile->complex &&
                        tsl_launch_along(depth, line) && depth == 1 && line % tile->lanes == 0 &&
                        (is_b ? tile->micro_n : tile->micro_m) <= MICRO_MAX;
  tile->a_k_vectors = selected && !is_b;
  tile->b_k_vectors = selected && is_b;
}

/* Returns the elements of padding that put both parts of an element in other banks, where an operand's lines
 * lie along its depths: 16 more than whole 32. */
static int pad_of(const tsl_register_tile *tile, int extent, int64_t line_stride, int64_t depth_stride) {
  return tile->planes == 1 || tsl_launch_along(depth_stride, line_stride) ? 0 : (48 - extent % 32) % 32;
}

tsl_register_tile tsl_register_tile_of(const tsl_problem *problem, const tsl_config *config) {
  const int64_t *value = config->value;
  tsl_register_tile tile = {
      .form = (int)value[TSL_REGISTER_TILE_FORM],
      .vector = (int)value[TSL_REGISTER_TILE_VECTOR],
      .tile_m = (int)value[TSL_REGISTER_TILE_TILE_M],
      .tile_n = (int)value[TSL_REGISTER_TILE_TILE_N],
      .tile_k = (int)value[TSL_REGISTER_TILE_TILE_K],
      .micro_m = (int)value[TSL_REGISTER_TILE_MICRO_M],
      .micro_n = (int)value[TSL_REGISTER_TILE_MICRO_N],
      .stages = (int)value[TSL_REGISTER_TILE_STAGES],
      .slices = (int)value[TSL_REGISTER_TILE_SLICES],
      .split = (int)value[TSL_REGISTER_TILE_SPLIT],
  };
  const tesela_type sums = tsl_type(problem->c.type)->sums;
  tile.sums = sums;
  tile.size = (int)tsl_type(sums)->size;
  tile.complex = tsl_type(sums)->is_complex;
  tile.numbers = tile.complex ? 2 : 1;
  tile.lanes = tile.vector * tile.numbers / tile.size;
  tile.local = tile.form == TSL_REGISTER_TILE_LOCAL || tile.form == TSL_REGISTER_TILE_LOCAL_ASYNC;
  tile.planes = tile.complex && tile.form == TSL_REGISTER_TILE_LOCAL_ASYNC ? 2 : 1;
  tile.copied = tile.local && ((tile.complex && tile.planes == 1) || problem->a.type != sums);
  tile.products = tile.copied && tsl_type(sums)->is_integer ? 4 : 1;
  const int places = (tile.tile_m / tile.micro_m) * (tile.tile_n / tile.micro_n);
  tile.items = tile.form == TSL_REGISTER_TILE_PACKED_SERIAL ? 1 : places * tile.slices;
  tile.parts = tsl_row_parts_of(problem);
  tile.folds = tile.parts.count > 1 && tile.split == 1 && tile.slices == 1;
  tile.part_slices = tile.parts.count > 1 && tile.slices > 1 && tile.form == TSL_REGISTER_TILE_LOCAL_ASYNC;
  tile.splits = tile.part_slices && tile.split > 1 ? tile.split * tile.slices : tile.split;
  tile.local_totals = has_local_totals(&tile);
  select_k_vectors(problem, &tile);
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  tile.pad_a = pad_of(&tile, tile.tile_m, swapped.a.row_stride, swapped.a.col_stride);
  tile.pad_b = pad_of(&tile, tile.tile_n, swapped.b.col_stride, swapped.b.row_stride);
  return tile;
}

int64_t tsl_register_tile_local_bytes(const tsl_register_tile *tile) {
  if (!tile->local)
    return 0;
  /* a line has four elements of padding: PITCH_A */
  const int64_t panels = (int64_t)tile->stages * tile->tile_k *
                         (tile->tile_m + tile->pad_a + tile->tile_n + tile->pad_b + 8 / tile->numbers);
  const int64_t fold = (int64_t)tile->slices * (tile->tile_m / tile->micro_m) * (tile->tile_n + tile->lanes);
  const int64_t totals = tile->local_totals ? (int64_t)tile->tile_m * tile->tile_n : 0;
  return ((tile->slices > 1 && fold > panels ? fold : panels) + totals) * tile->size;
}

/* Registers that vectors of complex elements in local memory take more (NVRTC 13.0). */
enum { MORE_COMPLEX = 12 };

int tsl_register_tile_registers(const tsl_register_tile *tile) {
  const int pairs = tile->complex && tile->local && tile->planes == 1 ? MORE_COMPLEX : 0;
  const int sums = tile->micro_m * tile->micro_n, factors = tile->micro_m + tile->micro_n;
  /* vectors in flight to local memory; for asynchronous copies the next depth's operands */
  const int way =
      tile->form == TSL_REGISTER_TILE_LOCAL ? (tile->tile_m + tile->tile_n) * tile->tile_k / tile->items : 0;
  const int held = tile->form != TSL_REGISTER_TILE_LOCAL_ASYNC
                       ? way
                       : factors + 6 * (tile->a_k_vectors   ? tile->micro_m
                                        : tile->b_k_vectors ? tile->micro_n
                                                            : 0);
  const int totals = tile->folds && tile->local && !tile->local_totals ? sums : 0;
  return (sums + totals + factors + held) * tile->size / 4 + 2 * way / tile->lanes + 24 + pairs;
}

/* Registers beyond the counted ones, for addresses and early loads (NVRTC 13.0), and their granularity. */
enum { MORE_ASYNC = 45, MORE_LOCAL = 55, REGISTER_STEP = 8, MAX_ITEM_REGISTERS = 256 };

/* Items of a unit for which the compiler limits their registers, and sums of all these items with
 * asynchronous copies. Several resident groups hide the start and the end of others
 * (docs/lab/register_tile.md). */
enum { MIN_WANTED_ITEMS = 256, MAX_WANTED_ITEMS = 640, WANTED_SUMS = 24576 };

int tsl_register_tile_groups_wanted(const tsl_register_tile *tile) {
  const int step = tile->items < 32 ? 32 : tile->items; /* items in lockstep have separate registers */
  const bool flows = tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC && tile->slices == 1 && !tile->folds;
  const int fitting = flows ? WANTED_SUMS / (tile->micro_m * tile->micro_n * tile->numbers) : 0;
  const int items = fitting < MIN_WANTED_ITEMS   ? MIN_WANTED_ITEMS
                    : fitting > MAX_WANTED_ITEMS ? MAX_WANTED_ITEMS
                                                 : fitting;
  return step < items ? items / step : 1;
}

int tsl_register_tile_groups(const tsl_register_tile *tile, const tsl_device *device) {
  const int step = tile->items < 32 ? 32 : tile->items; /* items in lockstep have separate registers */
  const int more = !tile->local ? 0 : tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC ? MORE_ASYNC : MORE_LOCAL;
  const int64_t each =
      tsl_min(tsl_round_up(tsl_register_tile_registers(tile) + more, REGISTER_STEP), MAX_ITEM_REGISTERS);
  const int estimated = TSL_UNIT_REGISTERS / (int)(step * each),
            wanted = tile->local ? tsl_register_tile_groups_wanted(tile) : 1,
            registers = estimated > wanted ? estimated : wanted;
  const int items = TSL_UNIT_ITEMS / tile->items;
  /* a unit has about four times the local memory that one group may declare */
  const int64_t bytes = tsl_register_tile_local_bytes(tile);
  const int64_t local = bytes > 0 ? 4 * (int64_t)device->local_bytes / (bytes + 1024) : items;
  const int least = registers < items ? registers : items;
  return least < 1 || local < 1 ? 1 : local < least ? (int)local : least;
}

tsl_problem tsl_register_tile_swapped(const tsl_problem *problem) {
  return problem->c.row_stride != 1 || problem->c.col_stride == 1 ? *problem : tsl_problem_swapped(problem);
}

static double padded(int64_t value, int step) {
  return ceil((double)value / step) * step;
}

double tsl_register_tile_copies(const tsl_problem *problem, const tsl_register_tile *tile) {
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const bool panels = !tile->local;
  const int round_m = panels ? tile->micro_m : tile->lanes, round_n = panels ? tile->micro_n : tile->lanes;
  return panels || tile->copied ? (padded(swapped.m, round_m) + padded(swapped.n, round_n)) *
                                      ceil((double)swapped.k / tile->products) * tile->size
                                : 0;
}

uint64_t tsl_register_tile_scratch(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  (void)device;
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  const double parts =
      tile.splits > 1 ? tile.splits * (double)swapped.m * padded(swapped.n, tile.lanes) * tile.size : 0;
  const double bytes = tsl_register_tile_copies(problem, &tile) + parts * (double)tsl_problem_batch(problem);
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

/* Returns the grid of a packing or copying kernel for m x k and k x n. Dimension 1 is a grid-stride loop. */
static tsl_grid copy_grid(const tsl_register_tile *tile, int64_t m, int64_t n, int64_t k,
                          const tsl_device *device) {
  if (!tile->local) {
    const int64_t panels = tsl_max(tsl_ceil_div(m, tile->micro_m), tsl_ceil_div(n, tile->micro_n));
    return (tsl_grid){
        {(uint64_t)tsl_ceil_div(k, TSL_REGISTER_TILE_PACK_DEPTHS), tsl_launch_limited(device, 1, panels), 2},
        {1, 1, 1}};
  }
  /* all lines up to the pitch are written, padding lines too */
  const int64_t padded = tsl_round_up(tsl_max(m, n) * tile->numbers, tile->lanes) / tile->numbers,
                units = tsl_ceil_div(k, tile->products);
  return (tsl_grid){{(uint64_t)tsl_ceil_div(padded, TSL_REGISTER_TILE_COPY_ITEMS),
                     tsl_launch_limited(device, 1, tsl_ceil_div(units, TSL_REGISTER_TILE_COPY_DEPTHS)), 2},
                    {TSL_REGISTER_TILE_COPY_ITEMS, 1, 1}};
}

tsl_register_tile_grids tsl_register_tile_grids_of(const tsl_register_tile *tile, int64_t m, int64_t n,
                                                   int64_t k, int64_t batch, const tsl_device *device) {
  static const tsl_grid none = {{0, 0, 0}, {1, 1, 1}};
  const bool copies = (tile->copied || !tile->local) && k > 0;
  const uint64_t tiles = (uint64_t)(tsl_ceil_div(m, tile->tile_m) * tsl_ceil_div(n, tile->tile_n));
  const tsl_split_k_sum sum = tsl_register_tile_sum(tile);
  return (tsl_register_tile_grids){copies ? copy_grid(tile, m, n, k, device) : none,
                                   {{tiles, (uint64_t)tile->split, (uint64_t)batch}, {tile->items, 1, 1}},
                                   tsl_split_k_sum_grid(&sum, tile->sums, m, n, batch, device)};
}
