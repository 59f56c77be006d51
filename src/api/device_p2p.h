/* What messages between the devices of ranks (src/comm/gpu_transport.h) need of a device beside the public
 * calls: whether a library of its vendor can send from its memory, calls of that library, copies and sums
 * within a stream, marks that are asked about, and memory that is kept. */
#ifndef TSL_API_DEVICE_P2P_H
#define TSL_API_DEVICE_P2P_H

#include <stdbool.h>
#include <tesela/tesela.h>

enum { TSL_API_CARD_BYTES = 16 };

/* Rows of bytes, copied from a buffer to another one of the same device, or within one; they do not overlap.
 */
typedef struct tsl_api_rows {
  const tesela_buffer *from, *to; /* `to` is written, and its owner's to be written */
  size_t from_offset, from_pitch, to_offset, to_pitch, rows, row_bytes;
} tsl_api_rows;

/* Opens a device whose memory has addresses that a library of its vendor knows, and says where it is on the
 * PCI bus. TESELA_UNSUPPORTED where it is none. */
tesela_status tsl_api_card(tesela_context *context, const char *device, char card[TSL_API_CARD_BYTES]);
/* Whether the buffer is of the stream's device, and of the same context. */
bool tsl_api_is_of(const tesela_stream *stream, const tesela_buffer *buffer);
/* Makes the stream's device the one that this thread's calls of the vendor's library go to, until
 * tsl_api_leave(). */
tesela_status tsl_api_enter(const tesela_stream *stream);
void tsl_api_leave(const tesela_stream *stream);
/* Copies in order of the stream. */
tesela_status tsl_api_copy_rows(tesela_stream *stream, const tsl_api_rows *rows);
/* to = alpha from + beta to: numbers of f32, scaled and rounded to f32 or a type of two bytes: rows x cols,
 * from one buffer to another one of the same device. In elements. */
typedef struct tsl_api_rounding {
  const tesela_buffer *from, *to; /* as of tsl_api_rows */
  tesela_type type;
  double alpha, beta;
  int64_t rows, cols;
  int64_t from_offset, from_row_stride, from_col_stride, to_offset, to_row_stride, to_col_stride;
} tsl_api_rounding;
/* Whether the stream's device can do that; and has it done, in order of the stream. */
bool tsl_api_rounds(const tesela_stream *stream, tesela_type type);
tesela_status tsl_api_round(tesela_stream *stream, const tsl_api_rounding *rounding);
/* Sums of f32, f64, c64 or c128, one array added to another in a buffer: to[i] += from[i], as the processor
 * adds them. In elements. */
typedef struct tsl_api_adding {
  const tesela_buffer *buffer; /* as `to` of tsl_api_rows */
  tesela_type type;
  int64_t to, from, count;
} tsl_api_adding;
/* Whether the stream's device can do that; and has it done, in order of the stream. */
bool tsl_api_adds(const tesela_stream *stream, tesela_type type);
tesela_status tsl_api_add(tesela_stream *stream, const tsl_api_adding *adding);

/* A buffer of memory that the device keeps from one call to the next (device/memory_pool.h), for who gives it
 * back: no work that uses it is pending then. Where work has failed, memory is not kept. Fails as
 * tesela_buffer_create() does; NULL may be given. */
tesela_status tsl_api_buffer_take(tesela_context *context, const char *device, size_t bytes,
                                  tesela_buffer **buffer);
void tsl_api_buffer_give(tesela_buffer *buffer, bool is_kept);

/* Whether a mark that was recorded has come; where the device cannot tell, waits for it. What failed before
 * it is told. */
tesela_status tsl_api_event_done(tesela_event *event, bool *done);

#endif
