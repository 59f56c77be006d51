/* Loads of an operand's panels from global to local memory through registers: `fetch` reads an item's part of
 * a panel, `stash` writes it. An operand is a set of lines (rows of A, columns of B) along k. A panel is
 * `extent` lines by TILE_K depths, with adjacent lines in local memory:
 *
 *   depth 0   | line 0 | line 1 | ...  | padding |
 *   depth 1   | line 0 | line 1 | ...  | padding |
 *
 * Where a line is contiguous along k (along_k), adjacent items read two vectors of it, and write elements to
 * different banks. Otherwise vectors are read and written across lines.
 * Lines outside of the matrix are read as the last line, elements beyond k as zeros.
 *
 * Where vectors are not aligned (`odd`), adjacent items read adjacent elements and write them one by one:
 * vectors would touch four times the cache lines.
 *
 * `along_k`, `odd`, `extent`, `passes` (vectors of an item) and `items` are compile-time constants. */
#ifndef TSL_GEMM_REGISTER_TILE_FETCH
#define TSL_GEMM_REGISTER_TILE_FETCH

#include "lanes.h"

#define TSL_DEPTH TSL_PARAM_TILE_K
#define TSL_FETCH_NEIGHBOURS (TSL_DEPTH / TSL_LANES < 2 ? TSL_DEPTH / TSL_LANES : 2) /* vectors of a line */
#define TSL_FETCH_PITCH(extent, along_k) ((extent) + ((along_k) ? 4 : 0))

/* Ways of reading a panel. */
#define TSL_FETCH_VECTORS 0 /* aligned and whole */
#define TSL_FETCH_WHOLE 1   /* whole */
#define TSL_FETCH_GUARDED 2

/* RUN: elements along k that adjacent items read one by one. SINGLY: items divide a panel like this. */
#define TSL_FETCH_RUN 8
#define TSL_FETCH_ROUND(along_k, extent) ((along_k) ? TSL_FETCH_RUN * (extent) : (extent))
#define TSL_FETCH_SINGLY(along_k, extent, items)                                                             \
  (TSL_FETCH_ROUND(along_k, extent) % (items) == 0 || (items) % TSL_FETCH_ROUND(along_k, extent) == 0)

typedef struct tsl_fetch {
  TSL_GLOBAL const TSL_REAL *from[TSL_FETCH_PASSES]; /* each vector's first element (single: the item's) */
  TSL_REAL held[TSL_FETCH_PASSES * TSL_LANES];
  TSL_INDEX step; /* between elements of a vector (single elements: between lines) */
  TSL_INDEX depth_step;
  int line, depth, reach;           /* first single element, and the lines after it */
  TSL_INDEX advance;                /* stride between panels */
  TSL_INDEX most[TSL_FETCH_PASSES]; /* last element inside of the matrix of each vector across lines */
  int reading;                      /* way of reading whole panels */
} tsl_fetch;

/* Returns the line of the first element of vector `index` of a panel. */
TSL_FUNCTION int tsl_fetch_line(bool along_k, int extent, int index) {
  return along_k ? index / TSL_FETCH_NEIGHBOURS % extent : index % (extent / TSL_LANES) * TSL_LANES;
}
TSL_FUNCTION int tsl_fetch_depth(bool along_k, int extent, int index) {
  return along_k ? (index % TSL_FETCH_NEIGHBOURS +
                    index / (TSL_FETCH_NEIGHBOURS * extent) * TSL_FETCH_NEIGHBOURS) *
                       TSL_LANES
                 : index / (extent / TSL_LANES);
}

/* Returns the index in `most` of a pass: 0 where all vectors of an item begin at the same line. */
TSL_FUNCTION int tsl_fetch_most(int extent, int items, int pass) {
  return items % (extent / TSL_LANES) == 0 ? 0 : pass;
}

/* Returns the lines (depths) from an item's first element to element `e`, where it reads single elements. */
TSL_FUNCTION int tsl_fetch_lines_to(bool along_k, int extent, int items, int e) {
  const int round = TSL_FETCH_ROUND(along_k, extent), rounds = round / items;
  return rounds <= 1 ? 0 : e % rounds * (along_k ? items / TSL_FETCH_RUN : items);
}
TSL_FUNCTION int tsl_fetch_depths_to(bool along_k, int extent, int items, int e) {
  const int round = TSL_FETCH_ROUND(along_k, extent), rounds = round / items;
  return (rounds < 1 ? e * (items / round) : e / rounds) * (along_k ? TSL_FETCH_RUN : 1);
}

/* Initialises the state. Element (line 0, depth 0) is at `from` + `offset`; the tile starts at line
 * `first_line` of `lines`, its panels at depth `first`. */
TSL_FUNCTION void tsl_fetch_start(tsl_fetch *fetch, bool along_k, bool odd, int extent, int passes, int items,
                                  TSL_GLOBAL const TSL_REAL *from, TSL_INDEX offset, TSL_INDEX line_stride,
                                  TSL_INDEX depth_stride, TSL_INDEX first_line, TSL_INDEX lines,
                                  TSL_INDEX first) {
  if (odd) {
    const int item = TSL_ITEM(0), round = TSL_FETCH_ROUND(along_k, extent), place = item % round;
    fetch->line = along_k ? place / TSL_FETCH_RUN : place;
    fetch->depth = (along_k ? place % TSL_FETCH_RUN : 0) + item / round * (along_k ? TSL_FETCH_RUN : 1);
    const TSL_INDEX line = first_line + fetch->line, last = lines - 1;
    const TSL_INDEX clamped = line < last ? line : last;
    fetch->reach = last - clamped < extent ? (int)(last - clamped) : extent;
    fetch->step = line_stride;
    fetch->depth_step = depth_stride;
    fetch->advance = TSL_DEPTH * depth_stride;
    fetch->reading = first_line + extent <= lines ? TSL_FETCH_WHOLE : TSL_FETCH_GUARDED;
    fetch->from[0] = from + offset + clamped * line_stride + (first + fetch->depth) * depth_stride;
    return;
  }
  const bool inside = along_k || first_line + extent <= lines;
  const bool aligned = (along_k ? depth_stride : line_stride) == 1 &&
                       (offset | (along_k ? line_stride : depth_stride)) % TSL_LANES == 0;
  const bool vectors = aligned && (inside || lines % TSL_LANES == 0);
  const TSL_INDEX last = !along_k && vectors ? lines - TSL_LANES : lines - 1;
  fetch->step = along_k ? depth_stride : line_stride;
  fetch->advance = TSL_DEPTH * depth_stride;
  fetch->reading = vectors ? TSL_FETCH_VECTORS : inside ? TSL_FETCH_WHOLE : TSL_FETCH_GUARDED;
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    const int index = TSL_ITEM(0) + i * items;
    const TSL_INDEX line = first_line + tsl_fetch_line(along_k, extent, index);
    const TSL_INDEX depth = first + tsl_fetch_depth(along_k, extent, index);
    const TSL_INDEX clamped = line < last ? line : last;
    fetch->from[i] = from + offset + clamped * line_stride + depth * depth_stride;
    fetch->most[tsl_fetch_most(extent, items, i)] =
        !along_k && lines - 1 - clamped < TSL_LANES - 1 ? lines - 1 - clamped : TSL_LANES - 1;
  }
}

/* Reads the elements of the next panel, which is whole, one by one. */
TSL_FUNCTION void tsl_fetch_numbers(tsl_fetch *fetch, bool along_k, int extent, int passes, int items) {
  TSL_UNROLL
  for (int e = 0; e < passes * TSL_LANES; e++)
    fetch->held[e] = fetch->from[0][tsl_fetch_lines_to(along_k, extent, items, e) * fetch->step +
                                    tsl_fetch_depths_to(along_k, extent, items, e) * fetch->depth_step];
  fetch->from[0] += fetch->advance;
}
TSL_FUNCTION void tsl_fetch_guarded_numbers(tsl_fetch *fetch, bool along_k, int extent, int passes, int items,
                                            TSL_INDEX left) {
  const int inside = left < TSL_DEPTH ? (int)left - fetch->depth : TSL_DEPTH;
  TSL_UNROLL
  for (int e = 0; e < passes * TSL_LANES; e++) {
    const int line = tsl_fetch_lines_to(along_k, extent, items, e),
              depth = tsl_fetch_depths_to(along_k, extent, items, e);
    fetch->held[e] = depth < inside
                         ? fetch->from[0][(line < fetch->reach ? line : fetch->reach) * fetch->step +
                                          depth * fetch->depth_step]
                         : (TSL_REAL)0;
  }
  fetch->from[0] += fetch->advance;
}

/* Reads the next panel, which is whole and aligned. */
TSL_FUNCTION void tsl_fetch_vectors(tsl_fetch *fetch, int passes) {
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    tsl_lanes_to_array(fetch->held + i * TSL_LANES, TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, fetch->from[i]));
    fetch->from[i] += fetch->advance;
  }
}

/* Reads the next panel; `left`: k inside of it, nothing is read where it is negative. */
TSL_FUNCTION void tsl_fetch_any(tsl_fetch *fetch, bool along_k, bool odd, int extent, int passes, int items,
                                TSL_INDEX left) {
  if (odd) {
    if (left >= TSL_DEPTH && fetch->reading == TSL_FETCH_WHOLE)
      tsl_fetch_numbers(fetch, along_k, extent, passes, items);
    else
      tsl_fetch_guarded_numbers(fetch, along_k, extent, passes, items, left);
    return;
  }
  const int reading = left >= TSL_DEPTH ? fetch->reading : TSL_FETCH_GUARDED;
  if (reading == TSL_FETCH_VECTORS) {
    tsl_fetch_vectors(fetch, passes);
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    TSL_GLOBAL const TSL_REAL *from = fetch->from[i];
    TSL_REAL *held = fetch->held + i * TSL_LANES;
    if (reading == TSL_FETCH_WHOLE) {
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        held[e] = from[e * fetch->step];
    } else {
      const TSL_INDEX most = fetch->most[tsl_fetch_most(extent, items, i)];
      const TSL_INDEX inside = left - tsl_fetch_depth(along_k, extent, TSL_ITEM(0) + i * items);
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        held[e] =
            (along_k ? e : 0) < inside ? from[(along_k || e < most ? e : most) * fetch->step] : (TSL_REAL)0;
    }
    fetch->from[i] += fetch->advance;
  }
}

/* Returns true if panels with all depths need no guards. */
TSL_FUNCTION bool tsl_fetch_is_plain(const tsl_fetch *fetch, bool odd) {
  return fetch->reading == (odd ? TSL_FETCH_WHOLE : TSL_FETCH_VECTORS);
}
TSL_FUNCTION void tsl_fetch_plain(tsl_fetch *fetch, bool along_k, bool odd, int extent, int passes,
                                  int items) {
  if (odd)
    tsl_fetch_numbers(fetch, along_k, extent, passes, items);
  else
    tsl_fetch_vectors(fetch, passes);
}

TSL_FUNCTION void tsl_fetch_stash(const tsl_fetch *fetch, bool along_k, bool odd, int extent, int passes,
                                  int items, TSL_LOCAL_POINTER TSL_REAL *panel) {
  const int pitch = TSL_FETCH_PITCH(extent, along_k);
  if (odd) {
    TSL_LOCAL_POINTER TSL_REAL *to = panel + fetch->depth * pitch + fetch->line;
    TSL_UNROLL
    for (int e = 0; e < passes * TSL_LANES; e++)
      to[tsl_fetch_depths_to(along_k, extent, items, e) * pitch +
         tsl_fetch_lines_to(along_k, extent, items, e)] = fetch->held[e];
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    const int index = TSL_ITEM(0) + i * items;
    TSL_LOCAL_POINTER TSL_REAL *to =
        panel + tsl_fetch_depth(along_k, extent, index) * pitch + tsl_fetch_line(along_k, extent, index);
    if (along_k) {
      TSL_UNROLL
      for (int e = 0; e < TSL_LANES; e++)
        to[e * pitch] = fetch->held[i * TSL_LANES + e];
    } else {
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, to, tsl_lanes_from_array(fetch->held + i * TSL_LANES));
    }
  }
}

#endif
