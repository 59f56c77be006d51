/* Panels of k in shared memory for warpgroup kernels: TMA copies, and products of a warpgroup. Define
 * before inclusion: sm90.h, wgmma_tile.h, TSL_PARAM_TILE_M, _TILE_N, _CLUSTER; STAGES, ELEMENT, A_ACROSS,
 * B_ACROSS; and BLOCKS, the 64-row blocks of a warpgroup's sums.
 *
 * A panel has 128 bytes along k of each row of A (column of B), in wgmma's layout (sm90.h). With A_ACROSS
 * or B_ACROSS the operand is MN-major: a panel has blocks of 128 bytes of elements across k (16-bit types
 * only). Elements outside of the matrix arrive as zeros.
 *
 * APART: number of panels (0: all) whose sums are added to separate sums in f32, because the matrix units
 * keep few places for 8-bit floating point. */
#ifndef TSL_WGMMA_PANELS_H
#define TSL_WGMMA_PANELS_H

constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int PANEL_BYTES = 128, DEPTH = PANEL_BYTES / ELEMENT; /* steps of k in a panel */
constexpr int A_BYTES = TILE_M * PANEL_BYTES, B_BYTES = TILE_N * PANEL_BYTES, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int SLAB_BYTES = DEPTH * 128, SLAB_LINES = 128 / ELEMENT; /* contiguous elements across k */
constexpr int STEPS = PANEL_BYTES / 32;                             /* wgmma steps along k of a panel */

/* Returns the first panel of part `part`, which is the end of the previous part. */
SM90_FUNCTION int part_begins(int k, int part, int parts) {
  return (int)((long long)((k + DEPTH - 1) / DEPTH) * part / parts);
}

struct stage {
  int number;
  unsigned parity;
};

SM90_FUNCTION void next_stage(stage &pipe) {
  if (++pipe.number == STAGES) {
    pipe.number = 0;
    pipe.parity ^= 1;
  }
}

/* Copies LINES rows of A (columns of B) from `line` on, of the panel at `depth` of a layer, to this
 * block or to its cluster. */
template <int ACROSS, int LINES, bool IS_SHARED>
SM90_FUNCTION void load_panel(shared_t end, const tensor_map *map, shared_t full, int line, int depth,
                              int layer = 0) {
  constexpr int STEP = ACROSS ? SLAB_LINES : LINES;
#pragma unroll
  for (int i = 0; i < LINES; i += STEP) {
    const int x = ACROSS ? line + i : depth, y = ACROSS ? depth : line;
    if (IS_SHARED)
      tma_load_multicast(end + i / STEP * SLAB_BYTES, map, full, x, y, layer, (1 << CLUSTER) - 1);
    else
      tma_load(end + i / STEP * SLAB_BYTES, map, full, x, y, layer);
  }
}

/* Starts the products of a panel for block `i` of 64 rows. */
SM90_FUNCTION void multiply_block(wgmma_sums sums, int i, shared_t a, shared_t b, bool add) {
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
    const shared_t from_a = a + (A_ACROSS ? i * SLAB_BYTES + s * 2048 : i * 64 * PANEL_BYTES + s * 32),
                   from_b = b + (B_ACROSS ? s * 2048 : s * 32);
    wgmma_tile_multiply(sums, factor_descriptor(from_a, SLAB_BYTES, 1024),
                        factor_descriptor(from_b, SLAB_BYTES, 1024), add || s > 0);
  }
}

SM90_FUNCTION void clear_sums(wgmma_sums sums[BLOCKS]) {
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int j = 0; j < TILE_N / 8; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
}

/* Starts a warpgroup's products of one stage. `a` and `b` are its rows of A and all columns of B. */
SM90_FUNCTION void multiply_panel(wgmma_sums sums[BLOCKS], shared_t a, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
    multiply_block(sums[i], i, a, b, add);
  wgmma_commit();
}

#if APART
/* Multiplies `panels` panels from stage `pipe` on. Sums of APART panels (1 or 2) are made
 * separately and then added to `sums`; other warpgroups multiply meanwhile. `release` is called for
 * each stage that has been read. */
template <class RELEASE>
SM90_FUNCTION void multiply_apart(wgmma_sums sums[BLOCKS], int panels, shared_t stages, shared_t from_a,
                                  shared_t full, shared_t empty, stage &pipe, RELEASE release) {
  clear_sums(sums);
  for (; panels > 0; panels -= APART) {
    const bool is_pair = APART == 2 && panels > 1;
    const stage one = pipe;
    next_stage(pipe);
    const stage two = pipe;
    if (is_pair)
      next_stage(pipe);
    const shared_t first = stages + one.number * STAGE_BYTES, second = stages + two.number * STAGE_BYTES;
    barrier_wait(full + 8 * one.number, one.parity);
#pragma unroll
    for (int i = 0; i < BLOCKS; i++) {
      wgmma_sums apart;
      wgmma_fence();
      multiply_block(apart, i, first + from_a, first + A_BYTES, false);
      wgmma_commit();
      if (is_pair) {
        if (i == 0)
          barrier_wait(full + 8 * two.number, two.parity);
        wgmma_fence();
        multiply_block(apart, i, second + from_a, second + A_BYTES, true);
        wgmma_commit();
        if (i == BLOCKS - 1) {
          wgmma_wait<1>();
          release(empty + 8 * one.number);
        }
      }
      wgmma_wait<0>();
      if (i == BLOCKS - 1)
        release(empty + 8 * (is_pair ? two.number : one.number));
      wgmma_tile_hold(&apart, 1);
#pragma unroll
      for (int j = 0; j < TILE_N / 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          sums[i][j][e] += apart[j][e];
    }
  }
}
#endif

#endif
