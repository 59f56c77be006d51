/* Parts of an operand on their way through pinned memory. An operand's packed copy (strategy/transfer.h) is
 * lines of elements; a part of it is some lines, and of each the same elements. Parts travel in pieces that
 * fit a slot of the device's staging (device/staging.h): the threads of a team copy, or gather, between the
 * caller's memory and a slot, and the device between the slot and its buffer. */
#ifndef TSL_STRATEGY_STAGED_COPY_H
#define TSL_STRATEGY_STAGED_COPY_H

#include "base/pool.h"
#include "device/staging.h"
#include "strategy/transfer.h"

/* Rows and columns of an operand: from the first one, so many. */
typedef struct tsl_copy_chunk {
  int64_t row, rows, col, cols;
} tsl_copy_chunk;

/* An operand in host memory and its packed copy on the device. */
typedef struct tsl_transfer_path {
  const tsl_shape *shape;
  const tsl_transfer *transfer;
  unsigned char *host; /* element (0, 0); only read on the way in */
  tsl_buffer *buffer;
} tsl_transfer_path;

/* What copies: slots, and threads. */
typedef struct tsl_stager {
  tsl_staging *staging;
  tsl_team team;
  struct tsl_outgoing
      *beside; /* goes on between pieces that come in, as the link carries both ways at once; NULL: nothing */
} tsl_stager;

/* Pieces of a part, one after the other: lines, and the elements of each, from the first of either. */
typedef struct tsl_piece {
  int64_t line, lines, first, length;
} tsl_piece;
typedef struct tsl_piece_walk {
  tsl_piece part, next; /* lines and length of `next` are those of whole pieces */
} tsl_piece_walk;

/* The pieces of a part, of at most `most` bytes each; a row of one element at least. */
tsl_piece_walk tsl_staged_copy_begin(const tsl_transfer_path *way, const tsl_copy_chunk *part, size_t most);
/* The next one; false behind the last. */
bool tsl_staged_copy_next(tsl_piece_walk *pieces, tsl_piece *piece);

/* Brings a part in: on return the copies are enqueued on the staging's stream `in`, and the caller's memory
 * was read. */
tesela_status tsl_part_in(const tsl_stager *porter, const tsl_transfer_path *way, const tsl_copy_chunk *part);
/* A part that goes out once an event has come; NULL: it is there. */
typedef struct tsl_pending_readback {
  tsl_copy_chunk part;
  tsl_event *ready;
} tsl_pending_readback;
/* What came of it: whether anything of the caller's memory was written; and, where that was to be told, when
 * the last part was ready. */
typedef struct tsl_copy_result {
  bool any;
  double last_ready;
} tsl_copy_result;

/* Brings parts out, in their order, and returns when all of them are in the caller's memory. */
tesela_status tsl_parts_out(const tsl_stager *porter, const tsl_transfer_path *way,
                            const tsl_pending_readback *parts, int count, bool is_timed,
                            tsl_copy_result *landed);

/* A part on its way out beside others that come in (tsl_stager). Zero: there is none. */
typedef struct tsl_outgoing {
  const tsl_stager *porter;
  tsl_transfer_path way;
  tsl_piece_walk sent, landed; /* how far the device is, and the threads behind it */
  int slots[TSL_STAGING_SLOTS], first, under_way;
  bool is_any; /* there are more to be sent */
  bool any;    /* something of the caller's memory was written */
} tsl_outgoing;

/* Begins with a part that goes out once an event has come. */
tesela_status tsl_outgoing_begin(tsl_outgoing *out, const tsl_stager *porter, const tsl_transfer_path *way,
                                 const tsl_pending_readback *part);
/* Returns when all of it is in the caller's memory. */
tesela_status tsl_outgoing_finish(tsl_outgoing *out);

/* Has the pages of an operand that is about to be written provided by all threads. */
void tsl_transfer_path_provide(const tsl_stager *porter, const tsl_transfer_path *way);

#endif
