/* register_tile with asynchronous copies of panels (async_copy.cl). Beyond register_tile.cl: copies in flight
 * need no registers, so that panels are prefetched STAGES - 1 ahead. Each slice has its own panels, so that
 * slices of one warp never wait for other slices.
 *
 *   slice 0  | stage 0: A, B | stage 1: A, B | ...    copies fill the stages after the multiplied one;
 *   slice 1  | stage 0: A, B | ...                    the last depth of a panel waits for the next one
 *
 * Slice s multiplies the depths from s * SLICE_DEPTH on of a panel of TILE_K. TSL_PARAM_STAGES is 2 or 3; a
 * slice is whole warps. Any sizes, strides and alignment; numbers of four bytes. */
#include "micro_tile.cl"

#include "async_copy.cl"

#define SINGLY(odd, extent) ((odd) && ((extent) % PLACES == 0 || PLACES % (extent) == 0))
#define OF_A A_ALONG_K, SINGLY(A_ODD, TILE_M), TILE_M, SLICE_DEPTH, PLACES
#define OF_B B_ALONG_K, SINGLY(B_ODD, TILE_N), TILE_N, SLICE_DEPTH, PLACES
#define PITCH_A TSL_ASYNC_PITCH(A_ALONG_K, TILE_M)
#define PITCH_B TSL_ASYNC_PITCH(B_ALONG_K, TILE_N)
#define PANEL_A (SLICE_DEPTH * PITCH_A)
#define STAGE (PANEL_A + SLICE_DEPTH * PITCH_B)
#define PANELS (SLICES * STAGES * STAGE)
#include "register_tile_epilogue.cl"

/* Batches of copies that may be in flight when the next panel is needed. */
#if STAGES == 2
#define PENDING 0
#else
#define PENDING 1
#endif
/* Depth at which all copies of a panel are issued: each further start costs three instructions. */
#define COPY_STEP 1

typedef struct async_panels {
  tsl_async a, b;
  TSL_LOCAL_POINTER const TSL_REAL *rows, *columns; /* the item's positions in stage 0 */
  unsigned int base;                                /* start of stage 0, as a PTX address */
  int reads, writes;                                /* offsets of the current stages, in numbers */
  int slice;
  TSL_INDEX left; /* k left from the panel that is copied next */
} async_panels;

TSL_FUNCTION void slice_barrier(int slice) {
  if (PLACES == 32)
    tsl_ptx_warp_barrier();
  else if (SLICES == 1)
    TSL_BARRIER();
  else
    tsl_ptx_barrier(slice + 1, PLACES);
}

/* Issues the copies of the next panel, if there is one, to the next stage. */
TSL_FUNCTION void copy_panel(async_panels *p) {
  if (p->left > 0) {
    const TSL_INDEX left = p->left - p->slice * SLICE_DEPTH;
    const bool whole = p->left >= TSL_PARAM_TILE_K;
    const unsigned int to = p->base + 4 * p->writes;
    if (whole && p->a.plain && p->b.plain) {
      tsl_async_copy(&p->a, OF_A, to, left, true);
      tsl_async_copy(&p->b, OF_B, to + 4 * PANEL_A, left, true);
    } else {
      tsl_async_copy(&p->a, OF_A, to, left, whole && p->a.plain);
      tsl_async_copy(&p->b, OF_B, to + 4 * PANEL_A, left, whole && p->b.plain);
    }
  }
  p->left -= TSL_PARAM_TILE_K;
  p->writes = p->writes == (STAGES - 1) * STAGE ? 0 : p->writes + STAGE;
}

TSL_FUNCTION void multiply_panel(TSL_REAL sum[MICRO_M][WIDTH_N], TSL_REAL rows[2][MICRO_M],
                                 TSL_REAL columns[2][MICRO_N], async_panels *p) {
  TSL_UNROLL
  for (int depth = 0; depth < SLICE_DEPTH; depth++) {
    const int next = (depth + 1) % SLICE_DEPTH;
    if (depth == SLICE_DEPTH - 1) {
      tsl_ptx_copies_end();
      TSL_PTX_COPIES_WAIT(PENDING);
      slice_barrier(p->slice);
      p->reads = p->reads == (STAGES - 1) * STAGE ? 0 : p->reads + STAGE;
    }
    read_rows(rows[next % 2], p->rows + p->reads + next * PITCH_A);
    read_columns(columns[next % 2], p->columns + p->reads + next * PITCH_B);
    multiply(sum, rows[depth % 2], columns[depth % 2]);
    if (depth == COPY_STEP)
      copy_panel(p);
  }
}

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_register_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                       TSL_GLOBAL tile_result *TSL_RESTRICT c, const tsl_register_tile_arguments args) {
  TSL_LOCAL_BYTES(bytes, 4 * MEMORY);
  TSL_LOCAL_POINTER TSL_REAL *memory = (TSL_LOCAL_POINTER TSL_REAL *)bytes;
  if (is_unwanted(args.wanted, args.wanted_above))
    return;
  const tsl_gemm_arguments g = product_of(args);
  const tile_start at = start_of(args);

  async_panels p;
  TSL_LOCAL_POINTER TSL_REAL *stages = memory + at.slice * STAGES * STAGE;
  p.rows = stages + at.m_item;
  p.columns = stages + PANEL_A + at.n_item;
  p.base = tsl_ptx_local_address(stages);
  p.reads = p.writes = 0;
  p.slice = at.slice;
  p.left = at.end - at.first;
  tsl_async_start(&p.a, OF_A, at.place, a, g.a_offset, g.a_row_stride, g.a_col_stride, at.row, LINES(g.m),
                  at.first + at.slice * SLICE_DEPTH, TSL_PARAM_TILE_K);
  tsl_async_start(&p.b, OF_B, at.place, b, g.b_offset, g.b_col_stride, g.b_row_stride, at.col, LINES(g.n),
                  at.first + at.slice * SLICE_DEPTH, TSL_PARAM_TILE_K);

  TSL_REAL rows[2][MICRO_M], columns[2][MICRO_N], sum[MICRO_M][WIDTH_N];
  clear(sum);
  const int count = (int)((at.end - at.first + TSL_PARAM_TILE_K - 1) / TSL_PARAM_TILE_K);
  TSL_UNROLL_BY(1)
  for (int s = 0; s < STAGES - 1; s++) {
    copy_panel(&p);
    tsl_ptx_copies_end();
  }
  TSL_PTX_COPIES_WAIT(PENDING);
  slice_barrier(at.slice);
  read_rows(rows[0], p.rows);
  read_columns(columns[0], p.columns);
  TSL_UNROLL_BY(1)
  for (int panel = 0; panel < count; panel++)
    multiply_panel(sum, rows, columns, &p);
  TSL_PTX_COPIES_WAIT(0);

  const tile_corner corner = corner_of(&args, &g, at.row, at.col);
  epilogue(sum, memory, c, &g, &corner, at.slice, at.m_item, at.n_item);
}
