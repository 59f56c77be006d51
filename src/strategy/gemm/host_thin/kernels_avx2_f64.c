/* Kernels in f64 for AVX2, sixteen registers; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* The first `count` numbers. */
static inline __m256d load_part(const double *from, int64_t count) {
  return _mm256_maskload_pd(from,
                            _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)));
}

static inline double total(__m256d value) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(value), _mm256_extractf128_pd(value, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

typedef double four __attribute__((vector_size(32), may_alias));

/* Sums of four vectors' numbers. */
static inline void totals(const four *from, double *to) {
  const __m256d ab = _mm256_hadd_pd((__m256d)from[0], (__m256d)from[1]),
                cd = _mm256_hadd_pd((__m256d)from[2], (__m256d)from[3]);
  _mm256_storeu_pd(to,
                   _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31)));
}

#define REAL double
#define SUFFIX _f64
#define VECTOR_BYTES 32
#define STREAM(to, value) _mm256_stream_pd(to, (__m256d)(value))
#define FENCE() _mm_sfence()
#define LOAD_PART(from, count) load_part(from, count)
#define TOTAL(value) total((__m256d)(value))
#define TOTALS(values, to) totals(values, to)
#define KEEP(value) __asm__("" : "+x"(value))
#define HELD 8
#define NEAR_ROWS(q) 8
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 2)
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_avx2_f64 = TABLE_ROW(TESELA_F64);

#endif
