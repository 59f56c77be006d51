/* Words that the kernels' texts share, and what follows for every type from the vectors of an instruction set.
 * Vectors are the compiler's own type, because whether a compiler turns nested loops into vectors depends on the
 * compiler. Included at the end of a lanes_<set>.h. */
#ifndef TSL_GEMM_HOST_PACKED_LANES_H
#define TSL_GEMM_HOST_PACKED_LANES_H

#define JOIN_LATE(word, suffix) word##suffix
#define JOIN(word, suffix) JOIN_LATE(word, suffix)
#define NAME(word) JOIN(word, SUFFIX)

#if defined(__clang__)
#define TSL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TSL_UNROLL _Pragma("GCC unroll 16")
#endif

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

#define REAL float
#define ELEMENT float
#define SUFFIX _f32
#include "strategy/gemm/host_packed/vectors.h"
#undef ELEMENT
#undef SUFFIX
#define ELEMENT couple
#define SUFFIX _couple
#include "strategy/gemm/host_packed/vectors.h"
#undef REAL
#undef ELEMENT
#undef SUFFIX
#define REAL double
#define ELEMENT double
#define SUFFIX _f64
#include "strategy/gemm/host_packed/vectors.h"
#undef ELEMENT
#undef SUFFIX
#define ELEMENT pair
#define SUFFIX _pair
#include "strategy/gemm/host_packed/vectors.h"
#undef REAL
#undef ELEMENT
#undef SUFFIX

#endif
