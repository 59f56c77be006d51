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
 * Dimension 0 counts tiles of C, dimension 1 splits of k: with more than one, each split's sums go to scratch memory,
 * and register_tile_sum.cl adds them in order. Dimension 2 counts the products of a batch.
 *
 * Elements that are no numbers (complex ones, halves, bytes) are copied first, as units (register_tile_units.cl, which
 * sets COPIED): depth by depth, lines side by side; so a complex line is two lines of numbers here.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _TILE_K, _MICRO_M, _MICRO_N, _VECTOR (bytes), and _STAGES: panels of each
 * operand in local memory, 1 or 2; _SLICES. The build sets A_ALONG_K and B_ALONG_K where rows of A and columns of B are read along k,
 * A_ODD and B_ODD where their vectors will not be aligned.
 * Limits: any sizes, strides and alignment. Local memory: STAGES * TILE_K * (TILE_M + TILE_N + padding) numbers.
 * Asynchronous copies are in register_tile_async.cl, kernels without local memory in register_tile_packed.cl. */
#include "micro_tile.cl"

#define PASSES_OF(extent) ((extent)*TSL_PARAM_TILE_K / TSL_LANES / ITEMS)
#define PASSES_A PASSES_OF(EXTENT_M)
#define PASSES_B PASSES_OF(EXTENT_N)
#define TSL_FETCH_PASSES (PASSES_A > PASSES_B ? PASSES_A : PASSES_B)

#include "fetch.cl"

/* What fetches are told of each operand. */
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

/* The depth at which the next panel is put down: well before the barrier where there is a free half. */
#define STASH_AT (STAGES == 1 ? SHARE - 1 : SHARE / 2)
/* Reads the next panel at once, not at the end of the present one: docs/lab/register_tile.md. */
#define FETCH_EARLY (SLICES == 1 || STAGES == 1)
/* Where the panels of each operand start in local memory, at an item's share of them. */
typedef struct tile_panels {
  TSL_LOCAL_POINTER TSL_REAL *a, *b;
  int a_first, b_first;
} tile_panels;

/* Reads the panel behind the one that is put down. `left` numbers along k lie behind its start; `plain`: it needs no
 * guards. */
TSL_FUNCTION void fetch_both(tsl_fetch *a_fetch, tsl_fetch *b_fetch, TSL_INDEX left, bool plain) {
  if (plain) {
    tsl_fetch_plain(a_fetch, OF_A);
    tsl_fetch_plain(b_fetch, OF_B);
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
                       TSL_GLOBAL tile_result *TSL_RESTRICT c, const tsl_register_tile_arguments args) {
  TSL_LOCAL TSL_REAL memory[MEMORY];
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  const tsl_gemm_arguments g = product_of(args);
  const tile_start at = start_of(args);
  const tile_panels panels = {memory, memory + STAGES * PANEL_A, at.slice * SHARE * PITCH_A + at.m_item,
                              at.slice * SHARE * PITCH_B + at.n_item};
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

  /* `left` numbers along k lie behind those that were read, which are two panels ahead; of the panels there, `plain`
   * need no guards. */
  TSL_INDEX left = depths - 2 * TSL_DEPTH;
  int stage = 0, plain = inside ? (int)(left / TSL_DEPTH) : 0;
  int guarded = count - (plain > 0 ? plain : 0);
  for (; plain > 0; plain--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    go_through(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, true);
  for (; guarded > 0; guarded--, left -= TSL_DEPTH, stage ^= STAGES - 1)
    go_through(sum, rows, columns, &panels, stage, &a_fetch, &b_fetch, left, false);

  const tile_corner corner = corner_of(&args, &g, at.row, at.col);
  epilogue(sum, memory, c, &g, &corner, at.slice, at.m_item, at.n_item);
}
