#include "strategy/kernel_launch/simple_kernel.h"
#include "strategy/model_constants.h"

#include <math.h>

enum { ITEMS, PANEL, RELAXED };
static const tsl_param params[] = {
    [ITEMS] = {"items", "work-items of a group, each with a row of C", 64, {64, 256}},
    [PANEL] = {"panel", "numbers of a row of A that an item keeps", 64, {32, 64, 128}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

/* One load from local memory for each multiply-add. Whole panels and groups: items beyond the last row
 * multiply too. On a processor PoCL's compiler computes four work-items between two barriers in a vector, and
 * two such vectors overlap. */
static tsl_simple_kernel row_private_column_local_describe(const tsl_problem *problem,
                                                           const tsl_config *config,
                                                           const tsl_device *device) {
  const double waits = tsl_model_constants_of(device)->simple.column_waits;
  const double size = (double)tsl_type(problem->c.type)->size, panel = (double)config->value[PANEL];
  const double n = (double)problem->n, k = (double)problem->k, items = (double)config->value[ITEMS];
  const double panels = fmax(1, ceil(k / panel)), groups = ceil((double)problem->m / items);
  const double loaded = groups * n * panels * panel; /* to local memory */
  return (tsl_simple_kernel){.rows = (int)items,
                             .local_bytes = (int64_t)(panel * size),
                             .efficiency = 0.016,
                             .a = (double)problem->m * k,
                             .b = groups * n * k,
                             .sums = panels,
                             .computed = loaded * items,
                             .local = {.read = loaded * items * size, .written = loaded * size},
                             .barriers = 2 * n * panels,
                             .waits = panels * (1 + waits * n),
                             .loads_together = true,
                             .lanes = 8,
                             .kept = items * panel * size};
}
TSL_SIMPLE_KERNEL(row_private_column_local, tsl_accuracy_of_panels(problem, config->value[PANEL]))

const tsl_strategy tsl_gemm_row_private_column_local = {
    .name = "row_private_column_local",
    .idea = "rows of A in private memory, columns of B shared in local memory",
    .lifts = "reading a column of B again for each item",
    .partner = "row_private",
    .rung = 6,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .build_seconds = 0.3,
    TSL_SIMPLE_KERNEL_MEMBERS(row_private_column_local),
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [PANEL] = {1, 512},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
};
