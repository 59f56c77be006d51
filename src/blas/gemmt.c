/* gemmt: a level 3 update with two independent factors. */
#include "blas/gemmt.h"

#include "blas/blas_gemm.h"
#include "blas/blas_level3.h"
#include "blas/check_args.h"

static void gemmt_describe(tsl_blas_call *call, const tsl_blas_multiply *product) {
  call->sizes = 3;
  call->shape[0] = call->shape[1] = product->n;
  call->shape[2] = product->k;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 4.0 : 1.0) * (double)product->n *
                (double)(product->n + 1) * (double)product->k;
}

tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product) {
  const tsl_blas_route route = tsl_blas_route_level3(
      TSL_BLAS_GEMMT, call->symbol, (double)product->n * (double)product->n * (double)product->k);
  gemmt_describe(call, product);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  if (tsl_blas_ends_early(call->symbol, product, tsl_blas_check_gemmt(product)))
    return NULL;
  tsl_blas_layout layout;
  tsl_blas_lay_out_gemmt(call->symbol->type, product, &layout);
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA && tsl_blas_level3_end(call, &layout))
    return NULL;
  tsl_blas_function *other = tsl_blas_otherwise(call, route);
  if (!other) {
    tsl_blas_loop_gemmt(&layout.work, product->uplo);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return other;
}
