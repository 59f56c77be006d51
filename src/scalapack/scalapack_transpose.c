#include "scalapack/scalapack_transpose.h"

#include "core/memory.h"
#include "core/types.h"
#include "scalapack/calls.h"
#include "scalapack/scalapack_operand.h"
#include "scalapack/scalapack_route.h"
#include "scalapack/width.h"

enum { A, C, OPERANDS };

typedef struct scalapack_transpose_work {
  int64_t m, n;
  bool conjugated;
  tsl_scalapack_operand operands[OPERANDS];
  double alpha[2], beta[2];
} scalapack_transpose_work;

/* Returns why the call is not tesela's; NULL: it is. */
static const char *scalapack_transpose_prepare(const tsl_scalapack_add *sum, tsl_scalapack_call *call,
                                               scalapack_transpose_work *out) {
  const tesela_type type = call->symbol->type;
  const tsl_scalapack_part *const parts[] = {&sum->a, &sum->c};
  const char letter = tsl_scalapack_letter(sum->trans);
  if (tsl_scalapack_width() == 0)
    return "its integer width is unknown";
  out->m = call->sizes[0] = tsl_scalapack_integer(sum->m, 0);
  out->n = call->sizes[1] = tsl_scalapack_integer(sum->n, 0);
  call->letters[0] = letter ? letter : '?';
  tsl_type_load(type, sum->alpha, out->alpha);
  tsl_type_load(type, sum->beta, out->beta);
  out->conjugated = letter == 'C' && tsl_type(type)->is_complex;
  out->operands[A].rows = out->operands[C].cols = out->n;
  out->operands[A].cols = out->operands[C].rows = out->m;
  const char *why = tsl_scalapack_read_operands(parts, out->operands, OPERANDS, type, &call->position);
  if (why)
    return why;
  if (letter != 'T' && letter != 'C')
    return "it is no transpose";
  if (out->m <= 0 || out->n <= 0)
    return "a size is not positive";
  return out->alpha[0] == 0 && out->alpha[1] == 0 ? "alpha is 0" : NULL;
}

/* Returns the function to forward to; NULL: done. */
static tsl_next_function *scalapack_transpose_compute(tsl_scalapack_call *call,
                                                      const scalapack_transpose_work *work,
                                                      const tsl_scalapack_grid *grid) {
  const tesela_type type = call->symbol->type;
  const tesela_mpi_transpose_desc desc = {
      .rows = work->n,
      .cols = work->m,
      .a = {.data = work->operands[A].data,
            .row_stride = 1,
            .col_stride = work->operands[A].matrix.leading,
            .conjugate = work->conjugated,
            .type = type},
      .b = {.data = tsl_writable(work->operands[C].data),
            .row_stride = 1,
            .col_stride = work->operands[C].matrix.leading,
            .type = type},
      .alpha = work->alpha,
      .beta = work->beta,
      .layout_a = tsl_scalapack_layout(&work->operands[A], grid),
      .layout_b = tsl_scalapack_layout(&work->operands[C], grid),
  };
  tesela_mpi_record record = {.ranks = 0};
  const tesela_status status =
      tesela_mpi_transpose(grid->comm, tsl_scalapack_context(grid->sharing), &desc, &record);
  return tsl_scalapack_finish(call, grid, status, &record, work->beta);
}

tsl_next_function *tsl_scalapack_transpose(tsl_scalapack_symbol *symbol, const tsl_scalapack_add *sum) {
  tsl_scalapack_call call = {.symbol = symbol};
  scalapack_transpose_work work = {.m = 0};
  const char *why = scalapack_transpose_prepare(sum, &call, &work);
  const bool is_ours = tsl_scalapack_takes_transpose(tsl_interpose_next(&symbol->next, symbol->name) != NULL);
  const tsl_scalapack_grid *grid =
      tsl_scalapack_grid_for_call(&work.operands[A], &call.position, is_ours, &why);
  tsl_scalapack_begin(&call);
  return grid ? scalapack_transpose_compute(&call, &work, grid) : tsl_scalapack_forward(&call, why);
}
