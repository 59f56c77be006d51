/* What sets with vectors of 16 bytes share of host/simd.h's contract, in plain C: a part of their headers. */
#include <string.h>

#define VECTOR_BYTES 16
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

static inline void transpose_c128(const element_c128 *const *row, int64_t at, vector_f64 *out) {
  out[0] = load_masked_f64(row[0][at].component, 2);
}

/* There is no such store in C. */
static inline void store_nontemporal_f32(float *to, vector_f32 value) {
  memcpy(to, &value, sizeof value);
}
static inline void store_nontemporal_f64(double *to, vector_f64 value) {
  memcpy(to, &value, sizeof value);
}
static inline void fence(void) {}
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
