#include "strategy/kernel_launch/simple_kernel.h"

enum { ITEMS, RELAXED };
static const tsl_param params[] = {
    [ITEMS] = {"items", "work-items of a group, each with a row of C", 64, {64, 128, 256}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

/* On a processor an item's row of A stays in a first-level cache. */
static tsl_simple_kernel row_describe(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  const double loads = (double)problem->m * (double)problem->n * (double)problem->k;
  (void)device;
  return (tsl_simple_kernel){.rows = (int)config->value[ITEMS], .efficiency = 0.001, .a = loads, .b = loads};
}
TSL_SIMPLE_KERNEL(row, tsl_accuracy_in_order(problem, config))

const tsl_strategy tsl_gemm_row = {
    .name = "row",
    .idea = "one work-item computes a whole row of C from global memory",
    .lifts = "the number of items: fewer, with more work each",
    .partner = "element",
    .rung = 4,
    .needs = TSL_CAN_KERNELS,
    .build_seconds = 0.3,
    TSL_SIMPLE_KERNEL_MEMBERS(row),
    .tuning = {.ranges = {[ITEMS] = {1, TSL_LAUNCH_ITEMS_MOST}, [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
};
