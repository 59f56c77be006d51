/* A product, or a transpose, of files that are larger than memory, all of them: by blocks of C, which are
 * read for ahead and written behind, and of which a journal is kept. block_size.h says how large they are.
 *
 *   block_plan.c      sizes, plans, what an earlier run left
 *   block_journal.c   what a journal says of inputs, and whether it is true still
 *   block_prefetch.c     a thread that reads pieces of A and B, and blocks of C0, for steps to come
 *   block_run.c       multiplies, step by step
 *   block_writeback.c    a thread that compares blocks of C, writes them and notes them
 *   block_expect.c    compares them with the expected file's */
#ifndef TSL_TOOL_PRODUCT_BLOCKS_H
#define TSL_TOOL_PRODUCT_BLOCKS_H

#include "io/resumable_npy.h"
#include "product/block_size.h"
#include "product/plan_choice.h"
#include "product/product.h"

/* A plan of blocks that are alike. */
typedef struct tsl_block_plan {
  int64_t rows, cols, depth;
  bool adds; /* to what earlier parts of k made */
  tesela_plan *plan;
} tsl_block_plan;

struct tsl_blocks {
  tsl_block_size size;
  int64_t down, across, count;
  bool can_cut;       /* k */
  bool is_doubled;    /* the device computes in the host's memory, on copies of its own */
  tesela_plan *whole; /* of all at once, which no memory is taken for: what blocks are to be like; NULL: there
                         is none */
  tesela_plan *some;  /* where there is none: of a part that any device takes */
  tsl_plan_choice like;
  tsl_block_plan *plans;
  int64_t plan_count;
  tsl_part *part;                     /* NULL: nothing is written */
  char *was_done;                     /* a byte for each block: whether an earlier run made it */
  int64_t resumed;                    /* blocks of these */
  double computed;                    /* multiply-adds, or elements, by this run */
  double read_bytes, written_bytes;   /* of files, by this run */
  double read_seconds, write_seconds; /* that the threads took for it, waits for each other left out */
  double compare_seconds;
};

/* One part of k of one block. */
typedef struct tsl_block_step {
  int64_t block;          /* its number in the file: along C's rows */
  int64_t ordinal;        /* which block of this run it is */
  tsl_rectangle c;        /* where the block is */
  int64_t at, depth;      /* of k */
  bool is_first, is_last; /* part of the block */
} tsl_block_step;

/* Whether the work can go by blocks; and whether it should: --resume asks for it, or the files are such that
 * blocks can be read, and larger than memory. */
bool tsl_blocks_can(const tsl_product *product);
bool tsl_blocks_wanted(const tsl_product *product);
/* TESELA_BAD_CALL: --resume of work that does not go by blocks, with the reason. */
tesela_status tsl_blocks_refuse(const tsl_product *product);
/* Whether what a step finds in C is kept beside it, for the judge or to find it again. */
bool tsl_blocks_keep_c(const tsl_product *product);
/* Chooses sizes and plans; sees what an earlier run left, and takes room for the output. */
tesela_status tsl_blocks_plan(tsl_product *product);
tesela_status tsl_blocks_run(tsl_product *product);
void tsl_blocks_free(tsl_blocks *blocks);

/* The first step of those that are to be done, or the one after *step; false at the end. Any thread. */
bool tsl_blocks_first(const tsl_product *product, tsl_block_step *step);
bool tsl_blocks_next(const tsl_product *product, tsl_block_step *step);
/* Where a block is, by its number in the file. */
tsl_rectangle tsl_blocks_at(const tsl_product *product, int64_t block);
/* Blocks that are to be done. */
int64_t tsl_blocks_left(const tsl_blocks *blocks);
/* The plan of a step; made where there is none yet. */
tesela_status tsl_blocks_plan_of(tsl_product *product, const tsl_block_step *step, tesela_plan **plan);

/* Pieces of A and B that a step needs: where they are in their files. */
tsl_rectangle tsl_blocks_piece_of_a(const tsl_product *product, const tsl_block_step *step);
tsl_rectangle tsl_blocks_piece_of_b(const tsl_product *product, const tsl_block_step *step);
/* How a piece lies in memory, in its file's order: elements from row to row and from column to column. */
void tsl_blocks_strides(const tsl_matrix_source *feed, const tsl_rectangle *piece, int64_t *row_stride,
                        int64_t *col_stride);

/* What an interrupt says once there is something to keep. */
extern const char tsl_blocks_kept[];
/* Lines for a journal: what the output is made of. */
tesela_status tsl_blocks_describe(const tsl_product *product, tsl_text *lines);
/* TESELA_BAD_INPUT where a journal's lines tell of something else. */
tesela_status tsl_blocks_check(const tsl_product *product, const tsl_part *part);
/* TESELA_BAD_INPUT where an input is not as it was when it was opened. */
tesela_status tsl_blocks_check_inputs(const tsl_product *product);

#endif
