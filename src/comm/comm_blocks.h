/* The blocks of a grid as rows, columns and terms, what ranks make them, and what travels for that: counted,
 * message by message, before anything does. */
#ifndef TSL_COMM_COMM_BLOCKS_H
#define TSL_COMM_COMM_BLOCKS_H

#include "comm/comm_grid.h"
#include "comm/layout.h"

/* What one rank multiplies. Places of the dims are those in the block. */
typedef struct tsl_block {
  tsl_dim rows, cols, terms;
  int64_t m, n, k;
  int layer;
} tsl_block;

typedef struct tsl_rank_blocks {
  const tsl_process_grid *grid;
  int layer_ranks;
  tsl_block *of; /* of each place */
  int *rank;     /* of each place */
  int *place;    /* of each rank, -1: it has none */
  tsl_span *spans;
} tsl_rank_blocks;

/* c is needed for a grid as_c, and says which rank has which block then; else place i is rank i. Free it in
 * any case. */
tesela_status tsl_blocks_make(const tsl_process_grid *grid, const tsl_rank_layout *c, tsl_rank_blocks *out);
void tsl_blocks_free(tsl_rank_blocks *blocks);
/* Whether blocks can be as C lies: every rank of C's grid has one. */
bool tsl_blocks_as_c(const tsl_rank_layout *c, const tsl_task *task, tsl_process_grid *grid);

/* Steps of a product, one after the other on all ranks: step = (tile row * tiles_n + tile column) * panels +
 * panel. */
typedef struct tsl_step {
  int tile_row, tile_col, panel;
} tsl_step;
int tsl_steps(const tsl_process_grid *grid);
tsl_step tsl_step_at(const tsl_process_grid *grid, int number);

/* What the block's rank needs of A and B in a step, and what it makes of C in the step's tile; dense in this
 * order. */
tsl_patch tsl_window_a(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
tsl_patch tsl_window_b(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
tsl_patch tsl_window_c(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order);
/* Whether two windows of the same grid are of the same elements. */
bool tsl_window_same(const tsl_patch *a, const tsl_patch *b);

/* Counts what each rank receives and sends of a product, into the grid's words. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_blocks_count(const tsl_rank_blocks *blocks, const tsl_rank_layout *a,
                               const tsl_rank_layout *b, const tsl_rank_layout *c, tsl_process_grid *grid);

#endif
