/* Idea: an item keeps a micro-tile of C, MICRO_M x MICRO_N numbers, in registers. Its group keeps panels of A
 * and B in local memory and prefetches the next panel to registers while it multiplies the current panel.
 * Beyond `tile_local`: a number from local memory serves MICRO_M or MICRO_N multiply-adds instead of one, all
 * accesses are vectors, and the latency of global memory is hidden.
 *
 *                   TILE_N                  for each panel of TILE_K along k:
 *               +-----------+                 start to read the next panel into registers
 *        TILE_K |  panel B  |                 for each l of the panel:
 *               +-----------+                   read MICRO_M + MICRO_N numbers from local memory, as vectors
 *     TILE_K                                    MICRO_M x MICRO_N fused multiply-adds
 *     +----+    +-----------+                 write what was read to the other half of local memory; barrier
 *     |    |    | o . o .   |
 *     | A  |    | . . . .   | TILE_M        A micro-tile consists of vectors (o), ITEMS_N vectors apart in a
 *     |    |    | o . o .   |               row and ITEMS_M in a column: adjacent items read adjacent
 *     +----+    +-----------+               vectors, without bank conflicts.
 *
 * Slices: where there are few tiles, SLICES items share a micro-tile. Each multiplies SLICE_DEPTH depths of
 * every panel; their sums are added in order in local memory at the end. Grid: dimension 0 counts tiles of C,
 * dimension 1 k splits, dimension 2 products of a batch. Sums of several splits go to the workspace, and
 * register_tile_sum.cl adds them in order. Elements that the kernel does not multiply (complex, 16-bit,
 * bytes) are first copied as units (register_tile_units.cl; COPIED). A complex line is two lines of numbers.
 *
 * Defines: A_ALONG_K (B_ALONG_K): rows of A (columns of B) are read along k; A_ODD (B_ODD): their vectors are
 * not aligned. Any sizes and strides. Local memory: STAGES * TILE_K * (TILE_M + TILE_N + padding) numbers. */
#include "micro_tile.cl"

#define PASSES_OF(extent) ((extent)*TSL_PARAM_TILE_K / TSL_LANES / ITEMS)
#define PASSES_A PASSES_OF(EXTENT_M)
#define PASSES_B PASSES_OF(EXTENT_N)
#define TSL_FETCH_PASSES (PASSES_A > PASSES_B ? PASSES_A : PASSES_B)

#include "fetch.cl"

/* Constant arguments of the fetch functions for each operand. */
#define SINGLY_A (A_ODD && TSL_FETCH_SINGLY(A_ALONG_K, EXTENT_M, ITEMS))
#define SINGLY_B (B_ODD && TSL_FETCH_SINGLY(B_ALONG_K, EXTENT_N, ITEMS))
#define OF_A A_ALONG_K, SINGLY_A, EXTENT_M, PASSES_A, ITEMS
#define OF_B B_ALONG_K, SINGLY_B, EXTENT_N, PASSES_B, ITEMS
#define PITCH_A TSL_FETCH_PITCH(EXTENT_M, A_ALONG_K)
#define PITCH_B TSL_FETCH_PITCH(EXTENT_N, B_ALONG_K)
#define PANEL_A (TSL_DEPTH * PITCH_A)
#define PANEL_B (TSL_DEPTH * PITCH_B)
#define PANELS (STAGES * (PANEL_A + PANEL_B))
#include "register_tile_epilogue.cl"

/* Depth at which the next panel is written to local memory: with two stages well before the barrier. */
#define SMEM_STORE_STEP (STAGES == 1 ? SLICE_DEPTH - 1 : SLICE_DEPTH / 2)
/* 1: the panel after next is read right after the write; 0: at the end of the current panel (measured). */
#define PREFETCH_EARLY (SLICES == 1 || STAGES == 1)
/* The item's positions in the first stage of each operand's panels. */
typedef struct tile_panels {
  TSL_LOCAL_POINTER TSL_REAL *a, *b;
  int a_first, b_first;
} tile_panels;

/* Reads the panel after the written panel. `left`: k left from its start. `plain`: it needs no guards. */
TSL_FUNCTION void fetch_both(tsl_fetch *a_fetch, tsl_fetch *b_fetch, TSL_INDEX left, bool plain) {
  if (plain) {
    tsl_fetch_plain(a_fetch, OF_A);
    tsl_fetch_plain(b_fetch, OF_B);
  } else {
    tsl_fetch_any(a_fetch, OF_A, left);
    tsl_fetch_any(b_fetch, OF_B, left);
  }
}

/* Multiplies the panel of `stage`; meanwhile the next panel is written to local memory, another is read. */
TSL_FUNCTION void multiply_panel(TSL_REAL sum[MICRO_M][WIDTH_N], TSL_REAL *rows, TSL_REAL *columns,
                                 const tile_panels *panels, int stage, tsl_fetch *a_fetch, tsl_fetch *b_fetch,
                                 TSL_INDEX left, bool plain) {
  const int next = STAGES == 1 ? 0 : stage ^ 1;
  TSL_UNROLL
  for (int depth = 0; depth < SLICE_DEPTH; depth++) {
    if (STAGES == 1 && depth == SMEM_STORE_STEP)
      TSL_BARRIER();
    if (depth == SMEM_STORE_STEP) {
      tsl_fetch_stash(a_fetch, OF_A, panels->a + next * PANEL_A);
      tsl_fetch_stash(b_fetch, OF_B, panels->b + next * PANEL_B);
      if (PREFETCH_EARLY)
        fetch_both(a_fetch, b_fetch, left, plain);
    }
    if (depth == SLICE_DEPTH - 1) {
      TSL_BARRIER();
      stage = next;
    }
    multiply(sum, rows, columns);
    read_rows(rows, panels->a + stage * PANEL_A + (depth + 1) % SLICE_DEPTH * PITCH_A + panels->a_first);
    read_columns(columns,
                 panels->b + stage * PANEL_B + (depth + 1) % SLICE_DEPTH * PITCH_B + panels->b_first);
  }
  if (!PREFETCH_EARLY)
    fetch_both(a_fetch, b_fetch, left, plain);
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_register_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL tile_result *TSL_RESTRICT c, const tsl_register_tile_arguments args) {
  TSL_LOCAL TSL_REAL memory[MEMORY];
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  const tsl_gemm_arguments g = product_of(args);
  const tile_start at = start_of(args);
  const tile_panels panels = {memory, memory + STAGES * PANEL_A, at.slice * SLICE_DEPTH * PITCH_A + at.m_item,
                              at.slice * SLICE_DEPTH * PITCH_B + at.n_item};
  tsl_fetch a_fetch, b_fetch;
  tsl_fetch_start(&a_fetch, OF_A, a, g.a_offset, g.a_row_stride, g.a_col_stride, at.row * TSL_NUMBERS,
                  LINES(g.m), at.first);
  tsl_fetch_start(&b_fetch, OF_B, b, g.b_offset, g.b_col_stride, g.b_row_stride, at.col * TSL_NUMBERS,
                  LINES(g.n), at.first);

  const TSL_INDEX depths = at.end - at.first;
  const int count = (int)((depths + TSL_DEPTH - 1) / TSL_DEPTH);
  const bool inside = tsl_fetch_is_plain(&a_fetch, SINGLY_A) && tsl_fetch_is_plain(&b_fetch, SINGLY_B);
  TSL_REAL rows[WIDTH_M], columns[WIDTH_N], sum[MICRO_M][WIDTH_N];
  clear(sum);

  tsl_fetch_any(&a_fetch, OF_A, depths);
  tsl_fetch_any(&b_fetch, OF_B, depths);
  tsl_fetch_stash(&a_fetch, OF_A, panels.a);
  tsl_fetch_stash(&b_fetch, OF_B, panels.b);
  tsl_fetch_any(&a_fetch, OF_A, depths - TSL_DEPTH);
  tsl_fetch_any(&b_fetch, OF_B, depths - TSL_DEPTH);
  TSL_BARRIER();
  read_rows(rows, panels.a + panels.a_first);
  read_columns(columns, panels.b + panels.b_first);

  /* k left two panels ahead; the first `plain` panels need no guards */
  TSL_INDEX left = depths - 2 * TSL_DEPTH;
  int stage = 0, plain = inside ? (int)(left / TSL_DEPTH) : 0;
  int guarded = count - (plain > 0 ? plain : 0);
  for (; plain > 0; plain--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    multiply_panel(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, true);
  for (; guarded > 0; guarded--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    multiply_panel(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, false);

  const tile_corner corner = corner_of(&args, &g, at.row, at.col);
  epilogue(sum, memory, c, &g, &corner, at.slice, at.m_item, at.n_item);
}
