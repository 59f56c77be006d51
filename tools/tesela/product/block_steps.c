/* The order of the steps: blocks along the rows of C or down its columns, and within a block the
 * parts of k. The order depends on sizes only, so each thread computes it alone. */
#include "product/blocks.h"

#include "explain/plan_facts.h"

static int64_t block_steps_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Sets the depth of the part of k that begins at step->at. */
static void set_part(const tsl_product *product, tsl_block_step *step) {
  const tsl_blocks *blocks = product->blocks;
  const int64_t left = product->k - step->at;
  int64_t depth = left;
  if (product->request.op == TSL_OP_GEMM && blocks->can_cut)
    depth = tsl_plan_part_of_k(blocks->whole, step->c.rows, step->c.cols, step->at,
                               block_steps_least(left, blocks->size.depth));
  step->depth = depth > 0 ? depth : left;
  step->is_first = step->at == 0;
  step->is_last = product->request.op != TSL_OP_GEMM || step->depth == left;
}

tsl_rectangle tsl_blocks_at(const tsl_product *product, int64_t block) {
  const tsl_blocks *blocks = product->blocks;
  tsl_rectangle c = {.row = block / blocks->across * blocks->size.rows,
                     .col = block % blocks->across * blocks->size.cols};
  c.rows = block_steps_least(blocks->size.rows, product->m - c.row);
  c.cols = block_steps_least(blocks->size.cols, product->n - c.col);
  return c;
}

/* Sets the step to the first part of the block at position `turn` of the order. */
static void set_block(const tsl_product *product, int64_t turn, tsl_block_step *step) {
  const tsl_blocks *blocks = product->blocks;
  const bool down_first = blocks->size.down_first;
  const int64_t row = down_first ? turn % blocks->down : turn / blocks->across,
                col = down_first ? turn / blocks->down : turn % blocks->across;
  step->block = row * blocks->across + col;
  step->c = tsl_blocks_at(product, step->block);
  step->at = 0;
  set_part(product, step);
}

/* Finds the first block from position `turn` on that no earlier run wrote; returns false if there
 * is none. */
static bool find_block(const tsl_product *product, int64_t turn, tsl_block_step *step) {
  for (; turn < product->blocks->count; turn++) {
    set_block(product, turn, step);
    if (!product->blocks->was_done[step->block])
      return true;
  }
  return false;
}

bool tsl_blocks_first(const tsl_product *product, tsl_block_step *step) {
  step->ordinal = 0;
  return find_block(product, 0, step);
}

bool tsl_blocks_next(const tsl_product *product, tsl_block_step *step) {
  const tsl_blocks *blocks = product->blocks;
  if (!step->is_last) {
    step->at += step->depth;
    set_part(product, step);
    return true;
  }
  const int64_t row = step->block / blocks->across, col = step->block % blocks->across;
  step->ordinal++;
  return find_block(product, 1 + (blocks->size.down_first ? col * blocks->down + row : step->block), step);
}

int64_t tsl_blocks_left(const tsl_blocks *blocks) {
  return blocks->count - blocks->resumed;
}

tsl_rectangle tsl_blocks_piece_of_a(const tsl_product *product, const tsl_block_step *step) {
  if (product->request.op == TSL_OP_TRANSPOSE)
    return (tsl_rectangle){step->c.col, step->c.cols, step->c.row, step->c.rows};
  return product->request.transpose_a ? (tsl_rectangle){step->at, step->depth, step->c.row, step->c.rows}
                                      : (tsl_rectangle){step->c.row, step->c.rows, step->at, step->depth};
}

tsl_rectangle tsl_blocks_piece_of_b(const tsl_product *product, const tsl_block_step *step) {
  return product->request.transpose_b ? (tsl_rectangle){step->c.col, step->c.cols, step->at, step->depth}
                                      : (tsl_rectangle){step->at, step->depth, step->c.col, step->c.cols};
}

void tsl_blocks_strides(const tsl_matrix_source *feed, const tsl_rectangle *piece, int64_t *row_stride,
                        int64_t *col_stride) {
  *row_stride = feed->columns_first ? 1 : piece->cols;
  *col_stride = feed->columns_first ? piece->rows : 1;
}
