/* Into which blocks a product is cut so that few words travel: C (m x n) and the terms of its sums (k) as a
 * box, a block of it for each rank that multiplies.
 *
 *   k is cut into `depth` layers; C into `slabs` slabs of rows (or of columns), and each slab into a block
 * for each of its ranks. Where the ranks of a layer are no multiple of the slabs, some slabs have one rank
 * more and are larger by as much, so that every rank multiplies the same volume, whatever their number: 7
 * ranks may be slabs of 4 and 3.
 *
 * A rank receives the panels of A and B that its block needs, less what it holds, and the owners of C the
 * sums of all layers. One dimension alone is cut where the two others are short, all three where they are
 * alike: which, and how often, is found by trying all cuts, as COSMA does (Kwasniewski, Kabic, Besta,
 * VandeVondele, Solca, Hoefler 2019). Where memory is short, a block is made tile by tile. All sizes are in
 * elements. */
#ifndef TSL_COMM_COMM_GRID_H
#define TSL_COMM_COMM_GRID_H

#include "base/text.h"
#include "comm/comm.h"

#include <stdbool.h>
#include <stdint.h>

/* What the plan is for. */
typedef struct tsl_task {
  int64_t m, n, k;
  int ranks;
  int64_t size_a, size_b, size_c, size_sum; /* bytes of an element of A, B, C, and of the sums */
  double operations;                        /* of one term of a sum: 2; of complex numbers 8 */
  int64_t memory;                           /* bytes a rank may take for all of it */
} tsl_task;

/* What grids are chosen by unless somebody gives other figures. The choice must be the same on all ranks and
 * in each run, or bits would differ: so these are constants. */
extern const tsl_links tsl_links_default;
/* The same by what products are made on, and how their operands come there. */
typedef enum tsl_link_kind { TSL_BETWEEN_HOSTS, TSL_BETWEEN_DEVICES, TSL_THROUGH_HOSTS } tsl_link_kind;
const tsl_links *tsl_links_of(tsl_link_kind kind, tesela_type type);

typedef struct tsl_process_grid {
  int64_t m, n, k;
  int ranks, used;  /* of the ranks, so many multiply */
  int depth, slabs; /* see above */
  bool by_columns;  /* slabs are of columns */
  bool as_c; /* blocks are what each rank has of C: slabs and their parts are the rows and columns of C's own
                grid */
  int tiles_m, tiles_n; /* a block is made in so many tiles */
  int growth;           /* each of them so many times as large as the one before; 0, 1: they are even */
  int panels;           /* and a tile in so many panels of its terms */
  int64_t memory;       /* bytes that the largest block takes */
  int64_t words; /* received by the busiest rank; as expected of operands that lie evenly, or as counted */
  int64_t words_sent;              /* as counted, else the same */
  int64_t words_all;               /* received by all; as counted, else words by ranks */
  int64_t words_of_c;              /* as counted: of these, sums that the busiest rank receives, or sends */
  double seconds, seconds_compute; /* expected */
} tsl_process_grid;

/* A block: [from, to) of each dimension. */
typedef struct tsl_box {
  int64_t m[2], n[2], k[2];
  int layer, slab, part, parts; /* which it is; parts: of its slab */
} tsl_box;
/* The block of place `place`, 0 <= place < used: layer by layer, slab by slab. Not of a grid as_c. */
tsl_box tsl_grid_box(const tsl_process_grid *grid, int place);

/* Where operands lie best for a grid: what of A, B and C (row, column, rows, columns) the rank at a place
 * would hold, all even. */
typedef struct tsl_shares {
  int64_t a[4], b[4], c[4];
} tsl_shares;
tsl_shares tsl_grid_shares(const tsl_process_grid *grid, int place);

/* The best grids for evenly lying operands, the best first; returns how many, at most `count`, 0 where the
 * memory is too short for any. */
int tsl_grid_list(const tsl_task *task, const tsl_links *links, tsl_process_grid *out, int count);
/* One that is given in its cuts: tiles, panels, words, seconds. False where it does not fit. */
bool tsl_grid_complete(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);
/* Expected seconds, from its words. */
void tsl_grid_time(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid);

/* How often A's and B's panels come in all: for each tile that they are multiplied in, unless a tile has one
 * panel alone; then that of A stays for the tiles beside each other, and that of B where a block is one tile
 * wide. */
int tsl_grid_times_a(const tsl_process_grid *grid);
int tsl_grid_times_b(const tsl_process_grid *grid);
/* Where tile `tile` of `tiles` begins in a dimension of a block that has so many. */
int64_t tsl_grid_edge(const tsl_process_grid *grid, int64_t total, int tile, int tiles);
/* Cuts blocks that are made in one tile into so many, each in one panel. False where that does not fit, and
 * nothing is changed. */
bool tsl_grid_in_tiles(const tsl_task *task, const tsl_links *links, int tiles_m, int tiles_n, int growth,
                       tsl_process_grid *grid);

/* Makes a tile in fewer panels, the fewest from `panels` on that fit. */
void tsl_grid_in_panels(const tsl_task *task, const tsl_links *links, int panels, tsl_process_grid *grid);

/* Words that some rank must receive, whatever the algorithm, where operands lie evenly: the
 * memory-independent bound (Al Daas, Ballard, Grigori, Kumar, Rouse 2022) less what a rank holds; and 2 m n k
 * / (p sqrt S) - S, where S words of memory hold its part of the operands and `memory_words` more (COSMA,
 * above). The larger of both. 0 for one rank. */
double tsl_grid_bound(int64_t m, int64_t n, int64_t k, int ranks, double memory_words);
/* Words that a rank must hold or receive, of the first kind. */
double tsl_grid_reach(int64_t m, int64_t n, int64_t k, int ranks);

/* "grid 4 x 2 x 2 of 16 ranks, 3 steps", or "slabs of 4 + 3 ranks of 7, ...". */
void tsl_grid_print(const tsl_process_grid *grid, tsl_text *text);

#endif
