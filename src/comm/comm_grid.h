/* Process grids: how a product is split over ranks so that few words travel. C (m x n) and the sum
 * dimension (k) form a box. Each rank that multiplies gets a block of the box.
 *
 * k is split into `depth` layers, C into `slabs` slabs of rows (or of columns), and each slab into one block
 * per rank. If the ranks of a layer are no multiple of the slabs, some slabs have one rank more and are
 * larger in proportion. So every rank multiplies the same volume for any number of ranks: 7 ranks may be
 * slabs of 4 and 3.
 *
 * A rank receives the panels of A and B that its block needs, less its own elements. The owners of C receive
 * the sums of all layers. The best grid is found by trying all splits, as COSMA does (Kwasniewski, Kabic,
 * Besta, VandeVondele, Solca, Hoefler 2019). A long dimension is split alone, equal dimensions are split
 * together. If memory is short, a block is computed tile by tile. All sizes are in elements. */
#ifndef TSL_COMM_COMM_GRID_H
#define TSL_COMM_COMM_GRID_H

#include "base/text.h"
#include "comm/comm.h"

#include <stdbool.h>
#include <stdint.h>

/* Problem for which a grid is chosen. */
typedef struct tsl_task {
  int64_t m, n, k;
  int ranks;
  int64_t size_a, size_b, size_c, size_sum; /* bytes of an element of A, B, C, and of the sums */
  double operations;                        /* operations per term of a sum: 2, or 8 for complex numbers */
  int64_t memory;                           /* limit of bytes per rank */
} tsl_task;

/* Default cost constants. They are constants, because the choice of the grid must be equal on all
 * ranks and in each run: bits depend on it. */
extern const tsl_links tsl_links_default;
/* Path of operands and messages; each path has its own cost constants. */
typedef enum tsl_link_kind { TSL_BETWEEN_HOSTS, TSL_BETWEEN_DEVICES, TSL_THROUGH_HOSTS } tsl_link_kind;
/* Returns the cost constants of a path, for operands of a type. */
const tsl_links *tsl_links_of(tsl_link_kind kind, tesela_type type);

typedef struct tsl_process_grid {
  int64_t m, n, k;
  int ranks, used;  /* number of ranks; number of ranks that multiply */
  int depth, slabs; /* number of layers of k; slabs per layer */
  bool by_columns;  /* slabs are of columns, not of rows */
  bool as_c; /* blocks are the ranks' parts of C: slabs and parts are the rows and columns of C's own grid */
  int tiles_m, tiles_n; /* number of tiles of a block */
  int growth;           /* ratio of the sizes of successive tiles; 0, 1: equal tiles */
  int panels;           /* number of panels of k per tile */
  int64_t memory;       /* bytes of the largest block */
  int64_t words;      /* received by the busiest rank; expected for evenly distributed operands, or counted */
  int64_t words_sent; /* sent by the busiest rank; counted, else equal to `words` */
  int64_t words_all;  /* received by all ranks; counted, else `words` times ranks */
  int64_t words_of_c; /* counted sums of C that the busiest rank receives or sends */
  double seconds, seconds_compute; /* predicted seconds */
} tsl_process_grid;

/* Block of a rank: [begin, end) of each dimension. */
typedef struct tsl_box {
  int64_t m[2], n[2], k[2];
  int layer, slab, part, parts; /* position of the block; parts: number of blocks of its slab */
} tsl_box;
/* Returns the block of place `place`, 0 <= place < used: layer by layer, slab by slab. Not for a
 * grid as_c. */
tsl_box tsl_grid_box(const tsl_process_grid *grid, int place);

/* Best distribution of operands for a grid: the parts of A, B and C (row, column, rows, columns) of
 * the rank at a place. All parts are even. */
typedef struct tsl_shares {
  int64_t a[4], b[4], c[4];
} tsl_shares;
tsl_shares tsl_grid_shares(const tsl_process_grid *grid, int place);

/* Lists the fastest grids for evenly distributed operands, the fastest first. Returns their number,
 * at most `count`. 0: memory is too short for any grid. */
int tsl_grid_list(const tsl_task *task, const tsl_links *links, tsl_process_grid *out, int count);
/* Completes a grid whose splits are set: tiles, panels, words, seconds. Returns false if it does
 * not fit into memory. */
bool tsl_grid_complete(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);
/* Sets the predicted seconds from the grid's words. */
void tsl_grid_time(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);

/* Returns how often each panel of A is received. Once per tile, unless a tile has a single panel:
 * A's panel is then reused by all tiles of a tile row. */
int tsl_grid_times_a(const tsl_process_grid *grid);
/* Returns how often each panel of B is received. Once per tile, but only once in all if a block is
 * one tile wide and a tile has one panel. */
int tsl_grid_times_b(const tsl_process_grid *grid);
/* Returns the begin of tile `tile` of `tiles` in a block's dimension of `total` elements. */
int64_t tsl_grid_edge(const tsl_process_grid *grid, int64_t total, int tile, int tiles);
/* Splits one-tile blocks into tiles_m x tiles_n tiles of one panel. Returns false, with the grid
 * unchanged, if the tiles do not fit into memory. */
bool tsl_grid_in_tiles(const tsl_task *task, const tsl_links *links, int tiles_m, int tiles_n, int growth,
                       tsl_process_grid *grid);

/* Reduces the panels per tile to `panels`, or to the next larger number that fits into memory. */
void tsl_grid_in_panels(const tsl_task *task, const tsl_links *links, int panels, tsl_process_grid *grid);

/* Returns a lower bound on the words that some rank receives in any algorithm, for evenly
 * distributed operands. It is the larger of two bounds. Memory-independent bound (Al Daas, Ballard,
 * Grigori, Kumar, Rouse 2022) less a rank's own words. Memory-dependent bound (COSMA): 2 m n k / (p
 * sqrt S) - S, where S is a rank's own words plus `memory_words`. Returns 0 for one rank. */
double tsl_grid_bound(int64_t m, int64_t n, int64_t k, int ranks, double memory_words);
/* Returns the memory-independent lower bound on the words that a rank owns or receives. */
double tsl_grid_reach(int64_t m, int64_t n, int64_t k, int ranks);

/* Prints "grid 4 x 2 x 2 of 16 ranks, 3 steps", or "slabs of 4 + 3 ranks of 7, ...". */
void tsl_grid_print(const tsl_process_grid *grid, tsl_text *text);

#endif
