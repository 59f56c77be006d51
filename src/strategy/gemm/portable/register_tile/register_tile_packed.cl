/* register_tile without local memory: A and B are first packed into panels, in the order of the
 * multiply-adds. For CPUs, and for GPUs that keep local memory in their caches.
 *
 *   panel i of A: MICRO_M rows     | k = 0: row 0, row 1, ... | k = 1: ... |   lines beyond the matrix
 *   panel j of B: MICRO_N columns  | k = 0: col 0, col 1, ... | k = 1: ... |   are zeros
 *
 * A micro-tile of C is panel i of A times panel j of B. PACKED: each item of a group has one micro-tile.
 * PACKED_SERIAL: a group is one item, which iterates over the rows of its tile.
 *
 * Panels of complex matrices hold, for each k, the real parts of all lines, then the imaginary parts times
 * CONJUGATE_A and CONJUGATE_B (1 or -1). SWAPPED: A is the problem's B. Sums are stored in private memory for
 * the epilogue, so that its many cases are compiled once. Packing kernels loop over further panels where
 * dimension 1 has fewer groups.
 *
 * Any sizes and strides. Workspace: both operands, lines rounded up to whole panels. */
#include "raster.h"
#include "units.h"

#include "register_tile_shared.h"

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define MICRO_M TSL_PARAM_MICRO_M
#define MICRO_N TSL_PARAM_MICRO_N
#define ROWS (TILE_M / MICRO_M)
#define COLUMNS (TILE_N / MICRO_N)
#if TSL_PARAM_FORM == TSL_REGISTER_TILE_PACKED_SERIAL
#define ITEMS 1
#else
#define ITEMS (ROWS * COLUMNS)
#endif
#define VECTORS (MICRO_N / TSL_LANES)
/* Sign of imaginary parts, or signedness of bytes. */
#if defined(TSL_COMPLEX) && !defined(CONJUGATE_A)
#define CONJUGATE_A 1
#define CONJUGATE_B 1
#endif
#ifdef TSL_COMPLEX
#define SIGN_A CONJUGATE_A
#define SIGN_B CONJUGATE_B
#else
#define SIGN_A TSL_SIGNED_A
#define SIGN_B TSL_SIGNED_B
#endif
#define CHUNK TSL_REGISTER_TILE_PACK_DEPTHS
/* Numbers of A's panels, which are before B's. */
#define BEFORE_B(g) (TSL_NUMBERS * (((g).m + MICRO_M - 1) / MICRO_M * MICRO_M * (g).k))

#ifdef TSL_COMPLEX
/* Packs a chunk of the panel of `width` lines from line `first`; `sign`: factor of imaginary parts. */
TSL_FUNCTION void pack_panel(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT from, TSL_INDEX line_stride,
                             TSL_INDEX depth_stride, TSL_INDEX first, TSL_INDEX lines, TSL_INDEX k, int width,
                             int sign, TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst) {
  const TSL_INDEX start = (TSL_INDEX)TSL_GROUP(0) * CHUNK;
  const int depth = k - start < CHUNK ? (int)(k - start) : CHUNK;
  const int inside = lines - first < width ? (int)(lines - first) : width;
  from += TSL_NUMBERS * (first * line_stride + start * depth_stride);
  dst += TSL_NUMBERS * (first * k + start * width);
  for (int l = 0; l < depth; l++, from += TSL_NUMBERS * depth_stride, dst += TSL_NUMBERS * width) {
    for (int i = 0; i < inside; i++) {
      dst[i] = from[TSL_NUMBERS * i * line_stride];
      dst[width + i] = sign * from[TSL_NUMBERS * i * line_stride + 1];
    }
    for (int i = inside; i < width; i++)
      dst[i] = dst[width + i] = 0;
  }
}
#else
/* Packs a chunk of the panel of `width` lines from line `first`; `sign`: bytes are signed. */
TSL_FUNCTION void pack_panel(TSL_GLOBAL const tsl_element *TSL_RESTRICT from, TSL_INDEX line_stride,
                             TSL_INDEX depth_stride, TSL_INDEX first, TSL_INDEX lines, TSL_INDEX k, int width,
                             int sign, TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst) {
  const TSL_INDEX start = (TSL_INDEX)TSL_GROUP(0) * CHUNK;
  const int depth = k - start < CHUNK ? (int)(k - start) : CHUNK;
  from += first * line_stride + start * depth_stride;
  dst += first * k + start * width;
  if (first + width <= lines && line_stride == 1) {
    for (int l = 0; l < depth; l++)
      for (int i = 0; i < width; i++)
        dst[l * width + i] = tsl_load_unit(from + l * depth_stride + i, 0, 1, sign);
  } else if (first + width <= lines) {
    for (int l = 0; l < depth; l++)
      for (int i = 0; i < width; i++)
        dst[l * width + i] = tsl_load_unit(from + i * line_stride + l * depth_stride, 0, 1, sign);
  } else {
    for (int l = 0; l < depth; l++)
      for (int i = 0; i < width; i++)
        dst[l * width + i] = first + i < lines
                                 ? tsl_load_unit(from + i * line_stride + l * depth_stride, 0, 1, sign)
                                 : (TSL_REAL)0;
  }
}
#endif

/* Dimension 2 counts the operands. */
TSL_KERNEL(1, 1, 1)
tsl_gemm_register_tile_pack(TSL_GLOBAL const tsl_element *TSL_RESTRICT a,
                            TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                            TSL_GLOBAL TSL_REAL *TSL_RESTRICT panels,
                            const tsl_register_tile_arguments args) {
  const tsl_gemm_arguments g = args.gemm;
  const TSL_INDEX group = TSL_GROUP(1), groups = TSL_GROUPS(1);
  if (tsl_is_unwanted(args.wanted, args.wanted_above))
    return;
  if (TSL_GROUP(2) == 0) {
    for (TSL_INDEX first = group * MICRO_M; first < g.m; first += groups * MICRO_M)
      pack_panel(a + TSL_NUMBERS * g.a_offset, g.a_row_stride, g.a_col_stride, first, g.m, g.k, MICRO_M,
                 SIGN_A, panels);
  } else {
    for (TSL_INDEX first = group * MICRO_N; first < g.n; first += groups * MICRO_N)
      pack_panel(b + TSL_NUMBERS * g.b_offset, g.b_col_stride, g.b_row_stride, first, g.n, g.k, MICRO_N,
                 SIGN_B, panels + BEFORE_B(g));
  }
}

/* Adds the products of one k to the sums: real parts, then the imaginary parts of complex numbers. */
TSL_FUNCTION void multiply_accumulate(tsl_lanes sum[TSL_NUMBERS][MICRO_M * VECTORS],
                                      TSL_GLOBAL const TSL_REAL *rows, TSL_GLOBAL const TSL_REAL *columns) {
#ifdef TSL_COMPLEX
  TSL_UNROLL
  for (int j = 0; j < VECTORS; j++) {
    const tsl_lanes x = TSL_LOAD(TSL_REAL, TSL_LANES, columns + j * TSL_LANES),
                    y = TSL_LOAD(TSL_REAL, TSL_LANES, columns + MICRO_N + j * TSL_LANES);
    TSL_UNROLL
    for (int i = 0; i < MICRO_M; i++) {
      const tsl_lanes u = TSL_SPLAT(TSL_REAL, TSL_LANES, rows[i]),
                      v = TSL_SPLAT(TSL_REAL, TSL_LANES, rows[MICRO_M + i]),
                      minus = TSL_SPLAT(TSL_REAL, TSL_LANES, -rows[MICRO_M + i]);
      tsl_lanes *real = &sum[0][i * VECTORS + j], *imaginary = &sum[1][i * VECTORS + j];
      *real = TSL_FMA(minus, y, TSL_FMA(u, x, *real));
      *imaginary =
          SWAPPED ? TSL_FMA(u, y, TSL_FMA(v, x, *imaginary)) : TSL_FMA(v, x, TSL_FMA(u, y, *imaginary));
    }
  }
#else
  tsl_lanes vectors[VECTORS];
  TSL_UNROLL
  for (int j = 0; j < VECTORS; j++)
    vectors[j] = TSL_LOAD(TSL_REAL, TSL_LANES, columns + j * TSL_LANES);
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++) {
    const tsl_lanes row = TSL_SPLAT(TSL_REAL, TSL_LANES, rows[i]);
    TSL_UNROLL
    for (int j = 0; j < VECTORS; j++)
      sum[0][i * VECTORS + j] = TSL_LANES_FMA(row, vectors[j], sum[0][i * VECTORS + j]);
  }
#endif
}

/* Stores vector `v` of the micro-tile's sums to the row at `c`; `count` elements are inside of C. */
TSL_FUNCTION void store_vector(TSL_GLOBAL tsl_result *c, TSL_INDEX count,
                               tsl_lanes sum[TSL_NUMBERS][MICRO_M * VECTORS], int v,
                               const tsl_gemm_arguments *g) {
#ifdef TSL_COMPLEX
  TSL_REAL real[TSL_LANES], imaginary[TSL_LANES];
  tsl_lanes_to_array(real, sum[0][v]);
  tsl_lanes_to_array(imaginary, sum[1][v]);
  for (int e = 0; e < TSL_LANES && e < count; e++) {
    TSL_REAL number[2] = {real[e], imaginary[e]};
    tsl_store_element_of_c(c + 2 * e * g->c_col_stride, number, g);
  }
#else
  tsl_store_units_of_c(c, g->c_col_stride, count,
                       tsl_lanes_are_vectors(g->c_offset, g->c_row_stride, g->c_col_stride), sum[0][v], g);
#endif
}

/* Computes the micro-tile of C at (row0, col0) from a panel of A and one of B. Parts of `part_depth` steps of
 * k are summed each for itself, and added in order. */
TSL_FUNCTION void micro_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a,
                             TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                             TSL_INDEX row0, TSL_INDEX col0, TSL_INDEX part_depth,
                             const tsl_gemm_arguments g) {
  tsl_lanes sum[TSL_NUMBERS][MICRO_M * VECTORS], total[TSL_NUMBERS][MICRO_M * VECTORS];
  TSL_INDEX l = 0;
  do {
    const TSL_INDEX first = l, end = g.k - l < part_depth ? g.k : l + part_depth;
    TSL_UNROLL
    for (int e = 0; e < TSL_NUMBERS; e++)
      TSL_UNROLL
    for (int v = 0; v < MICRO_M * VECTORS; v++)
      sum[e][v] = TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0);
    for (; l < end; l++, a += TSL_NUMBERS * MICRO_M, b += TSL_NUMBERS * MICRO_N)
      multiply_accumulate(sum, a, b);
    TSL_UNROLL
    for (int e = 0; e < TSL_NUMBERS; e++)
      TSL_UNROLL
    for (int v = 0; v < MICRO_M * VECTORS; v++)
      if (first == 0)
        total[e][v] = sum[e][v];
      else
        total[e][v] = total[e][v] + sum[e][v];
  } while (l < g.k);
  TSL_UNROLL_BY(1)
  for (int v = 0; v < MICRO_M * VECTORS; v++) {
    const TSL_INDEX row = row0 + v / VECTORS, col = col0 + v % VECTORS * TSL_LANES;
    if (row < g.m && col < g.n)
      store_vector(c + TSL_NUMBERS * (g.c_offset + row * g.c_row_stride + col * g.c_col_stride), g.n - col,
                   total, v, &g);
  }
}

TSL_KERNEL(ITEMS, 1, 1)
tsl_gemm_register_tile_packed(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT panels,
                              TSL_GLOBAL tsl_result *TSL_RESTRICT c, const tsl_register_tile_arguments args) {
  if (tsl_is_unwanted(args.wanted, args.wanted_above))
    return;
  const tsl_gemm_arguments g = args.gemm;
  TSL_GLOBAL const TSL_REAL *b_panels = panels + BEFORE_B(g);
  TSL_INDEX tile_row, tile_col;
  tsl_raster_tile(TSL_GROUP(0), (g.m + TILE_M - 1) / TILE_M, (g.n + TILE_N - 1) / TILE_N, args.band,
                  &tile_row, &tile_col);
  const int first = ITEMS == 1 ? 0 : TSL_ITEM(0), last = ITEMS == 1 ? ROWS * COLUMNS : first + 1;
  for (int place = first; place < last; place++) {
    const TSL_INDEX row = tile_row * TILE_M + place % ROWS * MICRO_M;
    const TSL_INDEX col = tile_col * TILE_N + place / ROWS * MICRO_N;
    if (row < g.m && col < g.n)
      micro_tile(panels + TSL_NUMBERS * row * g.k, b_panels + TSL_NUMBERS * col * g.k, c, row, col,
                 args.split_depth, g);
  }
}
