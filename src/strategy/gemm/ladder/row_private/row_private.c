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

/* One load for each multiply-add, at the same address for a whole group. On a processor PoCL's compiler puts
 * 32 bytes of a row of C into a vector, and masks each step, since a panel may end early. */
static tsl_simple_kernel row_private_describe(const tsl_problem *problem, const tsl_config *config,
                                              const tsl_device *device) {
  const double m = (double)problem->m, k = (double)problem->k, panel = (double)config->value[PANEL];
  const double panels = ceil(k / panel), waits = tsl_model_constants_of(device)->simple.column_waits;
  return (tsl_simple_kernel){.rows = (int)config->value[ITEMS],
                             .efficiency = 0.014,
                             .a = m * k,
                             .b = m * k * (double)problem->n,
                             .sums = panels,
                             .waits = panels * (1 + waits * (double)problem->n),
                             .lanes = 32 / (double)tsl_type(problem->c.type)->size,
                             .masks = true,
                             .kept = 256 * panel,
                             .walk = fmin(k, panel)};
}
TSL_SIMPLE_KERNEL(row_private, tsl_accuracy_of_panels(problem, config->value[PANEL]))

const tsl_strategy tsl_gemm_row_private = {
    .name = "row_private",
    .idea = "one work-item computes a row of C, with its row of A in private memory",
    .lifts = "reading a row of A again for each column",
    .partner = "row",
    .rung = 5,
    .needs = TSL_CAN_KERNELS,
    .build_seconds = 0.25,
    TSL_SIMPLE_KERNEL_MEMBERS(row_private),
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [PANEL] = {1, 512},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
};
