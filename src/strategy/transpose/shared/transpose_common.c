#include "strategy/transpose/shared/transpose_common.h"

#include "core/status.h"
#include "core/strides.h"

#include <math.h>

/* Sizes as in kernel/kernel_transpose.h. Kernels that scale have alpha after them, in the element's type. */
typedef struct tsl_transpose_sizes {
  int64_t m, n;
  int64_t a_offset, a_row_stride, a_col_stride;
  int64_t c_offset, c_row_stride, c_col_stride;
} tsl_transpose_sizes;
typedef struct tsl_transpose_arguments_f32 {
  tsl_transpose_sizes sizes;
  float alpha, unused;
} tsl_transpose_arguments_f32;
typedef struct tsl_transpose_arguments_f64 {
  tsl_transpose_sizes sizes;
  double alpha;
} tsl_transpose_arguments_f64;

static bool transpose_common_is_scaled(const tsl_problem *problem) {
  return problem->alpha[0] != 1 || problem->alpha[1] != 0;
}

tsl_accuracy tsl_transpose_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return (tsl_accuracy){.factor = transpose_common_is_scaled(problem) ? 1 : 0,
                        .is_reproducible = true,
                        .is_correctly_rounded = transpose_common_is_scaled(problem)};
}

const char *tsl_transpose_refuse_scaling(const tsl_problem *problem) {
  const tesela_type type = problem->c.type;
  if (transpose_common_is_scaled(problem) && type != TESELA_F32 && type != TESELA_F64)
    return tsl_refusal("moves %s, but scales f32 and f64 only", tsl_type(type)->name);
  return NULL;
}

tesela_status tsl_transpose_build(tsl_work *work, const char *path, const char *kernel,
                                  const tsl_grid *grid) {
  const tsl_problem *problem = &work->problem;
  tsl_text defines = {0};
  if (!transpose_common_is_scaled(problem))
    tsl_text_add(&defines, "#define TSL_MOVED_BYTES %zu\n", tsl_type(problem->c.type)->size);
  if (problem->in_place)
    tsl_text_add(&defines, "#define TSL_IN_PLACE 1\n");
  tesela_status status = tsl_text_status(&defines);
  if (status == TESELA_OK)
    status = tsl_launch_build_with(
        work, path, kernel, grid, transpose_common_is_scaled(problem) ? problem->c.type : TESELA_TYPE_DEFAULT,
        tsl_text_get(&defines));
  tsl_text_free(&defines);
  return status;
}

static tsl_transpose_sizes transpose_common_get_sizes(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_operand *c = &operands->c, *a = problem->in_place || !operands->a.buffer ? c : &operands->a;
  return (tsl_transpose_sizes){.m = problem->m,
                               .n = problem->n,
                               .a_offset = a->offset,
                               .a_row_stride = a->row_stride,
                               .a_col_stride = a->col_stride,
                               .c_offset = c->offset,
                               .c_row_stride = c->row_stride,
                               .c_col_stride = c->col_stride};
}

static tesela_status launch_with_grid(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream,
                                      const tsl_transpose_sizes *sizes, const tsl_grid *grid) {
  const tsl_launch *launch = work->state;
  const tsl_problem *problem = &work->problem;
  const tsl_transpose_arguments_f32 single = {*sizes, (float)problem->alpha[0], 0};
  const tsl_transpose_arguments_f64 twice = {*sizes, problem->alpha[0]};
  const bool is_single = transpose_common_is_scaled(problem) && problem->c.type == TESELA_F32;
  tsl_buffer *a = operands->a.buffer ? operands->a.buffer : operands->c.buffer;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(a), TSL_ARG_BUFFER(operands->c.buffer),
                                    is_single                             ? TSL_ARG_VALUE(single)
                                    : transpose_common_is_scaled(problem) ? TSL_ARG_VALUE(twice)
                                                                          : TSL_ARG_VALUE(*sizes)};
  return work->device->ops->launch(stream, launch->kernel, grid, arguments,
                                   sizeof arguments / sizeof *arguments);
}

tesela_status tsl_transpose_launch(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_launch *launch = work->state;
  const tsl_transpose_sizes sizes = transpose_common_get_sizes(work, operands);
  return launch_with_grid(work, operands, stream, &sizes, &launch->grid);
}

static int64_t transpose_common_absolute(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* Makes the axis of C's smallest stride its columns; an axis of one element does not count. */
static void transpose_common_order_axes(tsl_transpose_sizes *sizes) {
  if (sizes->m == 1 || (sizes->n > 1 && transpose_common_absolute(sizes->c_col_stride) <=
                                            transpose_common_absolute(sizes->c_row_stride)))
    return;
  tsl_exchange(&sizes->m, &sizes->n);
  tsl_exchange(&sizes->c_row_stride, &sizes->c_col_stride);
  tsl_exchange(&sizes->a_row_stride, &sizes->a_col_stride);
}

static int64_t transpose_common_count_tiles(int64_t elements, int tile) {
  return (elements - 1) / tile + 1;
}

/* Makes the grid of places of kernel/transpose_tile.h, limited to the device's groups; kernels loop. */
static tsl_grid tile_grid(const tsl_problem *problem, const tsl_transpose_sizes *sizes,
                          const tsl_transpose_tiling *tiling, const tsl_device *device) {
  const int64_t down = transpose_common_count_tiles(sizes->m, tiling->tile),
                across = transpose_common_count_tiles(sizes->n, tiling->tile);
  int64_t band = 1;
  while (band < tiling->band && band < down)
    band *= 2;
  const int64_t blocks = (down - 1) / band + 1;
  const int64_t places[2] = {problem->in_place ? (blocks + 1) * band * band : across * band,
                             problem->in_place ? (blocks + 1) / 2 : blocks};
  tsl_grid grid = {.groups = {1, 1, 1}, .items = {tiling->items, 1, 1}};
  for (int d = 0; d < 2; d++) {
    const uint64_t most = device->group_count_max[d] < INT32_MAX ? device->group_count_max[d] : INT32_MAX;
    grid.groups[d] = (uint64_t)places[d] < most ? (uint64_t)places[d] : most;
  }
  return grid;
}

const char *tsl_transpose_refuse_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                       const tsl_device *device) {
  tsl_grid grid;
  const uint64_t tiles = problem->in_place ? 2 : 1, size = tsl_type(problem->c.type)->size;
  const uint64_t bytes = tiles * (uint64_t)tiling->tile * (uint64_t)tiling->tile * size;
  if (bytes > device->local_bytes)
    return tsl_refusal("%s of %d x %d elements take %llu bytes of local memory, %s has %llu",
                       problem->in_place ? "two tiles" : "tiles", tiling->tile, tiling->tile,
                       (unsigned long long)bytes, device->name, (unsigned long long)device->local_bytes);
  return tsl_launch_grid(device, tiling->items, 1, tiling->items, 1, &grid);
}

tesela_status tsl_transpose_build_tiles(tsl_work *work, const char *path, const char *kernel,
                                        const tsl_transpose_tiling *tiling) {
  const tsl_grid grid = {.groups = {1, 1, 1}, .items = {tiling->items, 1, 1}};
  return tsl_transpose_build(work, path, kernel, &grid);
}

tesela_status tsl_transpose_launch_tiles(const tsl_work *work, const tsl_operands *operands,
                                         tsl_stream *stream, const tsl_transpose_tiling *tiling) {
  tsl_transpose_sizes sizes = transpose_common_get_sizes(work, operands);
  transpose_common_order_axes(&sizes);
  const tsl_grid grid = tile_grid(&work->problem, &sizes, tiling, work->device);
  return launch_with_grid(work, operands, stream, &sizes, &grid);
}

/* Counts an almost empty tile as a sixth of a whole one: its group, and its memory latency. */
double tsl_transpose_tiles_seconds(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                   const tsl_device *device, double efficiency) {
  const double tile = tiling->tile, m = (double)problem->m, n = (double)problem->n;
  const double whole = ceil(m / tile) * ceil(n / tile) * tile * tile;
  const double idle = m * n > 0 ? fmax(1, whole / (6 * m * n)) : 1;
  return idle * tsl_problem_bytes(problem) / (efficiency * device->bandwidth) + device->launch_seconds;
}

double tsl_transpose_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency) {
  return tsl_problem_bytes(problem) / (efficiency * device->bandwidth) + device->launch_seconds;
}

void tsl_transpose_account(const tsl_problem *problem, double lines, tsl_cost_counts *account) {
  const double bytes = account->useful * (double)tsl_type(problem->c.type)->size;
  account->global = (tsl_moved){.read = bytes, .written = bytes};
  account->memory *= lines;
}

void tsl_transpose_account_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                 const tsl_device *device, tsl_cost_counts *account) {
  const double tile = tiling->tile, bytes = account->useful * (double)tsl_type(problem->c.type)->size;
  const double down = ceil((double)problem->m / tile), across = ceil((double)problem->n / tile);
  const double groups = problem->in_place ? down * (down + 1) / 2 : down * across;
  account->computed = down * across * tile * tile;
  tsl_cost_counts_groups(groups, tiling->items, account->useful / account->computed * groups * tiling->items,
                         (int64_t)(tile * tile) * (int64_t)tsl_type(problem->c.type)->size, device, account);
  account->local = (tsl_moved){.read = bytes, .written = bytes};
  tsl_transpose_account(problem, 1, account);
}
