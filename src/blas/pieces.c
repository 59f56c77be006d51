/* Products that are parts of a call. Small ones come in so many sizes that a plan each would take longer than they do. */
#include "blas/pieces.h"

#include "api/dispatch.h"
#include "base/memory.h"
#include "blas/context.h"
#include "blas/gemm.h"

static bool at_once(const tsl_blas_work *work) {
  const tsl_fast_path *path = tsl_blas_is_complex(work->type) ? NULL : tsl_blas_fast_path();
  if (!path || work->m <= 0 || work->n <= 0 || work->k <= 0 ||
      !tsl_dispatch_aligned(work->type, work->a.data, work->b.data, work->c.data))
    return false;
  double alpha[2], beta[2];
  tsl_blas_doubles(work->type, work->alpha, alpha);
  tsl_blas_doubles(work->type, work->beta, beta);
  const tsl_fast_product product = {.type = work->type,
                                    .m = work->m,
                                    .n = work->n,
                                    .k = work->k,
                                    .a = work->a.data,
                                    .b = work->b.data,
                                    .c = tsl_writable(work->c.data),
                                    .a_row = work->a.row,
                                    .a_col = work->a.col,
                                    .b_row = work->b.row,
                                    .b_col = work->b.col,
                                    .c_row = work->c.row,
                                    .c_col = work->c.col,
                                    .alpha = alpha[0],
                                    .beta = beta[0],
                                    .alpha_is_0 = alpha[0] == 0,
                                    .alpha_is_1 = alpha[0] == 1,
                                    .beta_is_0 = beta[0] == 0};
  return path->strategy->fast_path.multiply(&product, path->device);
}

void tsl_blas_piece(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record) {
  if (!at_once(work) && !tsl_blas_by_tesela(symbol, work, record))
    tsl_blas_loop_gemm(work);
}
