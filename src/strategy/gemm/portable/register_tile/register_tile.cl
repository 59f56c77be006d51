/* Idea: an item keeps a micro-tile of C, MICRO_M x MICRO_N numbers, in registers. Its group keeps panels of A
 * and B in local memory and prefetches the next panel to registers while it multiplies the current panel.
 * Beyond `tile_local`: a number from local memory serves MICRO_M or MICRO_N multiply-adds instead of one, all
 * accesses are vectors, and the latency of global memory is hidden.
 *
 *                   TILE_N                  for each panel of TILE_K along k, for each depth of the panel:
 *               +-----------+                 1 global to local      a part of the copies of the next panels
 *        TILE_K |  panel B  |                 2 local to private     MICRO_M + MICRO_N numbers, as vectors
 *               +-----------+                 3 multiply accumulate  MICRO_M x MICRO_N fused multiply-adds
 *     TILE_K                                4 store results           C = alpha sum + beta C
 *     +----+    +-----------+
 *     |    |    | o . o .   |
 *     | A  |    | . . . .   | TILE_M        A micro-tile consists of vectors (o), ITEMS_N vectors apart in a
 *     |    |    | o . o .   |               row and ITEMS_M in a column: adjacent items read adjacent
 *     +----+    +-----------+               vectors, without bank conflicts.
 *
 * Step 1 goes through registers (global_to_local.cl), or by asynchronous copies (global_to_local_async.cl).
 * Step 4 is kernel/tile_store.h.
 *
 * Slices: where there are few tiles, SLICES items share a micro-tile. Each multiplies SLICE_DEPTH depths of
 * every panel; their sums are added in order in local memory at the end. Grid: dimension 0 counts tiles of C,
 * dimension 1 k splits, dimension 2 products of a batch. Sums of several splits go to the workspace, and
 * kernel_launch/split_k_sum.cl adds them in order. FOLDS: a group adds parts of k in the same order, with
 * their totals in registers, or in local memory (LOCAL_TOTALS). Elements that the kernel does not
 * multiply (complex, 16-bit, bytes) are first copied as units (register_tile_units.cl; COPIED). A complex
 * line is two lines of numbers.
 *
 * Defines: FOLDS, LOCAL_TOTALS, PART_SLICES; A_ALONG_K (B_ALONG_K): rows of A (columns of B) are read along
 * k; A_K_VECTORS (B_K_VECTORS): local memory has their vectors along k; A_ODD (B_ODD): they are not aligned;
 * SWAPPED, of complex types (1: A is the problem's B); SHORT: k fills at most one panel. Any sizes and
 * strides. Local memory: STAGES * TILE_K * (TILE_M + TILE_N + padding) numbers. */
#include "raster.h"
#include "units.h"

#include "register_tile_shared.h"

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define TILE_K TSL_PARAM_TILE_K
#define MICRO_M TSL_PARAM_MICRO_M
#define MICRO_N TSL_PARAM_MICRO_N
#define STAGES TSL_PARAM_STAGES
#define SLICES TSL_PARAM_SLICES
#define SLICE_DEPTH (TILE_K / SLICES) /* of a panel */
/* PART_SLICES: each slice multiplies a part of k of its own. If groups split k, it stores its sums as a
 * split. */
#ifndef PART_SLICES
#define PART_SLICES 0
#endif
#define PANEL_DEPTH (PART_SLICES ? SLICE_DEPTH : TILE_K) /* depths from a panel of a slice to the next */
#define STORES_SPLITS (TSL_PARAM_SPLIT > 1)
#define STORED_SLICES (PART_SLICES && STORES_SPLITS ? 1 : SLICES)
#define ITEMS_M (TILE_M / MICRO_M)
#define ITEMS_N (TILE_N / MICRO_N)
#define PLACES (ITEMS_M * ITEMS_N) /* items of a slice */
#define ITEMS (PLACES * SLICES)
/* Numbers of a depth of the panels of A and B, and of an item's part: a complex element has two. */
#define PANEL_ROWS (TILE_M * TSL_NUMBERS)
#define PANEL_COLUMNS (TILE_N * TSL_NUMBERS)
#define ITEM_ROWS (MICRO_M * TSL_NUMBERS)
#define ITEM_COLUMNS (MICRO_N * TSL_NUMBERS)
/* PLANES: real parts of a depth, then its imaginary parts (global_to_local_async.cl); else 1. Else a complex
 * element's ADJACENT numbers are two. PLANE_A, PLANE_B: numbers of a plane. */
#if defined(TSL_COMPLEX) && TSL_PARAM_FORM == TSL_REGISTER_TILE_LOCAL_ASYNC
#define PLANES 2
#define ADJACENT 1
#define PLANE_A (TILE_M + PAD_A)
#define PLANE_B (TILE_N + PAD_B)
#else
#define PLANES 1
#define ADJACENT TSL_NUMBERS
#define PLANE_A PANEL_ROWS
#define PLANE_B PANEL_COLUMNS
#endif
/* Numbers between depths in local memory: transposed writes go to different banks. */
#define PITCH_A (PLANES * PLANE_A + (A_ALONG_K ? 4 : 0))
#define PITCH_B (PLANES * PLANE_B + (B_ALONG_K ? 4 : 0))
#ifndef FOLDS
#define FOLDS 0
#define LOCAL_TOTALS 0
#endif
#ifndef A_K_VECTORS
#define A_K_VECTORS 0
#define B_K_VECTORS 0
#endif
#ifndef SHORT
#define SHORT 0
#endif
/* Depths that an item loads at a time. */
#define A_DEPTHS (A_K_VECTORS ? 4 : 1)
#define B_DEPTHS (B_K_VECTORS ? 4 : 1)
/* Rows of totals in registers. In local memory vectors of adjacent items are side by side. */
#define TOTALS (FOLDS && !LOCAL_TOTALS ? MICRO_M : 0)
#define TOTAL_NUMBERS (LOCAL_TOTALS ? TILE_M * PANEL_COLUMNS : 0)
#define TOTAL_VECTORS (TOTAL_NUMBERS / ITEMS / TSL_LANES) /* of an item */
/* Multiply-adds go along columns of the micro-tile if shorter; with slices along rows, like the stores. They
 * reuse a number of an operand with vectors along k: all its numbers of a depth are in even registers, or in
 * odd ones. */
#define DOWN (SLICES == 1 && !A_K_VECTORS && (B_K_VECTORS || MICRO_M <= MICRO_N))
/* Lines of an operand that may be read. */
#ifdef COPIED
#define LINES(elements) (((elements)*TSL_NUMBERS + TSL_LANES - 1) / TSL_LANES * TSL_LANES)
#else
#define LINES(elements) (elements)
#endif

/* Coordinates of a group's tile and k split, and of an item within its slice. */
typedef struct tile_start {
  int slice, place;
  int m_item, n_item;   /* first number of the item in a row and in a column of the tile */
  TSL_INDEX row, col;   /* of C */
  TSL_INDEX split;      /* of C */
  TSL_INDEX first, end; /* along k */
} tile_start;

/* Lockstep items that differ in bit 0 read equal numbers of A, in bit 1 of B. */
TSL_FUNCTION tile_start start_of(const tsl_register_tile_arguments args) {
  const tsl_gemm_arguments g = args.gemm;
  const bool is_mixed = ITEMS_M % 8 == 0 && ITEMS_N % 4 == 0;
  tile_start at;
  at.place = TSL_ITEM(0) % PLACES;
  at.slice = TSL_ITEM(0) / PLACES;
  at.m_item =
      TSL_LANES * (is_mixed ? (at.place >> 1 & 7) | (at.place >> 5) / (ITEMS_N / 4) * 8 : at.place / ITEMS_N);
  at.n_item =
      TSL_LANES * (is_mixed ? (at.place & 1) | (at.place >> 3 & 2) | (at.place >> 5) % (ITEMS_N / 4) * 4
                            : at.place % ITEMS_N);
  tsl_raster_tile(TSL_GROUP(0), (g.m + TILE_M - 1) / TILE_M, (g.n + TILE_N - 1) / TILE_N, args.band, &at.row,
                  &at.col);
  at.row *= TILE_M;
  at.col *= TILE_N;
  at.split = PART_SLICES ? TSL_GROUP(1) * SLICES + at.slice : TSL_GROUP(1);
  at.first = at.split * args.split_depth;
  at.end = FOLDS || g.k - at.first < args.split_depth ? g.k : at.first + args.split_depth;
  return at;
}

#if TSL_PARAM_FORM == TSL_REGISTER_TILE_LOCAL_ASYNC || LOCAL_TOTALS
#define TILE_MEMORY(name)                                                                                    \
  TSL_LOCAL_BYTES(bytes, sizeof(TSL_REAL) * (MEMORY + TOTAL_NUMBERS));                                       \
  TSL_LOCAL_POINTER TSL_REAL *name = (TSL_LOCAL_POINTER TSL_REAL *)bytes
#else
#define TILE_MEMORY(name) TSL_LOCAL TSL_REAL name[MEMORY]
#endif
#if TSL_PARAM_FORM == TSL_REGISTER_TILE_LOCAL_ASYNC
#include "global_to_local_async.cl"
#else
#include "global_to_local.cl"
#endif

#include "tile_store.h"

/* Loads `count` numbers of a depth of a panel. With vectors along k it loads four depths: vectors of four
 * neighbouring lines are extent / 4 + 1 vectors apart (global_to_local_async.cl). */
TSL_FUNCTION void load_lines(TSL_REAL *lines, TSL_LOCAL_POINTER const TSL_REAL *from, int count, int items,
                             int extent, bool k_vectors) {
  TSL_UNROLL
  for (int i = 0; i < count / (k_vectors ? 1 : TSL_LANES); i++)
    tsl_lanes_to_array(
        lines + i * TSL_LANES,
        TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES,
                       from +
                           (k_vectors ? i / 4 * items + i % 4 * (extent / 4 + 1) : i * items) * TSL_LANES));
}

TSL_FUNCTION void load_rows(TSL_REAL *rows, const tile_panels *panels, int depth) {
  TSL_UNROLL
  for (int plane = 0; plane < PLANES; plane++)
    load_lines(rows + plane * MICRO_M, rows_at(panels, depth) + plane * PLANE_A, ITEM_ROWS / PLANES, ITEMS_M,
               PANEL_ROWS, A_K_VECTORS);
}
TSL_FUNCTION void load_columns(TSL_REAL *columns, const tile_panels *panels, int depth) {
  TSL_UNROLL
  for (int plane = 0; plane < PLANES; plane++)
    load_lines(columns + plane * MICRO_N, columns_at(panels, depth) + plane * PLANE_B, ITEM_COLUMNS / PLANES,
               ITEMS_N, PANEL_COLUMNS, B_K_VECTORS);
}

/* Loads the numbers of `depth`. NVIDIA's assembler makes the operand that is loaded first the first factor of
 * all multiply-adds. So all numbers of A are loaded before or after all of B. The factor that successive
 * multiply-adds share then stays in its place, where its register is read once. */
TSL_FUNCTION void local_to_private(TSL_REAL rows[BUFFERS][ITEM_ROWS * A_DEPTHS],
                                   TSL_REAL columns[BUFFERS][ITEM_COLUMNS * B_DEPTHS],
                                   const tile_panels *panels, int depth) {
  if (PLANES == 2)
    load_columns(columns[depth % BUFFERS], panels, depth);
  if (depth % A_DEPTHS == 0)
    load_rows(rows[depth / A_DEPTHS % BUFFERS], panels, depth);
  if (PLANES == 1 && depth % B_DEPTHS == 0)
    load_columns(columns[depth / B_DEPTHS % BUFFERS], panels, depth);
}

TSL_FUNCTION void multiply_one(TSL_REAL sum[MICRO_M][ITEM_COLUMNS], const TSL_REAL *rows,
                               const TSL_REAL *columns, int i, int j) {
#ifdef TSL_COMPLEX
  sum[i][2 * j] = TSL_FMA(rows[2 * i], columns[2 * j], sum[i][2 * j]);
  sum[i][2 * j + 1] = TSL_FMA(rows[2 * i + SWAPPED], columns[2 * j + 1 - SWAPPED], sum[i][2 * j + 1]);
  sum[i][2 * j + 1] = TSL_FMA(rows[2 * i + 1 - SWAPPED], columns[2 * j + SWAPPED], sum[i][2 * j + 1]);
  sum[i][2 * j] = TSL_FMA(-rows[2 * i + 1], columns[2 * j + 1], sum[i][2 * j]);
#else
  sum[i][j] = TSL_UNIT_FMA(rows[i * A_DEPTHS], columns[j * B_DEPTHS], sum[i][j]);
#endif
}

TSL_FUNCTION void clear(TSL_REAL sum[MICRO_M][ITEM_COLUMNS]) {
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < ITEM_COLUMNS; j++)
    sum[i][j] = 0;
}

#if PLANES == 2
/* Adds the complex products of one depth. A number of A serves a row's products in a sequence; with SWAPPED a
 * number of B serves a column's. So an imaginary part's first product has the real part of the problem's A.
 */
TSL_FUNCTION void multiply_accumulate(TSL_REAL sum[MICRO_M][ITEM_COLUMNS], const TSL_REAL *rows,
                                      const TSL_REAL *columns) {
  TSL_UNROLL
  for (int outer = 0; outer < (SWAPPED ? MICRO_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int turn = 0; turn < 4; turn++)
    TSL_UNROLL
  for (int inner = 0; inner < (SWAPPED ? MICRO_M : MICRO_N); inner++) {
    const int along = turn % 2 ? (SWAPPED ? MICRO_M : MICRO_N) - 1 - inner : inner;
    const int i = SWAPPED ? along : outer, j = SWAPPED ? outer : along;
    const int part = turn % 2, first = turn / 2, second = first ^ part; /* of C, and of both factors */
    const int of_a = SWAPPED ? second : first, of_b = SWAPPED ? first : second;
    const TSL_REAL x = rows[of_a * MICRO_M + i], y = columns[of_b * MICRO_N + j];
    const bool is_minus = ((of_a & of_b) ^ (of_a & CONJUGATE_A) ^ (of_b & CONJUGATE_B)) != 0;
    sum[i][2 * j + part] = TSL_FMA(is_minus ? -x : x, y, sum[i][2 * j + part]);
  }
}
#else
/* Adds the products of one depth in boustrophedon order along the shorter side. Successive multiply-adds
 * share an operand: NVIDIA multiprocessors read two registers per clock (docs/lab/register_tile.md). */
TSL_FUNCTION void multiply_accumulate(TSL_REAL sum[MICRO_M][ITEM_COLUMNS], const TSL_REAL *rows,
                                      const TSL_REAL *columns) {
  TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? MICRO_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : MICRO_N); inner++) {
    const int along = outer % 2 ? (DOWN ? MICRO_M : MICRO_N) - 1 - inner : inner;
    multiply_one(sum, rows, columns, DOWN ? along : outer, DOWN ? outer : along);
  }
}
#endif

#if SHORT
/* Multiplies the first `depths` depths of a slice's only panel. */
TSL_FUNCTION void multiply_short_panel(TSL_REAL sum[MICRO_M][ITEM_COLUMNS],
                                       TSL_REAL rows[BUFFERS][ITEM_ROWS * A_DEPTHS],
                                       TSL_REAL columns[BUFFERS][ITEM_COLUMNS * B_DEPTHS],
                                       const tile_panels *panels, TSL_INDEX depths) {
  TSL_UNROLL
  for (int depth = 0; depth < SLICE_DEPTH; depth++)
    if (depth < depths) {
      if (depth == 0 || BUFFERS == 1)
        local_to_private(rows, columns, panels, depth);
      if (BUFFERS == 2 && depth + 1 < depths)
        local_to_private(rows, columns, panels, depth + 1);
      multiply_accumulate(sum, rows[depth / A_DEPTHS % BUFFERS] + depth % A_DEPTHS,
                          columns[depth / B_DEPTHS % BUFFERS] + depth % B_DEPTHS);
    }
}
#else
/* Multiplies a panel; rows and columns of its first depth are loaded. `plain`: copies need no guards. */
TSL_FUNCTION void multiply_panel(TSL_REAL sum[MICRO_M][ITEM_COLUMNS],
                                 TSL_REAL rows[BUFFERS][ITEM_ROWS * A_DEPTHS],
                                 TSL_REAL columns[BUFFERS][ITEM_COLUMNS * B_DEPTHS], tile_panels *panels,
                                 tile_copies *copies, bool plain) {
  TSL_UNROLL
  for (int depth = 0; depth < SLICE_DEPTH; depth++) {
    global_to_local(panels, copies, depth, plain);
    if (BUFFERS == 2)
      local_to_private(rows, columns, panels, (depth + 1) % SLICE_DEPTH);
    multiply_accumulate(sum, rows[depth / A_DEPTHS % BUFFERS] + depth % A_DEPTHS,
                        columns[depth / B_DEPTHS % BUFFERS] + depth % B_DEPTHS);
    if (BUFFERS == 1)
      local_to_private(rows, columns, panels, (depth + 1) % SLICE_DEPTH);
  }
  global_to_local_after(panels, copies, plain);
}
#endif

/* Totals of the parts of k before the present one. */
typedef struct tile_totals {
  TSL_REAL held[TOTALS + 1][ITEM_COLUMNS];
  TSL_LOCAL_POINTER TSL_REAL *vectors; /* the item's first vector in local memory */
  int part_panels, left;               /* panels of a part, and of the present part */
} tile_totals;

/* Sets the totals to -0: the sum of the first part keeps its sign. */
TSL_FUNCTION void totals_start(tile_totals *totals, TSL_LOCAL_POINTER TSL_REAL *memory,
                               TSL_INDEX part_depth) {
  totals->vectors = memory + MEMORY + TSL_ITEM(0) * TSL_LANES;
  totals->left = totals->part_panels = (int)(part_depth / TILE_K);
  TSL_UNROLL
  for (int i = 0; i < TOTALS; i++)
    TSL_UNROLL
  for (int j = 0; j < ITEM_COLUMNS; j++)
    totals->held[i][j] = -(TSL_REAL)0;
  for (int v = 0; v < TOTAL_VECTORS; v++)
    TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, totals->vectors + v * ITEMS * TSL_LANES,
                    TSL_SPLAT(TSL_REAL, TSL_LANES, -(TSL_REAL)0));
}

/* Adds the totals to the sums. */
TSL_FUNCTION void add_totals(const tile_totals *totals, TSL_REAL sum[MICRO_M][ITEM_COLUMNS]) {
  TSL_UNROLL
  for (int i = 0; i < TOTALS; i++)
    TSL_UNROLL
  for (int j = 0; j < ITEM_COLUMNS; j++)
    sum[i][j] = totals->held[i][j] + sum[i][j];
  TSL_UNROLL
  for (int v = 0; v < TOTAL_VECTORS; v++) {
    TSL_REAL line[TSL_LANES];
    tsl_lanes_to_array(line, TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, totals->vectors + v * ITEMS * TSL_LANES));
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e++) {
      TSL_REAL *const own = &sum[v * TSL_LANES / ITEM_COLUMNS][v * TSL_LANES % ITEM_COLUMNS + e];
      *own = line[e] + *own;
    }
  }
}

/* Moves the sums of a part of k to the totals, before a panel of the next part. */
TSL_FUNCTION void fold_part(tile_totals *totals, TSL_REAL sum[MICRO_M][ITEM_COLUMNS]) {
  if (!FOLDS || totals->left-- > 0)
    return;
  totals->left = totals->part_panels - 1;
  add_totals(totals, sum);
  TSL_UNROLL
  for (int i = 0; i < TOTALS; i++)
    TSL_UNROLL
  for (int j = 0; j < ITEM_COLUMNS; j++)
    totals->held[i][j] = sum[i][j];
  TSL_UNROLL
  for (int v = 0; v < TOTAL_VECTORS; v++)
    TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, totals->vectors + v * ITEMS * TSL_LANES,
                    tsl_lanes_from_array(&sum[v * TSL_LANES / ITEM_COLUMNS][v * TSL_LANES % ITEM_COLUMNS]));
  clear(sum);
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_register_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL tile_result *TSL_RESTRICT c, const tsl_register_tile_arguments args) {
  TILE_MEMORY(memory);
  TSL_START();
  if (tsl_is_unwanted(args.wanted, args.wanted_above))
    return;
  tsl_gemm_arguments g = args.gemm;
  g.a_offset += TSL_GROUP(2) * args.a_step;
  g.b_offset += TSL_GROUP(2) * args.b_step;
  const tile_start at = start_of(args);
  g.c_offset += TSL_GROUP(2) * args.c_step + (STORES_SPLITS ? at.split * args.split_step : 0);
  TSL_REAL rows[BUFFERS][ITEM_ROWS * A_DEPTHS], columns[BUFFERS][ITEM_COLUMNS * B_DEPTHS];
  TSL_REAL sum[MICRO_M][ITEM_COLUMNS];
  tile_panels panels;
  tile_copies copies;
  clear(sum);
  tile_totals totals;
  totals_start(&totals, memory, args.split_depth);

#if SHORT
  (void)global_to_local_start(&panels, &copies, memory, a, b, &g, &at);
  multiply_short_panel(sum, rows, columns, &panels, at.end - at.first - at.slice * SLICE_DEPTH);
#else
  int plain = global_to_local_start(&panels, &copies, memory, a, b, &g, &at); /* panels that need no guards */
  int guarded = (int)((at.end - at.first + PANEL_DEPTH - 1) / PANEL_DEPTH) - (plain > 0 ? plain : 0);
  local_to_private(rows, columns, &panels, 0);
  for (; plain > 0; plain--) {
    fold_part(&totals, sum);
    multiply_panel(sum, rows, columns, &panels, &copies, true);
  }
  for (; guarded > 0; guarded--) {
    fold_part(&totals, sum);
    multiply_panel(sum, rows, columns, &panels, &copies, false);
  }
#endif
  TSL_END();
  add_totals(&totals, sum);
  store_results(sum, memory, c, &g, at.row, at.col, at.slice, at.m_item, at.n_item);
}
