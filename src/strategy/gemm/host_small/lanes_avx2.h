/* What the kernels' text asks of an instruction set, for AVX2: a mask is a vector of sign bits. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 3, LANES_LOG2_f64 = 2, LANES_f32 = 8, LANES_f64 = 4 };
typedef float vector_f32 __attribute__((vector_size(32), may_alias));
typedef double vector_f64 __attribute__((vector_size(32), may_alias));
typedef __m256i part_f32;
typedef __m256i part_f64;

static inline part_f32 part_of_f32(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline part_f64 part_of_f64(int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  return _mm256_maskload_ps(from, part);
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  _mm256_maskstore_ps(to, part, value);
}
static inline vector_f64 load_part_f64(const double *from, part_f64 part) {
  return _mm256_maskload_pd(from, part);
}
static inline void store_part_f64(double *to, vector_f64 value, part_f64 part) {
  _mm256_maskstore_pd(to, part, value);
}
