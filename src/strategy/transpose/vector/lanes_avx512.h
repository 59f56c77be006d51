/* What the texts ask of an instruction set, for AVX-512: vectors of four lanes of 16 bytes, interleaved within lanes. */
#include <immintrin.h>

#define VECTOR_BYTES 64
#define REGISTERS 32
typedef __m512i vector;
typedef float vector_f32 __attribute__((vector_size(64)));
typedef double vector_f64 __attribute__((vector_size(64)));

static inline vector load(const unsigned char *from) {
  return _mm512_loadu_si512(from);
}
/* The first `bytes` bytes, and zeros. */
static inline vector load_part(const unsigned char *from, int64_t bytes) {
  return _mm512_maskz_loadu_epi8(bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0, from);
}
static inline void store(unsigned char *to, vector x) {
  _mm512_storeu_si512(to, x);
}
static inline void stream(unsigned char *to, vector x) {
  _mm512_stream_si512((void *)to, x);
}
#define FENCE() _mm_sfence()

#define ZIP_LOW_1 _mm512_unpacklo_epi8
#define ZIP_HIGH_1 _mm512_unpackhi_epi8
#define ZIP_LOW_2 _mm512_unpacklo_epi16
#define ZIP_HIGH_2 _mm512_unpackhi_epi16
#define ZIP_LOW_4 _mm512_unpacklo_epi32
#define ZIP_HIGH_4 _mm512_unpackhi_epi32
#define ZIP_LOW_8 _mm512_unpacklo_epi64
#define ZIP_HIGH_8 _mm512_unpackhi_epi64

/* The transpose of the lanes: lane l of out[k] is lane k of in[l]. */
static inline void turn_lanes(const vector in[4], vector out[4]) {
  const vector low = _mm512_shuffle_i64x2(in[0], in[1], 0x44),
               high = _mm512_shuffle_i64x2(in[0], in[1], 0xee),
               low_on = _mm512_shuffle_i64x2(in[2], in[3], 0x44),
               high_on = _mm512_shuffle_i64x2(in[2], in[3], 0xee);
  out[0] = _mm512_shuffle_i64x2(low, low_on, 0x88);
  out[1] = _mm512_shuffle_i64x2(low, low_on, 0xdd);
  out[2] = _mm512_shuffle_i64x2(high, high_on, 0x88);
  out[3] = _mm512_shuffle_i64x2(high, high_on, 0xdd);
}
