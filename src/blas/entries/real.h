/* Entries of a real type: CBLAS passes its scalars by value. */
#define SCALAR TSL_BLAS_ELEMENT
#define SCALAR_AT(scalar) (&(scalar))
#define SCALAR_OF(element) (element)
#include "blas/entries/fortran.h"

#include "blas/entries/cblas.h"
#undef SCALAR
#undef SCALAR_AT
#undef SCALAR_OF

#define DOT L(dot)
#define DOT_TITLE TSL_BLAS_UPPER "DOT"
#define DOT_CONJUGATE false
#include "blas/entries/fortran_dot.h"
#undef DOT
#undef DOT_TITLE
#undef DOT_CONJUGATE

TESELA_API TSL_BLAS_ELEMENT CBLAS(L(dot))(WORD n, const void *x, WORD incx, const void *y, WORD incy) {
  typedef TSL_BLAS_ELEMENT forward(WORD, const void *, WORD, const void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(dot));
  tsl_blas_call call = {.symbol = &symbol};
  TSL_BLAS_ELEMENT result = 0;
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)(INTEGER)n);
  if (!next)
    next = tsl_blas_dot(&call, &(tsl_blas_sum){.n = (INTEGER)n,
                                               .x = x,
                                               .incx = (INTEGER)incx,
                                               .y = y,
                                               .incy = (INTEGER)incy,
                                               .result_type = TSL_BLAS_TYPE,
                                               .result = &result});
  if (next) {
    result = ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
  return result;
}
