#include "comm/layout.h"

#include "core/checked.h"
#include "core/status.h"
#include "core/strides.h"

#include <stdlib.h>

/* Returns the grid's rows and columns; the default grid is ranks x 1. */
static void layout_grid_of(const tesela_layout *layout, int ranks, int *rows, int *cols) {
  const bool none = layout->grid_rows == 0 && layout->grid_cols == 0;
  *rows = none ? ranks : layout->grid_rows;
  *cols = none ? 1 : layout->grid_cols;
}

static tesela_status layout_check_grid(const tesela_layout *layout, const char *name, int ranks) {
  int rows, cols;
  layout_grid_of(layout, ranks, &rows, &cols);
  if (rows <= 0 || cols <= 0 || rows > ranks / cols)
    return tsl_fail(TESELA_BAD_CALL, "%s has a grid of %d x %d processes, but there are %d ranks", name, rows,
                    cols, ranks);
  if (!layout->ranks)
    return TESELA_OK;
  unsigned char *seen = calloc((size_t)ranks, 1);
  if (!seen)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a grid of %d x %d processes", rows, cols);
  tesela_status status = TESELA_OK;
  for (int i = 0; i < rows * cols && status == TESELA_OK; i++) {
    const int rank = layout->ranks[i];
    if (rank < 0 || rank >= ranks || seen[rank]++)
      status = tsl_fail(TESELA_BAD_CALL, "%s.ranks[%d] is %d: ranks must be distinct and less than %d", name,
                        i, rank, ranks);
  }
  free(seen);
  return status;
}

/* Returns a dimension's size; 0 stands for the size that the operand needs. */
static int64_t matrix_size(int64_t value, int64_t begin, int64_t operand) {
  return value == 0 ? begin + operand : value;
}

static tesela_status check_window(const char *name, const char *what, int64_t size, int64_t begin,
                                  int64_t length) {
  if (begin < 0 || size < 0 || begin > size || length > size - begin)
    return tsl_fail(TESELA_BAD_CALL, "%s: %s %lld to %lld of a matrix that has %lld", name, what,
                    (long long)begin, (long long)(begin + length), (long long)size);
  return TESELA_OK;
}

static tesela_status check_rectangle(const tesela_rectangle *r, const char *name, int64_t index, int64_t rows,
                                     int64_t cols) {
  if (r->rows < 0 || r->cols < 0 || r->row < 0 || r->col < 0 || r->row > rows || r->col > cols ||
      r->rows > rows - r->row || r->cols > cols - r->col)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s.rectangles[%lld] is %lld x %lld from (%lld, %lld), outside of the %lld x %lld matrix",
                    name, (long long)index, (long long)r->rows, (long long)r->cols, (long long)r->row,
                    (long long)r->col, (long long)rows, (long long)cols);
  return TESELA_OK;
}

tesela_status tsl_layout_check(const tesela_layout *layout, const char *name, int ranks, int64_t rows,
                               int64_t cols) {
  if (layout->reserved != 0)
    return tsl_fail(TESELA_BAD_CALL, "%s.reserved is not 0", name);
  if (layout->kind == TESELA_LAYOUT_RECTANGLES) {
    if (layout->count < 0 || (layout->count > 0 && !layout->rectangles))
      return tsl_fail(TESELA_BAD_CALL, "%s has %lld rectangles, but its list is missing", name,
                      (long long)layout->count);
    for (int64_t i = 0; i < layout->count; i++)
      TSL_TRY(check_rectangle(&layout->rectangles[i], name, i, rows, cols));
    return TESELA_OK;
  }
  if (layout->kind != TESELA_LAYOUT_BLOCKS && layout->kind != TESELA_LAYOUT_CYCLIC)
    return tsl_fail(TESELA_BAD_CALL, "%s.kind is %d, which is not a layout kind", name, (int)layout->kind);
  TSL_TRY(layout_check_grid(layout, name, ranks));
  TSL_TRY(check_window(name, "rows", matrix_size(layout->rows, layout->row, rows), layout->row, rows));
  TSL_TRY(check_window(name, "columns", matrix_size(layout->cols, layout->col, cols), layout->col, cols));
  if (layout->kind == TESELA_LAYOUT_BLOCKS)
    return TESELA_OK;
  int grid_rows, grid_cols;
  layout_grid_of(layout, ranks, &grid_rows, &grid_cols);
  if (layout->row_block <= 0 || layout->col_block <= 0)
    return tsl_fail(TESELA_BAD_CALL, "%s has blocks of %lld x %lld: both must be positive", name,
                    (long long)layout->row_block, (long long)layout->col_block);
  if (layout->first_row < 0 || layout->first_row >= grid_rows || layout->first_col < 0 ||
      layout->first_col >= grid_cols)
    return tsl_fail(TESELA_BAD_CALL, "%s begins at process (%d, %d), outside of its grid of %d x %d", name,
                    layout->first_row, layout->first_col, grid_rows, grid_cols);
  return TESELA_OK;
}

/* Lists each part's indices, for free(). One block of memory holds all dims, then their spans. */
static tesela_status make_index_lists(const tsl_dealing *dealing, tsl_dim **out) {
  int64_t spans = 0;
  for (int i = 0; i < dealing->parts; i++)
    spans += tsl_dealing_spans(dealing, i);
  const size_t dims = (size_t)dealing->parts * sizeof(tsl_dim);
  char *block = malloc(dims + (size_t)spans * sizeof(tsl_span) + 1);
  if (!block)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a layout of %lld blocks", (long long)spans);
  *out = (tsl_dim *)(void *)block;
  tsl_span *list = (tsl_span *)(void *)(block + dims);
  for (int i = 0; i < dealing->parts; i++) {
    const int64_t count = tsl_dealing_list(dealing, i, list);
    (*out)[i] = tsl_dim_of(list, count);
    list += count;
  }
  return TESELA_OK;
}

static tesela_status make_grid_layout(const tesela_layout *layout, const char *name, int rank,
                                      int64_t row_stride, int64_t col_stride, tsl_rank_layout *out) {
  const bool cyclic = layout->kind == TESELA_LAYOUT_CYCLIC;
  layout_grid_of(layout, out->ranks, &out->grid_rows, &out->grid_cols);
  const tsl_dealing rows = {matrix_size(layout->rows, layout->row, out->rows),
                            layout->row,
                            out->rows,
                            cyclic ? layout->row_block : 0,
                            out->grid_rows,
                            layout->first_row};
  const tsl_dealing cols = {matrix_size(layout->cols, layout->col, out->cols),
                            layout->col,
                            out->cols,
                            cyclic ? layout->col_block : 0,
                            out->grid_cols,
                            layout->first_col};
  TSL_TRY(make_index_lists(&rows, &out->row_lists));
  TSL_TRY(make_index_lists(&cols, &out->col_lists));
  const int positions = out->grid_rows * out->grid_cols;
  out->position_of_rank = malloc((size_t)out->ranks * sizeof(int));
  out->rank_at_position = malloc((size_t)positions * sizeof(int));
  if (!out->position_of_rank || !out->rank_at_position)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a layout on %d ranks", out->ranks);
  for (int i = 0; i < out->ranks; i++)
    out->position_of_rank[i] = -1;
  for (int i = 0; i < positions; i++) {
    out->rank_at_position[i] = layout->ranks ? layout->ranks[i] : i;
    out->position_of_rank[out->rank_at_position[i]] = i;
  }
  const int position = out->position_of_rank[rank] < 0 ? 0 : out->position_of_rank[rank];
  const int64_t own_rows = tsl_dealing_local(&rows, position / out->grid_cols),
                own_cols = tsl_dealing_local(&cols, position % out->grid_cols);
  TSL_TRY(tsl_strides_check(row_stride, col_stride, own_rows, own_cols, name));
  tsl_strides_from_caller(row_stride, col_stride, own_cols, &out->own_row_stride, &out->own_col_stride);
  return TESELA_OK;
}

static int compare_first_rows(const void *a, const void *b) {
  const tsl_bare_rectangle *x = a, *y = b;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Checks that the rectangles tile the matrix: no two overlap, and no element is missing. Sorts `all`. */
static tesela_status check_cover(const tsl_rank_layout *layout, const char *name, tsl_bare_rectangle *all,
                                 int64_t count) {
  int64_t elements = 0, whole = layout->rows * layout->cols;
  qsort(all, (size_t)count, sizeof *all, compare_first_rows);
  for (int64_t i = 0; i < count; i++) {
    if (!tsl_i64_add(elements, all[i].rows * all[i].cols, &elements))
      return tsl_fail(TESELA_BAD_CALL, "%s: the rectangles have 2^63 elements or more", name);
    if (all[i].rows == 0 || all[i].cols == 0)
      continue;
    for (int64_t j = i + 1; j < count && all[j].row < all[i].row + all[i].rows; j++)
      if (all[j].rows > 0 && all[j].cols > 0 && all[j].col < all[i].col + all[i].cols &&
          all[i].col < all[j].col + all[j].cols)
        return tsl_fail(TESELA_BAD_CALL, "%s: two rectangles contain element (%lld, %lld)", name,
                        (long long)all[j].row,
                        (long long)(all[i].col > all[j].col ? all[i].col : all[j].col));
  }
  if (elements != whole)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: the ranks' rectangles have %lld elements in total, but the matrix has %lld", name,
                    (long long)elements, (long long)whole);
  return TESELA_OK;
}

/* Sets offsets and strides of this rank's rectangles in its local memory. TESELA_BAD_CALL. */
static tesela_status set_own_strides(const tesela_layout *layout, const char *name, tsl_patch *patch) {
  for (int64_t i = 0; i < layout->count; i++) {
    const tesela_rectangle *r = &layout->rectangles[i];
    const tesela_status status = tsl_strides_check(r->row_stride, r->col_stride, r->rows, r->cols, "it");
    if (status != TESELA_OK)
      return tsl_fail_in(status, "%s: rectangle %lld", name, (long long)i);
    patch[i].offset = r->offset;
    tsl_strides_from_caller(r->row_stride, r->col_stride, r->cols, &patch[i].row_stride,
                            &patch[i].col_stride);
  }
  return TESELA_OK;
}

static tesela_status make_rectangle_layout(const tesela_layout *layout, const char *name, int rank,
                                           const tsl_bare_rectangle *const *corners, const int64_t *counts,
                                           tsl_rank_layout *out) {
  int64_t total = 0;
  for (int r = 0; r < out->ranks; r++)
    total += counts[r];
  out->rectangles_begin = malloc(((size_t)out->ranks + 1) * sizeof *out->rectangles_begin);
  out->rectangles = calloc((size_t)total + 1, sizeof *out->rectangles);
  out->spans = malloc((2 * (size_t)total + 1) * sizeof *out->spans);
  tsl_bare_rectangle *all = malloc(((size_t)total + 1) * sizeof *all);
  tesela_status status = TESELA_OK;
  if (!out->rectangles_begin || !out->rectangles || !out->spans || !all)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a layout of %lld rectangles", (long long)total));
  int64_t at = 0;
  for (int r = 0; r < out->ranks; r++) {
    out->rectangles_begin[r] = at;
    for (int64_t i = 0; i < counts[r]; i++, at++) {
      const tsl_bare_rectangle *corner = &corners[r][i];
      all[at] = *corner;
      out->spans[2 * at] = (tsl_span){corner->row, corner->rows, 0};
      out->spans[2 * at + 1] = (tsl_span){corner->col, corner->cols, 0};
      out->rectangles[at].rows = tsl_dim_of(&out->spans[2 * at], corner->rows > 0);
      out->rectangles[at].cols = tsl_dim_of(&out->spans[2 * at + 1], corner->cols > 0);
    }
  }
  out->rectangles_begin[out->ranks] = at;
  TSL_GO(set_own_strides(layout, name, out->rectangles + out->rectangles_begin[rank]));
  TSL_GO(check_cover(out, name, all, total));
out:
  free(all);
  return status;
}

tesela_status tsl_layout_make(const tesela_layout *layout, const char *name, int ranks, int rank,
                              int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                              const tsl_bare_rectangle *const *corners, const int64_t *counts,
                              tsl_rank_layout *out) {
  *out = (tsl_rank_layout){.ranks = ranks, .rows = rows, .cols = cols};
  return layout->kind == TESELA_LAYOUT_RECTANGLES
             ? make_rectangle_layout(layout, name, rank, corners, counts, out)
             : make_grid_layout(layout, name, rank, row_stride, col_stride, out);
}

void tsl_layout_free(tsl_rank_layout *layout) {
  free(layout->position_of_rank);
  free(layout->rank_at_position);
  free(layout->row_lists);
  free(layout->col_lists);
  free(layout->rectangles);
  free(layout->rectangles_begin);
  free(layout->spans);
  *layout = (tsl_rank_layout){0};
}

static tsl_patch transpose_patch(tsl_patch patch) {
  return (tsl_patch){patch.cols, patch.rows, patch.offset, patch.col_stride, patch.row_stride};
}

void tsl_layout_transpose(tsl_rank_layout *layout) {
  const int64_t rows = layout->rows;
  layout->rows = layout->cols;
  layout->cols = rows;
  layout->is_transposed = !layout->is_transposed;
}

int64_t tsl_layout_patch_count(const tsl_rank_layout *layout, int rank) {
  return layout->rectangles_begin ? layout->rectangles_begin[rank + 1] - layout->rectangles_begin[rank]
                                  : layout->position_of_rank[rank] >= 0;
}

tsl_patch tsl_layout_patch(const tsl_rank_layout *layout, int rank, int64_t index) {
  tsl_patch patch;
  if (layout->rectangles_begin) {
    patch = layout->rectangles[layout->rectangles_begin[rank] + index];
  } else {
    const int position = layout->position_of_rank[rank];
    patch = (tsl_patch){layout->row_lists[position / layout->grid_cols],
                        layout->col_lists[position % layout->grid_cols], 0, layout->own_row_stride,
                        layout->own_col_stride};
  }
  return layout->is_transposed ? transpose_patch(patch) : patch;
}

int64_t tsl_layout_count_owned_in_patch(const tsl_rank_layout *layout, int rank, const tsl_patch *patch) {
  int64_t common = 0;
  const int64_t count = tsl_layout_patch_count(layout, rank);
  for (int64_t i = 0; i < count; i++) {
    const tsl_patch held = tsl_layout_patch(layout, rank, i);
    common += tsl_patch_common(&held, patch);
  }
  return common;
}

int64_t tsl_layout_count_owned(const tsl_rank_layout *layout, int rank) {
  int64_t held = 0;
  const int64_t count = tsl_layout_patch_count(layout, rank);
  for (int64_t i = 0; i < count; i++) {
    const tsl_patch patch = tsl_layout_patch(layout, rank, i);
    held += tsl_patch_total(&patch);
  }
  return held;
}

tsl_order tsl_layout_order(const tsl_rank_layout *layout, int rank) {
  if (tsl_layout_patch_count(layout, rank) == 0)
    return TSL_ROWS;
  const tsl_patch patch = tsl_layout_patch(layout, rank, 0);
  return llabs(patch.row_stride) < llabs(patch.col_stride) ? TSL_COLUMNS : TSL_ROWS;
}
