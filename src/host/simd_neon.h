/* Advanced SIMD of AArch64 for host/simd.h: vectors of 16 bytes, 32 registers. SDOT, UDOT and BFDOT are
 * extensions. Only run in an emulator: parameters are not tuned. */
#include <arm_neon.h>

#include "host/simd_bytes16.h"

#define REGISTERS 32
#define TSL_KEEP(value) __asm__("" : "+w"(value))

enum { STEPS_f32 = 4, STEPS_f64 = 2 };
static inline void transpose_f32(const float *const *row, int64_t index, vector_f32 *out) {
  const float32x4_t a = vld1q_f32(row[0] + index), b = vld1q_f32(row[1] + index),
                    c = vld1q_f32(row[2] + index), d = vld1q_f32(row[3] + index);
  const float64x2_t ab_even = vreinterpretq_f64_f32(vtrn1q_f32(a, b)),
                    ab_odd = vreinterpretq_f64_f32(vtrn2q_f32(a, b)),
                    cd_even = vreinterpretq_f64_f32(vtrn1q_f32(c, d)),
                    cd_odd = vreinterpretq_f64_f32(vtrn2q_f32(c, d));
  out[0] = (vector_f32)vzip1q_f64(ab_even, cd_even);
  out[1] = (vector_f32)vzip1q_f64(ab_odd, cd_odd);
  out[2] = (vector_f32)vzip2q_f64(ab_even, cd_even);
  out[3] = (vector_f32)vzip2q_f64(ab_odd, cd_odd);
}
static inline void transpose_f64(const double *const *row, int64_t index, vector_f64 *out) {
  const float64x2_t a = vld1q_f64(row[0] + index), b = vld1q_f64(row[1] + index);
  out[0] = (vector_f64)vzip1q_f64(a, b);
  out[1] = (vector_f64)vzip2q_f64(a, b);
}

#define HAS_LOAD_FAR 0
#define HAS_STREAMS 0
#define HAS_FUSED 1
static inline vector_f64 fma_rounded_once_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
  return (vector_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}

static inline vector_f32 times_i_f32(vector_f32 value) {
  const uint32x4_t signs = {0x80000000, 0, 0x80000000, 0};
  return (vector_f32)veorq_u32(vreinterpretq_u32_f32(vrev64q_f32((float32x4_t)value)), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const uint64x2_t signs = {UINT64_C(1) << 63, 0};
  const float64x2_t two = (float64x2_t)value;
  return (vector_f64)veorq_u64(vreinterpretq_u64_f64(vextq_f64(two, two, 1)), signs);
}

static inline float sum_lanes_f32(vector_f32 value) {
  const float32x4_t four = (float32x4_t)value;
  return vpadds_f32(vadd_f32(vget_low_f32(four), vget_high_f32(four)));
}
static inline double sum_lanes_f64(vector_f64 value) {
  return vpaddd_f64((float64x2_t)value);
}
static inline void sum_lanes_of_4_f32(const vector_f32 *from, float *dst) {
  const float32x4_t ab = vpaddq_f32((float32x4_t)from[0], (float32x4_t)from[1]),
                    cd = vpaddq_f32((float32x4_t)from[2], (float32x4_t)from[3]);
  vst1q_f32(dst, vpaddq_f32(ab, cd));
}
static inline void sum_lanes_of_4_f64(const vector_f64 *from, double *dst) {
  vst1q_f64(dst, vpaddq_f64((float64x2_t)from[0], (float64x2_t)from[1]));
  vst1q_f64(dst + 2, vpaddq_f64((float64x2_t)from[2], (float64x2_t)from[3]));
}

static inline float f32_of_f16(uint16_t bits) {
  return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
}
static inline uint16_t f16_of_f32(float value) {
  return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(value))), 0);
}
static inline void store_f16(uint16_t *dst, vector_f32 value) {
  vst1_u16(dst, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)value)));
}

static inline vector_i32 dot_i16(vector_i32 sum, vector_i32 a, vector_i32 b) {
  const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
  return sum + (vector_i32)vpaddq_s32(low, high);
}

/* Returns sum + the products of pairs of bf16, each the upper half of an f32. */
static inline vector_f32 dot_bf16_with_subnormals(vector_f32 sum, vector_f32 a, vector_f32 b) {
  const uint32x4_t x = (uint32x4_t)a, y = (uint32x4_t)b, high = vdupq_n_u32(0xffff0000);
  const float32x4_t first = vfmaq_f32((float32x4_t)sum, vreinterpretq_f32_u32(vshlq_n_u32(x, 16)),
                                      vreinterpretq_f32_u32(vshlq_n_u32(y, 16)));
  return (vector_f32)vfmaq_f32(first, vreinterpretq_f32_u32(vandq_u32(x, high)),
                               vreinterpretq_f32_u32(vandq_u32(y, high)));
}
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define HAS_DOT_BF16 1
static inline vector_f32 dot_bf16(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return (vector_f32)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)a, (bfloat16x8_t)b);
}
#else
#define HAS_DOT_BF16 0
#endif
#define HAS_DOT_U8 0
#if defined(__ARM_FEATURE_DOTPROD)
#define HAS_DOT_I8 1
static inline vector_i32 dot_i8(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return (vector_i32)vdotq_s32((int32x4_t)sum, (int8x16_t)a, (int8x16_t)b);
}
static inline vector_i32 dot_u8_u8(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return (vector_i32)vdotq_u32((uint32x4_t)sum, (uint8x16_t)a, (uint8x16_t)b);
}
#else
#define HAS_DOT_I8 0
#endif
#define HAS_UNITS 0

#define PACKED_STEPS 1
#define SMALL_f32 (12, 8, 6, 4, 0, 0)
#define SMALL_f64 (12, 8, 6, 0, 0, 0)
