/* host/simd.h's contract in plain C: vectors of 16 bytes, which SSE2 and Advanced SIMD have, sixteen registers. */
#include "base/types.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define VECTOR_BYTES 16
#define REGISTERS 16
enum { STEPS_f32 = 1, STEPS_f64 = 1 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef double vector_f64 __attribute__((vector_size(16), may_alias));

/* A mask is the number of its lanes, which are moved one by one. */
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
static inline void store_masked_f32(float *to, vector_f32 value, mask_f32 mask) {
  for (int64_t i = 0; i < mask; i++)
    to[i] = value[i];
}
static inline vector_f64 load_masked_f64(const double *from, mask_f64 mask) {
  vector_f64 value = {0};
  for (int64_t i = 0; i < mask; i++)
    value[i] = from[i];
  return value;
}
static inline void store_masked_f64(double *to, vector_f64 value, mask_f64 mask) {
  for (int64_t i = 0; i < mask; i++)
    to[i] = value[i];
}

#define HAS_HALF_f32 0
#define HAS_HALF_f64 0
#define HAS_QUARTER_f32 0

static inline vector_f32 fma_f32(vector_f32 sum, float number, vector_f32 value) {
  return sum + number * value;
}
static inline vector_f64 fma_f64(vector_f64 sum, double number, vector_f64 value) {
  return sum + number * value;
}

static inline void transpose_f32(const float *const *row, int64_t at, vector_f32 *out) {
  out[0] = (vector_f32){row[0][at], row[1][at], row[2][at], row[3][at]};
}
static inline void transpose_f64(const double *const *row, int64_t at, vector_f64 *out) {
  out[0] = (vector_f64){row[0][at], row[1][at]};
}
static inline void transpose_c128(const element_c128 *const *row, int64_t at, vector_f64 *out) {
  out[0] = load_masked_f64(row[0][at].component, 2);
}

static inline vector_f32 times_i_f32(vector_f32 value) {
  return (vector_f32){-value[1], value[0], -value[3], value[2]};
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  return (vector_f64){-value[1], value[0]};
}

static inline float total_f32(vector_f32 value) {
  return (value[0] + value[2]) + (value[1] + value[3]);
}
static inline double total_f64(vector_f64 value) {
  return value[0] + value[1];
}
static inline void totals_f32(const vector_f32 *from, float *to) {
  for (int i = 0; i < 4; i++)
    to[i] = total_f32(from[i]);
}
static inline void totals_f64(const vector_f64 *from, double *to) {
  for (int i = 0; i < 4; i++)
    to[i] = total_f64(from[i]);
}

/* There is no such store in C. */
static inline void store_nontemporal_f32(float *to, vector_f32 value) {
  memcpy(to, &value, sizeof value);
}
static inline void store_nontemporal_f64(double *to, vector_f64 value) {
  memcpy(to, &value, sizeof value);
}
static inline void fence(void) {}
#define TSL_KEEP(value) (void)0

static inline float f32_of_f16(uint16_t bits) {
  return (float)tsl_f16_to_f64(bits);
}
static inline uint16_t f16_of_f32(float value) {
  return tsl_f16_from_f64((double)value);
}

/* Words of 32 bits. */
static inline vector_f32 load_word_f32(const uint32_t *at) {
  vector_f32 value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline void store_word_f32(uint32_t *at, vector_f32 value) {
  memcpy(at, &value, sizeof value);
}
static inline vector_f32 set_word_f32(uint32_t word) {
  float value;
  memcpy(&value, &word, sizeof value);
  return (vector_f32){value, value, value, value};
}
static inline vector_f32 add_f32(vector_f32 a, vector_f32 b) {
  return a + b;
}
static inline vector_f32 dot_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return sum + a * b;
}

/* As unsigned, so that sums wrap. */
typedef uint32_t vector_i32 __attribute__((vector_size(16), may_alias));
static inline vector_i32 load_word_i32(const uint32_t *at) {
  vector_i32 value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline void store_word_i32(uint32_t *at, vector_i32 value) {
  memcpy(at, &value, sizeof value);
}
static inline vector_i32 set_word_i32(uint32_t word) {
  return (vector_i32){word, word, word, word};
}
static inline vector_i32 add_i32(vector_i32 a, vector_i32 b) {
  return a + b;
}
/* PMADDWD where SSE2 is, which is every x86-64. */
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
#define HAS_DOT_BF16 0
#define HAS_DOT_U8 0
#define HAS_UNITS 0

/* --- tiles --- */

#define PACKED_STEPS 1
#define SMALL_f32 (8, 4, 4, 0, 0, 0)
#define SMALL_f64 (8, 4, 4, 0, 0, 0)
