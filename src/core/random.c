#include "core/random.h"

#include <math.h>
#include <string.h>

/* Unfused products and sums give equal bits with all compilers. (GCC does not fuse in ISO mode.) */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Values that tsl_random_fill() draws at once: even, and small enough for the first-level cache. */
#define VALUES_AT_ONCE 512

#define GAMMA UINT64_C(0x9e3779b97f4a7c15) /* 2^64 over the golden ratio, the step of splitmix64 */

static inline uint64_t splitmix_bits(uint64_t state) {
  state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  state = (state ^ state >> 27) * UINT64_C(0x94d049bb133111eb);
  return state ^ state >> 31;
}

/* Mixes the seed, so that neighbouring seeds are unrelated. */
static inline uint64_t get_sequence_start(uint64_t seed) {
  return splitmix_bits(seed + GAMMA);
}

static inline uint64_t random_bits_at(uint64_t start, uint64_t index) {
  return splitmix_bits(start + (index + 1) * GAMMA);
}

uint64_t tsl_random_u64(uint64_t seed, uint64_t index) {
  return random_bits_at(get_sequence_start(seed), index);
}

/* Draws odd multiples of 2^-52 between -1 and 1: symmetric, never 0. */
static void draw_uniform(uint64_t start, uint64_t first, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) {
    const int64_t top = (int64_t)(random_bits_at(start, first + i) >> 11) - ((int64_t)1 << 52);
    out[i] = (double)(top | 1) * 0x1p-52;
  }
}

/* Draws whole numbers from -8 to 8: the upper half of the bits, times 17, of which again the upper half. */
static void draw_integer(uint64_t start, uint64_t first, size_t count, double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = (double)((random_bits_at(start, first + i) >> 32) * 17 >> 32) - 8;
}

/* Returns log x of a normal number 0 < x < 1, within a few units in the last place, equal on all machines. x
 * = 2^e m with sqrt(1/2) <= m <= sqrt(2); log m = 2 artanh s, s = (m - 1) / (m + 1), by power series. |s| <
 * 0.172; the first omitted term is below 2^-56. */
static inline double log_below_1(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  /* Makes the exponent field count from sqrt(1/2). */
  const uint64_t above = bits - UINT64_C(0x3fe6a09e667f3bcd);
  const int64_t exponent = (int64_t)above >> 52;
  bits -= (uint64_t)exponent << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 21;
  sum = sum * z + 1.0 / 19;
  sum = sum * z + 1.0 / 17;
  sum = sum * z + 1.0 / 15;
  sum = sum * z + 1.0 / 13;
  sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9;
  sum = sum * z + 1.0 / 7;
  sum = sum * z + 1.0 / 5;
  sum = sum * z + 1.0 / 3;
  return (double)exponent * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * z * sum);
}

/* Returns sin x for -pi/4 <= x <= pi/4 by its power series. */
static inline double sine_near_0(double x) {
  const double z = x * x;
  double sum = 1.0 / 355687428096000; /* 17! */
  sum = sum * z - 1.0 / 1307674368000;
  sum = sum * z + 1.0 / 6227020800;
  sum = sum * z - 1.0 / 39916800;
  sum = sum * z + 1.0 / 362880;
  sum = sum * z - 1.0 / 5040;
  sum = sum * z + 1.0 / 120;
  sum = sum * z - 1.0 / 6;
  return x + x * z * sum;
}

static inline double cosine_near_0(double x) {
  const double z = x * x;
  double sum = 1.0 / 20922789888000; /* 16! */
  sum = sum * z - 1.0 / 87178291200;
  sum = sum * z + 1.0 / 479001600;
  sum = sum * z - 1.0 / 3628800;
  sum = sum * z + 1.0 / 40320;
  sum = sum * z - 1.0 / 720;
  sum = sum * z + 1.0 / 24;
  return 1 + z * (sum * z - 0.5);
}

/* Draws pairs of normal numbers by Box and Muller (1958), from bits 2p and 2p + 1; `first` and `count` are
 * even. They are coordinates of a point whose squared distance is -2 log of a uniform number. */
static void draw_normal(uint64_t start, uint64_t first, size_t count, double *out) {
  for (size_t i = 0; i < count; i += 2) {
    const uint64_t length_bits = random_bits_at(start, first + i),
                   angle_bits = random_bits_at(start, first + i + 1);
    /* Odd multiple of 2^-53 between 0 and 1; the largest normal number is 8.57. */
    const double length = sqrt(-2 * log_below_1((double)(int64_t)(length_bits >> 11 | 1) * 0x1p-53));
    /* Two bits choose the quadrant, 62 the angle, measured from its middle. */
    const double angle = (double)((int64_t)(angle_bits << 2) >> 11) * (0x1.921fb54442d18p-1 * 0x1p-52);
    const double x = cosine_near_0(angle) * length, y = sine_near_0(angle) * length;
    const int quarter = (int)(angle_bits >> 62);
    const double along = quarter & 1 ? y : x, across = quarter & 1 ? x : y;
    out[i] = quarter & 2 ? -along : along;
    out[i + 1] = (quarter == 1 || quarter == 2) ? -across : across;
  }
}

static void draw_graded(uint64_t start, uint64_t first, size_t count, double *out) {
  static const uint64_t other = UINT64_C(0x6772616465640000); /* ASCII of "graded" */
  draw_normal(start, first, count, out);
  const uint64_t exponents = splitmix_bits(start ^ other);
  for (size_t i = 0; i < count; i++) {
    const uint64_t exponent = (random_bits_at(exponents, first + i) >> 32) * 25 >> 32;
    const uint64_t power = (1023 - 12 + exponent) << 52;
    double factor;
    memcpy(&factor, &power, sizeof factor);
    out[i] *= factor;
  }
}

static void (*const draw[])(uint64_t start, uint64_t first, size_t count, double *out) = {
    [TSL_DRAW_NORMAL] = draw_normal,
    [TSL_DRAW_UNIFORM] = draw_uniform,
    [TSL_DRAW_INTEGER] = draw_integer,
    [TSL_DRAW_GRADED] = draw_graded,
};

double tsl_random_value(tsl_distribution distribution, uint64_t seed, uint64_t index) {
  double pair[2];
  draw[distribution](get_sequence_start(seed), index & ~(uint64_t)1, 2, pair);
  return pair[index & 1];
}

void tsl_random_fill(tsl_distribution distribution, uint64_t seed, uint64_t first, tesela_type type,
                     void *out, size_t count) {
  const tsl_type_info *const component = tsl_type(tsl_type(type)->component);
  const uint64_t start = get_sequence_start(seed);
  if (tsl_type(type)->is_complex) {
    first *= 2;
    count *= 2;
  }
  char *at = out;
  while (count > 0) {
    /* Blocks hold whole pairs; surplus values at either end are dropped. */
    double block[VALUES_AT_ONCE];
    const size_t before = first & 1, space = VALUES_AT_ONCE - before, taken = count < space ? count : space;
    draw[distribution](start, first - before, (before + taken + 1) & ~(size_t)1, block);
    tsl_type_convert(TESELA_F64, block + before, 1, component->type, at, 1, taken);
    at += taken * component->size;
    first += taken;
    count -= taken;
  }
}
