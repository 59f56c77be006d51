/* Factors as kernels copy panels of them: rows of dense elements that start at multiples of 16 bytes; and
 * packing them where they lie otherwise (strategy/pack_rows.cl). */
#ifndef TSL_STRATEGY_PACK_ROWS_H
#define TSL_STRATEGY_PACK_ROWS_H

#include "strategy/launch.h"

/* A factor's rows: how many, elements in each, and bytes from one to the next once packed. */
typedef struct tsl_rows {
  int64_t rows, elements, pitch;
} tsl_rows;
/* Of `lines` rows of A (columns of B), which lie side by side where `across`, and else along k; `element` is
 * in bytes. */
tsl_rows tsl_rows_of(int64_t lines, int64_t k, bool across, int element);
/* Bytes of scratch memory for the packed rows, a multiple of 128. */
int64_t tsl_rows_bytes(const tsl_rows *rows);

/* A factor on its way to a kernel. */
typedef struct tsl_rows_place {
  tsl_buffer *buffer;
  int64_t offset, row_stride,
      step;      /* elements: to the first; from row to row; from one to the next in a row */
  int64_t apart; /* of a batch: elements from a product's rows to the next's; 0: all have the same */
} tsl_rows_place;

/* Finds the kernel that packs elements of 1, 2 or 4 bytes. Of build(). */
tesela_status tsl_pack_rows_kernel(tsl_work *work, int element, tsl_kernel **kernel);
/* Packs a factor to byte `end` of scratch memory, and says in `place` that it lies there; of a batch of
 * `products` those of all, each tsl_rows_bytes() after the one before, or the one that they share. Enqueued.
 */
tesela_status tsl_pack_rows(const tsl_work *work, tsl_kernel *kernel, const tsl_rows *rows, int element,
                            int64_t products, tsl_buffer *scratch, int64_t end, tsl_stream *stream,
                            tsl_rows_place *place);

#endif
