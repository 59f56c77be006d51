/* Plain C for host/simd.h: vectors of 16 bytes, as in SSE2 and Advanced SIMD; 16 registers. */
#include "core/types.h"

#include <math.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include "host/simd_bytes16.h"

#define REGISTERS 16
enum { STEPS_f32 = 1, STEPS_f64 = 1 };
#define TSL_KEEP(value) (void)0

static inline void transpose_f32(const float *const *row, int64_t index, vector_f32 *out) {
  out[0] = (vector_f32){row[0][index], row[1][index], row[2][index], row[3][index]};
}
static inline void transpose_f64(const double *const *row, int64_t index, vector_f64 *out) {
  out[0] = (vector_f64){row[0][index], row[1][index]};
}
static inline vector_f32 times_i_f32(vector_f32 value) {
  return (vector_f32){-value[1], value[0], -value[3], value[2]};
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  return (vector_f64){-value[1], value[0]};
}

static inline float sum_lanes_f32(vector_f32 value) {
  return (value[0] + value[2]) + (value[1] + value[3]);
}
static inline double sum_lanes_f64(vector_f64 value) {
  return value[0] + value[1];
}
static inline void sum_lanes_of_4_f32(const vector_f32 *from, float *dst) {
  for (int i = 0; i < 4; i++)
    dst[i] = sum_lanes_f32(from[i]);
}
static inline void sum_lanes_of_4_f64(const vector_f64 *from, double *dst) {
  for (int i = 0; i < 4; i++)
    dst[i] = sum_lanes_f64(from[i]);
}

#define HAS_FUSED 0
static inline vector_f64 fma_rounded_once_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
  return (vector_f64){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
}

static inline float f32_of_f16(uint16_t bits) {
  return (float)tsl_f16_to_f64(bits);
}
static inline uint16_t f16_of_f32(float value) {
  return tsl_f16_from_f64((double)value);
}
static inline void store_f16(uint16_t *dst, vector_f32 value) {
  for (int i = 0; i < 4; i++)
    dst[i] = f16_of_f32(value[i]);
}

/* Returns sum + the products of pairs of 16-bit integers. PMADDWD is in SSE2, which every x86-64 has. */
static inline vector_i32 dot_i16(vector_i32 sum, vector_i32 a, vector_i32 b) {
#if defined(__SSE2__)
  return sum + (vector_i32)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  typedef int32_t integers __attribute__((vector_size(16)));
  const integers low = ((integers)(a << 16) >> 16) * ((integers)(b << 16) >> 16),
                 high = ((integers)a >> 16) * ((integers)b >> 16);
  return sum + (vector_i32)low + (vector_i32)high;
#endif
}
#define HAS_LOAD_FAR 0
#define HAS_STREAMS 0
#define HAS_DOT_BF16 0
#define HAS_DOT_U8 0
#define HAS_DOT_I8 0
#define HAS_UNITS 0

#define PACKED_STEPS 1
#define SMALL_f32 (8, 4, 4, 0, 0, 0)
#define SMALL_f64 (8, 4, 4, 0, 0, 0)
