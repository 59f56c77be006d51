#include "strategy/kernel_launch/simple_kernel.h"

#include <math.h>
#include <stdio.h>

static const char *simple_grid(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                               const tsl_device *device, tsl_grid *grid) {
  return kernel->columns > 0
             ? tsl_launch_grid(device, problem->n, problem->m, kernel->columns, kernel->rows, grid)
             : tsl_launch_rows(device, problem->m, kernel->rows, grid);
}

const char *tsl_simple_kernel_refuse(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                     const tsl_device *device) {
  tsl_grid grid;
  if ((uint64_t)kernel->local_bytes > device->local_bytes)
    return tsl_refusal("groups of %lld x %lld work-items need %lld bytes of local memory, %s has %llu",
                       (long long)(kernel->columns > 0 ? kernel->columns : 1), (long long)kernel->rows,
                       (long long)kernel->local_bytes, device->name, (unsigned long long)device->local_bytes);
  return simple_grid(kernel, problem, device, &grid);
}

/* Predicts the seconds on a processor from the counts of a run. Variables that outgrow the first-level cache
 * slow every step. */
static double simple_processor_seconds(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                       const tsl_device *device) {
  const double multiply_adds = (double)problem->m * (double)problem->n * (double)problem->k;
  static const double cache_bytes = 65536;
  tsl_cost_counts account = {.workers = 1,
                             .per_unit = 1,
                             .useful = multiply_adds,
                             .computed = multiply_adds,
                             .memory = tsl_problem_bytes(problem),
                             .launches = 1};
  tsl_simple_kernel_account(kernel, problem, device, &account);
  return tsl_cost_counts_seconds(problem, device, &account) * (1 + kernel->kept / cache_bytes);
}

double tsl_simple_kernel_seconds(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                 const tsl_device *device) {
  if (device->is_cpu)
    return simple_processor_seconds(kernel, problem, device);
  const double seconds = tsl_launch_seconds(problem, device, kernel->efficiency,
                                            kernel->columns > 0 ? kernel->columns : problem->n, kernel->rows);
  return kernel->waits > 0 ? fmax(seconds, tsl_launch_chain_seconds(device, kernel->waits)) : seconds;
}

/* Counts the accesses of warps. An item loads its row of A and its column of B, or its part of a tile
 * or column that the group shares. */
static void simple_accesses(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                            const tsl_device *device, tsl_cost_counts *account) {
  const double warp = fmax(1, device->warp), across = fmax(1, fmin(kernel->columns, warp)),
               down = fmax(1, warp / across);
  const bool is_tile = kernel->loads_together && kernel->columns > 0;
  const double elements = (double)problem->m * (double)problem->n;
  tsl_cost_counts_access(&problem->a, kernel->a, down, is_tile ? across : 1, device, account);
  tsl_cost_counts_access(&problem->b, kernel->b, kernel->loads_together ? down : 1, across, device, account);
  tsl_cost_counts_access(&problem->c, elements * fmax(1, kernel->sums), down, across, device, account);
}

void tsl_simple_kernel_account(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                               const tsl_device *device, tsl_cost_counts *account) {
  const tesela_type type = problem->c.type;
  const double vector = type == TESELA_F64 ? device->vector_f64 : device->vector_f32,
               lanes = device->is_cpu ? fmax(1, fmin(kernel->lanes, 2 * vector)) : 1;
  static const double mask_clocks = 6, gather_clocks = 1.2;
  tsl_grid grid = {.groups = {0}};
  if (!simple_grid(kernel, problem, device, &grid))
    tsl_cost_counts_grid(&grid, kernel->columns > 0 ? problem->n : problem->m,
                         kernel->columns > 0 ? problem->m : 1, kernel->local_bytes, device, account);
  if (kernel->computed > 0)
    account->computed = kernel->computed;
  account->local = kernel->local;
  tsl_cost_counts_operands(problem, kernel->a, kernel->b, account);
  tsl_cost_counts_result(problem, fmax(1, kernel->sums), account);
  simple_accesses(kernel, problem, device, account);
  account->sums = lanes;
  account->addition_clocks = device->is_cpu && kernel->masks ? mask_clocks : 0;
  account->loads = (kernel->a + kernel->b + kernel->local.read / (double)tsl_type(type)->size) /
                   (kernel->gathers ? 1 : lanes);
  account->load_clocks = device->is_cpu && kernel->gathers ? gather_clocks : 0;
  if (!kernel->loads_together)
    tsl_cost_counts_walk(&problem->b, kernel->b / lanes, kernel->walk > 0 ? kernel->walk : (double)problem->k,
                         problem->b.row_stride, device, account);
  account->waits = kernel->waits > 0 ? kernel->waits : account->computed / fmax(1, account->items) / 10;
  account->barriers = kernel->barriers * (double)grid.groups[0] * (double)grid.groups[1];
}

tesela_status tsl_simple_kernel_build(tsl_work *work, const tsl_simple_kernel *kernel) {
  const char *name = work->strategy->name;
  char path[256], function[128];
  tsl_grid grid;
  simple_grid(kernel, &work->problem, work->device, &grid);
  snprintf(path, sizeof path, "strategy/gemm/ladder/%s/%s.cl", name, name);
  snprintf(function, sizeof function, "tsl_gemm_%s", name);
  return tsl_launch_build(work, path, function, &grid);
}
