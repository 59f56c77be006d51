/* What the kernels' text asks of an instruction set, for AVX-512 with vectors of 32 bytes: for rows of C that a whole
 * vector would be half empty with. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 3, LANES_LOG2_f64 = 2, LANES_f32 = 8, LANES_f64 = 4 };
typedef float vector_f32 __attribute__((vector_size(32), may_alias));
typedef double vector_f64 __attribute__((vector_size(32), may_alias));
typedef __mmask8 part_f32;
typedef __mmask8 part_f64;

static inline part_f32 part_of_f32(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline part_f64 part_of_f64(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  return _mm256_maskz_loadu_ps(part, from);
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  _mm256_mask_storeu_ps(to, part, value);
}
static inline vector_f64 load_part_f64(const double *from, part_f64 part) {
  return _mm256_maskz_loadu_pd(part, from);
}
static inline void store_part_f64(double *to, vector_f64 value, part_f64 part) {
  _mm256_mask_storeu_pd(to, part, value);
}
