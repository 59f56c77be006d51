/* Sum of k splits: C = alpha (split 0 + split 1 + ...) + beta C. SHARES items share a sum. Item s adds the
 * splits s, s + SHARES, ..., and the first item adds their results in order, so that bits do not vary.
 *
 *   splits:  | split 0: m rows, `pitch` numbers each | split 1 | ...        an item adds one vector of a row
 *
 * Where C cannot be stored in vectors, items that share no sums add and store adjacent numbers. Dimension 2
 * counts the products of a batch. Groups loop over rows where dimension 1 has fewer groups.
 *
 * Defines of the host: SPLITS, SHARES, and WIDTH: vectors of a row that a group adds. */
#include "units.h"

#include "split_k_sum_shared.h"

#define LINE (WIDTH * TSL_LANES)
/* Vectors that are longer than 16 bytes need not be aligned. */
#if TSL_PARAM_VECTOR > 16
#define LOAD(at) TSL_LOAD(TSL_REAL, TSL_LANES, at)
#else
#define LOAD(at) TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, at)
#endif

/* Returns the sum of the vectors at `split` and in every further SHARES-th split; `split` is number `share`.
 * Splits have no numbers from `count` on, which become 0. No branch separates the loads of whole vectors, so
 * that all are on their way at once. */
TSL_FUNCTION tsl_lanes sum_splits(TSL_GLOBAL const TSL_REAL *split, TSL_INDEX split_step, int share,
                                  TSL_INDEX count) {
  if (count >= TSL_LANES) {
    tsl_lanes sum = LOAD(split);
    TSL_UNROLL
    for (int i = SHARES; i < SPLITS; i += SHARES)
      if (SPLITS % SHARES == 0 || share + i < SPLITS)
        sum = sum + LOAD(split + i * split_step);
    return sum;
  }
  TSL_REAL line[TSL_LANES];
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++) {
    line[e] = e < count ? split[e] : (TSL_REAL)0;
    TSL_UNROLL
    for (int i = SHARES; i < SPLITS; i += SHARES)
      if (e < count && share + i < SPLITS)
        line[e] += split[i * split_step + e];
  }
  return tsl_lanes_from_array(line);
}

/* Adds and stores as many numbers of a row as a vector has, from number `start` on, WIDTH apart. */
#if SHARES == 1 && !defined(TSL_COMPLEX)
TSL_FUNCTION void add_numbers(TSL_GLOBAL const TSL_REAL *split, TSL_GLOBAL tsl_result *c,
                              const tsl_gemm_arguments *g, TSL_INDEX start, TSL_INDEX split_step) {
  TSL_REAL sum[TSL_LANES];
  TSL_UNROLL
  for (int i = 0; i < SPLITS; i++)
    TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++) {
    const TSL_INDEX col = start + e * WIDTH;
    if (col < g->n)
      sum[e] = i == 0 ? split[col] : sum[e] + split[i * split_step + col];
  }
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++)
    if (start + e * WIDTH < g->n)
      tsl_store_scaled(c + (start + e * WIDTH) * g->c_col_stride, sum[e], g->alpha, g->beta);
}
#endif

TSL_KERNEL(WIDTH *SHARES, 1, 1)
tsl_gemm_split_k_sum(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT splits, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                     const tsl_split_k_sum_arguments args) {
#if SHARES > 1
  TSL_LOCAL TSL_REAL shares[SHARES * LINE];
#endif
  TSL_START();
  TSL_END();
  if (tsl_is_unwanted(args.wanted, args.wanted_above))
    return;
  splits += args.first + TSL_GROUP(2) * args.batch_step;
  tsl_gemm_arguments g = args.gemm;
  g.c_offset += TSL_GROUP(2) * args.c_step;
  const bool together = tsl_lanes_are_vectors(g.c_offset, g.c_row_stride, g.c_col_stride);
#if SHARES == 1 && !defined(TSL_COMPLEX)
  if (!together) {
    for (TSL_INDEX row = TSL_GROUP(1); row < g.m; row += TSL_GROUPS(1))
      add_numbers(splits + row * args.pitch, c + g.c_offset + row * g.c_row_stride, &g,
                  (TSL_INDEX)TSL_GROUP(0) * LINE + TSL_ITEM(0), args.split_step);
    return;
  }
#endif
  const int place = TSL_ITEM(0) % WIDTH * TSL_LANES, share = TSL_ITEM(0) / WIDTH;
  const TSL_INDEX number = (TSL_INDEX)TSL_GROUP(0) * LINE + place, col = number / TSL_NUMBERS;
  for (TSL_INDEX row = TSL_GROUP(1); row < g.m; row += TSL_GROUPS(1)) {
    tsl_lanes sum = TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0);
    if (col < g.n && share < SPLITS)
      sum = sum_splits(splits + share * args.split_step + row * args.pitch + number, args.split_step, share,
                       TSL_NUMBERS * g.n - number);
#if SHARES > 1
    TSL_REAL line[TSL_LANES];
    tsl_lanes_to_array(line, sum);
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e++)
      shares[share * LINE + place + e] = line[e];
    TSL_BARRIER();
    if (share == 0 && col < g.n) {
      for (int s = 1; s < SHARES && s < SPLITS; s++) {
        TSL_UNROLL
        for (int e = 0; e < TSL_LANES; e++)
          line[e] += shares[s * LINE + place + e];
      }
      sum = tsl_lanes_from_array(line);
    }
#endif
    if (share == 0 && col < g.n)
      tsl_store_units_of_c(c + TSL_NUMBERS * (g.c_offset + row * g.c_row_stride + col * g.c_col_stride),
                           g.c_col_stride, g.n - col, together, sum, &g);
#if SHARES > 1
    TSL_BARRIER();
#endif
  }
}
