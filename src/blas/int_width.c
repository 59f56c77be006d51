/* How wide a library's integers are. Names do not tell: distributions and MKL have BLAS with 64-bit integers
 * under the names that 32-bit ones have elsewhere. So a dot is asked for of so many elements:
 *
 *     n = 0xffffffff00000001    lower half: 1       the product of both first elements
 *                               all of it: < 0      no element is read, and the dot is 0
 */
#include "blas/int_width.h"

#include "blas/call_log.h"

enum { X = 3, Y = 5 };
static const int64_t elements = 1 - ((int64_t)1 << 32), unit = 1;
static const double x = X, y = Y;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static double ask_fortran(tsl_blas_function *ddot) {
  typedef double fortran(const int64_t *, const double *, const int64_t *, const double *, const int64_t *);
  return ((fortran *)ddot)(&elements, &x, &unit, &y, &unit);
}
#else
/* Whoever reads 32 bits reads the upper half. */
static double ask_fortran(tsl_blas_function *ddot) {
  (void)ddot;
  return -1;
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/* Whoever takes 32 bits of a register does not look at the others. */
static double ask_cblas(tsl_blas_function *ddot) {
  typedef double cblas(int64_t, const double *, int64_t, const double *, int64_t);
  return ((cblas *)ddot)(elements, &x, unit, &y, unit);
}
#else
static double ask_cblas(tsl_blas_function *ddot) {
  (void)ddot;
  return -1;
}
#endif

int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas) {
  /* A CBLAS function may call a Fortran one by its name, which is ours: that call is not the program's. */
  tsl_blas_call call = {.symbol = NULL};
  tsl_blas_begin(&call);
  const double sum = cblas ? ask_cblas(ddot) : ask_fortran(ddot);
  tsl_blas_end(&call, NULL);
  return sum == X * Y ? 32 : sum == 0 ? 64 : 0;
}
