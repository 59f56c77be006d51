#include "blas/inner_gemm.h"

#include "blas/blas_context.h"
#include "blas/blas_dispatch.h"
#include "blas/blas_threads.h"
#include "blas/check_args.h"
#include "core/memory.h"

static tsl_call_matrix make_view(const void *data, int64_t ld, bool by_row, int letter, bool complex_type) {
  const bool transposed = letter == 'T' || letter == 'C';
  return (tsl_call_matrix){.data = data,
                           .row = by_row != transposed ? ld : 1,
                           .col = by_row != transposed ? 1 : ld,
                           .conjugate = complex_type && (letter == 'C' || letter == 'R')};
}

tsl_call tsl_blas_work_of(tesela_type type, const tsl_blas_multiply *product) {
  const bool by_row = product->order == TSL_BLAS_ROW_MAJOR, is_complex = tsl_blas_is_complex(type);
  tsl_call call = {.type = type,
                   .m = product->m,
                   .n = product->n,
                   .k = product->k,
                   .a = make_view(product->a, product->lda, by_row, product->trans_a, is_complex),
                   .b = make_view(product->b, product->ldb, by_row, product->trans_b, is_complex),
                   .c = make_view(product->c, product->ldc, by_row, 'N', false)};
  double alpha[2], beta[2];
  tsl_blas_doubles(type, product->alpha, alpha);
  tsl_blas_doubles(type, product->beta, beta);
  tsl_call_scale(&call, alpha, beta);
  return call;
}

tesela_matrix tsl_blas_matrix_of(const tsl_call_matrix *view, tesela_type type) {
  return (tesela_matrix){.data = view->data,
                         .row_stride = view->row,
                         .col_stride = view->col,
                         .type = type,
                         .conjugate = view->conjugate};
}

tesela_result tsl_blas_result_of(const tsl_call_matrix *view, tesela_type type) {
  return (tesela_result){
      .data = tsl_writable(view->data), .row_stride = view->row, .col_stride = view->col, .type = type};
}

void tsl_blas_to_desc(const tsl_call *work, tsl_blas_desc_storage *out) {
  const bool in_place = tsl_is_triangular(work->a_is);
  for (int part = 0; part < 2; part++) {
    out->alpha[part] = work->alpha[part];
    out->beta[part] = work->beta[part];
  }
  out->desc = (tesela_gemm_desc){.m = work->m,
                                 .n = work->n,
                                 .k = work->k,
                                 .a = tsl_blas_matrix_of(&work->a, work->type),
                                 .b = in_place ? (tesela_matrix){.data = NULL}
                                               : tsl_blas_matrix_of(&work->b, work->type),
                                 .c = tsl_blas_result_of(&work->c, work->type),
                                 .alpha = out->alpha,
                                 .beta = out->beta,
                                 .structure.a = work->a_is,
                                 .structure.a_triangle = work->a_triangle,
                                 .structure.c = work->c_is,
                                 .structure.c_triangle = work->c_triangle,
                                 .structure.in_place = in_place,
                                 .options.device = work->on_cpu ? "cpu" : NULL};
}

bool tsl_blas_by_tesela(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record) {
  tsl_blas_desc_storage storage;
  if (tsl_blas_lacks(TSL_BLAS_GEMM, work->type, work->type))
    return false;
  tsl_blas_to_desc(work, &storage);
  const tesela_status status = tsl_blas_run_gemm(&storage.desc, record);
  if (status == TESELA_UNSUPPORTED && tsl_blas_is_complex(work->type))
    tsl_blas_mark_unsupported(TSL_BLAS_GEMM, work->type, work->type);
  /* All other failures leave C unchanged, for the loops. */
  if (status == TESELA_DEVICE_FAILED && (storage.beta[0] != 0 || storage.beta[1] != 0)) {
    tsl_blas_report_failure(symbol, tesela_last_error());
    return true;
  }
  return status == TESELA_OK;
}

bool tsl_blas_packed(const tsl_call *work) {
  const tsl_device *cpu = tsl_blas_cpu();
  return cpu && tsl_dispatch_packed(work, cpu, tsl_blas_threads());
}

/* Inner products have many sizes, and planning each would take longer. */
void tsl_blas_inner_gemm(const tsl_blas_symbol *symbol, const tsl_call *work, tesela_record *record) {
  const tsl_device *cpu = tsl_blas_cpu();
  if (cpu && tsl_dispatch(work, cpu, NULL))
    return;
  const double volume =
      (tsl_blas_is_complex(work->type) ? 4.0 : 1.0) * (double)work->m * (double)work->n * (double)work->k;
  if ((volume < (double)tsl_crossovers.plan_volume && tsl_blas_packed(work)) ||
      tsl_blas_by_tesela(symbol, work, record))
    return;
  tsl_blas_loop_gemm(work);
}
