/* Kernels in f32 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef float sixteen __attribute__((vector_size(64), may_alias));

/* Sums of four vectors' numbers: in each quarter one number of each, then the quarters are added. */
static inline void totals(const sixteen *from, float *to) {
  const __m512 a = (__m512)from[0], b = (__m512)from[1], c = (__m512)from[2], d = (__m512)from[3];
  const __m512d ab = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
  const __m512d cd = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
  const __m512 four = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
                                    _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
  const __m256 two = _mm256_add_ps(_mm512_castps512_ps256(four),
                                   _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(four), 1)));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1)));
}

#define REAL float
#define SUFFIX _f32
#define VECTOR_BYTES 64
#define STREAM(to, value) _mm512_stream_ps(to, (__m512)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) _mm512_maskz_loadu_ps((__mmask16)((1u << (count)) - 1), from)
#define TOTAL(value) _mm512_reduce_add_ps((__m512)(value))
#define TOTALS(values, to) totals(values, to)
#define KEEP(value) __asm__("" : "+v"(value))
#define HELD 24
#define NEAR_ROWS(q) ((q) == 1 ? 16 : (q) == 4 || (q) == 5 ? 4 : 8)
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 4)
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx512_f32 = TABLE_ROW(TESELA_F32);

#endif
