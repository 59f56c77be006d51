/* What the files of this strategy share: its pieces, what lies in scratch memory, and what build() makes. */
#ifndef TSL_STRATEGY_GEMM_STRUCTURED_H
#define TSL_STRATEGY_GEMM_STRUCTURED_H

#include "strategy/launch.h"
#include "strategy/structure.h"
#include "strategy/subplans.h"

#include "strategy/gemm/structured/structured_shared.h"

enum { STRUCTURED_BLOCK };

/* Levels of a triangle of 2^62 rows, each with a last rectangle of its own, and blocks of the diagonal with
 * theirs. */
enum { STRUCTURED_LEVELS_MOST = 62, STRUCTURED_PIECES_MOST = 2 * STRUCTURED_LEVELS_MOST + 2 };

/* Rows of the smallest block that is chosen. */
enum { STRUCTURED_LEAST = 128, STRUCTURED_LEAST_OF_PROCESSORS = 512 };

/* One general product: so many rows and columns of C, and so many terms of their sums; and `count` products
 * like it, each `apart` further along the diagonal of what has a structure. */
typedef struct tsl_structured_piece {
  int64_t row, rows, col, cols, first, depth;
  int64_t count, apart;
  bool on_diagonal; /* what has a structure is a block of the diagonal there, which lies in scratch memory */
  bool adds;        /* to what pieces before it left in C */
} tsl_structured_piece;

/* How a problem is cut: pieces, in the order in which they run. Plain numbers. */
typedef struct tsl_structured_cut {
  int64_t size;  /* rows of what has a structure */
  int64_t block; /* rows of a block of its diagonal; the last one may have less */
  int count, levels;
  tsl_structured_piece pieces[STRUCTURED_PIECES_MOST];
} tsl_structured_cut;

/* The cut into blocks of so many rows; 0: as many as the device is expected to be fastest with. */
void tsl_structured_cut_of(const tsl_problem *problem, int64_t block, const tsl_device *device,
                           tsl_structured_cut *cut);
/* The same for a size that was settled. */
void tsl_structured_cut_by(const tsl_problem *problem, int64_t block, tsl_structured_cut *cut);
/* Whether a factor's zeros are left out: by pieces that follow each other in C, which complex ones do not, as
 * beta = 1 multiplies what is there by 1 + 0i, and an infinity times 0 is NaN. */
bool tsl_structured_leaves_zeros(const tsl_problem *problem);
/* How many pieces are added up in an element of C at most. */
int64_t tsl_structured_slabs(const tsl_problem *problem, int64_t block);
/* Whether the factors are read at all. */
bool tsl_structured_reads(const tsl_problem *problem);
/* Whether a piece lies further along the rows of C, its columns, or the terms of its sums, with each of its
 * products. */
typedef struct tsl_structured_moves {
  bool row, col, term;
} tsl_structured_moves;
tsl_structured_moves tsl_structured_moves_of(const tsl_problem *problem);
/* A piece as a problem: of general matrices, with the strides that the whole has, or those of scratch memory.
 */
tsl_problem tsl_structured_part(const tsl_problem *problem, const tsl_structured_cut *cut,
                                const tsl_structured_piece *piece);

/* A matrix in scratch memory: blocks one behind the other. In elements. */
typedef struct tsl_structured_room {
  int64_t row_stride, col_stride, step, elements;
} tsl_structured_room;
/* Of the diagonal's blocks; and, for a product in place, of what C holds before. */
tsl_structured_room tsl_structured_blocks(const tsl_problem *problem, const tsl_structured_cut *cut);
tsl_structured_room tsl_structured_held(const tsl_problem *problem);

/* Seconds that the pieces are expected to take by the fastest models, and the copies beside them. Infinity:
 * nothing takes one. */
double tsl_structured_seconds(const tsl_problem *problem, const tsl_structured_cut *cut,
                              const tsl_device *device);
/* The block of the cut that is expected to be fastest. */
int64_t tsl_structured_block(const tsl_problem *problem, const tsl_device *device);
/* Copies: their launches, and the elements that they read and write. */
int tsl_structured_copies(const tsl_problem *problem, const tsl_structured_cut *cut, double *elements);

/* Of work->state, one; of an update of rank 2k, one of each product. */
typedef struct tsl_structured_gemm {
  tsl_structured_cut cut;
  int products; /* that are added up in C */
  tsl_structured_room blocks, held;
  int64_t blocks_at, held_at; /* in elements of scratch memory, behind what children need */
  tsl_kernel *copy;
  tsl_subplan *children[STRUCTURED_PIECES_MOST];
  bool one_by_one[STRUCTURED_PIECES_MOST]; /* nothing takes the piece's products as a batch: its child takes
                                              one */
} tsl_structured_gemm;

/* work->state: the products in their order. */
typedef struct tsl_structured_state {
  int count;
  struct {
    tsl_problem problem;
    tsl_structured_gemm *own;
  } products[2];
} tsl_structured_state;

/* One product. */
tesela_status tsl_structured_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
