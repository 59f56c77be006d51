/* What the dispatch cache (api/dispatch.h) knows of BLAS's products, and small ones that it does not know. */
#ifndef TSL_BLAS_DISPATCH_H
#define TSL_BLAS_DISPATCH_H

#include "api/dispatch.h"
#include "blas/arguments.h"
#include "blas/calls.h"
#include "blas/next.h"
#include "blas/route.h"

/* Looks a product up, and does a small one without a plan; false where it is left to tsl_blas_gemm(): nothing was
 * touched, and `next` is another library's function where it is known that such calls are handed on. The second one is
 * for the table of calls, and is never told of others. */
bool tsl_blas_dispatch_real(tsl_blas_symbol *symbol, const tsl_blas_multiply *product,
                            tsl_blas_function **next);
bool tsl_blas_dispatch_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *product,
                             tsl_blas_function **next);
/* For entries of a constant type. Complex products have no kernels without plans: what goes on is decided by size alone. */
static inline bool tsl_blas_dispatch(tsl_blas_symbol *symbol, tesela_type type,
                                     const tsl_blas_multiply *product, tsl_blas_function **next) {
  if (type != TESELA_F32 && type != TESELA_F64) {
    *next = tsl_blas_pass(symbol, (double)product->m * (double)product->n * (double)product->k);
    return false;
  }
  return tsl_blas_takes_small && !tsl_blas_is_wide(symbol) &&
         (tsl_blas_listens ? tsl_blas_dispatch_heard : tsl_blas_dispatch_real)(symbol, product, next);
}
/* Such calls are handed on, whenever they come. */
void tsl_blas_dispatch_note_next(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product);

#endif
