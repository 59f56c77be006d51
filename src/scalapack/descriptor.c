#include "scalapack/descriptor.h"

#include <stdbool.h>
#include <stddef.h>

/* Indices in descriptors, by ScaLAPACK's names; absent members are not read. */
enum { DTYPE_, CTXT_, M_, N_ };
typedef struct descriptor_indices {
  int count, imb, inb, mb, nb, rsrc, csrc, lld;
} descriptor_indices;
static const descriptor_indices types[] = {
    {.count = 1},
    {.count = 9, .imb = 4, .inb = 5, .mb = 4, .nb = 5, .rsrc = 6, .csrc = 7, .lld = 8},
    {.count = 11, .imb = 4, .inb = 5, .mb = 6, .nb = 7, .rsrc = 8, .csrc = 9, .lld = 10}};

static const descriptor_indices *field_indices_of(int64_t type) {
  return &types[type == 1 || type == 2 ? type : 0];
}

int tsl_scalapack_field_count(int64_t type) {
  return field_indices_of(type)->count;
}

void tsl_scalapack_describe(const int64_t *fields, int64_t i, int64_t j, tsl_scalapack_matrix *out) {
  const descriptor_indices *at = field_indices_of(fields[DTYPE_]);
  *out = (tsl_scalapack_matrix){.type = fields[DTYPE_]};
  if (at->count == 1)
    return;
  const int64_t missing_rows = fields[at->mb] - fields[at->imb];
  const int64_t missing_cols = fields[at->nb] - fields[at->inb];
  *out = (tsl_scalapack_matrix){.type = fields[DTYPE_],
                                .context = fields[CTXT_],
                                .rows = fields[M_] + missing_rows,
                                .cols = fields[N_] + missing_cols,
                                .row_block = fields[at->mb],
                                .col_block = fields[at->nb],
                                .first_row = fields[at->rsrc],
                                .first_col = fields[at->csrc],
                                .leading = fields[at->lld],
                                .row = i - 1 + missing_rows,
                                .col = j - 1 + missing_cols,
                                .missing_rows = missing_rows,
                                .missing_cols = missing_cols};
}

int64_t tsl_scalapack_local_size(int64_t size, int64_t block, int process, int first_process, int processes) {
  const int64_t blocks = size / block, left = blocks % processes;
  const int from_first = (process - first_process + processes) % processes;
  int64_t count = blocks / processes * block;
  if (from_first < left)
    count += block;
  else if (from_first == left)
    count += size % block;
  return count;
}

static bool is_outside(int64_t value, int64_t first, int64_t end) {
  return value < first || value >= end;
}

/* Returns true for a block of at least one element, of which fewer than all are missing. */
static bool is_block_size(int64_t block, int64_t missing_elements) {
  return block >= 1 && missing_elements >= 0 && missing_elements < block;
}

/* Returns the elements missing from the first block: `missing` on `first_process`, which has it, else 0. */
static int64_t missing_on_process(int64_t missing, int64_t first_process, int process) {
  return process == first_process ? missing : 0;
}

const char *tsl_scalapack_refuse(const tsl_scalapack_matrix *matrix, int64_t rows, int64_t cols,
                                 const tsl_scalapack_position *position) {
  if (tsl_scalapack_field_count(matrix->type) == 1)
    return "a descriptor's type is not 1 or 2";
  if (!is_block_size(matrix->row_block, matrix->missing_rows) ||
      !is_block_size(matrix->col_block, matrix->missing_cols))
    return "blocks are empty, or the first block is larger than the others";
  /* -1 means copies on all processes. */
  if (is_outside(matrix->first_row, 0, position->rows) || is_outside(matrix->first_col, 0, position->cols))
    return "the first block's process is outside of the grid, or all processes have copies";
  if (is_outside(matrix->row, matrix->missing_rows, matrix->rows) || rows > matrix->rows - matrix->row ||
      is_outside(matrix->col, matrix->missing_cols, matrix->cols) || cols > matrix->cols - matrix->col)
    return "a submatrix reaches outside of its matrix";
  const int64_t local_rows = tsl_scalapack_local_size(matrix->rows, matrix->row_block, position->row,
                                                      (int)matrix->first_row, position->rows) -
                             missing_on_process(matrix->missing_rows, matrix->first_row, position->row);
  const int64_t local_cols = tsl_scalapack_local_size(matrix->cols, matrix->col_block, position->col,
                                                      (int)matrix->first_col, position->cols) -
                             missing_on_process(matrix->missing_cols, matrix->first_col, position->col);
  if (matrix->leading < 1 || (local_cols > 0 && matrix->leading < local_rows))
    return "the leading dimension is less than the local rows";
  return NULL;
}

int64_t tsl_scalapack_virtual_offset(const tsl_scalapack_matrix *matrix,
                                     const tsl_scalapack_position *position) {
  return missing_on_process(matrix->missing_rows, matrix->first_row, position->row) +
         missing_on_process(matrix->missing_cols, matrix->first_col, position->col) * matrix->leading;
}
