/* Sum of k splits: C = alpha (split 0 + split 1 + ...) + beta C, in this order, so that every run gives the
 * same bits. An item adds one vector of a row; splits start at number `first`:
 *
 *   splits:  | split 0: m rows, `pitch` numbers each | split 1 | ...
 *
 * Where C cannot be stored in vectors, adjacent items add and store adjacent numbers. Dimension 2 counts the
 * products of a batch: their splits are `step` numbers apart, their results `c_step` elements. Groups loop
 * over rows where dimension 1 has fewer groups. */
#include "register_tile_arguments.cl"
#include "units.h"

#ifndef TSL_COMPLEX
/* Adds and stores as many numbers of a row as a vector has, from number `start` on, SUM_ITEMS apart. */
TSL_FUNCTION void add_numbers(TSL_GLOBAL const TSL_REAL *split, TSL_GLOBAL tsl_result *c,
                              const tsl_gemm_arguments *g, TSL_INDEX start, TSL_INDEX pitch) {
  TSL_REAL sum[TSL_LANES];
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++)
    sum[e] = 0;
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_SPLIT; i++)
    TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++) {
    const TSL_INDEX col = start + e * TSL_REGISTER_TILE_SUM_ITEMS;
    if (col < g->n)
      sum[e] = i == 0 ? split[col] : sum[e] + split[i * g->m * pitch + col];
  }
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++) {
    const TSL_INDEX col = start + e * TSL_REGISTER_TILE_SUM_ITEMS;
    if (col < g->n)
      tsl_store_scaled(c + col * g->c_col_stride, sum[e], g->alpha, g->beta);
  }
}
#endif

TSL_KERNEL(TSL_REGISTER_TILE_SUM_ITEMS, 1, 1)
tsl_gemm_register_tile_sum(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT splits,
                           TSL_GLOBAL tsl_result *TSL_RESTRICT c, const tsl_register_tile_arguments args,
                           const TSL_INDEX pitch, const TSL_INDEX first, const TSL_INDEX step) {
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  splits += first + TSL_GROUP(2) * step;
  const tsl_gemm_arguments g = product_of(args);
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0) * (TSL_LANES / TSL_NUMBERS);
  const bool together = tsl_lanes_are_vectors(g.c_offset, g.c_row_stride, g.c_col_stride);
#ifndef TSL_COMPLEX
  if (!together) {
    const TSL_INDEX start = TSL_GROUP(0) * (TSL_REGISTER_TILE_SUM_ITEMS * TSL_LANES) + TSL_ITEM(0);
    for (TSL_INDEX row = TSL_GROUP(1); row < g.m; row += TSL_GROUPS(1))
      add_numbers(splits + row * pitch, c + g.c_offset + row * g.c_row_stride, &g, start, pitch);
    return;
  }
#endif
  if (col >= g.n)
    return;
  for (TSL_INDEX row = TSL_GROUP(1); row < g.m; row += TSL_GROUPS(1)) {
    TSL_GLOBAL const TSL_REAL *split = splits + row * pitch + col * TSL_NUMBERS;
    tsl_lanes sum = TSL_LOAD(TSL_REAL, TSL_LANES, split);
    TSL_UNROLL
    for (int i = 1; i < TSL_PARAM_SPLIT; i++)
      sum = sum + TSL_LOAD(TSL_REAL, TSL_LANES, split + i * g.m * pitch);
    tsl_store_units_of_c(c + TSL_NUMBERS * (g.c_offset + row * g.c_row_stride + col * g.c_col_stride),
                         g.c_col_stride, g.n - col, together, sum, &g);
  }
}
