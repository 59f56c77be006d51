/* What the texts of this folder begin with: an element's components, vectors of them, and how what lies far
 * is loaded. */
#ifndef TSL_VECTOR_KERNELS_ELEMENTS_KERNEL_H
#define TSL_VECTOR_KERNELS_ELEMENTS_KERNEL_H

#include "vector/vector_kernels.h"

#include "host/simd.h"

#define SUFFIX JOIN(COMPONENT_SUFFIX_, TSL_TYPE)
#define REAL JOIN(REAL_, TSL_TYPE)
enum { PARTS = JOIN(COMPONENTS_, TSL_TYPE), LANES = NAME(LANES) };
typedef NAME(vector) vector;

/* 1 and -1 by turns. */
static inline vector alternating(void) {
  static const REAL signs[16] = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
  return NAME(load)(signs);
}
static inline vector all(REAL number) {
  return number - (vector){0};
}

/* A vector that is used twice is loaded once: compilers would have both instructions load it. */
TSL_INLINE vector loaded(vector x) {
  TSL_KEEP(x);
  return x;
}

/* What the first cache does not hold is loaded as memory likes it. Bits are the same. */
enum { FAR = (1 << 15) / sizeof(REAL) };
TSL_INLINE vector load_whole(const REAL *from, bool far) {
  return far ? NAME(load_far)(from) : NAME(load)(from);
}

#endif
