/* What the kernels' text asks of an instruction set, for AVX2 with vectors of 16 bytes, in f32: for rows of C of up to four
 * numbers. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 2, LANES_f32 = 4 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef __m128i part_f32;

static inline part_f32 part_of_f32(int64_t count) {
  return _mm_cmpgt_epi32(_mm_set1_epi32((int)count), _mm_setr_epi32(0, 1, 2, 3));
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  return _mm_maskload_ps(from, part);
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  _mm_maskstore_ps(to, part, value);
}
