/* The state that the three threads of a run by blocks share: progress, pieces in memory, the first
 * failure. */
#ifndef TSL_TOOL_PRODUCT_BLOCK_WORK_H
#define TSL_TOOL_PRODUCT_BLOCK_WORK_H

#include "core/status.h"
#include "product/blocks.h"

#include <pthread.h>

enum { TSL_BLOCK_SLOTS = 2 };

/* A piece of A or B in memory. */
typedef struct tsl_block_slot {
  void *data;
  bool is_filled;
  tsl_rectangle piece; /* the rectangle of the file that the slot holds */
  int64_t last_step;   /* the number of the last step, of all steps already read for, that uses the piece */
} tsl_block_slot;

/* The memory and state that --expect needs. */
typedef struct tsl_block_comparing {
  void *expected; /* a strip of the expected file */
  int64_t strip;  /* the largest number of elements in a strip */
  tsl_open_list open;
  void *pieces; /* pieces of A and B */
  size_t piece_bytes;
  int64_t blocks; /* blocks compared so far */
} tsl_block_comparing;

typedef struct tsl_block_work {
  tsl_product *product;
  tsl_block_slot a[TSL_BLOCK_SLOTS], b[TSL_BLOCK_SLOTS];
  void *c[TSL_BLOCK_SLOTS]; /* two blocks of C; successive blocks take turns */
  void *before;             /* a block of C before a step changed it, for --verify and --repeat */
  tsl_block_comparing comparing;
  /* The pieces that a step reads, for each step that is read for but not computed. */
  struct {
    const void *a, *b;
  } pieces[TSL_BLOCK_SLOTS];

  pthread_mutex_t files; /* held while a file is read */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t read, computed;       /* numbers of steps */
  int64_t blocks_done, written; /* numbers of blocks: computed, and stored or skipped */
  bool ended;                   /* true after a failure, or when all is done: waiting threads return */
  tesela_status status;         /* the status of the first failure, with its message */
  tsl_status_saved sentence;
} tsl_block_work;

/* Waits until *count is at least `least`; returns false if all threads are to end. Only
 * tsl_block_advance() changes counts. */
bool tsl_block_await(tsl_block_work *work, const int64_t *count, int64_t least);
void tsl_block_advance(tsl_block_work *work, int64_t *count);
/* Ends all threads, also with TESELA_OK. The first failure keeps its status and the calling
 * thread's message. */
void tsl_block_end(tsl_block_work *work, tesela_status status);

/* Reads a block of a file and adds its size to the bytes read. Any thread may call it. */
tesela_status tsl_block_read(tsl_block_work *work, const tsl_matrix_source *feed, const tsl_rectangle *piece,
                             void *dst, int64_t row_stride, int64_t col_stride);

/* Returns the bytes that --expect takes in addition to the blocks; 0 if nothing is compared. */
uint64_t tsl_block_expect_bytes(const tsl_product *product);
/* Returns the bytes that every run leaves free for --expect, because a resumed run with equal
 * blocks may compare. */
uint64_t tsl_block_expect_room(const tsl_product *product);
tesela_status tsl_block_expect_start(tsl_block_work *work);
void tsl_block_expect_end(tsl_block_work *work);
/* Compares a block, packed by rows, with the expected file; returns TESELA_WRONG_RESULT if they
 * differ. One thread at a time. */
tesela_status tsl_block_expect(tsl_block_work *work, const tsl_rectangle *block, const void *c);
/* Compares the blocks that an earlier run wrote, whether or not the earlier run compared them. */
tesela_status tsl_block_expect_resumed(tsl_block_work *work);

/* Bodies of the threads; `argument` is the tsl_block_work. */
void *tsl_block_read_ahead(void *argument);
void *tsl_block_write_behind(void *argument);

#endif
