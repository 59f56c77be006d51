/* Step "global to local" of register_tile.cl through registers: `panel_read` reads an item's part of the next
 * panel from global memory, `panel_write` writes it to local memory. An operand is a set of lines (rows of A,
 * columns of B) along k. A panel is `extent` lines by TILE_K depths, with adjacent lines in local memory:
 *
 *   depth 0   | line 0 | line 1 | ...  | padding |
 *   depth 1   | line 0 | line 1 | ...  | padding |
 *
 * Where a line is contiguous along k (along_k), adjacent items read two vectors of it, and write elements to
 * different banks. Otherwise vectors are read and written across lines.
 * Lines outside of the matrix are read as the last line, elements beyond k as zeros.
 *
 * Where vectors are not aligned (by_numbers), adjacent items read adjacent elements and write them one by
 * one. Vectors would touch four times the cache lines. */
#include "units.h"

/* Vectors of a line that adjacent items read, and elements along k that they read one by one. */
#define NEIGHBOURS (TILE_K / TSL_LANES < 2 ? TILE_K / TSL_LANES : 2)
#define RUN 8
/* Elements that items read at a time one by one, and whether that divides a panel evenly. */
#define ROUND(along_k, extent) ((along_k) ? RUN * (extent) : (extent))
#define IS_EVEN(along_k, extent) (ROUND(along_k, extent) % ITEMS == 0 || ITEMS % ROUND(along_k, extent) == 0)

#define VECTORS_A (PANEL_ROWS * TILE_K / TSL_LANES / ITEMS) /* vectors that an item reads */
#define VECTORS_B (PANEL_COLUMNS * TILE_K / TSL_LANES / ITEMS)
#define VECTORS_MAX (VECTORS_A > VECTORS_B ? VECTORS_A : VECTORS_B)
#define PANEL_A (TILE_K * PITCH_A) /* numbers of a panel */
#define PANEL_B (TILE_K * PITCH_B)
#define PANELS (STAGES * (PANEL_A + PANEL_B))

#define BUFFERS 1 /* of private operands: the next depth's are loaded after the multiply-adds */
/* Depth at which the next panel is written to local memory: with two stages well before the barrier. */
#define WRITE_DEPTH (STAGES == 1 ? SLICE_DEPTH - 1 : SLICE_DEPTH / 2)
/* 1: the panel after next is read right after the write; 0: at the end of the current panel (measured). */
#define READ_EARLY (SLICES == 1 || STAGES == 1)

/* Compile-time constants of an operand's panels. */
typedef struct panel_shape {
  bool along_k, by_numbers;
  int extent;  /* numbers of a depth */
  int vectors; /* vectors that an item reads */
  int pitch;   /* numbers between depths in local memory */
} panel_shape;

TSL_FUNCTION panel_shape shape_of_a(void) {
  const panel_shape shape = {A_ALONG_K, A_ODD && IS_EVEN(A_ALONG_K, PANEL_ROWS), PANEL_ROWS, VECTORS_A,
                             PITCH_A};
  return shape;
}
TSL_FUNCTION panel_shape shape_of_b(void) {
  const panel_shape shape = {B_ALONG_K, B_ODD && IS_EVEN(B_ALONG_K, PANEL_COLUMNS), PANEL_COLUMNS, VECTORS_B,
                             PITCH_B};
  return shape;
}

/* Ways of reading a panel: aligned whole vectors; whole; with guards. */
enum { READ_VECTORS, READ_WHOLE, READ_GUARDED };

/* An item's copies of an operand. */
typedef struct panel_copy {
  TSL_GLOBAL const TSL_REAL *from[VECTORS_MAX]; /* each vector's first element (by_numbers: the item's) */
  TSL_REAL held[VECTORS_MAX * TSL_LANES];
  TSL_INDEX step; /* between elements of a vector (by_numbers: between lines) */
  TSL_INDEX depth_step;
  int line, depth, reach;      /* by_numbers: first element, and the lines after it */
  TSL_INDEX advance;           /* stride between panels */
  TSL_INDEX last[VECTORS_MAX]; /* last element inside of the matrix of each vector across lines */
  int reading;                 /* way of reading whole panels */
} panel_copy;

/* Returns the line of the first element of vector `index` of a panel. */
TSL_FUNCTION int line_of(panel_shape shape, int index) {
  return shape.along_k ? index / NEIGHBOURS % shape.extent : index % (shape.extent / TSL_LANES) * TSL_LANES;
}
TSL_FUNCTION int depth_of(panel_shape shape, int index) {
  return shape.along_k ? (index % NEIGHBOURS + index / (NEIGHBOURS * shape.extent) * NEIGHBOURS) * TSL_LANES
                       : index / (shape.extent / TSL_LANES);
}

/* Returns the index in `last` of a vector: 0 where all vectors of an item begin at the same line. */
TSL_FUNCTION int last_of(panel_shape shape, int i) {
  return ITEMS % (shape.extent / TSL_LANES) == 0 ? 0 : i;
}

/* Returns the lines (depths) from an item's first element to element `e`, where it reads by numbers. */
TSL_FUNCTION int lines_to(panel_shape shape, int e) {
  const int rounds = ROUND(shape.along_k, shape.extent) / ITEMS;
  return rounds <= 1 ? 0 : e % rounds * (shape.along_k ? ITEMS / RUN : ITEMS);
}
TSL_FUNCTION int depths_to(panel_shape shape, int e) {
  const int round = ROUND(shape.along_k, shape.extent), rounds = round / ITEMS;
  return (rounds < 1 ? e * (ITEMS / round) : e / rounds) * (shape.along_k ? RUN : 1);
}

/* Initialises the copies. Element (line 0, depth 0) is at `from` + `offset`; the tile starts at line
 * `first_line` of `lines`, its panels at depth `first`. */
TSL_FUNCTION void panel_start(panel_copy *copy, panel_shape shape, TSL_GLOBAL const TSL_REAL *from,
                              TSL_INDEX offset, TSL_INDEX line_stride, TSL_INDEX depth_stride,
                              TSL_INDEX first_line, TSL_INDEX lines, TSL_INDEX first) {
  if (shape.by_numbers) {
    const int item = TSL_ITEM(0), round = ROUND(shape.along_k, shape.extent), place = item % round;
    copy->line = shape.along_k ? place / RUN : place;
    copy->depth = (shape.along_k ? place % RUN : 0) + item / round * (shape.along_k ? RUN : 1);
    const TSL_INDEX line = first_line + copy->line, last = lines - 1;
    const TSL_INDEX clamped = line < last ? line : last;
    copy->reach = last - clamped < shape.extent ? (int)(last - clamped) : shape.extent;
    copy->step = line_stride;
    copy->depth_step = depth_stride;
    copy->advance = TILE_K * depth_stride;
    copy->reading = first_line + shape.extent <= lines ? READ_WHOLE : READ_GUARDED;
    copy->from[0] = from + offset + clamped * line_stride + (first + copy->depth) * depth_stride;
    return;
  }
  const bool inside = shape.along_k || first_line + shape.extent <= lines;
  const bool aligned = (shape.along_k ? depth_stride : line_stride) == 1 &&
                       (offset | (shape.along_k ? line_stride : depth_stride)) % TSL_LANES == 0;
  const bool vectors = aligned && (inside || lines % TSL_LANES == 0);
  const TSL_INDEX last = !shape.along_k && vectors ? lines - TSL_LANES : lines - 1;
  copy->step = shape.along_k ? depth_stride : line_stride;
  copy->advance = TILE_K * depth_stride;
  copy->reading = vectors ? READ_VECTORS : inside ? READ_WHOLE : READ_GUARDED;
  TSL_UNROLL
  for (int i = 0; i < shape.vectors; i++) {
    const int index = TSL_ITEM(0) + i * ITEMS;
    const TSL_INDEX line = first_line + line_of(shape, index);
    const TSL_INDEX depth = first + depth_of(shape, index);
    const TSL_INDEX clamped = line < last ? line : last;
    copy->from[i] = from + offset + clamped * line_stride + depth * depth_stride;
    copy->last[last_of(shape, i)] =
        !shape.along_k && lines - 1 - clamped < TSL_LANES - 1 ? lines - 1 - clamped : TSL_LANES - 1;
  }
}

/* Reads the elements of the next panel one by one; `left`: k inside of it. `plain`: it needs no guards. */
TSL_FUNCTION void read_numbers(panel_copy *copy, panel_shape shape, TSL_INDEX left, bool plain) {
  const int inside = left < TILE_K ? (int)left - copy->depth : TILE_K;
  TSL_UNROLL
  for (int e = 0; e < shape.vectors * TSL_LANES; e++) {
    const int line = lines_to(shape, e), depth = depths_to(shape, e);
    if (plain)
      copy->held[e] = copy->from[0][line * copy->step + depth * copy->depth_step];
    else
      copy->held[e] = depth < inside ? copy->from[0][(line < copy->reach ? line : copy->reach) * copy->step +
                                                     depth * copy->depth_step]
                                     : (TSL_REAL)0;
  }
  copy->from[0] += copy->advance;
}

/* Reads the next panel, which is whole and aligned. */
TSL_FUNCTION void read_vectors(panel_copy *copy, panel_shape shape) {
  TSL_UNROLL
  for (int i = 0; i < shape.vectors; i++) {
    tsl_lanes_to_array(copy->held + i * TSL_LANES, TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, copy->from[i]));
    copy->from[i] += copy->advance;
  }
}

/* Returns true if panels with all depths need no guards. */
TSL_FUNCTION bool panel_is_plain(const panel_copy *copy, panel_shape shape) {
  return copy->reading == (shape.by_numbers ? READ_WHOLE : READ_VECTORS);
}

/* Reads the next panel; `left`: k inside of it, nothing is read where it is negative. `plain`: all of it is
 * inside, and panel_is_plain(). */
TSL_FUNCTION void panel_read(panel_copy *copy, panel_shape shape, TSL_INDEX left, bool plain) {
  if (shape.by_numbers) {
    if (plain || (left >= TILE_K && copy->reading == READ_WHOLE))
      read_numbers(copy, shape, left, true);
    else
      read_numbers(copy, shape, left, false);
    return;
  }
  const int reading = left >= TILE_K ? copy->reading : READ_GUARDED;
  if (plain || reading == READ_VECTORS) {
    read_vectors(copy, shape);
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < shape.vectors; i++) {
    TSL_GLOBAL const TSL_REAL *from = copy->from[i];
    TSL_REAL *held = copy->held + i * TSL_LANES;
    if (reading == READ_WHOLE) {
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        held[e] = from[e * copy->step];
    } else {
      const TSL_INDEX last = copy->last[last_of(shape, i)];
      const TSL_INDEX inside = left - depth_of(shape, TSL_ITEM(0) + i * ITEMS);
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        held[e] = (shape.along_k ? e : 0) < inside ? from[(shape.along_k || e < last ? e : last) * copy->step]
                                                   : (TSL_REAL)0;
    }
    copy->from[i] += copy->advance;
  }
}

TSL_FUNCTION void panel_write(const panel_copy *copy, panel_shape shape, TSL_LOCAL_POINTER TSL_REAL *panel) {
  if (shape.by_numbers) {
    TSL_LOCAL_POINTER TSL_REAL *to = panel + copy->depth * shape.pitch + copy->line;
    TSL_UNROLL
    for (int e = 0; e < shape.vectors * TSL_LANES; e++)
      to[depths_to(shape, e) * shape.pitch + lines_to(shape, e)] = copy->held[e];
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < shape.vectors; i++) {
    const int index = TSL_ITEM(0) + i * ITEMS;
    TSL_LOCAL_POINTER TSL_REAL *to = panel + depth_of(shape, index) * shape.pitch + line_of(shape, index);
    if (shape.along_k) {
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        to[e * shape.pitch] = copy->held[i * TSL_LANES + e];
    } else {
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, to, tsl_lanes_from_array(copy->held + i * TSL_LANES));
    }
  }
}

/* Panels of both operands in local memory. */
typedef struct tile_panels {
  TSL_LOCAL_POINTER TSL_REAL *a, *b;
  int a_first, b_first; /* the item's positions in the first stage */
  int stage;            /* that is multiplied */
  TSL_INDEX left;       /* k left from the panel that is read next */
} tile_panels;
typedef struct tile_copies {
  panel_copy a, b;
} tile_copies;

TSL_FUNCTION void read_panels(tile_panels *panels, tile_copies *copies, bool plain) {
  panel_read(&copies->a, shape_of_a(), panels->left, plain);
  panel_read(&copies->b, shape_of_b(), panels->left, plain);
  panels->left -= TILE_K;
}
TSL_FUNCTION void write_panels(const tile_panels *panels, const tile_copies *copies, int stage) {
  panel_write(&copies->a, shape_of_a(), panels->a + stage * PANEL_A);
  panel_write(&copies->b, shape_of_b(), panels->b + stage * PANEL_B);
}

/* Writes the first panels to local memory and reads the second ones. Returns the number of panels that can be
 * copied without guards after them, which may be negative. */
TSL_FUNCTION int global_to_local_start(tile_panels *panels, tile_copies *copies,
                                       TSL_LOCAL_POINTER TSL_REAL *memory, TSL_GLOBAL const TSL_REAL *a,
                                       TSL_GLOBAL const TSL_REAL *b, const tsl_gemm_arguments *g,
                                       const tile_start *start) {
  panels->a = memory;
  panels->b = memory + STAGES * PANEL_A;
  panels->a_first = start->slice * SLICE_DEPTH * PITCH_A + start->m_item;
  panels->b_first = start->slice * SLICE_DEPTH * PITCH_B + start->n_item;
  panels->stage = 0;
  panels->left = start->end - start->first;
  panel_start(&copies->a, shape_of_a(), a, g->a_offset, g->a_row_stride, g->a_col_stride,
              start->row * TSL_NUMBERS, LINES(g->m), start->first);
  panel_start(&copies->b, shape_of_b(), b, g->b_offset, g->b_col_stride, g->b_row_stride,
              start->col * TSL_NUMBERS, LINES(g->n), start->first);
  const bool inside = panel_is_plain(&copies->a, shape_of_a()) && panel_is_plain(&copies->b, shape_of_b());
  read_panels(panels, copies, false);
  write_panels(panels, copies, 0);
  if (!SHORT)
    read_panels(panels, copies, false);
  TSL_BARRIER();
  return inside ? (int)(panels->left / TILE_K) : 0;
}

/* Before `depth` of the panels of a stage is multiplied: writes the panels that were read to the next stage
 * and reads others; the last depth waits for the next stage. */
TSL_FUNCTION void global_to_local(tile_panels *panels, tile_copies *copies, int depth, bool plain) {
  const int next = STAGES == 1 ? 0 : panels->stage ^ 1;
  if (STAGES == 1 && depth == WRITE_DEPTH)
    TSL_BARRIER();
  if (depth == WRITE_DEPTH) {
    write_panels(panels, copies, next);
    if (READ_EARLY)
      read_panels(panels, copies, plain);
  }
  if (depth == SLICE_DEPTH - 1) {
    TSL_BARRIER();
    panels->stage = next;
  }
}
/* After the last depth. */
TSL_FUNCTION void global_to_local_after(tile_panels *panels, tile_copies *copies, bool plain) {
  if (!READ_EARLY)
    read_panels(panels, copies, plain);
}

/* Returns the item's numbers of `depth` in the panels of the stage. */
TSL_FUNCTION TSL_LOCAL_POINTER const TSL_REAL *rows_at(const tile_panels *panels, int depth) {
  return panels->a + panels->stage * PANEL_A + depth * PITCH_A + panels->a_first;
}
TSL_FUNCTION TSL_LOCAL_POINTER const TSL_REAL *columns_at(const tile_panels *panels, int depth) {
  return panels->b + panels->stage * PANEL_B + depth * PITCH_B + panels->b_first;
}
