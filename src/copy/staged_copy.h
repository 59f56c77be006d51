/* Staged copies of parts of an operand through pinned memory. A part is a range of elements of some lines of
 * the packed copy (copy/transfer.h). Its chunks fit a slot of the device's staging (device/staging.h).
 * Threads copy or gather between caller and slot, the device between slot and buffer. */
#ifndef TSL_STRATEGY_STAGED_COPY_H
#define TSL_STRATEGY_STAGED_COPY_H

#include "copy/transfer.h"
#include "core/pool.h"
#include "device/staging.h"

typedef struct tsl_copy_part {
  int64_t row, rows, col, cols; /* first row and number of rows; first column and number of columns */
} tsl_copy_part;

/* Operand in host memory, and its packed copy on the device. */
typedef struct tsl_transfer_path {
  const tsl_shape *shape;
  const tsl_transfer *transfer;
  unsigned char *host; /* element (0, 0) in the caller's memory; copies to the device only read it */
  tsl_buffer *buffer;  /* holds the packed copy */
} tsl_transfer_path;

typedef struct tsl_stager {
  tsl_staging *staging;
  tsl_team team; /* threads that copy between caller and slot */
  /* copy to the host that advances between chunks to the device (the link is full duplex); NULL: none */
  struct tsl_overlapped_readback *readback;
} tsl_stager;

/* Chunk of a part: a range of lines, and a range of elements of each line. */
typedef struct tsl_line_chunk {
  int64_t line, lines, first, length; /* first line, number of lines; first element, number of elements */
} tsl_line_chunk;
typedef struct tsl_line_chunk_iterator {
  tsl_line_chunk part, next; /* range to cut; begin of the next chunk, with the size of a whole chunk */
} tsl_line_chunk_iterator;

/* Begins to cut a part into chunks of at most `max_bytes` bytes, but at least one element, each. */
tsl_line_chunk_iterator tsl_staged_copy_begin(const tsl_transfer_path *path, const tsl_copy_part *part,
                                              size_t max_bytes);
/* Gets the next chunk; false past the last. */
bool tsl_staged_copy_next(tsl_line_chunk_iterator *chunks, tsl_line_chunk *chunk);

/* Copies a part to the device; on return host memory may change. Copies are enqueued on staging->in. */
tesela_status tsl_staged_copy_to_device(const tsl_stager *stager, const tsl_transfer_path *path,
                                        const tsl_copy_part *part);
typedef struct tsl_pending_readback {
  tsl_copy_part part;
  tsl_event *ready; /* event after which the part may be copied to the host; NULL: at once */
} tsl_pending_readback;
typedef struct tsl_copy_result {
  bool wrote_host;   /* some of the caller's memory was written */
  double last_ready; /* tsl_clock() when the last part was ready; 0 if not timed */
} tsl_copy_result;

/* Copies `count` parts to the host in order. Returns when all are in the caller's memory. On failure
 * landed->wrote_host tells whether some of it was written. */
tesela_status tsl_staged_copy_to_host(const tsl_stager *stager, const tsl_transfer_path *path,
                                      const tsl_pending_readback *parts, int count, bool is_timed,
                                      tsl_copy_result *landed);

/* Copy to the host that runs during copies to the device (tsl_stager). Zero: none. */
typedef struct tsl_overlapped_readback {
  const tsl_stager *stager;
  tsl_transfer_path path;
  tsl_line_chunk_iterator sent, landed; /* next chunk that the device sends; that the threads copy out */
  int slots[TSL_STAGING_SLOTS],         /* ring of slots in flight */
      first, in_flight;                 /* index of the oldest slot; number of slots in flight */
  bool has_more;                        /* more chunks are to be sent */
  bool wrote_host;                      /* some of the caller's memory was written */
} tsl_overlapped_readback;

/* Starts the copy of a part to the host after its event. */
tesela_status tsl_overlapped_readback_begin(tsl_overlapped_readback *out, const tsl_stager *stager,
                                            const tsl_transfer_path *path, const tsl_pending_readback *part);
/* Waits until all of the part is in the caller's memory. */
tesela_status tsl_overlapped_readback_finish(tsl_overlapped_readback *out);

/* Touches the pages of an operand that will be written, so that the system maps them with all threads. */
void tsl_transfer_path_map_pages(const tsl_stager *stager, const tsl_transfer_path *path);

#endif
