#include "exact/vectors.h"

#include "core/random.h"
#include "exact/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vectors_create(tesela_type type, int64_t count, vectors *out) {
  const size_t room = (size_t)count + 1;
  *out = (vectors){.type = type, .count = count, .x = calloc(room, 8), .y = calloc(room, 8)};
  if (!out->x || !out->y) {
    fputs("no memory for vectors\n", stderr);
    exit(1);
  }
}

void vectors_free(vectors *vectors_in) {
  free(vectors_in->x);
  free(vectors_in->y);
}

double vectors_rounded(tesela_type type, double value) {
  return type == TESELA_F32 ? (double)(float)value : value;
}

static double uniform(uint64_t seed, uint64_t index) {
  return tsl_random_value(TSL_DRAW_UNIFORM, seed, index);
}

static int64_t roll(uint64_t seed, int64_t index, int64_t sides) {
  return (int64_t)(tsl_random_u64(seed, (uint64_t)index) % (uint64_t)sides);
}

static void set(vectors *vectors_in, int64_t i, double x, double y) {
  vectors_in->x[i] = vectors_rounded(vectors_in->type, x);
  vectors_in->y[i] = vectors_rounded(vectors_in->type, y);
}

void vectors_shuffle(vectors *vectors_in, uint64_t seed) {
  for (int64_t i = vectors_in->count - 1; i > 0; i--) {
    const int64_t j = roll(seed, i, i + 1);
    const double x = vectors_in->x[i], y = vectors_in->y[i];
    vectors_in->x[i] = vectors_in->x[j], vectors_in->y[i] = vectors_in->y[j];
    vectors_in->x[j] = x, vectors_in->y[j] = y;
  }
}

void vectors_ill_conditioned(vectors *vectors_in, double measure, uint64_t seed) {
  const int64_t half = vectors_in->count / 2, rest = vectors_in->count - half;
  const double bits = log2(measure);
  reference sum;
  reference_start(&sum);
  for (int64_t i = 0; i < vectors_in->count; i++) {
    double exponent = i == 0          ? floor(bits / 2) + 1
                      : i == half - 1 ? 0
                      : i < half
                          ? rint(fabs(uniform(seed, (uint64_t)i)) * bits / 2)
                          : rint(bits / 2 * (1 - (double)(i - half) / (double)(rest > 1 ? rest - 1 : 1)));
    const double x = vectors_rounded(vectors_in->type, ldexp(uniform(~seed, (uint64_t)i), (int)exponent));
    double y = ldexp(uniform(seed + 1, (uint64_t)i), (int)exponent);
    if (i >= half)
      y = (y - reference_value(&sum)) / x;
    set(vectors_in, i, x, y);
    reference_add(&sum, vectors_in->x[i], vectors_in->y[i]);
  }
  reference_end(&sum);
  vectors_shuffle(vectors_in, seed + 2);
}

/* Normal numbers times powers of two up to 2^measure either way. */
static void graded(vectors *vectors_in, double measure, uint64_t seed) {
  const int64_t span = 2 * (int64_t)measure + 1;
  for (int64_t i = 0; i < vectors_in->count; i++)
    set(vectors_in, i, ldexp(uniform(seed, (uint64_t)i), (int)(roll(seed + 1, i, span) - span / 2)),
        ldexp(uniform(seed + 2, (uint64_t)i), (int)(roll(seed + 3, i, span) - span / 2)));
}

/* Makes numbers from the smallest to the largest, or with an odd seed in reverse, so that windows
 * of the accumulator move. */
static void rising(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const double at = (double)i / (double)vectors_in->count, place = seed % 2 ? 1 - at : at;
    const int exponent = (int)(measure * (2 * place - 1));
    set(vectors_in, i, ldexp(uniform(seed, (uint64_t)i), exponent),
        ldexp(uniform(seed + 1, (uint64_t)i), exponent));
  }
}

/* Every bit pattern but NaN and infinities. */
static void patterns(vectors *vectors_in, double measure, uint64_t seed) {
  (void)measure;
  for (int64_t i = 0; i < 2 * vectors_in->count; i++) {
    const uint64_t bits = tsl_random_u64(seed, (uint64_t)i);
    const uint32_t short_bits = (uint32_t)bits;
    double value;
    float single;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &short_bits, sizeof single);
    if (vectors_in->type == TESELA_F32)
      value = single;
    (i % 2 ? vectors_in->y : vectors_in->x)[i / 2] = isfinite(value) ? value : 0;
  }
}

/* Subnormal numbers; with measure 1 against ordinary ones, with 0 against each other. */
static void subnormal(vectors *vectors_in, double measure, uint64_t seed) {
  const double smallest = tsl_type(vectors_in->type)->smallest;
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const double x = smallest * (double)(roll(seed, i, 2000) - 1000);
    set(vectors_in, i, x,
        measure != 0 ? uniform(seed + 1, (uint64_t)i) : smallest * (double)(roll(seed + 2, i, 999) - 500));
  }
}

/* Each term and its negative, shuffled: 0. */
static void cancelling(vectors *vectors_in, double measure, uint64_t seed) {
  graded(vectors_in, measure, seed);
  for (int64_t i = 0; i + 1 < vectors_in->count; i += 2) {
    vectors_in->x[i + 1] = -vectors_in->x[i];
    vectors_in->y[i + 1] = vectors_in->y[i];
  }
  if (vectors_in->count % 2)
    vectors_in->x[vectors_in->count - 1] = -0.0;
  vectors_shuffle(vectors_in, seed + 4);
}

/* Factors near the largest number, whose sum comes back into range. */
static void huge(vectors *vectors_in, double measure, uint64_t seed) {
  cancelling(vectors_in, 1, seed);
  for (int64_t i = 0; i < vectors_in->count; i++)
    set(vectors_in, i, ldexp(vectors_in->x[i], (int)measure), ldexp(vectors_in->y[i], (int)measure));
  for (int64_t i = 0; i < vectors_in->count; i += 17)
    set(vectors_in, i, uniform(seed, (uint64_t)i), uniform(seed + 9, (uint64_t)i));
}

/* Factors 2^e (1 + 2^-b) and 2^e' (1 - 2^-b): rounded, their product is a power of two, and its error lies 2
 * b bits below. Exponents are 0 or measure, which one of many products makes stand out by its error alone. */
static void near_powers(vectors *vectors_in, double measure, uint64_t seed) {
  const bool twice = vectors_in->type == TESELA_F64;
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const int digits = twice ? 27 + (int)roll(seed, i, 26) : 13 + (int)roll(seed, i, 11);
    const bool away = roll(seed + 1, i, 8) == 0;
    set(vectors_in, i, ldexp(1 + ldexp(1, -digits), away ? (int)measure : 0),
        ldexp(1 - ldexp(1, -digits), roll(seed + 2, i, 2) ? 0 : 1));
  }
}

/* Mostly zeros, of either sign. */
static void sparse(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const bool x_zero = (double)roll(seed, i, 100) < measure,
               y_zero = (double)roll(seed + 1, i, 100) < measure;
    const double x = uniform(seed + 2, (uint64_t)i), y = uniform(seed + 3, (uint64_t)i);
    set(vectors_in, i, x_zero ? copysign(0, x) : x, y_zero ? copysign(0, y) : y);
  }
}

/* Makes ordinary numbers, and a few that are 2^measure larger or smaller. */
static void outliers(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const double away = roll(seed, i, 300) == 0 ? (seed % 2 ? measure : -measure) : 0;
    set(vectors_in, i, ldexp(uniform(seed + 1, (uint64_t)i), (int)away), uniform(seed + 2, (uint64_t)i));
  }
}

/* Makes 1 + half a unit, in many terms: a tie, or a tie plus or minus one far smaller term (seed 1,
 * 2 modulo 3). `measure` is the exponent of a unit. The last digit is odd or even. */
static void tie(vectors *vectors_in, double measure, uint64_t seed) {
  const double unit = ldexp(1, (int)measure), base = seed % 2 ? 1 + unit : 1;
  const int64_t parts = vectors_in->count < 120 ? vectors_in->count / 2 : 60;
  for (int64_t i = 0; i < vectors_in->count; i++)
    set(vectors_in, i, 0, 3);
  for (int64_t i = 0; i < parts; i++) /* half a unit, in parts of a power of two */
    set(vectors_in, i, unit / 2, ldexp(1, -(int)(i < parts - 1 ? i + 1 : parts - 1)));
  if (vectors_in->count > parts)
    set(vectors_in, parts, seed % 4 < 2 ? base : -base, 1);
  if (vectors_in->count > parts + 1 && seed % 3)
    set(vectors_in, parts + 1, tsl_type(vectors_in->type)->smallest, seed % 3 == 1 ? 1 : -1);
  if (seed % 4 >= 2)
    for (int64_t i = 0; i < parts; i++)
      vectors_in->x[i] = -vectors_in->x[i];
  vectors_shuffle(vectors_in, seed);
}

/* Sums around the largest number plus half a unit, where rounding to infinity begins. */
static void brink(vectors *vectors_in, double measure, uint64_t seed) {
  const double largest = tsl_type(vectors_in->type)->largest, unit = ldexp(1, (int)measure);
  for (int64_t i = 0; i < vectors_in->count; i++)
    set(vectors_in, i, 0, 0);
  if (vectors_in->count >= 4) {
    set(vectors_in, 0, largest, 1);
    set(vectors_in, 1, unit, 0.5);
    set(vectors_in, 2, seed % 3 ? tsl_type(vectors_in->type)->smallest : 0, seed % 3 == 1 ? 1 : -1);
    set(vectors_in, 3, seed % 2 ? largest : 0, seed % 4 == 1 ? 0.5 : 1);
  }
  if (seed % 5 > 2)
    for (int64_t i = 0; i < vectors_in->count; i++)
      vectors_in->x[i] = -vectors_in->x[i];
  vectors_shuffle(vectors_in, seed);
}

/* NaN, infinities and zeros among numbers, `measure` of a thousand terms. */
static void special(vectors *vectors_in, double measure, uint64_t seed) {
  static const double values[] = {INFINITY, -INFINITY, NAN, 0};
  const int64_t kinds = 1 + roll(seed, -1, 4);
  for (int64_t i = 0; i < vectors_in->count; i++) {
    const bool rare = (double)roll(seed + 1, i, 1000) < measure;
    set(vectors_in, i, rare ? values[roll(seed + 2, i, kinds)] : uniform(seed + 3, (uint64_t)i),
        uniform(seed + 4, (uint64_t)i));
    if ((double)roll(seed + 5, i, 1000) < measure)
      vectors_in->y[i] = values[roll(seed + 6, i, kinds)];
  }
}

/* -0 times numbers: whatever the signs, the sum is +0. */
static void zeros(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++)
    set(vectors_in, i, -0.0, measure * uniform(seed, (uint64_t)i));
}

static const vectors_kind kinds[] = {
    {"ill-conditioned 1e8", vectors_ill_conditioned, 1e8, 1e8},
    {"ill-conditioned 1e16", vectors_ill_conditioned, 1e16, 1e16},
    {"ill-conditioned 1e30", vectors_ill_conditioned, 1e30, 1e30},
    {"ill-conditioned beyond", vectors_ill_conditioned, 1e36, 1e120},
    {"graded a little", graded, 6, 6},
    {"graded", graded, 30, 200},
    {"graded far", graded, 120, 1000},
    {"rising", rising, 100, 900},
    {"bit patterns", patterns, 0, 0},
    {"subnormal times ordinary", subnormal, 1, 1},
    {"subnormal times subnormal", subnormal, 0, 0},
    {"cancelling", cancelling, 20, 20},
    {"cancelling far", cancelling, 60, 500},
    {"huge", huge, 125, 1021},
    {"near powers of two", near_powers, -20, -95},
    {"near powers of two, far apart", near_powers, -60, -400},
    {"near powers of two, below others", near_powers, 20, 88},
    {"sparse", sparse, 50, 50},
    {"very sparse", sparse, 97, 97},
    {"outliers", outliers, 60, 60},
    {"outliers far", outliers, 120, 900},
    {"tie", tie, -23, -52},
    {"brink", brink, 104, 971},
    {"special, rare", special, 2, 2},
    {"special", special, 200, 200},
    {"zeros", zeros, 1, 1},
};

const vectors_kind *vectors_kind_at(int index) {
  return index < (int)(sizeof kinds / sizeof *kinds) ? &kinds[index] : NULL;
}
