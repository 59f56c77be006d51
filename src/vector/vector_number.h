#ifndef TSL_VECTOR_VECTOR_NUMBER_H
#define TSL_VECTOR_VECTOR_NUMBER_H

#include "core/memory.h"
#include "vector/vector.h"

static inline tsl_vector_number tsl_number_of_type(tesela_type type, const void *src) {
  switch (type) {
  case TESELA_F32:
    return (tsl_vector_number){(double)*(const float *)src, 0};
  case TESELA_F64:
    return (tsl_vector_number){*(const double *)src, 0};
  case TESELA_C64:
    return (tsl_vector_number){(double)((const float *)src)[0], (double)((const float *)src)[1]};
  default:
    return (tsl_vector_number){((const double *)src)[0], ((const double *)src)[1]};
  }
}
static inline tsl_vector_number tsl_number_load(const tsl_vector_kernels *kernels, const void *src) {
  return tsl_number_of_type(kernels->type, src);
}
static inline void tsl_number_store_as(tesela_type type, void *data, tsl_vector_number value) {
  switch (type) {
  case TESELA_F32:
    *(float *)data = (float)value.re;
    break;
  case TESELA_F64:
    *(double *)data = value.re;
    break;
  case TESELA_C64:
    ((float *)data)[0] = (float)value.re;
    ((float *)data)[1] = (float)value.im;
    break;
  default:
    ((double *)data)[0] = value.re;
    ((double *)data)[1] = value.im;
  }
}
static inline void tsl_number_store(const tsl_vector_kernels *kernels, void *data, tsl_vector_number value) {
  tsl_number_store_as(kernels->type, data, value);
}

static inline tsl_vector_number tsl_number_conjugate(tsl_vector_number a, bool conjugates) {
  return conjugates ? (tsl_vector_number){a.re, -a.im} : a;
}
static inline tsl_vector_number tsl_number_sum(tsl_vector_number a, tsl_vector_number b) {
  return (tsl_vector_number){a.re + b.re, a.im + b.im};
}
/* Multiplies two scalars. For real types the imaginary zeros are not used, because 0 * inf is NaN. */
static inline tsl_vector_number tsl_number_product(const tsl_vector_kernels *kernels, tsl_vector_number a,
                                                   tsl_vector_number b) {
  return kernels->is_complex ? (tsl_vector_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}
                             : (tsl_vector_number){a.re * b.re, 0};
}
static inline bool tsl_number_equals_real(tsl_vector_number a, double re) {
  return a.re == re && a.im == 0;
}

static inline void *tsl_line_address(const tsl_vector_kernels *kernels, tsl_line x, int64_t i) {
  return (char *)tsl_writable(x.at) + i * x.step * kernels->size;
}
static inline tsl_vector_number tsl_line_load(const tsl_vector_kernels *kernels, tsl_line x, int64_t i) {
  return tsl_number_load(kernels, tsl_line_address(kernels, x, i));
}
/* Returns the part of x from element i on. */
static inline tsl_line tsl_line_from(const tsl_vector_kernels *kernels, tsl_line x, int64_t i) {
  return (tsl_line){tsl_line_address(kernels, x, i), x.step};
}

#endif
