/* Performance model of opencl_mma, in clocks of a compute unit. Measurements: docs/lab/opencl_mma.md. */
#include "strategy/gemm/portable/opencl_mma/opencl_mma.h"
#include "strategy/model_constants.h"

#include <math.h>

/* Bytes of local memory per clock. */
enum { LOCAL_CLOCK = 128 };

static int count_resident_groups(const tsl_opencl_mma *mma, const tsl_device *device) {
  const tsl_matrix_tile *tile = &mma->tile;
  const int sums = tile->part_m * tile->part_n / 32, factors = (tile->part_m + tile->part_n) / 4;
  const int registers = sums + (mma->warps == 4 ? 40 : 2 * factors + 48);
  const int by_registers = TSL_UNIT_REGISTERS / ((registers > 255 ? 255 : registers) * tile->items);
  /* A unit has about as much local memory as one group can request, or four times the declared size. */
  const int64_t local =
      device->local_bytes_inside ? (int64_t)device->local_bytes_inside : 4 * (int64_t)device->local_bytes;
  const int by_local = (int)(local / (tile->local_bytes + 1024));
  const int least = by_registers < by_local ? by_registers : by_local;
  return least < 1 ? 1 : least;
}

/* Returns true if an operand is packed: stride 1 (across_rows: of rows) or an aligned pitch is missing. */
static bool opencl_mma_packs(const tsl_shape *shape, bool across_rows, int size) {
  const int64_t step = across_rows ? shape->row_stride : shape->col_stride,
                pitch = across_rows ? shape->col_stride : shape->row_stride;
  return step != 1 || pitch * size % 16 != 0;
}

/* Returns the seconds of packing an operand; 0 if it needs no packing. */
static double pack_seconds(const tsl_opencl_mma *mma, const tsl_shape *shape, bool across_rows,
                           const tsl_device *device) {
  const int size = mma->tile.size;
  if (mma->in_place || !opencl_mma_packs(shape, across_rows, size))
    return 0;
  return tsl_model_constants_of(device)->opencl_mma.pack_traffic * (double)shape->rows * (double)shape->cols *
             size / device->bandwidth +
         device->launch_seconds;
}

/* Clocks of a panel's copies from operands that are not aligned: of a unit for each group, and of latency. */
typedef struct mma_place_clocks {
  double issued, waited;
} mma_place_clocks;

/* Adds the clocks of an operand of `extent` lines. */
static void add_place_clocks(const tsl_opencl_mma *mma, const tsl_opencl_mma_constants *rates, int width,
                             int extent, mma_place_clocks *clocks) {
  const tsl_matrix_tile *tile = &mma->tile;
  const double chunks = (double)extent * tile->depth / 16;
  if (!mma->in_place || width == 16)
    return;
  clocks->issued +=
      chunks / 32 * (width > 0 ? 4 * rates->copy_clocks : 16 / tile->size * rates->element_clocks);
  if (width == 0)
    clocks->waited += rates->element_wait_clocks *
                      ceil(chunks / tile->items / (tile->part_m * tile->part_n <= 1024 ? 4 : 2));
}

/* Returns the operations of the matrix units per operation of the device's lanes: 8 bits have twice as many
 * as 16. */
static double rate_per_lanes(const tsl_opencl_mma *mma, const tsl_device *device) {
  const tsl_opencl_mma_constants *rates = &tsl_model_constants_of(device)->opencl_mma;
  return (mma->warps == 4 ? rates->four_rate : rates->warp_rate) * (mma->tile.size == 1 ? 2 : 1);
}

/* Returns the bytes that a group reads from local memory per panel. */
static double bytes_of_panel(const tsl_opencl_mma *mma) {
  const tsl_matrix_tile *tile = &mma->tile;
  /* Four warps read B once for each 64 rows. */
  return mma->warps == 4 ? (double)tile->tile_m / 64 * (64 + tile->tile_n) * tile->depth
                         : (double)tile->items / 32 * (tile->part_m + tile->part_n) * tile->depth;
}

/* Returns a panel's clocks for `sharing` groups of a unit: the longest of tensor cores, L2 and local memory,
 * plus a part of the others. */
static double opencl_mma_panel_clocks(const tsl_opencl_mma *mma, const tsl_device *device, double clock,
                                      double sharing) {
  const tsl_matrix_tile *tile = &mma->tile;
  const double lanes = fmax(device->peak_f32 / fmax(1, device->compute_units) / clock, 1e-3);
  const double depth = (double)tile->depth / tile->size,
               bytes = (double)(tile->tile_m + tile->tile_n) * tile->depth;
  const bool is_group = mma->warps == 4;
  const tsl_opencl_mma_constants *rates = &tsl_model_constants_of(device)->opencl_mma;
  const double multiply = 2.0 * tile->tile_m * tile->tile_n * depth / (lanes * rate_per_lanes(mma, device));
  const double local = (bytes + bytes_of_panel(mma)) / LOCAL_CLOCK,
               cache = bytes / (is_group ? rates->four_bytes : rates->warp_bytes);
  const double most = fmax(multiply, fmax(local, cache));
  const double warps = sharing * (tile->items / 32 - (is_group ? 1 : 0));
  /* Fewer than two warps for each of four schedulers leave gaps. */
  const double gaps = warps < 8 ? 1 + 0.3 * (8 - warps) / 8 : 1;
  /* A panel arrives after the latency and the other groups' panels; stages - 1 panels are in flight. */
  const double arrival = (rates->memory_wait + sharing * cache) / (mma->stages - 1);
  mma_place_clocks place = {0, 0};
  add_place_clocks(mma, rates, mma->a_width, tile->tile_m, &place);
  add_place_clocks(mma, rates, mma->b_width, tile->tile_n, &place);
  const double busy = sharing * (most + 0.05 * (multiply + local + cache - most) + place.issued) * gaps;
  return fmax(busy + place.waited, arrival);
}

double tsl_opencl_mma_seconds(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(problem, config);
  const tsl_matrix_tile tile = mma.tile;
  const double units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, device);
  const double tiles = (double)tile.tiles_m * (double)tile.tiles_n * (double)schedule.split_k;
  const double most = ceil(tiles / units);
  const double fits = count_resident_groups(&mma, device), sharing = fmin(fmin(fits, mma.groups), most);
  const double panels =
      ceil(ceil((double)problem->k / ((double)tile.depth / tile.size)) / (double)schedule.split_k);
  const tsl_opencl_mma_constants *rates = &tsl_model_constants_of(device)->opencl_mma;
  const tsl_shape *c = &tile.problem.c;
  const bool is_odd = c->col_stride != 1 || (c->rows != 1 && c->row_stride % 4 != 0);
  const double store = (is_odd ? rates->odd_store_clocks : rates->store_clocks) * tile.tile_m * tile.tile_n;
  const double rounds = floor(most / sharing), remainder = most - rounds * sharing;
  const double between = mma.groups <= fits ? 0 : rates->group_clocks;
  double clocks =
      rates->group_clocks +
      rounds * (panels * opencl_mma_panel_clocks(&mma, device, clock, sharing) + sharing * store + between);
  if (remainder > 0)
    clocks += panels * opencl_mma_panel_clocks(&mma, device, clock, remainder) + remainder * store + between;
  const double band = 1 + 0.01 * fabs(log2(mma.band / 8.0)), shallow = tile.depth == 128 ? 1 : 1.02,
               few = 1 + 0.1 / mma.stages;
  const double packing = pack_seconds(&mma, &tile.problem.a, tile.a_mn_major, device) +
                         pack_seconds(&mma, &tile.problem.b, !tile.b_mn_major, device);
  /* Partial sums are written and read, mostly in L2. */
  const double folding =
      schedule.joins ? (rates->join_clocks + rates->round_clocks * (double)schedule.join_rounds) / clock
      : schedule.split_k > 1
          ? rates->launch_share * device->launch_seconds + (double)schedule.sums_bytes / device->bandwidth
          : 0;
  const double seconds =
      fmax(clocks / clock, tsl_problem_bytes(problem) / (rates->memory_part * device->bandwidth));
  return seconds * band * shallow * few + packing + folding + rates->launch_share * device->launch_seconds;
}

static double bytes_if_packed(const tsl_opencl_mma *mma, const tsl_shape *shape, bool across_rows) {
  const int size = mma->tile.size;
  return !mma->in_place && opencl_mma_packs(shape, across_rows, size)
             ? (double)shape->rows * (double)shape->cols * size
             : 0;
}

void tsl_opencl_mma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account) {
  const tsl_opencl_mma mma = tsl_opencl_mma_of(problem, config);
  const tsl_opencl_mma_schedule schedule = tsl_opencl_mma_get_schedule(&mma, device);
  const tsl_matrix_tile *tile = &mma.tile;
  tsl_matrix_tile_account(problem, tile, (double)schedule.groups, bytes_of_panel(&mma),
                          device->peak_f32 * rate_per_lanes(&mma, device), device, account);
  tsl_cost_counts_copies(bytes_if_packed(&mma, &tile->problem.a, tile->a_mn_major), account);
  tsl_cost_counts_copies(bytes_if_packed(&mma, &tile->problem.b, !tile->b_mn_major), account);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
}
