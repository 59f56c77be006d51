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
 * Dimension 0 counts tiles of C, dimension 1 parts of k: with more than one, each part's sum goes to scratch memory,
 * and register_tile_sum.cl adds them in order.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _TILE_K, _MICRO_M, _MICRO_N, _VECTOR (bytes), and _STAGES: panels of each
 * operand in local memory, 1 or 2. The build sets A_ALONG_K and B_ALONG_K where rows of A and columns of B are read along k.
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

#define ITEMS_M (TILE_M / MICRO_M)
#define ITEMS_N (TILE_N / MICRO_N)
#define ITEMS (ITEMS_M * ITEMS_N)
#include "lanes.h"

#define PASSES_OF(extent) ((extent)*TSL_PARAM_TILE_K / TSL_LANES / ITEMS)
#define PASSES_A PASSES_OF(TILE_M)
#define PASSES_B PASSES_OF(TILE_N)
#define TSL_FETCH_PASSES (PASSES_A > PASSES_B ? PASSES_A : PASSES_B)

#include "fetch.h"
#include "raster.h"

#define VECTORS_M (MICRO_M / TSL_LANES)
#define VECTORS_N (MICRO_N / TSL_LANES)
#define PITCH_A TSL_FETCH_PITCH(TILE_M, A_ALONG_K)
#define PITCH_B TSL_FETCH_PITCH(TILE_N, B_ALONG_K)
#define PANEL_A (TSL_DEPTH * PITCH_A)
#define PANEL_B (TSL_DEPTH * PITCH_B)
/* The depth at which the next panel is put down: with room to spare before the barrier where there is a free half. */
#define STASH_AT (STAGES == 1 ? TSL_DEPTH - 1 : TSL_DEPTH / 2)
/* Whether multiply-adds go along columns of the micro-tile. */
#define DOWN (MICRO_M <= MICRO_N)

/* register_tile.h has the same struct for the host. */
typedef struct register_tile_arguments {
  tsl_gemm_arguments gemm;
  TSL_INDEX part;      /* products of a part of k */
  TSL_INDEX part_step; /* elements from part to part of C */
  TSL_INDEX band;      /* rows of tiles that groups take together */
} register_tile_arguments;

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

/* One depth's multiply-adds: along the shorter side of the micro-tile, and back along the next line, so that two in a
 * row always have a factor in common. NVIDIA's multiprocessors read two registers a clock beside those that the
 * instruction before has read, and this order leaves the compiler the most of them (NOTES.md). */
TSL_FUNCTION void multiply(TSL_REAL sum[MICRO_M][MICRO_N], const TSL_REAL *rows, const TSL_REAL *columns) {
  TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? MICRO_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : MICRO_N); inner++) {
    const int turned = outer % 2 ? (DOWN ? MICRO_M : MICRO_N) - 1 - inner : inner;
    const int i = DOWN ? turned : outer, j = DOWN ? outer : turned;
    sum[i][j] = TSL_FMA(rows[i], columns[j], sum[i][j]);
  }
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_register_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const register_tile_arguments arguments) {
  TSL_LOCAL TSL_REAL a_panels[STAGES * PANEL_A];
  TSL_LOCAL TSL_REAL b_panels[STAGES * PANEL_B];
  const tsl_gemm_arguments g = arguments.gemm;
  const int m_item = item_row(TSL_ITEM(0)) * TSL_LANES, n_item = item_column(TSL_ITEM(0)) * TSL_LANES;
  TSL_INDEX row0, col0;
  tsl_raster(TSL_GROUP(0), (g.m + TILE_M - 1) / TILE_M, (g.n + TILE_N - 1) / TILE_N, arguments.band, &row0,
             &col0);
  row0 *= TILE_M;
  col0 *= TILE_N;
  const TSL_INDEX first = TSL_GROUP(1) * arguments.part;
  const TSL_INDEX end = g.k - first < arguments.part ? g.k : first + arguments.part;

  tsl_fetch a_fetch, b_fetch;
  tsl_fetch_start(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, a, g.a_offset, g.a_row_stride, g.a_col_stride,
                  row0, g.m, first);
  tsl_fetch_start(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, b, g.b_offset, g.b_col_stride, g.b_row_stride,
                  col0, g.n, first);

  const int panels = (int)((end - first + TSL_DEPTH - 1) / TSL_DEPTH);
  const bool vectors = a_fetch.reading == TSL_FETCH_VECTORS && b_fetch.reading == TSL_FETCH_VECTORS;
  TSL_REAL rows[MICRO_M], columns[MICRO_N], sum[MICRO_M][MICRO_N];
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < MICRO_N; j++)
    sum[i][j] = 0;

  tsl_fetch_any(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, end - first);
  tsl_fetch_any(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, end - first);
  tsl_fetch_stash(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, a_panels);
  tsl_fetch_stash(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, b_panels);
  tsl_fetch_any(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, end - first - TSL_DEPTH);
  tsl_fetch_any(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, end - first - TSL_DEPTH);
  TSL_BARRIER();
  read_rows(rows, a_panels + m_item);
  read_columns(columns, b_panels + n_item);

  /* `left` numbers along k lie behind those that were read, which are two panels ahead; of the panels there, `plain`
   * need no guards. */
  TSL_INDEX left = end - first - 2 * TSL_DEPTH;
  int stage = 0, plain = vectors ? (int)(left / TSL_DEPTH) : 0;
  for (int rest = panels; rest > 0;) {
    const int next = STAGES == 1 ? 0 : stage ^ 1;
    TSL_UNROLL
    for (int depth = 0; depth < TSL_DEPTH; depth++) {
      if (STAGES == 1 && depth == STASH_AT)
        TSL_BARRIER();
      if (depth == STASH_AT) {
        tsl_fetch_stash(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, a_panels + next * PANEL_A);
        tsl_fetch_stash(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, b_panels + next * PANEL_B);
      }
      if (depth == TSL_DEPTH - 1) {
        TSL_BARRIER();
        stage = next;
      }
      multiply(sum, rows, columns);
      read_rows(rows, a_panels + stage * PANEL_A + (depth + 1) % TSL_DEPTH * PITCH_A + m_item);
      read_columns(columns, b_panels + stage * PANEL_B + (depth + 1) % TSL_DEPTH * PITCH_B + n_item);
    }
    const TSL_INDEX behind = left;
    left -= TSL_DEPTH;
    rest--;
    if (plain-- > 0) {
      tsl_fetch_vectors(&a_fetch, PASSES_A);
      tsl_fetch_vectors(&b_fetch, PASSES_B);
      continue;
    }
    tsl_fetch_any(&a_fetch, A_ALONG_K, TILE_M, PASSES_A, ITEMS, behind);
    tsl_fetch_any(&b_fetch, B_ALONG_K, TILE_N, PASSES_B, ITEMS, behind);
  }

  const TSL_INDEX c_offset = g.c_offset + TSL_GROUP(1) * arguments.part_step;
  const bool together = tsl_lanes_together(c_offset, g.c_row_stride, g.c_col_stride);
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++) {
    const TSL_INDEX row = row0 + i / TSL_LANES * ITEMS_M * TSL_LANES + m_item + i % TSL_LANES;
    TSL_UNROLL
    for (int j = 0; j < VECTORS_N; j++) {
      const TSL_INDEX col = col0 + j * ITEMS_N * TSL_LANES + n_item;
      if (row < g.m)
        tsl_lanes_finish(c + c_offset + row * g.c_row_stride + col * g.c_col_stride, g.c_col_stride,
                         g.n - col, together, tsl_lanes_gather(&sum[i][j * TSL_LANES]), g.alpha, g.beta);
    }
  }
}
#endif
