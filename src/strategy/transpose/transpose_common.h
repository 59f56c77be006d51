/* What the transpose strategies share: their promise, their kernels' arguments, and their model. */
#ifndef TSL_STRATEGY_TRANSPOSE_TRANSPOSE_COMMON_H
#define TSL_STRATEGY_TRANSPOSE_TRANSPOSE_COMMON_H

#include "strategy/cost_counts.h"
#include "strategy/launch.h"

/* One rounding where alpha is not 1; nothing else happens to an element. */
tsl_accuracy tsl_transpose_accuracy(const tsl_problem *problem, const tsl_config *config);
/* Scaling is for f32 and f64; every type moves. The sentence, or NULL. */
const char *tsl_transpose_refuse_scaling(const tsl_problem *problem);

/* Compiles a kernel of kernel/kernel_transpose.h's arguments: TSL_MOVED_BYTES is the element's size, or
 * TSL_REAL its type where alpha scales it. As tsl_launch_build(). */
tesela_status tsl_transpose_build(tsl_work *work, const char *path, const char *kernel, const tsl_grid *grid);
/* Launches it: m n, A offset row_stride col_stride, C ..., alpha. */
tesela_status tsl_transpose_launch(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Square tiles through local memory, one for each work-group (kernel/transpose_tile.h): elements of an edge,
 * items of a group (all along dimension 0), and tiles of a band, which is a power of two. */
typedef struct tsl_transpose_tiling {
  int tile, items, band;
} tsl_transpose_tiling;
/* Why the device cannot: groups of so many items, local memory for one tile, in place for two. The sentence,
 * or NULL. */
const char *tsl_transpose_refuse_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                       const tsl_device *device);
/* As the two above; C's axis that lies closest runs along the tiles' rows, whatever the run's strides are. */
tesela_status tsl_transpose_build_tiles(tsl_work *work, const char *path, const char *kernel,
                                        const tsl_transpose_tiling *tiling);
tesela_status tsl_transpose_launch_tiles(const tsl_work *work, const tsl_operands *operands,
                                         tsl_stream *stream, const tsl_transpose_tiling *tiling);
/* As tsl_transpose_seconds(), for tiles that are partly outside, too. */
double tsl_transpose_tiles_seconds(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                   const tsl_device *device, double efficiency);

/* Counts them: through local memory once; tiles at the edges are partly empty. */
void tsl_transpose_account_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                 const tsl_device *device, tsl_cost_counts *account);
/* Counts a transpose element by element; `lines`: how many times as much as asked for comes from memory, in
 * whole cache lines. */
void tsl_transpose_account(const tsl_problem *problem, double lines, tsl_cost_counts *account);

/* Elements read and written at this share of the device's bandwidth, and the launch. */
double tsl_transpose_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency);

#endif
