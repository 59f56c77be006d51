/* host/simd.h's contract for AVX-512 (F, BW, DQ, VL): vectors of 64 bytes, thirty-two registers. Masks cost nothing. */
#include <immintrin.h>

#define VECTOR_BYTES 64
#define REGISTERS 32
enum { STEPS_f32 = 4, STEPS_f64 = 2 };
typedef float vector_f32 __attribute__((vector_size(64), may_alias));
typedef double vector_f64 __attribute__((vector_size(64), may_alias));

typedef __mmask16 mask_f32;
typedef __mmask8 mask_f64;
static inline mask_f32 mask_of_f32(int64_t count) {
  return (__mmask16)((1u << count) - 1);
}
static inline mask_f64 mask_of_f64(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline vector_f32 load_masked_f32(const float *from, mask_f32 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}
static inline void store_masked_f32(float *to, vector_f32 value, mask_f32 mask) {
  _mm512_mask_storeu_ps(to, mask, value);
}
static inline vector_f64 load_masked_f64(const double *from, mask_f64 mask) {
  return _mm512_maskz_loadu_pd(mask, from);
}
static inline void store_masked_f64(double *to, vector_f64 value, mask_f64 mask) {
  _mm512_mask_storeu_pd(to, mask, value);
}

/* Halves and quarters of vectors. */
#define HAS_HALF_f32 1
#define HAS_HALF_f64 1
#define HAS_QUARTER_f32 1
typedef float vector_f32_half __attribute__((vector_size(32), may_alias));
typedef double vector_f64_half __attribute__((vector_size(32), may_alias));
typedef float vector_f32_quarter __attribute__((vector_size(16), may_alias));
typedef __mmask8 mask_f32_half;
typedef __mmask8 mask_f64_half;
typedef __mmask8 mask_f32_quarter;
static inline mask_f32_half mask_of_f32_half(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline mask_f64_half mask_of_f64_half(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline mask_f32_quarter mask_of_f32_quarter(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline vector_f32_half load_masked_f32_half(const float *from, mask_f32_half mask) {
  return _mm256_maskz_loadu_ps(mask, from);
}
static inline void store_masked_f32_half(float *to, vector_f32_half value, mask_f32_half mask) {
  _mm256_mask_storeu_ps(to, mask, value);
}
static inline vector_f64_half load_masked_f64_half(const double *from, mask_f64_half mask) {
  return _mm256_maskz_loadu_pd(mask, from);
}
static inline void store_masked_f64_half(double *to, vector_f64_half value, mask_f64_half mask) {
  _mm256_mask_storeu_pd(to, mask, value);
}
static inline vector_f32_quarter load_masked_f32_quarter(const float *from, mask_f32_quarter mask) {
  return _mm_maskz_loadu_ps(mask, from);
}
static inline void store_masked_f32_quarter(float *to, vector_f32_quarter value, mask_f32_quarter mask) {
  _mm_mask_storeu_ps(to, mask, value);
}

static inline vector_f32 fma_f32(vector_f32 sum, float number, vector_f32 value) {
  return sum + number * value;
}
static inline vector_f64 fma_f64(vector_f64 sum, double number, vector_f64 value) {
  return sum + number * value;
}

/* Four numbers of rows 0, 4, 8, 12 from `row` on, a quarter of the vector each. */
static inline __m512 quarters_f32(const float *const *row, int64_t at) {
  const __m512 first = _mm512_castps128_ps512(_mm_loadu_ps(row[0] + at));
  const __m512 second = _mm512_mask_broadcast_f32x4(first, 0x00f0, _mm_loadu_ps(row[4] + at));
  const __m512 third = _mm512_mask_broadcast_f32x4(second, 0x0f00, _mm_loadu_ps(row[8] + at));
  return _mm512_mask_broadcast_f32x4(third, 0xf000, _mm_loadu_ps(row[12] + at));
}

/* Transposes of four by four in each quarter. */
static inline void transpose_f32(const float *const *row, int64_t at, vector_f32 *out) {
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

/* Two numbers each of four places, a quarter of the vector each. */
static inline __m512d quarters_f64(const double *first, const double *second, const double *third,
                                   const double *fourth) {
  const __m512d one = _mm512_castpd128_pd512(_mm_loadu_pd(first));
  const __m512d two = _mm512_mask_broadcast_f64x2(one, 0x0c, _mm_loadu_pd(second));
  const __m512d three = _mm512_mask_broadcast_f64x2(two, 0x30, _mm_loadu_pd(third));
  return _mm512_mask_broadcast_f64x2(three, 0xc0, _mm_loadu_pd(fourth));
}

/* Transposes of two by two in each quarter. */
static inline void transpose_f64(const double *const *row, int64_t at, vector_f64 *out) {
  const __m512d even = quarters_f64(row[0] + at, row[2] + at, row[4] + at, row[6] + at),
                odd = quarters_f64(row[1] + at, row[3] + at, row[5] + at, row[7] + at);
  out[0] = _mm512_unpacklo_pd(even, odd);
  out[1] = _mm512_unpackhi_pd(even, odd);
}

static inline void transpose_c128(const element_c128 *const *row, int64_t at, vector_f64 *out) {
  out[0] =
      quarters_f64(row[0][at].component, row[1][at].component, row[2][at].component, row[3][at].component);
}

static inline vector_f32 times_i_f32(vector_f32 value) {
  const __m512 signs = _mm512_castsi512_ps(_mm512_set1_epi64(0x80000000));
  return _mm512_xor_ps(_mm512_permute_ps(value, 0xb1), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const __m512d signs = _mm512_setr_pd(-0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0);
  return _mm512_xor_pd(_mm512_permute_pd(value, 0x55), signs);
}

static inline float total_f32(vector_f32 value) {
  return _mm512_reduce_add_ps(value);
}
static inline double total_f64(vector_f64 value) {
  return _mm512_reduce_add_pd(value);
}

/* In each quarter one number of each, then the quarters are added. */
static inline void totals_f32(const vector_f32 *from, float *to) {
  const __m512 a = from[0], b = from[1], c = from[2], d = from[3];
  const __m512d ab = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
  const __m512d cd = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
  const __m512 four = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                                    _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m256 two = _mm256_add_ps(_mm512_castps512_ps256(four),
                                   _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(four), 1)));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1)));
}

/* Half of a vector on the other half. */
static inline __m256d halves_f64(__m512d value) {
  return _mm256_add_pd(_mm512_castpd512_pd256(value), _mm512_extractf64x4_pd(value, 1));
}

static inline void totals_f64(const vector_f64 *from, double *to) {
  const __m512d a = from[0], b = from[1], c = from[2], d = from[3];
  const __m256d ab = halves_f64(_mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)));
  const __m256d cd = halves_f64(_mm512_add_pd(_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d)));
  _mm256_storeu_pd(to,
                   _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
}

static inline void store_nontemporal_f32(float *to, vector_f32 value) {
  _mm512_stream_ps(to, value);
}
static inline void store_nontemporal_f64(double *to, vector_f64 value) {
  _mm512_stream_pd(to, value);
}
static inline void fence(void) {
  _mm_sfence();
}
#define TSL_KEEP(value) __asm__("" : "+v"(value))

/* --- tiles --- */

#define PACKED_STEPS 1
#define SMALL_f32 (12, 0, 0, 0, 0, 0)
#define SMALL_f64 (12, 0, 0, 8, 0, 0)
/* All processors with tile registers have two units for 512-bit multiply-adds. */
#define SMALL_WIDE_NEEDS TSL_CAN_AMX
#define SMALL_WIDE_f32 (16, 12, 8, 8, 0, 0)
#define SMALL_WIDE_f64 (16, 12, 8, 4, 8, 0)
