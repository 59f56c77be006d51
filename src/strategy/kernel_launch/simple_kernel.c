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

double tsl_simple_kernel_seconds(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                                 const tsl_device *device) {
  const double seconds = tsl_launch_seconds(problem, device, kernel->efficiency,
                                            kernel->columns > 0 ? kernel->columns : problem->n, kernel->rows);
  return kernel->waits > 0 ? fmax(seconds, tsl_launch_chain_seconds(device, kernel->waits)) : seconds;
}

void tsl_simple_kernel_account(const tsl_simple_kernel *kernel, const tsl_problem *problem,
                               const tsl_device *device, tsl_cost_counts *account) {
  tsl_grid grid;
  if (!simple_grid(kernel, problem, device, &grid))
    tsl_cost_counts_grid(&grid, kernel->columns > 0 ? problem->n : problem->m,
                         kernel->columns > 0 ? problem->m : 1, kernel->local_bytes, device, account);
  if (kernel->computed > 0)
    account->computed = kernel->computed;
  account->local = kernel->local;
  tsl_cost_counts_operands(problem, kernel->a, kernel->b, account);
  tsl_cost_counts_result(problem, fmax(1, kernel->sums), account);
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
