/* Process grids: how a product is split over ranks so that few words travel. C (m x n) and the sum dimension
 * (k) form a box; each rank that multiplies gets a block.
 *
 * k is split into `depth` layers, C into `slabs` slabs of rows (or of columns), and each slab into one block
 * per rank. If the ranks of a layer are no multiple of the slabs, some slabs have one rank more and are
 * larger in proportion: 7 ranks may be slabs of 4 and 3.
 *
 * A rank receives the panels of A and B that its block needs, less its own elements. C's owners receive the
 * sums of all layers. All splits are tried for the best grid, as in COSMA (Kwasniewski, Kabic, Besta,
 * VandeVondele, Solca, Hoefler 2019). With short memory, blocks are computed in tiles. Sizes are elements. */
#ifndef TSL_COMM_COMM_GRID_H
#define TSL_COMM_COMM_GRID_H

#include "comm/comm.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_task {
  int64_t m, n, k;
  int ranks;
  int64_t size_a, size_b, size_c, size_sum; /* bytes of an element */
  double operations;                        /* per term of a sum: 2, or 8 for complex numbers */
  int64_t memory;                           /* limit of bytes per rank */
} tsl_task;

/* Constants, because bits depend on the grid, which must be equal on all ranks and in each run. */
extern const tsl_links tsl_links_default;
/* Path of operands and messages, with its own cost constants. */
typedef enum tsl_link_kind { TSL_BETWEEN_HOSTS, TSL_BETWEEN_DEVICES, TSL_THROUGH_HOSTS } tsl_link_kind;
/* Returns a path's static cost constants for operands of a type. */
const tsl_links *tsl_links_of(tsl_link_kind kind, tesela_type type);

typedef struct tsl_process_grid {
  int64_t m, n, k;  /* sizes of the product */
  int ranks, used;  /* all ranks; ranks that multiply */
  int depth, slabs; /* layers of k; slabs per layer */
  bool by_columns;  /* slabs are of columns, not of rows */
  bool as_c;        /* blocks are the ranks' parts of C, slabs and parts the rows and columns of C's grid */
  int tiles_m, tiles_n; /* tiles of a block */
  int growth;           /* size ratio of successive tiles; 0, 1: equal tiles */
  int panels;           /* panels of k per tile */
  int64_t memory;       /* bytes of the largest block */
  int64_t words;        /* elements received by the busiest rank; expected for even operands, or counted */
  int64_t words_sent;   /* sent by the busiest rank; counted, else equal to `words` */
  int64_t words_all;    /* received by all ranks; counted, else `words` times ranks */
  int64_t words_of_c;   /* counted for C's sums, received or sent by the busiest rank */
  double seconds, seconds_compute; /* predicted */
} tsl_process_grid;

/* Block of a rank: [begin, end) of each dimension. */
typedef struct tsl_box {
  int64_t m[2], n[2], k[2];
  int layer, slab, part, parts; /* position; parts: blocks of its slab */
} tsl_box;
/* Returns block 0 <= block_index < used: layer by layer, slab by slab. Not for a grid as_c. */
tsl_box tsl_grid_box(const tsl_process_grid *grid, int block_index);

/* Lists up to `count` fastest grids for even operands, sorted. Returns their number; 0: none fits memory. */
int tsl_grid_list(const tsl_task *task, const tsl_links *links, tsl_process_grid *out, int count);
/* Completes a grid whose splits are set; false: it does not fit into memory. */
bool tsl_grid_complete(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);
/* Sets the predicted seconds from the grid's words. */
void tsl_grid_time(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);

/* Returns how often each panel of A is received: once per tile, or per tile row if a tile has one panel. */
int tsl_grid_times_a(const tsl_process_grid *grid);
/* Returns how often each panel of B is received: per tile; once if blocks are one tile and panel wide. */
int tsl_grid_times_b(const tsl_process_grid *grid);
/* Returns the begin of a tile in a block's dimension of `total` elements. */
int64_t tsl_grid_edge(const tsl_process_grid *grid, int64_t total, int tile, int tiles);
/* Splits one-tile blocks into tiles of one panel; false, grid unchanged: they do not fit into memory. */
bool tsl_grid_in_tiles(const tsl_task *task, const tsl_links *links, int tiles_m, int tiles_n, int growth,
                       tsl_process_grid *grid);

/* Reduces the panels per tile to `panels`, or the next larger number that fits into memory. */
void tsl_grid_in_panels(const tsl_task *task, const tsl_links *links, int panels, tsl_process_grid *grid);

/* Returns a lower bound on the words that some rank receives in any algorithm, for even operands; 0 for one
 * rank. The larger of: memory-independent (Al Daas, Ballard, Grigori, Kumar, Rouse 2022) less own words, and
 * memory-dependent (COSMA): 2 m n k / (p sqrt S) - S, S being own words plus `memory_words`. */
double tsl_grid_bound(int64_t m, int64_t n, int64_t k, int ranks, double memory_words);
/* Returns the memory-independent lower bound on words that a rank owns or receives. */
double tsl_grid_reach(int64_t m, int64_t n, int64_t k, int ranks);

/* Prints "grid 4 x 2 x 2 of 16 ranks, 3 steps", or "slabs of 4 + 3 ranks of 7, ...". */
void tsl_grid_print(const tsl_process_grid *grid, tsl_text *text);

#endif
