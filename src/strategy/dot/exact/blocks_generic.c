/* Blocks for any processor: vectors of 16 bytes, which SSE2 and Advanced SIMD have; flags.cmake has the compiler's
 * flags. */
#define VECTOR_BYTES 16
#define PRODUCT_ERROR(a, b, product) product_error(a, b, product)
#define FUSED(a, b, c) ((a) * (b) + (c))
#define WIDENED(pointer) ((vector){(pointer)[0], (pointer)[1]})

/* Without a fused multiply-add: factors as halves of 26 bits, whose products are exact (Dekker 1971). Factors above
 * 2^996 come out as NaN here, which is a number outside of the window. */
typedef double two_doubles __attribute__((vector_size(VECTOR_BYTES)));

static inline two_doubles upper_half(two_doubles x) {
  const two_doubles shifted = x * 134217729.0; /* 2^27 + 1 (Veltkamp) */
  return shifted - (shifted - x);
}

static inline two_doubles product_error(two_doubles a, two_doubles b, two_doubles product) {
  const two_doubles a_high = upper_half(a), a_low = a - a_high;
  const two_doubles b_high = upper_half(b), b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

#include "strategy/dot/exact/block.h"

const tsl_exact_blocks tsl_exact_blocks_generic = BLOCKS;
