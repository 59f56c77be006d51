/* How sizes are cut. */
#ifndef TSL_HOST_INT_MATH_H
#define TSL_HOST_INT_MATH_H

#include <stdint.h>

static inline int64_t tsl_min(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static inline int64_t tsl_max(int64_t a, int64_t b) {
  return a > b ? a : b;
}
static inline int64_t tsl_abs(int64_t value) {
  return value < 0 ? -value : value;
}
/* How many pieces of at most `most` something has; none where there is nothing. */
static inline int64_t tsl_ceil_div(int64_t total, int64_t most) {
  return total <= 0 ? 0 : (total - 1) / most + 1;
}
/* The same, but one at least, which may be empty. */
static inline int64_t tsl_ceil_div_or_one(int64_t total, int64_t most) {
  return total <= 0 ? 1 : (total - 1) / most + 1;
}
static inline int64_t tsl_round_up(int64_t size, int64_t unit) {
  return tsl_ceil_div(size, unit) * unit;
}
/* Where piece `index` of `pieces` starts, which differ by one at most: piece 0 at 0, the one past the last at
 * `total`. */
static inline int64_t tsl_partition_begin(int64_t total, int64_t pieces, int64_t index) {
  return total / pieces * index + tsl_min(total % pieces, index);
}

#endif
