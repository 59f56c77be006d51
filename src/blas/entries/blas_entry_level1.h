/* Level 1, except dots, sums and rotations. VALUE(p) is the scalar at p. */
#define VALUE(at) tsl_blas_number(TSL_BLAS_TYPE, at)
#define FORTRAN_LINES                                                                                        \
  &(tsl_blas_lines) {                                                                                        \
    *n, x, *incx, y, *incy                                                                                   \
  }
#define CBLAS_LINES                                                                                          \
  &(tsl_blas_lines) {                                                                                        \
    (INTEGER) n, x, (INTEGER)incx, y, (INTEGER)incy                                                          \
  }
#define FORTRAN_LINE                                                                                         \
  &(tsl_blas_lines) {                                                                                        \
    .n = *n, .x = x, .incx = *incx                                                                           \
  }
#define CBLAS_LINE                                                                                           \
  &(tsl_blas_lines) {                                                                                        \
    .n = (INTEGER)n, .x = x, .incx = (INTEGER)incx                                                           \
  }
#define SHORT_LINES(n, dense) tsl_blas_short_lines(&symbol, TSL_BLAS_TYPE, n, dense)
#define IS_ZERO(number) ((number).re == 0 && (number).im == 0)

TESELA_API void FORTRAN(L(axpy))(const INTEGER *n, const void *alpha, const void *x, const INTEGER *incx,
                                 void *y, const INTEGER *incy) {
  typedef void forward(const INTEGER *, const void *, const void *, const INTEGER *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(axpy), TSL_BLAS_UPPER "AXPY");
  const tsl_line_kernels *at_once = SHORT_LINES(*n, *incx == 1 && *incy == 1);
  if (at_once && !IS_ZERO(VALUE(alpha))) {
    at_once->add(*n, VALUE(alpha), x, 1, false, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_axpy(&call, FORTRAN_LINES, VALUE(alpha));
  if (next) {
    ((forward *)next)(n, alpha, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(axpy))(WORD n, SCALAR alpha, const void *x, WORD incx, void *y, WORD incy) {
  typedef void forward(WORD, SCALAR, const void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(axpy));
  const tsl_line_kernels *at_once = SHORT_LINES((INTEGER)n, (INTEGER)incx == 1 && (INTEGER)incy == 1);
  if (at_once && !IS_ZERO(VALUE(SCALAR_AT(alpha)))) {
    at_once->add((INTEGER)n, VALUE(SCALAR_AT(alpha)), x, 1, false, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_axpy(&call, CBLAS_LINES, VALUE(SCALAR_AT(alpha)));
  if (next) {
    ((forward *)next)(n, alpha, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(scal))(const INTEGER *n, const void *alpha, void *x, const INTEGER *incx) {
  typedef void forward(const INTEGER *, const void *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(scal), TSL_BLAS_UPPER "SCAL");
  const tsl_line_kernels *at_once = SHORT_LINES(*n, *incx == 1);
  if (at_once && VALUE(alpha).re != 1) {
    at_once->scale(*n, VALUE(alpha), x, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_scal(&call, FORTRAN_LINE, VALUE(alpha), false);
  if (next) {
    ((forward *)next)(n, alpha, x, incx);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(scal))(WORD n, SCALAR alpha, void *x, WORD incx) {
  typedef void forward(WORD, SCALAR, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(scal));
  const tsl_line_kernels *at_once = SHORT_LINES((INTEGER)n, (INTEGER)incx == 1);
  if (at_once && VALUE(SCALAR_AT(alpha)).re != 1) {
    at_once->scale((INTEGER)n, VALUE(SCALAR_AT(alpha)), x, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_scal(&call, CBLAS_LINE, VALUE(SCALAR_AT(alpha)), false);
  if (next) {
    ((forward *)next)(n, alpha, x, incx);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(copy))(const INTEGER *n, const void *x, const INTEGER *incx, void *y,
                                 const INTEGER *incy) {
  typedef void forward(const INTEGER *, const void *, const INTEGER *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(copy), TSL_BLAS_UPPER "COPY");
  const tsl_line_kernels *at_once = SHORT_LINES(*n, *incx == 1 && *incy == 1);
  if (at_once) {
    at_once->copy(*n, x, 1, false, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_copy_vector(&call, FORTRAN_LINES);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(copy))(WORD n, const void *x, WORD incx, void *y, WORD incy) {
  typedef void forward(WORD, const void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(copy));
  const tsl_line_kernels *at_once = SHORT_LINES((INTEGER)n, (INTEGER)incx == 1 && (INTEGER)incy == 1);
  if (at_once) {
    at_once->copy((INTEGER)n, x, 1, false, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_copy_vector(&call, CBLAS_LINES);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(swap))(const INTEGER *n, void *x, const INTEGER *incx, void *y,
                                 const INTEGER *incy) {
  typedef void forward(const INTEGER *, void *, const INTEGER *, void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(swap), TSL_BLAS_UPPER "SWAP");
  const tsl_line_kernels *at_once = SHORT_LINES(*n, *incx == 1 && *incy == 1);
  if (at_once) {
    at_once->swap(*n, x, 1, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_swap(&call, FORTRAN_LINES);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(swap))(WORD n, void *x, WORD incx, void *y, WORD incy) {
  typedef void forward(WORD, void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(swap));
  const tsl_line_kernels *at_once = SHORT_LINES((INTEGER)n, (INTEGER)incx == 1 && (INTEGER)incy == 1);
  if (at_once) {
    at_once->swap((INTEGER)n, x, 1, y, 1);
    return;
  }
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_swap(&call, CBLAS_LINES);
  if (next) {
    ((forward *)next)(n, x, incx, y, incy);
    tsl_blas_forwarded(&call);
  }
}

#define SUM PASTE(SUM_LETTERS, nrm2)
#define SUM_OF tsl_blas_nrm2
#define SUM_AT_ONCE(kernels, n, x) tsl_vector_norm(kernels, (tsl_team){0}, n, (tsl_line){x, 1})
#include "blas/entries/level1_sum.h"
#undef SUM
#undef SUM_OF
#undef SUM_AT_ONCE
#define SUM PASTE(SUM_LETTERS, asum)
#define SUM_OF tsl_blas_asum
#define SUM_AT_ONCE(kernels, n, x) (kernels)->line->absolutes(n, x, 1)
#include "blas/entries/level1_sum.h"
#undef SUM
#undef SUM_OF
#undef SUM_AT_ONCE

/* Counts from 1 in Fortran and from 0 in C. */
TESELA_API INTEGER FORTRAN(LARGEST)(const INTEGER *n, const void *x, const INTEGER *incx) {
  typedef INTEGER forward(const INTEGER *, const void *, const INTEGER *);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(LARGEST, "AMAX");
  if (SHORT_LINES(*n, *incx == 1))
    return (INTEGER)(1 + tsl_vector_iamax(tsl_vector_kernels_of(TSL_BLAS_TYPE), (tsl_team){0}, *n,
                                          (tsl_line){x, 1}));
  tsl_blas_call call = {.symbol = &symbol};
  int64_t found = 0;
  tsl_blas_function *next = tsl_blas_iamax(&call, FORTRAN_LINE, &found);
  if (next) {
    found = ((forward *)next)(n, x, incx);
    tsl_blas_forwarded(&call);
  }
  return (INTEGER)found;
}

TESELA_API size_t CBLAS(LARGEST)(WORD n, const void *x, WORD incx) {
  typedef size_t forward(WORD, const void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(LARGEST);
  if (SHORT_LINES((INTEGER)n, (INTEGER)incx == 1))
    return (size_t)tsl_vector_iamax(tsl_vector_kernels_of(TSL_BLAS_TYPE), (tsl_team){0}, (INTEGER)n,
                                    (tsl_line){x, 1});
  tsl_blas_call call = {.symbol = &symbol};
  int64_t found = 0;
  tsl_blas_function *next = tsl_blas_iamax(&call, CBLAS_LINE, &found);
  if (next) {
    const size_t place = ((forward *)next)(n, x, incx);
    tsl_blas_forwarded(&call);
    return place;
  }
  return found > 0 ? (size_t)found - 1 : 0;
}
