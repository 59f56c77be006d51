#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

#include <math.h>

enum { ITEMS, PANEL, RELAXED };
static const tsl_param params[] = {
    [ITEMS] = {"items", "work-items of a group, each with a row of C", 64, {64, 256}},
    [PANEL] = {"panel", "numbers of a row of A that an item keeps", 64, {32, 64, 128}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_of_panels(problem, config->value[PANEL]), problem,
                              config->value[RELAXED] != 0);
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const int64_t bytes = config->value[PANEL] * (int64_t)tsl_type(problem->c.type)->size;
  if ((uint64_t)bytes > device->local_bytes)
    return tsl_refusal("panel=%d needs %lld bytes of local memory, %s has %llu", (int)config->value[PANEL],
                       (long long)bytes, device->name, (unsigned long long)device->local_bytes);
  tsl_grid grid;
  return tsl_launch_rows(device, problem->m, (int)config->value[ITEMS], &grid);
}

/* Returns the predicted seconds: one load from local memory for each multiply-add. */
static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const double efficiency = device->is_cpu ? 0.02 : 0.016;
  return tsl_launch_seconds(problem, device, efficiency, problem->n, config->value[ITEMS]);
}

/* Counts whole panels and whole groups: items beyond the last row multiply too. */
static void account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_cost_counts *account) {
  const double size = (double)tsl_type(problem->c.type)->size, n = (double)problem->n, k = (double)problem->k;
  const double items = (double)config->value[ITEMS], panel = (double)config->value[PANEL],
               panels = fmax(1, ceil(k / panel)), groups = ceil((double)problem->m / items);
  tsl_grid grid;
  if (!tsl_launch_rows(device, problem->m, (int)items, &grid))
    tsl_cost_counts_grid(&grid, problem->m, 1, (int64_t)(panel * size), device, account);
  account->computed = groups * items * n * panels * panel;
  account->local.written = groups * n * panels * panel * size;
  account->local.read = account->computed * size;
  tsl_cost_counts_operands(problem, (double)problem->m * k, groups * n * k, account);
  tsl_cost_counts_result(problem, panels, account);
}

static tesela_status build(tsl_work *work) {
  tsl_grid grid;
  tsl_launch_rows(work->device, work->problem.m, (int)work->config.value[ITEMS], &grid);
  return tsl_launch_build(work, "strategy/gemm/ladder/row_private_column_local/row_private_column_local.cl",
                          "tsl_gemm_row_private_column_local", &grid);
}

const tsl_strategy tsl_gemm_row_private_column_local = {
    .name = "row_private_column_local",
    .idea = "rows of A in private memory, columns of B shared in local memory",
    .lifts = "reading a column of B again for each item",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = accuracy,
    .params = params,
    .refuse = refuse,
    .build_seconds = 0.3,
    .score = score,
    .build = build,
    .run = tsl_launch_gemm,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [PANEL] = {1, 512},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .resources = {.count_costs = account},
};
