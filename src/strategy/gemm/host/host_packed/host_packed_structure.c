/* Micro-panel of a factor whose steps up to the diagonal are stored; a line is a row of A or a column of B:
 *
 *   lines          | stored: packed  | corner | symmetric, hermitian: packed with exchanged strides |
 *   from `line` on | as usual        |        | triangular: 0, skipped by packing and tiles         |
 *   steps          0              line   line + count                                              k
 *
 * Tiles that the diagonal of C's triangle crosses are computed in a small block. */
#include "strategy/gemm/host/host_packed/blocking.h"

#include <string.h>

#include "core/memory.h"

/* Returns a factor as lines x steps: A, or the transposed B. */
static tsl_view packed_structure_lines_of(const tsl_packed_job *job, bool is_a) {
  if (is_a)
    return job->views.a;
  const tsl_view *b = &job->views.b;
  return (tsl_view){.at = b->at,
                    .row_stride = b->col_stride,
                    .col_stride = b->row_stride,
                    .structure = b->structure,
                    .triangle = tsl_triangle_opposite(b->triangle)};
}

static bool is_triangular(const tsl_view *view) {
  return view->structure == TESELA_TRIANGULAR || view->structure == TESELA_UNIT_TRIANGULAR;
}

/* Packs steps `first` to before `end`, which are all on one side of the diagonal. */
static void copy_side(const tsl_packed_job *job, const tsl_view *view, const tsl_packed_lines *lines,
                      bool is_stored, int64_t first, int64_t end, unsigned char *out) {
  if (first >= end || (!is_stored && is_triangular(view)))
    return;
  const int64_t across = is_stored ? view->row_stride : view->col_stride,
                along = is_stored ? view->col_stride : view->row_stride;
  job->kernels->pack_micro(view->at + (lines->line * across + first * along) * job->size, across, along,
                           lines->count, end - first, lines->width, out);
  if (!is_stored && view->structure == TESELA_HERMITIAN)
    job->kernels->conjugate(out, (end - first) * lines->width);
}

void tsl_packed_pack_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                const tsl_packed_lines *lines, void *micro) {
  const tsl_view view = packed_structure_lines_of(job, lines->is_a);
  const bool stores_before = view.triangle == TESELA_LOWER;
  const int64_t first_step = block->pc + lines->from, last_step = block->pc + lines->to, line = lines->line,
                behind = line + lines->count, step_bytes = lines->width * job->size;
  unsigned char *out = (unsigned char *)micro - block->pc * step_bytes; /* position of step 0 */
  copy_side(job, &view, lines, stores_before, first_step, tsl_min(last_step, line),
            out + first_step * step_bytes);
  const int64_t first = tsl_max(first_step, line), end = tsl_min(last_step, behind);
  if (first < end)
    job->kernels->pack_corner(
        &(tsl_packed_corner){.at = view.at + line * (view.row_stride + view.col_stride) * job->size,
                             .across = view.row_stride,
                             .along = view.col_stride,
                             .count = lines->count,
                             .first = first - line,
                             .end = end - line,
                             .width = lines->width,
                             .stores_before = stores_before,
                             .structure = view.structure,
                             .out = out + first * step_bytes});
  const int64_t rest = tsl_max(first_step, behind);
  copy_side(job, &view, lines, !stores_before, rest, last_step, out + rest * step_bytes);
}

/* Returns the steps of k in which any of these lines is not zero. */
static tsl_packed_span packed_structure_steps_of(const tsl_packed_job *job, bool is_a, int64_t line,
                                                 int64_t count) {
  const tsl_view view = packed_structure_lines_of(job, is_a);
  const bool stores_before = view.triangle == TESELA_LOWER;
  if (!is_triangular(&view))
    return (tsl_packed_span){0, job->views.k};
  return (tsl_packed_span){stores_before ? 0 : line, stores_before ? line + count : job->views.k};
}

tsl_packed_span tsl_packed_span_of_row(const tsl_packed_job *job, int64_t row) {
  const tesela_triangle triangle = job->views.c.triangle;
  return (tsl_packed_span){triangle == TESELA_UPPER ? row : 0,
                           triangle == TESELA_LOWER ? row + 1 : job->views.n};
}

static void clear_imaginary(const tsl_packed_job *job, unsigned char *element) {
  memset(element + job->size / 2, 0, (size_t)job->size / 2);
}

void tsl_packed_clear_diagonal(const tsl_packed_job *job, int64_t row) {
  const tsl_view *c = &job->views.c;
  if (c->structure == TESELA_HERMITIAN)
    clear_imaginary(job, c->at + row * (c->row_stride + c->col_stride) * job->size);
}

/* Rectangle of C and a small block that holds its elements of C's triangle. */
typedef struct tile_region {
  const tsl_packed_job *job;
  int64_t row, rows, column, columns;
  unsigned char *block;
  int64_t block_row, block_column; /* strides of the block, in elements */
} tile_region;

/* Copies `count` elements (none if negative) with strides in bytes. */
static inline void packed_structure_move(unsigned char *dst, int64_t to_step, const unsigned char *from,
                                         int64_t from_step, int64_t count, size_t size) {
  if (count > 0 && to_step == (int64_t)size && from_step == (int64_t)size) {
    memcpy(dst, from, (size_t)count * size);
    return;
  }
  for (; count > 0; count--, dst += to_step, from += from_step)
    memcpy(dst, from, size);
}
typedef void move_elements(unsigned char *dst, int64_t to_step, const unsigned char *from, int64_t from_step,
                           int64_t count);
static void move_4(unsigned char *dst, int64_t to_step, const unsigned char *from, int64_t from_step,
                   int64_t count) {
  packed_structure_move(dst, to_step, from, from_step, count, 4);
}
static void move_8(unsigned char *dst, int64_t to_step, const unsigned char *from, int64_t from_step,
                   int64_t count) {
  packed_structure_move(dst, to_step, from, from_step, count, 8);
}
static void move_16(unsigned char *dst, int64_t to_step, const unsigned char *from, int64_t from_step,
                    int64_t count) {
  packed_structure_move(dst, to_step, from, from_step, count, 16);
}

/* Copies the elements of C's triangle in a tile to the small block, or back to C. */
static void copy_triangle_part(const tile_region *copied, bool is_back) {
  static move_elements *const moves[] = {[4] = move_4, [8] = move_8, [16] = move_16};
  const tsl_packed_job *job = copied->job;
  const tsl_view *c = &job->views.c;
  const int64_t c_step = c->col_stride * job->size, block_step = copied->block_column * job->size;
  for (int64_t i = 0; i < copied->rows; i++) {
    const tsl_packed_span span = tsl_packed_span_of_row(job, copied->row + i);
    const int64_t first = tsl_max(span.first - copied->column, 0),
                  end = tsl_min(span.end - copied->column, copied->columns),
                  diagonal = copied->row + i - copied->column;
    unsigned char *row = c->at +
                         ((copied->row + i) * c->row_stride + copied->column * c->col_stride) * job->size,
                  *beside = copied->block + i * copied->block_row * job->size;
    if (is_back)
      moves[job->size](row + first * c_step, c_step, beside + first * block_step, block_step, end - first);
    else
      moves[job->size](beside + first * block_step, block_step, row + first * c_step, c_step, end - first);
    if (c->structure == TESELA_HERMITIAN && diagonal >= first && diagonal < end)
      clear_imaginary(job, is_back ? row + diagonal * c_step : beside + diagonal * block_step);
  }
}

/* Computes a tile in a small block, with the arithmetic of a tile in C. */
static void multiply_in_buffer(const tsl_packed_job *job, const tile_region *region,
                               tsl_packed_tile_function multiply, tsl_packed_tile *tile) {
  enum {
    VECTOR_BYTES_MOST = 64,
    BLOCK_MOST = TSL_PACKED_ROWS_MAX * TSL_PACKED_VECTORS_MAX * VECTOR_BYTES_MOST
  };
  _Alignas(TSL_CACHE_LINE) unsigned char block[2 * BLOCK_MOST];
  const int64_t c_row = tile->c_row, c_column = tile->c_column;
  tile_region copied = *region;
  copied.block = block;
  copied.block_column = c_column == 1 ? 1 : 2; /* other strides have a slower path */
  copied.block_row =
      copied.block_column * (tsl_packed_vectors(job->kernels, region->columns) << job->kernels->lanes_log2);
  if (tile->beta[0] != 0 || tile->beta[1] != 0) {
    memset(block, 0, (size_t)(copied.block_row * region->rows * job->size));
    copy_triangle_part(&copied, false);
  }
  tile->c = block;
  tile->c_row = copied.block_row;
  tile->c_column = copied.block_column;
  multiply(tile);
  tile->c_row = c_row;
  tile->c_column = c_column;
  copy_triangle_part(&copied, true);
}

typedef enum tile_place { INSIDE, OUTSIDE, ACROSS } tile_place; /* of C's triangle; ACROSS: partly inside */

static tile_place place_in_triangle(const tsl_packed_job *job, const tile_region *region) {
  const int64_t last_row = region->row + region->rows - 1, last_column = region->column + region->columns - 1;
  const tesela_triangle triangle = job->views.c.triangle;
  if (triangle == TESELA_WHOLE)
    return INSIDE;
  if (triangle == TESELA_LOWER ? region->column > last_row : region->row > last_column)
    return OUTSIDE;
  if (triangle == TESELA_LOWER ? region->row > last_column : region->column > last_row)
    return INSIDE;
  return ACROSS;
}

bool tsl_packed_is_idle(const tsl_packed_job *job, const tsl_packed_block *block) {
  const tile_region region = {.row = block->ic, .rows = block->mc, .column = block->jc, .columns = block->nc};
  if (!job->is_half || job->views.k == 0)
    return false;
  const tsl_packed_span a = packed_structure_steps_of(job, true, region.row, region.rows),
                        b = packed_structure_steps_of(job, false, region.column, region.columns);
  return place_in_triangle(job, &region) == OUTSIDE ||
         tsl_max(tsl_max(a.first, b.first), block->pc) >=
             tsl_min(tsl_min(a.end, b.end), block->pc + block->kc);
}

/* Removes rows and whole vectors of columns that are outside C's triangle. */
static void crop(const tsl_packed_job *job, tile_region *region, tsl_packed_side *micro_a,
                 tsl_packed_side *micro_b) {
  const int64_t below = tsl_max(region->row - region->column, 0),
                right = tsl_max(region->column - region->row, 0), lanes = tsl_packed_lanes(job->kernels);
  if (job->views.c.triangle == TESELA_UPPER) {
    const int64_t skipped = below & ~(lanes - 1);
    micro_b->at = (const unsigned char *)micro_b->at + skipped * micro_b->across * job->size;
    region->rows = tsl_min(region->rows, region->column + region->columns - region->row);
    region->column += skipped;
    region->columns -= skipped;
  } else {
    micro_a->at = (const unsigned char *)micro_a->at + right * micro_a->across * job->size;
    region->columns = tsl_min(region->columns, region->row + region->rows - region->column);
    region->row += right;
    region->rows -= right;
  }
}

static void multiply_steps(const tsl_packed_job *job, const tsl_packed_block *block,
                           const tile_region *region, const tsl_packed_side *micro_a,
                           const tsl_packed_side *micro_b, bool is_across, tsl_packed_tile *tile) {
  const tsl_packed_kernels *kernels = job->kernels;
  const tsl_packed_span a = packed_structure_steps_of(job, true, region->row, region->rows),
                        b = packed_structure_steps_of(job, false, region->column, region->columns);
  const int64_t begin = tsl_max(a.first, b.first), stop = tsl_min(a.end, b.end),
                first = tsl_max(begin, block->pc), end = tsl_min(stop, block->pc + block->kc),
                skipped = first - block->pc;
  const bool is_first = job->descends ? end == stop : first == begin;
  if (first >= end && job->views.k > 0)
    return;
  tile->a = (const unsigned char *)micro_a->at + skipped * micro_a->along * job->size;
  tile->a_row = micro_a->across;
  tile->a_step = micro_a->along;
  tile->b = (const unsigned char *)micro_b->at + skipped * micro_b->along * job->size;
  tile->b_step = micro_b->along;
  tile->kc = end - first;
  tsl_packed_add_to_c(job, is_first, tile);
  tile->columns = region->columns;
  tile->c = (unsigned char *)job->views.c.at +
            (region->row * job->views.c.row_stride + region->column * job->views.c.col_stride) * job->size;
  tsl_packed_tile_function multiply =
      kernels->multiply[tsl_packed_vectors(kernels, region->columns) - 1][region->rows - 1];
  if (is_across)
    multiply_in_buffer(job, region, multiply, tile);
  else
    multiply(tile);
}

/* Returns the columns to multiply at a time. Vectors are faster one by one if each skips its own zero steps.
 * Columns of two panels must be, as each panel has the first sums of some columns. */
static int64_t columns_per_pass(const tsl_packed_job *job, const tsl_packed_block *block,
                                const tile_region *region) {
  enum { SHORT = 48 };
  const int64_t lanes = tsl_packed_lanes(job->kernels), behind = region->column + region->columns;
  const tsl_view view = packed_structure_lines_of(job, false);
  if (region->columns <= lanes || !is_triangular(&view))
    return region->columns;
  const tsl_packed_span steps = packed_structure_steps_of(job, false, region->column, region->columns);
  const int64_t first = tsl_max(steps.first, block->pc), end = tsl_min(steps.end, block->pc + block->kc);
  const bool is_corner = first < behind && end > region->column,
             is_in_two = region->column / job->kc != (behind - 1) / job->kc;
  return is_corner && (is_in_two || end - first <= SHORT) ? lanes : region->columns;
}

static void packed_structure_multiply_rows(const tsl_packed_job *job, const tsl_packed_block *block,
                                           tile_region region, tsl_packed_side side_a, tsl_packed_side side_b,
                                           tsl_packed_tile *tile) {
  const tile_place place = place_in_triangle(job, &region);
  if (place == OUTSIDE)
    return;
  if (place == ACROSS)
    crop(job, &region, &side_a, &side_b);
  const int64_t end = region.column + region.columns, step = columns_per_pass(job, block, &region);
  for (; region.column < end; region.column += step) {
    region.columns = tsl_min(step, end - region.column);
    multiply_steps(job, block, &region, &side_a, &side_b, place == ACROSS && job->masks_c, tile);
    side_b.at = (const unsigned char *)side_b.at + step * side_b.across * job->size;
  }
}

/* Returns the rows of this tile in its first row's panel; in place, the rest belongs to other panels. */
static int64_t rows_of_panel(const tsl_packed_job *job, const tile_region *region) {
  if (!job->views.in_place || job->views.a.structure == TESELA_GENERAL)
    return region->rows;
  return tsl_min(region->rows, job->kc - region->row % job->kc);
}

void tsl_packed_multiply_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                    const tsl_packed_side *micro_a, const tsl_packed_side *micro_b,
                                    tsl_packed_tile *tile) {
  tsl_packed_side side_a = *micro_a;
  tile_region region = {.job = job,
                        .row = block->ic + micro_a->first,
                        .column = block->jc + micro_b->first,
                        .columns = micro_b->count};
  for (int64_t left = micro_a->count; left > 0; left -= region.rows, region.row += region.rows) {
    region.rows = left;
    region.rows = rows_of_panel(job, &region);
    packed_structure_multiply_rows(job, block, region, side_a, *micro_b, tile);
    side_a.at = (const unsigned char *)side_a.at + region.rows * side_a.across * job->size;
  }
}
