/* Blocks of a grid as rows, columns and terms, and the exact count of their words. */
#ifndef TSL_COMM_COMM_BLOCKS_H
#define TSL_COMM_COMM_BLOCKS_H

#include "comm/comm_grid.h"
#include "comm/layout.h"

/* Positions of the dims are positions in the block. */
typedef struct tsl_block {
  tsl_dim rows, cols, terms;
  int64_t m, n, k; /* numbers of rows, columns, terms */
  int layer;
} tsl_block;

typedef struct tsl_rank_blocks {
  const tsl_process_grid *grid;
  int layer_ranks; /* ranks of one layer */
  tsl_block *list; /* by block index */
  int *rank_of_block;
  int *block_of_rank; /* -1: the rank multiplies nothing */
  tsl_span *spans;
} tsl_rank_blocks;

/* Makes the blocks. For a grid as_c, `c` maps ranks to blocks. The caller frees *out even after failures. */
tesela_status tsl_ranks_blocks_make(const tsl_process_grid *grid, const tsl_rank_layout *c,
                                    tsl_rank_blocks *out);
void tsl_ranks_blocks_free(tsl_rank_blocks *blocks);
/* Sets a grid whose blocks are the ranks' parts of C; false: C's layout has rectangles. */
bool tsl_ranks_blocks_as_c(const tsl_rank_layout *c, const tsl_task *task, tsl_process_grid *grid);

/* Step of a product, equal on all ranks. Number: (tile row * tiles_n + tile column) * panels + panel. */
typedef struct tsl_step {
  int tile_row, tile_col, panel;
} tsl_step;
/* Returns the number of steps: tiles of a block times panels of a tile. */
int tsl_steps(const tsl_process_grid *grid);
tsl_step tsl_step_at(const tsl_process_grid *grid, int number);

/* Returns the window of A that the block needs in a step, dense in `order`. */
tsl_patch tsl_window_a(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
/* Returns the window of B that the block needs in a step, dense in `order`. */
tsl_patch tsl_window_b(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
/* Returns the window of C that the block computes in the step's tile. */
tsl_patch tsl_window_c(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
/* Returns true if two windows of one grid have equal elements. */
bool tsl_windows_are_equal(const tsl_patch *a, const tsl_patch *b);

/* Counts the words that each rank receives and sends. Sets the grid's words. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_ranks_blocks_count(const tsl_rank_blocks *blocks, const tsl_rank_layout *a,
                                     const tsl_rank_layout *b, const tsl_rank_layout *c,
                                     tsl_process_grid *grid);

#endif
