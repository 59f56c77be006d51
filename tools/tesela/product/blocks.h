/* Computes a product or a transpose of files that are larger than memory, block by block of C.
 * One thread reads ahead, one thread multiplies, one thread writes. A journal records the blocks that are
 * written.
 *
 *   block_size.c         sizes of the blocks
 *   block_plan.c         sizes, plans, and what an earlier run left
 *   block_journal.c      the journal's description of the inputs, and the check that it still holds
 *   block_prefetch.c     the thread that reads pieces of A and B, and blocks of C0, for later steps
 *   block_run.c          multiplies, step by step
 *   block_writeback.c    the thread that compares blocks of C, writes them and records them
 *   block_expect.c       compares blocks with the expected file */
#ifndef TSL_TOOL_PRODUCT_BLOCKS_H
#define TSL_TOOL_PRODUCT_BLOCKS_H

#include "io/resumable_npy.h"
#include "product/block_size.h"
#include "product/plan_choice.h"
#include "product/product.h"

/* A plan for blocks of equal size and depth. */
typedef struct tsl_block_plan {
  int64_t rows, cols, depth;
  bool adds; /* true: the result is added to the sum of the earlier parts of k */
  tesela_plan *plan;
} tsl_block_plan;

struct tsl_blocks {
  tsl_block_size size;
  int64_t down, across, count;
  bool can_cut;    /* k may be cut into parts */
  bool is_doubled; /* the device computes in host memory, but on copies of its own */
  /* the plan of the whole product, without memory; blocks choose alike; NULL: no strategy takes the
   * whole product */
  tesela_plan *whole;
  tesela_plan *some; /* where `whole` is NULL: the plan of a part that any device takes */
  tsl_plan_choice like;
  tsl_block_plan *plans;
  int64_t plan_count;
  /* the output file under way, with its journal; NULL: nothing is written */
  tsl_resumable *part;
  char *was_done;                   /* a byte for each block: 1 if an earlier run wrote the block */
  int64_t resumed;                  /* the number of blocks that an earlier run wrote */
  double computed;                  /* multiply-adds of this run (of a transpose: elements) */
  double read_bytes, written_bytes; /* bytes of files that this run read and wrote */
  /* seconds spent in reading and in writing, without the waits of the threads for each other */
  double read_seconds, write_seconds;
  double compare_seconds;
};

/* One part of k of one block of C. */
typedef struct tsl_block_step {
  int64_t block;          /* the block's number in the output, counted along the rows of C */
  int64_t ordinal;        /* the block's number among the blocks of this run, in the order of the work */
  tsl_rectangle c;        /* the block's rectangle of C */
  int64_t at, depth;      /* the first index of the part of k, and its length */
  bool is_first, is_last; /* the first and the last part of k of this block */
} tsl_block_step;

/* tsl_blocks_can() returns true if blocks are possible. tsl_blocks_wanted() returns true if blocks are also
 * wanted: --resume was given, or the files are larger than memory and can be read by blocks. */
bool tsl_blocks_can(const tsl_product *product);
bool tsl_blocks_wanted(const tsl_product *product);
/* Returns TESELA_BAD_CALL with the reason if --resume was given and blocks are not possible. */
tesela_status tsl_blocks_refuse(const tsl_product *product);
/* Returns true if a copy of C before each step is needed, to verify the step or to repeat it. */
bool tsl_blocks_keep_c(const tsl_product *product);
/* Chooses sizes and plans, reads the files of an earlier run, and reserves the output's disk space. */
tesela_status tsl_blocks_plan(tsl_product *product);
tesela_status tsl_blocks_run(tsl_product *product);
void tsl_blocks_free(tsl_blocks *blocks);

/* Set *step to the first step to be done, and to the step after *step; return false at the end. Any
 * thread may call them. */
bool tsl_blocks_first(const tsl_product *product, tsl_block_step *step);
bool tsl_blocks_next(const tsl_product *product, tsl_block_step *step);
/* Returns the rectangle of C of a block, by its number in the output. */
tsl_rectangle tsl_blocks_at(const tsl_product *product, int64_t block);
/* Returns the number of blocks still to be done when the run starts. */
int64_t tsl_blocks_left(const tsl_blocks *blocks);
/* Sets *plan to the plan of a step, which it makes at first use. The product owns the plan. */
tesela_status tsl_blocks_plan_of(tsl_product *product, const tsl_block_step *step, tesela_plan **plan);

/* Return the rectangles of A's and B's files that a step needs. */
tsl_rectangle tsl_blocks_piece_of_a(const tsl_product *product, const tsl_block_step *step);
tsl_rectangle tsl_blocks_piece_of_b(const tsl_product *product, const tsl_block_step *step);
/* Sets the distances, in elements, between rows and between columns of a piece in memory. The piece
 * keeps its file's order. */
void tsl_blocks_strides(const tsl_matrix_source *feed, const tsl_rectangle *piece, int64_t *row_stride,
                        int64_t *col_stride);

/* The message of an interrupt once finished blocks can be resumed. */
extern const char tsl_blocks_kept[];
/* Appends the journal's lines that describe the inputs and the computation. */
tesela_status tsl_blocks_describe(const tsl_product *product, tsl_text *lines);
/* Returns TESELA_BAD_INPUT if the journal's lines describe another computation. */
tesela_status tsl_blocks_check(const tsl_product *product, const tsl_resumable *part);
/* Returns TESELA_BAD_INPUT if an input file changed since it was opened. */
tesela_status tsl_blocks_check_inputs(const tsl_product *product);

#endif
