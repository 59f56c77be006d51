/* Tiny products, at once. */
#ifndef TSL_BLAS_INSTANT_H
#define TSL_BLAS_INSTANT_H

#include "blas/arguments.h"
#include "blas/calls.h"
#include "blas/next.h"
#include "blas/route.h"

/* Does a tiny product at once; false where it is not tiny, or unusual in any way: nothing was touched. */
bool tsl_blas_instant(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* The same for the table of calls. */
bool tsl_blas_instant_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Either where it is allowed; `type` is a constant. */
static inline bool tsl_blas_try_instant(tsl_blas_symbol *symbol, tesela_type type,
                                        const tsl_blas_multiply *product) {
  return (type == TESELA_F32 || type == TESELA_F64) && tsl_blas_hurries && !tsl_blas_is_wide(symbol) &&
         (tsl_blas_listens ? tsl_blas_instant_heard : tsl_blas_instant)(symbol, product);
}

#endif
