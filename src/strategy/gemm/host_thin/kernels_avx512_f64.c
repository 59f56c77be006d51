/* Kernels in f64 for AVX-512, thirty-two registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef double eight __attribute__((vector_size(64), may_alias));

/* Half of a vector on the other half. */
static inline __m256d halves(__m512d value) {
  return _mm256_add_pd(_mm512_castpd512_pd256(value), _mm512_extractf64x4_pd(value, 1));
}

/* Sums of four vectors' numbers. */
static inline void totals(const eight *from, double *to) {
  const __m512d a = (__m512d)from[0], b = (__m512d)from[1], c = (__m512d)from[2], d = (__m512d)from[3];
  const __m256d ab = halves(_mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)));
  const __m256d cd = halves(_mm512_add_pd(_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d)));
  _mm256_storeu_pd(to,
                   _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
}

#define REAL double
#define SUFFIX _f64
#define VECTOR_BYTES 64
#define STREAM(to, value) _mm512_stream_pd(to, (__m512d)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) _mm512_maskz_loadu_pd((__mmask8)((1u << (count)) - 1), from)
#define TOTAL(value) _mm512_reduce_add_pd((__m512d)(value))
#define TOTALS(values, to) totals(values, to)
#define KEEP(value) __asm__("" : "+v"(value))
#define HELD 24
#define NEAR_ROWS(q) ((q) == 1 ? 16 : (q) == 4 || (q) == 5 ? 4 : 8)
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 4)
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx512_f64 = TABLE_ROW(TESELA_F64);

#endif
