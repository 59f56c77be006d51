/* Asynchronous copies of an operand's panels to local memory, which bypass registers (TSL_CAN_ASYNC_COPY). An
 * operand is a set of lines (rows of A, columns of B) along k, in the layout of fetch.cl. A panel is `extent`
 * lines by `depths` k, copied by `items` items.
 *
 * Where a line is contiguous along k (along_k), elements are copied one by one, adjacent elements by adjacent
 * items. Across lines, elements are copied one by one if vectors are not aligned (`odd`), else as vectors.
 * Elements outside of the matrix become zeros. Elements have four bytes.
 *
 * `along_k`, `odd`, `extent`, `depths` and `items` are compile-time constants in all calls. */
#ifndef TSL_GEMM_REGISTER_TILE_ASYNC_COPY
#define TSL_GEMM_REGISTER_TILE_ASYNC_COPY

#include "lanes.h"
#include "ptx.h"

/* Elements between depths. Concurrent writes of adjacent items go to different banks. */
#define TSL_ASYNC_PITCH(along_k, extent) ((extent) + ((along_k) ? 4 : 0))

typedef struct tsl_async {
  TSL_GLOBAL const TSL_REAL *from; /* first element of its first vector of the next panel */
  TSL_INDEX step;                  /* stride between elements of a vector */
  TSL_INDEX pass;                  /* between an item's vectors, or between depths of single elements */
  TSL_INDEX advance;               /* stride between panels */
  int line, depth;                 /* of the first element in the panel */
  int reach;                       /* lines from `line` on that are inside of the matrix */
  unsigned int to;                 /* byte offset in a panel */
  bool aligned;                    /* vectors are contiguous and aligned: copied at once */
  bool plain;                      /* whole panels need no guards */
} tsl_async;

/* ACROSS: vectors along a depth (along_k: depths of a vector group). STRIDE: lines or depths between an
 * item's vectors. PASSES: vectors of an item. */
#define TSL_ASYNC_ACROSS(along_k, extent, depths) (((along_k) ? (depths) : (extent)) / 4)
#define TSL_ASYNC_STRIDE(along_k, extent, depths, items) ((items) / TSL_ASYNC_ACROSS(along_k, extent, depths))
#define TSL_ASYNC_PASSES(extent, depths, items) ((extent) * (depths) / 4 / (items))

/* Returns the lines from an item's first element to element `e`, where it copies single elements. */
TSL_FUNCTION int tsl_async_lines_to(bool along_k, int extent, int depths, int items, int e) {
  return along_k ? e * (items / depths) : extent > items ? e % (extent / items) * items : 0;
}
TSL_FUNCTION int tsl_async_depths_to(bool along_k, int extent, int items, int e) {
  return along_k ? 0 : extent > items ? e / (extent / items) : e * (items / extent);
}

/* Initialises the state of item `item` of `items`. Element (line 0, depth 0) is at `from` + `offset`. The
 * tile starts at line `first_line` of `lines`; panels start at depth `first`, `advance` depths apart. */
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

/* Starts copying the next panel to `panel`. `left`: k left from its start. `plain`: whole, no guards. */
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
          tsl_ptx_store_zero_word(to + 4 * e);
      }
    }
  }
  copy->from += copy->advance;
}

#endif
