/* gemm streamed: how a product passes through a device that cannot hold it, and its runs. For the files of
 * this folder. */
#ifndef TSL_STRATEGY_GEMM_STREAMED_H
#define TSL_STRATEGY_GEMM_STREAMED_H

#include "strategy/staged_copy.h"
#include "strategy/subplans.h"

#include <pthread.h>

enum { STREAMED_ROWS, STREAMED_COLS, STREAMED_DEPTH };

/* Tiles of C, and slabs of the sums. Plain numbers. */
typedef struct tsl_streamed_tiling {
  int64_t m, n, k;
  int64_t rows, cols, depth; /* of a tile and of a slab; the last ones may have less */
  int64_t row_tiles, col_tiles, slabs;
  bool by_cols; /* tiles follow each other along C's columns; else along its rows */
  int panels,
      tiles; /* buffers for panels of A and of B, each, and for tiles of C: one more than is computed on */
  uint64_t bytes; /* of all of them */
  double in, out; /* bytes between host and device, of a run */
} tsl_streamed_tiling;

/* The tiling of a config: the sizes that it gives, and else those that take least time in so much memory.
 * NULL, or why there is none. */
const char *tsl_tiling_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_streamed_tiling *tiling);
/* What a run is expected to take on a device that copies beside computing; 0: it does not, or its rates are
 * not known. */
double tsl_tiling_seconds(const tsl_problem *problem, const tsl_device *device,
                          const tsl_streamed_tiling *tiling);
/* Memory that a plan may take on a device, and what of it the buffers of a tiling leave to what multiplies
 * slabs. */
uint64_t tsl_tiling_memory(const tsl_device *device);
uint64_t tsl_tiling_room(const tsl_device *device, const tsl_streamed_tiling *tiling);
/* The strategy to multiply slabs whose speed is a matter of that room; NULL: there is none. And what its
 * model says that one of a tiling's whole slabs takes it in that room; infinity: it cannot. */
const tsl_strategy *tsl_streamed_engine(const tsl_problem *problem, const tsl_device *device);
double tsl_streamed_slab_seconds(const tsl_strategy *engine, const tsl_problem *problem,
                                 const tsl_device *device, const tsl_streamed_tiling *tiling);
/* Tile number `index` of row_tiles * col_tiles; each is beside the one before, so that one of its panels is
 * there already. */
void tsl_tiling_tile(const tsl_streamed_tiling *tiling, int64_t index, int64_t *i, int64_t *j);
/* What of C a tile is, and of the sums a slab: their first, and how many. */
tsl_copy_chunk tsl_tiling_part(const tsl_streamed_tiling *tiling, int64_t i, int64_t j);
void tsl_tiling_slab(const tsl_streamed_tiling *tiling, int64_t slab, int64_t *first, int64_t *count);

/* What computes a slab of a tile of one kind. */
typedef struct tsl_streamed_kind {
  tsl_subplan *child;             /* NULL: there are none of this kind */
  tsl_shape shapes[TSL_OPERANDS]; /* of its panels and tile, where they lie in the caller's memory */
  tsl_transfer transfers[TSL_OPERANDS];
} tsl_streamed_kind;

enum { STREAMED_FIRST, STREAMED_MIDDLE, STREAMED_LAST, STREAMED_SLABS };

/* work->state. */
typedef struct tsl_streamed {
  tsl_streamed_tiling tiling;
  tsl_streamed_kind kinds[2][2][STREAMED_SLABS]; /* by whether a tile is in the last row, in the last column;
                                                    and by the slab */
  const tsl_subplan *first; /* of them that was made; the others are like it if they can */
  uint64_t workspace;       /* bytes that the most demanding of them needs */
  pthread_mutex_t lock;     /* one run at a time: it takes what memory there is */
} tsl_streamed;

static inline tsl_streamed_kind *tsl_streamed_kind_of(tsl_streamed *self, int64_t i, int64_t j,
                                                      int64_t slab) {
  const tsl_streamed_tiling *tiling = &self->tiling;
  const int at = slab == 0 ? STREAMED_FIRST : slab + 1 == tiling->slabs ? STREAMED_LAST : STREAMED_MIDDLE;
  return &self->kinds[i + 1 == tiling->row_tiles][j + 1 == tiling->col_tiles][at];
}

tesela_status tsl_streamed_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
