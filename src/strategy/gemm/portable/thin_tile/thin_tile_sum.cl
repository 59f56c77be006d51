/* Sum of k splits: C = alpha (part 0 + part 1 + ...) + beta C. SHARES items share a sum: item s adds the
 * parts s, s + SHARES, ... The first item adds their results in order, so that bits do not vary.
 *
 *   parts:  | part 0: m rows, `pitch` numbers each | part 1 | ...        an item adds one vector of a row
 *
 * Dimension 2 counts the products of a batch: their parts are `step` numbers apart, their results `c_step`
 * elements. Groups loop over rows where dimension 1 has fewer groups. */
#include "kernel_gemm.h"
#include "lanes.h"

#define WIDTH 16
#define SHARES 8
#define ITEMS (WIDTH * SHARES)
/* Vectors that are longer than local memory accesses are written lane by lane. */
#define LINE (WIDTH * TSL_LANES)
#if TSL_PARAM_VECTOR > 16
#define LOAD(at) TSL_LOAD(TSL_REAL, TSL_LANES, at)
#else
#define LOAD(at) TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, at)
#endif

/* Returns a vector of a part. Numbers from `count` on are not initialised and not read. */
TSL_FUNCTION tsl_lanes part_of(TSL_GLOBAL const TSL_REAL *src, TSL_INDEX count) {
  if (count >= TSL_LANES)
    return LOAD(src);
  TSL_REAL line[TSL_LANES];
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++)
    line[e] = e < count ? src[e] : (TSL_REAL)0;
  return tsl_lanes_from_array(line);
}

TSL_KERNEL(ITEMS, 1, 1)
tsl_gemm_thin_tile_sum(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT parts, TSL_GLOBAL TSL_REAL *TSL_RESTRICT c,
                       const tsl_gemm_arguments args, const TSL_INDEX pitch, const TSL_INDEX step,
                       const TSL_INDEX c_step) {
  TSL_LOCAL TSL_REAL shares[SHARES * LINE];
  parts += TSL_GROUP(2) * step;
  tsl_gemm_arguments g = args;
  g.c_offset += TSL_GROUP(2) * c_step;
  const int place = TSL_ITEM(0) % WIDTH * TSL_LANES, share = TSL_ITEM(0) / WIDTH;
  const TSL_INDEX col = (TSL_INDEX)TSL_GROUP(0) * LINE + place;
  const bool together = tsl_lanes_are_vectors(g.c_offset, g.c_row_stride, g.c_col_stride);
  for (TSL_INDEX row = TSL_GROUP(1); row < g.m; row += TSL_GROUPS(1)) {
    TSL_REAL line[TSL_LANES];
    tsl_lanes sum = TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0);
    if (col < g.n) {
      TSL_UNROLL_BY(8)
      for (int i = share; i < TSL_PARAM_SPLIT; i += SHARES)
        sum = sum + part_of(parts + (i * g.m + row) * pitch + col, g.n - col);
    }
    tsl_lanes_to_array(line, sum);
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e++)
      shares[share * LINE + place + e] = line[e];
    TSL_BARRIER();
    if (share == 0 && col < g.n) {
      for (int s = 1; s < SHARES && s < TSL_PARAM_SPLIT; s++) {
        TSL_UNROLL
        for (int e = 0; e < TSL_LANES; e++)
          line[e] += shares[s * LINE + place + e];
      }
      tsl_lanes_store(c + g.c_offset + row * g.c_row_stride + col * g.c_col_stride, g.c_col_stride, g.n - col,
                      together, tsl_lanes_from_array(line), g.alpha, g.beta);
    }
    TSL_BARRIER();
  }
}
