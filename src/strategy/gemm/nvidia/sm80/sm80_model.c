/* Division of work of the sm_80 base, and its performance model in clocks of a multiprocessor. */
#include "host/int_math.h"
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

#include <math.h>

const char *tsl_sm80_refuse(const tsl_sm80_tile *tile, const tsl_device *device) {
  static const double blocks_max = 0x7f000000;
  const tsl_problem *problem = &tile->problem;
  if (tile->warp_m == 0)
    return tsl_refusal("no arrangement of warps makes tiles of %d x %d%s%s", tile->tile_m, tile->tile_n,
                       tile->numbers == 2 ? " complex numbers" : "", tile->slices > 1 ? " in slices" : "");
  if (tile->stages == 0)
    return tsl_refusal(
        "two stages of %d rows and %d columns of %d bytes do not fit into the %llu bytes of %s, "
        "which %d blocks share",
        tile->tile_m, tile->tile_n, tile->depth * tile->element,
        (unsigned long long)device->local_bytes_inside, device->name, tile->groups);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2 || problem->k > INT32_MAX / 2)
    return tsl_refusal("its kernel counts rows and columns in 31 bits");
  const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(tile, device);
  if ((double)schedule.tiles_m * (double)schedule.tiles_n * (double)schedule.parts > blocks_max)
    return tsl_refusal("%lld x %lld tiles of C are more than blocks can count", (long long)schedule.tiles_m,
                       (long long)schedule.tiles_n);
  return NULL;
}

/* Returns the bytes of both operands' packed copies, of operands whose copies are below 16 bytes. */
static double sm80_packed_bytes(const tsl_sm80_tile *tile) {
  return (tile->a_width < 16 ? (double)tile->a_bytes : 0) + (tile->b_width < 16 ? (double)tile->b_bytes : 0);
}

/* Returns the predicted seconds of packing: a launch for each operand. */
static double sm80_packing_seconds(const tsl_sm80_tile *tile, const tsl_device *device) {
  const double bytes = sm80_packed_bytes(tile);
  const int launches = (tile->a_width < 16) + (tile->b_width < 16);
  return bytes > 0 ? tile->rates->pack_traffic * bytes / device->bandwidth + launches * device->launch_seconds
                   : 0;
}

/* Returns the time of three overlapping activities: about the longest, more if others are nearly as long. */
static double sm80_overlap_seconds(double exponent, double a, double b, double c) {
  return pow(pow(a, exponent) + pow(b, exponent) + pow(c, exponent), 1 / exponent);
}

/* Returns the fraction of further bytes that a K-major operand moves. Panels of f64 and complex types
 * are slow if they are read in lines below 256 bytes. Panels of other types are slow if lines begin inside of
 * the 64 bytes that memory moves at once. */
static double share_of_lines(const tsl_sm80_tile *tile, int64_t pitch) {
  enum { SHORT_LINE = 128, ACCESS = 64 };
  const int line = tile->depth * tile->element;
  if (tile->sum >= 8)
    return line <= SHORT_LINE && !tile->is_short ? tile->rates->short_lines - 1 : 0;
  return pitch * tile->element % ACCESS != 0 && !tile->packs ? tile->rates->split_lines * ACCESS / line : 0;
}

/* Returns the bytes that memory moves for K-major operands beyond their own. */
static double bytes_of_lines(const tsl_sm80_tile *tile) {
  const tsl_problem *problem = &tile->problem;
  const double a = tile->a_mn_major ? 0 : (double)problem->m * share_of_lines(tile, problem->a.row_stride),
               b = tile->b_mn_major ? 0 : (double)problem->n * share_of_lines(tile, problem->b.col_stride);
  return (a + b) * (double)problem->k * tile->element * (double)tsl_problem_batch(problem);
}

/* Returns the predicted seconds of a run with `tiles` tiles of C and `parts` split-k parts. */
static double sm80_seconds_of(const tsl_sm80_tile *tile, double tiles, int64_t parts,
                              const tsl_device *device) {
  const tsl_sm80_constants *rates = tile->rates;
  const tsl_problem *problem = &tile->problem;
  const double batch = (double)tsl_problem_batch(problem), units = fmax(1, device->compute_units),
               blocks = tiles * (double)parts * batch,
               each = ceil(blocks / fmax(1, units - tile->idle_units)),
               warps = fmin(each, tile->groups) * tile->items / 128, numbers = tile->numbers,
               elements = (double)tile->tile_m * tile->tile_n,
               depth = tile->is_short ? (double)problem->k : tile->depth;
  const double panels = ceil(ceil((double)problem->k / tile->depth) / (double)parts),
               bytes = (double)(tile->tile_m + tile->tile_n) * tile->depth * tile->element;
  const double rate = tile->unit_rate * tile->efficiency * (warps >= 2 ? 1 : rates->few_warps),
               rounds = ceil(each / tile->groups),
               /* each product waits for its predecessor, and the panel's first for a barrier */
      least = rates->step_clocks * depth * tile->element / 32 + rates->barrier_clocks,
               waited = rounds * (panels * (fmax(rates->panel_clocks / fmax(1, tile->stages - 1), least) +
                                            tile->part_clocks) +
                                  tile->last_clocks),
               /* blocks of a last round that is not full do not spread over all multiprocessors */
      idle = rounds > 1 && !tile->is_persistent ? rates->last_round * (rounds * tile->groups - each) : 0,
               products = (each + idle) * (panels * (depth * numbers * numbers * elements / rate +
                                                     rates->barrier_clocks + tile->part_clocks * warps / 4) +
                                           tile->last_clocks * warps / 4);
  /* After the first round, resident blocks start and end while others multiply. */
  const double odd = !tile->is_odd ? 1
                     : parts == 1  ? rates->odd_sums
                                   : rates->odd_part_sums,
               around = rates->sum_clocks * odd * numbers * elements / tile->items + tile->meeting_clocks,
               later = (tile->is_persistent ? around : rates->first_clocks + around) *
                       (1 - rates->hidden * (tile->groups - 1) / tile->groups),
               clocks = fmax(products, waited) + rates->first_clocks + around + (rounds - 1) * later,
               cached = blocks * panels * bytes / (rates->cache_bytes * units);
  const double odd_bytes = tile->is_odd && parts == 1 ? (rates->odd_moves - 1) * 8 * numbers *
                                                            (double)problem->m * (double)problem->n * batch
                                                      : 0,
               clock = 1e6 * fmax(1, device->clock_mhz),
               seconds =
                   sm80_overlap_seconds(rates->overlap, clocks / clock, cached / clock,
                                        (tsl_problem_bytes(problem) + odd_bytes + bytes_of_lines(tile)) /
                                            (rates->bandwidth_share * device->bandwidth));
  return rates->launch_share * device->launch_seconds + seconds +
         tsl_sm80_reduce_seconds(tile, parts, device);
}

double tsl_sm80_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_sm80_tile_of(problem, config, device);
  const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(&tile, device);
  return sm80_packing_seconds(&tile, device) +
         sm80_seconds_of(&tile, (double)schedule.tiles_m * (double)schedule.tiles_n, schedule.parts, device);
}

/* Returns the number of split-k parts that the model finds fastest. If not all blocks are resident, sums are
 * few enough for the last cache. A cluster has a part in each block. */
static int64_t sm80_parts_of(const tsl_sm80_tile *tile, int64_t tiles, const tsl_device *device) {
  enum { CACHED_BYTES = 32 << 20, PARTS_MAX = 16 };
  const tsl_problem *problem = &tile->problem;
  const int64_t slots = device->compute_units * (int64_t)tile->groups,
                panels = tsl_ceil_div(problem->k, tile->depth), bytes = problem->m * problem->n * tile->sum,
                cached = tile->sum >= 8 && bytes > 0 ? tsl_min(PARTS_MAX, CACHED_BYTES / bytes) : 1,
                most = tiles > 0 && tsl_problem_batch(problem) == 1 && !tsl_problem_fixes_rows(problem)
                           ? tsl_min(tsl_max(slots / tiles, cached), panels / tile->trait->part_panels)
                           : 1;
  int64_t best = 1;
  double least = INFINITY;
  if (tile->cluster > 1)
    return tile->cluster;
  if (tile->row_parts.count > 1)
    return tile->folds ? 1 : tile->row_parts.count;
  for (int64_t parts = 1; parts <= tsl_max(1, most); parts++) {
    const double seconds = sm80_seconds_of(tile, (double)tiles, parts, device);
    if (seconds < least)
      least = seconds, best = parts;
  }
  return best;
}

/* Returns the bytes of shared memory with which blocks spread evenly. Otherwise successive launches fill some
 * multiprocessors while others remain idle. For f64 and complex blocks that take long.
 */
static int64_t sm80_spread_bytes(const tsl_sm80_tile *tile, const tsl_sm80_schedule *schedule,
                                 const tsl_device *device) {
  static const double long_clocks = 12000;
  const int64_t units = device->compute_units - (tile->cluster > 1 ? (int64_t)tile->rates->pair_units : 0),
                blocks = schedule->blocks * tsl_problem_batch(&tile->problem),
                each = units > 0 ? tsl_ceil_div(blocks, units) : tile->groups;
  const double depth = (double)tile->problem.k / (double)schedule->parts,
               clocks = (double)(each * tile->tile_m * tile->tile_n * tile->numbers * tile->numbers) * depth /
                        (tile->unit_rate * tile->efficiency);
  if (tile->sum < 8 || tile->cluster > 2 || tile->is_persistent || each < 1 || each >= tile->groups ||
      clocks < long_clocks)
    return (int64_t)tile->shared_bytes;
  return tsl_max((int64_t)tile->shared_bytes,
                 ((int64_t)device->local_bytes_inside + TSL_SM80_BLOCK_BYTES) / (each + 1) -
                     TSL_SM80_BLOCK_BYTES + 16);
}

tsl_sm80_schedule tsl_sm80_get_schedule(const tsl_sm80_tile *tile, const tsl_device *device) {
  const int64_t m = tile->problem.m, n = tile->problem.n;
  tsl_sm80_schedule schedule = {.tiles_m = tsl_ceil_div(m, tile->tile_m),
                                .tiles_n = tsl_ceil_div(n, tile->tile_n)};
  const int64_t tiles = schedule.tiles_m * schedule.tiles_n;
  schedule.parts = sm80_parts_of(tile, tiles, device);
  schedule.blocks = tiles * schedule.parts;
  schedule.shared_bytes = sm80_spread_bytes(tile, &schedule, device);
  schedule.pitch = tsl_round_up(n, 16 / tile->sum);
  const int64_t joined = tsl_sm80_joined_bytes(tile, schedule.parts);
  schedule.joins = joined > 0;
  schedule.flags_bytes = schedule.joins ? tsl_round_up((schedule.parts - 1) * tiles * 8, 16) : 0;
  if (schedule.parts > 1 && tile->cluster == 1)
    schedule.sums_bytes = schedule.joins ? tiles * joined : schedule.parts * m * schedule.pitch * tile->sum;
  schedule.totals_bytes =
      tile->folds ? tiles * tile->tile_m * tile->tile_n * tile->sum * tsl_problem_batch(&tile->problem) : 0;
  return schedule;
}

uint64_t tsl_sm80_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_sm80_tile tile = tsl_sm80_tile_of(problem, config, device);
  const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(&tile, device);
  return (uint64_t)(tile.a_bytes + tile.b_bytes + schedule.sums_bytes + schedule.flags_bytes +
                    schedule.totals_bytes);
}

void tsl_sm80_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                      tsl_cost_counts *account) {
  const tsl_sm80_tile tile = tsl_sm80_tile_of(problem, config, device);
  const tsl_sm80_schedule schedule = tsl_sm80_get_schedule(&tile, device);
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
  account->rate = 2 * tile.unit_rate * fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  tsl_cost_counts_copies(sm80_packed_bytes(&tile), account);
  tsl_cost_counts_copies((double)schedule.sums_bytes, account);
  tsl_cost_counts_result(problem, 1, account);
}
