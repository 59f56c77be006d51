/* Step "global to local" of register_tile.cl by asynchronous copies (TSL_CAN_ASYNC_COPY). Beyond
 * global_to_local.cl, which has the layout of a panel: copies in flight need no registers, so that panels are
 * prefetched STAGES - 1 ahead. Each slice has its own panels, so that slices of one warp never wait for
 * others.
 *
 *   slice 0  | stage 0: A, B | stage 1: A, B | ...    copies fill the stages after the multiplied one;
 *   slice 1  | stage 0: A, B | ...                    the last depth of a panel waits for the next one
 *
 * Slice s multiplies the depths from s * SLICE_DEPTH on of a panel of TILE_K. With PART_SLICES it multiplies
 * a part of k of its own. Where a line is contiguous along k (along_k), elements are copied one by one,
 * adjacent elements by adjacent items; or as vectors along k, which stay vectors (k_vectors):
 *
 *   depths 0 to 3 | line 0 | line 4 | ... | padding | line 1 | line 5 | ... | padding | line 2 | ...
 *   depths 4 to 7 | line 0 | ...            adjacent items, four lines apart, load adjacent vectors
 *
 * Across lines, elements are copied one by one if vectors are not aligned (by_numbers), else as vectors.
 * Elements outside of the matrix become zeros; with SHORT, those beyond k are not copied. STAGES is 2 or
 * more; a slice is whole warps; numbers have four bytes.
 *
 * Complex elements are copied by numbers. A depth has a plane of real parts, then a plane of imaginary parts.
 * Vectors of one part let most multiply-adds read one even and one odd register. Pairs of parts make half of
 * them read two of the same kind (docs/lab/register_tile.md). */
#include "ptx.h"

#define PANEL_A (SLICE_DEPTH * PITCH_A) /* numbers of a slice's panel */
#define STAGE (PANEL_A + SLICE_DEPTH * PITCH_B)
#define PANELS (SLICES * STAGES * STAGE)
#define SLICE_START(slice) (PART_SLICES ? 0 : (slice)*SLICE_DEPTH) /* first depth in a panel */

#define BUFFERS 2 /* of private operands: the next depth's are loaded before the multiply-adds */
/* Depth before which all copies of a panel are issued: each further start costs three instructions. */
#define COPY_DEPTH 2
/* True if panels without guards have a loop of their own. It pays for these micro-tiles. In the code of
 * others the assembler moves more multiply-adds, so that fewer share a register. */
#define HAS_PLAIN_LOOP (PLANES == 2 ? SLICES == 1 && MICRO_N == 4 : MICRO_M * MICRO_N <= 64)

/* Compile-time constants of an operand's panels. */
typedef struct panel_shape {
  bool along_k, by_numbers, k_vectors;
  int extent; /* elements of a depth */
  int pitch;  /* numbers between depths in local memory */
  int plane;  /* numbers between planes */
} panel_shape;

TSL_FUNCTION panel_shape shape_of_a(void) {
  const panel_shape shape = {
      A_ALONG_K,   PLANES == 2 || (A_ODD && (TILE_M % PLACES == 0 || PLACES % TILE_M == 0)),
      A_K_VECTORS, TILE_M,
      PITCH_A,     PLANE_A};
  return shape;
}
TSL_FUNCTION panel_shape shape_of_b(void) {
  const panel_shape shape = {
      B_ALONG_K,   PLANES == 2 || (B_ODD && (TILE_N % PLACES == 0 || PLACES % TILE_N == 0)),
      B_K_VECTORS, TILE_N,
      PITCH_B,     PLANE_B};
  return shape;
}

#define K_QUADS (SLICE_DEPTH / 4)           /* vectors along k of a line */
#define LINE_NUMBERS (SLICE_DEPTH * PLANES) /* numbers of a line */

/* Largest power of two up to x, which is at most 256; largest power of two that divides x. */
#define FLOOR_POWER(x)                                                                                       \
  ((x) >= 256   ? 256                                                                                        \
   : (x) >= 128 ? 128                                                                                        \
   : (x) >= 64  ? 64                                                                                         \
   : (x) >= 32  ? 32                                                                                         \
   : (x) >= 16  ? 16                                                                                         \
   : (x) >= 8   ? 8                                                                                          \
   : (x) >= 4   ? 4                                                                                          \
   : (x) >= 2   ? 2                                                                                          \
                : 1)
#define DIVIDING_POWER(x) ((x) & -(x))
#define LESSER(x, y) ((x) < (y) ? (x) : (y))

/* Returns the items of a slice that copy an operand's panel: all, or as many as share it evenly. */
TSL_FUNCTION int copiers_of(panel_shape shape) {
  const int extent = shape.extent;
  if (shape.k_vectors)
    return 4 * K_QUADS * LESSER(FLOOR_POWER(PLACES / (4 * K_QUADS)), DIVIDING_POWER(extent / 4));
  if (shape.along_k)
    return LINE_NUMBERS * LESSER(FLOOR_POWER(PLACES / LINE_NUMBERS), DIVIDING_POWER(extent));
  if (shape.by_numbers)
    return PLACES < PLANES * extent
               ? PLACES
               : PLANES * extent *
                     LESSER(FLOOR_POWER(PLACES / (PLANES * extent)), DIVIDING_POWER(SLICE_DEPTH));
  return extent / 4 * LESSER(FLOOR_POWER(PLACES / (extent / 4)), DIVIDING_POWER(SLICE_DEPTH));
}

/* An item's copies of an operand. */
typedef struct panel_copy {
  TSL_GLOBAL const TSL_REAL *from; /* first element of its first vector of the next panel */
  TSL_INDEX step;                  /* stride between elements of a vector, in numbers */
  TSL_INDEX pass;                  /* between an item's vectors, or between depths of single elements */
  TSL_INDEX advance;               /* stride between panels */
  int line, depth;                 /* of the first element in the panel */
  int reach;                       /* lines from `line` on that are inside of the matrix */
  unsigned int to;                 /* byte offset in a panel */
  bool aligned;                    /* vectors are contiguous and aligned: copied at once */
  bool plain;                      /* whole panels need no guards */
} panel_copy;

/* Initialises the copies of item `item` of a slice. Element (line 0, depth 0) is at `from` + `offset`. The
 * tile starts at line `first_line` of `lines`; panels start at depth `first`. */
TSL_FUNCTION void panel_start(panel_copy *copy, panel_shape shape, int item, TSL_GLOBAL const TSL_REAL *from,
                              TSL_INDEX offset, TSL_INDEX line_stride, TSL_INDEX depth_stride,
                              TSL_INDEX first_line, TSL_INDEX lines, TSL_INDEX first) {
  const int across = (shape.along_k ? SLICE_DEPTH : shape.extent) / 4; /* vectors along a depth */
  const bool singly = shape.along_k || shape.by_numbers;
  const int part = item % PLANES, element = item / PLANES; /* of single elements */
  copy->line = shape.along_k      ? element / SLICE_DEPTH
               : shape.by_numbers ? element % shape.extent
                                  : item % across * 4;
  copy->depth = shape.along_k      ? element % SLICE_DEPTH
                : shape.by_numbers ? element / shape.extent
                                   : item / across;
  copy->to = 4 * (copy->depth * shape.pitch + copy->line + part * shape.plane);
  copy->step = PLANES * line_stride;
  copy->pass = PLANES * (singly ? depth_stride : copiers_of(shape) / across * depth_stride);
  copy->advance = PLANES * PANEL_DEPTH * depth_stride;
  const TSL_INDEX behind = lines - first_line;
  copy->aligned = line_stride == 1 && (offset | depth_stride) % 4 == 0;
  copy->plain = behind >= shape.extent && (singly || copy->aligned);
  if (shape.k_vectors) {
    copy->line = item / K_QUADS;
    copy->depth = item % K_QUADS * 4;
    copy->to = 16 * (item % K_QUADS * shape.pitch + copy->line % 4 * (shape.extent / 4 + 1) + copy->line / 4);
    copy->step = depth_stride;
    copy->pass = copiers_of(shape) / K_QUADS * line_stride;
    copy->aligned = depth_stride == 1 && (offset | line_stride) % 4 == 0;
    copy->plain = behind >= shape.extent && copy->aligned;
  }
  copy->reach = (behind < shape.extent ? (int)behind : shape.extent) - copy->line;
  copy->from =
      from + part +
      PLANES * (offset + (first_line + copy->line) * line_stride + (first + copy->depth) * depth_stride);
}

/* Starts copying the next panel to `panel`, number by number. `left`: k left from its start. `plain`: whole,
 * no guards. */
TSL_FUNCTION void copy_numbers(const panel_copy *copy, panel_shape shape, unsigned int panel, TSL_INDEX left,
                               bool plain) {
  const int deep = (left < SLICE_DEPTH ? (int)left : SLICE_DEPTH) - copy->depth;
  const int copiers = copiers_of(shape), elements = copiers / PLANES;      /* that are copied at a time */
  const int lines = shape.extent > elements ? shape.extent / elements : 1; /* of a depth and item */
  TSL_UNROLL
  for (int e = 0; e < shape.extent * SLICE_DEPTH / elements; e++) {
    const int line = shape.along_k ? e * (elements / SLICE_DEPTH) : lines > 1 ? e % lines * elements : 0;
    const int depth = shape.along_k ? 0 : lines > 1 ? e / lines : e * (elements / shape.extent);
    const unsigned int to = panel + copy->to + 4 * (depth * shape.pitch + line);
    TSL_GLOBAL const char *from =
        (TSL_GLOBAL const char *)(copy->from + line * copy->step + depth * copy->pass);
    if (plain)
      tsl_ptx_copy_number(to, from);
    else if (!SHORT || depth < deep) /* other depths are not read */
      tsl_ptx_copy_number_inside(to, from, line < copy->reach && depth < deep);
  }
}

/* Starts copying the next panel in vectors, across lines or along k. */
TSL_FUNCTION void copy_vectors(const panel_copy *copy, panel_shape shape, unsigned int panel, TSL_INDEX left,
                               bool plain) {
  /* depths, or lines if vectors are along k, between an item's vectors, and numbers in local memory */
  const int copiers = copiers_of(shape);
  const int stride = shape.k_vectors ? copiers / K_QUADS : copiers / (shape.extent / 4);
  const int to_stride = shape.k_vectors ? stride : stride * shape.pitch;
  const int deep = (left < SLICE_DEPTH ? (int)left : SLICE_DEPTH) - copy->depth;
  TSL_UNROLL
  for (int i = 0; i < shape.extent * SLICE_DEPTH / 4 / copiers; i++) {
    const unsigned int to = panel + copy->to + 4 * i * to_stride;
    TSL_GLOBAL const TSL_REAL *from = copy->from + i * copy->pass;
    /* numbers inside in the vector's direction, and in the other direction */
    const int reach = shape.k_vectors ? deep : copy->reach,
              other = (shape.k_vectors ? copy->reach : deep) - i * stride;
    const int inside = reach < 1 || other < 1 ? 0 : reach > 4 ? 4 : reach;
    if (SHORT && (shape.k_vectors ? reach : other) < 1)
      continue;
    if (plain) {
      tsl_ptx_copy(to, (TSL_GLOBAL const char *)from);
    } else if (copy->aligned && inside % 4 == 0) {
      tsl_ptx_copy_inside(to, (TSL_GLOBAL const char *)from, inside == 4);
    } else {
      TSL_UNROLL
      for (int e = 0; e < 4; e++)
        tsl_ptx_copy_number_inside(to + 4 * e, (TSL_GLOBAL const char *)(from + e * copy->step), e < inside);
    }
  }
}

TSL_FUNCTION void panel_copy_next(panel_copy *copy, panel_shape shape, unsigned int panel, TSL_INDEX left,
                                  bool plain) {
  if (copiers_of(shape) < PLACES && TSL_ITEM(0) % PLACES >= copiers_of(shape))
    return;
  if (!shape.k_vectors && (shape.along_k || shape.by_numbers))
    copy_numbers(copy, shape, panel, left, plain);
  else
    copy_vectors(copy, shape, panel, left, plain);
  copy->from += copy->advance;
}

/* Panels of both operands in local memory, of a slice. */
typedef struct tile_panels {
  TSL_LOCAL_POINTER const TSL_REAL *rows, *columns; /* the item's positions in stage 0 */
  unsigned int base;                                /* start of stage 0, as a PTX address */
  int reads, writes;                                /* offsets of the current stages, in numbers */
  int slice;
  TSL_INDEX left; /* k left from the panel that is copied next */
} tile_panels;
typedef struct tile_copies {
  panel_copy a, b;
} tile_copies;

TSL_FUNCTION void slice_barrier(int slice) {
  if (PLACES == 32)
    tsl_ptx_warp_barrier();
  else if (SLICES == 1)
    TSL_BARRIER();
  else
    tsl_ptx_barrier(slice + 1, PLACES);
}

/* Issues the copies of the next panels, if there are any, to the next stage. `plain`: there are, and need no
 * guards. */
TSL_FUNCTION void copy_panels(tile_panels *panels, tile_copies *copies, bool plain) {
  if (plain) {
    const unsigned int to = panels->base + 4 * panels->writes;
    panel_copy_next(&copies->a, shape_of_a(), to, 0, true);
    panel_copy_next(&copies->b, shape_of_b(), to + 4 * PANEL_A, 0, true);
  } else if (panels->left > 0) {
    const TSL_INDEX left = panels->left - SLICE_START(panels->slice);
    const bool whole = panels->left >= PANEL_DEPTH;
    const unsigned int to = panels->base + 4 * panels->writes;
    if (whole && copies->a.plain && copies->b.plain) {
      panel_copy_next(&copies->a, shape_of_a(), to, left, true);
      panel_copy_next(&copies->b, shape_of_b(), to + 4 * PANEL_A, left, true);
    } else {
      panel_copy_next(&copies->a, shape_of_a(), to, left, whole && copies->a.plain);
      panel_copy_next(&copies->b, shape_of_b(), to + 4 * PANEL_A, left, whole && copies->b.plain);
    }
  }
  panels->left -= PANEL_DEPTH;
  panels->writes = panels->writes == (STAGES - 1) * STAGE ? 0 : panels->writes + STAGE;
}

/* Starts the copies to all stages but one, and waits for the first. Returns the panels that need no guards.
 */
TSL_FUNCTION int global_to_local_start(tile_panels *panels, tile_copies *copies,
                                       TSL_LOCAL_POINTER TSL_REAL *memory, TSL_GLOBAL const TSL_REAL *a,
                                       TSL_GLOBAL const TSL_REAL *b, const tsl_gemm_arguments *g,
                                       const tile_start *start) {
  TSL_LOCAL_POINTER TSL_REAL *stages = memory + start->slice * STAGES * STAGE;
  panels->rows = stages + start->m_item;
  panels->columns = stages + PANEL_A + start->n_item;
  panels->base = tsl_ptx_local_address(stages);
  panels->reads = panels->writes = 0;
  panels->slice = start->slice;
  panels->left = start->end - start->first;
  panel_start(&copies->a, shape_of_a(), start->place, a, g->a_offset, g->a_row_stride, g->a_col_stride,
              start->row, LINES(g->m), start->first + SLICE_START(start->slice));
  panel_start(&copies->b, shape_of_b(), start->place, b, g->b_offset, g->b_col_stride, g->b_row_stride,
              start->col, LINES(g->n), start->first + SLICE_START(start->slice));
  TSL_UNROLL_BY(1)
  for (int s = 0; s < STAGES - 1; s++) {
    copy_panels(panels, copies, false);
    tsl_ptx_copies_end();
  }
  tsl_ptx_copies_wait(STAGES - 2);
  slice_barrier(start->slice);
  return copies->a.plain && copies->b.plain ? (int)((start->end - start->first) / PANEL_DEPTH) - (STAGES - 1)
                                            : 0;
}

/* Before `depth` of the panels of a stage is multiplied. */
TSL_FUNCTION void global_to_local(tile_panels *panels, tile_copies *copies, int depth, bool plain) {
  if (depth == COPY_DEPTH) {
    if (plain)
      tsl_ptx_end_block(panels->writes);
    copy_panels(panels, copies, plain);
    if (plain)
      tsl_ptx_end_block(panels->writes);
  }
  if (depth == SLICE_DEPTH - 1) {
    tsl_ptx_copies_end();
    tsl_ptx_copies_wait(STAGES - 2);
    slice_barrier(panels->slice);
    panels->reads = panels->reads == (STAGES - 1) * STAGE ? 0 : panels->reads + STAGE;
  }
}
TSL_FUNCTION void global_to_local_after(tile_panels *panels, tile_copies *copies, bool plain) {
  (void)panels, (void)copies, (void)plain;
}

/* Returns the item's numbers of `depth` in the panels of the stage. */
TSL_FUNCTION TSL_LOCAL_POINTER const TSL_REAL *rows_at(const tile_panels *panels, int depth) {
  return panels->rows + panels->reads + depth * PITCH_A;
}
TSL_FUNCTION TSL_LOCAL_POINTER const TSL_REAL *columns_at(const tile_panels *panels, int depth) {
  return panels->columns + panels->reads + depth * PITCH_B;
}
