/* Fast path of the host: sums of a block in a window, for each instruction set. */
#ifndef TSL_STRATEGY_EXACT_EXACT_BLOCKS_H
#define TSL_STRATEGY_EXACT_EXACT_BLOCKS_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Terms of a block: sums fit 63 bits, both vectors a first-level cache. A multiple of every vector length. */
enum { TSL_EXACT_BLOCK = 256 };

/* Adds TSL_EXACT_BLOCK products of contiguous numbers in the window at `top`. Sets levels[j] to the sum in
 * multiples of 2^(top - 52 j), 1 <= j < TSL_EXACT_LEVELS; levels[0] is unchanged. Returns false, with invalid
 * `levels`, if a product has bits outside of the window. */
typedef bool (*tsl_exact_block)(const void *x, const void *y, int top, int64_t *levels);

/* Functions with few levels, and with all levels. */
typedef struct tsl_exact_window {
  tsl_exact_block shallow, deep;
} tsl_exact_window;

typedef struct tsl_exact_blocks {
  tsl_exact_window f32, f64;
} tsl_exact_blocks;

#define TSL_DECLARE(isa, header, needs, ...) extern const tsl_exact_blocks tsl_exact_blocks_##isa;
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

#endif
