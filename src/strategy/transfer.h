/* How an operand travels between the caller's memory and a packed copy on a device. Where its elements lie in
 * runs, a copy of rows with a pitch takes them as they are; else they are gathered: straight into the
 * device's buffer where host and device share memory (mapped for writing, unmapped; back the same way, mapped
 * for reading), through a block of host memory elsewhere. Either way only elements move: what lies between
 * them in the caller's memory is neither read nor written. */
#ifndef TSL_STRATEGY_TRANSFER_H
#define TSL_STRATEGY_TRANSFER_H

#include "device/device.h"
#include "strategy/problem.h"

typedef struct tsl_transfer {
  tsl_shape packed;                   /* the copy: the same rows and columns, dense, element (0, 0) first */
  size_t bytes;                       /* of the copy */
  bool gathered;                      /* element by element */
  size_t rows, row_bytes, host_pitch; /* of the copy of rows, when not gathered */
} tsl_transfer;

/* False when the packed copy would pass the address space (repeated rows, as with stride 0). */
bool tsl_transfer_plan(const tsl_shape *shape, tsl_transfer *out);

/* Has what lies beside a result's triangle left as it is: elements go one by one. */
void tsl_transfer_keep_rest(tsl_transfer *transfer);

/* What is stored of a matrix's line `index`, which is a row or a column: all, or from the diagonal on, or up
 * to it. */
void tsl_transfer_stored(const tsl_shape *shape, bool row_major, int64_t index, int64_t *first,
                         int64_t *count);

/* Whether the transfer goes through a block of `bytes` bytes on the host. */
bool tsl_transfer_needs_block(const tsl_transfer *transfer, const tsl_device *device);

/* Operands of one shape: so many, and elements of host memory from one to the next, of any sign. Their copies
 * lie one after the other. */
typedef struct tsl_panel_series {
  int64_t count, step;
} tsl_panel_series;

/* Between the caller's element (0, 0), of the first one, and a buffer. `block` is used where it is needed,
 * and holds one copy. write() of the device copies before it returns, and read() is complete on return. */
tesela_status tsl_transfer_in(const tsl_shape *shape, const tsl_transfer *transfer, tsl_panel_series series,
                              const void *host, tsl_buffer *buffer, tsl_stream *stream, void *block);
tesela_status tsl_transfer_out(const tsl_shape *shape, const tsl_transfer *transfer, tsl_panel_series series,
                               void *host, tsl_buffer *buffer, tsl_stream *stream, void *block);

#endif
