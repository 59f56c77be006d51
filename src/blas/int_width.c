/* Integer width of a library. Names do not tell it, so a dot product is called with a special size:
 *
 *     n = 0xffffffff00000001    32 bits: 1       result x[0] y[0]
 *                               64 bits: < 0     no element is read, result 0 */
#include "blas/int_width.h"

#include "blas/call_log.h"

enum { X = 3, Y = 5 };
static const int64_t elements = 1 - ((int64_t)1 << 32), unit = 1;
static const double x = X, y = Y;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static double call_fortran_ddot(tsl_blas_function *ddot) {
  typedef double fortran(const int64_t *, const double *, const int64_t *, const double *, const int64_t *);
  return ((fortran *)ddot)(&elements, &x, &unit, &y, &unit);
}
#else
/* A function with 32-bit integers would read the upper half. */
static double call_fortran_ddot(tsl_blas_function *ddot) {
  (void)ddot;
  return -1;
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/* A function with 32-bit integers ignores the upper half of a register. */
static double call_cblas_ddot(tsl_blas_function *ddot) {
  typedef double cblas(int64_t, const double *, int64_t, const double *, int64_t);
  return ((cblas *)ddot)(elements, &x, unit, &y, unit);
}
#else
static double call_cblas_ddot(tsl_blas_function *ddot) {
  (void)ddot;
  return -1;
}
#endif

int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas) {
  /* The guard forwards a call by Fortran name, which is ours. */
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double sum = cblas ? call_cblas_ddot(ddot) : call_fortran_ddot(ddot);
  tsl_blas_end(&call, NULL);
  return sum == X * Y ? 32 : sum == 0 ? 64 : 0;
}
