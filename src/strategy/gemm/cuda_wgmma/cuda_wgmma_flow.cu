/* Idea: where a product is bound by what it reads, all multiprocessors read all of the time: many small blocks instead of few that stay, so
 * that the next launch's blocks lie beside this one's and have their first panels brought to the last cache before they may start;
 * and k is shared by the blocks of a cluster, whose sums meet in shared memory.
 *
 *   a cluster: one tile of C, CLUSTER parts of k                  each block: one warpgroup multiplies, one thread loads
 *   | block 0: k 0 .. | block 1 | ... |    -> sums in each block's memory -> block r adds up rows r of all blocks, in their order
 *
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | barriers "full", "empty" of stages |    sums lie where the stages were
 *
 * Once its last copy is on its way a block tells that the next launch may start (dependency_launch): blocks of both are on a
 * multiprocessor at a time, RESIDENT in all, and memory works on while this launch's sums are added up. What is prefetched is right whenever it was read: the last cache is the one place that all of the device writes to.
 *
 * Parts of k beyond the clusters (`parts`, SPLIT) go to memory as cuda_wgmma.cu's do, and cuda_wgmma_split_k_reduce.cu adds them up.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _CLUSTER. From the host: what cuda_wgmma.cu gets but BOXES; RESIDENT.
 * Limits: those of cuda_wgmma.cu. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int BLOCKS = TSL_PARAM_TILE_M / 64;
#include "wgmma_panels.h"
#if FINISH
#include "cuda_wgmma_finish.cu"
#else
struct finish_vectors {};
#endif
constexpr int LOADER = 128; /* the first thread of the fifth warp */
constexpr int BOX_N = TILE_N < 32 ? TILE_N : 32, ACROSS_BOXES = TILE_N / BOX_N, BOX_BYTES = 64 * 128;

/* What a block does: part of k of a tile. */
struct share {
  int row, col, part, first, end;
};

SM90_FUNCTION share share_of(unsigned rank, const cuda_wgmma_arguments &args) {
  const int cluster = blockIdx.x / CLUSTER, tiles = args.tiles_m * args.tiles_n, tile = cluster % tiles,
            part = cluster / tiles, own = part * CLUSTER + (int)rank, all = args.parts * CLUSTER;
  return {tile % args.tiles_m * TILE_M, tile / args.tiles_m * TILE_N, part, part_begins(args.k, own, all),
          part_begins(args.k, own + 1, all)};
}

/* --- loading --- */

template <int ACROSS, int LINES>
SM90_FUNCTION void prefetch_panel(const tensor_map *map, int line, int depth) {
#pragma unroll
  for (int i = 0; i < LINES; i += ACROSS ? 64 : LINES)
    tma_prefetch_box(map, ACROSS ? line + i : depth, ACROSS ? depth : line, 0);
}

SM90_FUNCTION void prefetch_share(const tensor_map *a, const tensor_map *b, const share &share_in, int panels) {
  for (int p = share_in.first; p < min(share_in.end, share_in.first + panels); p++) {
    prefetch_panel<A_ACROSS, TILE_M>(a, share_in.row, p * DEPTH);
    prefetch_panel<B_ACROSS, TILE_N>(b, share_in.col, p * DEPTH);
  }
}

SM90_FUNCTION void load_share(const tensor_map *a, const tensor_map *b, const share &share_in, shared_t stages,
                              shared_t full, shared_t empty) {
  stage at = {0, 1}; /* all are empty at first */
  for (int p = share_in.first; p < share_in.end; p++) {
    const shared_t to = stages + at.number * STAGE_BYTES, arrived = full + 8 * at.number;
    barrier_wait(empty + 8 * at.number, at.parity);
    barrier_arrive_expect(arrived, STAGE_BYTES);
    load_panel<A_ACROSS, TILE_M, false>(to, a, arrived, share_in.row, p * DEPTH);
    load_panel<B_ACROSS, TILE_N, false>(to + A_BYTES, b, arrived, share_in.col, p * DEPTH);
    next_stage(at);
  }
  dependency_launch(); /* memory has nothing more to do for this block: the next launch's may ask it */
}

/* --- multiplying --- */

SM90_FUNCTION void multiply_share(wgmma_sums sums[BLOCKS], const share &share_in, shared_t stages, shared_t full,
                                  shared_t empty) {
  stage at = {0, 0};
#if APART
  multiply_apart(sums, share_in.end - share_in.first, stages, 0, full, empty, at, [](shared_t stage) {
    if (threadIdx.x == 0)
      barrier_arrive(stage);
  });
#else
  shared_t before = 0;
  clear_sums(sums);
  for (int p = share_in.first; p < share_in.end; p++) {
    const shared_t panel = stages + at.number * STAGE_BYTES;
    barrier_wait(full + 8 * at.number, at.parity);
    multiply_panel(sums, panel, panel + A_BYTES, true);
    wgmma_wait<1>();
    if (p > share_in.first && threadIdx.x == 0)
      barrier_arrive(before);
    before = empty + 8 * at.number;
    next_stage(at);
  }
  wgmma_wait<0>();
  wgmma_tile_hold(sums, BLOCKS);
#endif
}

/* --- C --- */

/* Rows `rank` of CLUSTER of the tile: the sums of all blocks of the cluster, four columns a thread at a time. */
SM90_FUNCTION void fold_rows(c_element *c, const share &share_in, unsigned rank, const finish_vectors &with,
                             const cuda_wgmma_arguments &args, shared_t boxes) {
  constexpr int HEIGHT = TILE_M / CLUSTER, CHUNKS = TILE_N / 4;
  const bool rows_first = !SPLIT && args.c_row == 1 && args.c_col != 1;
  c += args.c_offset + share_in.part * args.c_part;
#pragma unroll(CLUSTER > 2 ? 2 : 4)
  for (int e = threadIdx.x; e < HEIGHT * CHUNKS; e += 128) {
    const int y = (int)rank * HEIGHT + (rows_first ? e % HEIGHT : e / CHUNKS),
              chunk = rows_first ? e / HEIGHT : e % CHUNKS;
    const shared_t from =
        boxes + (y / 64 * ACROSS_BOXES + chunk / 8) * BOX_BYTES + swizzled(y % 64, chunk % 8 * 16);
    uint4 words[CLUSTER];
#pragma unroll
    for (int r = 0; r < CLUSTER; r++)
      words[r] = cluster_load(cluster_address(from, r));
    const int row = share_in.row + y, col = share_in.col + 4 * chunk;
    sum_t sums[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < CLUSTER; r++) {
      sums[0] += wgmma_tile_sum(words[r].x);
      sums[1] += wgmma_tile_sum(words[r].y);
      sums[2] += wgmma_tile_sum(words[r].z);
      sums[3] += wgmma_tile_sum(words[r].w);
    }
    if (SPLIT) { /* rows of sums have room for whole chunks */
      if (row < args.m && col < args.n)
        *(uint4 *)(c + row * args.c_row + col) = {scaled(sums[0], args.alpha), scaled(sums[1], args.alpha),
                                                   scaled(sums[2], args.alpha),
                                                   scaled(sums[3], args.alpha)};
      continue;
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
      if (row < args.m && col + x < args.n)
#if FINISH
        finish_store(c + row * args.c_row + (col + x) * args.c_col, sums[x], row, col + x, 0, with,
                     args.beta);
#else
        wgmma_tile_store(c + row * args.c_row + (col + x) * args.c_col, scaled(sums[x], args.alpha),
                         args.beta);
#endif
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(LOADER + 32, RESIDENT)
    tsl_gemm_cuda_wgmma_flow(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                             c_element *c, const __grid_constant__ cuda_wgmma_arguments given
#if FINISH
                             ,
                             const finish_bias *bias, const float *scale_a, const float *scale_b,
                             const __grid_constant__ cuda_wgmma_finish steps
#endif
    ) {
#if FINISH
  const finish_vectors with = {bias, scale_a, scale_b, &steps};
#else
  const finish_vectors with = {};
#endif
  extern __shared__ char memory[];
  const shared_t stages = (shared_address(memory) + 1023) / 1024 * 1024, full = stages + STAGES * STAGE_BYTES,
                 empty = full + 8 * STAGES;
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const share own = share_of(rank, given);
  if (threadIdx.x == LOADER) {
    tma_prefetch(&a);
    tma_prefetch(&b);
    prefetch_share(&a, &b, own, given.ahead);
    for (int s = 0; s < STAGES; s++) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, 1);
    }
    barriers_made_visible();
  }
  __syncthreads();
  dependency_wait();
  if (threadIdx.x >= LOADER) {
    if (threadIdx.x == LOADER)
      load_share(&a, &b, own, stages, full, empty);
    __syncwarp();
  } else {
    cuda_wgmma_scalar one;
    wgmma_sums sums[BLOCKS];
    multiply_share(sums, own, stages, full, empty);
    warpgroup_barrier(0); /* nobody reads the stages any more */
    one.real = 1;
    if (IS_INTEGER)
      one.integer = 1;
#pragma unroll
    for (int j = 0; j < BLOCKS * ACROSS_BOXES; j++)
      wgmma_tile_put_words(stages + j * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES, one);
  }
  cluster_barrier();
  if (threadIdx.x < LOADER)
    fold_rows(c, own, rank, with, given, stages);
  __syncwarp();
  cluster_barrier(); /* whose memory is read stays */
}
