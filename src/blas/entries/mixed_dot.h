/* Dots of f32 with f64 sums: dsdot returns the sum; sdsdot adds a float first and rounds. */
#define DOT_IS_PLAIN 0
#define DOT_VALUE double
#define DOT_TYPE TESELA_F64
#define DOT_CONJUGATE false
#define DOT dsdot
#define DOT_TITLE "DSDOT"
#include "blas/entries/fortran_dot.h"

#include "blas/entries/cblas_dot.h"
#undef DOT
#undef DOT_TITLE
#undef DOT_CONJUGATE
#undef DOT_VALUE
#undef DOT_IS_PLAIN
#undef DOT_TYPE

TESELA_API float FORTRAN(sdsdot)(const INTEGER *n, const float *start, const void *x, const INTEGER *incx,
                                 const void *y, const INTEGER *incy) {
  typedef float forward(const INTEGER *, const float *, const void *, const INTEGER *, const void *,
                        const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(sdsdot, "SDSDOT");
  tsl_blas_call call = {.symbol = &symbol};
  float result = 0;
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*n);
  if (!next)
    next = tsl_blas_dot(
        &call, &(tsl_blas_sum){FORTRAN_SUM, .start = start, .result_type = TESELA_F64, .result = &result});
  if (next) {
    result = ((forward *)next)(n, start, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
  return result;
}

TESELA_API float CBLAS(sdsdot)(WORD n, float start, const void *x, WORD incx, const void *y, WORD incy) {
  typedef float forward(WORD, float, const void *, WORD, const void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(sdsdot);
  tsl_blas_call call = {.symbol = &symbol};
  float result = 0;
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)(INTEGER)n);
  if (!next)
    next = tsl_blas_dot(
        &call, &(tsl_blas_sum){CBLAS_SUM, .start = &start, .result_type = TESELA_F64, .result = &result});
  if (next) {
    result = ((forward *)next)(n, start, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
  return result;
}
