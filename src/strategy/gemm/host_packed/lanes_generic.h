/* What the kernels' text asks of an instruction set, in plain C: vectors of 16 bytes, which SSE2 and Advanced SIMD
 * have. */
enum { LANES_LOG2_f32 = 2, LANES_f32 = 4, TURN_f32 = 1 };
enum { LANES_LOG2_f64 = 1, LANES_f64 = 2, TURN_f64 = 1 };
enum { LANES_LOG2_couple = 1, LANES_couple = 2, TURN_couple = 1 };
enum { LANES_LOG2_pair = 0, LANES_pair = 1, TURN_pair = 1 };
typedef float vector_f32 __attribute__((vector_size(16), may_alias));
typedef double vector_f64 __attribute__((vector_size(16), may_alias));
/* Two numbers of f32: an element of c64. It is aligned as its numbers are. */
typedef struct couple {
  float part[2];
} couple;
typedef vector_f32 vector_couple;
/* Two numbers of f64: an element of c128. */
typedef struct pair {
  double part[2];
} pair;
typedef vector_f64 vector_pair;

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

static inline vector_couple load_part_couple(const couple *from, int64_t count) {
  return load_part_f32(from->part, 2 * count);
}
static inline void store_part_couple(couple *to, vector_couple value, int64_t count) {
  store_part_f32(to->part, value, 2 * count);
}
static inline void turn_couple(const couple *const *row, int64_t at, vector_couple *out) {
  const float *first = row[0][at].part, *second = row[1][at].part;
  out[0] = (vector_f32){first[0], first[1], second[0], second[1]};
}
static inline vector_pair load_part_pair(const pair *from, int64_t count) {
  return load_part_f64(from->part, 2 * count);
}
static inline void store_part_pair(pair *to, vector_pair value, int64_t count) {
  store_part_f64(to->part, value, 2 * count);
}
static inline void turn_pair(const pair *const *row, int64_t at, vector_pair *out) {
  out[0] = load_part_f64(row[0][at].part, 2);
}

/* Pairs (real, imaginary) times i: (-imaginary, real). */
static inline vector_f32 times_i_f32(vector_f32 value) {
  return (vector_f32){-value[1], value[0], -value[3], value[2]};
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  return (vector_f64){-value[1], value[0]};
}

/* sum + number * value. */
static inline vector_f32 add_product_f32(vector_f32 sum, float number, vector_f32 value) {
  return sum + number * value;
}
static inline vector_f64 add_product_f64(vector_f64 sum, double number, vector_f64 value) {
  return sum + number * value;
}

#include "strategy/gemm/host_packed/lanes.h"
