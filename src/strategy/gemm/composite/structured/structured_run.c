/* Copies to scratch memory, batches, and the diagonal's triangles back to C, in order on the run's stream. */
#include "strategy/gemm/composite/structured/structured.h"

#include "core/status.h"
#include "host/int_math.h"

typedef struct structured_context {
  const tsl_work *work;
  const tsl_structured_gemm *self;
  const tsl_operands *operands;
  tsl_stream *stream;
} structured_context;

static tsl_structured_side structured_side_of(const tsl_operand *operand, int64_t diagonal_block_rows) {
  return (tsl_structured_side){.offset = operand->offset,
                               .row_stride = operand->row_stride,
                               .col_stride = operand->col_stride,
                               .step = diagonal_block_rows * (operand->row_stride + operand->col_stride)};
}

static void structured_swap(TSL_INDEX *item, TSL_INDEX *other) {
  const TSL_INDEX kept = *item;
  *item = *other;
  *other = kept;
}

/* Transposes a copy if the destination is contiguous along its rows, since items lie along columns. */
static void structured_orient(tsl_structured_copy *copy) {
  static const int turned[] = {0, 2, 1};
  if (!tsl_launch_along(copy->to.row_stride, copy->to.col_stride))
    return;
  structured_swap(&copy->rows, &copy->cols);
  structured_swap(&copy->from.row_stride, &copy->from.col_stride);
  structured_swap(&copy->to.row_stride, &copy->to.col_stride);
  copy->triangle = turned[copy->triangle];
}

static tesela_status structured_launch(const structured_context *run, tsl_structured_copy copy,
                                       tsl_buffer *from, tsl_buffer *buffer) {
  const tsl_device *device = run->work->device;
  structured_orient(&copy);
  const tsl_grid grid = {
      {tsl_launch_limited(device, 0, tsl_ceil_div(copy.cols, STRUCTURED_SIDE)),
       tsl_launch_limited(device, 1, tsl_ceil_div(copy.rows, STRUCTURED_SIDE) * copy.blocks), 1},
      {STRUCTURED_SIDE, STRUCTURED_LINES, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(from), TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(copy)};
  return copy.blocks > 0
             ? device->ops->launch(run->stream, run->self->copy, &grid, list, sizeof list / sizeof *list)
             : TESELA_OK;
}

/* Copies the diagonal blocks of full size, then the smaller one at the end. */
static tesela_status copy_diagonal(const structured_context *run, tsl_structured_copy copy, tsl_buffer *from,
                                   tsl_buffer *buffer) {
  const tsl_structured_cut *cut = &run->self->cut;
  const int64_t whole = cut->size / cut->block;
  copy.rows = copy.cols = cut->block;
  copy.blocks = whole;
  TSL_TRY(structured_launch(run, copy, from, buffer));
  copy.rows = copy.cols = cut->size - whole * cut->block;
  copy.blocks = copy.rows > 0;
  copy.from.offset += whole * copy.from.step;
  copy.to.offset += whole * copy.to.step;
  return structured_launch(run, copy, from, buffer);
}

static tsl_operand scratch_operand(const structured_context *run, const tsl_structured_scratch *scratch,
                                   int64_t index) {
  return (tsl_operand){.buffer = run->operands->scratch,
                       .offset = index,
                       .row_stride = scratch->row_stride,
                       .col_stride = scratch->col_stride};
}

static tsl_structured_side side_of_blocks(const structured_context *run) {
  const tsl_structured_scratch *blocks = &run->self->blocks;
  return (tsl_structured_side){run->self->blocks_offset, blocks->row_stride, blocks->col_stride,
                               blocks->step};
}

static int stored_triangle(const tsl_shape *shape) {
  return shape->triangle == TESELA_LOWER ? 1 : shape->triangle == TESELA_UPPER ? 2 : 0;
}

/* Completes the diagonal blocks of a factor as its structure demands. */
static tesela_status complete_factor(const structured_context *run, int operand) {
  const tsl_problem *problem = &run->work->problem;
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  const tsl_operand *source = &run->operands->at[operand];
  const bool is_hermitian = shape->structure == TESELA_HERMITIAN,
             conjugates = operand == TSL_OPERAND_A ? problem->conjugate_a : problem->conjugate_b;
  const tsl_structured_copy copy = {
      .from = structured_side_of(source, run->self->cut.block),
      .to = side_of_blocks(run),
      .triangle = stored_triangle(shape),
      .outside = tsl_is_triangular(shape->structure) ? STRUCTURED_ZERO : STRUCTURED_MIRROR,
      .diagonal = is_hermitian                                 ? STRUCTURED_REAL
                  : shape->structure == TESELA_UNIT_TRIANGULAR ? STRUCTURED_ONES
                                                               : STRUCTURED_AS_STORED,
      .conjugates_stored = conjugates,
      .conjugates_mirrored = conjugates != is_hermitian};
  return copy_diagonal(run, copy, source->buffer, run->operands->scratch);
}

/* Copies C's diagonal blocks to scratch memory, with zeros outside the triangle, or back to C. */
static tesela_status copy_triangles_of_c(const structured_context *run, bool to_scratch) {
  const tsl_shape *shape = &run->work->problem.c;
  const tsl_structured_side c_side = structured_side_of(&run->operands->c, run->self->cut.block),
                            blocks = side_of_blocks(run);
  const tsl_structured_copy copy = {.from = to_scratch ? c_side : blocks,
                                    .to = to_scratch ? blocks : c_side,
                                    .triangle = stored_triangle(shape),
                                    .outside = to_scratch ? STRUCTURED_ZERO : STRUCTURED_SKIP,
                                    .diagonal = shape->structure == TESELA_HERMITIAN ? STRUCTURED_REAL
                                                                                     : STRUCTURED_AS_STORED};
  return copy_diagonal(run, copy, to_scratch ? run->operands->c.buffer : run->operands->scratch,
                       to_scratch ? run->operands->scratch : run->operands->c.buffer);
}

static tesela_status copy_c_to_scratch(const structured_context *run) {
  const tsl_problem *problem = &run->work->problem;
  const tsl_operand c_copy = scratch_operand(run, &run->self->c_copy, run->self->c_copy_offset);
  const tsl_structured_copy copy = {.rows = problem->m,
                                    .cols = problem->n,
                                    .blocks = 1,
                                    .from = structured_side_of(&run->operands->c, 0),
                                    .to = structured_side_of(&c_copy, 0)};
  return structured_launch(run, copy, run->operands->c.buffer, run->operands->scratch);
}

/* Returns an operand from element (row, col) on, with the step between a batch's products. */
static tsl_operand structured_part_of(const structured_context *run, const tsl_structured_batch *batch,
                                      int operand, int64_t row, int64_t col, int64_t row_distance,
                                      int64_t col_distance) {
  const tsl_structured_gemm *self = run->self;
  const int structured = tsl_problem_structured(&run->work->problem);
  if (operand == structured && batch->on_diagonal && self->blocks.elements > 0) {
    tsl_operand block = scratch_operand(run, &self->blocks, self->blocks_offset);
    block.offset += (operand == TSL_OPERAND_B ? col : row) / self->cut.block * self->blocks.step;
    block.batch_step = batch->count > 1 ? self->blocks.step : 0;
    return block;
  }
  const bool is_held = operand != structured && operand != TSL_OPERAND_C && self->c_copy.elements > 0;
  tsl_operand part =
      is_held ? scratch_operand(run, &self->c_copy, self->c_copy_offset) : run->operands->at[operand];
  part.offset += row * part.row_stride + col * part.col_stride;
  part.batch_step = row_distance * part.row_stride + col_distance * part.col_stride;
  return part;
}

/* Enqueues all products of a batch in one run, or one after the other. */
static tesela_status structured_enqueue(const structured_context *run, int index, tsl_operands part) {
  const tsl_structured_gemm *self = run->self;
  const int64_t rounds = self->one_by_one[index] ? self->cut.batches[index].count : 1;
  for (int64_t i = 0; i < rounds; i++) {
    TSL_TRY(run->work->subplans->enqueue_as_given(self->children[index], &part, run->stream,
                                                  run->operands->scratch));
    part.a.offset += part.a.batch_step;
    part.b.offset += part.b.batch_step;
    part.c.offset += part.c.batch_step;
  }
  return TESELA_OK;
}

static tesela_status structured_multiply(const structured_context *run, int index) {
  const tsl_structured_batch *batch = &run->self->cut.batches[index];
  const tsl_structured_moves moves = tsl_structured_moves_of(&run->work->problem);
  const int64_t row = moves.row ? batch->distance : 0, col = moves.col ? batch->distance : 0,
                term = moves.term ? batch->distance : 0;
  const tsl_operands part = {
      .a = structured_part_of(run, batch, TSL_OPERAND_A, batch->row, batch->first, row, term),
      .b = structured_part_of(run, batch, TSL_OPERAND_B, batch->first, batch->col, term, col),
      .c = structured_part_of(run, batch, TSL_OPERAND_C, batch->row, batch->col, row, col)};
  return structured_enqueue(run, index, part);
}

tesela_status tsl_structured_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const structured_context run = {.work = work, .self = work->state, .operands = operands, .stream = stream};
  const tsl_problem *problem = &work->problem;
  const int structured = tsl_problem_structured(problem);
  const bool of_c = structured == TSL_OPERAND_C;
  if (run.self->c_copy.elements > 0)
    TSL_TRY(copy_c_to_scratch(&run));
  if (!of_c && run.self->blocks.elements > 0)
    TSL_TRY(complete_factor(&run, structured));
  if (of_c && tsl_problem_reads(problem, TSL_OPERAND_C))
    TSL_TRY(copy_triangles_of_c(&run, true));
  for (int i = 0; i < run.self->cut.count; i++)
    TSL_TRY(structured_multiply(&run, i));
  return of_c && run.self->blocks.elements > 0 ? copy_triangles_of_c(&run, false) : TESELA_OK;
}
