/* How many fused multiply-adds a device does at most: CHAINS independent vectors in each item's registers, and no memory
 * until the end. tune/roofs measures with this kernel; no strategy uses it.
 *
 *   x = factor x + summand, again and again, where both come from memory, so that a compiler cannot know what must come
 *   out, and the host can (tune/roofs/bench.h).
 *
 * Parameters: TSL_PARAM_ITEMS of a group, TSL_PARAM_LANES of a vector, TSL_PARAM_CHAINS, TSL_PARAM_ROUND multiply-adds
 * of a chain without a jump. Limits: `constants` holds two vectors (factor, summand), `starts` one for each chain of
 * each item of a group. */
#include "dialect.h"

#define VECTOR TSL_VECTOR(TSL_REAL, TSL_PARAM_LANES)

/* results[item of the grid] is a vector: the sum of the item's chains. */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_fma(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT constants,
              TSL_GLOBAL const TSL_REAL *TSL_RESTRICT starts, TSL_GLOBAL TSL_REAL *TSL_RESTRICT results,
              const TSL_INDEX rounds) {
  const VECTOR factor = TSL_LOAD(TSL_REAL, TSL_PARAM_LANES, constants);
  const VECTOR summand = TSL_LOAD(TSL_REAL, TSL_PARAM_LANES, constants + TSL_PARAM_LANES);
  VECTOR x[TSL_PARAM_CHAINS];
  TSL_UNROLL
  for (int c = 0; c < TSL_PARAM_CHAINS; c++)
    x[c] =
        TSL_LOAD(TSL_REAL, TSL_PARAM_LANES, starts + (TSL_ITEM(0) * TSL_PARAM_CHAINS + c) * TSL_PARAM_LANES);
  for (TSL_INDEX round = 0; round < rounds; round++) {
    TSL_UNROLL
    for (int i = 0; i < TSL_PARAM_ROUND; i++) {
      TSL_UNROLL
      for (int c = 0; c < TSL_PARAM_CHAINS; c++)
        x[c] = TSL_FMA(x[c], factor, summand);
    }
  }
  TSL_UNROLL
  for (int c = 1; c < TSL_PARAM_CHAINS; c++)
    x[0] = x[0] + x[c];
  TSL_STORE(TSL_REAL, TSL_PARAM_LANES, results + TSL_GLOBAL_ITEM(0) * TSL_PARAM_LANES, x[0]);
}
