/* Micro-kernels of one vector width and their table row. The including file defines
 *
 *   SUFFIX    suffix of the vectors' names
 *   VARIANT   suffix of the tiles' names
 *   SIZES     (MR of tiles of one vector, of two, of three; heights of three kinds of exact tiles)
 *   FOUR      MR of tiles of four vectors; 0: none */
#ifndef NTH_1
#define NTH_1(a, b, c, d, e, f) a
#define NTH_2(a, b, c, d, e, f) b
#define NTH_3(a, b, c, d, e, f) c
#define NTH_4(a, b, c, d, e, f) d
#define NTH_5(a, b, c, d, e, f) e
#define NTH_6(a, b, c, d, e, f) f
#define OF_LATE(nth, sizes) nth sizes
#define OF(nth, sizes) OF_LATE(nth, sizes)
#define TILE_ROWS_OF_1 OF(NTH_1, SIZES)
#define TILE_ROWS_OF_2 OF(NTH_2, SIZES)
#define TILE_ROWS_OF_3 OF(NTH_3, SIZES)
#define TILE_ROWS_OF_4 FOUR
#define TILE_NAME_LATE(rows, vectors, variant) tile_##rows##x##vectors##variant
#define TILE_NAME_OF(rows, vectors, variant) TILE_NAME_LATE(rows, vectors, variant)
#define TILE_NAME(rows, vectors) TILE_NAME_OF(rows, vectors, VARIANT)
#define OWN(word) JOIN(word, VARIANT)
#endif

/* Computes a tile in a buffer, for C without contiguous columns. Not inlined, so that tiles need no stack. */
static __attribute__((noinline)) tesela_status OWN(scatter)(tsl_small_function multiply,
                                                            const tsl_small_tile *tile, int rows, int vectors,
                                                            const void *a, const void *b, void *dst) {
  enum { MOST = TSL_SMALL_ROWS_MAX * TSL_SMALL_VECTORS_MAX * NAME(LANES) };
  REAL sums[MOST], *c = dst;
  const int64_t width = vectors * (int64_t)NAME(LANES) / COMPONENTS,
                columns = width - NAME(LANES) / COMPONENTS + tile->last;
  tsl_small_tile buffer_tile = *tile;
  buffer_tile.c_row = width;
  buffer_tile.c_column = 1;
  buffer_tile.adds = false;
  (void)multiply(&buffer_tile, a, b, sums);
#if COMPONENTS == 2
  for (int i = 0; i < rows; i++)
    scatter(sums + 2 * i * width, columns, c + 2 * i * tile->c_row, tile->c_column, tile->beta);
#else
  const REAL beta = (REAL)tile->beta[0];
  for (int i = 0; i < rows; i++, c += tile->c_row)
    for (int64_t j = 0; j < columns; j++) {
      REAL *at = c + j * tile->c_column;
      *at = tile->adds ? JOIN(fma_number_, TSL_TYPE)(sums[i * width + j], beta, *at) : sums[i * width + j];
    }
#endif
  return TESELA_OK;
}

#define TILE_TEXT "strategy/gemm/host/host_small/kernels/host_small_tile.h"
#include "host/tiles.h"
#undef TILE_TEXT

/* Exact tiles: as many rows and steps as lanes; two vectors with twice the steps; for AVX2 two more. */
#if OF(NTH_4, SIZES) > 0
#define EXACT_NAME OWN(exact_square)
#define EXACT_ROWS NAME(LANES)
#define EXACT_VECTORS 1
#define EXACT_DEPTH NAME(LANES)
#define EXACT_HEIGHT OF(NTH_4, SIZES)
#include "strategy/gemm/host/host_small/kernels/host_small_exact.h"
#endif
#if OF(NTH_5, SIZES) > 0
#define EXACT_NAME OWN(exact_twice)
#define EXACT_ROWS NAME(LANES)
#define EXACT_VECTORS 2
#define EXACT_DEPTH (2 * NAME(LANES))
#define EXACT_HEIGHT OF(NTH_5, SIZES)
#include "strategy/gemm/host/host_small/kernels/host_small_exact.h"
#endif
#if OF(NTH_6, SIZES) > 0
#define EXACT_NAME OWN(exact_five)
#define EXACT_ROWS 5
#define EXACT_VECTORS 2
#define EXACT_DEPTH 16
#define EXACT_HEIGHT 5
#include "strategy/gemm/host/host_small/kernels/host_small_exact.h"
#define EXACT_NAME OWN(exact_six)
#define EXACT_ROWS 6
#define EXACT_VECTORS 2
#define EXACT_DEPTH 16
#define EXACT_HEIGHT 6
#include "strategy/gemm/host/host_small/kernels/host_small_exact.h"
#endif

#if defined(SMALL_BRIEF) && COMPONENTS == 1
#define BRIEF_NAME_LATE(rows, variant) brief_##rows##variant
#define BRIEF_NAME_OF(rows, variant) BRIEF_NAME_LATE(rows, variant)
#define BRIEF_NAME(rows) BRIEF_NAME_OF(rows, VARIANT)
#define BRIEF_ROWS 2
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 4
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 6
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 8
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 10
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 12
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 14
#include "strategy/gemm/host/host_small/kernels/brief.h"
#define BRIEF_ROWS 16
#include "strategy/gemm/host/host_small/kernels/brief.h"
#endif

static const tsl_small_kernels OWN(kernels) = {
    .type = JOIN(ENUM_, TSL_TYPE),
    .lanes = NAME(LANES) / COMPONENTS,
    .lanes_log2 = NAME(LANES_LOG2) - (COMPONENTS - 1),
    .size = sizeof(element),
    .parts = COMPONENTS,
    .rows = {TILE_ROWS_OF_1, TILE_ROWS_OF_2, TILE_ROWS_OF_3, TILE_ROWS_OF_4},
    .copy = copy,
    .exact =
        {
#if OF(NTH_4, SIZES) > 0
            {NAME(LANES), 1, NAME(LANES), OWN(exact_square)},
#endif
#if OF(NTH_5, SIZES) > 0
            {NAME(LANES), 2, 2 * NAME(LANES), OWN(exact_twice)},
#endif
#if OF(NTH_6, SIZES) > 0
            {5, 2, 16, OWN(exact_five)},
            {6, 2, 16, OWN(exact_six)},
#endif
        },
#if defined(SMALL_BRIEF) && COMPONENTS == 1
    .brief = {BRIEF_NAME(2), BRIEF_NAME(4), BRIEF_NAME(6), BRIEF_NAME(8), BRIEF_NAME(10), BRIEF_NAME(12),
              BRIEF_NAME(14), BRIEF_NAME(16)},
#endif
    .multiply = {
#define TILE_TEXT "host/tile_entry.h"
#include "host/tiles.h"
#undef TILE_TEXT
    }};
#undef BRIEF_NAME
#undef BRIEF_NAME_OF
#undef BRIEF_NAME_LATE
