/* AVX-512 (F, BW, DQ, VL) for host/simd.h: vectors of 64 bytes, 32 registers; masks are free. */
#include <immintrin.h>

#define VECTOR_BYTES 64
#define REGISTERS 32
enum { STEPS_f32 = 4, STEPS_f64 = 2 };
typedef float vector_f32 __attribute__((vector_size(64), may_alias));
typedef double vector_f64 __attribute__((vector_size(64), may_alias));
typedef uint32_t vector_i32 __attribute__((vector_size(64), may_alias));

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
static inline void store_masked_f32(float *dst, vector_f32 value, mask_f32 mask) {
  _mm512_mask_storeu_ps(dst, mask, value);
}
static inline vector_f64 load_masked_f64(const double *from, mask_f64 mask) {
  return _mm512_maskz_loadu_pd(mask, from);
}
static inline void store_masked_f64(double *dst, vector_f64 value, mask_f64 mask) {
  _mm512_mask_storeu_pd(dst, mask, value);
}
#define HAS_RANGES 1
#define store_any_lanes_f32 store_masked_f32
#define store_any_lanes_f64 store_masked_f64

#define HAS_HALF_f32 1
#define HAS_HALF_f64 1
#define HAS_QUARTER_f32 1
typedef float vector_f32_half __attribute__((vector_size(32), may_alias));
typedef double vector_f64_half __attribute__((vector_size(32), may_alias));
typedef float vector_f32_quarter __attribute__((vector_size(16), may_alias));
typedef mask_f64 mask_f32_half;
typedef mask_f64 mask_f64_half;
typedef mask_f64 mask_f32_quarter;
#define mask_of_f32_half mask_of_f64
#define mask_of_f64_half mask_of_f64
#define mask_of_f32_quarter mask_of_f64
static inline vector_f32_half load_masked_f32_half(const float *from, mask_f32_half mask) {
  return _mm256_maskz_loadu_ps(mask, from);
}
static inline void store_masked_f32_half(float *dst, vector_f32_half value, mask_f32_half mask) {
  _mm256_mask_storeu_ps(dst, mask, value);
}
static inline vector_f64_half load_masked_f64_half(const double *from, mask_f64_half mask) {
  return _mm256_maskz_loadu_pd(mask, from);
}
static inline void store_masked_f64_half(double *dst, vector_f64_half value, mask_f64_half mask) {
  _mm256_mask_storeu_pd(dst, mask, value);
}
static inline vector_f32_quarter load_masked_f32_quarter(const float *from, mask_f32_quarter mask) {
  return _mm_maskz_loadu_ps(mask, from);
}
static inline void store_masked_f32_quarter(float *dst, vector_f32_quarter value, mask_f32_quarter mask) {
  _mm_mask_storeu_ps(dst, mask, value);
}

static inline vector_f32 fma_f32(vector_f32 sum, float number, vector_f32 value) {
  return _mm512_fmadd_ps(_mm512_set1_ps(number), value, sum);
}
static inline vector_f64 fma_f64(vector_f64 sum, double number, vector_f64 value) {
  return _mm512_fmadd_pd(_mm512_set1_pd(number), value, sum);
}
static inline vector_f32_half fma_f32_half(vector_f32_half sum, float number, vector_f32_half value) {
  return _mm256_fmadd_ps(_mm256_set1_ps(number), value, sum);
}
static inline vector_f64_half fma_f64_half(vector_f64_half sum, double number, vector_f64_half value) {
  return _mm256_fmadd_pd(_mm256_set1_pd(number), value, sum);
}
static inline vector_f32_quarter fma_f32_quarter(vector_f32_quarter sum, float number,
                                                 vector_f32_quarter value) {
  return _mm_fmadd_ps(_mm_set1_ps(number), value, sum);
}
static inline vector_f32 fma_vectors_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return _mm512_fmadd_ps(a, b, sum);
}
static inline vector_f64 fma_vectors_f64(vector_f64 sum, vector_f64 a, vector_f64 b) {
  return _mm512_fmadd_pd(a, b, sum);
}

#define HAS_FUSED 1
static inline vector_f64 fma_rounded_once_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
  return _mm512_fmadd_pd(a, b, c);
}
static inline vector_f64 widen_f64(const float *from) {
  return _mm512_cvtps_pd(_mm256_loadu_ps(from));
}

/* Loads four numbers of rows 0, 4, 8 and 12 from `row` on into quarters. */
static inline __m512 load_quarters_f32(const float *const *row, int64_t index) {
  const __m512 first = _mm512_castps128_ps512(_mm_loadu_ps(row[0] + index));
  const __m512 second = _mm512_mask_broadcast_f32x4(first, 0x00f0, _mm_loadu_ps(row[4] + index));
  const __m512 third = _mm512_mask_broadcast_f32x4(second, 0x0f00, _mm_loadu_ps(row[8] + index));
  return _mm512_mask_broadcast_f32x4(third, 0xf000, _mm_loadu_ps(row[12] + index));
}

static inline void transpose_f32(const float *const *row, int64_t index, vector_f32 *out) {
  const __m512 a = load_quarters_f32(row, index), b = load_quarters_f32(row + 1, index),
               c = load_quarters_f32(row + 2, index), d = load_quarters_f32(row + 3, index);
  const __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)),
                cd_low = _mm512_castps_pd(_mm512_unpacklo_ps(c, d)),
                ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)),
                cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
  out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, cd_low));
  out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, cd_low));
  out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
  out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
}

/* Loads two numbers of each address into quarters. */
static inline __m512d load_quarters_f64(const double *first, const double *second, const double *third,
                                        const double *fourth) {
  const __m512d one = _mm512_castpd128_pd512(_mm_loadu_pd(first));
  const __m512d two = _mm512_mask_broadcast_f64x2(one, 0x0c, _mm_loadu_pd(second));
  const __m512d three = _mm512_mask_broadcast_f64x2(two, 0x30, _mm_loadu_pd(third));
  return _mm512_mask_broadcast_f64x2(three, 0xc0, _mm_loadu_pd(fourth));
}

static inline void transpose_f64(const double *const *row, int64_t index, vector_f64 *out) {
  const __m512d even = load_quarters_f64(row[0] + index, row[2] + index, row[4] + index, row[6] + index),
                odd = load_quarters_f64(row[1] + index, row[3] + index, row[5] + index, row[7] + index);
  out[0] = _mm512_unpacklo_pd(even, odd);
  out[1] = _mm512_unpackhi_pd(even, odd);
}

static inline void transpose_c128(const element_c128 *const *row, int64_t index, vector_f64 *out) {
  out[0] = load_quarters_f64(row[0][index].component, row[1][index].component, row[2][index].component,
                             row[3][index].component);
}

#define HAS_STREAMS 1
static inline mask_f32 mask_of_bits_f32(uint32_t bits) {
  return (mask_f32)bits;
}
static inline mask_f64 mask_of_bits_f64(uint32_t bits) {
  return (mask_f64)bits;
}
static inline vector_f32 select_f32(mask_f32 mask, vector_f32 a, vector_f32 b) {
  return _mm512_mask_mov_ps(b, mask, a);
}
static inline vector_f64 select_f64(mask_f64 mask, vector_f64 a, vector_f64 b) {
  return _mm512_mask_mov_pd(b, mask, a);
}
static inline vector_f32 permute_lanes_f32(vector_f32 value, const int32_t *lanes) {
  return _mm512_permutexvar_ps(_mm512_loadu_si512(lanes), value);
}
static inline vector_f64 permute_lanes_f64(vector_f64 value, const int32_t *lanes) {
  return _mm512_permutexvar_pd(_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)lanes)), value);
}
static inline void unzip_numbers_f32(vector_f32 a, vector_f32 b, vector_f32 *out) {
  out[0] = _mm512_shuffle_ps(a, b, 0x88);
  out[1] = _mm512_shuffle_ps(a, b, 0xdd);
}
static inline void unzip_numbers_f64(vector_f64 a, vector_f64 b, vector_f64 *out) {
  out[0] = _mm512_unpacklo_pd(a, b);
  out[1] = _mm512_unpackhi_pd(a, b);
}
static inline void unzip_quarters_f32(vector_f32 a, vector_f32 b, vector_f32 *out) {
  out[0] = _mm512_shuffle_f32x4(a, b, 0x88);
  out[1] = _mm512_shuffle_f32x4(a, b, 0xdd);
}
static inline void unzip_quarters_f64(vector_f64 a, vector_f64 b, vector_f64 *out) {
  out[0] = _mm512_shuffle_f64x2(a, b, 0x88);
  out[1] = _mm512_shuffle_f64x2(a, b, 0xdd);
}

static inline vector_f32 swap_pairs_f32(vector_f32 value) {
  return _mm512_permute_ps(value, 0xb1);
}
static inline vector_f64 swap_pairs_f64(vector_f64 value) {
  return _mm512_permute_pd(value, 0x55);
}
static inline vector_f32 times_i_f32(vector_f32 value) {
  const __m512 signs = _mm512_castsi512_ps(_mm512_set1_epi64(0x80000000));
  return _mm512_xor_ps(swap_pairs_f32(value), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const __m512d signs = _mm512_setr_pd(-0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0);
  return _mm512_xor_pd(swap_pairs_f64(value), signs);
}
static inline vector_f32_half times_i_f32_half(vector_f32_half value) {
  const __m256 signs = _mm256_castsi256_ps(_mm256_set1_epi64x(0x80000000));
  return _mm256_xor_ps(_mm256_permute_ps(value, 0xb1), signs);
}
static inline vector_f64_half times_i_f64_half(vector_f64_half value) {
  return _mm256_xor_pd(_mm256_permute_pd(value, 0x5), _mm256_setr_pd(-0.0, 0, -0.0, 0));
}

static inline vector_f32 max_lanes_f32(vector_f32 a, vector_f32 b) {
  return _mm512_max_ps(a, b);
}
static inline vector_f64 max_lanes_f64(vector_f64 a, vector_f64 b) {
  return _mm512_max_pd(a, b);
}
static inline uint32_t equal_lane_bits_f32(vector_f32 a, vector_f32 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline uint32_t equal_lane_bits_f64(vector_f64 a, vector_f64 b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}

static inline float sum_lanes_f32(vector_f32 value) {
  return _mm512_reduce_add_ps(value);
}
static inline double sum_lanes_f64(vector_f64 value) {
  return _mm512_reduce_add_pd(value);
}

static inline void sum_lanes_of_4_f32(const vector_f32 *from, float *dst) {
  const __m512 a = from[0], b = from[1], c = from[2], d = from[3];
  const __m512d ab = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
  const __m512d cd = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
  const __m512 four = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                                    _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m256 two = _mm256_add_ps(_mm512_castps512_ps256(four),
                                   _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(four), 1)));
  _mm_storeu_ps(dst, _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1)));
}

static inline __m256d add_halves_f64(__m512d value) {
  return _mm256_add_pd(_mm512_castpd512_pd256(value), _mm512_extractf64x4_pd(value, 1));
}

static inline void sum_lanes_of_4_f64(const vector_f64 *from, double *dst) {
  const __m512d a = from[0], b = from[1], c = from[2], d = from[3];
  const __m256d ab = add_halves_f64(_mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)));
  const __m256d cd = add_halves_f64(_mm512_add_pd(_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d)));
  _mm256_storeu_pd(dst,
                   _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
}

#define TSL_KEEP(value) __asm__("" : "+v"(value))

/* Zen 4 prefetches 32-byte loads at memory speed, but not 64-byte loads. */
#define HAS_LOAD_FAR 1
static inline vector_f32 load_beyond_l1_f32(const float *from) {
  __m256 low = _mm256_loadu_ps(from);
  TSL_KEEP(low);
  return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(low)),
                                             _mm256_castps_pd(_mm256_loadu_ps(from + 8)), 1));
}
static inline vector_f64 load_beyond_l1_f64(const double *from) {
  __m256d low = _mm256_loadu_pd(from);
  TSL_KEEP(low);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), _mm256_loadu_pd(from + 4), 1);
}

static inline void store_nontemporal_f32(float *dst, vector_f32 value) {
  _mm512_stream_ps(dst, value);
}
static inline void store_nontemporal_f64(double *dst, vector_f64 value) {
  _mm512_stream_pd(dst, value);
}
static inline void fence(void) {
  _mm_sfence();
}

static inline float f32_of_f16(uint16_t bits) {
  return _cvtsh_ss(bits);
}
static inline uint16_t f16_of_f32(float value) {
  return (uint16_t)_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}
static inline void store_f16(uint16_t *dst, vector_f32 value) {
  _mm256_storeu_si256((void *)dst, _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
}

static inline vector_i32 set_word_i32(uint32_t word) {
  return (vector_i32)_mm512_set1_epi32((int)word);
}
static inline vector_i32 dot_i16(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return sum + (vector_i32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

/* Returns the first bf16 of each pair as f32: a bf16 is the upper half of an f32. */
static inline __m512 first_bf16_of_pairs(vector_f32 pairs) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}
static inline __m512 second_bf16_of_pairs(vector_f32 pairs) {
  return _mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32((int)0xffff0000)));
}
static inline vector_f32 dot_bf16_with_subnormals(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return _mm512_fmadd_ps(second_bf16_of_pairs(a), second_bf16_of_pairs(b),
                         _mm512_fmadd_ps(first_bf16_of_pairs(a), first_bf16_of_pairs(b), sum));
}
#if defined(__AVX512BF16__)
#define HAS_DOT_BF16 1
static inline vector_f32 dot_bf16(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
#else
#define HAS_DOT_BF16 0
#endif
#if defined(__AVX512VNNI__)
#define HAS_DOT_U8 1
static inline vector_i32 dot_u8(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return (vector_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#else
#define HAS_DOT_U8 0
#endif

#define HAS_DOT_I8 0
#define HAS_UNITS 1
/* Transposes 16 x 16 words in place, by pairs, fours and quarters. */
static inline __attribute__((always_inline)) void transpose_units(__m512i line[16]) {
  __m512i pair[16], four[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pair[i] = _mm512_unpacklo_epi32(line[i], line[i + 1]);
    pair[i + 1] = _mm512_unpackhi_epi32(line[i], line[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    four[i] = _mm512_unpacklo_epi64(pair[i], pair[i + 2]);
    four[i + 1] = _mm512_unpackhi_epi64(pair[i], pair[i + 2]);
    four[i + 2] = _mm512_unpacklo_epi64(pair[i + 1], pair[i + 3]);
    four[i + 3] = _mm512_unpackhi_epi64(pair[i + 1], pair[i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m512i even_low = _mm512_shuffle_i32x4(four[j], four[4 + j], 0x88),
                  odd_low = _mm512_shuffle_i32x4(four[j], four[4 + j], 0xdd),
                  even_high = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0x88),
                  odd_high = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0xdd);
    line[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    line[4 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    line[8 + j] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    line[12 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

/* Stores the first `count` units, 0 to 16, xor-ed with `xor_word`. */
static inline void store_units(uint32_t *out, __m512i units, int64_t count, uint32_t xor_word) {
  const __mmask16 inside = (__mmask16)(count < 16 ? (1u << count) - 1 : 0xffff);
  _mm512_mask_storeu_epi32(out, inside, _mm512_xor_si512(units, _mm512_set1_epi32((int)xor_word)));
}

/* Returns units of `count` contiguous elements of a line, 1 to 16 units; the rest is 0. */
static inline __m512i line_units_16(const unsigned char *in, int64_t count) {
  return _mm512_maskz_loadu_epi16(count < 32 ? ((__mmask32)1 << count) - 1 : ~(__mmask32)0, in);
}
static inline __m512i line_units_8(const unsigned char *in, int64_t count) {
  return _mm512_maskz_loadu_epi8(count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0, in);
}
static inline __m512i line_units_f16(const unsigned char *in, int64_t count) {
  return _mm512_castps_si512(
      _mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)(count < 16 ? (1u << count) - 1 : 0xffff), in)));
}

/* Returns the units of `lines` neighbours, 1 to 16; the rest is 0. A unit has `steps` elements, `along` bytes
 * apart. */
static inline __m512i across_units_16(const unsigned char *in, int64_t along, int64_t steps, int64_t lines) {
  const __mmask16 inside = (__mmask16)(lines < 16 ? (1u << lines) - 1 : 0xffff);
  const __m256i first = _mm256_maskz_loadu_epi16(inside, in),
                second = _mm256_maskz_loadu_epi16(steps == 1 ? 0 : inside, in + (steps == 1 ? 0 : along));
  const __m512i order = _mm512_add_epi32(
      _mm512_set1_epi32(16 << 16),
      _mm512_mullo_epi32(_mm512_set1_epi32(0x10001),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
  return _mm512_permutexvar_epi16(order, _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
}
/* Whole units of 16 neighbours: four rows of 16 bytes become quarters with four bytes of each row, and each
 * quarter is transposed. */
static inline __m512i across_units_8(const unsigned char *in, int64_t along, int64_t steps, int64_t lines) {
  if (steps == 4 && lines == 16) {
    __m512i rows = _mm512_castsi128_si512(_mm_loadu_si128((const void *)in));
    rows = _mm512_mask_broadcast_i32x4(rows, 0x00f0, _mm_loadu_si128((const void *)(in + along)));
    rows = _mm512_mask_broadcast_i32x4(rows, 0x0f00, _mm_loadu_si128((const void *)(in + 2 * along)));
    rows = _mm512_mask_broadcast_i32x4(rows, 0xf000, _mm_loadu_si128((const void *)(in + 3 * along)));
    rows = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                                    rows);
    return _mm512_shuffle_epi8(
        rows, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)));
  }
  const __mmask16 inside = (__mmask16)(lines < 16 ? (1u << lines) - 1 : 0xffff);
  __m512i units = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(inside, in));
#pragma GCC unroll 3
  for (int s = 1; s < 4; s++)
    if (s < steps)
      units = _mm512_or_si512(
          units, _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(inside, in + s * along)),
                                   (unsigned)(8 * s)));
  return units;
}
static inline __m512i across_units_f16(const unsigned char *in, int64_t along, int64_t steps, int64_t lines) {
  (void)along, (void)steps;
  return line_units_f16(in, lines);
}

static inline void store_line_nontemporal(void *dst, const void *from) {
  _mm512_stream_si512(dst, _mm512_loadu_si512(from));
}

typedef __m512i vector_bytes;
#define HAS_MASKED_BYTES 1
static inline vector_bytes load_part_bytes(const unsigned char *from, int64_t count) {
  return _mm512_maskz_loadu_epi8(count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0, from);
}
static inline void store_nontemporal_bytes(unsigned char *dst, vector_bytes value) {
  _mm512_stream_si512((void *)dst, value);
}
#define ZIP_LOW_1 _mm512_unpacklo_epi8
#define ZIP_HIGH_1 _mm512_unpackhi_epi8
#define ZIP_LOW_2 _mm512_unpacklo_epi16
#define ZIP_HIGH_2 _mm512_unpackhi_epi16
#define ZIP_LOW_4 _mm512_unpacklo_epi32
#define ZIP_HIGH_4 _mm512_unpackhi_epi32
#define ZIP_LOW_8 _mm512_unpacklo_epi64
#define ZIP_HIGH_8 _mm512_unpackhi_epi64
static inline void transpose_quarters(const vector_bytes in[4], vector_bytes out[4]) {
  const __m512i low = _mm512_shuffle_i64x2(in[0], in[1], 0x44),
                high = _mm512_shuffle_i64x2(in[0], in[1], 0xee),
                low_on = _mm512_shuffle_i64x2(in[2], in[3], 0x44),
                high_on = _mm512_shuffle_i64x2(in[2], in[3], 0xee);
  out[0] = _mm512_shuffle_i64x2(low, low_on, 0x88);
  out[1] = _mm512_shuffle_i64x2(low, low_on, 0xdd);
  out[2] = _mm512_shuffle_i64x2(high, high_on, 0x88);
  out[3] = _mm512_shuffle_i64x2(high, high_on, 0xdd);
}

#define PACKED_STEPS 1
#define SMALL_BRIEF
#define SMALL_f32 (12, 0, 0, 0, 0, 0)
#define SMALL_f64 (12, 0, 0, 8, 0, 0)
#define SMALL_WIDE_NEEDS TSL_CAN_AVX512_PAIRS
#define SMALL_WIDE_FOUR 6
#define SMALL_WIDE_f32 (16, 12, 8, 8, 0, 0)
#define SMALL_WIDE_f64 (16, 12, 8, 4, 8, 0)
