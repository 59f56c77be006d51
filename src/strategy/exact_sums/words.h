/* Host definitions of the dialect's words in exact_shared.h. */
#ifndef TSL_EXACT_WORDS_H
#define TSL_EXACT_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TSL_FUNCTION static inline
#define TSL_LOCAL_POINTER
#define TSL_INDEX int64_t
#define TSL_AS_INDEX(x) tsl_exact_bits_of(x)
#define TSL_AS_DOUBLE(i) tsl_exact_double_of(i)

static inline int64_t tsl_exact_bits_of(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double tsl_exact_double_of(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#include "strategy/exact_sums/exact_shared.h"

#endif
