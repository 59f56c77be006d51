/* Copies and last steps for avx512, with the conversions of f16 that every such processor has (F16C). */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

static inline float f16_to_f32(uint16_t bits) {
  return _cvtsh_ss(bits);
}

static inline uint16_t f32_to_f16(float value) {
  return (uint16_t)_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}

#define ENDS tsl_amx_ends_avx512
#include "strategy/gemm/host_amx/ends.h"
#else
typedef int tsl_no_ends_here;
#endif
