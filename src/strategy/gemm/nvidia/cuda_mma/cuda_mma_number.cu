/* Element types of cuda_mma: sums and C. Define before: C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), SPLIT (1: C is
 * the workspace for sums, which are stored unscaled). */
#include "cuda_mma_shared.h"
#include "sm80.h"

#if C_FORM == 3
typedef int sum_t;
#else
typedef float sum_t;
#endif
#if SPLIT || C_FORM == 0 || C_FORM == 3
typedef sum_t c_number;
#else
typedef unsigned short c_number;
#endif
constexpr bool IS_NARROW = sizeof(c_number) == 2;

/* Converts an element of C to the type of sums. */
SM80_FUNCTION sum_t sum_of(c_number value) {
#if SPLIT || C_FORM == 0 || C_FORM == 3
  return value;
#elif C_FORM == 1
  return from_f16(value);
#else
  return __uint_as_float((unsigned)value << 16);
#endif
}

/* Rounds two f32 to a pair of C's 16-bit elements. */
SM80_FUNCTION unsigned c_pair(float first, float second) {
#if C_FORM == 1
  return f16_pair(first, second);
#else
  return bf16_pair(first, second);
#endif
}

/* Returns alpha sum + beta before. `before` is not used where beta is 0. Integers wrap. */
SM80_FUNCTION sum_t combined(sum_t sum, sum_t before, cuda_mma_scalar alpha, cuda_mma_scalar beta) {
#if SPLIT
  return sum;
#elif C_FORM == 3
  return (int)((unsigned)alpha.integer * (unsigned)sum + (unsigned)beta.integer * (unsigned)before);
#else
  const float product = alpha.real * sum;
  return beta.real == 0 ? product : __fmaf_rn(beta.real, before, product);
#endif
}
SM80_FUNCTION bool reads_c(cuda_mma_scalar beta) {
#if SPLIT
  return false;
#elif C_FORM == 3
  return beta.integer != 0;
#else
  return beta.real != 0;
#endif
}

SM80_FUNCTION void store_number(c_number *c, sum_t sum, cuda_mma_scalar alpha, cuda_mma_scalar beta) {
  const sum_t value = combined(sum, reads_c(beta) ? sum_of(*c) : 0, alpha, beta);
#if SPLIT || C_FORM == 0 || C_FORM == 3
  *c = value;
#else
  *c = (unsigned short)c_pair(value, value);
#endif
}

struct __align__(4 * sizeof(c_number)) c_quad {
  c_number number[4];
};
SM80_FUNCTION void store_quad(c_number *c, const sum_t (&sums)[4], cuda_mma_scalar alpha,
                              cuda_mma_scalar beta) {
  sum_t values[4];
  if (reads_c(beta)) {
    const c_quad before = *(const c_quad *)c;
#pragma unroll
    for (int e = 0; e < 4; e++)
      values[e] = combined(sums[e], sum_of(before.number[e]), alpha, beta);
  } else {
#pragma unroll
    for (int e = 0; e < 4; e++)
      values[e] = combined(sums[e], 0, alpha, beta);
  }
#if C_FORM == 0 || (SPLIT && C_FORM != 3)
  *(float4 *)c = make_float4(values[0], values[1], values[2], values[3]);
#elif C_FORM == 3
  *(int4 *)c = make_int4(values[0], values[1], values[2], values[3]);
#else
  *(uint2 *)c = make_uint2(c_pair(values[0], values[1]), c_pair(values[2], values[3]));
#endif
}
