/* Exact conversion of narrow types to f32, in loops that compilers vectorize. */
#ifndef TSL_STRATEGY_LOW_PRECISION_H
#define TSL_STRATEGY_LOW_PRECISION_H

#include "core/types.h"

#include <string.h>

static inline float tsl_narrow_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float tsl_narrow_bf16(uint16_t bits) {
  return tsl_narrow_float((uint32_t)bits << 16);
}

/* Moves mantissa and exponent to f32's places and multiplies by 2^112; subnormals are included. */
static inline float tsl_narrow_f16(uint16_t bits) {
  const uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
  const float magnitude = tsl_narrow_float((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
  uint32_t wide;
  memcpy(&wide, &magnitude, sizeof wide);
  return tsl_narrow_float(wide | special | (uint32_t)(bits & 0x8000) << 16);
}

/* Converts `count` numbers of a narrow type, `stride` elements apart, to f32. */
static inline void tsl_narrow_gather(tesela_type type, const void *from, int64_t stride, int count,
                                     float *dst) {
  const uint16_t *const halves = from;
  const uint8_t *const bytes = from;
  if (type == TESELA_BF16)
    for (int i = 0; i < count; i++)
      dst[i] = tsl_narrow_bf16(halves[i * stride]);
  else if (type == TESELA_F16)
    for (int i = 0; i < count; i++)
      dst[i] = tsl_narrow_f16(halves[i * stride]);
  else if (type == TESELA_U8)
    for (int i = 0; i < count; i++)
      dst[i] = bytes[i * stride];
  else
    for (int i = 0; i < count; i++)
      dst[i] = (int8_t)bytes[i * stride];
}

#endif
