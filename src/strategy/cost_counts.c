#include "strategy/cost_counts.h"

#include "core/list_text.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const char *const bound_names[] = {TSL_BOUND_LIST(TSL_LIST_WORD)};

const char *tsl_bound_name(tsl_bound bound) {
  return bound_names[bound];
}

static double cost_counts_element_bytes(const tsl_shape *shape) {
  return (double)tsl_type(shape->type)->size;
}

static double cost_counts_elements_of_c(const tsl_problem *problem) {
  return (double)problem->m * (double)problem->n;
}

/* Returns the floating-point operations of one multiply-add of the problem's type; 0 for a transpose. */
static double cost_counts_operations_per_multiply(const tsl_problem *problem) {
  return problem->op == TSL_OP_TRANSPOSE ? 0 : tsl_type(problem->c.type)->is_complex ? 8 : 2;
}

/* Multiplies all amounts by `factor`, the number of products of a batch; grid and rates stay. */
static void cost_counts_multiply(tsl_cost_counts *account, double factor) {
  double *const totals[] = {&account->useful,         &account->computed,   &account->global.read,
                            &account->global.written, &account->local.read, &account->local.written,
                            &account->memory,         &account->items,      &account->wasted,
                            &account->touched,        &account->needed,     &account->loads,
                            &account->barriers};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
    *totals[i] *= factor;
}

bool tsl_cost_counts_get(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                         const tsl_device *device, tsl_cost_counts *account) {
  tsl_problem room, one = *tsl_problem_without_epilogue(problem, &room);
  *account = (tsl_cost_counts){.workers = 1, .per_unit = 1};
  if (!strategy->resources.count_costs)
    return false;
  one.batch = 0;
  if (one.alpha[0] == 0 && one.alpha[1] == 0)
    one.k = 0; /* A and B are not read */
  account->useful = one.op == TSL_OP_TRANSPOSE
                        ? cost_counts_elements_of_c(&one)
                        : tsl_problem_flops(&one) / cost_counts_operations_per_multiply(&one);
  account->computed = account->useful;
  account->memory = tsl_problem_bytes(&one);
  account->launches = tsl_device_is_host(device) ? 0 : 1;
  strategy->resources.count_costs(&one, config, device, account);
  cost_counts_multiply(account, (double)tsl_problem_batch(problem));
  return true;
}

/* Returns the bytes per second of the first-level caches or the local memory of all units: 128 per clock and
 * unit on GPUs, two vectors per clock on processors. */
static double near_bytes_per_second(const tsl_device *device) {
  static const double unit_clock = 128;
  return device->is_cpu ? 2 * device->peak_f32 : unit_clock * 1e6 * device->clock_mhz * device->compute_units;
}

/* Returns operations per second: the account's own rate if it has one, else the device's peak. */
static double cost_counts_peak_rate(const tsl_problem *problem, const tsl_device *device,
                                    const tsl_cost_counts *account) {
  const bool twice = tsl_type(problem->c.type)->component == TESELA_F64;
  return account->rate > 0 ? account->rate : twice ? device->peak_f64 : device->peak_f32;
}

static double busy_fraction(const tsl_device *device, const tsl_cost_counts *account) {
  const double all = tsl_device_is_host(device) ? device->threads : device->compute_units;
  return fmin(1, fmax(account->workers, 1) / fmax(all, 1));
}

static double count_groups(const tsl_grid *grid) {
  return (double)grid->groups[0] * (double)grid->groups[1] * (double)grid->groups[2];
}

static int items_per_group(const tsl_grid *grid) {
  return grid->items[0] * grid->items[1] * grid->items[2];
}

/* Latencies in clocks. Between barriers a processor runs work-items one after the other. At each barrier it
 * stores and loads an item's variables. */
static const double addition_clocks = 4, barrier_clocks = 30, host_barrier_clocks = 4, host_load_clocks = 0.5;
/* A cache line from the second level, and in addition from memory; requests overlap. */
static const double host_line_clocks = 3, host_memory_clocks = 5;
static const double memory_seconds = 6e-7;

/* Returns the groups of the account that are on a unit at the same time. */
static double groups_in_flight(const tsl_device *device, const tsl_cost_counts *account) {
  const double units = fmax(1, device->compute_units);
  return fmax(1, fmin(account->per_unit, count_groups(&account->grid) / units));
}

static double or_default(double value, double other) {
  return value > 0 ? value : other;
}

double tsl_cost_counts_line_clocks(const tsl_cost_counts *account) {
  return account->touched > account->needed
             ? account->touched / TSL_CACHE_LINE * or_default(account->line_clocks, host_line_clocks)
             : 0;
}

/* Sets the seconds of the causes of waiting. */
static void cost_counts_waiting(const tsl_device *device, const tsl_cost_counts *account, double *seconds) {
  const bool has_groups = account->grid.groups[0] > 0, is_gpu = has_groups && !device->is_cpu;
  const double clocks = 1e6 * fmax(1, device->clock_mhz) * fmax(1, account->workers); /* of busy units */
  const double groups = groups_in_flight(device, account);
  const double items = is_gpu ? groups * items_per_group(&account->grid) : 1;
  if (account->sums > 0)
    seconds[TSL_BOUND_ADDITIONS] = or_default(account->addition_clocks, addition_clocks) * account->computed /
                                   (items * account->sums * clocks);
  if (device->is_cpu)
    seconds[TSL_BOUND_LOADS] = account->loads * or_default(account->load_clocks, host_load_clocks) / clocks;
  if (!is_gpu)
    seconds[TSL_BOUND_LINES] = tsl_cost_counts_line_clocks(account) / clocks;
  if (is_gpu && account->touched > account->needed)
    seconds[TSL_BOUND_LINES] =
        account->touched / (near_bytes_per_second(device) * busy_fraction(device, account));
  if (is_gpu)
    seconds[TSL_BOUND_FLIGHT] = memory_seconds * account->waits *
                                ceil(count_groups(&account->grid) / (groups * fmax(1, account->workers)));
  seconds[TSL_BOUND_BARRIERS] =
      account->barriers / clocks *
      (is_gpu ? barrier_clocks / groups : host_barrier_clocks * items_per_group(&account->grid));
}

tsl_bounds tsl_cost_counts_bounds(const tsl_problem *problem, const tsl_device *device,
                                  const tsl_cost_counts *account) {
  tsl_problem room;
  problem = tsl_problem_without_epilogue(problem, &room);
  tsl_bounds bounds = {.first = TSL_BOUND_ARITHMETIC};
  const double busy = busy_fraction(device, account), near = near_bytes_per_second(device) * busy;
  const double asked = account->global.read + account->global.written;
  const double kept = account->local.read + account->local.written;
  double *seconds = bounds.seconds;
  seconds[TSL_BOUND_ARITHMETIC] = account->computed * cost_counts_operations_per_multiply(problem) /
                                  (cost_counts_peak_rate(problem, device, account) * busy);
  seconds[TSL_BOUND_GLOBAL] = fmax(asked / near, account->memory / device->bandwidth);
  seconds[TSL_BOUND_LOCAL] = kept / near;
  cost_counts_waiting(device, account, seconds);
  seconds[TSL_BOUND_LAUNCH] = account->launches * device->launch_seconds;
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    if (seconds[i] > seconds[bounds.first])
      bounds.first = (tsl_bound)i;
  return bounds;
}

double tsl_cost_counts_seconds(const tsl_problem *problem, const tsl_device *device,
                               const tsl_cost_counts *account) {
  static const double shown = 0.25;
  const tsl_bounds bounds = tsl_cost_counts_bounds(problem, device, account);
  double seconds = (1 - shown) * bounds.seconds[bounds.first];
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    seconds += (i == TSL_BOUND_LAUNCH ? 1 : shown) * bounds.seconds[i];
  return seconds;
}

double tsl_cost_counts_intensity(const tsl_problem *problem, const tsl_cost_counts *account) {
  return tsl_problem_flops(problem) / (account->global.read + account->global.written);
}

tsl_words tsl_cost_counts_words(const tsl_problem *problem, const tsl_cost_counts *account) {
  const double word =
      (cost_counts_element_bytes(&problem->a) +
       cost_counts_element_bytes(problem->op == TSL_OP_TRANSPOSE ? &problem->a : &problem->b)) /
      2;
  return (tsl_words){account->global.read / word / account->useful,
                     account->local.read / word / account->useful};
}

/* Room of a GPU's compute unit: work-items, groups, and local memory as a multiple of a group's maximum. */
enum { UNIT_ITEMS = 2048, UNIT_GROUPS = 32, UNIT_LOCALS = 4 };

/* Sets how many groups fit on a GPU's unit at once, at least 1, and what limits them; 1 on processors. */
static void cost_counts_fill_unit(int64_t local_bytes, const tsl_device *device, tsl_cost_counts *account) {
  const int items = items_per_group(&account->grid), by_items = UNIT_ITEMS / (items > 0 ? items : 1);
  const int64_t by_local =
      local_bytes > 0 ? UNIT_LOCALS * (int64_t)device->local_bytes / local_bytes : UNIT_GROUPS;
  const int64_t least = by_items < by_local ? by_items : by_local;
  account->per_unit = device->is_cpu || least < 1 ? 1 : least > UNIT_GROUPS ? UNIT_GROUPS : (int)least;
  account->filled_by = device->is_cpu         ? NULL
                       : least >= UNIT_GROUPS ? "groups"
                       : by_local < by_items  ? "local memory"
                                              : "work-items";
}

/* Sets items, idle items and busy units from the account's grid; `needed`: items with work. */
static void cost_counts_fill(double needed, int64_t local_bytes, const tsl_device *device,
                             tsl_cost_counts *account) {
  const double groups = count_groups(&account->grid);
  account->items = groups * items_per_group(&account->grid);
  account->wasted = fmax(0, account->items - needed);
  cost_counts_fill_unit(local_bytes, device, account);
  account->workers = fmin(groups, fmax(1, device->compute_units));
}

void tsl_cost_counts_grid(const tsl_grid *grid, int64_t columns, int64_t rows, int64_t local_bytes,
                          const tsl_device *device, tsl_cost_counts *account) {
  const double width = (double)grid->groups[0] * grid->items[0],
               height = (double)grid->groups[1] * grid->items[1];
  account->grid = *grid;
  cost_counts_fill(fmin((double)columns, width) * fmin((double)rows, height), local_bytes, device, account);
}

void tsl_cost_counts_groups(double groups, int items, double needed, int64_t local_bytes,
                            const tsl_device *device, tsl_cost_counts *account) {
  account->grid = (tsl_grid){.groups = {groups < 1 ? 1 : (uint64_t)groups, 1, 1}, .items = {items, 1, 1}};
  cost_counts_fill(needed, local_bytes, device, account);
}

void tsl_cost_counts_result(const tsl_problem *problem, double times, tsl_cost_counts *account) {
  const double bytes = cost_counts_elements_of_c(problem) * cost_counts_element_bytes(&problem->c);
  const bool reads = problem->beta[0] != 0 || problem->beta[1] != 0;
  account->global.read += bytes * (times - (reads ? 0 : 1));
  account->global.written += bytes * times;
}

void tsl_cost_counts_operands(const tsl_problem *problem, double a, double b, tsl_cost_counts *account) {
  account->global.read +=
      a * cost_counts_element_bytes(&problem->a) + b * cost_counts_element_bytes(&problem->b);
}

void tsl_cost_counts_access(const tsl_shape *shape, double loads, double rows, double columns,
                            const tsl_device *device, tsl_cost_counts *account) {
  enum { SEGMENT = 128 }; /* bytes that a GPU moves at least */
  if (device->is_cpu || device->warp < 2)
    return;
  const double bytes = cost_counts_element_bytes(shape);
  const bool by_columns = llabs(shape->row_stride) < llabs(shape->col_stride);
  const double lines = by_columns ? columns : rows, line_bytes = bytes * (by_columns ? rows : columns);
  const double warps = loads / device->warp * SEGMENT;
  account->touched += warps * lines * ceil(line_bytes / SEGMENT);
  account->needed += warps * ceil(lines * line_bytes / SEGMENT);
}

static int64_t cost_counts_gcd(int64_t a, int64_t b) {
  return b == 0 ? a : cost_counts_gcd(b, a % b);
}

/* Returns true if `length` lines, `step` bytes apart, stay in a cache of `bytes` bytes. */
static bool stays_in_cache(int64_t step, double length, int64_t bytes, int ways) {
  const int64_t way = bytes / ways, common = cost_counts_gcd(way, step);
  const int64_t sets = way / (common > TSL_CACHE_LINE ? common : TSL_CACHE_LINE);
  return length <= (double)(sets * ways);
}

void tsl_cost_counts_walk(const tsl_shape *shape, double loads, double length, int64_t stride,
                          const tsl_device *device, tsl_cost_counts *account) {
  /* of usual first and second levels; the second one has instructions, too */
  enum { WAY_BYTES = 4096, FIRST_LEVEL = 32768, SECOND_LEVEL = 1048576, SECOND_WAYS = 16 };
  if (!device->is_cpu && !tsl_device_is_host(device))
    return;
  const double bytes = cost_counts_element_bytes(shape),
               operand = bytes * (double)shape->rows * (double)shape->cols;
  const int64_t step = llabs(stride) * (int64_t)bytes,
                first = device->level_bytes[0] > 0 ? (int64_t)device->level_bytes[0] : FIRST_LEVEL,
                second = device->level_bytes[1] > 0 ? (int64_t)device->level_bytes[1] : SECOND_LEVEL;
  const bool stay = step < TSL_CACHE_LINE || stays_in_cache(step, length, first, (int)(first / WAY_BYTES));
  account->touched += loads * (stay ? bytes : TSL_CACHE_LINE);
  account->needed += loads * bytes;
  account->line_clocks = host_line_clocks + (stays_in_cache(step, length * 4 / 3, second, SECOND_WAYS)
                                                 ? 0
                                                 : host_memory_clocks * tsl_cost_counts_uncached(operand));
}

double tsl_cost_counts_uncached(double bytes) {
  static const double cache = 2e6;
  return bytes / (bytes + cache);
}

void tsl_cost_counts_copies(double bytes, tsl_cost_counts *account) {
  account->global.read += bytes;
  account->global.written += bytes;
  account->memory += 2 * bytes;
  account->launches += account->launches > 0 && bytes > 0;
}

void tsl_cost_counts_tiles(const tsl_problem *problem, double height, double width,
                           tsl_cost_counts *account) {
  const double bytes = account->computed * (cost_counts_element_bytes(&problem->a) / width +
                                            cost_counts_element_bytes(&problem->b) / height);
  account->local.read += bytes;
  account->touched += bytes;
  account->needed += bytes;
}

double tsl_cost_counts_matrix_unit_rate(const tsl_device *device, tsl_matrix_unit_rates rates) {
  const double clocks = fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  if (device->capabilities & TSL_CAN_WGMMA)
    return rates.warpgroup * clocks;
  if (device->capabilities & TSL_CAN_MMA)
    return (device->capabilities & TSL_CAN_MMA_GROUP ? rates.group : rates.warp) * clocks;
  if (device->fragments && device->fragments->rate_16 > 0)
    return 0.6 * device->fragments->rate_16 * clocks;
  return 0.5 * device->peak_f32;
}
