/* What the kernels' text asks of an instruction set, in plain C: vectors of 16 bytes, which SSE2 and Advanced SIMD
 * have. */
#include <string.h>

enum { LANES_LOG2_f32 = 2, LANES_LOG2_f64 = 1, LANES_f32 = 4, LANES_f64 = 2, TURN_f32 = 1, TURN_f64 = 1 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef double vector_f64 __attribute__((vector_size(16), may_alias));

static inline vector_f32 load_part_f32(const float *from, int64_t count) {
  vector_f32 value = {0};
  for (int64_t i = 0; i < count; i++)
    value[i] = from[i];
  return value;
}
static inline void store_part_f32(float *to, vector_f32 value, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    to[i] = value[i];
}
static inline vector_f64 load_part_f64(const double *from, int64_t count) {
  vector_f64 value = {0};
  for (int64_t i = 0; i < count; i++)
    value[i] = from[i];
  return value;
}
static inline void store_part_f64(double *to, vector_f64 value, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    to[i] = value[i];
}

/* out[0] = number `at` of as many rows as there are lanes. */
static inline void turn_f32(const float *const *row, int64_t at, vector_f32 *out) {
  out[0] = (vector_f32){row[0][at], row[1][at], row[2][at], row[3][at]};
}
static inline void turn_f64(const double *const *row, int64_t at, vector_f64 *out) {
  out[0] = (vector_f64){row[0][at], row[1][at]};
}
