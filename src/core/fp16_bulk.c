/* Gives the bits of fp8_fp16.c. Selections instead of branches let compilers vectorise the loops. */
#include "core/fp16_bulk.h"

#include <string.h>

typedef float any_f32 __attribute__((aligned(1), may_alias));
typedef uint16_t any_u16 __attribute__((aligned(1), may_alias));

static const uint32_t sign = 0x80000000, infinity = 0x7f800000, quiet = 0x400000; /* bits of f32 */

static inline uint32_t bits_of_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Converts exactly. Exponent bias: 15 in f16, 127 in f32. Subnormal f16 numbers are multiples of 2^-24. */
static inline float widen_f16(uint16_t half) {
  const uint32_t size = half & 0x7fff, moved = size << 13, special = moved | infinity;
  const uint32_t normal = moved + (112u << 23), small = bits_of_f32((float)(int32_t)size * 0x1p-24f);
  const uint32_t wide = size > 0x7c00    ? special | quiet
                        : size == 0x7c00 ? special
                        : size < 0x400   ? small
                                         : normal;
  return f32_of_bits(wide | (uint32_t)(half & 0x8000) << 16);
}

/* Rounds to nearest even: normal numbers by a carry out of the 13 dropped bits, others by adding 1/2. */
static inline uint16_t narrow_f16(float x) {
  const uint32_t bits = bits_of_f32(x), size = bits & ~sign;
  const uint32_t carried = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13,
                 normal = carried < 0x7c00 ? carried : 0x7c00,
                 small = bits_of_f32(f32_of_bits(size) + 0.5f) - bits_of_f32(0.5f),
                 none = 0x7e00 | (size >> 13 & 0x3ff);
  const uint32_t half = size > infinity ? none : size < 113u << 23 ? small : normal;
  return (uint16_t)(half | (bits & sign) >> 16);
}

static inline float widen_bf16(uint16_t half) {
  const uint32_t wide = (uint32_t)half << 16;
  return f32_of_bits((wide & ~sign) > infinity ? wide | quiet : wide);
}

static inline uint16_t narrow_bf16(float x) {
  const uint32_t bits = bits_of_f32(x);
  return (uint16_t)((bits & ~sign) > infinity ? (bits | quiet) >> 16
                                              : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Converts `count` numbers; inlined for steps of 1. The index is multiplied first: one may have any step. */
static inline void widen_array(bool is_f16, const any_u16 *restrict source, int64_t source_step,
                               any_f32 *restrict target, int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++)
    target[(int64_t)i * target_step] = (is_f16 ? widen_f16 : widen_bf16)(source[(int64_t)i * source_step]);
}

static inline void narrow_array(bool is_f16, const any_f32 *restrict source, int64_t source_step,
                                any_u16 *restrict target, int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++)
    target[(int64_t)i * target_step] = (is_f16 ? narrow_f16 : narrow_bf16)(source[(int64_t)i * source_step]);
}

void tsl_halves_widen(bool is_f16, const void *source, int64_t source_step, void *target, int64_t target_step,
                      size_t count) {
  const bool dense = source_step == 1 && target_step == 1;
  if (dense && is_f16)
    widen_array(true, source, 1, target, 1, count);
  else if (dense)
    widen_array(false, source, 1, target, 1, count);
  else
    widen_array(is_f16, source, source_step, target, target_step, count);
}

void tsl_halves_narrow(bool is_f16, const void *source, int64_t source_step, void *target,
                       int64_t target_step, size_t count) {
  const bool dense = source_step == 1 && target_step == 1;
  if (dense && is_f16)
    narrow_array(true, source, 1, target, 1, count);
  else if (dense)
    narrow_array(false, source, 1, target, 1, count);
  else
    narrow_array(is_f16, source, source_step, target, target_step, count);
}
