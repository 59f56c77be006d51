/* Device functions for messages between ranks (src/comm/gpu_transport.h). */
#ifndef TSL_API_DEVICE_P2P_H
#define TSL_API_DEVICE_P2P_H

#include <stdbool.h>
#include <tesela/tesela.h>

enum { TSL_API_CARD_BYTES = 16 };

/* Copy of `rows` rows between buffers of one device; other sizes in bytes. The ranges do not overlap. */
typedef struct tsl_api_rows {
  const tesela_buffer *from, *to; /* `to` is written, so its owner must allow writing */
  size_t from_offset, from_pitch, to_offset, to_pitch, rows, row_bytes;
} tsl_api_rows;

/* Writes a device's PCI bus address; TESELA_UNSUPPORTED if no vendor's library can use its addresses. */
tesela_status tsl_api_card(tesela_context *context, const char *device, char card[TSL_API_CARD_BYTES]);
/* Returns true if the buffer and the stream are of one device of one context. */
bool tsl_api_is_of(const tesela_stream *stream, const tesela_buffer *buffer);
/* Makes the stream's device current for this thread's calls of the vendor's library. */
tesela_status tsl_api_enter(const tesela_stream *stream);
/* Undoes tsl_api_enter(). */
void tsl_api_leave(const tesela_stream *stream);
/* Enqueues a copy on the stream. */
tesela_status tsl_api_copy_rows(tesela_stream *stream, const tsl_api_rows *rows);
/* to = alpha from + beta to for rows x cols f32 numbers, rounded to `type`: f32 or a type of two bytes.
 * Buffers are on one device; offsets and strides are in elements. */
typedef struct tsl_api_rounded_sum {
  const tesela_buffer *from, *to; /* `to` is written */
  tesela_type type;
  double alpha, beta;
  int64_t rows, cols;
  int64_t from_offset, from_row_stride, from_col_stride, to_offset, to_row_stride, to_col_stride;
} tsl_api_rounded_sum;
/* Returns true if the stream's device can scale and round to this type. */
bool tsl_api_rounds(const tesela_stream *stream, tesela_type type);
/* Enqueues the scaling and rounding. */
tesela_status tsl_api_round(tesela_stream *stream, const tsl_api_rounded_sum *rounding);
/* to[i] += from[i] in one buffer, for f32, f64, c64 or c128, with the cpu's bits; in elements. */
typedef struct tsl_api_adding {
  const tesela_buffer *buffer; /* written */
  tesela_type type;
  int64_t to, from, count;
} tsl_api_adding;
/* Returns true if the stream's device can add numbers of this type. */
bool tsl_api_adds(const tesela_stream *stream, tesela_type type);
/* Enqueues the additions. */
tesela_status tsl_api_add(tesela_stream *stream, const tsl_api_adding *adding);

/* Takes a buffer from the device's memory pool; fails as tesela_buffer_create() does. */
tesela_status tsl_api_buffer_take(tesela_context *context, const char *device, size_t bytes,
                                  tesela_buffer **buffer);
/* Returns an idle buffer to the pool; frees it if is_kept is false, as after failed work. NULL is allowed. */
void tsl_api_buffer_give(tesela_buffer *buffer, bool is_kept);

/* Writes true if a recorded event is reached, waiting if the device cannot tell. Returns earlier failures. */
tesela_status tsl_api_event_done(tesela_event *event, bool *done);

#endif
