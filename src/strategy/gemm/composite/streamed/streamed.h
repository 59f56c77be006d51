#ifndef TSL_STRATEGY_GEMM_STREAMED_H
#define TSL_STRATEGY_GEMM_STREAMED_H

#include "copy/staged_copy.h"
#include "strategy/subplans.h"

#include <pthread.h>

enum { STREAMED_ROWS, STREAMED_COLS, STREAMED_DEPTH };

/* Cut of C into tiles and of k into slabs. A value without pointers. */
typedef struct tsl_streamed_tiling {
  int64_t m, n, k;
  int64_t rows, cols, depth; /* size of a tile, depth of a slab; the last ones may be smaller */
  int64_t row_tiles, col_tiles, slabs;
  bool by_cols;      /* tiles are ordered along C's columns; else along its rows */
  int panels, tiles; /* buffers for panels of A, and for B; for tiles: 2 each, or 1 if there is only one */
  uint64_t bytes;    /* bytes of all buffers */
  double bytes_in, bytes_out; /* of a run, to the device and back */
} tsl_streamed_tiling;

/* Computes the tiling: the config's sizes, or if 0 the fastest that fit. Returns NULL, or why none exists.
 * The slabs' strategy is one of the list; without a list it is not considered. */
const char *tsl_tiling_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_all_strategies *list, tsl_streamed_tiling *tiling);
/* Returns the expected seconds of a run; 0: the device does not overlap copies, or its rates are unknown. */
double tsl_tiling_seconds(const tsl_problem *problem, const tsl_device *device, tsl_all_strategies *list,
                          const tsl_streamed_tiling *tiling);
/* Returns the bytes that a tiling's buffers leave for the workspace of the slabs' kernels. */
uint64_t tsl_tiling_workspace_bytes(const tsl_device *device, const tsl_streamed_tiling *tiling);
/* Returns the listed strategy that is the fastest for slabs, if its speed depends on the workspace limit.
 * NULL: none does. */
const tsl_strategy *tsl_streamed_slab_strategy(const tsl_problem *problem, const tsl_device *device,
                                               tsl_all_strategies *list);
/* Returns the strategy's predicted seconds for a whole slab with the workspace that is left, or infinity. */
double tsl_streamed_slab_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_device *device, const tsl_streamed_tiling *tiling);
/* Returns the position of tile number `index`. Successive tiles are adjacent and share a panel. */
void tsl_tiling_tile_position(const tsl_streamed_tiling *tiling, int64_t index, int64_t *i, int64_t *j);
/* Returns the rectangle of C of tile (i, j). */
tsl_copy_part tsl_tiling_tile_rect(const tsl_streamed_tiling *tiling, int64_t i, int64_t j);
/* Returns the first term and the number of terms of a slab. */
void tsl_tiling_slab(const tsl_streamed_tiling *tiling, int64_t slab, int64_t *first, int64_t *count);

typedef struct tsl_streamed_kind {
  tsl_subplan *child;             /* NULL: no slab is of this kind */
  tsl_shape shapes[TSL_OPERANDS]; /* the panels and the tile in the caller's memory */
  tsl_transfer transfers[TSL_OPERANDS];
} tsl_streamed_kind;

enum { STREAMED_FIRST, STREAMED_MIDDLE, STREAMED_LAST, STREAMED_SLABS };

typedef struct tsl_streamed { /* work->state */
  tsl_streamed_tiling tiling;
  /* index: tile in the last row, tile in the last column, position of the slab */
  tsl_streamed_kind kinds[2][2][STREAMED_SLABS];
  const tsl_subplan *first; /* the other child plans use its strategy if possible */
  uint64_t workspace;       /* maximum of all child plans, in bytes */
  pthread_mutex_t lock;     /* serialises runs, as a run takes the available memory */
} tsl_streamed;

static inline tsl_streamed_kind *tsl_streamed_kind_of(tsl_streamed *self, int64_t i, int64_t j,
                                                      int64_t slab) {
  const tsl_streamed_tiling *tiling = &self->tiling;
  const int position = slab == 0                   ? STREAMED_FIRST
                       : slab + 1 == tiling->slabs ? STREAMED_LAST
                                                   : STREAMED_MIDDLE;
  return &self->kinds[i + 1 == tiling->row_tiles][j + 1 == tiling->col_tiles][position];
}

tesela_status tsl_streamed_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
