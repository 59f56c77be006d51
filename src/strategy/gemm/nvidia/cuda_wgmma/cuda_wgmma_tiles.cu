/* Work tiles of persistent blocks: coordinates, producer and consumer main loops, output of C. Included by
 * cuda_wgmma.cu, which explains the parameters, and by cuda_wgmma_joined.cu. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, ROWS = TSL_PARAM_TILE_M / WARPGROUPS,
              BLOCKS = ROWS / 64;
#include "wgmma_panels.h"
#if FINISH
#define FINISH_IN_REGISTERS
#include "cuda_wgmma_finish.cu"
constexpr int FINISH_BYTES = FINISH_COLUMNS * TILE_N * 4; /* of one warpgroup */
#else
struct epilogue_vectors {};
constexpr int FINISH_BYTES = 0;
#endif
constexpr int BOX_BYTES = 64 * 128;
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;

/* Tile of C in one layer (a part of k, or a product of a batch), and its panels [first, end) along k. */
struct work_tile {
  int row, col, layer, first, end;
};

SM90_FUNCTION int count_work_tiles(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n * args.parts * args.products;
}

/* Returns work tile `number`, layer by layer, each in bands of raster_height rows of tiles. */
SM90_FUNCTION work_tile get_work_tile(int number, unsigned rank, const cuda_wgmma_arguments &args) {
  const int tiles = args.tiles_m * args.tiles_n, tile = number % tiles, layer = number / tiles,
            part = SPLIT ? layer : 0;
  const int above = tile / (args.raster_height * args.tiles_n) * args.raster_height,
            place = tile % (args.raster_height * args.tiles_n);
  const int height = min(args.tiles_m - above, args.raster_height);
  return {((above + place % height) * CLUSTER + (int)rank) * TILE_M, place / height * TILE_N, layer,
          part_begins(args.k, part, args.parts), part_begins(args.k, part + 1, args.parts)};
}

/* Loads all panels of a work tile. Called by one thread. */
SM90_FUNCTION void producer_mainloop(const tensor_map *a, const tensor_map *b, const work_tile &tile,
                                     int a_layer, int b_layer, shared_t stages, shared_t full, shared_t empty,
                                     unsigned rank, pipeline_state &pipe) {
  constexpr int OWN = TILE_N / CLUSTER; /* columns of B that this block loads */
  for (int p = tile.first; p < tile.end; p++) {
    const shared_t to = stages + pipe.number * STAGE_BYTES, arrived = full + 8 * pipe.number;
    mbarrier_wait_parity(empty + 8 * pipe.number, pipe.parity);
    mbarrier_arrive_expect_tx(arrived, STAGE_BYTES);
    load_panel<A_MN_MAJOR, TILE_M, false>(to, a, arrived, tile.row, p * DEPTH, a_layer);
    load_panel<B_MN_MAJOR, OWN, (CLUSTER > 1)>(to + A_BYTES + rank * (B_BYTES / CLUSTER), b, arrived,
                                               tile.col + rank * OWN, p * DEPTH, b_layer);
    advance(pipe);
  }
}

/* Marks a stage as read by this warpgroup, in each block of the cluster. */
SM90_FUNCTION void release_stage(shared_t empty) {
  if (threadIdx.x % 128 < CLUSTER) {
    if (CLUSTER > 1)
      mbarrier_arrive_remote(empty, threadIdx.x % 128);
    else
      mbarrier_arrive(empty);
  }
}

SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * ROWS;
}

/* Computes the warpgroup's accumulators of a work tile: ROWS rows by TILE_N columns. */
SM90_FUNCTION void consumer_mainloop(wgmma_sums sums[BLOCKS], const work_tile &tile, shared_t stages,
                                     shared_t full, shared_t empty, pipeline_state &pipe) {
  const shared_t from_a = A_MN_MAJOR ? rows_above() / 64 * SLAB_BYTES : rows_above() * PANEL_BYTES;
#if SPLIT_ACCUMULATORS
  multiply_split(sums, tile.end - tile.first, stages, from_a, full, empty, pipe,
                 [](shared_t stage) { release_stage(stage); });
#else
  shared_t before = 0; /* "empty" mbarrier of the stage whose products may still be in flight */
  for (int p = tile.first; p < tile.end; p++) {
    const shared_t panel = stages + pipe.number * STAGE_BYTES;
    mbarrier_wait_parity(full + 8 * pipe.number, pipe.parity);
    multiply_panel(sums, panel + from_a, panel + A_BYTES, p > tile.first);
    wgmma_wait_group<1>();
    if (p > tile.first)
      release_stage(before);
    before = empty + 8 * pipe.number;
    advance(pipe);
  }
  wgmma_wait_group<0>();
  release_stage(before);
  wgmma_fence_sums(sums, BLOCKS);
#endif
}

/* ALL_BOXES: boxes of a warpgroup's rows. TOGETHER: boxes of one TMA store group. */
constexpr int BOX_N = 128 / (SPLIT || C_FORM == 0 || C_FORM == 3 ? 4 : 2),
              ACROSS_BOXES = TILE_N < BOX_N ? 1 : TILE_N / BOX_N, ALL_BOXES = BLOCKS * ACROSS_BOXES,
              TOGETHER = BOXES < 2 ? 1 : BOXES / 2;

/* Writes the accumulators to `boxes`, the warpgroup's epilogue memory, and stores them by TMA. The block's
 * last tile uses the stages' memory, which holds all boxes at once. */
template <class ALPHA>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[BLOCKS], const work_tile &tile,
                                bool is_last, ALPHA alpha, shared_t stages, shared_t boxes) {
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
        tma_store_wait_read<BOXES / TOGETHER - 1>();
      warpgroup_barrier(group);
    }
#pragma unroll
    for (int j = i; j < i + TOGETHER; j++)
      wgmma_tile_put(to + (j - i) * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES, alpha);
    if (is_last && i + TOGETHER < ALL_BOXES)
      continue;
    fence_proxy_async();
    warpgroup_barrier(group);
    if (is_first) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < i + TOGETHER; j++)
        tma_store(c, boxes + (is_last ? j : j % BOXES) * BOX_BYTES, tile.col + j % ACROSS_BOXES * BOX_N,
                  tile.row + rows_above() + j / ACROSS_BOXES * 64, tile.layer);
      tma_store_commit();
    }
  }
}

/* Returns the bits of an element of C that is not read (beta = 0), from the word of its sum. */
SM90_FUNCTION unsigned result_bits(unsigned word, int row, int col, int product,
                                   const epilogue_vectors &vectors) {
#if FINISH
  const float x = epilogue_element(wgmma_tile_sum(word), 0, row, col, product, vectors, 0);
  word = __float_as_uint(x);
#endif
#if !SPLIT && (C_FORM == 1 || C_FORM == 2)
  return c_pair(__uint_as_float(word), 0) & 0xffff;
#else
  return word;
#endif
}

#include "cuda_wgmma_rows.cu"

struct block_memory {
  /* epilogue_vectors: table or epilogue vectors, after the mbarriers */
  shared_t stages, epilogue, full, empty, epilogue_vectors;
};

SM90_FUNCTION block_memory init_block(const char *memory) {
  block_memory smem;
  smem.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  smem.epilogue = smem.stages + STAGES * STAGE_BYTES;
  smem.full = smem.epilogue + WARPGROUPS * BOXES * BOX_BYTES;
  smem.empty = smem.full + 8 * STAGES;
  smem.epilogue_vectors = smem.empty + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      mbarrier_init(smem.full + 8 * s, 1);
      mbarrier_init(smem.empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    fence_mbarrier_init();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  return smem;
}
