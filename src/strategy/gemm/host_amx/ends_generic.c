/* Copies and last steps for any processor. */
#include "base/types.h"

static inline float f16_to_f32(uint16_t bits) {
  return (float)tsl_f16_to_f64(bits);
}

static inline uint16_t f32_to_f16(float value) {
  return tsl_f16_from_f64((double)value);
}

#define ENDS tsl_amx_ends_generic
#include "strategy/gemm/host_amx/ends.h"
