/* Vectors of 64 bytes on any instruction set; the compiler splits vectors where registers are shorter. So one
 * text is tested on every CPU. Including files are compiled with -Wno-psabi: no such vector crosses files. */
#ifndef TSL_RESIDUE_INT8_WIDE_H
#define TSL_RESIDUE_INT8_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float wide_f32 __attribute__((vector_size(64), may_alias));
typedef int32_t wide_i32 __attribute__((vector_size(64), may_alias));
typedef uint32_t wide_u32 __attribute__((vector_size(64), may_alias));
typedef double wide_f64 __attribute__((vector_size(64), may_alias));
typedef int64_t wide_i64 __attribute__((vector_size(64), may_alias));
typedef int32_t half_i32 __attribute__((vector_size(32), may_alias));
typedef float half_f32 __attribute__((vector_size(32), may_alias));
typedef uint8_t bytes_16 __attribute__((vector_size(16), may_alias));
typedef uint8_t bytes_8 __attribute__((vector_size(8), may_alias));

#define WIDE_LOAD(to, from) memcpy(&(to), from, sizeof(to))
#define WIDE_STORE(to, from) memcpy(to, &(from), sizeof(from))
/* A number in every lane, as a list: a float plus 0 may differ from the float. */
#define FOUR(number) number, number, number, number
#define EIGHT(number) FOUR(number), FOUR(number)
TSL_INLINE wide_f32 broadcast_f32(float number) {
  return (wide_f32){EIGHT(number), EIGHT(number)};
}
TSL_INLINE wide_f64 broadcast_f64(double number) {
  return (wide_f64){EIGHT(number)};
}
TSL_INLINE wide_i32 broadcast_i32(int32_t number) {
  return (wide_i32){EIGHT(number), EIGHT(number)};
}
TSL_INLINE wide_i64 broadcast_i64(int64_t number) {
  return (wide_i64){EIGHT(number)};
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
TSL_INLINE wide_i32 max_i32(wide_i32 a, wide_i32 b) {
  return (wide_i32)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
TSL_INLINE wide_i64 max_i64(wide_i64 a, wide_i64 b) {
  return (wide_i64)_mm512_max_epi64((__m512i)a, (__m512i)b);
}
TSL_INLINE wide_f64 max_f64(wide_f64 a, wide_f64 b) {
  return _mm512_max_pd(a, b);
}
/* Returns count + (a < b), lane by lane. */
TSL_INLINE wide_i32 count_i32(wide_i32 count, wide_i32 a, wide_i32 b) {
  return (wide_i32)_mm512_mask_add_epi32((__m512i)count, _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b),
                                         (__m512i)count, _mm512_set1_epi32(1));
}
TSL_INLINE wide_i64 count_i64(wide_i64 count, wide_i64 a, wide_i64 b) {
  return (wide_i64)_mm512_mask_add_epi64((__m512i)count, _mm512_cmplt_epi64_mask((__m512i)a, (__m512i)b),
                                         (__m512i)count, _mm512_set1_epi64(1));
}
/* Returns a where it is at least 0, else a + b. */
TSL_INLINE wide_f32 lifted_f32(wide_f32 a, wide_f32 b) {
  return _mm512_mask_add_ps(a, _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_LT_OQ), a, b);
}
/* Returns a b + c, rounded once. */
TSL_INLINE wide_f64 fused_wide(wide_f64 a, wide_f64 b, wide_f64 c) {
  return _mm512_fmadd_pd(a, b, c);
}
TSL_INLINE wide_f32 fused_wide_f32(wide_f32 a, wide_f32 b, wide_f32 c) {
  return _mm512_fmadd_ps(a, b, c);
}
/* Returns a b + c where products are exact. */
TSL_INLINE wide_f64 exact_wide(wide_f64 a, wide_f64 b, wide_f64 c) {
  return _mm512_fmadd_pd(a, b, c);
}
TSL_INLINE wide_i32 integers_of_bytes(const unsigned char *from) {
  return (wide_i32)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
}
TSL_INLINE wide_f64 doubles_of_bytes(const unsigned char *from) {
  return _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from)));
}
/* Returns the lower halves of 16 lanes. */
TSL_INLINE wide_i32 lower_halves(wide_i64 a, wide_i64 b) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return (wide_i32)_mm512_permutex2var_epi32((__m512i)a, even, (__m512i)b);
}
#else
TSL_INLINE wide_i32 max_i32(wide_i32 a, wide_i32 b) {
  const wide_i32 above = a > b;
  return (a & above) | (b & ~above);
}
TSL_INLINE wide_i64 max_i64(wide_i64 a, wide_i64 b) {
  const wide_i64 above = a > b;
  return (a & above) | (b & ~above);
}
TSL_INLINE wide_f64 max_f64(wide_f64 a, wide_f64 b) {
  const wide_i64 above = a > b;
  return (wide_f64)(((wide_i64)a & above) | ((wide_i64)b & ~above));
}
TSL_INLINE wide_i32 count_i32(wide_i32 count, wide_i32 a, wide_i32 b) {
  return count - (a < b);
}
TSL_INLINE wide_i64 count_i64(wide_i64 count, wide_i64 a, wide_i64 b) {
  return count - (a < b);
}
TSL_INLINE wide_f32 lifted_f32(wide_f32 a, wide_f32 b) {
  const wide_i32 below = a < 0;
  return a + (wide_f32)((wide_i32)b & below);
}
TSL_INLINE wide_f64 fused_wide(wide_f64 a, wide_f64 b, wide_f64 c) {
  wide_f64 out;
  for (int i = 0; i < 8; i++)
    out[i] = fma(a[i], b[i], c[i]);
  return out;
}
TSL_INLINE wide_f32 fused_wide_f32(wide_f32 a, wide_f32 b, wide_f32 c) {
  wide_f32 out;
  for (int i = 0; i < 16; i++)
    out[i] = fmaf(a[i], b[i], c[i]);
  return out;
}
TSL_INLINE wide_f64 exact_wide(wide_f64 a, wide_f64 b, wide_f64 c) {
  return a * b + c;
}
TSL_INLINE wide_i32 integers_of_bytes(const unsigned char *from) {
  bytes_16 bytes;
  WIDE_LOAD(bytes, from);
  return __builtin_convertvector(bytes, wide_i32);
}
TSL_INLINE wide_f64 doubles_of_bytes(const unsigned char *from) {
  bytes_8 bytes;
  WIDE_LOAD(bytes, from);
  return __builtin_convertvector(__builtin_convertvector(bytes, half_i32), wide_f64);
}
TSL_INLINE wide_i32 lower_halves(wide_i64 a, wide_i64 b) {
  const wide_i32 x = (wide_i32)a, y = (wide_i32)b;
  return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
#endif

#endif
