/* Enqueues a run: X = alpha B, then block after block, each followed by the product for lower rows. */
#include "strategy/solve/portable/device_blocked/device_blocked.h"

#include "core/status.h"
#include "host/int_math.h"

typedef struct device_blocked_launch {
  const tsl_work *work;
  const tsl_solve_state *self;
  const tsl_operands *operands;
  tsl_stream *stream;
} device_blocked_launch;

/* Returns an operand from row `row` on (`is_square`: and column); of an upper triangle, from the last. */
static tsl_solve_side device_blocked_side_at(const device_blocked_launch *run, const tsl_operand *operand,
                                             int64_t row, bool is_square) {
  const tsl_problem *problem = &run->work->problem;
  const bool is_upper = problem->a.triangle == TESELA_UPPER;
  const int64_t at = is_upper ? problem->m - 1 - row : row, sign = is_upper ? -1 : 1;
  return (tsl_solve_side){.offset = operand->offset + at * operand->row_stride +
                                    (is_square ? at * operand->col_stride : 0),
                          .row_stride = sign * operand->row_stride,
                          .col_stride = (is_square ? sign : 1) * operand->col_stride};
}

static tsl_solve_side device_blocked_swap_strides(tsl_solve_side side) {
  return (tsl_solve_side){side.offset, side.col_stride, side.row_stride};
}

/* Transposes the copy if C is contiguous along rows, because neighbouring items follow columns. */
static void device_blocked_orient(tsl_solve_copy *copy) {
  if (!tsl_launch_along(copy->to.row_stride, copy->to.col_stride))
    return;
  const TSL_INDEX rows = copy->rows;
  copy->rows = copy->cols;
  copy->cols = rows;
  copy->from = device_blocked_swap_strides(copy->from);
  copy->to = device_blocked_swap_strides(copy->to);
}

static tesela_status device_blocked_scale_right_side(const device_blocked_launch *run, bool is_zero) {
  const tsl_problem *problem = &run->work->problem;
  const tsl_device *device = run->work->device;
  const tsl_operand *to = &run->operands->c, *from = problem->in_place || is_zero ? to : &run->operands->b;
  const bool is_double = tsl_type(problem->c.type)->component == TESELA_F64;
  const float single[2] = {(float)problem->alpha[0], (float)problem->alpha[1]};
  tsl_solve_copy copy = {.rows = problem->m,
                         .cols = problem->n,
                         .from = {from->offset, from->row_stride, from->col_stride},
                         .to = {to->offset, to->row_stride, to->col_stride}};
  device_blocked_orient(&copy);
  const tsl_grid grid = {{tsl_launch_limited(device, 0, tsl_ceil_div(copy.cols, SOLVE_COPY_ACROSS)),
                          tsl_launch_limited(device, 1, tsl_ceil_div(copy.rows, SOLVE_COPY_LINES)), 1},
                         {SOLVE_COPY_ACROSS, SOLVE_COPY_LINES, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(from->buffer), TSL_ARG_BUFFER(to->buffer), TSL_ARG_VALUE(copy),
                               is_double ? TSL_ARG_VALUE(problem->alpha[0]) : TSL_ARG_VALUE(single[0]),
                               is_double ? TSL_ARG_VALUE(problem->alpha[1]) : TSL_ARG_VALUE(single[1])};
  return device->ops->launch(run->stream, run->self->scale, &grid, list, sizeof list / sizeof *list);
}

static tesela_status device_blocked_solve_block(const device_blocked_launch *run, int64_t index) {
  const tsl_problem *problem = &run->work->problem;
  const tsl_device *device = run->work->device;
  const tsl_solve_cut *cut = &run->self->cut;
  const int64_t row = index * cut->block, columns = run->work->config.value[SOLVE_COLUMNS];
  tsl_solve_block block = {.rows = tsl_min(cut->block, cut->size - row),
                           .cols = problem->n,
                           .a = device_blocked_side_at(run, &run->operands->a, row, true),
                           .x = device_blocked_side_at(run, &run->operands->c, row, false),
                           .is_unit = problem->a.structure == TESELA_UNIT_TRIANGULAR,
                           .conjugates = problem->conjugate_a};
  block.a_down = tsl_launch_along(block.a.row_stride, block.a.col_stride);
  block.x_down = tsl_launch_along(block.x.row_stride, block.x.col_stride);
  const tsl_grid grid = {{tsl_launch_limited(device, 0, tsl_ceil_div(problem->n, columns)), 1, 1},
                         {SOLVE_ACROSS((int)columns), SOLVE_ITEMS / SOLVE_ACROSS((int)columns), 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->operands->a.buffer),
                               TSL_ARG_BUFFER(run->operands->c.buffer), TSL_ARG_VALUE(block)};
  return device->ops->launch(run->stream, run->self->solve, &grid, list, sizeof list / sizeof *list);
}

/* Returns a block of an operand from `row` on; for an upper triangle, rows count from the last. */
static tsl_operand device_blocked_part_of(const device_blocked_launch *run, const tsl_operand *operand,
                                          int64_t row, int64_t rows, int64_t col, int64_t cols) {
  const tsl_problem *problem = &run->work->problem;
  const bool is_upper = problem->a.triangle == TESELA_UPPER;
  tsl_operand part = *operand;
  part.offset += (is_upper ? problem->m - row - rows : row) * part.row_stride;
  if (cols > 0)
    part.offset += (is_upper ? problem->m - col - cols : col) * part.col_stride;
  return part;
}

static tesela_status subtract_product(const device_blocked_launch *run, int64_t index) {
  const tsl_solve_step step = tsl_solve_step_after(&run->self->cut, index);
  if (step.product < 0)
    return TESELA_OK;
  const tsl_operands part = {
      .a = device_blocked_part_of(run, &run->operands->a, step.row, step.rows, step.first, step.depth),
      .b = device_blocked_part_of(run, &run->operands->c, step.first, step.depth, 0, 0),
      .c = device_blocked_part_of(run, &run->operands->c, step.row, step.rows, 0, 0)};
  return run->work->subplans->enqueue_as_given(run->self->children[step.product], &part, run->stream,
                                               run->operands->scratch);
}

tesela_status tsl_solve_device_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const device_blocked_launch run = {
      .work = work, .self = work->state, .operands = operands, .stream = stream};
  const tsl_problem *problem = &work->problem;
  const bool is_zero = problem->alpha[0] == 0 && problem->alpha[1] == 0,
             is_one = problem->alpha[0] == 1 && problem->alpha[1] == 0;
  if (!problem->in_place || !is_one)
    TSL_TRY(device_blocked_scale_right_side(&run, is_zero));
  for (int64_t i = 0; !is_zero && i < run.self->cut.blocks; i++) {
    TSL_TRY(device_blocked_solve_block(&run, i));
    TSL_TRY(subtract_product(&run, i));
  }
  return TESELA_OK;
}
