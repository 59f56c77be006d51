#ifndef TSL_BLAS_INT_WIDTH_H
#define TSL_BLAS_INT_WIDTH_H

#include "blas/blas_symbol.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns true if 64-bit integers also serve 32-bit functions: their lower half is at the same place in
 * registers, on the stack and in memory. */
static inline bool tsl_blas_either_width(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
#else
  return false;
#endif
}

/* Returns a library's integer bits by calling its ddot; 0: unknown. Reads only the caller's memory. */
int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas);

#endif
