/* Kernels in f32 for AVX2, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* The first `count` numbers. */
static inline __m256 load_part(const float *from, int64_t count) {
  const __m256i part =
      _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return _mm256_maskload_ps(from, part);
}

static inline float total(__m256 value) {
  const __m128 half = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
  const __m128 pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
}

typedef float eight __attribute__((vector_size(32), may_alias));

/* Sums of four vectors' numbers. */
static inline void totals(const eight *from, float *to) {
  const __m256 ab = _mm256_hadd_ps((__m256)from[0], (__m256)from[1]),
               cd = _mm256_hadd_ps((__m256)from[2], (__m256)from[3]), four = _mm256_hadd_ps(ab, cd);
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
}

#define REAL float
#define SUFFIX _f32
#define VECTOR_BYTES 32
#define STREAM(to, value) _mm256_stream_ps(to, (__m256)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) load_part(from, count)
#define TOTAL(value) total((__m256)(value))
#define TOTALS(values, to) totals(values, to)
#define KEEP(value) __asm__("" : "+x"(value))
#define HELD 8
#define NEAR_ROWS(q) 8
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 2)
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx2_f32 = TABLE_ROW(TESELA_F32);

#endif
