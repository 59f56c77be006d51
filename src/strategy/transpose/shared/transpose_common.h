#ifndef TSL_STRATEGY_TRANSPOSE_TRANSPOSE_COMMON_H
#define TSL_STRATEGY_TRANSPOSE_TRANSPOSE_COMMON_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"

/* Returns the accuracy: one rounding where alpha is not 1, else exact. */
tsl_accuracy tsl_transpose_accuracy(const tsl_problem *problem, const tsl_config *config);
/* Returns NULL, or a refusal: only f32 and f64 can be scaled; all types can be moved. */
const char *tsl_transpose_refuse_scaling(const tsl_problem *problem);

/* Compiles a kernel with the arguments of kernel/kernel_transpose.h. TSL_MOVED_BYTES is the element's size,
 * or TSL_REAL its type where alpha scales it. Fails like tsl_launch_build(). */
tesela_status tsl_transpose_build(tsl_work *work, const char *path, const char *kernel, const tsl_grid *grid);
/* Launches the kernel with A, C and the argument struct of kernel/kernel_transpose.h. */
tesela_status tsl_transpose_launch(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Square tiles in local memory, one a work-group (kernel/transpose_tile.h). Members: elements of an edge,
 * items of a group (all along dimension 0), tiles of a band (a power of two). */
typedef struct tsl_transpose_tiling {
  int tile, items, band;
} tsl_transpose_tiling;
/* Returns NULL, or a refusal: too few items of a group, or no local memory for a tile, in place two. */
const char *tsl_transpose_refuse_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                       const tsl_device *device);
/* Compiles a tile kernel. C's smallest stride is along the tiles' rows, for any strides of a run. */
tesela_status tsl_transpose_build_tiles(tsl_work *work, const char *path, const char *kernel,
                                        const tsl_transpose_tiling *tiling);
/* Launches a tile kernel with the grid for the strides of the operands. */
tesela_status tsl_transpose_launch_tiles(const tsl_work *work, const tsl_operands *operands,
                                         tsl_stream *stream, const tsl_transpose_tiling *tiling);
/* Predicts the seconds of tiles, partial tiles included, at a fraction `efficiency` of the bandwidth. */
double tsl_transpose_tiles_seconds(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                   const tsl_device *device, double efficiency);

/* Counts the traffic of tiles: once through local memory, with partly empty tiles at the edges. */
void tsl_transpose_account_tiles(const tsl_problem *problem, const tsl_transpose_tiling *tiling,
                                 const tsl_device *device, tsl_cost_counts *account);
/* Counts a transpose element by element. `lines`: bytes moved in whole cache lines, by bytes requested. */
void tsl_transpose_account(const tsl_problem *problem, double lines, tsl_cost_counts *account);

/* Predicts the seconds of all reads and writes at `efficiency` times the bandwidth, plus the launch. */
double tsl_transpose_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency);

#endif
