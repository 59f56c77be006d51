/* Parts of host/simd.h that AVX2 and AVX-512 have in common. The including header defines VECTOR_BYTES,
 * vector_bytes, and MM(name), which adds the prefix of the width to an intrinsic's name. */

enum { STEPS_f32 = 4, STEPS_f64 = 2 };
typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t vector_i32 __attribute__((vector_size(VECTOR_BYTES), may_alias));

#define HAS_RANGES 1
#define HAS_STREAMS 1
#define HAS_DOT_I8 0
#define HAS_QUARTER_f32 1
typedef float vector_f32_quarter __attribute__((vector_size(16), may_alias));

#define HAS_FUSED 1
static inline vector_f32 fma_vectors_f32(vector_f32 sum, vector_f32 a, vector_f32 b) {
  return MM(fmadd_ps)(a, b, sum);
}
static inline vector_f64 fma_vectors_f64(vector_f64 sum, vector_f64 a, vector_f64 b) {
  return MM(fmadd_pd)(a, b, sum);
}
static inline vector_f64 fma_rounded_once_f64(vector_f64 a, vector_f64 b, vector_f64 c) {
  return MM(fmadd_pd)(a, b, c);
}
static inline vector_f32_quarter fma_f32_quarter(vector_f32_quarter sum, float number,
                                                 vector_f32_quarter value) {
  return _mm_fmadd_ps(_mm_set1_ps(number), value, sum);
}

/* Transposes blocks of 4 x 4 numbers: a quarter of each of a, b, c and d has one row of a block. */
static inline void transpose_blocks_f32(vector_f32 a, vector_f32 b, vector_f32 c, vector_f32 d,
                                        vector_f32 *out) {
  const vector_f64 ab_low = MM(castps_pd)(MM(unpacklo_ps)(a, b)),
                   cd_low = MM(castps_pd)(MM(unpacklo_ps)(c, d)),
                   ab_high = MM(castps_pd)(MM(unpackhi_ps)(a, b)),
                   cd_high = MM(castps_pd)(MM(unpackhi_ps)(c, d));
  out[0] = MM(castpd_ps)(MM(unpacklo_pd)(ab_low, cd_low));
  out[1] = MM(castpd_ps)(MM(unpackhi_pd)(ab_low, cd_low));
  out[2] = MM(castpd_ps)(MM(unpacklo_pd)(ab_high, cd_high));
  out[3] = MM(castpd_ps)(MM(unpackhi_pd)(ab_high, cd_high));
}
static inline void unzip_numbers_f32(vector_f32 a, vector_f32 b, vector_f32 *out) {
  out[0] = MM(shuffle_ps)(a, b, 0x88);
  out[1] = MM(shuffle_ps)(a, b, 0xdd);
}
static inline void unzip_numbers_f64(vector_f64 a, vector_f64 b, vector_f64 *out) {
  out[0] = MM(unpacklo_pd)(a, b);
  out[1] = MM(unpackhi_pd)(a, b);
}
static inline vector_f32 swap_pairs_f32(vector_f32 value) {
  return MM(permute_ps)(value, 0xb1);
}

static inline vector_f32 max_lanes_f32(vector_f32 a, vector_f32 b) {
  return MM(max_ps)(a, b);
}
static inline vector_f64 max_lanes_f64(vector_f64 a, vector_f64 b) {
  return MM(max_pd)(a, b);
}

static inline void store_nontemporal_f32(float *dst, vector_f32 value) {
  MM(stream_ps)(dst, value);
}
static inline void store_nontemporal_f64(double *dst, vector_f64 value) {
  MM(stream_pd)(dst, value);
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

static inline vector_i32 set_word_i32(uint32_t word) {
  return (vector_i32)MM(set1_epi32)((int)word);
}
static inline vector_i32 dot_i16(vector_i32 sum, vector_i32 a, vector_i32 b) {
  return sum + (vector_i32)MM(madd_epi16)((vector_bytes)a, (vector_bytes)b);
}

#define ZIP_LOW_1 MM(unpacklo_epi8)
#define ZIP_HIGH_1 MM(unpackhi_epi8)
#define ZIP_LOW_2 MM(unpacklo_epi16)
#define ZIP_HIGH_2 MM(unpackhi_epi16)
#define ZIP_LOW_4 MM(unpacklo_epi32)
#define ZIP_HIGH_4 MM(unpackhi_epi32)
#define ZIP_LOW_8 MM(unpacklo_epi64)
#define ZIP_HIGH_8 MM(unpackhi_epi64)
