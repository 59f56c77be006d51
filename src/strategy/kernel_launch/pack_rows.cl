/* Packs an operand into rows that start at multiples of 16 bytes. Each item gathers a chunk of 16 bytes of a
 * row. The end of a row's last chunk is zero.
 *
 *   from: element (row, i) at row * row_stride + i * step         to: | row 0, padded | row 1, padded | ...
 *
 * Neighbouring items handle consecutive chunks of a row. Where rows are closer than elements, they handle one
 * chunk of consecutive rows. So reads are contiguous. Bytes with contiguous rows (row_stride 1) are
 * transposed four rows at a time, if aligned to four:
 *
 *   read: 4 bytes of rows r to r + 3, at each of 16 elements        written: 16 bytes to each of 4 rows
 *
 * 4-byte numbers with contiguous rows are transposed in local memory, so that writes are contiguous, too:
 *
 *   read: SIDE rows of one element after the other             written: rows of SIDE elements
 *
 * Dimension 1 of the grid loops over the products of a batch. SIZE: bytes of an element, 1, 2 or 4. */
#include "ptx.h"

#include "pack_rows_shared.h"

#define CHUNK (16 / SIZE)
#if SIZE == 1
#define PACK_ELEMENT unsigned char
#elif SIZE == 2
#define PACK_ELEMENT unsigned short
#else
#define PACK_ELEMENT unsigned int
#endif
#define PACK_ITEMS 256

TSL_FUNCTION TSL_VECTOR(int, 4) chunk_of(const unsigned int *words) {
  TSL_VECTOR(int, 4) chunk;
  TSL_LANE(chunk, 0) = (int)words[0];
  TSL_LANE(chunk, 1) = (int)words[1];
  TSL_LANE(chunk, 2) = (int)words[2];
  TSL_LANE(chunk, 3) = (int)words[3];
  return chunk;
}

#if SIZE == 1
/* Transposes 4 x 4 bytes: four words of four rows each become one word of each row, `apart` words apart. */
TSL_FUNCTION void transpose_bytes(const unsigned int *from, unsigned int *dst, int apart) {
  const unsigned int low_a = tsl_ptx_pick_bytes(from[0], from[1], 0x5140),
                     high_a = tsl_ptx_pick_bytes(from[0], from[1], 0x7362),
                     low_b = tsl_ptx_pick_bytes(from[2], from[3], 0x5140),
                     high_b = tsl_ptx_pick_bytes(from[2], from[3], 0x7362);
  dst[0] = tsl_ptx_pick_bytes(low_a, low_b, 0x5410);
  dst[apart] = tsl_ptx_pick_bytes(low_a, low_b, 0x7632);
  dst[2 * apart] = tsl_ptx_pick_bytes(high_a, high_b, 0x5410);
  dst[3 * apart] = tsl_ptx_pick_bytes(high_a, high_b, 0x7632);
}

/* Transposes a block of 128 rows by 128 bytes, so that whole rows are written. Permuted chunks avoid
 * conflicts. */
#define BLOCK 128
TSL_FUNCTION int place_of(int row, int chunk) {
  return row * BLOCK + (chunk ^ row / 4 % 8) * 16;
}
TSL_FUNCTION void turn_block(TSL_LOCAL_POINTER char *block, TSL_GLOBAL const PACK_ELEMENT *TSL_RESTRICT from,
                             TSL_GLOBAL char *TSL_RESTRICT dst, TSL_INDEX row, TSL_INDEX first,
                             const tsl_pack_rows_arguments args) {
  const int own_row = TSL_ITEM(0) % 32 * 4, own_chunk = TSL_ITEM(0) / 32;
  const TSL_INDEX own_first = first + own_chunk * CHUNK,
                  left = row + own_row < args.rows ? args.elements - own_first : 0;
  TSL_GLOBAL const unsigned int *at =
      (TSL_GLOBAL const unsigned int *)(from + (args.offset + row + own_row + own_first * args.step));
  unsigned int words[16], transposed[16];
  TSL_UNROLL
  for (int e = 0; e < 16; e++)
    words[e] = e < left ? at[e * (args.step / 4)] : 0;
  TSL_UNROLL
  for (int w = 0; w < 4; w++)
    transpose_bytes(words + 4 * w, transposed + w, 4);
  TSL_BARRIER(); /* the previous block has been written */
  TSL_UNROLL
  for (int r = 0; r < 4; r++)
    TSL_LOCAL_STORE(int, 4, (TSL_LOCAL_POINTER int *)(block + place_of(own_row + r, own_chunk)),
                    chunk_of(transposed + 4 * r));
  TSL_BARRIER();
  TSL_UNROLL
  for (int i = 0; i < 4; i++) {
    const int line = i * 32 + TSL_ITEM(0) / 8, chunk = TSL_ITEM(0) % 8;
    if (row + line < args.rows && first + chunk * CHUNK < args.elements)
      TSL_STORE_WHOLE(int, 4,
                      (TSL_GLOBAL int *)(dst + (args.to + (row + line) * args.pitch + first + chunk * CHUNK)),
                      TSL_LOCAL_LOAD(int, 4, (TSL_LOCAL_POINTER int *)(block + place_of(line, chunk))));
  }
}
#endif

#if SIZE == 4
/* Transposes a block of SIDE x SIDE 4-byte elements. A padding word a row avoids bank conflicts. */
#define SIDE 64
TSL_FUNCTION void turn_numbers(TSL_LOCAL_POINTER unsigned int *block,
                               TSL_GLOBAL const unsigned int *TSL_RESTRICT from,
                               TSL_GLOBAL char *TSL_RESTRICT dst, TSL_INDEX row, TSL_INDEX first,
                               const tsl_pack_rows_arguments args) {
  const int own_row = TSL_ITEM(0) % SIDE, own_chunk = TSL_ITEM(0) % (SIDE / CHUNK);
  unsigned int words[SIDE * SIDE / PACK_ITEMS];
  TSL_UNROLL
  for (int i = 0; i < SIDE * SIDE / PACK_ITEMS; i++) {
    const TSL_INDEX element = first + TSL_ITEM(0) / SIDE + i * (PACK_ITEMS / SIDE);
    words[i] = row + own_row < args.rows && element < args.elements
                   ? from[args.offset + row + own_row + element * args.step]
                   : 0;
  }
  TSL_BARRIER(); /* the previous block has been written */
  TSL_UNROLL
  for (int i = 0; i < SIDE * SIDE / PACK_ITEMS; i++)
    block[own_row * (SIDE + 1) + TSL_ITEM(0) / SIDE + i * (PACK_ITEMS / SIDE)] = words[i];
  TSL_BARRIER();
  TSL_UNROLL
  for (int i = 0; i < SIDE * SIDE / CHUNK / PACK_ITEMS; i++) {
    const int line = TSL_ITEM(0) / (SIDE / CHUNK) + i * (PACK_ITEMS / (SIDE / CHUNK));
    unsigned int chunk[4];
    TSL_UNROLL
    for (int w = 0; w < 4; w++)
      chunk[w] = block[line * (SIDE + 1) + own_chunk * CHUNK + w];
    if (row + line < args.rows && first + own_chunk * CHUNK < args.elements)
      TSL_STORE_WHOLE(int, 4,
                      (TSL_GLOBAL int *)(dst + (args.to + (row + line) * args.pitch +
                                                (first + own_chunk * CHUNK) * SIZE)),
                      chunk_of(chunk));
  }
}
#endif

#if SIZE == 1
#define TURNED char
#define TURNED_MOST (BLOCK * BLOCK)
#elif SIZE == 4
#define TURNED unsigned int
#define TURNED_MOST (SIDE * (SIDE + 1))
#else
#define TURNED char
#define TURNED_MOST 1 /* unused */
#endif

TSL_FUNCTION void pack(TSL_LOCAL_POINTER TURNED *block, TSL_GLOBAL const PACK_ELEMENT *TSL_RESTRICT from,
                       TSL_GLOBAL char *TSL_RESTRICT dst, const tsl_pack_rows_arguments args) {
#if SIZE == 1
  if (args.row_stride == 1 && args.rows % 4 == 0 && args.offset % 4 == 0 && args.step % 4 == 0) {
    const TSL_INDEX down = (args.rows + BLOCK - 1) / BLOCK,
                    count_blocks = down * ((args.elements + BLOCK - 1) / BLOCK);
    for (TSL_INDEX i = TSL_GROUP(0); i < count_blocks; i += TSL_GROUPS(0))
      turn_block(block, from, dst, i % down * BLOCK, i / down * BLOCK, args);
    return;
  }
#endif
#if SIZE == 4
  if (args.row_stride == 1) {
    const TSL_INDEX down = (args.rows + SIDE - 1) / SIDE,
                    count_blocks = down * ((args.elements + SIDE - 1) / SIDE);
    for (TSL_INDEX i = TSL_GROUP(0); i < count_blocks; i += TSL_GROUPS(0))
      turn_numbers(block, from, dst, i % down * SIDE, i / down * SIDE, args);
    return;
  }
#endif
  const TSL_INDEX chunks = (args.elements + CHUNK - 1) / CHUNK, count = chunks * args.rows;
  const TSL_INDEX row_far = args.row_stride < 0 ? -args.row_stride : args.row_stride,
                  step_far = args.step < 0 ? -args.step : args.step;
  const TSL_INDEX all = (TSL_INDEX)TSL_GROUPS(0) * PACK_ITEMS;
  for (TSL_INDEX i = (TSL_INDEX)TSL_GROUP(0) * PACK_ITEMS + TSL_ITEM(0); i < count; i += all) {
    const bool by_rows = row_far < step_far;
    const TSL_INDEX row = by_rows ? i % args.rows : i / chunks, chunk = by_rows ? i / args.rows : i % chunks;
    const TSL_INDEX first = chunk * CHUNK;
    TSL_GLOBAL const PACK_ELEMENT *at = from + (args.offset + row * args.row_stride + first * args.step);
    unsigned int words[4];
    TSL_UNROLL
    for (int w = 0; w < 4; w++) {
      words[w] = 0;
      TSL_UNROLL
      for (int e = 0; e < CHUNK / 4; e++) {
        const int place = w * (CHUNK / 4) + e;
        if (first + place < args.elements)
          words[w] |= (unsigned int)at[place * args.step] << (8 * SIZE * e);
      }
    }
    TSL_STORE_WHOLE(int, 4, (TSL_GLOBAL int *)(dst + (args.to + row * args.pitch + first * SIZE)),
                    chunk_of(words));
  }
}

TSL_KERNEL(PACK_ITEMS, 1, 1)
tsl_pack_rows(TSL_GLOBAL const PACK_ELEMENT *TSL_RESTRICT from, TSL_GLOBAL char *TSL_RESTRICT dst,
              const tsl_pack_rows_arguments args) {
  TSL_LOCAL TURNED block[TURNED_MOST];
  for (TSL_INDEX product = TSL_GROUP(1); product < args.products; product += TSL_GROUPS(1)) {
    tsl_pack_rows_arguments own = args;
    own.offset += product * args.apart;
    own.to += product * args.packed;
    pack(block, from, dst, own);
  }
}
