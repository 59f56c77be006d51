/* Stores a group's tile of C from the micro-tiles in its items' registers. The includer
 * defines the sizes of register_tile.cl, and PANELS: numbers that panels take in local memory. STORED_SLICES:
 * slices whose sums are added; STORES_SPLITS: sums go to k splits. */
#ifndef TSL_KERNEL_TILE_STORE_H
#define TSL_KERNEL_TILE_STORE_H

#include "units.h"

/* k splits leave unscaled sums in rows of whole vectors; alpha is 1. The multiplication by alpha keeps vector
 * stores from deciding the accumulators' registers: pin_accumulators_in_registers() does. */
#if STORES_SPLITS
typedef TSL_REAL tile_result;
TSL_FUNCTION void store_elements(TSL_GLOBAL TSL_REAL *data, TSL_INDEX stride, TSL_INDEX count, bool together,
                                 tsl_lanes sum, const tsl_gemm_arguments *g) {
  (void)stride, (void)count, (void)together;
  TSL_STORE_ALIGNED(TSL_REAL, TSL_LANES, data, TSL_SPLAT(TSL_REAL, TSL_LANES, g->alpha) * sum);
}
#else
typedef tsl_result tile_result;
#define store_elements tsl_store_units_of_c
#endif

/* Number n of an item's row of sums in the order of planes: first real parts, if there are two. */
#define PLANE_NUMBER(n) (PLANES == 1 ? (n) : (n) % MICRO_N * 2 + (n) / MICRO_N)

/* Layout of the slices' sums, whose rows have planes as panels do. Local memory holds as many rows of the
 * micro-tiles as fit, at least one.
 *
 *   slice 0: | row 0 of each item: PANEL_COLUMNS sums, padding | row 1 | ... | slice 1: ... */
#define FOLD_PITCH (PANEL_COLUMNS + TSL_LANES)
#define FOLD_ROW (STORED_SLICES * ITEMS_M * FOLD_PITCH)
#define MEMORY (STORED_SLICES > 1 && FOLD_ROW > PANELS ? FOLD_ROW : PANELS)
#define FOLD_FITS(rows) (MICRO_M % (rows) == 0 && (rows)*FOLD_ROW <= MEMORY)
#define FOLD_ROWS (FOLD_FITS(8) ? 8 : FOLD_FITS(4) ? 4 : FOLD_FITS(2) ? 2 : 1)

/* STAGED: C without vectors goes through local memory: adjacent items store adjacent elements. */
#if LOCKSTEP && !STORES_SPLITS && (defined(TSL_COMPLEX) || TSL_TYPE_C == TSL_TYPE_REAL)
#define STAGED ((STORED_SLICES > 1 || STAGE_ROW <= MEMORY) && ITEMS % 8 == 0 && TILE_N % 8 == 0)
#else
#define STAGED 0
#endif
/* Whole lines cost complex elements less than vectors that an item stores (docs/lab/register_tile.md). */
#define STAGES_ALL (TSL_NUMBERS == 2)
/* Staged layout: a row of the tile has one plane per vector lane, without bank conflicts. Complex elements
 * have such planes for each part. VECTOR_ELEMENTS: elements of a vector of a panel. */
#define VECTOR_ELEMENTS (TSL_LANES / ADJACENT)
#define STAGE_PLANE (TILE_N / VECTOR_ELEMENTS + 8)
#define STAGE_PART (VECTOR_ELEMENTS * STAGE_PLANE)
#define STAGE_PITCH (TSL_NUMBERS * STAGE_PART + 4)
#define STAGE_ROW (ITEMS_M * STAGE_PITCH)
#define STAGE_FITS(rows) (MICRO_M % (rows) == 0 && (rows)*STAGE_ROW <= MEMORY)
#define STAGE_ROWS (STAGE_FITS(8) ? 8 : STAGE_FITS(4) ? 4 : STAGE_FITS(2) ? 2 : 1)

/* A group's tile of C. */
typedef struct tile_corner {
  TSL_GLOBAL tile_result *start; /* its first element */
  int rows, cols;                /* of the tile that are inside of C */
  bool together;                 /* vectors of a row of C are contiguous and aligned */
  bool pairs;                    /* complex elements of C are aligned */
} tile_corner;

/* Stores a vector of sums of row `i` of a micro-tile (the item's first row: m_item) from column n on. With
 * STAGED, vectors that are not whole go through local memory. */
TSL_FUNCTION void store(const tsl_gemm_arguments *g, const tile_corner *corner, int i, int m_item, int n,
                        tsl_lanes sum) {
  const int number = i * ADJACENT;
  const int row = (number / TSL_LANES * ITEMS_M * TSL_LANES + m_item + number % TSL_LANES) / ADJACENT;
  const int col = n / TSL_NUMBERS;
  if (row < corner->rows && col < corner->cols)
    store_elements(corner->start + TSL_NUMBERS * (row * g->c_row_stride + col * g->c_col_stride),
                   g->c_col_stride, STAGED ? TSL_LANES : corner->cols - col, STAGED || corner->together, sum,
                   g);
}

#if STAGED
#define STAGE_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define STAGE_LOWEST(x) ((x) & -(x))
/* TEAM: adjacent items that store a row of the tile together. TEAMS: rows that are stored at a time. */
#define STAGE_TEAM STAGE_LEAST(32, STAGE_LEAST(STAGE_LOWEST(TILE_N), STAGE_LOWEST(ITEMS)))
#define STAGE_TEAMS (ITEMS / STAGE_TEAM)
#define STAGE_STEPS (TILE_N / STAGE_TEAM) /* elements of a row and item */

/* Returns a part of element n of a staged row at `line`: the sum of its slices' parts. */
TSL_FUNCTION TSL_REAL load_staged(TSL_LOCAL_POINTER const TSL_REAL *line, int n, int part) {
#if STORED_SLICES > 1
  TSL_LOCAL_POINTER const TSL_REAL *from =
      line + ((PLANES == 2 ? part * TILE_N + n : n * TSL_NUMBERS + part) ^ 1);
  TSL_REAL total = from[0];
  TSL_UNROLL
  for (int s = 1; s < STORED_SLICES; s++)
    total = total + from[s * FOLD_ROWS * ITEMS_M * FOLD_PITCH];
  return total;
#else
  return line[part * STAGE_PART + n % VECTOR_ELEMENTS * STAGE_PLANE + n / VECTOR_ELEMENTS];
#endif
}

/* Stores the parts of an element of C; is_pair: it is aligned, if it is complex. */
TSL_FUNCTION void store_scaled(TSL_GLOBAL tile_result *data, const TSL_REAL *parts, bool is_pair) {
#ifdef TSL_COMPLEX
  if (is_pair) {
    TSL_VECTOR(TSL_REAL, 2) pair = TSL_SPLAT(TSL_REAL, 2, parts[0]);
    TSL_LANE(pair, 1) = parts[1];
    TSL_STORE_ALIGNED(TSL_REAL, 2, data, pair);
  } else {
    data[0] = parts[0];
    data[1] = parts[1];
  }
#else
  (void)is_pair;
  *data = parts[0];
#endif
}

TSL_FUNCTION bool has_no_beta(const tsl_gemm_arguments *g) {
#ifdef TSL_COMPLEX
  return g->beta == 0 && g->beta_imaginary == 0;
#else
  return g->beta == 0;
#endif
}

/* Replaces a sum by alpha times it. */
TSL_FUNCTION void scale_without_beta(TSL_REAL *sum, const tsl_gemm_arguments *g) {
#ifdef TSL_COMPLEX
  tsl_gemm_arguments plain = *g;
  plain.beta = plain.beta_imaginary = 0;
  tsl_scale_element_of_c(sum, 0, &plain);
#else
  sum[0] = g->alpha * sum[0];
#endif
}

/* Stores the sum of one element, whose parts are at `sum`. */
TSL_FUNCTION void store_element(TSL_GLOBAL tile_result *data, TSL_REAL *sum, bool is_pair,
                                const tsl_gemm_arguments *g) {
#ifdef TSL_COMPLEX
  tsl_scale_element_of_c(sum, data, g);
  store_scaled(data, sum, is_pair);
#else
  (void)is_pair;
  tsl_store_scaled(data, sum[0], g->alpha, g->beta);
#endif
}

/* Stores row `row` of the tile from `line` in local memory. An item's first element is at `data`; elements
 * from `inside` on are outside of C. */
TSL_FUNCTION void store_line(TSL_GLOBAL tile_result *data, TSL_LOCAL_POINTER const TSL_REAL *line, int place,
                             int inside, bool is_pair, const tsl_gemm_arguments *g) {
  TSL_REAL sums[STAGE_STEPS][TSL_NUMBERS];
  TSL_UNROLL
  for (int p = 0; p < TSL_NUMBERS * STAGE_STEPS; p++)
    sums[p / TSL_NUMBERS][p % TSL_NUMBERS] =
        load_staged(line, p / TSL_NUMBERS * STAGE_TEAM + place, p % TSL_NUMBERS);
  TSL_UNROLL
  for (int p = 0; p < STAGE_STEPS; p++)
    if (p * STAGE_TEAM < inside)
      store_element(data + p * (TSL_NUMBERS * STAGE_TEAM * g->c_col_stride), sums[p], is_pair, g);
}

/* Stores `rows` rows of the micro-tiles from `first` on out of local memory, in rows of `pitch` numbers. */
TSL_FUNCTION void store_lines(TSL_LOCAL_POINTER const TSL_REAL *memory, int pitch, int rows,
                              const tsl_gemm_arguments *g, const tile_corner *corner, int first) {
  const int place = TSL_ITEM(0) % STAGE_TEAM, team = TSL_ITEM(0) / STAGE_TEAM;
  const int inside = corner->cols - place;
  TSL_GLOBAL tile_result *start = corner->start + TSL_NUMBERS * place * g->c_col_stride;
#if ITEMS_M % STAGE_TEAMS == 0
  if (has_no_beta(g) && (TSL_NUMBERS == 1 || corner->pairs)) {
    /* the frequent case: addresses advance by constant steps, and nothing is read */
    const TSL_INDEX step = TSL_NUMBERS * STAGE_TEAMS * VECTOR_ELEMENTS * g->c_row_stride;
    const int own_inside = corner->rows - team * VECTOR_ELEMENTS;
    TSL_UNROLL
    for (int i = 0; i < rows; i++) {
      const int row =
          (first + i) / VECTOR_ELEMENTS * ITEMS_M * VECTOR_ELEMENTS + (first + i) % VECTOR_ELEMENTS;
      TSL_GLOBAL tile_result *data = start + TSL_NUMBERS * (row + team * VECTOR_ELEMENTS) * g->c_row_stride;
      TSL_UNROLL
      for (int m = 0; m < ITEMS_M; m += STAGE_TEAMS, data += step) {
        TSL_GLOBAL tile_result *element = data;
        TSL_UNROLL
        for (int p = 0; p < STAGE_STEPS; p++, element += TSL_NUMBERS * STAGE_TEAM * g->c_col_stride) {
          TSL_REAL sum[TSL_NUMBERS];
          TSL_UNROLL
          for (int part = 0; part < TSL_NUMBERS; part++)
            sum[part] = load_staged(memory + (i * ITEMS_M + m + team) * pitch, p * STAGE_TEAM + place, part);
          scale_without_beta(sum, g);
          if (row + m * VECTOR_ELEMENTS < own_inside && p * STAGE_TEAM < inside)
            store_scaled(element, sum, true);
        }
      }
    }
    return;
  }
#endif
  TSL_UNROLL_BY(1)
  for (int line = team; line < rows * ITEMS_M; line += STAGE_TEAMS) {
    const int i = first + line / ITEMS_M;
    const int row = (i / VECTOR_ELEMENTS * ITEMS_M + line % ITEMS_M) * VECTOR_ELEMENTS + i % VECTOR_ELEMENTS;
    store_line(start + TSL_NUMBERS * row * g->c_row_stride, memory + line * pitch, place,
               row < corner->rows ? inside : 0, corner->pairs, g);
  }
}
#endif

/* Returns the number of a row of the tile at which an item's vector `j` of sums starts. A vector of a panel
 * has TSL_LANES / ADJACENT elements. A vector of sums has TSL_LANES / TSL_NUMBERS. */
TSL_FUNCTION int number_of(int j, int n_item) {
  const int from = j * TSL_LANES * ADJACENT / TSL_NUMBERS;
  return (from / TSL_LANES * ITEMS_N * TSL_LANES + n_item + from % TSL_LANES) * TSL_NUMBERS / ADJACENT;
}

/* Returns a vector with adjacent numbers swapped; see pin_accumulators_in_registers(). */
TSL_FUNCTION tsl_lanes exchanged(tsl_lanes queue) {
  TSL_REAL from[TSL_LANES], to[TSL_LANES];
  tsl_lanes_to_array(from, queue);
  TSL_UNROLL
  for (int e = 0; e < TSL_LANES; e++)
    to[e] = from[e ^ 1];
  return tsl_lanes_from_array(to);
}

#if STORED_SLICES > 1
/* Returns the sum of the slices' sums of a vector, in order. */
TSL_FUNCTION tsl_lanes sum_of_slices(TSL_LOCAL_POINTER const TSL_REAL *from) {
  tsl_lanes total = TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, from);
  TSL_UNROLL
  for (int s = 1; s < STORED_SLICES; s++)
    total = total + TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, from + s * FOLD_ROWS * ITEMS_M * FOLD_PITCH);
  return exchanged(total);
}

/* Adds the slices' sums of the micro-tiles' rows from `first` on, and stores them. */
TSL_FUNCTION void reduce_slices(TSL_LOCAL_POINTER const TSL_REAL *memory, const tsl_gemm_arguments *g,
                                const tile_corner *corner, int first) {
  const int across = PANEL_COLUMNS / PLANES / TSL_LANES, lines = FOLD_ROWS * ITEMS_M;
  TSL_UNROLL_BY(1)
  for (int at = TSL_ITEM(0); at < lines * across; at += ITEMS) {
    const int line = at / across, n = at % across * TSL_LANES;
    TSL_LOCAL_POINTER const TSL_REAL *from = memory + line * FOLD_PITCH + n;
    TSL_REAL parts[PLANES][TSL_LANES], pairs[PLANES * TSL_LANES];
    TSL_UNROLL
    for (int plane = 0; plane < PLANES; plane++)
      tsl_lanes_to_array(parts[plane], sum_of_slices(from + plane * TILE_N));
    TSL_UNROLL
    for (int e = 0; e < PLANES * TSL_LANES; e++)
      pairs[e] = parts[e % PLANES][e / PLANES];
    TSL_UNROLL
    for (int v = 0; v < PLANES; v++)
      store(g, corner, first + line / ITEMS_M, line % ITEMS_M * TSL_LANES, PLANES * n + v * TSL_LANES,
            tsl_lanes_from_array(pairs + v * TSL_LANES));
  }
}
#elif STAGED
/* Stores a group's tile through local memory. */
TSL_FUNCTION void store_tile(TSL_REAL sum[MICRO_M][ITEM_COLUMNS], TSL_LOCAL_POINTER TSL_REAL *memory,
                             const tsl_gemm_arguments *g, const tile_corner *corner, int m_item, int n_item) {
  TSL_UNROLL
  for (int first = 0; first < MICRO_M; first += STAGE_ROWS) {
    TSL_BARRIER(); /* all items have read the previous rows */
    TSL_UNROLL
    for (int i = 0; i < STAGE_ROWS; i++)
      TSL_UNROLL
    for (int j = 0; j < ITEM_COLUMNS; j++) {
      const int n = j / TSL_NUMBERS, part = j % TSL_NUMBERS;
      memory[(i * ITEMS_M + m_item / TSL_LANES) * STAGE_PITCH + part * STAGE_PART +
             n % VECTOR_ELEMENTS * STAGE_PLANE + n / VECTOR_ELEMENTS * ITEMS_N + n_item / TSL_LANES] =
          sum[first + i][j];
    }
    TSL_BARRIER();
    store_lines(memory, STAGE_PITCH, STAGE_ROWS, g, corner, first);
  }
}
#endif

/* Never stores anything, but steers register allocation. NVIDIA multiprocessors read one even and one odd
 * register per clock. A store of vectors with swapped neighbours puts each sum in an odd register when its
 * operand is in an even one. Measured: docs/lab/register_tile.md. */
TSL_FUNCTION void pin_accumulators_in_registers(TSL_REAL sum[MICRO_M][ITEM_COLUMNS],
                                                TSL_LOCAL_POINTER TSL_REAL *memory, bool never) {
  if (never)
    TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? ITEM_COLUMNS : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : ITEM_COLUMNS) / TSL_LANES; inner++) {
    TSL_REAL line[TSL_LANES];
    TSL_UNROLL
    for (int e = 0; e < TSL_LANES; e++)
      line[e] = DOWN ? sum[inner * TSL_LANES + e][outer] : sum[outer][inner * TSL_LANES + e];
    TSL_LOCAL_STORE(TSL_REAL, TSL_LANES,
                    memory + (outer * (DOWN ? MICRO_M : ITEM_COLUMNS) / TSL_LANES + inner) * TSL_LANES,
                    exchanged(tsl_lanes_from_array(line)));
  }
}

/* Adds an item's sums to the sums of the other slices and stores them to C. */
TSL_FUNCTION void store_results(TSL_REAL sum[MICRO_M][ITEM_COLUMNS], TSL_LOCAL_POINTER TSL_REAL *memory,
                                TSL_GLOBAL tile_result *c, const tsl_gemm_arguments *g, TSL_INDEX row,
                                TSL_INDEX col, int slice, int m_item, int n_item) {
  const int cols = g->n - col < TILE_N ? (int)(g->n - col) : TILE_N;
  const bool is_aligned = TSL_NUMBERS == 1 || (TSL_UINT64)c % TSL_PARAM_VECTOR == 0;
  const tile_corner start = {
      c + TSL_NUMBERS * (g->c_offset + row * g->c_row_stride + col * g->c_col_stride),
      g->m - row < TILE_M ? (int)(g->m - row) : TILE_M, cols,
      is_aligned && (!STAGED || cols % (TSL_LANES / TSL_NUMBERS) == 0) &&
          tsl_lanes_are_vectors(TSL_NUMBERS * g->c_offset, TSL_NUMBERS * g->c_row_stride, g->c_col_stride),
      (TSL_UINT64)c % (2 * sizeof(TSL_REAL)) == 0};
  const tile_corner *corner = &start;
#if STORED_SLICES == 1
  if (PLANES == 1)
    pin_accumulators_in_registers(sum, memory, g->k < 0);
#if STAGED
  if (STAGES_ALL || !corner->together) {
    store_tile(sum, memory, g, corner, m_item, n_item);
    return;
  }
#endif
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < ITEM_COLUMNS / TSL_LANES; j++)
    store(g, corner, i, m_item, number_of(j, n_item), tsl_lanes_from_array(&sum[i][j * TSL_LANES]));
#else
  TSL_UNROLL
  for (int first = 0; first < MICRO_M; first += FOLD_ROWS) {
    TSL_BARRIER(); /* all items have read the last panels */
    TSL_UNROLL
    for (int i = 0; i < FOLD_ROWS; i++)
      TSL_UNROLL
    for (int j = 0; j < ITEM_COLUMNS / TSL_LANES; j++) {
      const int part = j * TSL_LANES * PLANES / ITEM_COLUMNS, v = j % (ITEM_COLUMNS / PLANES / TSL_LANES);
      TSL_REAL line[TSL_LANES];
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        line[e] = sum[first + i][PLANE_NUMBER(j * TSL_LANES + e)];
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES,
                      memory + ((slice * FOLD_ROWS + i) * ITEMS_M + m_item / TSL_LANES) * FOLD_PITCH +
                          part * TILE_N + v * ITEMS_N * TSL_LANES + n_item,
                      exchanged(tsl_lanes_from_array(line)));
    }
    TSL_BARRIER();
#if STAGED
    if (STAGES_ALL || !corner->together) {
      store_lines(memory, FOLD_PITCH, FOLD_ROWS, g, corner, first);
      continue;
    }
#endif
    reduce_slices(memory, g, corner, first);
  }
#endif
}

#endif
