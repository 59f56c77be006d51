/* What the kernels' text asks of an instruction set, in plain C: vectors of 16 bytes, which SSE2 and Advanced SIMD
 * have; a part of one is loaded number by number. */
enum { LANES_LOG2_f32 = 2, LANES_LOG2_f64 = 1, LANES_f32 = 4, LANES_f64 = 2 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef double vector_f64 __attribute__((vector_size(16), may_alias));
typedef int64_t part_f32;
typedef int64_t part_f64;

static inline part_f32 part_of_f32(int64_t count) {
  return count;
}
static inline part_f64 part_of_f64(int64_t count) {
  return count;
}
static inline vector_f32 load_part_f32(const float *from, part_f32 part) {
  vector_f32 value = {0};
  for (int64_t i = 0; i < part; i++)
    value[i] = from[i];
  return value;
}
static inline void store_part_f32(float *to, vector_f32 value, part_f32 part) {
  for (int64_t i = 0; i < part; i++)
    to[i] = value[i];
}
static inline vector_f64 load_part_f64(const double *from, part_f64 part) {
  vector_f64 value = {0};
  for (int64_t i = 0; i < part; i++)
    value[i] = from[i];
  return value;
}
static inline void store_part_f64(double *to, vector_f64 value, part_f64 part) {
  for (int64_t i = 0; i < part; i++)
    to[i] = value[i];
}
