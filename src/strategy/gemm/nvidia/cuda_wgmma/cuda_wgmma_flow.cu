/* Idea: where memory bandwidth limits a product, many small blocks keep all multiprocessors reading. Blocks
 * of the next launch become resident early and prefetch their first panels to L2 before they may start. The
 * blocks of a cluster split k, and their sums meet in distributed shared memory.
 *   a cluster: one tile of C, CLUSTER parts of k      each block: one consumer warpgroup, one producer thread
 *   | block 0: k 0 .. | block 1 | ... | -> sums in each block's memory -> block r adds rows r of all in order
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | mbarriers "full", "empty" |  sums reuse it.
 * A block allows the next launch (grid_dependency_launch) once its last copy is issued: RESIDENT blocks of
 * both launches are resident, so that memory stays busy while this launch reduces its sums. Prefetched data
 * is valid whenever it was read, because all multiprocessors write to memory through L2. Tiles begin at
 * different panels of their part of k (args.turns). Parts of k beyond the clusters (`parts`, SPLIT) go to
 * memory; cuda_wgmma_split_k_reduce.cu adds them. Parameters, defines and limits: as for cuda_wgmma.cu
 * without BOXES. */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = 1, WAVES = TSL_PARAM_TILE_M / 64;
#include "wgmma_panels.h"

#include "cuda_wgmma_epilogue.cu"
constexpr int LOADER = 128; /* first thread of the fifth warp: the producer */
constexpr int BOX_N = 32, ACROSS_BOXES = (BLOCK_N + BOX_N - 1) / BOX_N, BOX_BYTES = 64 * 128;

/* Work tile of a block: a tile of C, its split-k part, and its panels [first, end). */
struct work_tile {
  int row, col, part, first, end;
};

SM90_FUNCTION work_tile get_work_tile(unsigned rank, const cuda_wgmma_arguments &args) {
  const int cluster = blockIdx.x / CLUSTER, tiles = args.tiles_m * args.tiles_n, tile = cluster % tiles,
            part = cluster / tiles, own = part * CLUSTER + (int)rank, all = args.parts * CLUSTER;
  return {tile % args.tiles_m * BLOCK_M, tile / args.tiles_m * BLOCK_N, part, part_begins(args.k, own, all),
          part_begins(args.k, own + 1, all)};
}

SM90_FUNCTION int get_turn(const work_tile &tile, const cuda_wgmma_arguments &args) {
  const int panels = tile.end - tile.first;
  return args.turns == 0   ? 0
         : args.turns == 1 ? turn_of_tile<A_MN_MAJOR>(tile.row / BLOCK_M, panels)
                           : turn_of_tile<B_MN_MAJOR>(tile.col / BLOCK_N, panels);
}

SM90_FUNCTION void run_producer(const panel_lines &a, const panel_lines &b, const work_tile &tile, int turn,
                                const pipeline_memory &smem) {
  pipeline_state pipe = {0, 1}; /* all stages are empty at first */
  const auto load = [&](shared_t stage, shared_t full, int number) {
    const int depth = turned_panel(number, turn, tile.first, tile.end) * BLOCK_K;
    load_panel<A_MN_MAJOR, BLOCK_M>(stage, a, full, depth);
    load_panel<B_MN_MAJOR, BLOCK_N>(stage + A_BYTES, b, full, depth);
  };
  producer_mainloop<TOGETHER>(smem, pipe, tile.first, tile.end, load, (a.count + b.count) * PANEL_BYTES);
  grid_dependency_launch(); /* all loads are issued: the next launch may use the memory bandwidth */
}

SM90_FUNCTION void multiply_tile(wgmma_sums sums[WAVES], const work_tile &tile, const pipeline_memory &smem) {
  const auto release = [](shared_t empty) {
    if (threadIdx.x == 0)
      mbarrier_arrive(empty);
  };
  pipeline_state pipe = {0, 0};
  if constexpr (SPLIT_ACCUMULATORS > 0) {
    consumer_mainloop_split(sums, tile.end - tile.first, smem, 0, pipe, release);
  } else {
    clear_sums(sums); /* a block may have no panels */
    consumer_mainloop<IS_UNIFORM>(
        smem, pipe, tile.first, tile.end,
        [&](shared_t stage, bool) { multiply_panel(sums, stage, stage + A_BYTES, true); }, release);
    wgmma_fence_sums(sums, WAVES);
  }
}

/* Adds the sums of the cluster's blocks for rows `rank` of CLUSTER, four columns a thread, and stores C. */
SM90_FUNCTION void reduce_rows(c_element *c, const work_tile &tile, unsigned rank,
                               const epilogue_vectors &vectors, const cuda_wgmma_arguments &args,
                               shared_t boxes) {
  constexpr int HEIGHT = BLOCK_M / CLUSTER, CHUNKS = BLOCK_N / 4;
  const bool rows_first = !SPLIT && args.c_row == 1 && args.c_col != 1;
  c += args.c_offset + tile.part * args.c_part;
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
    const int row = tile.row + y, col = tile.col + 4 * chunk;
    sum_t sums[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < CLUSTER; r++) {
      sums[0] += wgmma_tile_sum(words[r].x);
      sums[1] += wgmma_tile_sum(words[r].y);
      sums[2] += wgmma_tile_sum(words[r].z);
      sums[3] += wgmma_tile_sum(words[r].w);
    }
    if (SPLIT) { /* rows of partial sums have room for whole chunks */
      if (row < args.m && col < args.n)
        *(uint4 *)(c + row * args.c_row + col) = {scaled(sums[0], args.alpha), scaled(sums[1], args.alpha),
                                                  scaled(sums[2], args.alpha), scaled(sums[3], args.alpha)};
      continue;
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
      if (row < args.m && col + x < args.n)
        store_element(c + row * args.c_row + (col + x) * args.c_col, sums[x], args.alpha, row, col + x, 0,
                      vectors, args.beta);
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(LOADER + 32, RESIDENT)
    tsl_gemm_cuda_wgmma_flow(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                             const __grid_constant__ tensor_map a_tail,
                             const __grid_constant__ tensor_map b_tail, c_element *c,
                             const __grid_constant__ cuda_wgmma_arguments args, const epilogue_bias *bias,
                             const float *scale_a, const float *scale_b,
                             const __grid_constant__ cuda_wgmma_finish steps) {
  const epilogue_vectors vectors = {bias, scale_a, scale_b, &steps};
  extern __shared__ char memory[];
  pipeline_memory smem;
  smem.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  smem.full = smem.stages + STAGES * STAGE_BYTES;
  smem.empty = smem.full + 8 * STAGES;
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const work_tile tile = get_work_tile(rank, args);
  const panel_lines a_lines =
                        get_panel_lines<A_MN_MAJOR, BLOCK_M>(&a, &a_tail, tile.row, args.m, args.a_tail),
                    b_lines =
                        get_panel_lines<B_MN_MAJOR, BLOCK_N>(&b, &b_tail, tile.col, args.n, args.b_tail);
  if (threadIdx.x == LOADER) {
    tma_prefetch_map(a_lines.map);
    tma_prefetch_map(b_lines.map);
    const int first = tile.first + get_turn(tile, args);
    prefetch_panels(a_lines, b_lines, first, min(tile.end, first + args.ahead));
    init_barriers(smem, WARPGROUPS);
  }
  __syncthreads();
  grid_dependency_wait();
  if (threadIdx.x >= LOADER) {
    if (elect_one())
      run_producer(a_lines, b_lines, tile, get_turn(tile, args), smem);
    __syncwarp();
  } else {
    wgmma_sums sums[WAVES];
    multiply_tile(sums, tile, smem);
    warpgroup_barrier(0); /* all warps have read the stages: sums may overwrite them */
#pragma unroll
    for (int j = 0; j < WAVES * ACROSS_BOXES; j++)
      wgmma_tile_put_words(smem.stages + j * BOX_BYTES, sums[j / ACROSS_BOXES], j % ACROSS_BOXES * BOX_N,
                           wgmma_identity_scale());
  }
  cluster_barrier();
  if (threadIdx.x < LOADER)
    reduce_rows(c, tile, rank, vectors, args, smem.stages);
  __syncwarp();
  cluster_barrier_relaxed(); /* keeps this block's shared memory alive until the other blocks have read it */
}
