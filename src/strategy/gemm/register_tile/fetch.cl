/* The way of one operand's panels from global to local memory, through registers: `fetch` reads what this item brings
 * of a panel, `stash` puts it down. An operand is seen as lines (rows of A, columns of B) of numbers along k; a panel
 * is `extent` lines by TILE_K numbers, and lies in local memory with the lines side by side:
 *
 *   depth 0   | line 0 | line 1 | ...  | padding |
 *   depth 1   | line 0 | line 1 | ...  | padding |
 *
 * Where a line's numbers follow each other in memory (along_k), they are read as vectors along k, two of a line by two
 * neighbouring items, and put down one by one; with a pitch of 4 more than a multiple of 8, the 32 numbers that
 * neighbouring items put down at once fall into 32 banks. Elsewhere, vectors are read and put down across the lines.
 * Lines outside the matrix are read as one inside (what they give is never stored), numbers beyond k as zeros: edges
 * need no path of their own.
 *
 * `along_k`, `extent`, `passes` (vectors that an item brings) and `items` are constants wherever these are called. */
#ifndef TSL_GEMM_REGISTER_TILE_FETCH
#define TSL_GEMM_REGISTER_TILE_FETCH

#include "lanes.h"

#define TSL_DEPTH TSL_PARAM_TILE_K
/* Vectors of one line that neighbouring items read. */
#define TSL_FETCH_NEIGHBOURS (TSL_DEPTH / TSL_LANES < 2 ? TSL_DEPTH / TSL_LANES : 2)
#define TSL_FETCH_PITCH(extent, along_k) ((extent) + ((along_k) ? 4 : 0))

/* How panels are read. */
#define TSL_FETCH_VECTORS 0 /* aligned, and all of it inside */
#define TSL_FETCH_WHOLE 1   /* all of it inside */
#define TSL_FETCH_GUARDED 2

/* One operand as an item sees it. */
typedef struct tsl_fetch {
  TSL_GLOBAL const TSL_REAL *from[TSL_FETCH_PASSES]; /* first number of each vector */
  TSL_REAL held[TSL_FETCH_PASSES * TSL_LANES];
  TSL_INDEX step;                   /* between numbers of a vector */
  TSL_INDEX advance;                /* from panel to panel */
  TSL_INDEX most[TSL_FETCH_PASSES]; /* the last number of each vector across lines that is inside */
  int reading;                      /* of whole panels */
} tsl_fetch;

/* Line and depth of the first number of vector `index` of a panel. */
TSL_FUNCTION int tsl_fetch_line(bool along_k, int extent, int index) {
  return along_k ? index / TSL_FETCH_NEIGHBOURS % extent : index % (extent / TSL_LANES) * TSL_LANES;
}
TSL_FUNCTION int tsl_fetch_depth(bool along_k, int extent, int index) {
  return along_k ? (index % TSL_FETCH_NEIGHBOURS +
                    index / (TSL_FETCH_NEIGHBOURS * extent) * TSL_FETCH_NEIGHBOURS) *
                       TSL_LANES
                 : index / (extent / TSL_LANES);
}

/* Where an item's vectors across lines begin at the same line all, one number says of all of them which is the last inside. */
TSL_FUNCTION int tsl_fetch_most(int extent, int items, int pass) {
  return items % (extent / TSL_LANES) == 0 ? 0 : pass;
}

/* The operand's element (line 0, depth 0) is at `from` + `offset`; the tile starts at line `first_line` of `lines`, its
 * panels at depth `first`. */
TSL_FUNCTION void tsl_fetch_start(tsl_fetch *fetch, bool along_k, int extent, int passes, int items,
                                  TSL_GLOBAL const TSL_REAL *from, TSL_INDEX offset, TSL_INDEX line_stride,
                                  TSL_INDEX depth_stride, TSL_INDEX first_line, TSL_INDEX lines,
                                  TSL_INDEX first) {
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

/* Reads the next panel where all of it is inside and aligned. */
TSL_FUNCTION void tsl_fetch_vectors(tsl_fetch *fetch, int passes) {
  TSL_UNROLL
  for (int i = 0; i < passes; i++) {
    tsl_lanes_spread(fetch->held + i * TSL_LANES, TSL_LOAD_ALIGNED(TSL_REAL, TSL_LANES, fetch->from[i]));
    fetch->from[i] += fetch->advance;
  }
}

/* Reads the next panel, of which `left` numbers along k are inside; none where it is negative. */
TSL_FUNCTION void tsl_fetch_any(tsl_fetch *fetch, bool along_k, int extent, int passes, int items,
                                TSL_INDEX left) {
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

/* Puts what was read into a panel in local memory. */
TSL_FUNCTION void tsl_fetch_stash(const tsl_fetch *fetch, bool along_k, int extent, int passes, int items,
                                  TSL_LOCAL_POINTER TSL_REAL *panel) {
  const int pitch = TSL_FETCH_PITCH(extent, along_k);
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
      TSL_LOCAL_STORE(TSL_REAL, TSL_LANES, to, tsl_lanes_gather(fetch->held + i * TSL_LANES));
    }
  }
}

#endif
