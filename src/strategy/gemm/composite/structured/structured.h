#ifndef TSL_STRATEGY_GEMM_STRUCTURED_H
#define TSL_STRATEGY_GEMM_STRUCTURED_H

#include "problem/structure.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/subplans.h"

#include "strategy/gemm/composite/structured/structured_shared.h"

enum { STRUCTURED_BLOCK };

/* Levels of a triangle of 2^62 rows; each level, and the diagonal, have a second batch for the rest. */
enum { STRUCTURED_LEVELS_MAX = 62, STRUCTURED_BATCHES_MAX = 2 * STRUCTURED_LEVELS_MAX + 2 };

enum { STRUCTURED_BLOCK_MIN = 128, STRUCTURED_BLOCK_MIN_OF_PROCESSORS = 512 }; /* minimum rows of a block */

/* Batch of equal general products along the diagonal of the structured operand; often of one product. */
typedef struct tsl_structured_batch {
  int64_t row, rows, col, cols, first, depth; /* rectangle of C; first term and terms */
  int64_t count, distance; /* products; rows of the structured operand from one product to the next */
  bool on_diagonal;        /* its structured part is a block of the diagonal, in scratch memory */
  bool adds;               /* adds to the results of earlier batches in C */
} tsl_structured_batch;

/* Batches in the order of execution. A value without pointers. */
typedef struct tsl_structured_cut {
  int64_t size;  /* rows of the structured operand */
  int64_t block; /* rows of a diagonal block; the last one may be smaller */
  int count, levels;
  tsl_structured_batch batches[STRUCTURED_BATCHES_MAX];
} tsl_structured_cut;

/* Computes the cut into blocks of `block` rows; 0: the rows that are expected to be fastest. */
void tsl_structured_cut_of(const tsl_problem *problem, int64_t block, const tsl_device *device,
                           tsl_structured_cut *cut);
/* Computes the cut into blocks of `block` rows, which must not be 0. */
void tsl_structured_cut_by(const tsl_problem *problem, int64_t block, tsl_structured_cut *cut);
/* Returns the maximum number of batches that are added up in an element of C. */
int64_t tsl_structured_addends(const tsl_problem *problem, int64_t block);
/* Returns true if the product reads A and B: k and alpha are not 0. */
bool tsl_structured_reads(const tsl_problem *problem);
/* Directions in which the products of a batch advance: rows of C, columns of C, terms. */
typedef struct tsl_structured_moves {
  bool row, col, term;
} tsl_structured_moves;
tsl_structured_moves tsl_structured_moves_of(const tsl_problem *problem);
/* Returns the problem of a batch: general matrices with the strides of the operands or of scratch memory. */
tsl_problem tsl_structured_part(const tsl_problem *problem, const tsl_structured_cut *cut,
                                const tsl_structured_batch *batch);

/* Matrix blocks in scratch memory, one after the other. */
typedef struct tsl_structured_scratch {
  int64_t row_stride, col_stride, step, elements; /* step: elements from block to block; elements: of all */
} tsl_structured_scratch;
/* Returns the memory of the diagonal blocks. */
tsl_structured_scratch tsl_structured_diagonal_blocks(const tsl_problem *problem,
                                                      const tsl_structured_cut *cut);
/* Returns the memory of a copy of C for a product in place. */
tsl_structured_scratch tsl_structured_c_copy(const tsl_problem *problem);

/* Returns the expected seconds of the batches and copies; infinity if no strategy computes a batch. */
double tsl_structured_seconds(const tsl_problem *problem, const tsl_structured_cut *cut,
                              const tsl_device *device, tsl_all_strategies *list);
/* Returns the number of copy launches; *elements gets the elements read and written. */
int tsl_structured_copies(const tsl_problem *problem, const tsl_structured_cut *cut, double *elements);

/* State of one product; a rank-2k update has two. */
typedef struct tsl_structured_gemm {
  tsl_structured_cut cut;
  int products;                          /* number of products that are added up in C */
  tsl_structured_scratch blocks, c_copy; /* diagonal blocks; copy of C for a product in place */
  int64_t blocks_offset, c_copy_offset;  /* in scratch memory, in elements, after the children's workspace */
  tsl_kernel *copy;
  tsl_subplan *children[STRUCTURED_BATCHES_MAX];
  bool one_by_one[STRUCTURED_BATCHES_MAX]; /* no strategy computes the batch in one run */
} tsl_structured_gemm;

typedef struct tsl_structured_state { /* work->state: products in order */
  int count;
  struct {
    tsl_problem problem;
    tsl_structured_gemm *own;
  } products[2];
} tsl_structured_state;

tesela_status tsl_structured_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
