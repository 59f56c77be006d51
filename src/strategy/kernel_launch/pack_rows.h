/* Operands as rows of dense elements that start at multiples of 16 bytes, as kernels copy their panels;
 * kernel_launch/pack_rows.cl packs all others. */
#ifndef TSL_STRATEGY_PACK_ROWS_H
#define TSL_STRATEGY_PACK_ROWS_H

#include "strategy/kernel_launch/launch.h"

/* Number of rows, elements of a row, and bytes from row to row after packing. */
typedef struct tsl_rows {
  int64_t rows, elements, pitch;
} tsl_rows;
/* Returns the packed rows of an operand of `lines` rows of A (columns of B) and `element` bytes an element. A
 * row holds the k elements of a line, or with `across` the `lines` elements of one step of k. */
tsl_rows tsl_rows_of(int64_t lines, int64_t k, bool across, int element);
/* Returns the bytes of scratch memory for the packed rows, a multiple of 128. */
int64_t tsl_rows_bytes(const tsl_rows *rows);

/* Location of an operand for a kernel. */
typedef struct tsl_rows_place {
  tsl_buffer *buffer;
  int64_t offset, row_stride,
      step;      /* in elements: the first element, the stride of rows, the stride inside a row */
  int64_t apart; /* elements between the products of a batch; 0: all products share the operand */
} tsl_rows_place;

/* Gets the kernel that packs elements of 1, 2 or 4 bytes, in build(). The work owns it. */
tesela_status tsl_pack_rows_kernel(tsl_work *work, int element, tsl_kernel **kernel);
/* Enqueues the packing of the operand at `place` to byte `end` of scratch memory, and sets `place` to the
 * packed rows. In a batch, products are tsl_rows_bytes() apart; a shared operand is packed once. */
tesela_status tsl_pack_rows(const tsl_work *work, tsl_kernel *kernel, const tsl_rows *rows, int element,
                            int64_t products, tsl_buffer *scratch, int64_t end, tsl_stream *stream,
                            tsl_rows_place *place);

#endif
