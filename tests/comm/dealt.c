#include "comm/dealt.h"

#include "core/random.h"
#include "core/types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Block sizes and margins of DEALT_CYCLIC, DEALT_WINDOW and DEALT_DENSE. */
enum { ROW_BLOCK = 3, COL_BLOCK = 5, ROW = 4, COL = 2, MORE = 9 };

void dealt_value(uint64_t seed, tesela_type type, int64_t i, int64_t j, double value[2]) {
  const uint64_t bits = tsl_random_u64(seed, (uint64_t)(i * 10007 + j));
  const tsl_type_info *info = tsl_type(type);
  const int low = type == TESELA_U8 ? 0 : -3;
  value[0] = (double)(int64_t)(bits % 7) + low;
  value[1] = info->is_complex ? (double)(int64_t)(bits / 7 % 5) - 2 : 0;
}

/* The grid of a kind: rows as many as the largest divisor up to the root. */
static void grid_of(dealt_kind kind, int ranks, int *rows, int *cols) {
  *rows = 1;
  for (int r = 1; r * r <= ranks; r++)
    if (ranks % r == 0)
      *rows = r;
  *cols = ranks / *rows;
  if (kind == DEALT_BLOCKS) {
    *rows = ranks;
    *cols = 1;
  }
}

/* Rank at (i, j): the other way round for cyclic layouts. */
static int rank_at(dealt_kind kind, int rows, int cols, int i, int j) {
  return kind == DEALT_CYCLIC || kind == DEALT_WINDOW ? rows * cols - 1 - (j * rows + i) : i * cols + j;
}

static int block_of(int64_t size, int parts, int64_t index) {
  int part = 0;
  while ((part + 1) * size / parts <= index)
    part++;
  return part;
}

/* Stripes of columns of DEALT_RECTANGLES: each third rank has none; each stripe is cut into an upper and a
 * lower part. */
static void stripe_of(int ranks, int rank, int64_t cols, int64_t *begin, int64_t *end) {
  int having = 0, before = 0;
  for (int r = 0; r < ranks; r++) {
    having += r % 3 != 1;
    before += r < rank && r % 3 != 1;
  }
  *begin = cols * before / having;
  *end = rank % 3 == 1 ? *begin : cols * (before + 1) / having;
}

static int64_t local_size(int64_t size, int64_t block, int parts, int part, int first) {
  int64_t count = 0;
  for (int64_t i = 0; i < size; i++)
    count += (i / block + first) % parts == part;
  return count;
}

/* Where element (i, j) lies in the rank's data; -1: another rank has it. */
static int64_t locate(const dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols,
                      int64_t i, int64_t j) {
  int grid_rows, grid_cols;
  grid_of(kind, ranks, &grid_rows, &grid_cols);
  switch (kind) {
  case DEALT_BLOCKS:
  case DEALT_GRID: {
    const int r = block_of(rows, grid_rows, i), c = block_of(cols, grid_cols, j);
    if (rank_at(kind, grid_rows, grid_cols, r, c) != rank)
      return -1;
    return (i - r * rows / grid_rows) * d->down + (j - c * cols / grid_cols) * d->across;
  }
  case DEALT_CYCLIC:
  case DEALT_DENSE:
  case DEALT_WINDOW: {
    const int64_t gi = i + (kind == DEALT_WINDOW ? ROW : 0), gj = j + (kind == DEALT_WINDOW ? COL : 0);
    const int first_row = grid_rows - 1, first_col = grid_cols / 2;
    const int64_t r = (gi / ROW_BLOCK + first_row) % grid_rows, c = (gj / COL_BLOCK + first_col) % grid_cols;
    if (rank_at(kind, grid_rows, grid_cols, (int)r, (int)c) != rank)
      return -1;
    return (gi / ROW_BLOCK / grid_rows * ROW_BLOCK + gi % ROW_BLOCK) * d->down +
           (gj / COL_BLOCK / grid_cols * COL_BLOCK + gj % COL_BLOCK) * d->across;
  }
  case DEALT_RECTANGLES: {
    int64_t begin, end;
    stripe_of(ranks, rank, cols, &begin, &end);
    if (j < begin || j >= end)
      return -1;
    const int64_t upper = rows / 3, width = end - begin;
    /* The lower part first, column-major, then a gap of 2, then the upper one. */
    return i >= upper ? (i - upper) + (j - begin) * (rows - upper)
                      : width * (rows - upper) + 2 + i * width + (j - begin);
  }
  default:
    return rank == ranks / 2 ? i * d->down + j * d->across : -1;
  }
}

static void set_layout(dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols) {
  int grid_rows, grid_cols;
  grid_of(kind, ranks, &grid_rows, &grid_cols);
  tesela_layout *l = &d->layout;
  const bool window = kind == DEALT_WINDOW;
  if (kind == DEALT_GRID || kind == DEALT_CYCLIC || kind == DEALT_DENSE || window) {
    l->grid_rows = grid_rows;
    l->grid_cols = grid_cols;
  }
  if (kind == DEALT_GRID || kind == DEALT_BLOCKS) {
    for (int i = 0; i < grid_rows * grid_cols; i++)
      if (i == rank) {
        const int r = i / grid_cols, c = i % grid_cols;
        const int64_t height = (r + 1) * rows / grid_rows - r * rows / grid_rows;
        const int64_t width = (c + 1) * cols / grid_cols - c * cols / grid_cols;
        d->row_stride = width + (kind == DEALT_GRID ? 3 : 0);
        d->col_stride = 1;
        d->elements = height * d->row_stride;
      }
  } else if (kind == DEALT_CYCLIC || kind == DEALT_DENSE || window) {
    l->kind = TESELA_LAYOUT_CYCLIC;
    for (int i = 0; i < grid_rows; i++)
      for (int j = 0; j < grid_cols; j++)
        d->ranks[i * grid_cols + j] = rank_at(kind, grid_rows, grid_cols, i, j);
    l->ranks = d->ranks;
    l->row_block = ROW_BLOCK;
    l->col_block = COL_BLOCK;
    l->first_row = grid_rows - 1;
    l->first_col = grid_cols / 2;
    l->row = window ? ROW : 0;
    l->col = window ? COL : 0;
    l->rows = window ? ROW + rows + MORE : 0;
    l->cols = window ? COL + cols + MORE : 0;
    int at = 0;
    while (d->ranks[at] != rank)
      at++;
    const int64_t height =
        local_size(window ? l->rows : rows, ROW_BLOCK, grid_rows, at / grid_cols, l->first_row);
    const int64_t width =
        local_size(window ? l->cols : cols, COL_BLOCK, grid_cols, at % grid_cols, l->first_col);
    const bool dense = kind == DEALT_DENSE;
    d->row_stride = dense ? width : 1;
    d->col_stride = dense ? 1 : height + 2;
    d->elements = dense ? height * width : width * d->col_stride;
  } else {
    l->kind = TESELA_LAYOUT_RECTANGLES;
    l->rectangles = d->rectangles;
    int64_t begin, end;
    stripe_of(ranks, rank, cols, &begin, &end);
    const int64_t upper = rows / 3, width = end - begin;
    if (kind == DEALT_ONE) {
      l->count = rank == ranks / 2;
      d->rectangles[0] = (tesela_rectangle){.rows = rows, .cols = cols};
      d->row_stride = cols;
      d->col_stride = 1;
      d->elements = l->count ? rows * cols : 0;
    } else {
      l->count = rank % 3 == 1 ? 0 : 2;
      d->rectangles[0] = (tesela_rectangle){0, begin, upper, width, width * (rows - upper) + 2, 0, 0};
      d->rectangles[1] =
          (tesela_rectangle){upper, begin, rows - upper, width, 0, rows - upper > 1 ? 0 : 1, rows - upper};
      d->elements = l->count ? width * rows + 2 : 0;
    }
  }
}

static const double gap[2] = {77, 0}; /* of every type, and no element */

static void put(dealt *d, int64_t index, const double value[2]) {
  tsl_type_store(d->type, (char *)d->data + (size_t)index * tsl_type(d->type)->size, value);
}

static void get(const dealt *d, int64_t index, double value[2]) {
  tsl_type_load(d->type, (const char *)d->data + (size_t)index * tsl_type(d->type)->size, value);
}

bool dealt_make(dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols, tesela_type type,
                uint64_t seed, bool fill) {
  memset(d, 0, sizeof *d);
  d->type = type;
  set_layout(d, kind, ranks, rank, rows, cols);
  d->down = d->row_stride;
  d->across = d->col_stride;
  if (kind == DEALT_DENSE)
    d->row_stride = d->col_stride = 0;
  if (d->elements == 0)
    return true;
  d->data = malloc((size_t)d->elements * tsl_type(type)->size);
  if (!d->data)
    return false;
  for (int64_t i = 0; i < d->elements; i++)
    put(d, i, gap);
  const double nan[2] = {NAN, NAN};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      const int64_t at = locate(d, kind, ranks, rank, rows, cols, i, j);
      double value[2];
      if (at < 0)
        continue;
      if (fill)
        dealt_value(seed, type, i, j, value);
      put(d, at, fill ? value : tsl_type(type)->is_integer ? gap : nan);
    }
  return true;
}

void dealt_free(dealt *d) {
  free(d->data);
  d->data = NULL;
}

void dealt_walk(const dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols,
                dealt_look look, void *user) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      const int64_t at = locate(d, kind, ranks, rank, rows, cols, i, j);
      double value[2];
      if (at < 0)
        continue;
      get(d, at, value);
      look(user, i, j, value);
    }
}

bool dealt_gaps_untouched(const dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols) {
  unsigned char *own = calloc((size_t)d->elements + 1, 1);
  bool untouched = true;
  if (!own)
    return false;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      const int64_t at = locate(d, kind, ranks, rank, rows, cols, i, j);
      if (at >= 0)
        own[at] = 1;
    }
  for (int64_t i = 0; i < d->elements; i++) {
    double value[2];
    get(d, i, value);
    untouched = untouched && (own[i] || value[0] == gap[0]);
  }
  free(own);
  return untouched;
}
