/* What the kernels' text asks of an instruction set, for AVX-512 with vectors of 16 bytes, in f32: for rows of C of four
 * numbers. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 2, LANES_f32 = 4 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef __mmask8 part_f32;

static inline part_f32 part_of_f32(int64_t count) {
  return (__mmask8)((1u << count) - 1);
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  return _mm_maskz_loadu_ps(part, from);
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  _mm_mask_storeu_ps(to, part, value);
}
