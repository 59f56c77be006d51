#include "scalapack/scalapack_operand.h"

#include "core/env.h"
#include "core/pool.h"
#include "core/thread_limit.h"
#include "core/types.h"
#include "interpose/contexts.h"
#include "scalapack/scalapack_route.h"
#include "scalapack/width.h"

#include <string.h>

static void read_matrix(const tsl_scalapack_part *part, tsl_scalapack_matrix *out) {
  enum { FIELDS_MAX = 11 };
  int64_t fields[FIELDS_MAX] = {tsl_scalapack_integer(part->desc, 0)};
  for (int i = 1; i < tsl_scalapack_field_count(fields[0]); i++)
    fields[i] = tsl_scalapack_integer(part->desc, i);
  tsl_scalapack_describe(fields, tsl_scalapack_integer(part->i, 0), tsl_scalapack_integer(part->j, 0), out);
}

/* Not dereferenced before the missing elements are added again. */
static const void *address_minus_elements(const void *data, int64_t elements, tesela_type type) {
  const uintptr_t address = (uintptr_t)data - (uintptr_t)elements * tsl_type(type)->size;
  return data ? (const void *)address : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

const char *tsl_scalapack_read_operands(const tsl_scalapack_part *const *parts,
                                        tsl_scalapack_operand *operands, int count, tesela_type type,
                                        tsl_scalapack_position *position) {
  const char *why = NULL;
  for (int i = 0; i < count; i++) {
    read_matrix(parts[i], &operands[i].matrix);
    if (operands[i].matrix.context != operands[0].matrix.context)
      return "the operands have different contexts";
  }
  if (!tsl_scalapack_find_position(operands[0].matrix.context, position))
    return "the caller is not in the grid";
  for (int i = 0; i < count && !why; i++) {
    why = tsl_scalapack_refuse(&operands[i].matrix, operands[i].rows, operands[i].cols, position);
    operands[i].data = address_minus_elements(
        parts[i]->data, tsl_scalapack_virtual_offset(&operands[i].matrix, position), type);
  }
  return why;
}

const tsl_scalapack_grid *tsl_scalapack_grid_for_call(const tsl_scalapack_operand *operand,
                                                      const tsl_scalapack_position *position,
                                                      bool is_faster_here, const char **why) {
  if (position->row == 0 && position->col == 0)
    tsl_scalapack_check_request();
  if (*why)
    return NULL;
  /* First: with different requests, processes may disagree about sizes. */
  const tsl_scalapack_grid *grid =
      tsl_scalapack_grid_of(operand->matrix.context, position, tsl_scalapack_settings());
  if (!grid)
    *why = "the processes of the grid have different settings, or cannot compare them";
  else if (!is_faster_here)
    *why = "that one is faster, or was asked for";
  return *why ? NULL : grid;
}

tsl_next_function *tsl_scalapack_finish(const tsl_scalapack_call *call, const tsl_scalapack_grid *grid,
                                        tesela_status status, const tesela_mpi_record *record,
                                        const double beta[2]) {
  if (status == TESELA_OK) {
    tsl_scalapack_end(call, record);
    return NULL;
  }
  /* The message tells if a process has written parts of C before another one failed. */
  const char *why = tesela_last_error();
  if (!tsl_scalapack_any_true(grid, strstr(why, "lost") != NULL) || (beta[0] == 0 && beta[1] == 0))
    return tsl_scalapack_forward(call, why);
  tsl_scalapack_report_lost(call, why);
  return NULL;
}

tesela_layout tsl_scalapack_layout(const tsl_scalapack_operand *operand, const tsl_scalapack_grid *grid) {
  const tsl_scalapack_matrix *matrix = &operand->matrix;
  return (tesela_layout){.kind = TESELA_LAYOUT_CYCLIC,
                         .grid_rows = grid->rows,
                         .grid_cols = grid->cols,
                         .ranks = grid->ranks,
                         .row_block = matrix->row_block,
                         .col_block = matrix->col_block,
                         .first_row = (int)matrix->first_row,
                         .first_col = (int)matrix->first_col,
                         .row = matrix->row,
                         .col = matrix->col,
                         .rows = matrix->rows,
                         .cols = matrix->cols};
}

char tsl_scalapack_letter(char value) {
  static const char letters[] = "NTC";
  for (int i = 0; letters[i]; i++)
    if (value == letters[i] || value == letters[i] + ('a' - 'A'))
      return letters[i];
  return 0;
}

/* Returns the threads of one of `sharing` processes; TESELA_THREADS counts per process. */
static int scalapack_context_threads(int sharing) {
  const int all = tsl_pool_default_threads();
  if (tsl_env_get_or_null(TSL_ENV_THREADS))
    return all;
  const int own = all / sharing;
  return tsl_thread_limit_from_env(own > 1 ? own : 1);
}

tesela_context *tsl_scalapack_context(int sharing) {
  return tsl_interpose_context(scalapack_context_threads(sharing));
}
