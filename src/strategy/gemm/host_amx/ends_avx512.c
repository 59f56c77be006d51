/* Copies and last steps for avx512, with the conversions of f16 that every such processor has (F16C). */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

static inline float f16_to_f32(uint16_t bits) {
  return _cvtsh_ss(bits);
}

static inline uint16_t f32_to_f16(float value) {
  return (uint16_t)_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}

/* Sixteen units of `rows` neighbours, `step` bytes apart, become `rows` units of sixteen steps, `width` units apart: a
 * transpose of 16 x 16 words in three rounds, pairs, fours, and quarters of registers. */
static inline void turn_16(const unsigned char *in, int64_t step, int64_t rows, uint32_t flip, uint32_t *out,
                           int64_t width) {
  const __mmask16 there = (__mmask16)((1u << rows) - 1);
  const __m512i change = _mm512_set1_epi32((int)flip);
  __m512i line[16], pair[16], four[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++)
    line[i] = i < rows ? _mm512_loadu_si512((const void *)(in + i * step)) : _mm512_setzero_si512();
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
    const __m512i turned[4] = {
        _mm512_shuffle_i32x4(even_low, even_high, 0x88), _mm512_shuffle_i32x4(odd_low, odd_high, 0x88),
        _mm512_shuffle_i32x4(even_low, even_high, 0xdd), _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd)};
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; quarter++)
      _mm512_mask_storeu_epi32(out + (4 * quarter + j) * width, there,
                               _mm512_xor_si512(turned[quarter], change));
  }
}

/* Two rows of 32 elements of 16 bits become 32 units, as do four rows of 8 bits. Zipping stays within quarters of registers,
 * which are put in order then. */
static inline void store_units(uint32_t *out, __m512i first, __m512i second, uint32_t flip) {
  const __m512i change = _mm512_set1_epi32((int)flip);
  _mm512_storeu_si512(out, _mm512_xor_si512(first, change));
  _mm512_storeu_si512(out + 16, _mm512_xor_si512(second, change));
}

/* Of so many columns; zeros are what is behind them. */
static inline void zip_2(const unsigned char *in, int64_t step, int64_t columns, uint32_t flip,
                         uint32_t *out) {
  const __mmask32 there = (__mmask32)(((uint64_t)1 << columns) - 1);
  const __m512i first = _mm512_maskz_loadu_epi16(there, (const void *)in),
                second = _mm512_maskz_loadu_epi16(there, (const void *)(in + step));
  const __m512i low = _mm512_unpacklo_epi16(first, second), high = _mm512_unpackhi_epi16(first, second);
  store_units(out, _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high),
              _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high), flip);
}

static inline __m512i beside(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline void zip_4(const unsigned char *in, int64_t step, int64_t columns, uint32_t flip,
                         uint32_t *out) {
  const __mmask32 there = (__mmask32)(((uint64_t)1 << columns) - 1);
  const __m256i a = _mm256_maskz_loadu_epi8(there, (const void *)in),
                b = _mm256_maskz_loadu_epi8(there, (const void *)(in + step)),
                c = _mm256_maskz_loadu_epi8(there, (const void *)(in + 2 * step)),
                d = _mm256_maskz_loadu_epi8(there, (const void *)(in + 3 * step));
  const __m256i ab_low = _mm256_unpacklo_epi8(a, b), ab_high = _mm256_unpackhi_epi8(a, b),
                cd_low = _mm256_unpacklo_epi8(c, d), cd_high = _mm256_unpackhi_epi8(c, d);
  const __m512i low = beside(_mm256_unpacklo_epi16(ab_low, cd_low), _mm256_unpackhi_epi16(ab_low, cd_low)),
                high =
                    beside(_mm256_unpacklo_epi16(ab_high, cd_high), _mm256_unpackhi_epi16(ab_high, cd_high));
  store_units(out, _mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd), flip);
}

#define ZIP_2 zip_2
#define ZIP_4 zip_4
#define TURN_16 turn_16
#define STREAM_LINE(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))
#define ENDS tsl_amx_ends_avx512
#include "strategy/gemm/host_amx/ends.h"
#else
typedef int tsl_no_ends_here;
#endif
