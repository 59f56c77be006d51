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

#define REAL float
#define SUFFIX _f32
#define VECTOR_BYTES 32
#define STREAM(to, value) _mm256_stream_ps(to, (__m256)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) load_part(from, count)
#define TOTAL(value) total((__m256)(value))
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx2_f32 = TABLE_ROW(TESELA_F32);

#endif
