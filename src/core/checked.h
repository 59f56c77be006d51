/* Each function returns false, with *out unchanged, if the result overflows. */
#ifndef TSL_CORE_CHECKED_H
#define TSL_CORE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool tsl_size_mul(size_t a, size_t b, size_t *out) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return false;
  *out = product;
  return true;
}

static inline bool tsl_size_add(size_t a, size_t b, size_t *out) {
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return false;
  *out = sum;
  return true;
}

static inline bool tsl_i64_mul(int64_t a, int64_t b, int64_t *out) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return false;
  *out = product;
  return true;
}

static inline bool tsl_i64_add(int64_t a, int64_t b, int64_t *out) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return false;
  *out = sum;
  return true;
}

#endif
