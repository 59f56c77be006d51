/* Sums of a block. For each product, level by level from the window's top:
 *
 *   sum = base + left           bits(sum) - bits(base) is `left` in multiples of the level's unit, rounded
 *   left = left - (sum - base)  the rest, exactly: at most half a unit
 *
 * Integer additions make the sum, in any order and without loss. After the last level `left` must be 0,
 * and sums must have their base's exponent, else a product is too large or not a number; a block is tested
 * once. Only explicit fused operations may be fused, and nothing may be reordered (flags.cmake). */
#include "strategy/exact_sums/exact_blocks.h"
#include "strategy/exact_sums/words.h"

#include "host/simd.h"

enum { LANES = LANES_f64 };
typedef vector_f64 vector;
typedef uint64_t lanes __attribute__((vector_size(VECTOR_BYTES)));

#if HAS_FUSED
static inline vector product_error(vector a, vector b, vector product) {
  return fma_rounded_once_f64(a, b, -product);
}
static inline vector add_product(vector a, vector b, vector c) {
  return fma_rounded_once_f64(a, b, c);
}
#else
/* Returns the upper 26 bits: without fused operations halves have exact products (Dekker 1971). Factors above
 * 2^996 give NaN, which is outside of the window. */
static inline vector upper_half(vector x) {
  const vector shifted = x * 134217729.0; /* 2^27 + 1 (Veltkamp) */
  return shifted - (shifted - x);
}
static inline vector product_error(vector a, vector b, vector product) {
  const vector a_high = upper_half(a), a_low = a - a_high;
  const vector b_high = upper_half(b), b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
static inline vector add_product(vector a, vector b, vector c) {
  return a * b + c;
}
#endif

static inline vector splat(double x) {
  return (vector){0} + x;
}

static uint64_t sum_lanes(lanes v) {
  uint64_t sum = 0;
  for (int i = 0; i < LANES; i++)
    sum += v[i];
  return sum;
}

static uint64_t or_lanes(lanes v) {
  uint64_t bits = 0;
  for (int i = 0; i < LANES; i++)
    bits |= v[i];
  return bits;
}

/* Returns a level's sum from the sum of bits, which includes the base's bits `count` times. */
static int64_t level_from_bits(lanes bits, double base, uint64_t count) {
  return (int64_t)(sum_lanes(bits) - count * (uint64_t)tsl_exact_bits_of(base));
}

/* Returns true if no exponent differs from its base's (`outside`) and no remainder is left (`lost`). */
static bool is_inside_window(lanes outside, lanes lost) {
  return or_lanes(outside) >> 52 == 0 && or_lanes(lost) << 1 == 0;
}

static inline void set_bases(vector *base, int top, int depth) {
  for (int j = 0; j < depth; j++)
    base[j] = splat(tsl_exact_base(top - 52 * j));
}

/* Converts each level's sum of bits to the sum. Middle levels got 1 + `more` numbers from each product. */
static inline void set_levels(const lanes *sum, int top, int depth, int more, int64_t *levels) {
  for (int j = 0; j < TSL_EXACT_DEEP; j++) {
    const int count = TSL_EXACT_BLOCK * (j > 0 && j < depth - 1 ? 1 + more : 1);
    levels[j + 1] = j < depth ? level_from_bits(sum[j], tsl_exact_base(top - 52 * j), (uint64_t)count) : 0;
  }
}

/* Adds `left` to a level, and subtracts the part that the level holds from it. */
static inline void add_to_level(lanes *sum, vector base, vector *left) {
  const vector at = base + *left;
  *sum += (lanes)at;
  *left -= at - base;
}

__attribute__((always_inline)) static inline bool sum_block_exactly_f32(const float *x, const float *y,
                                                                        int top, int depth, int64_t *levels) {
  vector base[TSL_EXACT_DEEP];
  lanes sum[TSL_EXACT_DEEP] = {{0}}, outside = {0}, lost = {0};
  set_bases(base, top, depth);
  for (int i = 0; i < TSL_EXACT_BLOCK; i += LANES) {
    const vector a = widen_f64(x + i), b = widen_f64(y + i), at = add_product(a, b, base[0]);
    vector left = add_product(a, b, base[0] - at);
    sum[0] += (lanes)at;
    outside |= (lanes)at ^ (lanes)base[0];
    for (int j = 1; j < depth; j++)
      add_to_level(&sum[j], base[j], &left);
    lost |= (lanes)left;
  }
  set_levels(sum, top, depth, 0, levels);
  return is_inside_window(outside, lost);
}

/* Returns true if a product underflowed to 0 with nonzero factors; its error is then lost, too. */
static bool has_vanished_product(const double *x, const double *y) {
  int count = 0;
  for (int i = 0; i < TSL_EXACT_BLOCK; i++)
    count += (x[i] != 0) & (y[i] != 0) & (x[i] * y[i] == 0);
  return count != 0;
}

__attribute__((always_inline)) static inline bool sum_block_exactly_f64(const double *x, const double *y,
                                                                        int top, int depth, int64_t *levels) {
  vector base[TSL_EXACT_DEEP];
  lanes sum[TSL_EXACT_DEEP] = {{0}}, outside = {0}, lost = {0}, zero = {0};
  set_bases(base, top, depth);
  for (int i = 0; i < TSL_EXACT_BLOCK; i += LANES) {
    const vector a = load_f64(x + i), b = load_f64(y + i), product = a * b, at = base[0] + product;
    vector left = product - (at - base[0]), error = product_error(a, b, product);
    sum[0] += (lanes)at;
    outside |= (lanes)at ^ (lanes)base[0];
    for (int j = 1; j < depth; j++) {
      if (j < depth - 1)
        add_to_level(&sum[j], base[j], &left);
      add_to_level(&sum[j], base[j], &error);
    }
    lost |= (lanes)left | (lanes)error;
    zero |= (lanes)(product == 0);
  }
  set_levels(sum, top, depth, 1, levels);
  return is_inside_window(outside, lost) && !(or_lanes(zero) != 0 && has_vanished_product(x, y));
}

static bool sum_shallow_f32(const void *x, const void *y, int top, int64_t *levels) {
  return sum_block_exactly_f32(x, y, top, TSL_EXACT_SHALLOW_F32, levels);
}

static bool sum_deep_f32(const void *x, const void *y, int top, int64_t *levels) {
  return sum_block_exactly_f32(x, y, top, TSL_EXACT_DEEP, levels);
}

static bool sum_shallow_f64(const void *x, const void *y, int top, int64_t *levels) {
  return sum_block_exactly_f64(x, y, top, TSL_EXACT_SHALLOW_F64, levels);
}

static bool sum_deep_f64(const void *x, const void *y, int top, int64_t *levels) {
  return sum_block_exactly_f64(x, y, top, TSL_EXACT_DEEP, levels);
}

const tsl_exact_blocks TSL_ISA_NAME(tsl_exact_blocks) = {{sum_shallow_f32, sum_deep_f32},
                                                         {sum_shallow_f64, sum_deep_f64}};
