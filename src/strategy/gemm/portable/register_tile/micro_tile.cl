#ifndef TSL_GEMM_REGISTER_TILE_MICRO_TILE
#define TSL_GEMM_REGISTER_TILE_MICRO_TILE

#include "raster.h"
#include "register_tile_arguments.cl"

#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define MICRO_M TSL_PARAM_MICRO_M
#define MICRO_N TSL_PARAM_MICRO_N
#define STAGES TSL_PARAM_STAGES
#ifndef A_ALONG_K
#define A_ALONG_K 1
#define B_ALONG_K 0
#endif
#ifndef A_ODD
#define A_ODD 0
#define B_ODD 0
#endif
#ifndef LOCKSTEP
#define LOCKSTEP 1
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

/* Sizes in numbers, of which a complex element has two. */
#define EXTENT_M (TILE_M * TSL_NUMBERS)
#define EXTENT_N (TILE_N * TSL_NUMBERS)
#define WIDTH_M (MICRO_M * TSL_NUMBERS)
#define WIDTH_N (MICRO_N * TSL_NUMBERS)
#define VECTORS_M (WIDTH_M / TSL_LANES)
#define VECTORS_N (WIDTH_N / TSL_LANES)
#define SLICE_DEPTH (TSL_PARAM_TILE_K / SLICES) /* of a panel */
/* Multiply-adds go along columns of the micro-tile if shorter; with slices along rows, like the stores. */
#define DOWN (SLICES == 1 && MICRO_M <= MICRO_N)

/* k splits leave unscaled sums in rows of whole vectors; alpha is 1. The multiplication by alpha keeps vector
 * stores from deciding the accumulators' registers: pin_accumulators_in_registers() does. */
#if TSL_PARAM_SPLIT > 1
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

/* Lines of an operand that fetches may read. */
#ifdef COPIED
#define LINES(elements) (((elements)*TSL_NUMBERS + TSL_LANES - 1) / TSL_LANES * TSL_LANES)
#else
#define LINES(elements) (elements)
#endif

/* Returns an item's column. Lockstep items that differ in bit 0 read equal numbers of A, in bit 1 of B. */
TSL_FUNCTION int item_column(int item) {
  return ITEMS_M % 8 == 0 && ITEMS_N % 4 == 0 ? (item & 1) | (item >> 3 & 2) | (item >> 5) % (ITEMS_N / 4) * 4
                                              : item % ITEMS_N;
}
TSL_FUNCTION int item_row(int item) {
  return ITEMS_M % 8 == 0 && ITEMS_N % 4 == 0 ? (item >> 1 & 7) | (item >> 5) / (ITEMS_N / 4) * 8
                                              : item / ITEMS_N;
}

/* Coordinates of a group's tile and k split, and of an item within its slice. */
typedef struct tile_start {
  int slice, place;
  int m_item, n_item;   /* first number of the item in a row and in a column of the tile */
  TSL_INDEX row, col;   /* of C */
  TSL_INDEX first, end; /* along k */
} tile_start;
TSL_FUNCTION tile_start start_of(const tsl_register_tile_arguments args) {
  tile_start at;
  at.place = TSL_ITEM(0) % PLACES;
  at.slice = TSL_ITEM(0) / PLACES;
  at.m_item = item_row(at.place) * TSL_LANES;
  at.n_item = item_column(at.place) * TSL_LANES;
  tsl_raster_tile(TSL_GROUP(0), (args.m + TILE_M - 1) / TILE_M, (args.n + TILE_N - 1) / TILE_N, args.band,
                  &at.row, &at.col);
  at.row *= TILE_M;
  at.col *= TILE_N;
  at.first = TSL_GROUP(1) * args.split_depth;
  at.end = args.k - at.first < args.split_depth ? args.k : at.first + args.split_depth;
  return at;
}

TSL_FUNCTION void clear(TSL_REAL sum[MICRO_M][WIDTH_N]) {
  TSL_UNROLL
  for (int i = 0; i < MICRO_M; i++)
    TSL_UNROLL
  for (int j = 0; j < WIDTH_N; j++)
    sum[i][j] = 0;
}

TSL_FUNCTION void read_rows(TSL_REAL *rows, TSL_LOCAL_POINTER const TSL_REAL *panel) {
  TSL_UNROLL
  for (int i = 0; i < VECTORS_M; i++)
    tsl_lanes_to_array(rows + i * TSL_LANES,
                       TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, panel + i * ITEMS_M * TSL_LANES));
}
TSL_FUNCTION void read_columns(TSL_REAL *columns, TSL_LOCAL_POINTER const TSL_REAL *panel) {
  TSL_UNROLL
  for (int j = 0; j < VECTORS_N; j++)
    tsl_lanes_to_array(columns + j * TSL_LANES,
                       TSL_LOCAL_LOAD(TSL_REAL, TSL_LANES, panel + j * ITEMS_N * TSL_LANES));
}

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

/* Adds the products of one depth in boustrophedon order along the shorter side. Successive multiply-adds
 * share an operand: NVIDIA multiprocessors read two registers per clock (docs/lab/register_tile.md). */
TSL_FUNCTION void multiply(TSL_REAL sum[MICRO_M][WIDTH_N], const TSL_REAL *rows, const TSL_REAL *columns) {
  TSL_UNROLL
  for (int outer = 0; outer < (DOWN ? MICRO_N : MICRO_M); outer++)
    TSL_UNROLL
  for (int inner = 0; inner < (DOWN ? MICRO_M : MICRO_N); inner++) {
    const int along = outer % 2 ? (DOWN ? MICRO_M : MICRO_N) - 1 - inner : inner;
    multiply_one(sum, rows, columns, DOWN ? along : outer, DOWN ? outer : along);
  }
}

#endif
