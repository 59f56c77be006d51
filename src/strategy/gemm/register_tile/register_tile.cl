/* Idea: an item keeps a micro-tile of C, MICRO_M x MICRO_N numbers, in registers; its group keeps panels of A and B in
 * local memory, and fetches the next panel while it multiplies the present one.
 * What it adds to `tile_local`: a number that comes from local memory serves MICRO_M or MICRO_N multiply-adds in place
 * of one, all memory is read in vectors, and nobody waits for global memory.
 *
 *                 TILE_N                  for each panel of TILE_K along k:
 *             +-----------+                 start to read the next panel into registers
 *      TILE_K |  panel B  |                 for each l of the panel:
 *             +-----------+                   read MICRO_M + MICRO_N numbers from local memory, as vectors
 *   TILE_K                                    MICRO_M x MICRO_N fused multiply-adds
 *   +----+    +-----------+                 put what was read into the other half of local memory; barrier
 *   |    |    | o . o .   |
 *   | A  |    | . . . .   | TILE_M        An item's micro-tile is made of vectors that lie ITEMS_N vectors apart in a
 *   |    |    | o . o .   |               row and ITEMS_M in a column (o): neighbouring items read neighbouring
 *   +----+    +-----------+               vectors, so that no bank of local memory is asked twice.
 *
 * Where there are few tiles, SLICES items share a micro-tile: each multiplies its share of every panel's depths, and their
 * sums are added in order in local memory at the end. So a group is as large as a compute unit wants it, while its tile
 * is small enough for all units to have one.
 * Dimension 0 counts tiles of C, dimension 1 parts of k: with more than one, each part's sum goes to scratch memory,
 * and register_tile_sum.cl adds them in order. Dimension 2 counts the products of a batch.
 *
 * Elements that are no numbers (complex ones, halves, bytes) are copied first, as units (register_tile_units.cl, which
 * sets COPIED): depth by depth, lines side by side; so a complex line is two lines of numbers here.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _TILE_K, _MICRO_M, _MICRO_N, _VECTOR (bytes), and _STAGES: panels of each
 * operand in local memory, 1 or 2; _SLICES. The build sets A_ALONG_K and B_ALONG_K where rows of A and columns of B are read along k.
 * Limits: any sizes, strides and alignment. Local memory: STAGES * TILE_K * (TILE_M + TILE_N + padding) numbers. */
/* The other forms are in register_tile_panels.cl. */
#if TSL_PARAM_FORM == 1
#include "gemm.h"

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define MICRO_M TSL_PARAM_MICRO_M
#define MICRO_N TSL_PARAM_MICRO_N
#define STAGES TSL_PARAM_STAGES
#ifndef A_ALONG_K
#define A_ALONG_K 1
#define B_ALONG_K 0
#endif
#ifndef GROUPS
#define GROUPS 1
#endif

#define SLICES TSL_PARAM_SLICES
#define ITEMS_M (TILE_M / MICRO_M)
#define ITEMS_N (TILE_N / MICRO_N)
#define PLACES (ITEMS_M * ITEMS_N)
#define ITEMS (PLACES * SLICES)
#include "units.h"

/* In numbers, of which a complex element has two. */
#define EXTENT_M (TILE_M * TSL_NUMBERS)
#define EXTENT_N (TILE_N * TSL_NUMBERS)
#define WIDTH_M (MICRO_M * TSL_NUMBERS)
#define WIDTH_N (MICRO_N * TSL_NUMBERS)
#define PASSES_OF(extent) ((extent)*TSL_PARAM_TILE_K / TSL_LANES / ITEMS)
#define PASSES_A PASSES_OF(EXTENT_M)
#define PASSES_B PASSES_OF(EXTENT_N)
#define TSL_FETCH_PASSES (PASSES_A > PASSES_B ? PASSES_A : PASSES_B)

#include "fetch.h"
#include "raster.h"

/* What fetches are told of each operand. */
#define OF_A A_ALONG_K, EXTENT_M, PASSES_A, ITEMS
#define OF_B B_ALONG_K, EXTENT_N, PASSES_B, ITEMS
#define VECTORS_M (WIDTH_M / TSL_LANES)
#define VECTORS_N (WIDTH_N / TSL_LANES)
#define PITCH_A TSL_FETCH_PITCH(EXTENT_M, A_ALONG_K)
#define PITCH_B TSL_FETCH_PITCH(EXTENT_N, B_ALONG_K)
#define PANEL_A (TSL_DEPTH * PITCH_A)
#define PANEL_B (TSL_DEPTH * PITCH_B)
/* Depths of a panel that a slice multiplies. */
#define SHARE (TSL_DEPTH / SLICES)
/* The depth at which the next panel is put down: with room to spare before the barrier where there is a free half. */
#define STASH_AT (STAGES == 1 ? SHARE - 1 : SHARE / 2)
/* Whether the panel behind it is read at once, and not at the end of the present one: measured (NOTES.md). */
#define FETCH_EARLY (SLICES == 1 || STAGES == 1)
/* Where slices' sums meet: as many rows of the micro-tiles at once as find room, at least one.
 *   slice 0: | row 0 of each item: EXTENT_N sums, padding | row 1 | ... | slice 1: ... */
#define FOLD_PITCH (EXTENT_N + TSL_LANES)
#define FOLD_ROW (SLICES * ITEMS_M * FOLD_PITCH)
#define PANELS (STAGES * (PANEL_A + PANEL_B))
#define MEMORY (SLICES > 1 && FOLD_ROW > PANELS ? FOLD_ROW : PANELS)
#define FOLD_FITS(rows) (MICRO_M % (rows) == 0 && (rows)*FOLD_ROW <= MEMORY)
#define FOLD_ROWS (FOLD_FITS(8) ? 8 : FOLD_FITS(4) ? 4 : FOLD_FITS(2) ? 2 : 1)
/* Whether multiply-adds go along columns of the micro-tile. */
#define DOWN (MICRO_M <= MICRO_N)

/* register_tile.h has the same struct for the host. */
typedef struct register_tile_arguments {
  tsl_gemm_arguments gemm;
  TSL_INDEX part;                   /* products of a part of k */
  TSL_INDEX part_step;              /* elements from part to part of C */
  TSL_INDEX band;                   /* rows of tiles that groups take together */
  TSL_INDEX a_step, b_step, c_step; /* elements from product to product of a batch */
} register_tile_arguments;

/* Parts of C stay sums, in rows of whole vectors. */
#if TSL_PARAM_SPLIT > 1
typedef TSL_REAL tile_result;
TSL_FUNCTION void finish(TSL_GLOBAL TSL_REAL *at, TSL_INDEX stride, TSL_INDEX count, bool together,
                         tsl_lanes sum, const tsl_gemm_arguments *g) {
  (void)stride, (void)count, (void)together, (void)g;
  TSL_STORE_ALIGNED(TSL_REAL, TSL_LANES, at, sum);
}
#else
typedef tsl_result tile_result;
#define finish tsl_units_finish
#endif

/* Lines of an operand that fetches may read. */
#ifdef COPIED
#define LINES(elements) (((elements)*TSL_NUMBERS + TSL_LANES - 1) / TSL_LANES * TSL_LANES)
#else
#define LINES(elements) (elements)
#endif

/* Where an item stands among ITEMS_M x ITEMS_N. Of 32 items that run in step, those that differ in bit 0 read the same
 * of A, and those that differ in bit 1 the same of B: local memory answers both at once. */
TSL_FUNCTION int item_column(int item) {
  return ITEMS_M % 8 == 0 && ITEMS_N % 4 == 0 ? (item & 1) | (item >> 3 & 2) | (item >> 5) % (ITEMS_N / 4) * 4
                                              : item % ITEMS_N;
}
TSL_FUNCTION int item_row(int item) {
  return ITEMS_M % 8 == 0 && ITEMS_N % 4 == 0 ? (item >> 1 & 7) | (item >> 5) / (ITEMS_N / 4) * 8
                                              : item / ITEMS_N;
}

/* The numbers that an item multiplies at one depth. */
TSL_FUNCTION void read_rows(TSL_REAL *rows, TSL_LOCAL_POINTER const TSL_REAL *panel) {
  TSL_UNROLL
  for (int i = 0; i < VECTORS_M; i++)
    tsl_lanes_spread(rows + i * TSL_LANES,
                     TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, panel + i * ITEMS_M * TSL_LANES));
}
TSL_FUNCTION void read_columns(TSL_REAL *columns, TSL_LOCAL_POINTER const TSL_REAL *panel) {
  TSL_UNROLL
  for (int j = 0; j < VECTORS_N; j++)
    tsl_lanes_spread(columns + j * TSL_LANES,
                     TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, panel + j * ITEMS_N * TSL_LANES));
}

/* sum[i][j] += row i times column j. */
#ifdef TSL_COMPLEX
TSL_FUNCTION void multiply_one(TSL_REAL sum[MICRO_M][WIDTH_N], const TSL_REAL *rows, const TSL_REAL *columns,
                               int i, int j) {
  sum[i][2 * j] = TSL_FMA(rows[2 * i], columns[2 * j], sum[i][2 * j]);
  sum[i][2 * j + 1] = TSL_FMA(rows[2 * i], columns[2 * j + 1], sum[i][2 * j + 1]);
  sum[i][2 * j + 1] = TSL_FMA(rows[2 * i + 1], columns[2 * j], sum[i][2 * j + 1]);
  sum[i][2 * j] = TSL_FMA(-rows[2 * i + 1], columns[2 * j + 1], sum[i][2 * j]);
}
#else
TSL_FUNCTION void multiply_one(TSL_REAL sum[MICRO_M][WIDTH_N], const TSL_REAL *rows, const TSL_REAL *columns,
                               int i, int j) {
  sum[i][j] = TSL_UNIT_FMA(rows[i], columns[j], sum[i][j]);
}
#endif

/* One depth's multiply-adds: along the shorter side of the micro-tile, and back along the next line, so that two in a
 * row always have a factor in common. NVIDIA's multiprocessors read two registers a clock beside those that the
 * instruction before has read, and this order leaves the compiler the most of them (NOTES.md). */
TSL_FUNCTION void multiply(TSL_REAL sum[MICRO_M][WIDTH_N], const TSL_REAL *rows, const TSL_REAL *columns) {
  TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? MICRO_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : MICRO_N); inner++) {
    const int turned = outer % 2 ? (DOWN ? MICRO_M : MICRO_N) - 1 - inner : inner;
    multiply_one(sum, rows, columns, DOWN ? turned : outer, DOWN ? outer : turned);
  }
}

/* Where a group's tile starts, and how its part of C lies. */
typedef struct tile_corner {
  TSL_INDEX row, col, c_offset;
  bool together;
} tile_corner;

/* A vector of sums of row `i` of a micro-tile: those of the item whose first row is number m_item, from number n on. */
TSL_FUNCTION void store(TSL_GLOBAL tile_result *c, const tsl_gemm_arguments *g, const tile_corner *corner,
                        int i, int m_item, int n, tsl_lanes sum) {
  const int number = i * TSL_NUMBERS;
  const TSL_INDEX row =
      corner->row + (number / TSL_LANES * ITEMS_M * TSL_LANES + m_item + number % TSL_LANES) / TSL_NUMBERS;
  const TSL_INDEX col = corner->col + n / TSL_NUMBERS;
  if (row < g->m && col < g->n)
    finish(c + TSL_NUMBERS * (corner->c_offset + row * g->c_row_stride + col * g->c_col_stride),
           g->c_col_stride, g->n - col, corner->together, sum, g);
}

#if SLICES > 1
/* Adds the slices' sums of the micro-tiles' rows from `first` on, in order, and stores them. */
TSL_FUNCTION void fold(TSL_LOCAL_POINTER const TSL_REAL *memory, TSL_GLOBAL tile_result *c,
                       const tsl_gemm_arguments *g, const tile_corner *corner, int first) {
  const int across = EXTENT_N / TSL_LANES, lines = FOLD_ROWS * ITEMS_M;
  TSL_UNROLL_BY(1)
  for (int at = TSL_ITEM(0); at < lines * across; at += ITEMS) {
    const int line = at / across, n = at % across * TSL_LANES;
    TSL_LOCAL_POINTER const TSL_REAL *from = memory + line * FOLD_PITCH + n;
    tsl_lanes total = TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, from);
    TSL_UNROLL
    for (int s = 1; s < SLICES; s++)
      total = total + TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, from + s * lines * FOLD_PITCH);
    store(c, g, corner, first + line / ITEMS_M, line % ITEMS_M * TSL_LANES, n, total);
  }
}
#endif

/* Where the panels of each operand start in local memory, at an item's share of them. */
typedef struct tile_panels {
  TSL_LOCAL_POINTER TSL_REAL *a, *b;
  int a_first, b_first;
} tile_panels;

/* Reads the panel behind the one that is put down. `left` numbers along k lie behind its start; `plain`: it needs no
 * guards. */
TSL_FUNCTION void fetch_both(tsl_fetch *a_fetch, tsl_fetch *b_fetch, TSL_INDEX left, bool plain) {
  if (plain) {
    tsl_fetch_vectors(a_fetch, PASSES_A);
    tsl_fetch_vectors(b_fetch, PASSES_B);
  } else {
    tsl_fetch_any(a_fetch, OF_A, left);
    tsl_fetch_any(b_fetch, OF_B, left);
  }
}

/* Goes through the panel of `stage`, while the next one is put down and one more is read. */
TSL_FUNCTION void go_through(TSL_REAL sum[MICRO_M][WIDTH_N], TSL_REAL *rows, TSL_REAL *columns,
                             const tile_panels *panels, int stage, tsl_fetch *a_fetch, tsl_fetch *b_fetch,
                             TSL_INDEX left, bool plain) {
  const int next = STAGES == 1 ? 0 : stage ^ 1;
  TSL_UNROLL
  for (int depth = 0; depth < SHARE; depth++) {
    if (STAGES == 1 && depth == STASH_AT)
      TSL_BARRIER();
    if (depth == STASH_AT) {
      tsl_fetch_stash(a_fetch, OF_A, panels->a + next * PANEL_A);
      tsl_fetch_stash(b_fetch, OF_B, panels->b + next * PANEL_B);
      if (FETCH_EARLY)
        fetch_both(a_fetch, b_fetch, left, plain);
    }
    if (depth == SHARE - 1) {
      TSL_BARRIER();
      stage = next;
    }
    multiply(sum, rows, columns);
    read_rows(rows, panels->a + stage * PANEL_A + (depth + 1) % SHARE * PITCH_A + panels->a_first);
    read_columns(columns, panels->b + stage * PANEL_B + (depth + 1) % SHARE * PITCH_B + panels->b_first);
  }
  if (!FETCH_EARLY)
    fetch_both(a_fetch, b_fetch, left, plain);
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_register_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL tile_result *TSL_RESTRICT c, const register_tile_arguments arguments) {
  TSL_LOCAL TSL_REAL memory[MEMORY];
  tsl_gemm_arguments g = arguments.gemm;
  g.a_offset += TSL_GROUP(2) * arguments.a_step;
  g.b_offset += TSL_GROUP(2) * arguments.b_step;
  g.c_offset += TSL_GROUP(2) * arguments.c_step;
  const int place = TSL_ITEM(0) % PLACES, slice = TSL_ITEM(0) / PLACES;
  const int m_item = item_row(place) * TSL_LANES, n_item = item_column(place) * TSL_LANES;
  const tile_panels panels = {memory, memory + STAGES * PANEL_A, slice * SHARE * PITCH_A + m_item,
                              slice * SHARE * PITCH_B + n_item};
  TSL_INDEX row0, col0;
  tsl_raster(TSL_GROUP(0), (g.m + TILE_M - 1) / TILE_M, (g.n + TILE_N - 1) / TILE_N, arguments.band, &row0,
             &col0);
  row0 *= TILE_M;
  col0 *= TILE_N;
  const TSL_INDEX first = TSL_GROUP(1) * arguments.part;
  const TSL_INDEX end = g.k - first < arguments.part ? g.k : first + arguments.part;

  tsl_fetch a_fetch, b_fetch;
  tsl_fetch_start(&a_fetch, OF_A, a, g.a_offset, g.a_row_stride, g.a_col_stride, row0 * TSL_NUMBERS,
                  LINES(g.m), first);
  tsl_fetch_start(&b_fetch, OF_B, b, g.b_offset, g.b_col_stride, g.b_row_stride, col0 * TSL_NUMBERS,
                  LINES(g.n), first);

  const int count = (int)((end - first + TSL_DEPTH - 1) / TSL_DEPTH);
  const bool vectors = a_fetch.reading == TSL_FETCH_VECTORS && b_fetch.reading == TSL_FETCH_VECTORS;
  TSL_REAL rows[WIDTH_M], columns[WIDTH_N], sum[MICRO_M][WIDTH_N];
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < WIDTH_N; j++)
    sum[i][j] = 0;

  tsl_fetch_any(&a_fetch, OF_A, end - first);
  tsl_fetch_any(&b_fetch, OF_B, end - first);
  tsl_fetch_stash(&a_fetch, OF_A, panels.a);
  tsl_fetch_stash(&b_fetch, OF_B, panels.b);
  tsl_fetch_any(&a_fetch, OF_A, end - first - TSL_DEPTH);
  tsl_fetch_any(&b_fetch, OF_B, end - first - TSL_DEPTH);
  TSL_BARRIER();
  read_rows(rows, panels.a + panels.a_first);
  read_columns(columns, panels.b + panels.b_first);

  /* `left` numbers along k lie behind those that were read, which are two panels ahead; of the panels there, `plain`
   * need no guards. */
  TSL_INDEX left = end - first - 2 * TSL_DEPTH;
  int stage = 0, plain = vectors ? (int)(left / TSL_DEPTH) : 0;
  int rest = count - (plain > 0 ? plain : 0);
  for (; plain > 0; plain--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    go_through(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, true);
  for (; rest > 0; rest--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    go_through(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, false);

  const TSL_INDEX c_offset = g.c_offset + TSL_GROUP(1) * arguments.part_step;
  tile_corner corner = {row0, col0, c_offset, tsl_lanes_together(c_offset, g.c_row_stride, g.c_col_stride)};
#if SLICES == 1
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < VECTORS_N; j++)
    store(c, &g, &corner, i, m_item, j * ITEMS_N * TSL_LANES + n_item,
          tsl_lanes_gather(&sum[i][j * TSL_LANES]));
#else
  TSL_UNROLL
  for (int first = 0; first < MICRO_M; first += FOLD_ROWS) {
    TSL_BARRIER(); /* what lies there was read */
    TSL_UNROLL
    for (int i = 0; i < FOLD_ROWS; i++)
      TSL_UNROLL
    for (int j = 0; j < VECTORS_N; j++)
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES,
                      memory + ((slice * FOLD_ROWS + i) * ITEMS_M + m_item / TSL_LANES) * FOLD_PITCH +
                          j * ITEMS_N * TSL_LANES + n_item,
                      tsl_lanes_gather(&sum[first + i][j * TSL_LANES]));
    TSL_BARRIER();
    fold(memory, c, &g, &corner, first);
  }
#endif
}
#endif
