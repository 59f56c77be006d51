#ifndef TSL_VECTOR_KERNELS_ELEMENTS_KERNEL_H
#define TSL_VECTOR_KERNELS_ELEMENTS_KERNEL_H

#include "vector/vector_kernels.h"

#include "host/simd.h"

#define SUFFIX JOIN(COMPONENT_SUFFIX_, TSL_TYPE)
#define REAL JOIN(REAL_, TSL_TYPE)
enum { PARTS = JOIN(COMPONENTS_, TSL_TYPE), LANES = NAME(LANES) };
typedef NAME(vector) vector;

static inline vector alternating_signs(void) {
  static const REAL signs[16] = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
  return NAME(load)(signs);
}
static inline vector splat(REAL number) {
  return number - (vector){0};
}

/* Forces a vector that is used twice into a register, because compilers would load it twice. */
TSL_INLINE vector keep_in_register(vector x) {
  TSL_KEEP(x);
  return x;
}

/* Components beyond the L1 cache, for which load_beyond_l1() is used. Bits are equal. */
enum { FAR = (1 << 15) / sizeof(REAL) };
TSL_INLINE vector load_whole(const REAL *from, bool uses_far_load) {
  return uses_far_load ? NAME(load_beyond_l1)(from) : NAME(load)(from);
}

#endif
