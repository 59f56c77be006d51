/* Width of another library's integers. */
#ifndef TSL_BLAS_INT_WIDTH_H
#define TSL_BLAS_INT_WIDTH_H

#include "blas/blas_symbol.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns true if a function with integers of either width can be called with 64-bit ones. Then its
 * lower 32 bits are at the same place in registers, on the stack and in memory. */
static inline bool tsl_blas_either_width(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
#else
  return false;
#endif
}

/* Returns the number of integer bits of a library from its ddot; 0: unknown. The test reads only
 * memory of the caller. */
int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas);

#endif
