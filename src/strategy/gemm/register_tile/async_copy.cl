/* The way of one operand's panels to local memory by asynchronous copies, which no register waits for; for devices with
 * TSL_CAN_ASYNC_COPY. An operand is seen as lines (rows of A, columns of B) of numbers along k, and lies in local memory as
 * fetch.cl puts it; a panel is `extent` lines by `depths` numbers, copied by `items` items:
 *
 *   depth 0   | line 0 | line 1 | ...  | padding |
 *   depth 1   | line 0 | line 1 | ...  | padding |
 *
 * Where a line's numbers follow each other in memory (along_k), they are copied one by one, neighbouring numbers by neighbouring
 * items; so are they across the lines where vectors will not be aligned (`odd`), else as vectors. Numbers outside the matrix and
 * beyond k are zeros: edges need no path of their own. Numbers have four bytes.
 *
 * `along_k`, `odd`, `extent`, `depths` and `items` are constants wherever these are called. */
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
  TSL_INDEX pass;                  /* from vector to vector of this item, or from depth to depth of numbers */
  TSL_INDEX advance;               /* from panel to panel */
  int line, depth;                 /* of the first number in the panel */
  int reach;       /* lines from that one on that are inside, where those of the panel are not all */
  unsigned int to; /* its place in a panel, bytes */
  bool aligned;    /* vectors follow each other, and can be copied at once */
  bool plain;      /* whole panels can be copied without guards */
} tsl_async;

/* Vectors that run along k; lines, or depths, from vector to vector of an item; how many an item copies. */
#define TSL_ASYNC_ACROSS(along_k, extent, depths) (((along_k) ? (depths) : (extent)) / 4)
#define TSL_ASYNC_STRIDE(along_k, extent, depths, items) ((items) / TSL_ASYNC_ACROSS(along_k, extent, depths))
#define TSL_ASYNC_PASSES(extent, depths, items) ((extent) * (depths) / 4 / (items))

/* Lines and depths from an item's first number to number `e`, where it copies numbers. */
TSL_FUNCTION int tsl_async_lines_to(bool along_k, int extent, int depths, int items, int e) {
  return along_k ? e * (items / depths) : extent > items ? e % (extent / items) * items : 0;
}
TSL_FUNCTION int tsl_async_depths_to(bool along_k, int extent, int items, int e) {
  return along_k ? 0 : extent > items ? e / (extent / items) : e * (items / extent);
}

/* `item` of `items` that copy; the operand's element (line 0, depth 0) is at `from` + `offset`; the tile starts at line
 * `first_line` of `lines`, the panels at depth `first`, `advance` depths apart. */
TSL_FUNCTION void tsl_async_start(tsl_async *copy, bool along_k, bool odd, int extent, int depths, int items,
                                  int item, TSL_GLOBAL const TSL_REAL *from, TSL_INDEX offset,
                                  TSL_INDEX line_stride, TSL_INDEX depth_stride, TSL_INDEX first_line,
                                  TSL_INDEX lines, TSL_INDEX first, int advance) {
  const int across = TSL_ASYNC_ACROSS(along_k, extent, depths), stride = items / across;
  const int pitch = TSL_ASYNC_PITCH(along_k, extent);
  const bool singly = along_k || odd;
  copy->line = along_k ? item / depths : odd ? item % extent : item % across * 4;
  copy->depth = along_k ? item % depths : odd ? item / extent : item / across;
  copy->to = 4 * (copy->depth * pitch + copy->line);
  copy->step = line_stride;
  copy->pass = singly ? depth_stride : stride * depth_stride;
  copy->advance = advance * depth_stride;
  const TSL_INDEX behind = lines - first_line;
  copy->reach = (behind < extent ? (int)behind : extent) - copy->line;
  copy->aligned = line_stride == 1 && (offset | depth_stride) % 4 == 0;
  copy->plain = behind >= extent && (singly || copy->aligned);
  copy->from = from + offset + (first_line + copy->line) * line_stride + (first + copy->depth) * depth_stride;
}

/* Starts copying number by number: as tsl_async_copy(). */
TSL_FUNCTION void tsl_async_copy_numbers(const tsl_async *copy, bool along_k, int extent, int depths,
                                         int items, unsigned int panel, TSL_INDEX left, bool plain) {
  const int pitch = TSL_ASYNC_PITCH(along_k, extent), count = extent * depths / items;
  const int deep = (left < depths ? (int)left : depths) - copy->depth;
  TSL_UNROLL
  for (int e = 0; e < count; e++) {
    const int line = tsl_async_lines_to(along_k, extent, depths, items, e),
              depth = tsl_async_depths_to(along_k, extent, items, e);
    const unsigned int to = panel + copy->to + 4 * (depth * pitch + line);
    TSL_GLOBAL const char *from =
        (TSL_GLOBAL const char *)(copy->from + line * copy->step + depth * copy->pass);
    if (plain)
      tsl_ptx_copy_number(to, from);
    else
      tsl_ptx_copy_number_inside(to, from, line < copy->reach && depth < deep);
  }
}

/* Starts copying the next panel to `panel`, of which `left` numbers along k are inside; `plain`: all of it is, and
 * copy->plain. */
TSL_FUNCTION void tsl_async_copy(tsl_async *copy, bool along_k, bool odd, int extent, int depths, int items,
                                 unsigned int panel, TSL_INDEX left, bool plain) {
  const int stride = TSL_ASYNC_STRIDE(along_k, extent, depths, items);
  const int pitch = TSL_ASYNC_PITCH(along_k, extent);
  const int passes = along_k || odd ? 0 : TSL_ASYNC_PASSES(extent, depths, items);
  if (along_k || odd)
    tsl_async_copy_numbers(copy, along_k, extent, depths, items, panel, left, plain);
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    const unsigned int to = panel + copy->to + 4 * i * stride * pitch;
    TSL_GLOBAL const TSL_REAL *from = copy->from + i * copy->pass;
    const int along = (left < depths ? (int)left : depths) - copy->depth - i * stride;
    const int inside = copy->reach < 1 || along < 1 ? 0 : copy->reach > 4 ? 4 : copy->reach;
    if (plain || (copy->aligned && inside == 4)) {
      tsl_ptx_copy(to, (TSL_GLOBAL const char *)from);
    } else {
      TSL_UNROLL
      for (int e = 0; e < 4; e++) {
        if (e < inside)
          tsl_ptx_copy_number(to + 4 * e, (TSL_GLOBAL const char *)(from + e * copy->step));
        else
          tsl_ptx_put_zero(to + 4 * e);
      }
    }
  }
  copy->from += copy->advance;
}

#endif
