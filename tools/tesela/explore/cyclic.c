#include "explore/cyclic.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"

#include <string.h>

tsl_cyclic_grid tsl_process_grid_choose(const tsl_ranks *ranks) {
  int rows = 1;
  for (int p = 1; p * p <= ranks->size; p++)
    rows = ranks->size % p == 0 ? p : rows;
  const int cols = ranks->size / rows;
  return (tsl_cyclic_grid){.rows = rows, .cols = cols, .row = ranks->rank / cols, .col = ranks->rank % cols};
}

/* Returns how many of `size` rows (or columns), in blocks, a process has; process 0 has the first
 * block. */
static int64_t own_of(int64_t size, int64_t block, int process, int processes) {
  const int64_t blocks = size / block, whole = blocks / processes, rest = blocks % processes;
  return (whole + (process < rest)) * block + (process == rest ? size % block : 0);
}

static int64_t global_of(int64_t value, int64_t block, int process, int processes) {
  return (value / block * processes + process) * block + value % block;
}

tesela_status tsl_cyclic_make(const tsl_cyclic_grid *grid, int64_t rows, int64_t cols, int64_t block,
                              tesela_type type, tsl_cyclic *out) {
  size_t bytes;
  *out = (tsl_cyclic){.grid = *grid,
                      .rows = rows,
                      .cols = cols,
                      .block = block,
                      .own_rows = own_of(rows, block, grid->row, grid->rows),
                      .own_cols = own_of(cols, block, grid->col, grid->cols),
                      .type = type};
  out->leading = out->own_rows > 0 ? out->own_rows : 1;
  if (!tsl_size_mul((size_t)out->leading, (size_t)out->own_cols, &bytes) ||
      !tsl_size_mul(bytes, tsl_type(type)->size, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "a matrix has more bytes than 64 bits count");
  return tsl_alloc(bytes + 1, "a rank's part of a matrix", &out->data);
}

int64_t tsl_cyclic_row(const tsl_cyclic *matrix, int64_t value) {
  return global_of(value, matrix->block, matrix->grid.row, matrix->grid.rows);
}

int64_t tsl_cyclic_col(const tsl_cyclic *matrix, int64_t value) {
  return global_of(value, matrix->block, matrix->grid.col, matrix->grid.cols);
}

void tsl_cyclic_column(const tsl_cyclic *matrix, uint64_t seed, int64_t row, int64_t col, int64_t count,
                       void *out) {
  tsl_random_fill(TSL_DRAW_NORMAL, seed, (uint64_t)(col * matrix->rows + row), matrix->type, out,
                  (size_t)count);
}

void tsl_cyclic_fill(const tsl_cyclic *matrix, uint64_t seed) {
  const size_t size = tsl_type(matrix->type)->size;
  for (int64_t j = 0; j < matrix->own_cols; j++)
    for (int64_t i = 0; i < matrix->own_rows; i += matrix->block) {
      const int64_t left = matrix->own_rows - i, count = left < matrix->block ? left : matrix->block;
      tsl_cyclic_column(matrix, seed, tsl_cyclic_row(matrix, i), tsl_cyclic_col(matrix, j), count,
                        (char *)matrix->data + (size_t)(j * matrix->leading + i) * size);
    }
}

void tsl_cyclic_spoil(const tsl_cyclic *matrix) {
  memset(matrix->data, 0xff, (size_t)(matrix->leading * matrix->own_cols) * tsl_type(matrix->type)->size);
}

tesela_layout tsl_cyclic_layout(const tsl_cyclic *matrix) {
  return (tesela_layout){.kind = TESELA_LAYOUT_CYCLIC,
                         .grid_rows = matrix->grid.rows,
                         .grid_cols = matrix->grid.cols,
                         .row_block = matrix->block,
                         .col_block = matrix->block};
}
