#include "blas/matcopy.h"

#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/blas_route.h"
#include "blas/check_args.h"
#include "blas/reference_blas.h"
#include "core/memory.h"

#include <string.h>

static bool matcopy_transposes(const tsl_blas_copy *copy) {
  return copy->trans == 'T' || copy->trans == 'C';
}

/* Views of A and B, both rows x cols; `to` is B seen through op. */
typedef struct matcopy_sides {
  tsl_call_matrix from, to;
} matcopy_sides;

static matcopy_sides matcopy_sides_of(tesela_type type, const tsl_blas_copy *copy, void *target,
                                      int64_t target_ld) {
  const bool by_row = copy->order == TSL_BLAS_ROW_MAJOR, transposed = matcopy_transposes(copy);
  const bool conjugate = tsl_blas_is_complex(type) && (copy->trans == 'C' || copy->trans == 'R');
  const bool to_by_row = by_row != transposed;
  return (matcopy_sides){
      .from = {copy->a, by_row ? copy->lda : 1, by_row ? 1 : copy->lda, conjugate},
      .to = {target, to_by_row ? target_ld : 1, to_by_row ? 1 : target_ld, false},
  };
}

/* Returns true if tesela can: no conjugation, scaling for real types only, in place for squares only. */
static bool is_supported(tesela_type type, const tsl_blas_copy *copy) {
  const bool scales = !tsl_blas_is(type, copy->alpha, 1);
  return matcopy_transposes(copy) && !(tsl_blas_is_complex(type) && (scales || copy->trans == 'C')) &&
         (!copy->in_place || (copy->rows == copy->cols && copy->lda == copy->ldb));
}

/* B is cols x rows and B(j, i) = A(i, j), so its strides are `to`'s exchanged. */
static bool matcopy_by_tesela(const tsl_blas_symbol *symbol, const tsl_blas_copy *copy,
                              const matcopy_sides *both, tesela_record *record) {
  const tesela_type type = symbol->type;
  const tsl_call_matrix written = {.data = both->to.data, .row = both->to.col, .col = both->to.row};
  double alpha[2];
  if (!is_supported(type, copy))
    return false;
  tsl_blas_doubles(type, copy->alpha, alpha);
  tesela_transpose_desc desc = {.rows = copy->rows,
                                .cols = copy->cols,
                                .b = tsl_blas_result_of(&written, type),
                                .in_place = copy->in_place,
                                .alpha = alpha};
  if (!copy->in_place)
    desc.a = tsl_blas_matrix_of(&both->from, type);
  const tesela_status status = tsl_blas_run_transpose(&desc, record);
  /* All other failures leave the matrix unchanged. */
  if (status == TESELA_DEVICE_FAILED && copy->in_place) {
    tsl_blas_report_failure(symbol, tesela_last_error());
    return true;
  }
  return status == TESELA_OK;
}

static void matcopy_in_place(const tsl_blas_symbol *symbol, const tsl_blas_copy *copy,
                             const matcopy_sides *both) {
  const tesela_type type = symbol->type;
  const bool same = copy->lda == copy->ldb, transposed = matcopy_transposes(copy);
  void *block;
  if (same && !transposed) {
    tsl_blas_loop_copy(type, copy->rows, copy->cols, copy->alpha, &both->from, &both->to);
    return;
  }
  if (same && copy->rows == copy->cols) {
    tsl_blas_loop_transpose(type, copy->rows, copy->alpha, &both->from);
    return;
  }
  const bool by_row = copy->order == TSL_BLAS_ROW_MAJOR;
  const int64_t dense = by_row != transposed ? copy->cols : copy->rows;
  size_t count = (size_t)copy->rows * (size_t)copy->cols;
  if (tsl_alloc(count * tsl_blas_size(type), "a copy of a matrix", &block) != TESELA_OK) {
    tsl_blas_report_failure(symbol, tesela_last_error());
    return;
  }
  const matcopy_sides out = matcopy_sides_of(type, copy, block, dense);
  static const double one_f64[2] = {1, 0};
  static const float one_f32[2] = {1, 0};
  const bool single = type == TESELA_F32 || type == TESELA_C64;
  tsl_blas_loop_copy(type, copy->rows, copy->cols, copy->alpha, &out.from, &out.to);
  tsl_blas_loop_copy(type, copy->rows, copy->cols, single ? (const void *)one_f32 : one_f64, &out.to,
                     &both->to);
  tsl_free(block);
}

tsl_blas_function *tsl_blas_matcopy(tsl_blas_call *call, const tsl_blas_copy *copy) {
  const double elements =
      is_supported(call->symbol->type, copy) ? (double)copy->rows * (double)copy->cols : 0;
  const tsl_blas_route route = tsl_blas_route_vector(TSL_BLAS_TRANSPOSE, call->symbol, elements);
  call->sizes = 2;
  call->shape[0] = copy->rows;
  call->shape[1] = copy->cols;
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  const int wrong = tsl_blas_check_matcopy(copy);
  if (wrong) {
    tsl_blas_report_argument(call->symbol, wrong, copy->order == TSL_BLAS_ROW_MAJOR, false);
    return NULL;
  }
  if (copy->rows == 0 || copy->cols == 0)
    return NULL;
  const tesela_type type = call->symbol->type;
  tesela_record record = {.plan = NULL};
  const matcopy_sides both =
      matcopy_sides_of(type, copy, copy->in_place ? tsl_writable(copy->a) : copy->b, copy->ldb);
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA &&
      matcopy_by_tesela(call->symbol, copy, &both, tsl_blas_record(call, &record))) {
    tsl_blas_end_plan(call, &record);
    return NULL;
  }
  tsl_blas_function *other = tsl_blas_otherwise(call, route);
  if (other)
    return other;
  if (copy->in_place)
    matcopy_in_place(call->symbol, copy, &both);
  else
    tsl_blas_loop_copy(type, copy->rows, copy->cols, copy->alpha, &both.from, &both.to);
  tsl_blas_end(call, tsl_blas_loops_name);
  return NULL;
}
