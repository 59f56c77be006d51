/* --expect by blocks: compares each block of C before it is written, while the next blocks are computed. The
 * expected file is read strip by strip. |C| alone explains nearly all elements. Other elements stay open: A
 * and B are read again for their magnitudes, only the rows and columns of open elements, part of k by part of
 * k. The first part explains nearly all open elements.
 *
 *        A (m x k)           B (k x n)         C (m x n)
 *        +---------+      +-------------+     +-------------+
 *        |         |      |  ::|##|::::|     |             |    x: open elements
 *   box  |::|##|:::|  x   |  ::|##|::::|  =  |  x       x  |
 *        |  depth  |      +-------------+     |     x       |
 *        +---------+           box            +-------------+  */
#include "core/clock.h"
#include "core/memory.h"
#include "product/block_work.h"

#include <string.h>

/* Shares of the memory limit: 1/SHARE of it, at most MOST bytes, is for comparing. Fractions of
 * that hold a strip of the expected file, open elements, and pieces of A and B. */
enum { SHARE = 8, MOST = 64 << 20, STRIP_SHARE = 4, OPEN_SHARE = 4, PIECE_SHARE = 2, CACHE_LINE = 64 };

uint64_t tsl_block_expect_room(const tsl_product *product) {
  const uint64_t part = product->memory / SHARE;
  return part < MOST ? part : MOST;
}

uint64_t tsl_block_expect_bytes(const tsl_product *product) {
  return product->expected.reader ? tsl_block_expect_room(product) : 0;
}

static size_t block_expect_size_of(tesela_type type) {
  return tsl_type(type)->size;
}

static size_t at_least(size_t a, size_t b) {
  return a > b ? a : b;
}

/* Returns the bytes of one step of k of both pieces, for a box of `rows` x `cols` elements of C. */
static size_t block_expect_line_bytes(const tsl_product *product, int64_t rows, int64_t cols) {
  return (size_t)rows * block_expect_size_of(product->types.a) +
         (size_t)cols * block_expect_size_of(product->types.b);
}

tesela_status tsl_block_expect_start(tsl_block_work *work) {
  const tsl_product *product = work->product;
  const tsl_block_size *size = &product->blocks->size;
  tsl_block_comparing *job = &work->comparing;
  const size_t all = (size_t)tsl_block_expect_bytes(product),
               item = block_expect_size_of(product->expected.as);
  if (!product->expected.reader)
    return TESELA_OK;
  job->strip = (int64_t)at_least(all / STRIP_SHARE / item, 1);
  TSL_TRY(tsl_alloc((size_t)job->strip * item, product->expected.path, &job->expected));
  if (product->request.op != TSL_OP_GEMM)
    return TESELA_OK; /* the comparison of moved elements needs no magnitudes */
  job->open.most = (int64_t)at_least(all / OPEN_SHARE / sizeof *job->open.elements, 1);
  TSL_TRY(tsl_alloc((size_t)job->open.most * sizeof *job->open.elements, "elements that are compared",
                    (void **)&job->open.elements));
  job->piece_bytes = at_least(all / PIECE_SHARE, block_expect_line_bytes(product, size->rows, size->cols));
  return tsl_alloc(job->piece_bytes + CACHE_LINE, "pieces of A and B", &job->pieces);
}

void tsl_block_expect_end(tsl_block_work *work) {
  tsl_free(work->comparing.expected);
  tsl_free(work->comparing.open.elements);
  tsl_free(work->comparing.pieces);
}

/* --- elements that |C| does not explain --- */

/* Returns the smallest rectangle that contains all open elements. */
static tsl_rectangle box_of(const tsl_open_list *open) {
  const tsl_open_element *first = &open->elements[0];
  int64_t row = first->row, last_row = row, col = first->col, last_col = col;
  for (int64_t i = 1; i < open->count; i++) {
    const tsl_open_element *at = &open->elements[i];
    row = at->row < row ? at->row : row;
    last_row = at->row > last_row ? at->row : last_row;
    col = at->col < col ? at->col : col;
    last_col = at->col > last_col ? at->col : last_col;
  }
  return (tsl_rectangle){.row = row, .rows = last_row - row + 1, .col = col, .cols = last_col - col + 1};
}

/* Reads the pieces of a step, one after the other in memory. */
static tesela_status read_factors(tsl_block_work *work, const tsl_block_step *step, tsl_factors *out) {
  const tsl_product *product = work->product;
  const tsl_product_request *request = &product->request;
  const tsl_rectangle a = tsl_blocks_piece_of_a(product, step), b = tsl_blocks_piece_of_b(product, step);
  const size_t bytes = (size_t)(a.rows * a.cols) * block_expect_size_of(product->types.a);
  char *const at = work->comparing.pieces, *const behind =
                                               at + (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  int64_t a_row, a_col, b_row, b_col;
  tsl_blocks_strides(&product->a, &a, &a_row, &a_col);
  tsl_blocks_strides(&product->b, &b, &b_row, &b_col);
  TSL_TRY(tsl_block_read(work, &product->a, &a, at, a_row, a_col));
  TSL_TRY(tsl_block_read(work, &product->b, &b, behind, b_row, b_col));
  *out = (tsl_factors){.a = at,
                       .b = behind,
                       .at = {.a_row = request->transpose_a ? a_col : a_row,
                              .a_col = request->transpose_a ? a_row : a_col,
                              .b_row = request->transpose_b ? b_col : b_row,
                              .b_col = request->transpose_b ? b_row : b_col}};
  return TESELA_OK;
}

/* Adds the magnitudes of `depth` products, from index `index` of k on, to all open elements. */
static tesela_status add_magnitudes(tsl_block_work *work, int64_t index, int64_t depth) {
  const tsl_product *product = work->product;
  const tsl_open_list *open = &work->comparing.open;
  const tsl_block_step step = {.c = box_of(open), .at = index, .depth = depth};
  tsl_factors factors;
  TSL_TRY(read_factors(work, &step, &factors));
  for (int64_t i = 0; i < open->count; i++)
    tsl_product_add_magnitudes(product, &open->elements[i].sum, &factors, open->elements[i].row - step.c.row,
                               open->elements[i].col - step.c.col, 0, depth);
  return TESELA_OK;
}

static tesela_status add_before(tsl_block_work *work, tsl_open_element *element) {
  const tsl_product *product = work->product;
  const double *beta = product->request.beta;
  const tsl_rectangle place = {.row = element->row, .rows = 1, .col = element->col, .cols = 1};
  char value[16] = {0};
  if (!product->c0.reader || (beta[0] == 0 && beta[1] == 0))
    return TESELA_OK;
  TSL_TRY(tsl_block_read(work, &product->c0, &place, value, 1, 1));
  tsl_type_load(product->type, value, element->before);
  return TESELA_OK;
}

/* Removes the elements from the list that their magnitudes now decide; `is_whole`: the sums are
 * complete and decide all. */
static void block_expect_settle(tsl_block_work *work, bool is_whole) {
  tsl_open_list *open = &work->comparing.open;
  const tsl_plan_bound guaranteed = tsl_plan_facts_bound(work->product->facts);
  int64_t kept = 0;
  for (int64_t i = 0; i < open->count; i++)
    if (!tsl_product_settle(work->product, &guaranteed, &open->elements[i], is_whole))
      open->elements[kept++] = open->elements[i];
  open->count = kept;
}

/* Decides all open elements. The first terms of the sums decide nearly all; the sums of the others
 * are completed, C0 included. */
static tesela_status settle_all(tsl_block_work *work) {
  tsl_open_list *open = &work->comparing.open;
  const int64_t k = work->product->k;
  int64_t depth = k < TSL_MAGNITUDES_FIRST ? k : TSL_MAGNITUDES_FIRST;
  for (int64_t at = 0; at < k && open->count > 0; at += depth) {
    const tsl_rectangle box = box_of(open);
    const int64_t most =
        (int64_t)(work->comparing.piece_bytes / block_expect_line_bytes(work->product, box.rows, box.cols));
    const int64_t wish = at == 0 ? depth : most, left = k - at;
    depth = wish < most ? wish : most;
    depth = depth < left ? depth : left;
    TSL_TRY(add_magnitudes(work, at, depth));
    block_expect_settle(work, false);
  }
  for (int64_t i = 0; i < open->count; i++)
    TSL_TRY(add_before(work, &open->elements[i]));
  block_expect_settle(work, true);
  return TESELA_OK;
}

/* --- blocks --- */

/* Compares one strip: whole rows of the block, or a part of one row. */
static tesela_status compare_strip(tsl_block_work *work, const tsl_rectangle *strip, const void *c) {
  tsl_product *product = work->product;
  const tsl_compared of = {.c = c,
                           .expected = work->comparing.expected,
                           .open = &work->comparing.open,
                           .row = strip->row,
                           .col = strip->col,
                           .rows = strip->rows,
                           .cols = strip->cols,
                           .guaranteed = tsl_plan_facts_bound(product->facts)};
  const int64_t count = strip->rows * strip->cols;
  TSL_TRY(tsl_block_read(work, &product->expected, strip, work->comparing.expected, strip->cols, 1));
  for (int64_t at = tsl_product_compare(product, &of, 0); at < count;
       at = tsl_product_compare(product, &of, at))
    TSL_TRY(settle_all(work));
  return TESELA_OK;
}

static tesela_status compare_strips(tsl_block_work *work, const tsl_rectangle *block, const char *c) {
  const size_t item = block_expect_size_of(work->product->type);
  const int64_t most = work->comparing.strip, wide = block->cols < most ? block->cols : most,
                high = most / wide;
  for (int64_t row = 0; row < block->rows; row += high)
    for (int64_t col = 0; col < block->cols; col += wide) {
      const tsl_rectangle strip = {.row = block->row + row,
                                   .rows = block->rows - row < high ? block->rows - row : high,
                                   .col = block->col + col,
                                   .cols = block->cols - col < wide ? block->cols - col : wide};
      TSL_TRY(compare_strip(work, &strip, c + (size_t)(row * block->cols + col) * item));
    }
  return settle_all(work);
}

tesela_status tsl_block_expect(tsl_block_work *work, const tsl_rectangle *block, const void *c) {
  tsl_product *product = work->product;
  const double start = tsl_clock();
  if (!product->expected.reader)
    return TESELA_OK;
  const tesela_status status = compare_strips(work, block, c);
  product->blocks->compare_seconds += tsl_clock() - start;
  TSL_TRY(status);
  work->comparing.blocks++;
  return tsl_product_tell_difference(product, work->comparing.blocks == product->blocks->count);
}

tesela_status tsl_block_expect_resumed(tsl_block_work *work) {
  tsl_product *product = work->product;
  const tsl_blocks *blocks = product->blocks;
  for (int64_t i = 0; product->expected.reader && i < blocks->count; i++) {
    const tsl_rectangle block = tsl_blocks_at(product, i);
    if (!blocks->was_done[i])
      continue;
    tsl_progress_at(product->progress, "comparing finished blocks", 0);
    TSL_TRY(tsl_resumable_read(blocks->part, &block, work->c[0]));
    TSL_TRY(tsl_block_expect(work, &block, work->c[0]));
  }
  return TESELA_OK;
}
