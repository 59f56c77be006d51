/* The way of one operand's panels to local memory by asynchronous copies, which no register waits for; for devices with
 * TSL_CAN_ASYNC_COPY. An operand is seen as lines (rows of A, columns of B) of numbers along k, and lies in local memory as
 * fetch.cl puts it; a panel is `extent` lines by `depths` numbers, copied by `items` items:
 *
 *   depth 0   | line 0 | line 1 | ...  | padding |
 *   depth 1   | line 0 | line 1 | ...  | padding |
 *
 * Where a line's numbers follow each other in memory (along_k), they are copied one by one, else as vectors across the
 * lines. Numbers outside the matrix and beyond k are zeros: edges need no path of their own. Numbers have four bytes.
 *
 * `along_k`, `extent`, `depths` and `items` are constants wherever these are called. */
#ifndef TSL_GEMM_REGISTER_TILE_ASYNC_COPY
#define TSL_GEMM_REGISTER_TILE_ASYNC_COPY

#include "lanes.h"
#include "ptx.h"

/* From depth to depth; what neighbouring items write at once falls into different banks. */
#define TSL_ASYNC_PITCH(along_k, extent) ((extent) + ((along_k) ? 4 : 0))

/* One operand as an item sees it. */
typedef struct tsl_async {
  TSL_GLOBAL const TSL_REAL *from; /* the first number of its first vector of the next panel */
  TSL_INDEX step;                  /* between numbers of a vector */
  TSL_INDEX pass;                  /* from vector to vector of this item */
  TSL_INDEX advance;               /* from panel to panel */
  TSL_INDEX lines;                 /* from the tile's first one on */
  int line, depth;                 /* of the first number in the panel */
  unsigned int to;                 /* its place in a panel, bytes */
  bool aligned;                    /* vectors follow each other, and can be copied at once */
  bool plain;                      /* whole panels can be copied without guards */
} tsl_async;

/* Vectors that run along k; lines, or depths, from vector to vector of an item; how many an item copies. */
#define TSL_ASYNC_ACROSS(along_k, extent, depths) (((along_k) ? (depths) : (extent)) / 4)
#define TSL_ASYNC_STRIDE(along_k, extent, depths, items) ((items) / TSL_ASYNC_ACROSS(along_k, extent, depths))
#define TSL_ASYNC_PASSES(extent, depths, items) ((extent) * (depths) / 4 / (items))

/* `item` of `items` that copy; the operand's element (line 0, depth 0) is at `from` + `offset`; the tile starts at line
 * `first_line` of `lines`, the panels at depth `first`, `advance` depths apart. */
TSL_FUNCTION void tsl_async_start(tsl_async *copy, bool along_k, int extent, int depths, int items, int item,
                                  TSL_GLOBAL const TSL_REAL *from, TSL_INDEX offset, TSL_INDEX line_stride,
                                  TSL_INDEX depth_stride, TSL_INDEX first_line, TSL_INDEX lines,
                                  TSL_INDEX first, int advance) {
  const int across = TSL_ASYNC_ACROSS(along_k, extent, depths), stride = items / across;
  const int pitch = TSL_ASYNC_PITCH(along_k, extent);
  copy->line = along_k ? item / across : item % across * 4;
  copy->depth = along_k ? item % across * 4 : item / across;
  copy->to = 4 * (copy->depth * pitch + copy->line);
  copy->step = along_k ? depth_stride : line_stride;
  copy->pass = stride * (along_k ? line_stride : depth_stride);
  copy->advance = advance * depth_stride;
  copy->lines = lines - first_line;
  copy->aligned = copy->step == 1 && (offset | (along_k ? line_stride : depth_stride)) % 4 == 0;
  copy->plain = copy->lines >= extent && (along_k ? copy->step == 1 : copy->aligned);
  copy->from = from + offset + (first_line + copy->line) * line_stride + (first + copy->depth) * depth_stride;
}

/* Starts copying the next panel to `panel`, of which `left` numbers along k are inside; `plain`: all of it is, and
 * copy->plain. */
TSL_FUNCTION void tsl_async_copy(tsl_async *copy, bool along_k, int extent, int depths, int items,
                                 unsigned int panel, TSL_INDEX left, bool plain) {
  const int stride = TSL_ASYNC_STRIDE(along_k, extent, depths, items);
  const int pitch = TSL_ASYNC_PITCH(along_k, extent);
  const int passes = TSL_ASYNC_PASSES(extent, depths, items);
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    const unsigned int to = panel + copy->to + 4 * i * stride * (along_k ? 1 : pitch);
    TSL_GLOBAL const TSL_REAL *from = copy->from + i * copy->pass;
    const TSL_INDEX across = copy->lines - copy->line - (along_k ? i * stride : 0);
    const TSL_INDEX along = left - copy->depth - (along_k ? 0 : i * stride);
    const TSL_INDEX most = across < 1 || along < 1 ? 0 : along_k ? along : across;
    const int inside = most > 4 ? 4 : (int)most;
    if ((plain || (copy->aligned && inside == 4)) && !along_k) {
      tsl_ptx_copy(to, (TSL_GLOBAL const char *)from);
    } else {
      TSL_UNROLL
      for (int e = 0; e < 4; e++) {
        const unsigned int at = to + 4 * e * (along_k ? pitch : 1);
        if (plain)
          tsl_ptx_copy_number(at, (TSL_GLOBAL const char *)(from + e));
        else if (e < inside)
          tsl_ptx_copy_number(at, (TSL_GLOBAL const char *)(from + e * copy->step));
        else
          tsl_ptx_put_zero(at);
      }
    }
  }
  copy->from += copy->advance;
}

#endif
