/* Host side of element.cl. Measurements: docs/lab/element.md. */
#include "strategy/kernel_launch/simple_kernel.h"

enum { COLUMNS, ROWS, RELAXED };
static const tsl_param params[] = {
    [COLUMNS] = {"columns", "work-items along a row of C", 16, {16, 32, 64}},
    [ROWS] = {"rows", "work-items along a column of C", 16, {4, 8, 16}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};

/* Two loads for each multiply-add give a twelfth of a GPU's rate. Compilers prefetch ten steps of k. */
static tsl_simple_kernel element_describe(const tsl_problem *problem, const tsl_config *config,
                                          const tsl_device *device) {
  const int columns = (int)config->value[COLUMNS];
  const double loads = (double)problem->m * (double)problem->n * (double)problem->k;
  return (tsl_simple_kernel){.columns = columns,
                             .rows = (int)config->value[ROWS],
                             .efficiency = columns < device->warp ? 0.07 : 0.08,
                             .waits = (double)problem->k / 10,
                             .a = loads,
                             .b = loads};
}
TSL_SIMPLE_KERNEL(element, tsl_accuracy_in_order(problem, config))

const tsl_strategy tsl_gemm_element = {
    .name = "element",
    .idea = "one work-item computes one element of C from global memory",
    .lifts = "one processor: every element has its own work-item",
    .partner = "sequential",
    .rung = 3,
    .needs = TSL_CAN_KERNELS,
    .build_seconds = 0.45,
    TSL_SIMPLE_KERNEL_MEMBERS(element),
    .tuning = {.ranges = {[COLUMNS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [ROWS] = {1, TSL_LAUNCH_ITEMS_MOST},
                          [RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
};
