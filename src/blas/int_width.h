/* How wide another library's integers are. */
#ifndef TSL_BLAS_INT_WIDTH_H
#define TSL_BLAS_INT_WIDTH_H

#include "blas/blas_symbol.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a function can be called that has integers of 32 or of 64 bits, whichever it is: those of 64 pass
 * for the others in registers or on the stack, or in the lower half of what is pointed at. */
static inline bool tsl_blas_either_width(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
#else
  return false;
#endif
}

/* The bits of the integers of a library whose ddot this is; 0 where it cannot be told. Nothing is read but
 * memory of the caller's. */
int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas);

#endif
