/* What blocks that stay do of a tile: who of them takes which, its panels, its products, and C. Of cuda_wgmma.cu, which has the parameters, and
 * cuda_wgmma_joined.cu. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, ROWS = TSL_PARAM_TILE_M / WARPGROUPS,
              BLOCKS = ROWS / 64;
#include "wgmma_panels.h"
#if FINISH
#define FINISH_IN_REGISTERS
#include "cuda_wgmma_finish.cu"
constexpr int FINISH_BYTES = FINISH_COLUMNS * TILE_N * 4; /* of a warpgroup */
#else
struct finish_vectors {};
constexpr int FINISH_BYTES = 0;
#endif
constexpr int BOX_BYTES = 64 * 128;
constexpr int LOADING_REGISTERS = 40, MULTIPLYING_REGISTERS = 232;

/* What a block does at a time: a tile of a layer (a part of k, or a product of a batch), and of its panels along k the first and the
 * one behind the last. */
struct share {
  int row, col, layer, first, end;
};

SM90_FUNCTION int shares_of(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n * args.parts * args.products;
}

SM90_FUNCTION share share_of(int number, unsigned rank, const cuda_wgmma_arguments &args) {
  const int tiles = args.tiles_m * args.tiles_n, tile = number % tiles, layer = number / tiles,
            part = SPLIT ? layer : 0;
  const int above = tile / (args.band * args.tiles_n) * args.band,
            place = tile % (args.band * args.tiles_n);
  const int height = min(args.tiles_m - above, args.band);
  return {((above + place % height) * CLUSTER + (int)rank) * TILE_M, place / height * TILE_N, layer,
          part_begins(args.k, part, args.parts), part_begins(args.k, part + 1, args.parts)};
}

/* --- loading --- */

/* All panels of a share, by one thread. */
SM90_FUNCTION void load_share(const tensor_map *a, const tensor_map *b, const share &share_in, int a_layer,
                              int b_layer, shared_t stages, shared_t full, shared_t empty, unsigned rank,
                              stage &stage_in) {
  constexpr int OWN = TILE_N / CLUSTER; /* columns of B that this block loads */
  for (int p = share_in.first; p < share_in.end; p++) {
    const shared_t to = stages + stage_in.number * STAGE_BYTES, arrived = full + 8 * stage_in.number;
    barrier_wait(empty + 8 * stage_in.number, stage_in.parity);
    barrier_arrive_expect(arrived, STAGE_BYTES);
    load_panel<A_ACROSS, TILE_M, false>(to, a, arrived, share_in.row, p * DEPTH, a_layer);
    load_panel<B_ACROSS, OWN, (CLUSTER > 1)>(to + A_BYTES + rank * (B_BYTES / CLUSTER), b, arrived,
                                             share_in.col + rank * OWN, p * DEPTH, b_layer);
    next_stage(stage_in);
  }
}

/* --- multiplying --- */

/* This warpgroup has read a stage: says so here and to the other block of the cluster. */
SM90_FUNCTION void release_stage(shared_t empty) {
  if (threadIdx.x % 128 < CLUSTER) {
    if (CLUSTER > 1)
      barrier_arrive_at(empty, threadIdx.x % 128);
    else
      barrier_arrive(empty);
  }
}

/* Rows of a block's tile above this warpgroup's. */
SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * ROWS;
}

/* The sums of a share: ROWS rows by TILE_N columns. */
SM90_FUNCTION void multiply_share(wgmma_sums sums[BLOCKS], const share &share_in, shared_t stages, shared_t full,
                                  shared_t empty, stage &stage_in) {
  const shared_t from_a = A_ACROSS ? rows_above() / 64 * SLAB_BYTES : rows_above() * PANEL_BYTES;
#if APART
  multiply_apart(sums, share_in.end - share_in.first, stages, from_a, full, empty, stage_in,
                 [](shared_t stage) { release_stage(stage); });
#else
  shared_t before = 0; /* the stage whose products may be under way when the next ones start */
  for (int p = share_in.first; p < share_in.end; p++) {
    const shared_t panel = stages + stage_in.number * STAGE_BYTES;
    barrier_wait(full + 8 * stage_in.number, stage_in.parity);
    multiply_panel(sums, panel + from_a, panel + A_BYTES, p > share_in.first);
    wgmma_wait<1>();
    if (p > share_in.first)
      release_stage(before);
    before = empty + 8 * stage_in.number;
    next_stage(stage_in);
  }
  wgmma_wait<0>();
  release_stage(before);
  wgmma_tile_hold(sums, BLOCKS);
#endif
}

/* --- C --- */

/* Boxes of a warpgroup's rows, and how many of them go out together. */
constexpr int BOX_N = 128 / (SPLIT || C_FORM == 0 || C_FORM == 3 ? 4 : 2),
              ACROSS_BOXES = TILE_N < BOX_N ? 1 : TILE_N / BOX_N, ALL_BOXES = BLOCKS * ACROSS_BOXES,
              TOGETHER = BOXES < 2 ? 1 : BOXES / 2;

/* C's columns of a share, by copies of boxes from `boxes`, the warpgroup's own. After the block's last share the stages' memory is free, and takes them all at once. */
template <class ALPHA>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const share &share_in, bool is_last,
                                ALPHA alpha, shared_t stages, shared_t boxes) {
  const int group = threadIdx.x / 128 - 1;
  const bool is_first = threadIdx.x % 128 == 0;
  if (is_last) {
    named_barrier<WARPGROUPS + 1>(128 * WARPGROUPS);
    boxes = stages + group * ALL_BOXES * BOX_BYTES;
  }
#pragma unroll
  for (int i = 0; i < ALL_BOXES; i += TOGETHER) {
    const shared_t to = boxes + (is_last ? i : i % BOXES) * BOX_BYTES;
    if (!is_last) {
      if (is_first)
        tma_stores_read<BOXES / TOGETHER - 1>();
      warpgroup_barrier(group);
    }
#pragma unroll
    for (int j = i; j < i + TOGETHER; j++)
      wgmma_tile_put(to + (j - i) * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES, alpha);
    if (is_last && i + TOGETHER < ALL_BOXES)
      continue;
    shared_writes_done();
    warpgroup_barrier(group);
    if (is_first) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < i + TOGETHER; j++)
        tma_store(c, boxes + (is_last ? j : j % BOXES) * BOX_BYTES, share_in.col + j % ACROSS_BOXES * BOX_N,
                  share_in.row + rows_above() + j / ACROSS_BOXES * 64, share_in.layer);
      tma_stores_commit();
    }
  }
}

/* Of an element of C that is not read, its bits, from the word of its sum. */
SM90_FUNCTION unsigned element_of(unsigned word, int row, int col, int product, const finish_vectors &with) {
#if FINISH
  const float x = finish_element(wgmma_tile_sum(word), 0, row, col, product, with, 0);
  word = __float_as_uint(x);
#endif
#if !SPLIT && (C_FORM == 1 || C_FORM == 2)
  return c_pair(__uint_as_float(word), 0) & 0xffff;
#else
  return word;
#endif
}

#include "cuda_wgmma_rows.cu"

/* --- a block's memory and barriers --- */

/* Where they lie; the first thread makes the barriers, and a barrier of the cluster is behind them. */
struct place {
  shared_t stages, boxes, full, empty, beside; /* what else there is */
};

SM90_FUNCTION place begin_block(const char *memory) {
  place at;
  at.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  at.boxes = at.stages + STAGES * STAGE_BYTES;
  at.full = at.boxes + WARPGROUPS * BOXES * BOX_BYTES;
  at.empty = at.full + 8 * STAGES;
  at.beside = at.empty + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(at.full + 8 * s, 1);
      barrier_init(at.empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    barriers_made_visible();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  return at;
}
