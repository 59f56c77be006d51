/* What the texts ask of an instruction set, for AVX2: vectors of two lanes of 16 bytes, interleaved within lanes. */
#include <immintrin.h>
#include <string.h>

#define VECTOR_BYTES 32
#define REGISTERS 16
typedef __m256i vector;
typedef float vector_f32 __attribute__((vector_size(32)));
typedef double vector_f64 __attribute__((vector_size(32)));

static inline vector load(const unsigned char *from) {
  return _mm256_loadu_si256((const __m256i_u *)from);
}
/* The first `bytes` bytes, and zeros. */
static inline vector load_part(const unsigned char *from, int64_t bytes) {
  _Alignas(VECTOR_BYTES) unsigned char padded[VECTOR_BYTES] = {0};
  memcpy(padded, from, (size_t)bytes);
  return load(padded);
}
static inline void store(unsigned char *to, vector x) {
  _mm256_storeu_si256((__m256i_u *)to, x);
}
static inline void stream(unsigned char *to, vector x) {
  _mm256_stream_si256((__m256i *)(void *)to, x);
}
#define FENCE() _mm_sfence()

#define ZIP_LOW_1 _mm256_unpacklo_epi8
#define ZIP_HIGH_1 _mm256_unpackhi_epi8
#define ZIP_LOW_2 _mm256_unpacklo_epi16
#define ZIP_HIGH_2 _mm256_unpackhi_epi16
#define ZIP_LOW_4 _mm256_unpacklo_epi32
#define ZIP_HIGH_4 _mm256_unpackhi_epi32
#define ZIP_LOW_8 _mm256_unpacklo_epi64
#define ZIP_HIGH_8 _mm256_unpackhi_epi64

/* The transpose of the lanes: lane l of out[k] is lane k of in[l]. */
static inline void turn_lanes(const vector in[2], vector out[2]) {
  out[0] = _mm256_permute2x128_si256(in[0], in[1], 0x20);
  out[1] = _mm256_permute2x128_si256(in[0], in[1], 0x31);
}
