/* Scalars of any type as pairs of f64, for what is done once a column. */
#ifndef TSL_VECTOR_VECTOR_NUMBER_H
#define TSL_VECTOR_VECTOR_NUMBER_H

#include "base/memory.h"
#include "vector/vector.h"

static inline tsl_number tsl_number_at(const tsl_vector_kernels *of, const void *at) {
  switch (of->type) {
  case TESELA_F32:
    return (tsl_number){(double)*(const float *)at, 0};
  case TESELA_F64:
    return (tsl_number){*(const double *)at, 0};
  case TESELA_C64:
    return (tsl_number){(double)((const float *)at)[0], (double)((const float *)at)[1]};
  default:
    return (tsl_number){((const double *)at)[0], ((const double *)at)[1]};
  }
}
static inline void tsl_number_put(const tsl_vector_kernels *of, void *at, tsl_number value) {
  switch (of->type) {
  case TESELA_F32:
    *(float *)at = (float)value.re;
    break;
  case TESELA_F64:
    *(double *)at = value.re;
    break;
  case TESELA_C64:
    ((float *)at)[0] = (float)value.re;
    ((float *)at)[1] = (float)value.im;
    break;
  default:
    ((double *)at)[0] = value.re;
    ((double *)at)[1] = value.im;
  }
}

static inline tsl_number tsl_number_conjugate(tsl_number a, bool conjugates) {
  return conjugates ? (tsl_number){a.re, -a.im} : a;
}
static inline tsl_number tsl_number_sum(tsl_number a, tsl_number b) {
  return (tsl_number){a.re + b.re, a.im + b.im};
}
/* The imaginary zeros of real types must not meet an infinity. */
static inline tsl_number tsl_number_product(const tsl_vector_kernels *of, tsl_number a, tsl_number b) {
  return of->is_complex ? (tsl_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}
                        : (tsl_number){a.re * b.re, 0};
}
static inline bool tsl_number_is(tsl_number a, double re) {
  return a.re == re && a.im == 0;
}

/* Element i. */
static inline void *tsl_line_at(const tsl_vector_kernels *of, tsl_line x, int64_t i) {
  return (char *)tsl_writable(x.at) + i * x.step * of->size;
}
static inline tsl_number tsl_line_get(const tsl_vector_kernels *of, tsl_line x, int64_t i) {
  return tsl_number_at(of, tsl_line_at(of, x, i));
}
/* From element i on. */
static inline tsl_line tsl_line_from(const tsl_vector_kernels *of, tsl_line x, int64_t i) {
  return (tsl_line){tsl_line_at(of, x, i), x.step};
}

#endif
