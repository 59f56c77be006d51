/* u = 2^-53. Products of floats are exact. The error of a panel's sum from 0 on and of the sum of panels is
 * at most (256 + panels + 1) u |A||B|.
 *
 * Doubles, with all values of `high` between 2^top and 2^(top + 1): a step leaves at most 2^(top - 53), which
 * is rounded by 2^(top - 106). `low` starts a panel with at most 2^(top - 53), so it stays below 257.1 times
 * that. Each sum is rounded by at most 257.1 2^(top - 106): in all 260 k 2^(top - 106). Adding `low` to
 * `high` after a panel loses nothing.
 *
 * Sums below 2^93 times a common divisor of all products lose nothing at all: 2^top is at most 2^4 times as
 * large, and `low` below 2^(9 + top - 53), 53 bits.
 *
 * The compiler must not fuse or reorder any operation (flags.cmake). */
#include "strategy/gemm/emulated/exact/exact_near.h"

#include "host/simd.h"

#include <math.h>

enum {
  LANES = LANES_f64,
  VECTORS = 2,
  COLUMNS = VECTORS * LANES,
  FLOAT_ROWS = REGISTERS >= 32 ? 12 : 6,
  PAIR_ROWS = FLOAT_ROWS / 2
};

static void add_floats(int depth, const double *a, const double *b, double *high, double *low, int64_t row) {
  vector_f64 sum[FLOAT_ROWS][VECTORS] = {{{0}}};
  (void)low;
  for (int l = 0; l < depth; l++, a += FLOAT_ROWS, b += COLUMNS) {
    const vector_f64 b_row[VECTORS] = {load_f64(b), load_f64(b + LANES)};
    TSL_UNROLL for (int i = 0; i < FLOAT_ROWS; i++) {
      TSL_UNROLL for (int j = 0; j < VECTORS; j++) sum[i][j] = fma_f64(sum[i][j], a[i], b_row[j]);
    }
  }
  TSL_UNROLL for (int i = 0; i < FLOAT_ROWS; i++, high += row) {
    TSL_UNROLL for (int j = 0; j < VECTORS; j++)
        store_f64(high + j * LANES, load_f64(high + j * LANES) + sum[i][j]);
  }
}

static inline double lesser(double a, double b) {
  return a < b ? a : b;
}

/* Returns a bound of all partial sums of a pair of lines, roundings included: lines have less than 2^31
 * numbers. Returns 0 only if a line has only zeros; at least the smallest double otherwise. */
static inline double bound_of_sums(double largest, double total, double b_largest, double b_total) {
  const double least = lesser(largest * b_total, total * b_largest);
  return least * (1 + 0x1p-20) + (least == 0 && largest > 0 && b_largest > 0 ? 0x1p-1074 : 0);
}

/* Returns true if sums of at most `most` have at most `bits` as a multiple of the last place of the products.
 * A subnormal product of grains is rounded down, which is safe. */
static inline bool fits_bits(double most, double grain, double b_grain, double bits) {
  return most < bits * (grain * b_grain);
}

static void begin_floats(const tsl_near_row *row, double *high, double *low) {
  (void)low;
  for (int j = 0; j < row->count; j++)
    high[j] = 0;
}

static void enclose_floats(const tsl_near_row *row, double *lower, double *upper) {
  const double panels = (double)(row->k / TSL_NEAR_DEPTH + 1),
               relative = row->k == 0 ? 0 : (TSL_NEAR_DEPTH + panels + 2) * 0x1p-53, alpha = row->alpha,
               beta = row->beta;
  const bool plain = alpha == 1 && beta == 0;
  for (int j = 0; j < row->count; j++) {
    const double most = bound_of_sums(row->largest, row->total, row->b.largest[j], row->b.total[j]),
                 product = alpha * row->high[j], added = beta == 0 ? 0 : beta * row->before[j],
                 value = product + added + 0.0, /* no negative zero */
        off = fabs(alpha) * most * relative + 0x1p-50 * (fabs(product) + fabs(added)),
                 known = plain && fits_bits(most, row->grain, row->b.grain[j], 0x1p53) ? 0 : off;
    lower[j] = value - known;
    upper[j] = value + known;
  }
}

#if HAS_FUSED
/* Returns 1.5 2^top with all sums below 2^(top - 2); 0: all sums are 0; NaN: over- or underflow may occur. */
static inline double base_of(double most) {
  enum { ABOVE = 3, LEAST = 1023 - 950, MOST = 1023 + 1010 };
  int64_t bits;
  double base;
  memcpy(&bits, &most, sizeof bits);
  const int64_t exponent = (bits >> 52) + ABOVE;
  bits = (int64_t)((uint64_t)exponent << 52) + ((int64_t)1 << 51);
  memcpy(&base, &bits, sizeof base);
  return most == 0 ? 0 : exponent >= LEAST && exponent <= MOST ? base : (double)NAN;
}

static void begin_pairs(const tsl_near_row *row, double *high, double *low) {
  for (int j = 0; j < row->count; j++) {
    high[j] = base_of(bound_of_sums(row->largest, row->total, row->b.largest[j], row->b.total[j]));
    low[j] = 0;
  }
}

static void add_pairs(int depth, const double *a, const double *b, double *high, double *low, int64_t row) {
  vector_f64 sum[PAIR_ROWS][VECTORS], rest[PAIR_ROWS][VECTORS];
  TSL_UNROLL for (int i = 0; i < PAIR_ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < VECTORS; j++) {
      sum[i][j] = load_f64(high + i * row + j * LANES);
      rest[i][j] = load_f64(low + i * row + j * LANES);
    }
  }
  for (int l = 0; l < depth; l++, a += PAIR_ROWS, b += COLUMNS) {
    const vector_f64 b_row[VECTORS] = {load_f64(b), load_f64(b + LANES)};
    TSL_UNROLL for (int i = 0; i < PAIR_ROWS; i++) {
      const vector_f64 number = a[i] - (vector_f64){0};
      TSL_UNROLL for (int j = 0; j < VECTORS; j++) {
        const vector_f64 next = fma_rounded_once_f64(number, b_row[j], sum[i][j]), moved = next - sum[i][j];
        rest[i][j] += fma_rounded_once_f64(number, b_row[j], -moved);
        sum[i][j] = next;
      }
    }
  }
  TSL_UNROLL for (int i = 0; i < PAIR_ROWS; i++) {
    TSL_UNROLL for (int j = 0; j < VECTORS; j++) {
      const vector_f64 all = sum[i][j] + rest[i][j];
      store_f64(high + i * row + j * LANES, all);
      store_f64(low + i * row + j * LANES, rest[i][j] - (all - sum[i][j]));
    }
  }
}

/* Nearest number to a + b, and its exact error (Knuth 1969). */
typedef struct pair {
  double high, low;
} pair;
static inline pair sum_of(double a, double b) {
  const double sum = a + b, other = sum - a;
  return (pair){sum, (a - (sum - other)) + (b - other)};
}
static inline pair product_of(double a, double b) {
  const double product = a * b;
  return (pair){product, fma(a, b, -product)};
}

/* Returns a bound of the bits that a product loses near the smallest numbers; 0 if a factor is 0. */
static inline double underflow_of(double a, double b, double product) {
  const double size = fabs(product);
  return size * 0x1p-120 + (size < 0x1p-900 && a != 0 && b != 0 ? 0x1p-1060 : 0);
}

/* Returns high + low, where |low| is at most half of high's last place. A sum below `least` is rounded once,
 * to a multiple of 2^-52 `least`. An exact 0 is positive. */
static inline double rounded_of(double high, double low, double least) {
  const double sum = high + low + 0.0;
  if (least == 0)
    return sum;
  const double edge = fabs(sum) < least ? copysign(least, sum) : 0;
  const pair moved = sum_of(edge, high);
  return copysign(moved.high + (moved.low + low) - edge, sum);
}

TSL_INLINE void enclose_scaled(const tsl_near_row *row, double row_least, double *lower, double *upper) {
  const double relative = (double)row->k * (261. / 1.5) * 0x1p-106, alpha = row->alpha, beta = row->beta;
  const bool plain = alpha == 1 && beta == 0;
  for (int j = 0; j < row->count; j++) {
    const double most = bound_of_sums(row->largest, row->total, row->b.largest[j], row->b.total[j]),
                 base = base_of(most), before = beta == 0 ? 0 : row->before[j],
                 least = row_least == 0 ? 0 : row_least * row->b.scale[j];
    const pair sum = sum_of(row->high[j] - base, row->low[j]), scaled = product_of(alpha, sum.high),
               added = product_of(beta, before), all = sum_of(scaled.high, added.high);
    const double small = scaled.low + added.low, tail = alpha * sum.low, rest = all.low + small + tail;
    const pair result = sum_of(all.high, rest);
    const double summed = fabs(alpha) * (base * relative),
                 off = summed + (summed < 0x1p-1000 && alpha != 0 && base > 0 ? 0x1p-1060 : 0) +
                       0x1p-50 * (fabs(all.low) + fabs(scaled.low) + fabs(added.low) + fabs(tail)) +
                       0x1p-50 * fabs(result.low) + underflow_of(alpha, sum.high, scaled.high) +
                       underflow_of(beta, before, added.high),
                 known = (plain && fits_bits(most, row->grain, row->b.grain[j], 0x1p93) ? 0 : off) +
                         (least != 0 && result.low != 0 ? 0x1p-52 * lesser(fabs(result.high), 0x1p-52 * least)
                                                        : 0);
    lower[j] = rounded_of(result.high, result.low - known, least);
    upper[j] = rounded_of(result.high, result.low + known, least);
  }
}

static void enclose_pairs(const tsl_near_row *row, double *lower, double *upper) {
  if (row->least == 0)
    enclose_scaled(row, 0, lower, upper);
  else
    enclose_scaled(row, row->least, lower, upper);
}
#define PAIRS                                                                                                \
  { PAIR_ROWS, COLUMNS, add_pairs, begin_pairs, enclose_pairs }
#else
#define PAIRS                                                                                                \
  { PAIR_ROWS, COLUMNS, NULL, NULL, NULL }
#endif

const tsl_near TSL_ISA_NAME(tsl_near) = {{FLOAT_ROWS, COLUMNS, add_floats, begin_floats, enclose_floats},
                                         PAIRS};
