#include "strategy/cost_counts.h"

#include "device/device_fragments.h"

#include <math.h>

static const char *const bound_names[] = {
#define TSL_BOUND_NAME(name, text, what) [TSL_BOUND_##name] = #text,
    TSL_BOUND_LIST(TSL_BOUND_NAME)
#undef TSL_BOUND_NAME
};
static const char *const bound_whats[] = {
#define TSL_BOUND_WHAT(name, text, what) [TSL_BOUND_##name] = what,
    TSL_BOUND_LIST(TSL_BOUND_WHAT)
#undef TSL_BOUND_WHAT
};

const char *tsl_bound_name(tsl_bound bound) {
  return bound_names[bound];
}

const char *tsl_bound_what(tsl_bound bound) {
  return bound_whats[bound];
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
                            &account->memory,         &account->items,      &account->wasted};
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
  account->launches = device->capabilities & TSL_CAN_HOST ? 0 : 1;
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
  const double all = device->capabilities & TSL_CAN_HOST ? device->threads : device->compute_units;
  return fmin(1, fmax(account->workers, 1) / fmax(all, 1));
}

tsl_bounds tsl_cost_counts_bounds(const tsl_problem *problem, const tsl_device *device,
                                  const tsl_cost_counts *account, double predicted) {
  tsl_problem room;
  problem = tsl_problem_without_epilogue(problem, &room);
  tsl_bounds bounds = {.first = TSL_BOUND_ARITHMETIC};
  const double busy = busy_fraction(device, account), near = near_bytes_per_second(device) * busy;
  const double asked = account->global.read + account->global.written;
  const double kept = account->local.read + account->local.written;
  double *seconds = bounds.seconds, most = 0;
  seconds[TSL_BOUND_ARITHMETIC] = account->computed * cost_counts_operations_per_multiply(problem) /
                                  (cost_counts_peak_rate(problem, device, account) * busy);
  seconds[TSL_BOUND_GLOBAL] = fmax(asked / near, account->memory / device->bandwidth);
  seconds[TSL_BOUND_LOCAL] = kept / near;
  seconds[TSL_BOUND_LAUNCH] = account->launches * device->launch_seconds;
  for (int i = 0; i < TSL_BOUND_LATENCY; i++)
    most = fmax(most, seconds[i]);
  seconds[TSL_BOUND_LATENCY] = fmax(0, predicted - most - seconds[TSL_BOUND_LAUNCH]);
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    if (seconds[i] > seconds[bounds.first])
      bounds.first = (tsl_bound)i;
  return bounds;
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

/* Returns how many groups of `items` items fit on a GPU's unit at once, at least 1; 1 on processors. */
static int cost_counts_groups_per_unit(int items, int64_t local_bytes, const tsl_device *device) {
  if (device->is_cpu)
    return 1;
  const int by_items = UNIT_ITEMS / (items > 0 ? items : 1);
  const int64_t by_local =
      local_bytes > 0 ? UNIT_LOCALS * (int64_t)device->local_bytes / local_bytes : by_items;
  const int64_t least = by_items < by_local ? by_items : by_local;
  return least < 1 ? 1 : least > UNIT_GROUPS ? UNIT_GROUPS : (int)least;
}

static double count_groups(const tsl_grid *grid) {
  return (double)grid->groups[0] * (double)grid->groups[1] * (double)grid->groups[2];
}

static int items_per_group(const tsl_grid *grid) {
  return grid->items[0] * grid->items[1] * grid->items[2];
}

/* Sets items, idle items and busy units from the account's grid; `needed`: items with work. */
static void cost_counts_fill(double needed, int64_t local_bytes, const tsl_device *device,
                             tsl_cost_counts *account) {
  const double groups = count_groups(&account->grid);
  account->items = groups * items_per_group(&account->grid);
  account->wasted = fmax(0, account->items - needed);
  account->per_unit = cost_counts_groups_per_unit(items_per_group(&account->grid), local_bytes, device);
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

void tsl_cost_counts_copies(double bytes, tsl_cost_counts *account) {
  account->global.read += bytes;
  account->global.written += bytes;
  account->memory += 2 * bytes;
  account->launches += account->launches > 0 && bytes > 0;
}

void tsl_cost_counts_tiles(const tsl_problem *problem, double height, double width,
                           tsl_cost_counts *account) {
  account->local.read += account->computed * (cost_counts_element_bytes(&problem->a) / width +
                                              cost_counts_element_bytes(&problem->b) / height);
}

double tsl_cost_counts_engine_rate(const tsl_device *device, tsl_engine_rates rates) {
  const double clocks = fmax(1, device->compute_units) * 1e6 * fmax(1, device->clock_mhz);
  if (device->capabilities & TSL_CAN_WGMMA)
    return rates.warpgroup * clocks;
  if (device->capabilities & TSL_CAN_MMA)
    return (device->capabilities & TSL_CAN_MMA_GROUP ? rates.group : rates.warp) * clocks;
  if (device->fragments && device->fragments->rate_16 > 0)
    return 0.6 * device->fragments->rate_16 * clocks;
  return 0.5 * device->peak_f32;
}
