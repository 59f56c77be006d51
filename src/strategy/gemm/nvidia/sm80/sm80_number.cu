/* Sums and elements of C, by C_FORM: 0 f32, 1 f16, 2 bf16, 3 i32, 4 f64, 5 c128, 6 c64. store_number() stores
 * alpha sum + beta C. With SPLIT, C is the workspace for sums of four bytes, which are stored unscaled. */
#include "sm80.h"
#include "sm80_shared.h"

template <bool IS_FIRST, class A, class B>
struct either {
  typedef A type;
};
template <class A, class B>
struct either<false, A, B> {
  typedef B type;
};
/* Real numbers of a sum, the sum, and an element of C. */
constexpr bool IS_COMPLEX = C_FORM == 5 || C_FORM == 6;
typedef either<C_FORM == 3, int, either<C_FORM == 4 || C_FORM == 5, double, float>::type>::type real_t;
typedef either<C_FORM == 6, float2, double2>::type real_pair;
typedef either<IS_COMPLEX, real_pair, real_t>::type sum_t;
SM80_FUNCTION real_pair make_pair(real_t first, real_t second) {
  real_pair pair;
  pair.x = first, pair.y = second;
  return pair;
}
typedef either<!SPLIT && (C_FORM == 1 || C_FORM == 2), unsigned short, sum_t>::type c_number;

/* Converts an element of C to the type of its sums. */
template <class T>
SM80_FUNCTION sum_t sum_of(T value) {
  if constexpr (sizeof(T) == sizeof(sum_t))
    return value;
  else if constexpr (C_FORM == 1)
    return from_f16(value);
  else
    return __uint_as_float((unsigned)value << 16);
}

/* Rounds two f32 to a pair of C's 16-bit elements. */
SM80_FUNCTION unsigned c_pair(float first, float second) {
  if constexpr (C_FORM == 1)
    return f16_pair(first, second);
  else
    return bf16_pair(first, second);
}

/* Returns alpha sum + beta before. `before` is not used where beta is 0. Integers wrap. */
template <class T, class S>
SM80_FUNCTION T combined(T sum, T before, S alpha, S beta) {
  if constexpr (SPLIT) {
    return sum;
  } else if constexpr (C_FORM == 3) {
    return (int)((unsigned)alpha.integer * (unsigned)sum + (unsigned)beta.integer * (unsigned)before);
  } else {
    const float product = alpha.real * sum;
    return beta.real == 0 ? product : __fmaf_rn(beta.real, before, product);
  }
}
template <class S>
SM80_FUNCTION bool reads_c(S beta) {
  if constexpr (SPLIT)
    return false;
  else if constexpr (C_FORM == 3)
    return beta.integer != 0;
  else
    return beta.real != 0;
}

template <class T, class S>
SM80_FUNCTION void store_number(T *c, sum_t sum, const S &scalars) {
  const auto alpha = scalars.narrow.alpha, beta = scalars.narrow.beta;
  const sum_t value = combined<sum_t>(sum, reads_c(beta) ? sum_of(*c) : 0, alpha, beta);
  if constexpr (sizeof(T) == 4)
    *c = value;
  else
    *c = (unsigned short)c_pair(value, value);
}

template <class T>
struct __align__(4 * sizeof(T)) quad_of {
  T number[4];
};
SM80_FUNCTION void store_vector(float *c, const float (&values)[4]) {
  *(float4 *)c = make_float4(values[0], values[1], values[2], values[3]);
}
SM80_FUNCTION void store_vector(int *c, const int (&values)[4]) {
  *(int4 *)c = make_int4(values[0], values[1], values[2], values[3]);
}
SM80_FUNCTION void store_vector(unsigned short *c, const float (&values)[4]) {
  *(uint2 *)c = make_uint2(c_pair(values[0], values[1]), c_pair(values[2], values[3]));
}
/* Stores four adjacent elements, which are aligned together. */
template <class T, class S>
SM80_FUNCTION void store_quad(T *c, const sum_t (&sums)[4], const S &scalars) {
  const auto alpha = scalars.narrow.alpha, beta = scalars.narrow.beta;
  sum_t values[4];
  if (reads_c(beta)) {
    const quad_of<T> before = *(const quad_of<T> *)c;
#pragma unroll
    for (int e = 0; e < 4; e++)
      values[e] = combined<sum_t>(sums[e], sum_of(before.number[e]), alpha, beta);
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++)
      values[e] = combined<sum_t>(sums[e], 0, alpha, beta);
  }
  store_vector(c, values);
}

SM80_FUNCTION void store_scaled(double *c, double product, double beta) {
  *c = beta == 0 ? product : fma(beta, *c, product);
}
SM80_FUNCTION void store_number(double *c, double sum, const sm80_scalars &by) {
  store_scaled(c, by.f64.alpha[0] * sum, by.f64.beta[0]);
}

/* Multiplies a complex number by `by`, a real factor as a real number: infinity does not become NaN. */
SM80_FUNCTION real_pair scaled(real_pair value, const double (&by)[2]) {
  const real_t real = (real_t)by[0], imaginary = (real_t)by[1];
  if (imaginary == 0)
    return make_pair(real * value.x, real * value.y);
  return make_pair(real * value.x - imaginary * value.y, real * value.y + imaginary * value.x);
}
/* is_wide: C is aligned for whole elements. */
SM80_FUNCTION void store_number(real_pair *c, real_pair sum, const sm80_scalars &by, bool is_wide = false) {
  real_t *to = (real_t *)c;
  real_pair value = scaled(sum, by.f64.alpha);
  if (by.f64.beta[0] != 0 || by.f64.beta[1] != 0) {
    const real_pair before = scaled(make_pair(to[0], to[1]), by.f64.beta);
    value.x += before.x, value.y += before.y;
  }
  if (is_wide)
    *c = value;
  else
    to[0] = value.x, to[1] = value.y;
}
