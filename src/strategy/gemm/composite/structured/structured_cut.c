/* Each pair of diagonal blocks of a level meets one rectangle. The rectangles of a level lie equally far
 * apart along the diagonal, so they are one batch. If the last pair has an incomplete second half, its
 * rectangle is a batch of its own.
 *
 *     D                               D          block x block
 *     1 D      level 0: h = block     1 D
 *     2 2 D    level 1: h = 2 block   2 2 D
 *     2 2 1 D */
#include "strategy/gemm/composite/structured/structured.h"

#include "host/int_math.h"

bool tsl_structured_reads(const tsl_problem *problem) {
  return problem->k > 0 && (problem->alpha[0] != 0 || problem->alpha[1] != 0);
}

/* Returns true if a factor's zeros are skipped by batches that add to C. Not for complex types: beta = 1
 * multiplies C by 1 + 0i, and infinity times 0 is NaN. */
static bool skips_zeros(const tsl_problem *problem) {
  const int operand = tsl_problem_structured(problem);
  return operand != TSL_OPERAND_C && !tsl_type(problem->c.type)->is_complex &&
         tsl_is_triangular(tsl_problem_shape(problem, operand)->structure);
}

tsl_structured_moves tsl_structured_moves_of(const tsl_problem *problem) {
  const int operand = tsl_problem_structured(problem);
  return (tsl_structured_moves){
      .row = operand != TSL_OPERAND_B, .col = operand != TSL_OPERAND_A, .term = operand != TSL_OPERAND_C};
}

/* Returns the batch of the product for a part of the structured operand. */
static tsl_structured_batch structured_cut_batch_of(const tsl_problem *problem, int64_t row, int64_t rows,
                                                    int64_t col, int64_t cols) {
  switch (tsl_problem_structured(problem)) {
  case TSL_OPERAND_A:
    return (tsl_structured_batch){
        .row = row, .rows = rows, .cols = problem->n, .first = col, .depth = cols, .count = 1};
  case TSL_OPERAND_B:
    return (tsl_structured_batch){
        .rows = problem->m, .col = col, .cols = cols, .first = row, .depth = rows, .count = 1};
  default:
    return (tsl_structured_batch){
        .row = row, .rows = rows, .col = col, .cols = cols, .depth = problem->k, .count = 1};
  }
}

static void append_batch(tsl_structured_cut *cut, tsl_structured_batch batch, int64_t count,
                         int64_t distance) {
  batch.count = count;
  batch.distance = count > 1 ? distance : 0;
  if (count > 0)
    cut->batches[cut->count++] = batch;
}

/* Adds the whole diagonal blocks, and the smaller one at the end. */
static void add_diagonal(const tsl_problem *problem, tsl_structured_cut *cut) {
  const int64_t b = cut->block, whole = cut->size / b, first = whole * b, rest = cut->size - first;
  tsl_structured_batch batch = structured_cut_batch_of(problem, 0, b, 0, b);
  batch.on_diagonal = true;
  append_batch(cut, batch, whole, b);
  batch = structured_cut_batch_of(problem, first, rest, first, rest);
  batch.on_diagonal = true;
  append_batch(cut, batch, rest > 0, 0);
}

/* Returns the rectangle of a pair of halves that begins at row `index`; its second half has `second` rows. */
static tsl_structured_batch structured_cut_rectangle(const tsl_problem *problem, int64_t index, int64_t half,
                                                     int64_t second) {
  const tsl_shape *shape = tsl_problem_shape(problem, tsl_problem_structured(problem));
  tsl_structured_batch batch = shape->triangle == TESELA_LOWER
                                   ? structured_cut_batch_of(problem, index + half, second, index, half)
                                   : structured_cut_batch_of(problem, index, half, index + half, second);
  batch.adds = tsl_problem_structured(problem) != TSL_OPERAND_C;
  return batch;
}

static void add_level(const tsl_problem *problem, int64_t half, tsl_structured_cut *cut) {
  const int64_t whole = cut->size / 2 / half, first = whole * 2 * half, rest = cut->size - first - half;
  append_batch(cut, structured_cut_rectangle(problem, 0, half, half), whole, 2 * half);
  append_batch(cut, structured_cut_rectangle(problem, first, half, rest), rest > 0, 0);
  cut->levels++;
}

void tsl_structured_cut_by(const tsl_problem *problem, int64_t block, tsl_structured_cut *cut) {
  const int operand = tsl_problem_structured(problem);
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  const bool is_cut = operand == TSL_OPERAND_C || (skips_zeros(problem) && tsl_structured_reads(problem));
  *cut = (tsl_structured_cut){.size = shape->rows};
  cut->block = is_cut && block < cut->size ? block : cut->size;
  if (problem->m == 0 || problem->n == 0)
    return;
  if (cut->size == 0) { /* no terms */
    cut->batches[cut->count++] = (tsl_structured_batch){.rows = problem->m, .cols = problem->n, .count = 1};
    return;
  }
  add_diagonal(problem, cut);
  for (int64_t half = cut->block; half < cut->size; half = half <= cut->size / 2 ? 2 * half : cut->size)
    add_level(problem, half, cut);
}

/* Without a device, a block size of 0 is assumed to be STRUCTURED_BLOCK_MIN. */
int64_t tsl_structured_addends(const tsl_problem *problem, int64_t block) {
  int64_t slabs = 1;
  if (!skips_zeros(problem))
    return 1;
  for (int64_t half = block > 0 ? block : STRUCTURED_BLOCK_MIN; half < problem->k;
       half = half <= problem->k / 2 ? 2 * half : problem->k)
    slabs++;
  return slabs;
}

static bool reads_better_along_columns(const tsl_shape *shape) {
  return tsl_launch_along(shape->row_stride, shape->col_stride);
}

/* Lines of scratch memory begin at multiples of 64 bytes of f32. */
static tsl_structured_scratch scratch_layout_of(const tsl_shape *shape, int64_t rows, int64_t cols,
                                                int64_t blocks) {
  enum { GRAIN = 16 };
  const bool by_columns = reads_better_along_columns(shape);
  const int64_t line = tsl_round_up(by_columns ? rows : cols, GRAIN);
  tsl_structured_scratch scratch = {.row_stride = by_columns ? 1 : line, .col_stride = by_columns ? line : 1};
  scratch.step = line * (by_columns ? cols : rows);
  scratch.elements = scratch.step * blocks;
  return scratch;
}

tsl_structured_scratch tsl_structured_diagonal_blocks(const tsl_problem *problem,
                                                      const tsl_structured_cut *cut) {
  const int operand = tsl_problem_structured(problem);
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  const bool is_needed = operand == TSL_OPERAND_C || tsl_structured_reads(problem);
  if (!is_needed || cut->size == 0 || cut->count == 0)
    return (tsl_structured_scratch){0};
  return scratch_layout_of(shape, cut->block, cut->block, tsl_ceil_div(cut->size, cut->block));
}

tsl_structured_scratch tsl_structured_c_copy(const tsl_problem *problem) {
  if (!problem->in_place || !tsl_structured_reads(problem) || problem->m == 0 || problem->n == 0)
    return (tsl_structured_scratch){0};
  return scratch_layout_of(&problem->c, problem->m, problem->n, 1);
}

static void set_general_shape(tsl_shape *shape, int64_t rows, int64_t cols,
                              const tsl_structured_scratch *scratch) {
  shape->rows = rows;
  shape->cols = cols;
  shape->structure = TESELA_GENERAL;
  shape->triangle = TESELA_WHOLE;
  if (scratch) {
    shape->row_stride = scratch->row_stride;
    shape->col_stride = scratch->col_stride;
  }
}

tsl_problem tsl_structured_part(const tsl_problem *problem, const tsl_structured_cut *cut,
                                const tsl_structured_batch *batch) {
  const int operand = tsl_problem_structured(problem);
  const tsl_structured_scratch blocks = tsl_structured_diagonal_blocks(problem, cut),
                               c_copy = tsl_structured_c_copy(problem);
  const tsl_structured_scratch *on = batch->on_diagonal && blocks.elements > 0 ? &blocks : NULL,
                               *of_general = c_copy.elements > 0 ? &c_copy : NULL;
  tsl_problem part = *problem;
  part.m = batch->rows;
  part.n = batch->cols;
  part.k = batch->depth;
  part.batch = batch->count > 1 ? batch->count : 0;
  part.in_place = false;
  if (batch->adds) {
    part.beta[0] = 1;
    part.beta[1] = 0;
  }
  set_general_shape(&part.a, part.m, part.k, operand == TSL_OPERAND_A ? on : of_general);
  set_general_shape(&part.b, part.k, part.n, operand == TSL_OPERAND_B ? on : of_general);
  set_general_shape(&part.c, part.m, part.n, operand == TSL_OPERAND_C ? on : NULL);
  part.conjugate_a = operand != TSL_OPERAND_A && problem->conjugate_a;
  part.conjugate_b = operand != TSL_OPERAND_B && problem->conjugate_b;
  return part;
}
