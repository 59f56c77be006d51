/* The model counts clocks of a compute unit. The constants were fitted on an H200 (docs/lab/register_tile.md)
 * and hold for units with four schedulers of 32 lanes or similar. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"

#include <math.h>

static const double loop_most = 1800; /* instructions that fit in the cache */
enum { FEW_ITEMS = 64 };              /* of a group */
enum { STORE_BYTES = 64 };            /* of a row; fewer bytes from adjacent items are short_stores */

/* Returns the multiply-adds of one product of elements. */
static double adds_of(const tsl_register_tile *tile) {
  return tile->complex ? 4 : 1;
}
static double depth_of_slice(const tsl_register_tile *tile) {
  return (double)tile->tile_k / tile->slices;
}

/* Returns the time of two overlapping activities: the longer, and a little more if they are similar. */
static double overlap_clocks(double value, double other) {
  return cbrt(value * value * value + other * other * other);
}
static double overlap_clocks_well(double value, double other) {
  return sqrt(sqrt(value * value * value * value + other * other * other * other));
}

/* Access to an operand's panels. */
typedef struct panel_access {
  bool along, whole; /* elements along k are closest; panels are read in whole vectors */
  bool k_vectors;    /* these lie along k, and stay so in local memory */
  double edge;       /* fraction of groups at the edge of the operand's lines */
} panel_access;

static panel_access describe_access(const tsl_register_tile *tile, int64_t lines, int extent,
                                    int64_t line_stride, int64_t depth_stride, bool k_vectors) {
  const bool along = !tile->copied && tsl_launch_along(depth_stride, line_stride);
  if (k_vectors)
    return (panel_access){.whole = true, .k_vectors = true};
  const int64_t step = along ? depth_stride : line_stride, pitch = along ? line_stride : depth_stride;
  const bool flows = tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC, dense = tile->copied || step == 1,
             aligned = tile->copied || (tile->planes == 1 && pitch % tile->lanes == 0);
  const bool whole = dense && (aligned || (flows && along));
  const double edge = lines % extent == 0 ? 0 : 1 / tsl_ceil_ratio((double)lines, extent);
  return (panel_access){along, whole, false,
                        whole && !flows && (along || lines % tile->lanes == 0) ? 0 : edge};
}

static double interpolate_edge(const panel_access *access, double inside, double edge) {
  return inside * (1 - access->edge) + edge * access->edge;
}

/* Returns an item's instructions per vector; `last`: fraction of panels that need guards along k. */
static double copy_instructions_of(const tsl_register_tile *tile, const panel_access *access, double last) {
  const tsl_register_constants *rates = tile->rates;
  if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
    return rates->copy_instructions;
  return access->along
             ? (access->whole ? rates->along_instructions : 0) * (1 - last) + rates->last_instructions * last
             : 0;
}

static double copy_clocks(const tsl_register_tile *tile, const panel_access *access) {
  const tsl_register_constants *rates = tile->rates;
  if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
    return (tile->planes == 2 ? rates->flow_planes_clocks : 0) +
           (access->along ? interpolate_edge(access, rates->flow_along_clocks, rates->flow_along_edge_clocks)
            : access->k_vectors ? rates->flow_k_vectors_clocks
            : access->whole     ? 0
                                : rates->flow_across_odd_clocks);
  const double wide = tile->vector / 16.0;
  if (access->along)
    return wide * (access->whole ? 0 : rates->along_odd_clocks);
  return wide * (access->whole
                     ? rates->across_clocks
                     : interpolate_edge(access, rates->across_odd_clocks, rates->across_edge_clocks));
}

/* Returns the slowdown of the loop relative to its multiply-adds and the other issued instructions. */
static double loop_slowdown(const tsl_register_tile *tile, double instructions) {
  const tsl_register_constants *rates = tile->rates;
  const bool flows = tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC, sliced = tile->slices > 1;
  double slower = flows ? rates->flow_slower : 1;
  if (flows)
    slower *= sliced                               ? rates->flow_slices_slower
              : tile->micro_m * tile->micro_n > 64 ? rates->flow_wide_slower
                                                   : 1;
  else if (!sliced && tile->tile_k >= 16)
    slower *= tile->tile_k == 16 ? rates->depth_16_slower : rates->depth_32_slower;
  /* rows need fewer registers than columns: better with slices, worse without */
  if (tile->planes == 2)
    slower *= rates->planes_slower;
  else if (sliced || tile->complex)
    slower *= tile->micro_m < tile->micro_n ? rates->columns_slower : 1;
  else
    slower *= tile->micro_m > tile->micro_n ? rates->rows_slower : 1;
  /* not measured: assumed slower */
  slower *= sliced && tile->complex && tile->planes == 1 ? 1.1 : 1;
  slower *= tile->complex && !flows ? rates->complex_slower : 1;
  slower *=
      (tile->vector == 8 ? rates->short_slower : 1) * (tile->micro_n == 24 ? rates->columns_24_slower : 1);
  return slower * (depth_of_slice(tile) * instructions > loop_most ? rates->loop_slower : 1);
}

/* Cost of a panel in clocks of a unit: its multiply-adds, and its memory paths. */
typedef struct register_tile_panel {
  double multiply, memory_paths;
} register_tile_panel;

static register_tile_panel cost_of_panel(const tsl_register_tile *tile, const tsl_launch_pace *units,
                                         const panel_access *a, const panel_access *b, double panels) {
  const tsl_register_constants *rates = tile->rates;
  const double sums = tile->micro_m * tile->micro_n * adds_of(tile);
  const double loads = (double)(tile->micro_m + tile->micro_n) * tile->numbers / tile->lanes;
  const double each = (double)tile->numbers * tile->slices / tile->lanes / tile->items;
  const double last = fmin(1, 2 / panels) / 2;
  const double above = fmax(0, tsl_register_tile_registers(tile) - rates->registers_easy);
  const double more = loads +
                      each * (tile->tile_m * copy_instructions_of(tile, a, last) +
                              tile->tile_n * copy_instructions_of(tile, b, last)) +
                      rates->pressure * above;
  const double idle = fmax(1, 32.0 / tile->items); /* lanes of a warp for each item */
  const double products = idle * tile->tile_m * tile->tile_n * tile->tile_k * adds_of(tile);
  const double vectors = (double)tile->tile_k * tile->numbers / tile->lanes / 32;
  return (register_tile_panel){
      products / units->lanes * (1 + more / sums / units->slots) * loop_slowdown(tile, sums + more),
      tile->items / 32.0 * depth_of_slice(tile) * loads * rates->read_clocks * tile->vector / 16 +
          vectors * (tile->tile_m * copy_clocks(tile, a) + tile->tile_n * copy_clocks(tile, b))};
}

/* Returns the clocks of a panel where `groups` groups share a unit. */
static double clocks_of_panel(const tsl_register_tile *tile, const register_tile_panel *panel,
                              double groups) {
  const tsl_register_constants *rates = tile->rates;
  const double warps = groups * (tile->items < 32 ? 32 : tile->items) / 128; /* of each of four schedulers */
  /* A scheduler's warps over the mean. Each group of six warps loads the same schedulers. */
  const double own = tile->items / 128.0, apart = tile->items > FEW_ITEMS ? ceil(own) / own - 1 : 0;
  const double uneven = fmax(ceil(warps) / warps, 1 + rates->uneven_share * apart);
  const double busy = overlap_clocks_well(groups * panel->multiply * uneven, groups * panel->memory_paths) *
                      (1 + rates->few_warps_slower * fmax(0, (2 - warps) / 2));
  if (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC)
    return fmax(busy * (tile->stages == 2 ? rates->two_stages_slower : 1),
                rates->flow_wait / (tile->stages - 1));
  /* Loads of one panel are needed in the next. One or two warps overlap these less with products (measured
   * with parts of k for bits=rows: 55 us where a tenth gave 34). */
  const double exposed = tile->items <= FEW_ITEMS ? 0.5 : 0.1;
  return tile->stages == 1
             ? overlap_clocks_well(busy, rates->memory_wait) + exposed * fmin(busy, rates->memory_wait)
             : fmax(busy, rates->memory_wait + exposed * busy);
}

/* Returns the clocks of a group's start and end: the sums of slices meet in local memory, and C is stored. */
static double clocks_around(const tsl_register_tile *tile, bool whole_c) {
  const tsl_register_constants *rates = tile->rates;
  const double numbers = (double)tile->tile_m * tile->tile_n * tile->size / 4;
  const double fold = tile->slices == 1 ? 0 : numbers * tile->slices / 32;
  const double odd = tile->lanes > 2 ? rates->store_odd : 1 + (rates->store_odd - 1) * rates->short_odd;
  return (tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC ? rates->flow_group_clocks : rates->group_clocks) +
         fold + rates->store_clocks * (whole_c ? 1 : odd) * numbers / 32;
}

static double local_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const tsl_register_constants *rates = tile->rates;
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const double batch = (double)tsl_problem_batch(problem), m = (double)problem->m, n = (double)problem->n;
  const double groups =
      tsl_ceil_ratio(m, tile->tile_m) * tsl_ceil_ratio(n, tile->tile_n) * tile->split * batch;
  const double panels = tsl_ceil_ratio(
      tsl_ceil_ratio(tsl_ceil_ratio((double)problem->k, tile->products), tile->split), tile->tile_k);
  const panel_access a = describe_access(tile, problem->m, tile->tile_m, problem->a.row_stride,
                                         problem->a.col_stride, tile->a_k_vectors),
                     b = describe_access(tile, problem->n, tile->tile_n, problem->b.col_stride,
                                         problem->b.row_stride, tile->b_k_vectors);
  const bool together_c = problem->c.col_stride == 1 && problem->c.row_stride % tile->lanes == 0,
             whole_c = together_c || tile->splits > 1;
  const double most = ceil(groups / units.count),
               sharing = fmax(1, fmin(tsl_register_tile_groups(tile, device), most));
  const double rounds = floor(most / sharing), remainder = most - rounds * sharing;
  /* the part of a panel that is copied and multiplied */
  const double depths =
      tsl_register_tile_is_short(problem, tile) ? (double)problem->k / tile->products / tile->tile_k : 1;
  register_tile_panel one = cost_of_panel(tile, &units, &a, &b, fmax(1, panels));
  one.multiply *= depths, one.memory_paths *= depths;
  const double around = clocks_around(tile, whole_c);
  double clocks = rates->first_clocks + rates->part_clocks * (tile->split - 1) +
                  rounds * (panels * clocks_of_panel(tile, &one, sharing) + around);
  if (remainder > 0)
    clocks += panels * clocks_of_panel(tile, &one, remainder) + around;
  const double c_bytes = m * n * batch * (double)tsl_type(problem->c.type)->size;
  const bool is_short = together_c && tile->planes == 1 && tile->splits == 1 && tile->tile_n < problem->n &&
                        tile->tile_n / tile->micro_n * tile->vector < STORE_BYTES;
  const double share = is_short ? rates->short_stores : 1;
  /* Asynchronous copies along k read parts of lines, whose other parts may have left the last cache. */
  const bool flows = tile->form == TSL_REGISTER_TILE_LOCAL_ASYNC;
  const double operand_bytes = tsl_problem_bytes(problem) - c_bytes,
               along_bytes = flows ? operand_bytes * ((a.along ? m : 0) + (b.along ? n : 0)) / (m + n) : 0;
  const double memory = (rates->read_share * operand_bytes + (rates->along_share - 1) * along_bytes +
                         share * rates->write_share * c_bytes) /
                        device->bandwidth;
  const double reads = groups * (tile->tile_m + tile->tile_n) * panels * depths * tile->tile_k * tile->size;
  const bool is_narrow = tsl_type(problem->c.type)->size < (size_t)tile->size;
  /* Narrow elements do not go through local memory (STAGED of kernel/tile_store.h). Stores of two take as
   * long as two stores. */
  const bool has_odd_stores = !whole_c || (is_narrow && tile->lanes == 2 && tile->splits == 1);
  const double odd_stores = is_narrow
                                ? m * n * batch / rates->single_stores
                                : c_bytes / rates->write_bytes * (tile->lanes > 2 ? 1 : rates->short_odd);
  const double cached = reads * (a.whole && b.whole ? 1 : rates->read_odd) / rates->read_bytes +
                        (has_odd_stores ? odd_stores : 0);
  double seconds = overlap_clocks(overlap_clocks(clocks, cached / units.count) / units.clock, memory) +
                   rates->launch_share * device->launch_seconds;
  if (tile->copied)
    seconds += rates->copy_traffic * tsl_register_tile_copies(problem, tile) / device->bandwidth +
               rates->copy_launch_share * device->launch_seconds;
  if (tile->splits == 1)
    return seconds;
  const double parts = (2 * tile->splits + (together_c ? 1 : rates->sum_odd)) * m * n * tile->size * batch;
  return seconds + parts / (rates->part_bytes * units.count * units.clock) +
         tsl_launch_second_seconds(device, rates->sum_launch_share);
}

/* Forms packed and packed_serial: clocks of a group's start and end. */
static const double panel_group_clocks = 10600;

static double panel_seconds(const tsl_problem *problem, const tsl_register_tile *tile,
                            const tsl_device *device) {
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const double parts = tile->complex ? 2 : 1, vectors = (double)tile->micro_n / tile->lanes * parts;
  const double sums = tile->micro_m * vectors;
  /* 32 vector registers of 64 bytes, else 16; further sums spill to memory */
  const double registers = tile->vector >= 64 ? 31 : 15, needed = sums + vectors + 1;
  const int width =
      tsl_type(problem->c.type)->component == TESELA_F64 ? device->vector_f64 : device->vector_f32;
  const double spills = needed > registers ? 4 : 1, narrow = fmax(1, (double)width / tile->lanes);
  const double wide = tile->lanes > width ? 1.5 : 1;
  /* a multiply-add has the latency of eight others; operands are loaded meanwhile */
  const double waits = fmax(1, 8 / sums), loads = 1 + (0.15 * tile->micro_m + 0.45 * vectors) / sums;
  const double slow = 1.3 * spills * narrow * wide * waits * loads;
  const double groups = tsl_ceil_ratio(problem->m, tile->tile_m) * tsl_ceil_ratio(problem->n, tile->tile_n);
  const double group = parts * parts * tile->tile_m * tile->tile_n * (double)problem->k / units.lanes * slow +
                       panel_group_clocks;
  const double copies = 4 * tsl_register_tile_copies(problem, tile) / device->bandwidth;
  return ceil(groups / units.count) * group / units.clock + copies + 3 * device->launch_seconds;
}

double tsl_register_tile_seconds(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  tsl_register_tile tile = tsl_register_tile_of(problem, config);
  tile.rates = &tsl_model_constants_of(device)->register_tile;
  switch (tile.form) {
  case TSL_REGISTER_TILE_LOCAL:
  case TSL_REGISTER_TILE_LOCAL_ASYNC: /* barriers split a CPU's loops */
    return local_seconds(&swapped, &tile, device) * (device->is_cpu ? 100 : 1);
  case TSL_REGISTER_TILE_PACKED: /* items of a group read the same global memory */
    return panel_seconds(&swapped, &tile, device) * (device->is_cpu ? 1.2 : 3);
  default: /* one item leaves all other lanes of a GPU idle */
    return panel_seconds(&swapped, &tile, device) * (device->is_cpu ? 1 : 64);
  }
}

/* Counts panels to local memory or packed, then a column and a row of each micro-tile for each k. */
void tsl_register_tile_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  const tsl_problem swapped = tsl_register_tile_swapped(problem);
  const tsl_register_tile tile = tsl_register_tile_of(problem, config);
  const double m = (double)swapped.m, n = (double)swapped.n, k = ceil((double)swapped.k / tile.products);
  const double groups = ceil(m / tile.tile_m) * ceil(n / tile.tile_n) * tile.split;
  const double depth = tile.local ? ceil(ceil(k / tile.split) / tile.tile_k) * tile.tile_k : k;
  const double steps = groups * depth * tile.tile_m * tile.tile_n,
               bytes = steps * tile.size * (1.0 / tile.micro_m + 1.0 / tile.micro_n);
  const double needed = ceil(m / tile.micro_m) * ceil(n / tile.micro_n) * tile.slices * tile.split;
  tsl_cost_counts_groups(groups, tile.items, tile.form == TSL_REGISTER_TILE_PACKED_SERIAL ? groups : needed,
                         tsl_register_tile_local_bytes(&tile), device, account);
  if (!device->is_cpu)
    account->per_unit = tsl_register_tile_groups(&tile, device);
  account->computed = steps * tile.products;
  account->sums = tile.micro_m * tile.micro_n;
  account->loads = bytes / tile.vector;
  if (tile.local)
    account->barriers = groups * depth / tile.tile_k * (tile.stages > 1 ? 1 : 2);
  tsl_cost_counts_copies(tsl_register_tile_copies(problem, &tile), account);
  if (tile.local) {
    account->local =
        (tsl_moved){.read = bytes, .written = groups * depth * (tile.tile_m + tile.tile_n) * tile.size};
    account->global.read += account->local.written;
  } else {
    account->global.read += bytes;
  }
  tsl_cost_counts_result(problem, 1, account);
  if (tile.splits > 1) /* partial sums in the workspace, and a launch that adds them */
    tsl_cost_counts_copies(tile.splits * m * n * tile.size, account);
}
