/* What the kernels' text asks of an instruction set, for AVX-512: masks cost nothing, so that the last vector of a row is
 * always one with a mask. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 4, LANES_LOG2_f64 = 3, LANES_f32 = 16, LANES_f64 = 8 };
typedef float vector_f32 __attribute__((vector_size(64), may_alias));
typedef double vector_f64 __attribute__((vector_size(64), may_alias));
typedef __mmask16 part_f32;
typedef __mmask8 part_f64;

static inline part_f32 part_of_f32(int64_t count) {
  return (__mmask16)((1u << count) - 1);
}
static inline part_f64 part_of_f64(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  return _mm512_maskz_loadu_ps(part, from);
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  _mm512_mask_storeu_ps(to, part, value);
}
static inline vector_f64 load_part_f64(const double *from, part_f64 part) {
  return _mm512_maskz_loadu_pd(part, from);
}
static inline void store_part_f64(double *to, vector_f64 value, part_f64 part) {
  _mm512_mask_storeu_pd(to, part, value);
}
