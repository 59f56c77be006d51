/* Device functions for messages between ranks (src/comm/gpu_transport.h). They offer addresses for a
 * vendor's library, copies and sums within a stream, polling of events, and pooled memory. */
#ifndef TSL_API_DEVICE_P2P_H
#define TSL_API_DEVICE_P2P_H

#include <stdbool.h>
#include <tesela/tesela.h>

enum { TSL_API_CARD_BYTES = 16 };

/* Describes a copy of byte rows from a buffer to a buffer of the same device, or within one buffer. The
 * ranges do not overlap. */
typedef struct tsl_api_rows {
  const tesela_buffer *from, *to; /* `to` is written, so its owner must allow writing */
  size_t from_offset, from_pitch, to_offset, to_pitch, rows, row_bytes;
} tsl_api_rows;

/* Opens a device and writes its PCI bus address to card. The device's addresses must be valid for its
 * vendor's library; TESELA_UNSUPPORTED if they are not. */
tesela_status tsl_api_card(tesela_context *context, const char *device, char card[TSL_API_CARD_BYTES]);
/* Returns true if the buffer and the stream are of one device of one context. */
bool tsl_api_is_of(const tesela_stream *stream, const tesela_buffer *buffer);
/* Makes the stream's device current for this thread's calls of the vendor's library. Call
 * tsl_api_leave() afterwards. */
tesela_status tsl_api_enter(const tesela_stream *stream);
/* Restores the current device of the vendor's library. */
void tsl_api_leave(const tesela_stream *stream);
/* Enqueues a copy of rows on the stream. */
tesela_status tsl_api_copy_rows(tesela_stream *stream, const tsl_api_rows *rows);
/* Describes to = alpha from + beta to on rows x cols f32 numbers, rounded to `type`: f32 or a type of
 * two bytes. Both buffers are on one device. Offsets and strides are in elements. */
typedef struct tsl_api_rounding {
  const tesela_buffer *from, *to; /* `to` is written */
  tesela_type type;
  double alpha, beta;
  int64_t rows, cols;
  int64_t from_offset, from_row_stride, from_col_stride, to_offset, to_row_stride, to_col_stride;
} tsl_api_rounding;
/* Returns true if the stream's device can scale and round to this type. */
bool tsl_api_rounds(const tesela_stream *stream, tesela_type type);
/* Enqueues the scaling and rounding on the stream. */
tesela_status tsl_api_round(tesela_stream *stream, const tsl_api_rounding *rounding);
/* Describes to[i] += from[i] within one buffer, for f32, f64, c64 or c128. Sums have the bits of the
 * cpu's. Positions are in elements. */
typedef struct tsl_api_adding {
  /* written, so its owner must allow writing */
  const tesela_buffer *buffer;
  tesela_type type;
  int64_t to, from, count;
} tsl_api_adding;
/* Returns true if the stream's device can add numbers of this type. */
bool tsl_api_adds(const tesela_stream *stream, tesela_type type);
/* Enqueues the additions on the stream. */
tesela_status tsl_api_add(tesela_stream *stream, const tsl_api_adding *adding);

/* Takes a buffer from the device's memory pool (device/memory_pool.h). It fails as
 * tesela_buffer_create() does. */
tesela_status tsl_api_buffer_take(tesela_context *context, const char *device, size_t bytes,
                                  tesela_buffer **buffer);
/* Returns a buffer to the pool, or frees it if is_kept is false, as after failed work. No work that
 * uses the buffer may be pending. NULL is allowed. */
void tsl_api_buffer_give(tesela_buffer *buffer, bool is_kept);

/* Writes true if a recorded event has been reached. A device that cannot tell waits for it. Returns
 * failures of work before the event. */
tesela_status tsl_api_event_done(tesela_event *event, bool *done);

#endif
