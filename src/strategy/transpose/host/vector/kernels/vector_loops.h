/* Blocks of a transpose: tiles, edges, copies. Included for each size of an element, as vector_tile.h.
 *
 *              j0    band     j1               `to` is written in bands of columns, `from` is read along its
 *        i0  +---+--------+---+              rows: a step takes one cache line from each row of the band, and
 *            |   | step   |   |  LINE rows   prefetches lines of later steps.
 *            |   | step   |   |              Incomplete vectors and edges: a step goes to a buffer, and from
 *            |   |  |     |   |              there row by row; to memory line by line, with non-temporal
 *        i1  +---+--v-----+---+              stores. */

#include "strategy/transpose/host/vector/kernels/vector_tile.h"

enum {
  NAME(line) = 64 / SIZE,
  /* bytes of a row of the band */
  NAME(band_bytes) = SIZE <= 2 ? 256 : 512,
  NAME(band) = NAME(band_bytes) / SIZE,
  /* rows of the buffer have room for a line before them, and are not a power of two apart */
  NAME(buffer_stride) = 64 + NAME(band_bytes)
};

static inline void NAME(move_element)(const unsigned char *from, unsigned char *dst, double factor) {
#ifdef REAL
  *(REAL *)(void *)dst = *(const REAL *)(const void *)from * (REAL)factor;
#else
  (void)factor;
  memcpy(dst, from, SIZE);
#endif
}

/* Transposes `rows` x `columns` of `dst`, at most a line by a tile, to memory with room for a whole tile. */
static void NAME(partial_line)(const tsl_moves *job, const unsigned char *from, unsigned char *dst,
                               int64_t to_stride, int64_t rows, int64_t columns) {
  for (int64_t at = 0; at < rows * SIZE; at += VECTOR_BYTES) {
    const int64_t left = rows * SIZE - at;
    const NAME(extent) extent = {columns, left < VECTOR_BYTES ? left : VECTOR_BYTES};
    NAME(tile)
    (from + at, job->from_stride, dst + at / SIZE * to_stride, to_stride, job->factor, false, false, 0,
     &extent);
  }
}

/* Transposes a step: a line of elements of `from`, which are rows of `dst`, by `columns`, whose last tile may
 * be partial. Prefetches `distance` bytes ahead in `from`. */
static inline __attribute__((always_inline)) void NAME(step)(const tsl_moves *job, const unsigned char *from,
                                                             unsigned char *dst, int64_t to_stride,
                                                             int64_t columns, int64_t distance,
                                                             bool is_line) {
  const int64_t stride = job->from_stride;
  for (int64_t j = 0; j < columns; j += NAME(tile_rows), from += NAME(tile_rows) * stride)
    for (int part = 0; part < 64; part += VECTOR_BYTES)
      NAME(tile)
  (from + part, stride, dst + part / SIZE * to_stride + j * SIZE, to_stride, job->factor, is_line, part == 0,
   distance, NULL);
}

typedef struct NAME(row_kind) {
  bool is_first, is_last; /* band of the block */
  bool is_packed;         /* all rows of `to` are contiguous, and so are consecutive steps */
} NAME(row_kind);

/* Stores a row of the buffer with non-temporal stores of whole lines. `tail` passes the remainder of a band
 * to the next band, so only the ends of a row are partial lines. */
static inline void NAME(store_row_nontemporal)(unsigned char *from, unsigned char *dst, int64_t bytes,
                                               NAME(row_kind) kind, unsigned char tail[64]) {
  int64_t at = -(int64_t)((uintptr_t)dst % 64);
  if (at < 0 && kind.is_first) {
    at = at + 64 < bytes ? at + 64 : bytes;
    memcpy(dst, from, (size_t)at);
  } else if (at < 0) {
    memcpy(from - 64, tail, 64);
  }
  for (; at + 64 <= bytes; at += 64)
    for (int part = 0; part < 64; part += VECTOR_BYTES)
      store_nontemporal_bytes(dst + at + part, load_bytes(from + at + part));
  if (kind.is_last)
    memcpy(dst + at, from + at, (size_t)(bytes - at));
  else if (at < bytes)
    memcpy(tail, from + bytes - 64, 64);
}

/* Removes the gaps between rows of the buffer; a row has `bytes` bytes. */
static inline void NAME(pack)(unsigned char *first, int64_t rows, int64_t bytes) {
  for (int64_t i = 1; i < rows; i++)
    for (int64_t at = 0; at < bytes; at += VECTOR_BYTES)
      store_bytes(first + i * bytes + at, load_bytes(first + i * NAME(buffer_stride) + at));
}

/* Transposes a step of any size through a buffer; its first row is row `row` of the block. Short contiguous
 * rows of `dst` are one row of the step. */
static void NAME(buffered_step)(const tsl_moves *job, const unsigned char *from, unsigned char *dst,
                                int64_t rows, int64_t columns, int64_t distance, NAME(row_kind) kind,
                                unsigned char (*tails)[64], int64_t row) {
  enum { STRIDE = NAME(buffer_stride) };
  _Alignas(64) unsigned char buffer[NAME(line) * STRIDE + 64];
  unsigned char *first = buffer + 64;
  const int64_t whole = rows == NAME(line) ? columns / NAME(tile_rows) * NAME(tile_rows) : 0;
  int64_t bytes = columns * SIZE;
  NAME(step)(job, from, first, STRIDE, whole, distance, false);
  for (int64_t j = whole; j < columns; j += NAME(tile_rows)) {
    const int64_t left = columns - j;
    NAME(partial_line)
    (job, from + j * job->from_stride, first + j * SIZE, STRIDE, rows,
     left < NAME(tile_rows) ? left : NAME(tile_rows));
  }
  if (kind.is_packed) {
    NAME(pack)(first, rows, bytes);
    bytes *= rows;
    rows = 1;
    row = 0;
  }
  for (int64_t i = 0; i < rows; i++)
    if (job->nontemporal)
      NAME(store_row_nontemporal)(first + i * STRIDE, dst + i * job->to_stride, bytes, kind, tails[row + i]);
    else
      memcpy(dst + i * job->to_stride, first + i * STRIDE, (size_t)bytes);
}

/* Returns the elements up to the next multiple of `bytes` bytes, counted from a multiple of 64; at most
 * `max_elements`. Unaligned elements are counted from the start. */
static inline int64_t NAME(elements_until)(const unsigned char *src, int64_t bytes, int64_t max_elements) {
  const int64_t past = (int64_t)((uintptr_t)src % 64), count = (bytes - (past % SIZE ? 0 : past)) / SIZE;
  return count < max_elements ? count : max_elements;
}

/* Transposes a block. Bands end where the first row of `to` reaches a cache line, steps where that of `from`
 * does. So no line is visited twice where all rows are equally aligned. */
static void NAME(transpose_block)(const tsl_moves *job, const tsl_moves_block *block,
                                  unsigned char (*tails)[64]) {
  /* prefetch distance: about 256 lines in flight or in use, which cover memory latency, and fit a
   * second-level cache even if rows share sets */
  enum { LINES = 256 / NAME(band), DISTANCE = 64 * (LINES < 4 ? LINES : 4) };
  const int64_t row_bytes = block->j1 * SIZE;
  const bool packed = block->j0 == 0 && row_bytes <= NAME(band_bytes) && job->to_stride == row_bytes;
  int64_t columns, rows;
  for (int64_t j = block->j0; j < block->j1; j += columns) {
    const unsigned char *start = job->from + j * job->from_stride;
    columns = packed ? block->j1
                     : NAME(elements_until)(job->to + block->i0 * job->to_stride + j * SIZE, NAME(band_bytes),
                                            block->j1 - j);
    for (int64_t i = block->i0; i < block->i1; i += rows) {
      const unsigned char *from = start + i * SIZE;
      unsigned char *to = job->to + i * job->to_stride + j * SIZE;
      rows = NAME(elements_until)(from, 64, block->i1 - i);
      const bool turns = (block->i1 - i) * SIZE <= DISTANCE, ends = j + columns == block->j1;
      const int64_t distance = !turns ? DISTANCE
                               : ends ? 0
                                      : columns * job->from_stride + (block->i0 - i) * SIZE;
      const NAME(row_kind) kind = packed ? (NAME(row_kind)){i == block->i0, i + rows == block->i1, true}
                                         : (NAME(row_kind)){j == block->j0, ends, false};
      const bool tiled = rows == NAME(line) && columns % NAME(tile_rows) == 0;
      if (tiled && !job->nontemporal)
        NAME(step)(job, from, to, job->to_stride, columns, distance, false);
      else if (tiled && VECTOR_BYTES == 64 && ((uintptr_t)to | (uint64_t)job->to_stride) % 64 == 0)
        NAME(step)(job, from, to, job->to_stride, columns, distance, true);
      else
        NAME(buffered_step)(job, from, to, rows, columns, distance, kind, tails, i - block->i0);
    }
  }
  if (job->nontemporal)
    fence();
}

static void NAME(gather)(const tsl_moves *job, const tsl_moves_block *block) {
  for (int64_t i = block->i0; i < block->i1; i++)
    for (int64_t j = block->j0; j < block->j1; j++)
      NAME(move_element)
  (job->from + j * job->from_stride + i * job->from_step, job->to + i * job->to_stride + j * job->to_step,
   job->factor);
}

static inline void NAME(exchange_elements)(unsigned char *a, unsigned char *b, double factor) {
  _Alignas(16) unsigned char kept[SIZE], other[SIZE];
  memcpy(kept, a, SIZE);
  memcpy(other, b, SIZE);
  NAME(move_element)(other, a, factor);
  NAME(move_element)(kept, b, factor);
}

static void NAME(exchange_elementwise)(const tsl_moves *job, const tsl_moves_block *block,
                                       const tsl_moves_block *next) {
  const bool on_diagonal = block->i0 == block->j0;
  (void)next;
  for (int64_t i = block->i0; i < block->i1; i++) {
    unsigned char *own = job->to + i * (job->to_stride + job->to_step);
    if (on_diagonal)
      NAME(move_element)(own, own, job->factor);
    for (int64_t j = on_diagonal ? i + 1 : block->j0; j < block->j1; j++)
      NAME(exchange_elements)
    (job->to + i * job->to_stride + j * job->to_step, job->to + j * job->to_stride + i * job->to_step,
     job->factor);
  }
}

/* Exchanges two mirrored tiles of whole lines, or transposes one on the diagonal. */
static inline void NAME(exchange_tiles)(const tsl_moves *job, int64_t i, int64_t j) {
  _Alignas(64) unsigned char buffer[NAME(line) * 64];
  const int64_t stride = job->to_stride;
  unsigned char *upper = job->to + i * stride + j * SIZE, *lower = job->to + j * stride + i * SIZE;
  NAME(step)(job, upper, buffer, 64, NAME(line), 0, false);
  if (i != j)
    NAME(step)(job, lower, upper, stride, NAME(line), 0, false);
  for (int k = 0; k < NAME(line); k++)
    memcpy(lower + k * stride, buffer + (ptrdiff_t)k * 64, 64);
}

static inline void NAME(prefetch_for_write)(const tsl_moves *job, int64_t i, int64_t j, int64_t rows) {
  for (int64_t row = i; row < i + rows; row++)
    __builtin_prefetch(job->to + row * job->to_stride + j * SIZE, 1, 2);
}

static void NAME(exchange)(const tsl_moves *job, const tsl_moves_block *block, const tsl_moves_block *next) {
  for (int64_t i = block->i0; i < block->i1; i += NAME(line))
    for (int64_t j = block->i0 == block->j0 ? i : block->j0; j < block->j1; j += NAME(line)) {
      if (next) {
        const int64_t next_i = next->i0 + i - block->i0, next_j = next->j0 + j - block->j0;
        NAME(prefetch_for_write)(job, next_i, next_j, NAME(line));
        NAME(prefetch_for_write)(job, next_j, next_i, NAME(line));
      }
      if (i + NAME(line) <= block->i1 && j + NAME(line) <= block->j1) {
        NAME(exchange_tiles)(job, i, j);
      } else {
        const tsl_moves_block part = {i, i + NAME(line) < block->i1 ? i + NAME(line) : block->i1, j,
                                      j + NAME(line) < block->j1 ? j + NAME(line) : block->j1};
        NAME(exchange_elementwise)(job, &part, NULL);
      }
    }
}

static void NAME(copy)(const tsl_moves *job, const unsigned char *from, unsigned char *dst, int64_t count) {
  const int64_t bytes = count * SIZE, past = (int64_t)((uintptr_t)dst % 64), before = past ? 64 - past : 0;
  const bool nontemporal = job->nontemporal && past % SIZE == 0;
  int64_t at = 0;
  for (; nontemporal && at < before && at < bytes; at += SIZE)
    NAME(move_element)(from + at, dst + at, job->factor);
  for (; nontemporal && at + 64 <= bytes; at += 64)
    for (int part = 0; part < 64; part += VECTOR_BYTES)
      store_nontemporal_bytes(dst + at + part, NAME(scaled)(load_bytes(from + at + part), job->factor));
  for (; at + VECTOR_BYTES <= bytes; at += VECTOR_BYTES)
    store_bytes(dst + at, NAME(scaled)(load_bytes(from + at), job->factor));
  for (; at < bytes; at += SIZE)
    NAME(move_element)(from + at, dst + at, job->factor);
  if (nontemporal)
    fence();
}

#undef KEEP
#undef NO_UNROLL
