/* Transfer of an operand between the caller's memory and a packed copy on a device. Contiguous rows are
 * copied with a pitch. Others are gathered: directly into the mapped buffer where host and device share
 * memory, else through a block of host memory. Gaps are neither read nor written. */
#ifndef TSL_STRATEGY_TRANSFER_H
#define TSL_STRATEGY_TRANSFER_H

#include "device/device.h"
#include "problem/problem.h"

typedef struct tsl_transfer {
  /* shape of the copy: equal rows and columns, dense, element (0, 0) first */
  tsl_shape packed;
  size_t bytes;                       /* of the packed copy */
  bool gathered;                      /* element by element */
  size_t rows, row_bytes, host_pitch; /* pitched copy if not gathered; host_pitch: bytes from row to row */
} tsl_transfer;

/* Plans a transfer. Returns false if the packed copy exceeds the address space (stride 0 repeats rows). */
bool tsl_transfer_plan(const tsl_shape *shape, tsl_transfer *out);

/* Makes the transfer preserve the elements outside of C's triangle: elements are copied one by one. */
void tsl_transfer_preserve_other_triangle(tsl_transfer *transfer);

/* Gets the stored range of line `index` (a row or a column): all, or from the diagonal on, or up to it. */
void tsl_transfer_stored_range(const tsl_shape *shape, bool row_major, int64_t index, int64_t *first,
                               int64_t *count);

/* Returns true if the transfer needs a block of `transfer->bytes` bytes of host memory. */
bool tsl_transfer_needs_block(const tsl_transfer *transfer, const tsl_device *device);

typedef struct tsl_operand_series {
  int64_t count, step; /* number of equal operands; elements from one to the next in host memory, any sign */
} tsl_operand_series;

/* Copies from element (0, 0) of the first operand to a buffer. `block`, if needed, holds one copy of an
 * operand. Host memory may change on return. */
tesela_status tsl_transfer_in(const tsl_shape *shape, const tsl_transfer *transfer, tsl_operand_series series,
                              const void *host, tsl_buffer *buffer, tsl_stream *stream, void *block);
/* Copies from the buffer to the caller's memory. Complete on return. */
tesela_status tsl_transfer_out(const tsl_shape *shape, const tsl_transfer *transfer,
                               tsl_operand_series series, void *host, tsl_buffer *buffer, tsl_stream *stream,
                               void *block);

#endif
