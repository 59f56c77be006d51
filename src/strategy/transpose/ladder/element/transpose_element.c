/* Transpose by elements: on the cpu two loops on one thread, the specification of a transpose; on other
 * devices one element a work-item (transpose_element.cl). */
#include "strategy/transpose/shared/transpose_common.h"

enum { COLUMNS, ROWS };
static const tsl_param params[] = {
    [COLUMNS] = {"columns", "work-items of a group along C's columns", 16, {8, 16, 32}},
    [ROWS] = {"rows", "work-items of a group along C's rows", 16, {4, 8, 16}},
    {NULL, NULL, 0, {0}},
};

static const char *transpose_element_grid_for(const tsl_problem *problem, const tsl_config *config,
                                              const tsl_device *device, tsl_grid *grid) {
  return tsl_launch_grid(device, problem->n, problem->m, (int)config->value[COLUMNS],
                         (int)config->value[ROWS], grid);
}

static const char *transpose_element_refuse(const tsl_problem *problem, const tsl_config *config,
                                            const tsl_device *device) {
  tsl_grid grid;
  const char *why = tsl_transpose_refuse_scaling(problem);
  if (why || !tsl_device_is_host(device))
    return why ? why : transpose_element_grid_for(problem, config, device, &grid);
  if (config->value[COLUMNS] != params[COLUMNS].fallback || config->value[ROWS] != params[ROWS].fallback)
    return "the cpu has no work-groups, so columns and rows stay as they are";
  return NULL;
}

/* Returns the fraction of the bandwidth: one side accesses a cache line for each element. */
static double bandwidth_fraction_of(const tsl_device *device) {
  return tsl_device_is_host(device) || device->is_cpu ? 0.1 : 0.25;
}

static double transpose_element_score(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  (void)config;
  return tsl_transpose_seconds(problem, device, bandwidth_fraction_of(device));
}

static void transpose_element_account(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device, tsl_cost_counts *account) {
  tsl_grid grid;
  if (!tsl_device_is_host(device) && !transpose_element_grid_for(problem, config, device, &grid))
    tsl_cost_counts_grid(&grid, problem->n, problem->m, 0, device, account);
  tsl_transpose_account(problem, 1 / bandwidth_fraction_of(device), account);
}

static tesela_status transpose_element_build(tsl_work *work) {
  tsl_grid grid;
  if (tsl_device_is_host(work->device))
    return TESELA_OK;
  transpose_element_grid_for(&work->problem, &work->config, work->device, &grid);
  return tsl_transpose_build(work, "strategy/transpose/ladder/element/transpose_element.cl",
                             "tsl_transpose_element", &grid);
}

static unsigned char *transpose_element_element_at(const tsl_operand *operand, int64_t row, int64_t col,
                                                   size_t size) {
  return (unsigned char *)operand->host +
         (row * operand->row_stride + col * operand->col_stride) * (int64_t)size;
}

/* Scales an element in its type; f32 and f64 only. */
static void transpose_element_scale(const tsl_problem *problem, unsigned char *element) {
  if (problem->c.type == TESELA_F32)
    *(float *)(void *)element =
        problem->alpha[0] == 0 ? 0 : (float)problem->alpha[0] * *(float *)(void *)element;
  else
    *(double *)(void *)element = problem->alpha[0] == 0 ? 0 : problem->alpha[0] * *(double *)(void *)element;
}

static void transpose_element_copy(unsigned char *dst, const unsigned char *from, size_t size) {
  for (size_t i = 0; i < size; i++)
    dst[i] = from[i];
}

static void transpose_element_exchange(unsigned char *a, unsigned char *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    const unsigned char kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

static void transpose_element_run_on_host(const tsl_problem *problem, const tsl_operands *operands) {
  const size_t size = tsl_type(problem->c.type)->size;
  const bool scales = problem->alpha[0] != 1;
  for (int64_t row = 0; row < problem->m; row++)
    for (int64_t col = problem->in_place ? row : 0; col < problem->n; col++) {
      unsigned char *to = transpose_element_element_at(&operands->c, row, col, size);
      unsigned char *mirror =
          problem->in_place ? transpose_element_element_at(&operands->c, col, row, size) : NULL;
      if (mirror && mirror != to)
        transpose_element_exchange(to, mirror, size);
      else if (!mirror && problem->alpha[0] != 0)
        transpose_element_copy(to, transpose_element_element_at(&operands->a, col, row, size), size);
      if (scales)
        transpose_element_scale(problem, to);
      if (scales && mirror && mirror != to)
        transpose_element_scale(problem, mirror);
    }
}

static tesela_status transpose_element_run(const tsl_work *work, const tsl_operands *operands,
                                           tsl_stream *stream) {
  if (!tsl_device_is_host(work->device))
    return tsl_transpose_launch(work, operands, stream);
  transpose_element_run_on_host(&work->problem, operands);
  return TESELA_OK;
}

const tsl_strategy tsl_transpose_element = {
    .name = "element",
    .idea = "one element after the other; on devices, one work-item each",
    .lifts = "none (the specification)",
    .rung = 1,
    .op = TSL_OP_TRANSPOSE,
    .version = 1,
    .accuracy = tsl_transpose_accuracy,
    .params = params,
    .refuse = transpose_element_refuse,
    .score = transpose_element_score,
    .build = transpose_element_build,
    .run = transpose_element_run,
    .release = tsl_launch_release,
    .supports = {.types = tsl_types_all},
    .tuning = {.ranges = {[COLUMNS] = {1, TSL_LAUNCH_ITEMS_MOST}, [ROWS] = {1, TSL_LAUNCH_ITEMS_MOST}}},
    .resources = {.count_costs = transpose_element_account},
};
