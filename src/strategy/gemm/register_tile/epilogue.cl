/* How the sums of register_tile's kernels with local memory get to C. The text that includes this defines PANELS, the
 * numbers of local memory that its panels take. */
#ifndef TSL_GEMM_REGISTER_TILE_EPILOGUE
#define TSL_GEMM_REGISTER_TILE_EPILOGUE

#include "micro_tile.cl"

/* Where slices' sums meet: as many rows of the micro-tiles at once as there is memory for, at least one.
 *   slice 0: | row 0 of each item: EXTENT_N sums, padding | row 1 | ... | slice 1: ... */
#define FOLD_PITCH (EXTENT_N + TSL_LANES)
#define FOLD_ROW (SLICES * ITEMS_M * FOLD_PITCH)
#define MEMORY (SLICES > 1 && FOLD_ROW > PANELS ? FOLD_ROW : PANELS)
#define FOLD_FITS(rows) (MICRO_M % (rows) == 0 && (rows)*FOLD_ROW <= MEMORY)
#define FOLD_ROWS (FOLD_FITS(8) ? 8 : FOLD_FITS(4) ? 4 : FOLD_FITS(2) ? 2 : 1)

/* Where a group's tile starts, and how its split's C lies. */
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

/* A vector with neighbours exchanged; see hold(). */
TSL_FUNCTION tsl_lanes exchanged(tsl_lanes given) {
  TSL_REAL from[TSL_LANES], to[TSL_LANES];
  tsl_lanes_spread(from, given);
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++)
    to[e] = from[e ^ 1];
  return tsl_lanes_gather(to);
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
    store(c, g, corner, first + line / ITEMS_M, line % ITEMS_M * TSL_LANES, n, exchanged(total));
  }
}
#endif

/* The corner of a group's tile at (row, col). */
TSL_FUNCTION tile_corner corner_of(const tsl_register_tile_arguments *given, const tsl_gemm_arguments *g,
                                   TSL_INDEX row, TSL_INDEX col) {
  const TSL_INDEX c_offset = g->c_offset + TSL_GROUP(1) * given->split_step;
  const tile_corner made = {row, col, c_offset,
                            tsl_lanes_together(c_offset, g->c_row_stride, g->c_col_stride)};
  return made;
}

/* Never stores anything, but tells the compiler which registers to take. NVIDIA's multiprocessors read one even and one odd
 * register a clock, and numbers that come from local memory as a vector are in even and odd ones by turns. Where a line
 * of sums leaves as vectors with neighbours exchanged, each sum is in an odd register where the number that goes with it
 * is in an even one, and the other way round. Slices' sums leave so indeed; where there is one slice, this pretends that
 * they may. Measured: NOTES.md. */
TSL_FUNCTION void hold(TSL_REAL sum[MICRO_M][WIDTH_N], TSL_LOCAL_POINTER TSL_REAL *memory, bool never) {
  if (never)
    TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? WIDTH_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : WIDTH_N) / TSL_LANES; inner++) {
    TSL_REAL line[TSL_LANES];
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e++)
      line[e] = DOWN ? sum[inner * TSL_LANES + e][outer] : sum[outer][inner * TSL_LANES + e];
    TSL_LOCAL_STORE(TSL_REAL, TSL_LANES,
                    memory + (outer * (DOWN ? MICRO_M : WIDTH_N) / TSL_LANES + inner) * TSL_LANES,
                    exchanged(tsl_lanes_gather(line)));
  }
}

/* An item's sums, added to those of the other slices, on their way to C. */
TSL_FUNCTION void epilogue(TSL_REAL sum[MICRO_M][WIDTH_N], TSL_LOCAL_POINTER TSL_REAL *memory,
                           TSL_GLOBAL tile_result *c, const tsl_gemm_arguments *g, const tile_corner *corner,
                           int slice, int m_item, int n_item) {
#if SLICES == 1
  hold(sum, memory, g->k < 0);
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < VECTORS_N; j++)
    store(c, g, corner, i, m_item, j * ITEMS_N * TSL_LANES + n_item,
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
                      exchanged(tsl_lanes_gather(&sum[first + i][j * TSL_LANES])));
    TSL_BARRIER();
    fold(memory, c, g, corner, first);
  }
#endif
}

#endif
