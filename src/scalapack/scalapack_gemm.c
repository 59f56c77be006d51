#include "scalapack/scalapack_gemm.h"

#include "core/memory.h"
#include "core/types.h"
#include "scalapack/calls.h"
#include "scalapack/scalapack_operand.h"
#include "scalapack/scalapack_route.h"
#include "scalapack/width.h"

#include <string.h>

enum { A, B, C, OPERANDS };

typedef struct scalapack_gemm_work {
  int64_t m, n, k;
  bool transposed[2], conjugated[2];
  tsl_scalapack_operand operands[OPERANDS];
  double alpha[2], beta[2];
} scalapack_gemm_work;

/* Reads the transposes; an invalid letter becomes '?' in call->letters. */
static void set_letters(const tsl_scalapack_multiply *product, tesela_type type, scalapack_gemm_work *out,
                        tsl_scalapack_call *call) {
  const char given[] = {product->trans_a, product->trans_b};
  for (int i = 0; i < 2; i++) {
    const char letter = tsl_scalapack_letter(given[i]);
    call->letters[i] = letter ? letter : '?';
    out->transposed[i] = letter != 'N';
    out->conjugated[i] = letter == 'C' && tsl_type(type)->is_complex;
  }
}

static void set_sizes(tsl_scalapack_operand *operand, int64_t rows, int64_t cols, bool transposed) {
  operand->rows = transposed ? cols : rows;
  operand->cols = transposed ? rows : cols;
}

/* Returns why the call is not tesela's; NULL: it is. The host ScaLAPACK reports wrong arguments. */
static const char *scalapack_gemm_prepare(const tsl_scalapack_multiply *product, tsl_scalapack_call *call,
                                          scalapack_gemm_work *out) {
  const tesela_type type = call->symbol->type;
  const tsl_scalapack_part *const parts[] = {&product->a, &product->b, &product->c};
  if (tsl_scalapack_width() == 0)
    return "its integer width is unknown";
  out->m = call->sizes[0] = tsl_scalapack_integer(product->m, 0);
  out->n = call->sizes[1] = tsl_scalapack_integer(product->n, 0);
  out->k = call->sizes[2] = tsl_scalapack_integer(product->k, 0);
  set_letters(product, type, out, call);
  tsl_type_load(type, product->alpha, out->alpha);
  tsl_type_load(type, product->beta, out->beta);
  set_sizes(&out->operands[A], out->m, out->k, out->transposed[A]);
  set_sizes(&out->operands[B], out->k, out->n, out->transposed[B]);
  set_sizes(&out->operands[C], out->m, out->n, false);
  const char *why = tsl_scalapack_read_operands(parts, out->operands, OPERANDS, type, &call->position);
  if (why)
    return why;
  if (strchr(call->letters, '?'))
    return "TRANSA or TRANSB is none of N, T and C";
  if (out->m <= 0 || out->n <= 0 || out->k <= 0)
    return "a size is not positive";
  return out->alpha[0] == 0 && out->alpha[1] == 0 ? "alpha is 0" : NULL;
}

static tesela_matrix scalapack_gemm_matrix_of(const scalapack_gemm_work *work, int which, tesela_type type) {
  return (tesela_matrix){.data = work->operands[which].data,
                         .row_stride = 1,
                         .col_stride = work->operands[which].matrix.leading,
                         .transpose = work->transposed[which],
                         .conjugate = work->conjugated[which],
                         .type = type};
}

/* Returns the function to forward to; NULL: done. */
static tsl_next_function *scalapack_gemm_compute(tsl_scalapack_call *call, const scalapack_gemm_work *work,
                                                 const tsl_scalapack_grid *grid) {
  const tesela_type type = call->symbol->type;
  const tesela_gemm_desc gemm = {
      .m = work->m,
      .n = work->n,
      .k = work->k,
      .a = scalapack_gemm_matrix_of(work, A, type),
      .b = scalapack_gemm_matrix_of(work, B, type),
      .c = {.data = tsl_writable(work->operands[C].data),
            .row_stride = 1,
            .col_stride = work->operands[C].matrix.leading,
            .type = type},
      .alpha = work->alpha,
      .beta = work->beta,
  };
  const tesela_mpi_desc desc = {.gemm = &gemm,
                                .a = tsl_scalapack_layout(&work->operands[A], grid),
                                .b = tsl_scalapack_layout(&work->operands[B], grid),
                                .c = tsl_scalapack_layout(&work->operands[C], grid)};
  tesela_mpi_record record = {0};
  /* A process without a context takes part, so that all processes learn of the failure. */
  const tesela_status status =
      tesela_mpi_gemm(grid->comm, tsl_scalapack_context(grid->sharing), &desc, &record);
  return tsl_scalapack_finish(call, grid, status, &record, work->beta);
}

tsl_next_function *tsl_scalapack_gemm(tsl_scalapack_symbol *symbol, const tsl_scalapack_multiply *product) {
  tsl_scalapack_call call = {.symbol = symbol};
  scalapack_gemm_work work = {.m = 0};
  const char *why = scalapack_gemm_prepare(product, &call, &work);
  const bool is_ours =
      tsl_scalapack_takes_gemm(work.m, work.n, work.k, call.position.rows * call.position.cols,
                               tsl_interpose_next(&symbol->next, symbol->name) != NULL);
  const tsl_scalapack_grid *grid =
      tsl_scalapack_grid_for_call(&work.operands[A], &call.position, is_ours, &why);
  tsl_scalapack_begin(&call);
  return grid ? scalapack_gemm_compute(&call, &work, grid) : tsl_scalapack_forward(&call, why);
}
