/* AVX2 with FMA for host/simd.h: vectors of 32 bytes, 16 registers. A mask is a vector of sign bits. */
#include <immintrin.h>

#define VECTOR_BYTES 32
#define REGISTERS 16
enum { STEPS_f32 = 4, STEPS_f64 = 2 };
typedef float vector_f32 __attribute__((vector_size(32), may_alias));
typedef double vector_f64 __attribute__((vector_size(32), may_alias));
typedef uint32_t vector_i32 __attribute__((vector_size(32), may_alias));

typedef __m256i mask_f32;
typedef __m256i mask_f64;
static inline mask_f32 mask_of_f32(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline mask_f64 mask_of_f64(int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline vector_f32 load_masked_f32(const float *from, mask_f32 mask) {
  return _mm256_maskload_ps(from, mask);
}
/* Stores up to three numbers, faster than AMD's masked store; for f64 compilers would make worse tiles. */
static inline void store_few_f32(float *dst, __m128 value, int count) {
  if (count & 2) {
    _mm_storel_pi((__m64 *)(void *)dst, value);
    value = _mm_movehl_ps(value, value);
    dst += 2;
  }
  if (count & 1)
    _mm_store_ss(dst, value);
}
static inline void store_masked_f32(float *dst, vector_f32 value, mask_f32 mask) {
  const int count = __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
  if (count == 8) {
    _mm256_storeu_ps(dst, value);
  } else if (count & 4) {
    _mm_storeu_ps(dst, _mm256_castps256_ps128(value));
    store_few_f32(dst + 4, _mm256_extractf128_ps(value, 1), count);
  } else
    store_few_f32(dst, _mm256_castps256_ps128(value), count);
}
static inline vector_f64 load_masked_f64(const double *from, mask_f64 mask) {
  return _mm256_maskload_pd(from, mask);
}
static inline void store_masked_f64(double *dst, vector_f64 value, mask_f64 mask) {
  _mm256_maskstore_pd(dst, mask, value);
}
#define HAS_RANGES 1
static inline void store_any_lanes_f32(float *dst, vector_f32 value, mask_f32 mask) {
  _mm256_maskstore_ps(dst, mask, value);
}
#define store_any_lanes_f64 store_masked_f64

#define HAS_HALF_f32 0
#define HAS_HALF_f64 0
#define HAS_QUARTER_f32 1
typedef float vector_f32_quarter __attribute__((vector_size(16), may_alias));
typedef __m128i mask_f32_quarter;
static inline mask_f32_quarter mask_of_f32_quarter(int64_t count) {
  return _mm_cmpgt_epi32(_mm_set1_epi32((int)count), _mm_setr_epi32(0, 1, 2, 3));
}
static inline vector_f32_quarter load_masked_f32_quarter(const float *from, mask_f32_quarter mask) {
  return _mm_maskload_ps(from, mask);
}
static inline void store_masked_f32_quarter(float *dst, vector_f32_quarter value, mask_f32_quarter mask) {
  const int count = __builtin_popcount((unsigned)_mm_movemask_ps(_mm_castsi128_ps(mask)));
  if (count == 4)
    _mm_storeu_ps(dst, value);
  else
    store_few_f32(dst, value, count);
}

/* Returns sum + number * value in the sum's register: compilers that choose the form spill in every step. */
static inline vector_f32 fma_f32(vector_f32 sum, float number, vector_f32 value) {
  __asm__("vfmadd231ps %1, %2, %0" : "+x"(sum) : "x"(_mm256_set1_ps(number)), "x"(value));
  return sum;
}
static inline vector_f64 fma_f64(vector_f64 sum, double number, vector_f64 value) {
  __asm__("vfmadd231pd %1, %2, %0" : "+x"(sum) : "x"(_mm256_set1_pd(number)), "x"(value));
  return sum;
}
static inline vector_f32_quarter fma_f32_quarter(vector_f32_quarter sum, float number,
                                                 vector_f32_quarter value) {
  return _mm_fmadd_ps(_mm_set1_ps(number), value, sum);
}
static inline vector_f32 fma_vectors_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return _mm256_fmadd_ps(a, b, sum);
}
static inline vector_f64 fma_vectors_f64(vector_f64 sum, vector_f64 a, vector_f64 b) {
  return _mm256_fmadd_pd(a, b, sum);
}

#define HAS_FUSED 1
static inline vector_f64 fma_rounded_once_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
  return _mm256_fmadd_pd(a, b, c);
}
static inline vector_f64 widen_f64(const float *from) {
  return _mm256_cvtps_pd(_mm_loadu_ps(from)); /* gcc 12 converts a load by halves */
}

static inline void transpose_f32(const float *const *row, int64_t index, vector_f32 *out) {
  const __m256 a = _mm256_set_m128(_mm_loadu_ps(row[4] + index), _mm_loadu_ps(row[0] + index)),
               b = _mm256_set_m128(_mm_loadu_ps(row[5] + index), _mm_loadu_ps(row[1] + index)),
               c = _mm256_set_m128(_mm_loadu_ps(row[6] + index), _mm_loadu_ps(row[2] + index)),
               d = _mm256_set_m128(_mm_loadu_ps(row[7] + index), _mm_loadu_ps(row[3] + index));
  const __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
                cd_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, d)),
                ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)),
                cd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
  out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, cd_low));
  out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, cd_low));
  out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high));
  out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high));
}

static inline void transpose_f64(const double *const *row, int64_t index, vector_f64 *out) {
  const __m256d even = _mm256_set_m128d(_mm_loadu_pd(row[2] + index), _mm_loadu_pd(row[0] + index)),
                odd = _mm256_set_m128d(_mm_loadu_pd(row[3] + index), _mm_loadu_pd(row[1] + index));
  out[0] = _mm256_unpacklo_pd(even, odd);
  out[1] = _mm256_unpackhi_pd(even, odd);
}

static inline void transpose_c128(const element_c128 *const *row, int64_t index, vector_f64 *out) {
  out[0] = _mm256_set_m128d(_mm_loadu_pd(row[1][index].component), _mm_loadu_pd(row[0][index].component));
}

#define HAS_STREAMS 1
static inline mask_f32 mask_of_bits_f32(uint32_t bits) {
  const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), each), each);
}
static inline mask_f64 mask_of_bits_f64(uint32_t bits) {
  const __m256i each = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x((int)bits), each), each);
}
static inline vector_f32 select_f32(mask_f32 mask, vector_f32 a, vector_f32 b) {
  return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask));
}
static inline vector_f64 select_f64(mask_f64 mask, vector_f64 a, vector_f64 b) {
  return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(mask));
}
static inline vector_f32 permute_lanes_f32(vector_f32 value, const int32_t *lanes) {
  return _mm256_permutevar8x32_ps(value, _mm256_loadu_si256((const __m256i *)lanes));
}
static inline vector_f64 permute_lanes_f64(vector_f64 value, const int32_t *lanes) {
  const __m256i low = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)lanes)), 1),
                high = _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32);
  return _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(value), _mm256_or_si256(low, high)));
}
static inline void unzip_numbers_f32(vector_f32 a, vector_f32 b, vector_f32 *out) {
  out[0] = _mm256_shuffle_ps(a, b, 0x88);
  out[1] = _mm256_shuffle_ps(a, b, 0xdd);
}
static inline void unzip_numbers_f64(vector_f64 a, vector_f64 b, vector_f64 *out) {
  out[0] = _mm256_unpacklo_pd(a, b);
  out[1] = _mm256_unpackhi_pd(a, b);
}
static inline void unzip_quarters_f32(vector_f32 a, vector_f32 b, vector_f32 *out) {
  out[0] = _mm256_permute2f128_ps(a, b, 0x20);
  out[1] = _mm256_permute2f128_ps(a, b, 0x31);
}
static inline void unzip_quarters_f64(vector_f64 a, vector_f64 b, vector_f64 *out) {
  out[0] = _mm256_permute2f128_pd(a, b, 0x20);
  out[1] = _mm256_permute2f128_pd(a, b, 0x31);
}

static inline vector_f32 swap_pairs_f32(vector_f32 value) {
  return _mm256_permute_ps(value, 0xb1);
}
static inline vector_f64 swap_pairs_f64(vector_f64 value) {
  return _mm256_permute_pd(value, 0x5);
}
static inline vector_f32 times_i_f32(vector_f32 value) {
  const __m256 signs = _mm256_setr_ps(-0.0f, 0, -0.0f, 0, -0.0f, 0, -0.0f, 0);
  return _mm256_xor_ps(swap_pairs_f32(value), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const __m256d signs = _mm256_setr_pd(-0.0, 0, -0.0, 0);
  return _mm256_xor_pd(swap_pairs_f64(value), signs);
}

static inline vector_f32 max_lanes_f32(vector_f32 a, vector_f32 b) {
  return _mm256_max_ps(a, b);
}
static inline vector_f64 max_lanes_f64(vector_f64 a, vector_f64 b) {
  return _mm256_max_pd(a, b);
}
static inline uint32_t equal_lane_bits_f32(vector_f32 a, vector_f32 b) {
  return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
static inline uint32_t equal_lane_bits_f64(vector_f64 a, vector_f64 b) {
  return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}

static inline float sum_lanes_f32(vector_f32 value) {
  const __m128 half = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
  const __m128 pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
}
static inline double sum_lanes_f64(vector_f64 value) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(value), _mm256_extractf128_pd(value, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
static inline void sum_lanes_of_4_f32(const vector_f32 *from, float *dst) {
  const __m256 ab = _mm256_hadd_ps(from[0], from[1]), cd = _mm256_hadd_ps(from[2], from[3]),
               four = _mm256_hadd_ps(ab, cd);
  _mm_storeu_ps(dst, _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
}
static inline void sum_lanes_of_4_f64(const vector_f64 *from, double *dst) {
  const __m256d ab = _mm256_hadd_pd(from[0], from[1]), cd = _mm256_hadd_pd(from[2], from[3]);
  _mm256_storeu_pd(dst,
                   _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
}

static inline void store_nontemporal_f32(float *dst, vector_f32 value) {
  _mm256_stream_ps(dst, value);
}
static inline void store_nontemporal_f64(double *dst, vector_f64 value) {
  _mm256_stream_pd(dst, value);
}
static inline void fence(void) {
  _mm_sfence();
}
#define TSL_KEEP(value) __asm__("" : "+x"(value))

static inline float f32_of_f16(uint16_t bits) {
  return _cvtsh_ss(bits);
}
static inline uint16_t f16_of_f32(float value) {
  return (uint16_t)_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}
static inline void store_f16(uint16_t *dst, vector_f32 value) {
  _mm_storeu_si128((void *)dst, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

static inline vector_i32 set_word_i32(uint32_t word) {
  return (vector_i32)_mm256_set1_epi32((int)word);
}
static inline vector_i32 dot_i16(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return sum + (vector_i32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#define HAS_LOAD_FAR 0
#define HAS_DOT_BF16 0
#define HAS_DOT_U8 0
#define HAS_DOT_I8 0
#define HAS_UNITS 0

typedef __m256i vector_bytes;
#define HAS_MASKED_BYTES 0
static inline void store_nontemporal_bytes(unsigned char *dst, vector_bytes value) {
  _mm256_stream_si256((__m256i *)(void *)dst, value);
}
#define ZIP_LOW_1 _mm256_unpacklo_epi8
#define ZIP_HIGH_1 _mm256_unpackhi_epi8
#define ZIP_LOW_2 _mm256_unpacklo_epi16
#define ZIP_HIGH_2 _mm256_unpackhi_epi16
#define ZIP_LOW_4 _mm256_unpacklo_epi32
#define ZIP_HIGH_4 _mm256_unpackhi_epi32
#define ZIP_LOW_8 _mm256_unpacklo_epi64
#define ZIP_HIGH_8 _mm256_unpackhi_epi64
static inline void transpose_quarters(const vector_bytes in[2], vector_bytes out[2]) {
  out[0] = _mm256_permute2x128_si256(in[0], in[1], 0x20);
  out[1] = _mm256_permute2x128_si256(in[0], in[1], 0x31);
}

#define PACKED_STEPS 4
#define SMALL_f32 (12, 6, 4, 4, 0, 0)
#define SMALL_f64 (12, 6, 4, 4, 4, 1)
