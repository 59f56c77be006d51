/* What the three threads of a run by blocks share: how far each is, what is in memory, and what went wrong
 * first. */
#ifndef TSL_TOOL_PRODUCT_BLOCK_WORK_H
#define TSL_TOOL_PRODUCT_BLOCK_WORK_H

#include "base/status.h"
#include "product/blocks.h"

#include <pthread.h>

enum { TSL_BLOCK_SLOTS = 2 };

/* A piece of A or B in memory. */
typedef struct tsl_block_slot {
  void *data;
  bool is_filled;
  tsl_rectangle piece; /* of the file */
  int64_t last_step;   /* that uses it, of those that are read for */
} tsl_block_slot;

/* What --expect needs. */
typedef struct tsl_block_comparing {
  void *expected; /* a strip of that file */
  int64_t strip;  /* elements of it, at most */
  tsl_open_list open;
  void *pieces; /* of A and B */
  size_t piece_bytes;
  int64_t blocks; /* that were compared */
} tsl_block_comparing;

typedef struct tsl_block_work {
  tsl_product *product;
  tsl_block_slot a[TSL_BLOCK_SLOTS], b[TSL_BLOCK_SLOTS];
  void *c[TSL_BLOCK_SLOTS]; /* block after block by turns */
  void *before;             /* a block of C as a step found it, for --verify and --repeat */
  tsl_block_comparing comparing;
  /* Where a step's pieces are; for so many steps that are read for and not done. */
  struct {
    const void *a, *b;
  } pieces[TSL_BLOCK_SLOTS];

  pthread_mutex_t files; /* held while one is read */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t read, computed;       /* steps */
  int64_t blocks_done, written; /* blocks: computed, and stored or passed over */
  bool ended;                   /* something went wrong, or all is done: who waits ends */
  tesela_status status;         /* the first failure's, and its sentence */
  tsl_status_saved sentence;
} tsl_block_work;

/* Waits until *count is at least `least`; false where all is to end instead. Counts are changed by
 * tsl_block_advance(). */
bool tsl_block_await(tsl_block_work *work, const int64_t *count, int64_t least);
void tsl_block_advance(tsl_block_work *work, int64_t *count);
/* Takes a failure of this thread, whose sentence is kept if it is the first. TESELA_OK ends all, too. */
void tsl_block_end(tsl_block_work *work, tesela_status status);

/* Reads a block of a file, which counts. Any thread. */
tesela_status tsl_block_read(tsl_block_work *work, const tsl_matrix_source *feed, const tsl_rectangle *piece,
                             void *dst, int64_t row_stride, int64_t col_stride);

/* --expect: memory that it needs beside blocks, 0 where nothing is compared; taking and freeing it. */
uint64_t tsl_block_expect_bytes(const tsl_product *product);
/* What is left free for that by any run, since one that goes on with the same blocks may compare. */
uint64_t tsl_block_expect_room(const tsl_product *product);
tesela_status tsl_block_expect_start(tsl_block_work *work);
void tsl_block_expect_end(tsl_block_work *work);
/* Compares a block, whose columns lie side by side: TESELA_WRONG_RESULT where it differs. One thread at a
 * time. */
tesela_status tsl_block_expect(tsl_block_work *work, const tsl_rectangle *block, const void *c);
/* The same of the blocks that an earlier run made, whatever that compared them with. */
tesela_status tsl_block_expect_resumed(tsl_block_work *work);

/* The threads: `argument` is the work. */
void *tsl_block_read_ahead(void *argument);
void *tsl_block_write_behind(void *argument);

#endif
