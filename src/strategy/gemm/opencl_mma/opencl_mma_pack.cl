/* Puts an operand of opencl_mma into rows that start at multiples of 16 bytes: where it has gaps between its elements, or
 * rows that start elsewhere. Each item gathers a chunk of 16 bytes of a row; what a row's last chunk has too much is zeros.
 *
 *   from: element (row, i) at row * row_stride + i * step         to: | row 0, padded | row 1, padded | ...
 *
 * Neighbouring items take the chunks of a row one after the other, or, where rows lie nearer than elements, the same chunk
 * of rows one after the other, so that what they read lies together.
 *
 * Parameters: those of opencl_mma, none of which matters here; SIZE (bytes of an element, 1 or 2) from the host. */
#include "dialect.h"

#define CHUNK (16 / SIZE)
#if SIZE == 1
#define PACK_ELEMENT unsigned char
#else
#define PACK_ELEMENT unsigned short
#endif
#define PACK_ITEMS 256

/* opencl_mma.h has the same struct for the host. Strides count elements, `pitch` bytes. */
typedef struct opencl_mma_pack_arguments {
  TSL_INDEX rows, elements;
  TSL_INDEX offset, row_stride, step;
  TSL_INDEX to, pitch; /* bytes from the scratch memory's start, and between rows */
} opencl_mma_pack_arguments;

TSL_KERNEL(PACK_ITEMS, 1, 1)
tsl_gemm_opencl_mma_pack(TSL_GLOBAL const PACK_ELEMENT *TSL_RESTRICT from, TSL_GLOBAL char *TSL_RESTRICT to,
                         const opencl_mma_pack_arguments given) {
  const TSL_INDEX chunks = (given.elements + CHUNK - 1) / CHUNK, count = chunks * given.rows;
  const TSL_INDEX row_far = given.row_stride < 0 ? -given.row_stride : given.row_stride,
                  step_far = given.step < 0 ? -given.step : given.step;
  const TSL_INDEX all = (TSL_INDEX)TSL_GROUPS(0) * PACK_ITEMS;
  for (TSL_INDEX i = TSL_GLOBAL_ITEM(0); i < count; i += all) {
    const bool by_rows = row_far < step_far;
    const TSL_INDEX row = by_rows ? i % given.rows : i / chunks,
                    chunk = by_rows ? i / given.rows : i % chunks;
    const TSL_INDEX first = chunk * CHUNK;
    TSL_GLOBAL const PACK_ELEMENT *at = from + (given.offset + row * given.row_stride + first * given.step);
    unsigned int words[4];
    TSL_UNROLL
    for (int w = 0; w < 4; w++) {
      words[w] = 0;
      TSL_UNROLL
      for (int e = 0; e < CHUNK / 4; e++) {
        const int place = w * (CHUNK / 4) + e;
        if (first + place < given.elements)
          words[w] |= (unsigned int)at[place * given.step] << (8 * SIZE * e);
      }
    }
    TSL_VECTOR(int, 4) out;
    TSL_LANE(out, 0) = (int)words[0];
    TSL_LANE(out, 1) = (int)words[1];
    TSL_LANE(out, 2) = (int)words[2];
    TSL_LANE(out, 3) = (int)words[3];
    TSL_STORE_WHOLE(int, 4, (TSL_GLOBAL int *)(to + (given.to + row * given.pitch + first * SIZE)), out);
  }
}
