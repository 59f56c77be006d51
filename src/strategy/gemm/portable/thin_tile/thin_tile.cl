/* Idea: where one side of a product is thin, reading the large operand takes almost all the time. It is read
 * once, in vectors, straight into registers, with some steps prefetched; the thin operand is in local memory.
 * Beyond `register_tile`: a tile as thin as the problem; no local memory for data that is used only a few
 * times; and groups whose items split k, so that a thin product still has enough items.
 *
 *              n (large)                       k
 *            +----+----+----+    A   | chunk | chunk | ...  TILE_M rows, copied to local memory a chunk early
 *          k | B  |    |    |        | 0 1 2 0 1 2 ...      in a chunk, slice s of the group takes steps s,
 *            |    |    |    |                               s + SLICES, ...; the slices' sums are added in
 *            +----+----+----+                               order at the end
 *     A      +----+----+----+
 *     m thin |    |tile|    | C    A step is as many k as a vector has elements. An item holds the elements
 *            +----+----+----+      of B for FLIGHT steps, and loads the next ones into the used registers.
 *
 * B's vectors run along rows of contiguous columns if possible (each item has whole columns). Otherwise they
 * run along k: adjacent items share columns, and each has a slice. The host swaps A and B where C is thin the
 * other way. Grid: dimension 0 counts tiles, column of tiles by column; dimension 1 k splits, whose sums
 * kernel_launch/split_k_sum.cl adds in order; dimension 2 products of a batch.
 *
 * Define of the host: B_ALONG_K where columns of B are read along k. With vectors of more than 16 bytes a
 * group is one item, for CPUs. Any sizes, strides and alignment. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"
#include "lanes.h"

#define MICRO_M TSL_PARAM_MICRO_M
#define MICRO_N TSL_PARAM_MICRO_N
#define ITEMS_M TSL_PARAM_ITEMS_M
#define ITEMS_N TSL_PARAM_ITEMS_N
#define SLICES TSL_PARAM_SLICES
#define FLIGHT TSL_PARAM_FLIGHT
#ifndef B_ALONG_K
#define B_ALONG_K 0
#endif
#ifndef GROUPS
#define GROUPS 1
#endif

#define ITEMS (ITEMS_M * ITEMS_N * SLICES)
#define TILE_M (MICRO_M * ITEMS_M)
#define TILE_N (MICRO_N * ITEMS_N)
#define PROCESSOR (TSL_PARAM_VECTOR > 16)
/* DEPTH: k of a step, for which an item reads LINES vectors of B, DEEP times along k. CPUs hold sums only. */
#define DEPTH (B_ALONG_K || !PROCESSOR ? TSL_LANES : 1)
#define LINES (B_ALONG_K ? MICRO_N : MICRO_N / TSL_LANES)
#define DEEP (B_ALONG_K ? 1 : DEPTH)
#define HELD (LINES * DEEP)
#define CHUNK (SLICES * TSL_LANES * TSL_PARAM_STEPS)
#define TURNS (TSL_PARAM_STEPS * TSL_LANES / DEPTH)
/* Rows of A in local memory, padded by a vector against bank conflicts. */
#define PITCH (CHUNK + TSL_LANES)
#define PANEL (TILE_M * PITCH)

/* Type of a sum: a vector across columns, or along k; or a single number where items share columns. */
#if B_ALONG_K && !PROCESSOR
typedef TSL_REAL thin_sum;
#define NOTHING ((TSL_REAL)0)
#else
typedef tsl_lanes thin_sum;
#define NOTHING TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0)
#endif

/* Slices' sums: as many rows of the micro-tiles at a time as fit in 16 KiB, at least one; slice by slice. */
#ifdef TSL_REAL_IS_DOUBLE
#define FOLD_MOST 2048
#else
#define FOLD_MOST 4096
#endif
#define FOLD_PITCH (TILE_N + TSL_LANES)
#define FOLD_ROW (SLICES * ITEMS_M * FOLD_PITCH)
#define FOLD_FITS(rows) (MICRO_M % (rows) == 0 && (rows)*FOLD_ROW <= FOLD_MOST)
#define FOLD_ROWS (FOLD_FITS(16) ? 16 : FOLD_FITS(8) ? 8 : FOLD_FITS(4) ? 4 : FOLD_FITS(2) ? 2 : 1)
#define FOLD_NUMBERS (SLICES == 1 ? 0 : FOLD_ROWS * FOLD_ROW)
#define MEMORY (2 * PANEL > FOLD_NUMBERS ? 2 * PANEL : FOLD_NUMBERS)

typedef struct thin_stream {
  TSL_GLOBAL const TSL_REAL *from[LINES]; /* first number of the next step in each line */
  TSL_INDEX along;                        /* stride between numbers of a vector */
  TSL_INDEX deeper;                       /* stride along k */
  int inside[LINES];                      /* numbers of a vector across columns inside of the matrix */
  bool vectors;                           /* whole vectors can be read */
} thin_stream;

/* Returns the item's column: vectors of a line are ITEMS_N vectors apart, single columns ITEMS_N columns. */
TSL_FUNCTION int column_of(int place, int line) {
  return (line * ITEMS_N + place) * (B_ALONG_K ? 1 : TSL_LANES);
}

TSL_FUNCTION void stream_start(thin_stream *stream, TSL_GLOBAL const TSL_REAL *b, const tsl_gemm_arguments *g,
                               TSL_INDEX col0, int place, TSL_INDEX first) {
  stream->along = B_ALONG_K ? g->b_row_stride : g->b_col_stride;
  stream->deeper = g->b_row_stride;
  stream->vectors =
      stream->along == 1 &&
      (PROCESSOR || (g->b_offset | (B_ALONG_K ? g->b_col_stride : g->b_row_stride)) % TSL_LANES == 0);
  TSL_UNROLL
  for (int j = 0; j < LINES; j++) {
    /* columns outside of the matrix read column 0; their sums are never stored */
    const TSL_INDEX col = col0 + column_of(place, j), inside = col < g->n ? col : 0;
    stream->from[j] = b + g->b_offset + inside * g->b_col_stride + first * g->b_row_stride;
    stream->inside[j] = !B_ALONG_K && g->n - inside < TSL_LANES ? (int)(g->n - inside) : TSL_LANES;
    stream->vectors = stream->vectors && stream->inside[j] == TSL_LANES;
  }
}

/* Reads a step with `left` k inside of the matrix (none if negative); other elements become 0. Guards select
 * addresses, so that loads wait for no branch. */
TSL_FUNCTION void stream_read(thin_stream *stream, tsl_lanes *held, TSL_INDEX left) {
  if (stream->vectors && left >= DEPTH) {
    TSL_UNROLL
    for (int d = 0; d < DEEP; d++)
      TSL_UNROLL
    for (int j = 0; j < LINES; j++)
#if PROCESSOR
      held[d * LINES + j] = TSL_LOAD(TSL_REAL, TSL_LANES, stream->from[j] + d * stream->deeper);
#else
      held[d * LINES + j] = TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, stream->from[j] + d * stream->deeper);
#endif
  } else if (left <= 0) {
    TSL_UNROLL
    for (int h = 0; h < HELD; h++)
      held[h] = TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0);
  } else {
    TSL_UNROLL
    for (int j = 0; j < LINES; j++) {
      TSL_GLOBAL const TSL_REAL *deep = stream->from[j];
      TSL_UNROLL
      for (int d = 0; d < DEEP; d++, deep += stream->deeper) {
        TSL_GLOBAL const TSL_REAL *from = deep;
        TSL_REAL line[TSL_LANES];
#if PROCESSOR
        TSL_UNROLL_BY(1)
#else
        TSL_UNROLL
#endif
        for (int e = 0; e < TSL_LANES; e++, from += stream->along) {
          const bool inside = (B_ALONG_K ? e : d) < left && e < stream->inside[j];
          const TSL_REAL number = *(inside ? from : stream->from[j]);
          line[e] = inside ? number : (TSL_REAL)0;
        }
        held[d * LINES + j] = tsl_lanes_from_array(line);
      }
    }
  }
  TSL_UNROLL
  for (int j = 0; j < LINES; j++)
    stream->from[j] += SLICES * DEPTH * stream->deeper;
}

#define ROW_VECTORS (TILE_M * CHUNK / TSL_LANES)
#define PASSES ((ROW_VECTORS + ITEMS - 1) / ITEMS)

/* Returns the row of vector `index` of a chunk: adjacent items read adjacent memory. */
TSL_FUNCTION int chunk_row(bool along_k, int index) {
  return along_k ? index / (CHUNK / TSL_LANES) : index % TILE_M;
}
TSL_FUNCTION int chunk_depth(bool along_k, int index) {
  return (along_k ? index % (CHUNK / TSL_LANES) : index / TILE_M) * TSL_LANES;
}

/* Returns the start of a row. Rows outside of the matrix read the last row; their sums are never stored. */
TSL_FUNCTION TSL_GLOBAL const TSL_REAL *row_start(TSL_GLOBAL const TSL_REAL *a, const tsl_gemm_arguments *g,
                                                  TSL_INDEX row, TSL_INDEX depth) {
  return a + g->a_offset + (row < g->m ? row : g->m - 1) * g->a_row_stride + depth * g->a_col_stride;
}

#if ITEMS == 1
/* Copies a chunk by one item, in loops that the compiler vectorizes. */
TSL_FUNCTION void chunk_copy(TSL_LOCAL_POINTER TSL_REAL *panel, TSL_GLOBAL const TSL_REAL *a,
                             const tsl_gemm_arguments *g, TSL_INDEX row0, TSL_INDEX first, TSL_INDEX left) {
  const int count = left < 0 ? 0 : left < CHUNK ? (int)left : CHUNK;
  for (int i = 0; i < TILE_M; i++) {
    TSL_GLOBAL const TSL_REAL *from = row_start(a, g, row0 + i, first);
    for (int l = 0; l < count; l++)
      panel[i * PITCH + l] = from[l * g->a_col_stride];
    for (int l = count; l < CHUNK; l++)
      panel[i * PITCH + l] = 0;
  }
}
#else
/* Loads the item's part of a chunk at `first`, `left` k inside. `vectors`: contiguous and aligned rows. */
TSL_FUNCTION void chunk_read(tsl_lanes *held, TSL_GLOBAL const TSL_REAL *a, const tsl_gemm_arguments *g,
                             TSL_INDEX row0, TSL_INDEX first, TSL_INDEX left, bool along_k, bool vectors) {
  TSL_UNROLL
  for (int p = 0; p < PASSES; p++) {
    const int index = TSL_ITEM(0) + p * ITEMS, depth = chunk_depth(along_k, index);
    const int inside = left < depth ? 0 : left - depth < TSL_LANES ? (int)(left - depth) : TSL_LANES;
    TSL_GLOBAL const TSL_REAL *from =
        row_start(a, g, row0 + chunk_row(along_k, index), first + (inside > 0 ? depth : 0));
    if (left <= 0 || (ROW_VECTORS % ITEMS != 0 && index >= ROW_VECTORS)) {
      held[p] = TSL_SPLAT(TSL_REAL, TSL_LANES, (TSL_REAL)0);
    } else if (vectors && inside == TSL_LANES) {
      held[p] = TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, from);
    } else {
      TSL_REAL line[TSL_LANES];
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++) {
        const TSL_REAL number = from[e < inside ? e * g->a_col_stride : 0];
        line[e] = e < inside ? number : (TSL_REAL)0;
      }
      held[p] = tsl_lanes_from_array(line);
    }
  }
}

TSL_FUNCTION void chunk_store(TSL_LOCAL_POINTER TSL_REAL *panel, const tsl_lanes *held, bool along_k) {
  TSL_UNROLL
  for (int p = 0; p < PASSES; p++) {
    const int index = TSL_ITEM(0) + p * ITEMS;
    if (ROW_VECTORS % ITEMS == 0 || index < ROW_VECTORS)
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES,
                      panel + chunk_row(along_k, index) * PITCH + chunk_depth(along_k, index), held[p]);
  }
}
#endif

/* Adds the products of a step: the item's rows in the panel times its elements of B. */
TSL_FUNCTION void multiply(thin_sum sum[MICRO_M][LINES], TSL_LOCAL_POINTER const TSL_REAL *panel,
                           const tsl_lanes *held) {
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++) {
    TSL_LOCAL_POINTER const TSL_REAL *row = panel + i * ITEMS_M * PITCH;
#if B_ALONG_K && PROCESSOR
    const tsl_lanes factors = TSL_LOAD(TSL_REAL, TSL_LANES, row);
    TSL_UNROLL
    for (int j = 0; j < LINES; j++)
      sum[i][j] = TSL_FMA(factors, held[j], sum[i][j]);
#elif B_ALONG_K
    TSL_REAL factors[TSL_LANES];
    tsl_lanes_to_array(factors, TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, row));
    TSL_UNROLL
    for (int j = 0; j < LINES; j++) {
      TSL_REAL column[TSL_LANES];
      tsl_lanes_to_array(column, held[j]);
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        sum[i][j] = TSL_FMA(factors[e], column[e], sum[i][j]);
    }
#else
    TSL_REAL factors[TSL_LANES];
    if (PROCESSOR)
      factors[0] = row[0];
    else
      tsl_lanes_to_array(factors, TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, row));
    TSL_UNROLL
    for (int d = 0; d < DEEP; d++)
      TSL_UNROLL
    for (int j = 0; j < LINES; j++)
      sum[i][j] = TSL_FMA(TSL_SPLAT(TSL_REAL, TSL_LANES, factors[d]), held[d * LINES + j], sum[i][j]);
#endif
  }
}

#if SLICES == 1
TSL_FUNCTION void store(TSL_GLOBAL TSL_REAL *c, TSL_INDEX c_offset, const tsl_gemm_arguments *g,
                        TSL_INDEX row0, TSL_INDEX col0, int column_place, thin_sum sum[MICRO_M][LINES]) {
  const bool together = tsl_lanes_are_vectors(c_offset, g->c_row_stride, g->c_col_stride);
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < LINES; j++) {
    const TSL_INDEX row = row0 + i * ITEMS_M, col = col0 + column_of(column_place, j);
    TSL_GLOBAL TSL_REAL *at = c + c_offset + row * g->c_row_stride + col * g->c_col_stride;
    if (row >= g->m || col >= g->n)
      continue;
#if B_ALONG_K && PROCESSOR
    TSL_REAL line[TSL_LANES];
    tsl_lanes_to_array(line, sum[i][j]);
    TSL_REAL total = line[0];
    TSL_UNROLL
    for (int e = 1; e < TSL_LANES; e++)
      total += line[e];
    tsl_store_scaled(at, total, g->alpha, g->beta);
#elif B_ALONG_K
    tsl_store_scaled(at, sum[i][j], g->alpha, g->beta);
#else
    tsl_lanes_store(at, g->c_col_stride, g->n - col, together, sum[i][j], g->alpha, g->beta);
#endif
  }
}
#else
/* Adds and stores the slices' sums of FOLD_ROWS rows of each micro-tile, from row `first_row` on. */
TSL_FUNCTION void fold_rows(TSL_LOCAL_POINTER const TSL_REAL *memory, TSL_GLOBAL TSL_REAL *c,
                            TSL_INDEX c_offset, const tsl_gemm_arguments *g, TSL_INDEX row0, TSL_INDEX col0) {
  const int rows = FOLD_ROWS * ITEMS_M;
  const bool down = g->c_row_stride == 1 && g->c_col_stride != 1;
  TSL_UNROLL_BY(1)
  for (int place = TSL_ITEM(0); place < rows * TILE_N; place += ITEMS) {
    const int i = down ? place % rows : place / TILE_N, j = down ? place / rows : place % TILE_N;
    TSL_LOCAL_POINTER const TSL_REAL *at = memory + i * FOLD_PITCH + j;
    TSL_REAL total = at[0];
    TSL_UNROLL
    for (int s = 1; s < SLICES; s++)
      total += at[s * rows * FOLD_PITCH];
    if (row0 + i < g->m && col0 + j < g->n)
      tsl_store_scaled(c + c_offset + (row0 + i) * g->c_row_stride + (col0 + j) * g->c_col_stride, total,
                       g->alpha, g->beta);
  }
}
#endif

TSL_KERNEL_SHARING(ITEMS, 1, 1, GROUPS)
tsl_gemm_thin_tile(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT a, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT b,
                   TSL_GLOBAL TSL_REAL *TSL_RESTRICT c, const tsl_gemm_arguments args,
                   const TSL_INDEX part /* k of a split */,
                   const TSL_INDEX part_step /* stride between splits of C */, const TSL_INDEX a_step,
                   const TSL_INDEX b_step, const TSL_INDEX c_step /* stride between products of a batch */) {
  TSL_LOCAL TSL_REAL memory[MEMORY];
  TSL_START();
  const int item = TSL_ITEM(0);
  tsl_gemm_arguments g = args;
  g.a_offset += TSL_GROUP(2) * a_step;
  g.b_offset += TSL_GROUP(2) * b_step;
  g.c_offset += TSL_GROUP(2) * c_step;
#if B_ALONG_K
  const int slice = item % SLICES, row_place = item / SLICES % ITEMS_M,
            column_place = item / (SLICES * ITEMS_M);
#else
  /* eight adjacent items read 128 bytes of B; items of other rows read the same bytes at the same time */
  const int near = ITEMS_N < 8 ? ITEMS_N : 8;
  const int slice = item / (ITEMS_M * ITEMS_N), row_place = item / near % ITEMS_M,
            column_place = item % near + item / (near * ITEMS_M) % (ITEMS_N / near) * near;
#endif
  const TSL_INDEX tiles = (g.m + TILE_M - 1) / TILE_M;
  const TSL_INDEX row0 = TSL_GROUP(0) % tiles * TILE_M, col0 = TSL_GROUP(0) / tiles * TILE_N;
  const TSL_INDEX c_offset = g.c_offset + TSL_GROUP(1) * part_step;
  const TSL_INDEX begin = TSL_GROUP(1) * part;
  TSL_INDEX left = g.k - begin < part ? g.k - begin : part;

  thin_stream stream;
  stream_start(&stream, b, &g, col0, column_place, begin + slice * DEPTH);
  thin_sum sum[MICRO_M][LINES];
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < LINES; j++)
    sum[i][j] = NOTHING;

  /* ring of steps in flight; `behind`: k after the start of the next step */
  tsl_lanes held[FLIGHT * HELD];
  TSL_INDEX behind = left - slice * DEPTH;
  TSL_UNROLL
  for (int f = 0; f < FLIGHT; f++, behind -= SLICES * DEPTH)
    stream_read(&stream, held + f * HELD, behind);
  TSL_INDEX prefetched = begin; /* start of the next chunk of A */
#if ITEMS == 1
  chunk_copy(memory, a, &g, row0, prefetched, left);
#else
  const bool along_k = g.a_col_stride == 1 || g.a_row_stride != 1;
  const bool vectors = g.a_col_stride == 1 && (g.a_offset | g.a_row_stride) % TSL_LANES == 0;
  tsl_lanes next[PASSES];
  chunk_read(next, a, &g, row0, prefetched, left, along_k, vectors);
  chunk_store(memory, next, along_k);
#endif
  TSL_BARRIER();

  for (int stage = 0; left > 0; stage ^= 1, left -= CHUNK) {
    TSL_LOCAL_POINTER const TSL_REAL *panel = memory + stage * PANEL + row_place * PITCH + slice * DEPTH;
    prefetched += CHUNK;
#if ITEMS > 1
    if (left > CHUNK)
      chunk_read(next, a, &g, row0, prefetched, left - CHUNK, along_k, vectors);
#endif
    TSL_UNROLL_BY(1)
    for (int turn = 0; turn < TURNS; turn += FLIGHT) {
      TSL_UNROLL
      for (int f = 0; f < FLIGHT; f++, behind -= SLICES * DEPTH) {
        multiply(sum, panel + (turn + f) * SLICES * DEPTH, held + f * HELD);
        stream_read(&stream, held + f * HELD, behind);
      }
    }
    if (left > CHUNK) {
#if ITEMS == 1
      chunk_copy(memory + (stage ^ 1) * PANEL, a, &g, row0, prefetched, left - CHUNK);
#else
      chunk_store(memory + (stage ^ 1) * PANEL, next, along_k);
#endif
    }
    TSL_BARRIER();
  }

  TSL_END();
#if SLICES == 1
  store(c, c_offset, &g, row0 + row_place, col0, column_place, sum);
#else
  TSL_UNROLL
  for (int first = 0; first < MICRO_M; first += FOLD_ROWS) {
    TSL_UNROLL
    for (int i = 0; i < FOLD_ROWS; i++)
      TSL_UNROLL
    for (int j = 0; j < LINES; j++) {
      TSL_LOCAL_POINTER TSL_REAL *at =
          memory + ((slice * FOLD_ROWS + i) * ITEMS_M + row_place) * FOLD_PITCH + column_of(column_place, j);
#if B_ALONG_K
      *at = sum[first + i][j];
#else
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, at, sum[first + i][j]);
#endif
    }
    TSL_BARRIER();
    fold_rows(memory, c, c_offset, &g, row0 + first * ITEMS_M, col0);
    TSL_BARRIER();
  }
#endif
}
