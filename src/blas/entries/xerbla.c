/* Weak functions of a BLAS that are no routines. Another library's error handler is preferred. */
#include "interpose/next_symbol.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define WEAK TESELA_API __attribute__((weak))

typedef void fortran_handler(const char *, const void *, size_t);
typedef void cblas_handler(int, const char *, const char *, ...);

static void xerbla_report(const char *name, size_t length, long long number) {
  fprintf(stderr, " ** On entry to %.*s parameter number %lld had an illegal value\n", (int)length, name,
          number);
}

static size_t xerbla_length(const char *name, size_t length) {
  while (length > 0 && name[length - 1] == ' ')
    length--;
  return length;
}

/* Error handler for integers of one width. */
#define DEFINE_XERBLA(xerbla, integer)                                                                       \
  WEAK void xerbla(const char *name, const integer *number, size_t length) {                                 \
    static tsl_lazy_symbol late;                                                                             \
    tsl_next_function *other = tsl_interpose_program(&late, #xerbla);                                        \
    if (other)                                                                                               \
      ((fortran_handler *)other)(name, number, length);                                                      \
    else                                                                                                     \
      xerbla_report(name, xerbla_length(name, length), (long long)*number);                                  \
  }
DEFINE_XERBLA(xerbla_, int)
DEFINE_XERBLA(xerbla_64_, int64_t)

/* The reference's functions explain by `form` and its values. */
WEAK void cblas_xerbla(int number, const char *name, const char *form, ...) {
  static tsl_lazy_symbol late;
  tsl_next_function *other = tsl_interpose_program(&late, "cblas_xerbla");
  va_list values;
  if (other) {
    ((cblas_handler *)other)(number, name, "");
    return;
  }
  if (number != 0)
    fprintf(stderr, "Parameter %d to routine %s was incorrect\n", number, name);
  va_start(values, form);
  vfprintf(stderr, form, values);
  va_end(values);
}

WEAK int lsame_(const char *a, const char *b) {
  const int x = (unsigned char)*a, y = (unsigned char)*b;
  const int capital_x = x >= 'a' && x <= 'z' ? x - 32 : x, capital_y = y >= 'a' && y <= 'z' ? y - 32 : y;
  return capital_x == capital_y;
}

WEAK float scabs1_(const float *z) {
  return fabsf(z[0]) + fabsf(z[1]);
}
WEAK double dcabs1_(const double *z) {
  return fabs(z[0]) + fabs(z[1]);
}

WEAK float cblas_scabs1(const void *z) {
  return scabs1_(z);
}
WEAK double cblas_dcabs1(const void *z) {
  return dcabs1_(z);
}

WEAK void xerbla_array_(const char *name, const int *length, const int *number) {
  xerbla_(name, number, *length > 0 ? (size_t)*length : 0);
}

/* Variables by which the reference's C functions tell error handlers the caller and the storage order. */
WEAK int RowMajorStrg, CBLAS_CallFromC;
