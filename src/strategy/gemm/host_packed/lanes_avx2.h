/* What the kernels' text asks of an instruction set, for AVX2: parts of vectors, and turning rows into columns. */
#include <immintrin.h>

enum { LANES_LOG2_f32 = 3, LANES_f32 = 8, TURN_f32 = 4 };
enum { LANES_LOG2_f64 = 2, LANES_f64 = 4, TURN_f64 = 2 };
enum { LANES_LOG2_couple = 2, LANES_couple = 4, TURN_couple = 2 };
enum { LANES_LOG2_pair = 1, LANES_pair = 2, TURN_pair = 1 };
typedef float vector_f32 __attribute__((vector_size(32), may_alias));
typedef double vector_f64 __attribute__((vector_size(32), may_alias));
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

/* The sign bits of the first `count` lanes. */
static inline __m256i part_f32(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline __m256i part_f64(int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline vector_f32 load_part_f32(const float *from, int64_t count) {
  return _mm256_maskload_ps(from, part_f32(count));
}
static inline void store_part_f32(float *to, vector_f32 value, int64_t count) {
  _mm256_maskstore_ps(to, part_f32(count), value);
}
static inline vector_f64 load_part_f64(const double *from, int64_t count) {
  return _mm256_maskload_pd(from, part_f64(count));
}
static inline void store_part_f64(double *to, vector_f64 value, int64_t count) {
  _mm256_maskstore_pd(to, part_f64(count), value);
}

/* out[s] = number `at` + s of eight rows: transposes of four by four in each half. */
static inline void turn_f32(const float *const *row, int64_t at, vector_f32 *out) {
  const __m256 a = _mm256_set_m128(_mm_loadu_ps(row[4] + at), _mm_loadu_ps(row[0] + at)),
               b = _mm256_set_m128(_mm_loadu_ps(row[5] + at), _mm_loadu_ps(row[1] + at)),
               c = _mm256_set_m128(_mm_loadu_ps(row[6] + at), _mm_loadu_ps(row[2] + at)),
               d = _mm256_set_m128(_mm_loadu_ps(row[7] + at), _mm_loadu_ps(row[3] + at));
  const __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
                cd_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, d)),
                ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b)),
                cd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
  out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, cd_low));
  out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, cd_low));
  out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high));
  out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high));
}

/* out[s] = number `at` + s of four rows: transposes of two by two in each half. */
static inline void turn_f64(const double *const *row, int64_t at, vector_f64 *out) {
  const __m256d even = _mm256_set_m128d(_mm_loadu_pd(row[2] + at), _mm_loadu_pd(row[0] + at)),
                odd = _mm256_set_m128d(_mm_loadu_pd(row[3] + at), _mm_loadu_pd(row[1] + at));
  out[0] = _mm256_unpacklo_pd(even, odd);
  out[1] = _mm256_unpackhi_pd(even, odd);
}

static inline vector_couple load_part_couple(const couple *from, int64_t count) {
  return load_part_f32(from->part, 2 * count);
}
static inline void store_part_couple(couple *to, vector_couple value, int64_t count) {
  store_part_f32(to->part, value, 2 * count);
}
/* As numbers of f64: they are moved and not computed with. */
static inline void turn_couple(const couple *const *row, int64_t at, vector_couple *out) {
  turn_f64((const double *const *)(const void *)row, at, (vector_f64 *)out);
}
static inline vector_pair load_part_pair(const pair *from, int64_t count) {
  return load_part_f64(from->part, 2 * count);
}
static inline void store_part_pair(pair *to, vector_pair value, int64_t count) {
  store_part_f64(to->part, value, 2 * count);
}

/* out[0] = element `at` of two rows. */
static inline void turn_pair(const pair *const *row, int64_t at, vector_pair *out) {
  out[0] = _mm256_set_m128d(_mm_loadu_pd(row[1][at].part), _mm_loadu_pd(row[0][at].part));
}

/* Pairs (real, imaginary) times i: (-imaginary, real). */
static inline vector_f32 times_i_f32(vector_f32 value) {
  const __m256 signs = _mm256_setr_ps(-0.0f, 0, -0.0f, 0, -0.0f, 0, -0.0f, 0);
  return _mm256_xor_ps(_mm256_permute_ps(value, 0xb1), signs);
}
static inline vector_f64 times_i_f64(vector_f64 value) {
  const __m256d signs = _mm256_setr_pd(-0.0, 0, -0.0, 0);
  return _mm256_xor_pd(_mm256_permute_pd(value, 0x5), signs);
}

/* sum + number * value, in the register where the sum is: compilers that choose between the forms of the instruction move
 * sums about, run out of the sixteen registers and store some in every step. */
static inline vector_f32 add_product_f32(vector_f32 sum, float number, vector_f32 value) {
  __asm__("vfmadd231ps %1, %2, %0" : "+x"(sum) : "x"(_mm256_set1_ps(number)), "x"(value));
  return sum;
}
static inline vector_f64 add_product_f64(vector_f64 sum, double number, vector_f64 value) {
  __asm__("vfmadd231pd %1, %2, %0" : "+x"(sum) : "x"(_mm256_set1_pd(number)), "x"(value));
  return sum;
}

#include "strategy/gemm/host_packed/lanes.h"
