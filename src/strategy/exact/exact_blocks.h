/* The host's fast path: the sums of a block in a window, once per instruction set. */
#ifndef TSL_STRATEGY_EXACT_EXACT_BLOCKS_H
#define TSL_STRATEGY_EXACT_EXACT_BLOCKS_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Terms of a block: its sums stay within 63 bits, and both vectors' pieces and the code's stack in a
 * first-level cache. Every vector's length divides it. */
enum { TSL_EXACT_BLOCK = 256 };

/* Adds up TSL_EXACT_BLOCK products of neighbouring numbers in the window at `top`, and sets levels[j] to the
 * sum in multiples of 2^(top - 52 j), j from 1 to TSL_EXACT_LEVELS - 1; levels[0] is not touched. False: some
 * product has bits outside the window, and what levels hold means nothing. */
typedef bool (*tsl_exact_block)(const void *x, const void *y, int top, int64_t *levels);

/* With few levels, and with all of them. */
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
