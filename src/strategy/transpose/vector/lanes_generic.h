/* What the texts ask of an instruction set, for any processor: vectors of one lane of 16 bytes. SSE2 has a word for each
 * of these; elsewhere compilers find theirs for the loops. */
#include <string.h>

#define VECTOR_BYTES 16
#define REGISTERS 16
typedef float vector_f32 __attribute__((vector_size(16)));
typedef double vector_f64 __attribute__((vector_size(16)));

#if defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i vector;
#define ZIP_LOW_1 _mm_unpacklo_epi8
#define ZIP_HIGH_1 _mm_unpackhi_epi8
#define ZIP_LOW_2 _mm_unpacklo_epi16
#define ZIP_HIGH_2 _mm_unpackhi_epi16
#define ZIP_LOW_4 _mm_unpacklo_epi32
#define ZIP_HIGH_4 _mm_unpackhi_epi32
#define ZIP_LOW_8 _mm_unpacklo_epi64
#define ZIP_HIGH_8 _mm_unpackhi_epi64
static inline void stream(unsigned char *to, vector x) {
  _mm_stream_si128((__m128i *)(void *)to, x);
}
#define FENCE() _mm_sfence()
#else
typedef unsigned char vector __attribute__((vector_size(16)));
/* Elements of `size` bytes, by turns from x and y: of their first or their second halves. */
static inline vector zip(vector x, vector y, int size, int half) {
  vector out;
  for (int i = 0; i < 16; i++) {
    const int at = half + i / (2 * size) * size + i % size;
    out[i] = i / size % 2 ? y[at] : x[at];
  }
  return out;
}
#define ZIP_LOW_1(x, y) zip(x, y, 1, 0)
#define ZIP_HIGH_1(x, y) zip(x, y, 1, 8)
#define ZIP_LOW_2(x, y) zip(x, y, 2, 0)
#define ZIP_HIGH_2(x, y) zip(x, y, 2, 8)
#define ZIP_LOW_4(x, y) zip(x, y, 4, 0)
#define ZIP_HIGH_4(x, y) zip(x, y, 4, 8)
#define ZIP_LOW_8(x, y) zip(x, y, 8, 0)
#define ZIP_HIGH_8(x, y) zip(x, y, 8, 8)
static inline void stream(unsigned char *to, vector x) {
  memcpy(to, &x, sizeof x);
}
#define FENCE() (void)0
#endif

static inline vector load(const unsigned char *from) {
  vector x;
  memcpy(&x, from, sizeof x);
  return x;
}
/* The first `bytes` bytes, and zeros. */
static inline vector load_part(const unsigned char *from, int64_t bytes) {
  _Alignas(VECTOR_BYTES) unsigned char padded[VECTOR_BYTES] = {0};
  memcpy(padded, from, (size_t)bytes);
  return load(padded);
}
static inline void store(unsigned char *to, vector x) {
  memcpy(to, &x, sizeof x);
}

/* The transpose of the lanes. */
static inline void turn_lanes(const vector in[1], vector out[1]) {
  out[0] = in[0];
}
