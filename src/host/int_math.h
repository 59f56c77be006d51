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
/* Returns the number of parts of at most `part_max`; 0 for an empty total. */
static inline int64_t tsl_ceil_div(int64_t total, int64_t part_max) {
  return total <= 0 ? 0 : (total - 1) / part_max + 1;
}
/* Returns the number of parts of at most `part_max`; 1 for an empty total. */
static inline int64_t tsl_ceil_div_or_one(int64_t total, int64_t part_max) {
  return total <= 0 ? 1 : (total - 1) / part_max + 1;
}
/* Returns the smallest multiple of `unit` that is at least `size`; 0 for a size below 1. */
static inline int64_t tsl_round_up(int64_t size, int64_t unit) {
  return tsl_ceil_div(size, unit) * unit;
}
/* Returns the begin of part `index`; sizes differ by at most one. Index `parts`: `total`. */
static inline int64_t tsl_partition_begin(int64_t total, int64_t parts, int64_t index) {
  return total / parts * index + tsl_min(total % parts, index);
}

#endif
