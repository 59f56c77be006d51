/* What the kernels' text asks of an instruction set, for AVX-512: parts of vectors, and turning rows into columns. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 4, LANES_f32 = 16, TURN_f32 = 4 };
enum { LANES_LOG2_f64 = 3, LANES_f64 = 8, TURN_f64 = 2 };
enum { LANES_LOG2_couple = 3, LANES_couple = 8, TURN_couple = 2 };
enum { LANES_LOG2_pair = 2, LANES_pair = 4, TURN_pair = 1 };
typedef float vector_f32 __attribute__((vector_size(64), may_alias));
typedef double vector_f64 __attribute__((vector_size(64), may_alias));
/* Two numbers of f32: an element of c64. It is aligned as its numbers are. */
typedef struct couple {
  float part[2];
} couple;
typedef vector_f32 vector_couple;
/* Two numbers of f64: an element of c128. */
typedef struct pair {
  double part[2];
} pair;
typedef vector_f64 vector_pair;

static inline vector_f32 load_part_f32(const float *from, int64_t count) {
  return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
}
static inline void store_part_f32(float *to, vector_f32 value, int64_t count) {
  _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), value);
}
static inline vector_f64 load_part_f64(const double *from, int64_t count) {
  return _mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), from);
}
static inline void store_part_f64(double *to, vector_f64 value, int64_t count) {
  _mm512_mask_storeu_pd(to, (__mmask8)((1u << count) - 1), value);
}

/* Four numbers of rows 0, 4, 8, 12 from `row` on, a quarter of the vector each. */
static inline __m512 quarters_f32(const float *const *row, int64_t at) {
  const __m512 first = _mm512_castps128_ps512(_mm_loadu_ps(row[0] + at));
  const __m512 second = _mm512_mask_broadcast_f32x4(first, 0x00f0, _mm_loadu_ps(row[4] + at));
  const __m512 third = _mm512_mask_broadcast_f32x4(second, 0x0f00, _mm_loadu_ps(row[8] + at));
  return _mm512_mask_broadcast_f32x4(third, 0xf000, _mm_loadu_ps(row[12] + at));
}

/* out[s] = number `at` + s of sixteen rows: transposes of four by four in each quarter. */
static inline void turn_f32(const float *const *row, int64_t at, vector_f32 *out) {
  const __m512 a = quarters_f32(row, at), b = quarters_f32(row + 1, at), c = quarters_f32(row + 2, at),
               d = quarters_f32(row + 3, at);
  const __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)),
                cd_low = _mm512_castps_pd(_mm512_unpacklo_ps(c, d)),
                ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)),
                cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
  out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, cd_low));
  out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, cd_low));
  out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
  out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
}

/* Two numbers of rows 0, 2, 4, 6 from `row` on, a quarter of the vector each. */
static inline __m512d quarters_f64(const double *const *row, int64_t at) {
  const __m512d first = _mm512_castpd128_pd512(_mm_loadu_pd(row[0] + at));
  const __m512d second = _mm512_mask_broadcast_f64x2(first, 0x0c, _mm_loadu_pd(row[2] + at));
  const __m512d third = _mm512_mask_broadcast_f64x2(second, 0x30, _mm_loadu_pd(row[4] + at));
  return _mm512_mask_broadcast_f64x2(third, 0xc0, _mm_loadu_pd(row[6] + at));
}

/* out[s] = number `at` + s of eight rows: transposes of two by two in each quarter. */
static inline void turn_f64(const double *const *row, int64_t at, vector_f64 *out) {
  const __m512d even = quarters_f64(row, at), odd = quarters_f64(row + 1, at);
  out[0] = _mm512_unpacklo_pd(even, odd);
  out[1] = _mm512_unpackhi_pd(even, odd);
}

static inline vector_couple load_part_couple(const couple *from, int64_t count) {
  return load_part_f32(from->part, 2 * count);
}
static inline void store_part_couple(couple *to, vector_couple value, int64_t count) {
  store_part_f32(to->part, value, 2 * count);
}
/* As numbers of f64: they are moved and not computed with. */
static inline void turn_couple(const couple *const *row, int64_t at, vector_couple *out) {
  turn_f64((const double *const *)(const void *)row, at, (vector_f64 *)out);
}
static inline vector_pair load_part_pair(const pair *from, int64_t count) {
  return load_part_f64(from->part, 2 * count);
}
static inline void store_part_pair(pair *to, vector_pair value, int64_t count) {
  store_part_f64(to->part, value, 2 * count);
}

/* out[0] = element `at` of four rows. */
static inline void turn_pair(const pair *const *row, int64_t at, vector_pair *out) {
  const __m512d first = _mm512_castpd128_pd512(_mm_loadu_pd(row[0][at].part));
  const __m512d second = _mm512_mask_broadcast_f64x2(first, 0x0c, _mm_loadu_pd(row[1][at].part));
  const __m512d third = _mm512_mask_broadcast_f64x2(second, 0x30, _mm_loadu_pd(row[2][at].part));
  out[0] = _mm512_mask_broadcast_f64x2(third, 0xc0, _mm_loadu_pd(row[3][at].part));
}

/* Pairs (real, imaginary) times i: (-imaginary, real). */
static inline vector_f32 times_i_f32(vector_f32 value) {
  const __m512 signs = _mm512_castsi512_ps(_mm512_set1_epi64(0x80000000));
  return _mm512_xor_ps(_mm512_permute_ps(value, 0xb1), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const __m512d signs = _mm512_setr_pd(-0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0);
  return _mm512_xor_pd(_mm512_permute_pd(value, 0x55), signs);
}

/* sum + number * value. */
static inline vector_f32 add_product_f32(vector_f32 sum, float number, vector_f32 value) {
  return sum + number * value;
}
static inline vector_f64 add_product_f64(vector_f64 sum, double number, vector_f64 value) {
  return sum + number * value;
}

#include "strategy/gemm/host_packed/lanes.h"
