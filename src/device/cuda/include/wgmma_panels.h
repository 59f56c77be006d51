/* Panels of k in shared memory, for warpgroup kernels: TMA loads, wgmma of a stage. Needs sm90.h,
 * wgmma_tile.h, TSL_PARAM_TILE_M, _TILE_N, _CLUSTER, ELEMENT, A_MN_MAJOR, B_MN_MAJOR, SPLIT_ACCUMULATORS,
 * STAGE_PANELS. Needs the constant WAVES, blocks of 64 rows of a warpgroup. A K-major panel has 128 bytes of
 * k of each row of A (column of B). An MN-major panel has slabs: blocks of 128 bytes of adjacent rows
 * (columns) for each k. Elements outside of the matrix arrive as zeros; lines outside are left out
 * (panel_lines). SPLIT_ACCUMULATORS: 8-bit tensor cores accumulate with few places, so the sums of 1 or 2
 * panels are added to f32 sums; 0: one accumulator for all panels. */
#ifndef TSL_WGMMA_PANELS_H
#define TSL_WGMMA_PANELS_H

constexpr int BLOCK_M = TSL_PARAM_TILE_M, BLOCK_N = TSL_PARAM_TILE_N, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int PANEL_BYTES = 128, BLOCK_K = PANEL_BYTES / ELEMENT;
constexpr int SLAB_BYTES = BLOCK_K * 128, SLAB_LINES = 128 / ELEMENT; /* adjacent rows (columns) */
/* Columns of B in a stage: MN-major, whole slabs, of which products read the first BLOCK_N columns. */
constexpr int B_LINES = B_MN_MAJOR ? (BLOCK_N + SLAB_LINES - 1) / SLAB_LINES * SLAB_LINES : BLOCK_N;
constexpr int A_BYTES = BLOCK_M * PANEL_BYTES, B_BYTES = B_LINES * PANEL_BYTES,
              STAGE_BYTES = STAGE_PANELS * (A_BYTES + B_BYTES);
constexpr int K_STEPS = PANEL_BYTES / 32; /* wgmma along k of a panel */
static_assert(BLOCK_M % 64 == 0, "wgmma multiplies 64 rows");
static_assert(BLOCK_N % 8 == 0 && BLOCK_N <= 256, "columns of one wgmma");
static_assert(ELEMENT == 1 || ELEMENT == 2 || ELEMENT == 4, "bytes of an element");
static_assert(ELEMENT == 2 || !B_MN_MAJOR, "wgmma reads MN-major B of 16-bit elements only");
static_assert(SPLIT_ACCUMULATORS >= 0 && SPLIT_ACCUMULATORS <= 2, "panels of a partial accumulator");
static_assert(SPLIT_ACCUMULATORS == 0 || STAGE_PANELS == 1, "panels of partial accumulators are stages");
#include "sm90_mainloop.h"

/* Returns the index of the first panel of k of split-k part `part`. */
SM90_FUNCTION int part_begins(int k, int part, int parts) {
  return (int)((long long)((k + BLOCK_K - 1) / BLOCK_K) * part / parts);
}

/* Tensor maps of A and B. Boxes of a tail have the lines of the last tile of a K-major operand. */
struct operand_maps {
  const tensor_map *a, *b, *a_tail, *b_tail;
};

/* Lines of A (columns of B) that a tile loads, 128 bytes of each a panel: those inside of the matrix. TMA
 * fills lines outside at 16 bytes a clock. Stages keep old bytes in their place; these products are not
 * stored. */
struct panel_lines {
  const tensor_map *map;
  int first, count;
};

/* Returns the lines that a tile of LINES lines loads from `first` on, of `size`; MN-major whole slabs.
 * `tail_lines`: of the last tile.
 * ptxas 13.0 inverts max(0, min(LINES, inside)) == LINES (VIMNMX.RELU), so this compares otherwise. */
template <int MN_MAJOR, int LINES>
SM90_FUNCTION panel_lines get_panel_lines(const tensor_map *map, const tensor_map *tail, int first, int size,
                                          int tail_lines) {
  constexpr int STEP = MN_MAJOR ? SLAB_LINES : 1, ALL = (LINES + STEP - 1) / STEP * STEP;
  const int inside = size - first;
  if (inside >= LINES)
    return {map, first, ALL};
  if (inside <= 0)
    return {map, first, 0};
  if (MN_MAJOR)
    return {map, first, (inside + STEP - 1) / STEP * STEP};
  return {tail, first, tail_lines};
}

/* Loads lines of a panel at k = `depth`. */
template <int MN_MAJOR, int LINES>
SM90_FUNCTION void load_panel(shared_t end, const panel_lines &lines, shared_t full, int depth,
                              int layer = 0) {
  constexpr int STEP = MN_MAJOR ? SLAB_LINES : LINES;
#pragma unroll
  for (int i = 0; i < LINES; i += STEP)
    if (i < lines.count)
      tma_load(end + i / STEP * SLAB_BYTES, lines.map, full, MN_MAJOR ? lines.first + i : depth,
               MN_MAJOR ? depth : lines.first, layer);
}

/* Returns by how many panels tile `index` of a thin product's long side begins later than at its first panel,
 * of `count`. All blocks would otherwise read the same columns of the long factor, from few channels of
 * memory. Neighbours in an MN-major factor begin together: they read parts of the same lines. */
template <int MN_MAJOR>
SM90_FUNCTION int turn_of_tile(int index, int count) {
  constexpr int TOGETHER_TILES = MN_MAJOR ? 8 : 1;
  index /= TOGETHER_TILES;
  return count > 0 ? (int)((unsigned)index * 0x9e3779b1u % (unsigned)count) : 0;
}
/* Returns the panel that a tile loads as number `p` of [first, end). */
SM90_FUNCTION int turned_panel(int p, int turn, int first, int end) {
  return p + turn < end ? p + turn : p + turn - (end - first);
}

/* Prefetches lines of a panel at k = `depth` to L2. */
template <int MN_MAJOR, int LINES>
SM90_FUNCTION void prefetch_panel(const panel_lines &lines, int depth) {
#pragma unroll
  for (int i = 0; i < LINES; i += MN_MAJOR ? SLAB_LINES : LINES)
    if (i < lines.count)
      tma_prefetch_box(lines.map, MN_MAJOR ? lines.first + i : depth, MN_MAJOR ? depth : lines.first, 0);
}

/* Prefetches panels [first, end) of these lines of A and B. */
SM90_FUNCTION void prefetch_panels(const panel_lines &a, const panel_lines &b, int first, int end) {
  for (int p = first; p < end; p++) {
    prefetch_panel<A_MN_MAJOR, BLOCK_M>(a, p * BLOCK_K);
    prefetch_panel<B_MN_MAJOR, BLOCK_N>(b, p * BLOCK_K);
  }
}

/* Narrow tiles keep descriptors in uniform registers, and wider tiles of 64 rows, which one warpgroup
 * multiplies. Other tiles have time to move them. */
constexpr bool IS_UNIFORM = BLOCK_N <= 64 || (WAVES * WARPGROUPS == 1 && BLOCK_N <= 136);

/* Returns the descriptor of `bytes` further on. */
SM90_FUNCTION descriptor_t advance_descriptor(descriptor_t descriptor, unsigned bytes) {
  return IS_UNIFORM ? descriptor >> 32 << 32 | (unsigned)((unsigned)descriptor + bytes / 16)
                    : descriptor + bytes / 16;
}

/* Starts a panel's products for block `i` of 64 rows. */
SM90_FUNCTION void multiply_block(wgmma_sums sums, int i, shared_t a, shared_t b, bool add) {
  const descriptor_t from_a = smem_descriptor(a + i * (A_MN_MAJOR ? SLAB_BYTES : 64 * PANEL_BYTES),
                                              SLAB_BYTES, 1024),
                     from_b = smem_descriptor(b, SLAB_BYTES, 1024);
#pragma unroll
  for (int s = 0; s < K_STEPS; s++)
    wgmma_tile_multiply(sums, advance_descriptor(from_a, s * (A_MN_MAJOR ? 2048 : 32)),
                        advance_descriptor(from_b, s * (B_MN_MAJOR ? 2048 : 32)), add || s > 0);
}

SM90_FUNCTION void clear_sums(wgmma_sums sums[WAVES]) {
#pragma unroll
  for (int i = 0; i < WAVES; i++)
#pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
}

/* Starts a stage's products of the warpgroup's rows of A at `a` and all columns of B at `b`. */
SM90_FUNCTION void multiply_panel(wgmma_sums sums[WAVES], shared_t a, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < WAVES; i++)
    multiply_block(sums[i], i, a, b, add);
  wgmma_commit_group();
}

/* Two sets of partial sums, where registers suffice: one is added while the products of the other run. */
constexpr bool TWO_PARTIALS = SPLIT_ACCUMULATORS == 1 && WAVES == 1 && BLOCK_N <= 64;

/* Starts the products of one panel, from 0 on, and returns its stage's "empty" barrier. */
SM90_FUNCTION shared_t start_partial(wgmma_sums partial, const pipeline_memory &smem, shared_t from_a,
                                     pipeline_state &pipe) {
  const shared_t stage = current_stage<IS_UNIFORM>(smem, pipe), empty = smem.empty + 8 * pipe.stage;
  mbarrier_wait_parity(smem.full + 8 * pipe.stage, pipe.parity);
  wgmma_fence();
  multiply_block(partial, 0, stage + from_a, stage + A_BYTES, false);
  wgmma_commit_group();
  advance(pipe);
  return empty;
}

SM90_FUNCTION void add_partial(wgmma_sums sums, wgmma_sums partial) {
  wgmma_fence_sums((wgmma_sums *)partial, 1);
#pragma unroll
  for (int j = 0; j < BLOCK_N / 8; j++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      sums[j][e] += partial[j][e];
}

/* consumer_mainloop_split() with TWO_PARTIALS. */
template <class RELEASE>
SM90_FUNCTION void consumer_mainloop_partials(wgmma_sums sums, int panels, const pipeline_memory &smem,
                                              shared_t from_a, pipeline_state &pipe, RELEASE release) {
  if (panels <= 0)
    return;
  wgmma_sums even, odd;
  shared_t first = start_partial(even, smem, from_a, pipe);
#pragma unroll 1
  for (; panels > 2; panels -= 2) {
    const shared_t second = start_partial(odd, smem, from_a, pipe);
    wgmma_wait_group<1>();
    release(first);
    add_partial(sums, even);
    first = start_partial(even, smem, from_a, pipe);
    wgmma_wait_group<1>();
    release(second);
    add_partial(sums, odd);
  }
  if (panels == 2) {
    const shared_t second = start_partial(odd, smem, from_a, pipe);
    wgmma_wait_group<1>();
    release(first);
    add_partial(sums, even);
    wgmma_wait_group<0>();
    release(second);
    add_partial(sums, odd);
  } else {
    wgmma_wait_group<0>();
    release(first);
    add_partial(sums, even);
  }
}

/* Computes the products of `panels` panels from stage `pipe` on, with SPLIT_ACCUMULATORS; one warpgroup adds
 * sums while the other's products run. `release` gets the "empty" barrier of each stage that was read. */
template <class RELEASE>
SM90_FUNCTION void consumer_mainloop_split(wgmma_sums sums[WAVES], int panels, const pipeline_memory &smem,
                                           shared_t from_a, pipeline_state &pipe, RELEASE release) {
  clear_sums(sums);
  if constexpr (TWO_PARTIALS) {
    consumer_mainloop_partials(sums[0], panels, smem, from_a, pipe, release);
    panels = 0;
  }
  for (; panels > 0; panels -= SPLIT_ACCUMULATORS) {
    const bool is_pair = SPLIT_ACCUMULATORS == 2 && panels > 1;
    const pipeline_state one = pipe;
    advance(pipe);
    const pipeline_state two = pipe;
    if (is_pair)
      advance(pipe);
    const shared_t first = current_stage<false>(smem, one), second = current_stage<false>(smem, two);
    mbarrier_wait_parity(smem.full + 8 * one.stage, one.parity);
#pragma unroll
    for (int i = 0; i < WAVES; i++) {
      wgmma_sums partial;
      wgmma_fence();
      multiply_block(partial, i, first + from_a, first + A_BYTES, false);
      wgmma_commit_group();
      if (is_pair) {
        if (i == 0)
          mbarrier_wait_parity(smem.full + 8 * two.stage, two.parity);
        wgmma_fence();
        multiply_block(partial, i, second + from_a, second + A_BYTES, true);
        wgmma_commit_group();
        if (i == WAVES - 1) {
          wgmma_wait_group<1>();
          release(smem.empty + 8 * one.stage);
        }
      }
      wgmma_wait_group<0>();
      if (i == WAVES - 1)
        release(smem.empty + 8 * (is_pair ? two.stage : one.stage));
      wgmma_fence_sums(&partial, 1);
#pragma unroll
      for (int j = 0; j < BLOCK_N / 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          sums[i][j][e] += partial[j][e];
    }
  }
}

#endif
