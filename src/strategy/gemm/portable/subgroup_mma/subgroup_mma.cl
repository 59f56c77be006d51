/* Idea: matrix instructions of Intel's and AMD's GPUs from OpenCL C, by one kernel: the counterpart of
 * opencl_mma. Beyond register_tile: f16, bf16 and 8-bit integers with 32-bit sums. All items of a sub-group
 * multiply together. kernel/kernel_fragments.h hides the instruction behind one interface.
 *
 *   group's tile of C, TILE_M x TILE_N   panels in local memory, two of each operand: one is multiplied while
 *   +-------+-------+                             the next one is loaded through registers
 *   | sub 0 | sub 1 | SUB_M                       line 0 | DEPTH_BYTES along k | 16 bytes of padding |
 *   +-------+-------+                             line 1 | ...
 *   | sub 2 | sub 3 |                             a line is a row of A or a column of B
 *   +-------+-------+
 *     SUB_N               a sub-group's tile: ROWS x COLS products of the instruction's size
 *
 * Lines are K-major in local memory for every layout in global memory, because all instructions take adjacent
 * elements along k; the padding avoids bank conflicts. An item loads chunks of 16 bytes of a line: as one
 * vector if possible, else element by element. Adjacent items take adjacent lines of MN-major operands
 * (A_MN_MAJOR, B_MN_MAJOR). Lines outside of the matrix are read as the last line, whose sums are not stored;
 * elements beyond k are zeros.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _SUB_M, _SUB_N, _DEPTH (bytes). Defines of the host: TSL_TYPE_AB,
 * TSL_TYPE_C and signs (kernel/units.h), the instruction (kernel/kernel_fragments.h), A_MN_MAJOR, B_MN_MAJOR.
 * Limits: tiles are multiples of the instruction's; items divide a panel's chunks. */
#include "kernel_fragments.h"
#include "raster.h"

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define SUB_M TSL_PARAM_SUB_M
#define SUB_N TSL_PARAM_SUB_N
#define DEPTH_BYTES TSL_PARAM_DEPTH
#define SIZE (TSL_TYPE_AB == TSL_TYPE_BYTE ? 1 : 2)
#define DEPTH (DEPTH_BYTES / SIZE)
#define PITCH (DEPTH_BYTES + 16)
#define PANEL_BYTES ((TILE_M + TILE_N) * PITCH)
#define SUBS_N (TILE_N / SUB_N)
#define ITEMS (TSL_FRAGMENT_ITEMS * (TILE_M / SUB_M) * SUBS_N)
#define ROWS (SUB_M / TSL_FRAGMENT_ROWS)
#define COLS (SUB_N / TSL_FRAGMENT_COLS)
#define CHUNKS (DEPTH_BYTES / 16)
#define CHUNK (16 / SIZE) /* elements of a chunk */
#define OWN_A (TILE_M * CHUNKS / ITEMS)
#define OWN_B (TILE_N * CHUNKS / ITEMS)
#define OWN_MOST (OWN_A + OWN_B) /* never 1: arrays of one element crash a compiler of Intel's */
#define BAND 8                   /* rows of tiles that are visited together, for cache reuse */

/* State of an item's loads of one operand: addresses of its chunks of the next panel, and steps. */
typedef struct side {
  TSL_GLOBAL const tsl_element *from[OWN_MOST];
  TSL_INDEX step, advance; /* in elements: along k, and to the next panel */
  bool by_chunks;          /* chunks are contiguous and aligned */
} side;

/* Returns the line of chunk `index` of a panel; place_of(): the chunk's number in its line. */
TSL_FUNCTION int line_of(bool across, int extent, int index) {
  return across ? index % extent : index / CHUNKS;
}
TSL_FUNCTION int place_of(bool across, int extent, int index) {
  return across ? index / extent : index % CHUNKS;
}

/* Initialises the state for a tile that starts at line `first` of `lines`. */
TSL_FUNCTION void side_start(side *out, bool across, int extent, int count,
                             TSL_GLOBAL const tsl_element *matrix, TSL_INDEX offset, TSL_INDEX line_stride,
                             TSL_INDEX step, TSL_INDEX first, TSL_INDEX lines) {
  out->step = step;
  out->advance = DEPTH * step;
  out->by_chunks = step == 1 && (offset | line_stride) % CHUNK == 0;
  TSL_UNROLL
  for (int i = 0; i < count; i++) {
    const int index = TSL_ITEM(0) + i * ITEMS;
    const TSL_INDEX line = first + line_of(across, extent, index);
    out->from[i] = matrix + (offset + (line < lines ? line : lines - 1) * line_stride +
                             place_of(across, extent, index) * CHUNK * step);
  }
}

/* Returns a chunk of elements `step` apart; only the first `inside` are read, the others are 0. */
TSL_FUNCTION tsl_chunk chunk_of(TSL_GLOBAL const tsl_element *src, TSL_INDEX step, TSL_INDEX inside) {
  unsigned int words[4];
  TSL_UNROLL
  for (int w = 0; w < 4; w++) {
    words[w] = 0;
    TSL_UNROLL
    for (int e = 0; e < CHUNK / 4; e++) {
      if (w * (CHUNK / 4) + e < inside)
        words[w] |= (unsigned int)*src << (8 * SIZE * e);
      src += step;
    }
  }
  tsl_chunk out;
  TSL_LANE(out, 0) = (int)words[0];
  TSL_LANE(out, 1) = (int)words[1];
  TSL_LANE(out, 2) = (int)words[2];
  TSL_LANE(out, 3) = (int)words[3];
  return out;
}

/* Loads the next panel, `count` chunks, with `left` k inside of the matrix. All items take one branch. */
TSL_FUNCTION void fetch(tsl_chunk *held, side *operand, bool across, int extent, int count, TSL_INDEX left) {
  if (left >= DEPTH && operand->by_chunks) {
    TSL_UNROLL
    for (int i = 0; i < count; i++)
      held[i] = TSL_LOAD_ALIGNED(int, 4, (TSL_GLOBAL const int *)operand->from[i]);
  } else if (left >= DEPTH) {
    TSL_UNROLL
    for (int i = 0; i < count; i++)
      held[i] = chunk_of(operand->from[i], operand->step, CHUNK);
  } else {
    TSL_UNROLL
    for (int i = 0; i < count; i++)
      held[i] = chunk_of(operand->from[i], operand->step,
                         left - place_of(across, extent, TSL_ITEM(0) + i * ITEMS) * CHUNK);
  }
  TSL_UNROLL
  for (int i = 0; i < count; i++)
    operand->from[i] += operand->advance;
}

TSL_FUNCTION void stash(const tsl_chunk *held, bool across, int extent, int count,
                        TSL_LOCAL_POINTER char *panel) {
  TSL_UNROLL
  for (int i = 0; i < count; i++) {
    const int index = TSL_ITEM(0) + i * ITEMS;
    TSL_LOCAL_POINTER char *to =
        panel + line_of(across, extent, index) * PITCH + place_of(across, extent, index) * 16;
    TSL_LOCAL_STORE(int, 4, (TSL_LOCAL_POINTER int *)to, held[i]);
  }
}

/* Adds a panel's products to `sums`; `a` and `b` are the first lines of the sub-group's tile. */
TSL_FUNCTION void multiply_panel(tsl_fragment_sums sums[ROWS][COLS], TSL_LOCAL_POINTER const char *a,
                                 TSL_LOCAL_POINTER const char *b) {
  TSL_UNROLL
  for (int at = 0; at < DEPTH_BYTES; at += TSL_FRAGMENT_BYTES) {
    tsl_fragment_a rows[ROWS];
    TSL_UNROLL
    for (int i = 0; i < ROWS; i++)
      rows[i] = tsl_fragment_load_a(a + i * TSL_FRAGMENT_ROWS * PITCH + at, PITCH);
    TSL_UNROLL
    for (int j = 0; j < COLS; j++) {
      const tsl_fragment_b col = tsl_fragment_load_b(b + j * TSL_FRAGMENT_COLS * PITCH + at, PITCH);
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++)
        sums[i][j] = tsl_fragment_multiply(rows[i], col, sums[i][j]);
    }
  }
}

/* Stores the item's sums of a sub-group's tile, whose first element is (row, col). */
TSL_FUNCTION void store(TSL_GLOBAL tsl_result *c, TSL_INDEX row, TSL_INDEX col,
                        tsl_fragment_sums sums[ROWS][COLS], const tsl_gemm_arguments *g) {
  const int item = TSL_FRAGMENT_ITEM();
  c += g->c_offset;
  TSL_UNROLL
  for (int i = 0; i < ROWS; i++) {
    TSL_UNROLL
    for (int j = 0; j < COLS; j++) {
      TSL_REAL own[TSL_FRAGMENT_SUMS];
      tsl_fragment_spread(own, sums[i][j]);
      TSL_UNROLL
      for (int e = 0; e < TSL_FRAGMENT_SUMS; e++) {
        const TSL_INDEX at = row + i * TSL_FRAGMENT_ROWS + TSL_FRAGMENT_ROW(item, e),
                        beside = col + j * TSL_FRAGMENT_COLS + TSL_FRAGMENT_COL(item, e);
        if (at < g->m && beside < g->n)
          tsl_store_scaled(c + (at * g->c_row_stride + beside * g->c_col_stride), own[e], g->alpha, g->beta);
      }
    }
  }
}

TSL_FRAGMENT_KERNEL(ITEMS)
tsl_gemm_subgroup_mma(TSL_GLOBAL const tsl_element *TSL_RESTRICT a,
                      TSL_GLOBAL const tsl_element *TSL_RESTRICT b, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                      const tsl_gemm_arguments g) {
  TSL_LOCAL_LINES char panels[2 * PANEL_BYTES];
  const int own_row = TSL_FRAGMENT_GROUP() / SUBS_N * SUB_M, own_col = TSL_FRAGMENT_GROUP() % SUBS_N * SUB_N;
  const TSL_INDEX tiles_m = (g.m + TILE_M - 1) / TILE_M, tiles_n = (g.n + TILE_N - 1) / TILE_N;
  int now = 0; /* number of the current panel, 0 or 1 */
  TSL_UNROLL_BY(1)
  for (TSL_INDEX tile = TSL_GROUP(0); tile < tiles_m * tiles_n; tile += TSL_GROUPS(0)) {
    TSL_INDEX row, col;
    tsl_raster_tile(tile, tiles_m, tiles_n, BAND, &row, &col);
    row *= TILE_M;
    col *= TILE_N;
    side left, right;
    side_start(&left, A_MN_MAJOR, TILE_M, OWN_A, a, g.a_offset, g.a_row_stride, g.a_col_stride, row, g.m);
    side_start(&right, B_MN_MAJOR, TILE_N, OWN_B, b, g.b_offset, g.b_col_stride, g.b_row_stride, col, g.n);
    tsl_chunk held_a[OWN_MOST], held_b[OWN_MOST];
    tsl_fragment_sums sums[ROWS][COLS];
    TSL_UNROLL
    for (int i = 0; i < ROWS; i++) {
      TSL_UNROLL
      for (int j = 0; j < COLS; j++)
        sums[i][j] = TSL_SPLAT(TSL_REAL, TSL_FRAGMENT_SUMS, 0);
    }
    if (g.k > 0) {
      fetch(held_a, &left, A_MN_MAJOR, TILE_M, OWN_A, g.k);
      fetch(held_b, &right, B_MN_MAJOR, TILE_N, OWN_B, g.k);
    }
    TSL_UNROLL_BY(1)
    for (TSL_INDEX depth = 0; depth < g.k; depth += DEPTH) {
      TSL_LOCAL_POINTER char *panel = panels + now * PANEL_BYTES;
      stash(held_a, A_MN_MAJOR, TILE_M, OWN_A, panel);
      stash(held_b, B_MN_MAJOR, TILE_N, OWN_B, panel + TILE_M * PITCH);
      /* all items have read the other panel: the next panel may overwrite it */
      TSL_BARRIER();
      if (depth + DEPTH < g.k) {
        fetch(held_a, &left, A_MN_MAJOR, TILE_M, OWN_A, g.k - depth - DEPTH);
        fetch(held_b, &right, B_MN_MAJOR, TILE_N, OWN_B, g.k - depth - DEPTH);
      }
      multiply_panel(sums, panel + own_row * PITCH, panel + (TILE_M + own_col) * PITCH);
      now ^= 1;
    }
    store(c, row + own_row, col + own_col, sums, &g);
  }
}
