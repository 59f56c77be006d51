/* Plain C parts of host/simd.h for sets with vectors of 16 bytes. */
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#define VECTOR_BYTES 16
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef double vector_f64 __attribute__((vector_size(16), may_alias));
typedef uint32_t vector_i32 __attribute__((vector_size(16), may_alias));

static inline vector_f32 swap_pairs_f32(vector_f32 value) {
  return (vector_f32){value[1], value[0], value[3], value[2]};
}
static inline vector_f64 swap_pairs_f64(vector_f64 value) {
  return (vector_f64){value[1], value[0]};
}
static inline vector_f32 max_lanes_f32(vector_f32 a, vector_f32 b) {
  const vector_i32 is_larger = (vector_i32)(a > b);
  return (vector_f32)(((vector_i32)a & is_larger) | ((vector_i32)b & ~is_larger));
}
static inline vector_f64 max_lanes_f64(vector_f64 a, vector_f64 b) {
  const vector_i32 is_larger = (vector_i32)(a > b);
  return (vector_f64)(((vector_i32)a & is_larger) | ((vector_i32)b & ~is_larger));
}
static inline uint32_t equal_lane_bits_f32(vector_f32 a, vector_f32 b) {
  return (uint32_t)(a[0] == b[0]) | (uint32_t)(a[1] == b[1]) << 1 | (uint32_t)(a[2] == b[2]) << 2 |
         (uint32_t)(a[3] == b[3]) << 3;
}
static inline uint32_t equal_lane_bits_f64(vector_f64 a, vector_f64 b) {
  return (uint32_t)(a[0] == b[0]) | (uint32_t)(a[1] == b[1]) << 1;
}

/* A mask is the number of its lanes. */
typedef int64_t mask_f32;
typedef int64_t mask_f64;
static inline mask_f32 mask_of_f32(int64_t count) {
  return count;
}
static inline mask_f64 mask_of_f64(int64_t count) {
  return count;
}
static inline vector_f32 load_masked_f32(const float *from, mask_f32 mask) {
  vector_f32 value = {0};
  for (int64_t i = 0; i < mask; i++)
    value[i] = from[i];
  return value;
}
static inline void store_masked_f32(float *dst, vector_f32 value, mask_f32 mask) {
  for (int64_t i = 0; i < mask; i++)
    dst[i] = value[i];
}
static inline vector_f64 load_masked_f64(const double *from, mask_f64 mask) {
  vector_f64 value = {0};
  for (int64_t i = 0; i < mask; i++)
    value[i] = from[i];
  return value;
}
static inline void store_masked_f64(double *dst, vector_f64 value, mask_f64 mask) {
  for (int64_t i = 0; i < mask; i++)
    dst[i] = value[i];
}
#define HAS_RANGES 0

#define HAS_HALF_f32 0
#define HAS_HALF_f64 0
#define HAS_QUARTER_f32 0

#if defined(__aarch64__)
static inline vector_f32 fma_vectors_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return (vector_f32)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
}
static inline vector_f64 fma_vectors_f64(vector_f64 sum, vector_f64 a, vector_f64 b) {
  return (vector_f64)vfmaq_f64((float64x2_t)sum, (float64x2_t)a, (float64x2_t)b);
}
#else
static inline vector_f32 fma_vectors_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return sum + a * b;
}
static inline vector_f64 fma_vectors_f64(vector_f64 sum, vector_f64 a, vector_f64 b) {
  return sum + a * b;
}
#endif
static inline vector_f32 fma_f32(vector_f32 sum, float number, vector_f32 value) {
  return fma_vectors_f32(sum, number - (vector_f32){0}, value);
}
static inline vector_f64 fma_f64(vector_f64 sum, double number, vector_f64 value) {
  return fma_vectors_f64(sum, number - (vector_f64){0}, value);
}

static inline void transpose_c128(const element_c128 *const *row, int64_t index, vector_f64 *out) {
  out[0] = load_masked_f64(row[0][index].component, 2);
}

static inline vector_f64 widen_f64(const float *from) {
  return (vector_f64){from[0], from[1]};
}

/* Compilers recognize the loop as an interleave. */
#if defined(__SSE2__)
typedef __m128i vector_bytes;
static inline void store_nontemporal_f32(float *dst, vector_f32 value) {
  _mm_stream_ps(dst, value);
}
static inline void store_nontemporal_f64(double *dst, vector_f64 value) {
  _mm_stream_pd(dst, value);
}
static inline void store_nontemporal_bytes(unsigned char *dst, vector_bytes value) {
  _mm_stream_si128((__m128i *)(void *)dst, value);
}
static inline void fence(void) {
  _mm_sfence();
}
#define ZIP_LOW_1 _mm_unpacklo_epi8
#define ZIP_HIGH_1 _mm_unpackhi_epi8
#define ZIP_LOW_2 _mm_unpacklo_epi16
#define ZIP_HIGH_2 _mm_unpackhi_epi16
#define ZIP_LOW_4 _mm_unpacklo_epi32
#define ZIP_HIGH_4 _mm_unpackhi_epi32
#define ZIP_LOW_8 _mm_unpacklo_epi64
#define ZIP_HIGH_8 _mm_unpackhi_epi64
#else
typedef unsigned char vector_bytes __attribute__((vector_size(16), may_alias));
static inline void store_nontemporal_f32(float *dst, vector_f32 value) {
  memcpy(dst, &value, sizeof value);
}
static inline void store_nontemporal_f64(double *dst, vector_f64 value) {
  memcpy(dst, &value, sizeof value);
}
static inline void store_nontemporal_bytes(unsigned char *dst, vector_bytes value) {
  memcpy(dst, &value, sizeof value);
}
static inline void fence(void) {}
/* Interleaves elements of `size` bytes of x and y, from byte `half` (0 or 8) on. */
static inline vector_bytes interleave_bytes(vector_bytes x, vector_bytes y, int size, int half) {
  vector_bytes out;
  for (int i = 0; i < 16; i++) {
    const int at = half + i / (2 * size) * size + i % size;
    out[i] = i / size % 2 ? y[at] : x[at];
  }
  return out;
}
#define ZIP_LOW_1(x, y) interleave_bytes(x, y, 1, 0)
#define ZIP_HIGH_1(x, y) interleave_bytes(x, y, 1, 8)
#define ZIP_LOW_2(x, y) interleave_bytes(x, y, 2, 0)
#define ZIP_HIGH_2(x, y) interleave_bytes(x, y, 2, 8)
#define ZIP_LOW_4(x, y) interleave_bytes(x, y, 4, 0)
#define ZIP_HIGH_4(x, y) interleave_bytes(x, y, 4, 8)
#define ZIP_LOW_8(x, y) interleave_bytes(x, y, 8, 0)
#define ZIP_HIGH_8(x, y) interleave_bytes(x, y, 8, 8)
#endif
#define HAS_MASKED_BYTES 0
static inline void transpose_quarters(const vector_bytes in[1], vector_bytes out[1]) {
  out[0] = in[0];
}

static inline vector_i32 set_word_i32(uint32_t word) {
  return (vector_i32){word, word, word, word};
}
