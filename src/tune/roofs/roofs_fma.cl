/* Maximum rate of fused multiply-adds: CHAINS independent vectors in each item's registers, without memory
 * until the end: x = factor x + summand. Both come from memory, so that the compiler cannot know the result;
 * the host does (tune/roofs/bench.h). Used by tune/roofs only.
 *
 * Parameters: TSL_PARAM_ITEMS per group, TSL_PARAM_LANES per vector, TSL_PARAM_CHAINS, TSL_PARAM_ROUND
 * multiply-adds of a chain without a jump. `constants` has two vectors (factor, summand), `starts` one for
 * each chain of each item of a group. */
#include "dialect.h"

#define VECTOR TSL_VECTOR(TSL_REAL, TSL_PARAM_LANES)

/* results[item of the grid]: vector with the sum of the item's chains. */
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
