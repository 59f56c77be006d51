/* Idea: with a k of at most eight only C is large, so all time goes to storing it. An item has one vector of
 * 16 bytes of ROWS rows of C, whose numbers of B stay in registers. Beyond `register_tile`: no local memory,
 * no barriers, and vectors that are aligned in C, whatever the rows' alignment.
 *
 *   rows 0, period, ...   |..|----|----|----|-.|     Rows of C whose addresses are equal modulo ALIGN bytes
 * are rows 1, period + 1    |----|----|----|---.|      `period` rows apart. A group has such rows only, and
 * its vectors                 items' columns begin where these are aligned.
 *
 * Items of a group: COLUMNS along n by further rows. Grid: dimension 0 counts groups along n, then numbers of
 * a period's rows, then rows; dimension 2 products of a batch.
 *
 * Defines of the host: TERMS: k; ITEMS of a group; HELD: rows whose numbers of A are loaded together; SWAPPED
 * (1: A is the problem's B), and CONJUGATE_A and CONJUGATE_B of complex types. Any strides and alignment;
 * vectors need contiguous rows of C. */
#include "units.h"

#define COLUMNS TSL_PARAM_ITEMS_N
#define ROWS TSL_PARAM_ROWS
#define ALIGN TSL_PARAM_ALIGN
#define ELEMENTS (TSL_LANES / TSL_NUMBERS) /* of a vector */
#define ELEMENT_BYTES ((int)sizeof(TSL_REAL) * TSL_NUMBERS)

/* Reads an element of A or B, if it exists; `is_conjugate` is for complex types. */
TSL_FUNCTION void load_element(TSL_REAL *numbers, TSL_GLOBAL const TSL_REAL *from, bool exists,
                               bool is_conjugate) {
  numbers[0] = exists ? from[0] : (TSL_REAL)0;
#ifdef TSL_COMPLEX
  const TSL_REAL imaginary = exists ? from[1] : (TSL_REAL)0;
  numbers[1] = is_conjugate ? -imaginary : imaginary;
#else
  (void)is_conjugate;
#endif
}

/* Adds the product of an element of A and an element of B, in register_tile's order. */
TSL_FUNCTION void add_product(TSL_REAL *sum, const TSL_REAL *x, const TSL_REAL *y) {
#ifdef TSL_COMPLEX
  sum[0] = TSL_FMA(x[0], y[0], sum[0]);
  sum[1] = TSL_FMA(x[SWAPPED], y[1 - SWAPPED], sum[1]);
  sum[1] = TSL_FMA(x[1 - SWAPPED], y[SWAPPED], sum[1]);
  sum[0] = TSL_FMA(-x[1], y[1], sum[0]);
#else
  sum[0] = TSL_FMA(x[0], y[0], sum[0]);
#endif
}

/* Stores the elements of a vector from `before` to `end`, which are inside of C, one by one. */
TSL_FUNCTION void store_elements(TSL_GLOBAL TSL_REAL *data, TSL_REAL *sums, TSL_INDEX before, TSL_INDEX end,
                                 const tsl_gemm_arguments *g) {
  TSL_UNROLL
  for (int e = 0; e < ELEMENTS; e++)
    if (e >= before && e < end) {
#ifdef TSL_COMPLEX
      tsl_store_element_of_c(data + e * g->c_col_stride * TSL_NUMBERS, sums + e * TSL_NUMBERS, g);
#else
      tsl_store_scaled(data + e * g->c_col_stride, sums[e], g->alpha, g->beta);
#endif
    }
}

TSL_KERNEL(ITEMS, 1, 1)
tsl_gemm_outer_product(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments args,
                       const int across /* groups along n */, const int period,
                       const int begins_early /* 1: groups may begin before the first column */,
                       const TSL_INDEX a_step, const TSL_INDEX b_step,
                       const TSL_INDEX c_step /* elements between products of a batch */) {
  TSL_START();
  TSL_END();
  tsl_gemm_arguments g = args;
  const int group = (int)TSL_GROUP(0), number = group / across % period, down = group / across / period;
  TSL_INDEX row = number + (down * (ITEMS / COLUMNS) + TSL_ITEM(0) / COLUMNS) * (TSL_INDEX)ROWS * period;
  g.a_offset += TSL_GROUP(2) * a_step;
  g.b_offset += TSL_GROUP(2) * b_step;
  g.c_offset += TSL_GROUP(2) * c_step;
  const int bytes = (int)((TSL_UINT64)(c + TSL_NUMBERS * (g.c_offset + number * g.c_row_stride)) % ALIGN);
  const bool is_early = begins_early && bytes % ELEMENT_BYTES == 0;
  const TSL_INDEX col = (group % across * (TSL_INDEX)COLUMNS + TSL_ITEM(0) % COLUMNS) * ELEMENTS -
                        (is_early ? bytes / ELEMENT_BYTES : 0);
  const bool is_whole =
      (is_early || bytes % 16 == 0) && g.c_col_stride == 1 && col >= 0 && col + ELEMENTS <= g.n;
  if (col >= g.n || col + ELEMENTS <= 0)
    return;
  TSL_REAL y[TERMS][TSL_LANES];
  TSL_UNROLL
  for (int p = 0; p < TERMS; p++)
    TSL_UNROLL
  for (int e = 0; e < ELEMENTS; e++) {
    const TSL_INDEX j = col + e < 0 ? 0 : col + e < g.n ? col + e : g.n - 1;
    load_element(y[p] + e * TSL_NUMBERS,
                 b + TSL_NUMBERS * (g.b_offset + p * g.b_row_stride + j * g.b_col_stride), g.k > 0,
                 CONJUGATE_B);
  }
  TSL_GLOBAL TSL_REAL *data = c + TSL_NUMBERS * (g.c_offset + row * g.c_row_stride + col * g.c_col_stride);
  TSL_UNROLL_BY(1)
  for (int first = 0; first < ROWS && row < g.m; first += HELD) {
    TSL_REAL x[HELD][TERMS * TSL_NUMBERS];
    TSL_UNROLL
    for (int r = 0; r < HELD; r++) {
      const TSL_INDEX i = row + r * period < g.m ? row + r * period : g.m - 1;
      TSL_UNROLL
      for (int p = 0; p < TERMS; p++)
        load_element(x[r] + p * TSL_NUMBERS,
                     a + TSL_NUMBERS * (g.a_offset + i * g.a_row_stride + p * g.a_col_stride), g.k > 0,
                     CONJUGATE_A);
    }
    TSL_UNROLL
    for (int r = 0; r < HELD; r++, row += period, data += TSL_NUMBERS * period * g.c_row_stride) {
      TSL_REAL sums[TSL_LANES] = {0};
      TSL_UNROLL
      for (int p = 0; p < TERMS; p++)
        TSL_UNROLL
      for (int e = 0; e < ELEMENTS; e++)
        add_product(sums + e * TSL_NUMBERS, x[r] + p * TSL_NUMBERS, y[p] + e * TSL_NUMBERS);
      if (row < g.m) {
        if (is_whole)
          tsl_store_units_of_c(data, 1, ELEMENTS, true, tsl_lanes_from_array(sums), &g);
        else
          store_elements(data, sums, -col, g.n - col, &g);
      }
    }
  }
}
