/* Idea: persistent warp-specialised GEMM for sm_90: one producer thread loads whole panels by TMA, and
 * consumer warpgroups multiply them from shared memory by wgmma. A thread block computes one work tile after
 * the other. Beyond opencl_mma_group.cl it has tensor maps encoded by the host, multicast of B within a
 * cluster and setmaxnreg. TMA stores of C overlap the next tile, and launches overlap (programmatic dependent
 * launch).
 *
 *   tile of C, BLOCK_M x BLOCK_N       warpgroup 0: producer (one thread; it gives its registers away)
 *   +------------------------+         warpgroup 1: consumer of WARPGROUP_M rows by BLOCK_N columns
 *   | warpgroup 1            |         warpgroup 2: consumer of the next WARPGROUP_M rows
 *   +------------------------+         A warpgroup's rows are WAVES blocks of 64, the rows of one wgmma.
 *   | warpgroup 2            |         A cluster's blocks have CLUSTER_M by CLUSTER_N tiles. Those of a row
 *   +------------------------+         share rows of A, and those of a column share columns of B.
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | epilogue boxes | full, empty barriers |
 *
 * Reading order: tsl_gemm_cuda_wgmma() at the end of this file, then its two roles, run_producer() and
 * run_consumers(). sm90_mainloop.h has the loops over k and their barriers, wgmma_panels.h a panel's loads
 * and products. cuda_wgmma_scheduler.cu has the order of tiles and stream-k. Some configs need one more file:
 *   cuda_wgmma_mn_major.cu   MN-major A of f32 and bytes.
 *   cuda_wgmma_epilogue.cu   Fused epilogue (FINISH).
 *   cuda_wgmma_rows.cu       C without a tensor map.
 *   cuda_wgmma_row_sums.cu   Sums of C's rows, for a verification (ROW_SUMS).
 *   cuda_wgmma_joined.cu     Products of different sizes (JOINED).
 *
 * Output of C: a warpgroup writes boxes of 64 rows by 128 bytes to shared memory and stores them by TMA.
 * The last box ends with the tile, and may overlap the box before it. A tile narrower than a box is stored as
 * one if C ends within the tile. Where columns of C are contiguous (C_BY_COLUMNS), boxes are transposed: 64
 * columns, or all of a narrower tile, of 128 bytes. Threads store elements where a map does not suit C's
 * strides, or C is read (beta). Tiles of a thin product begin at different panels of k (args.turns). Split-k
 * (SPLIT): `parts` ranges of k are summed to separate f32 or i32 matrices, which cuda_wgmma_split_k_reduce.cu
 * adds in a fixed order. Products of a batch are layers of the tensor maps.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _CLUSTER. Defines of the host: STAGES, STAGE_PANELS, BOXES, ELEMENT
 * (bytes of an element of A and B), A_TYPE, B_TYPE (PTX names), C_FORM (0 f32, 1 f16, 2 bf16, 3 i32);
 * A_MN_MAJOR, B_MN_MAJOR, CLUSTER_N, C_BY_COLUMNS, SPLIT, STREAM, JOINED, ROW_SUMS, SPLIT_ACCUMULATORS
 * (panels per partial accumulator; 0: one accumulator); RESIDENT (blocks of a multiprocessor), TOGETHER
 * (panels requested together by thin products), WHOLE_SUMS, and the defines of cuda_wgmma_epilogue.cu.
 * Limits: sm_90a; 1 <= k (cuda_wgmma_split_k_reduce.cu handles k = 0); m, n, k < 2^31; A and B suit tensor
 * maps (pitches and addresses are multiples of 16 bytes). */
#include "cuda_wgmma_shared.h"
#include "sm90.h"
#include "wgmma_tile.h"

constexpr int WARPGROUPS = TSL_PARAM_TILE_M > 64 ? 2 : 1, WARPGROUP_M = TSL_PARAM_TILE_M / WARPGROUPS,
              WAVES = WARPGROUP_M / 64;
#include "wgmma_panels.h"
static_assert(WAVES * BLOCK_N / 2 <= 128, "accumulators of a thread");

/* A cluster's blocks along m share B, blocks along n share A. SENDERS: blocks that copy to a block's stages.
 */
constexpr int CLUSTER_M = CLUSTER / CLUSTER_N, SENDERS = CLUSTER_M + CLUSTER_N - 1;

/* Returns a block's place in its cluster along m and n. */
SM90_FUNCTION int place_m(unsigned rank) {
  return (int)rank % CLUSTER_M;
}
SM90_FUNCTION int place_n(unsigned rank) {
  return (int)rank / CLUSTER_M;
}

/* A thin product's small blocks leave room for the next launch's, which prefetch before they may start. */
constexpr bool OVERLAPS = RESIDENT > 1;

/* Sums of C's rows need zeros outside of the matrix, and the tables of fused launches have no sizes. */
constexpr bool SKIPS_OUTSIDE = !JOINED && !ROW_SUMS;

/* wgmma reads MN-major A of 16-bit elements only: A of other sizes goes through registers. */
constexpr bool A_FROM_REGISTERS = A_MN_MAJOR && ELEMENT != 2;

/* BOX_N: columns of a box. BOXES: boxes that fit in a warpgroup's memory. */
constexpr int BOX_BYTES = 64 * 128, BOX_N = 128 / (int)sizeof(c_element);

/* Output of C: by threads, or by a tensor map whose lines are rows or columns. */
enum output { BY_THREADS, BY_ROWS, BY_COLUMNS };
constexpr output MAP_OUTPUT = C_BY_COLUMNS ? BY_COLUMNS : BY_ROWS;

SM90_FUNCTION int rows_above() {
  return ((int)threadIdx.x / 128 - 1) * WARPGROUP_M;
}

/* Returns true if this thread of its warpgroup releases stages in the block of its number. These blocks share
 * A or B with block `rank`, or are it. To find this for each stage would delay the next products. */
SM90_FUNCTION bool releases_stages(unsigned rank) {
  const unsigned other = threadIdx.x % 128;
  return other < CLUSTER && (place_m(other) == place_m(rank) || place_n(other) == place_n(rank));
}

/* Marks a stage as read by this warpgroup, in each block that copies to it. `releases`: releases_stages(). */
SM90_FUNCTION void release_stage(shared_t empty, bool releases) {
  if (releases) {
    if (CLUSTER > 1)
      mbarrier_arrive_remote(empty, threadIdx.x % 128);
    else
      mbarrier_arrive(empty);
  }
}

#include "cuda_wgmma_epilogue.cu"

#include "cuda_wgmma_scheduler.cu"

#include "cuda_wgmma_mn_major.cu"

#include "cuda_wgmma_rows.cu"

struct block_memory {
  pipeline_memory pipe;
  shared_t epilogue, epilogue_vectors; /* boxes; vectors of the epilogue, or the table of products */
};

SM90_FUNCTION block_memory init_block(const char *memory) {
  block_memory smem;
  smem.pipe.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  smem.epilogue = smem.pipe.stages + STAGES * STAGE_BYTES;
  smem.pipe.full = smem.epilogue + WARPGROUPS * BOXES * BOX_BYTES;
  smem.pipe.empty = smem.pipe.full + 8 * STAGES;
  smem.epilogue_vectors = smem.pipe.empty + 8 * STAGES;
  if (threadIdx.x == 0)
    init_barriers(smem.pipe, WARPGROUPS * SENDERS);
  if (CLUSTER > 1)
    cluster_barrier_relaxed();
  else
    __syncthreads();
  return smem;
}

/* Loads part `part` of a panel of A (B), which SHARING blocks of the cluster share, to these `blocks`: lines,
 * or of MN-major slabs k. TMA swizzles by addresses, so parts of lines may begin anywhere. */
template <int SHARING, int MN_MAJOR, int LINES>
SM90_FUNCTION void load_factor(shared_t end, const panel_lines &lines, shared_t full, int depth, int layer,
                               int part, unsigned blocks) {
  constexpr int SLAB_PART = SLAB_BYTES / SHARING;
  static_assert(!MN_MAJOR || SLAB_PART % 1024 == 0, "swizzled parts begin at multiples of 1024 bytes");
  if constexpr (SHARING == 1) {
    load_panel<MN_MAJOR, LINES>(end, lines, full, depth, layer);
  } else if constexpr (MN_MAJOR) {
#pragma unroll
    for (int i = 0; i < LINES; i += SLAB_LINES)
      if (i < lines.count)
        tma_load_multicast(end + part * SLAB_PART + i / SLAB_LINES * SLAB_BYTES, lines.map, full,
                           lines.first + i, depth + part * (BLOCK_K / SHARING), layer, blocks);
  } else if (lines.count > 0) {
    const int before = part * (lines.count / SHARING);
    tma_load_multicast(end + before * PANEL_BYTES, lines.map, full, depth, lines.first + before, layer,
                       blocks);
  }
}

/* Returns the lines of A (B) that a tile loads. */
SM90_FUNCTION panel_lines get_a_lines(const operand_maps &maps, const work_tile &tile,
                                      const cuda_wgmma_arguments &args) {
  return get_panel_lines<A_MN_MAJOR, BLOCK_M>(maps.a, maps.a_tail, tile.row,
                                              SKIPS_OUTSIDE ? args.m : tile.row + BLOCK_M, args.a_tail);
}
SM90_FUNCTION panel_lines get_b_lines(const operand_maps &maps, const work_tile &tile,
                                      const cuda_wgmma_arguments &args) {
  return get_panel_lines<B_MN_MAJOR, BLOCK_N>(maps.b, maps.b_tail, tile.col,
                                              SKIPS_OUTSIDE ? args.n : tile.col + BLOCK_N, args.b_tail);
}

/* Returns turn_of_tile() of a work tile, the same for all blocks of a cluster. */
SM90_FUNCTION int get_turn(const work_tile &tile, const cuda_wgmma_arguments &args) {
  const int panels = tile.end - tile.first;
  return args.turns == 0   ? 0
         : args.turns == 1 ? turn_of_tile<A_MN_MAJOR>(tile.row / (BLOCK_M * CLUSTER_M), panels)
                           : turn_of_tile<B_MN_MAJOR>(tile.col / (BLOCK_N * CLUSTER_N), panels);
}

/* Loads the panels of a work tile. In a cluster, each block loads its parts of the panels for all blocks that
 * share them. */
SM90_FUNCTION void load_tile(const operand_maps &maps, const work_tile &tile, int a_layer, int b_layer,
                             int turn, const pipeline_memory &smem, unsigned rank,
                             const cuda_wgmma_arguments &args, pipeline_state &pipe) {
  const panel_lines a = get_a_lines(maps, tile, args), b = get_b_lines(maps, tile, args);
  const int m = place_m(rank), n = place_n(rank);
  constexpr unsigned COLUMN = (1u << CLUSTER_M) - 1, ROW = ((1u << CLUSTER) - 1) / COLUMN; /* first blocks */
  grid_dependency_wait(); /* here, because the first tile's addresses take 1000 clocks */
  const auto load = [&](shared_t stage, shared_t full, int number) {
    const int depth = turned_panel(number, turn, tile.first, tile.end) * BLOCK_K;
    load_factor<CLUSTER_N, A_MN_MAJOR, BLOCK_M>(stage, a, full, depth, a_layer, n, ROW << m);
    load_factor<CLUSTER_M, B_MN_MAJOR, BLOCK_N>(stage + A_BYTES, b, full, depth, b_layer, m,
                                                COLUMN << n * CLUSTER_M);
  };
  producer_mainloop<OVERLAPS ? TOGETHER : 1>(smem, pipe, tile.first, tile.end, load,
                                             (a.count + b.count) * PANEL_BYTES);
}

/* Computes the warpgroup's accumulators of a work tile: WARPGROUP_M rows by BLOCK_N columns. `thread_offset`:
 * fragment_offset() with A_FROM_REGISTERS. `releases`: releases_stages(). */
SM90_FUNCTION void multiply_tile(wgmma_sums sums[WAVES], const work_tile &tile, const pipeline_memory &smem,
                                 shared_t thread_offset, bool releases, pipeline_state &pipe) {
  const shared_t offset = A_MN_MAJOR ? rows_above() / 64 * SLAB_BYTES : rows_above() * PANEL_BYTES,
                 a_offset = IS_UNIFORM ? warp_uniform(offset) : offset;
  const auto release = [releases](shared_t empty) { release_stage(empty, releases); };
  if constexpr (SPLIT_ACCUMULATORS > 0) {
    consumer_mainloop_split(sums, tile.end - tile.first, smem, a_offset, pipe, release);
  } else {
    shared_t last;
    if constexpr (A_FROM_REGISTERS)
      last = consumer_mainloop_registers(sums, tile, smem, thread_offset, releases, pipe);
    else
      last = consumer_mainloop<IS_UNIFORM>(
          smem, pipe, tile.first, tile.end,
          [&](shared_t stage, bool accumulates) {
            multiply_panel(sums, stage + a_offset, stage + A_BYTES, accumulates);
          },
          release);
    release_stage(last, releases);
    wgmma_fence_sums(sums, WAVES);
  }
}

/* Returns the first column of piece `i` of a tile, `width` columns wide. The last piece ends with the tile.
 * Where it overlaps the piece before, both store equal elements. */
SM90_FUNCTION constexpr int piece_column(int i, int width) {
  return (i + 1) * width <= BLOCK_N || BLOCK_N < width ? i * width : BLOCK_N - width;
}

/* Writes the accumulators to `boxes`, the warpgroup's epilogue memory, and stores them by TMA. The block's
 * last tile uses the stages' memory, which holds all boxes at once. BY_COLUMNS, boxes of 4-byte elements come
 * in pairs. */
template <output OUTPUT, class ALPHA>
SM90_FUNCTION void store_by_map(const tensor_map *c, wgmma_sums sums[WAVES], const work_tile &tile,
                                bool is_last, ALPHA alpha, shared_t stages, shared_t boxes) {
  constexpr int PAIR = OUTPUT == BY_COLUMNS && !C_IS_16_BITS ? 2 : 1, WIDTH = PAIR == 2 ? 64 : BOX_N;
  constexpr int STEP = BOXES < 2   ? 1
                       : PAIR == 2 ? 2
                                   : BOXES / 2, /* boxes of a store group */
      ACROSS = PAIR * ((BLOCK_N + WIDTH - 1) / WIDTH),
                ALL = WAVES * ACROSS; /* of a row of boxes; of all rows */
  static_assert(BOXES % PAIR == 0, "pairs of boxes");
  static_assert(WARPGROUPS * ALL * BOX_BYTES <= STAGES * STAGE_BYTES, "the stages hold all boxes");
  const int group = threadIdx.x / 128 - 1;
  const bool is_first_warp = threadIdx.x % 128 < 32;
  if (is_last) {
    named_barrier<WARPGROUPS + 1>(128 * WARPGROUPS);
    boxes = stages + group * ALL * BOX_BYTES;
  }
#pragma unroll
  for (int i = 0; i < ALL; i += STEP) {
    const shared_t to = boxes + (is_last ? i : i % BOXES) * BOX_BYTES;
    const int end = i + STEP < ALL ? i + STEP : ALL;
    if (!is_last) {
      if (is_first_warp && elect_one()) {
        if (i == 0 && ALL % BOXES != 0) /* the tile before ended within a round of boxes */
          tma_store_wait_read<0>();
        else
          tma_store_wait_read<BOXES / STEP - 1>();
      }
      warpgroup_barrier(group);
    }
#pragma unroll
    for (int j = i; j < end; j += PAIR) {
      const shared_t box = to + (j - i) * BOX_BYTES;
      const int column = piece_column(j % ACROSS / PAIR, WIDTH);
      if constexpr (OUTPUT == BY_COLUMNS && A_FROM_REGISTERS)
        put_fragment_columns(box, sums[j / ACROSS], column, alpha);
      else if constexpr (OUTPUT == BY_COLUMNS)
        wgmma_tile_put_columns(box, sums[j / ACROSS], column, alpha);
      else if constexpr (A_FROM_REGISTERS)
        put_fragment_rows(box, sums[j / ACROSS], column, alpha);
      else
        wgmma_tile_put(box, sums[j / ACROSS], column, alpha);
    }
    if (is_last && end < ALL)
      continue;
    fence_proxy_async();
    warpgroup_barrier(group);
    if (is_first_warp && elect_one()) {
#pragma unroll
      for (int j = is_last ? 0 : i; j < end; j++) {
        const shared_t box = boxes + (is_last ? j : j % BOXES) * BOX_BYTES;
        const int row = tile.row + rows_above() + j / ACROSS * 64 + j % PAIR * 32,
                  col = tile.col + piece_column(j % ACROSS / PAIR, WIDTH);
        if constexpr (OUTPUT == BY_COLUMNS)
          tma_store(c, box, row, col, tile.layer);
        else
          tma_store(c, box, col, row, tile.layer);
      }
      tma_store_commit();
    }
  }
}

#if ROW_SUMS
#include "cuda_wgmma_row_sums.cu"
#endif

#if JOINED
#include "cuda_wgmma_joined.cu"
#else

/* Producer: loads the panels of all work tiles of this block. Called by one thread. */
SM90_FUNCTION void run_producer(const operand_maps &maps, const cuda_wgmma_arguments &args,
                                const block_memory &smem, unsigned rank) {
  pipeline_state pipe = {0, 1}; /* all stages are empty at first */
  for (tile_scheduler sched = sched_first(args); sched_has_next(sched, args);) {
    const work_tile tile = sched_next(sched, rank, args);
    load_tile(maps, tile, args.a_first + tile.layer * args.a_layer, args.b_first + tile.layer * args.b_layer,
              get_turn(tile, args), smem.pipe, rank, args, pipe);
  }
  if (OVERLAPS)
    grid_dependency_launch(); /* all loads are issued: the next launch may use the memory bandwidth */
  if (CLUSTER > 1)
    wait_for_empty_stages(smem.pipe, pipe);
}

/* Prefetches the first panels of this block's first tile to L2. */
SM90_FUNCTION void prefetch_first_tile(const operand_maps &maps, const cuda_wgmma_arguments &args,
                                       unsigned rank) {
  tile_scheduler sched = sched_first(args);
  if (!sched_has_next(sched, args))
    return;
  const work_tile tile = sched_next(sched, rank, args);
  const int first = tile.first + get_turn(tile, args);
  prefetch_panels(get_a_lines(maps, tile, args), get_b_lines(maps, tile, args), first,
                  min(tile.end, first + args.ahead));
}

/* Consumers: compute and store all work tiles of this block. OUTPUT is a template parameter because a branch
 * inside the tile loop makes the compiler spill accumulators. */
template <output OUTPUT>
SM90_FUNCTION void run_consumers(const tensor_map *map, c_element *c, char *partials, char *row_sums,
                                 const epilogue_vectors &vectors, const cuda_wgmma_arguments &args,
                                 const block_memory &smem, unsigned rank) {
  const int group = threadIdx.x / 128 - 1;
  const shared_t vectors_smem = smem.epilogue_vectors + group * EPILOGUE_BYTES,
                 boxes = smem.epilogue + group * BOXES * BOX_BYTES,
                 thread_offset = A_FROM_REGISTERS ? fragment_offset() : 0;
  /* Loads of the epilogue's vectors overlap the main loop; partial accumulators leave too few registers. */
  constexpr bool FUSES = FINISH && OUTPUT != BY_THREADS, PREFETCHES = FUSES && !SPLIT_ACCUMULATORS;
  const bool releases = releases_stages(rank);
  pipeline_state pipe = {0, 0};
  for (tile_scheduler sched = sched_first(args); sched_has_next(sched, args);) {
    const work_tile tile = sched_next(sched, rank, args);
    const bool is_last = !sched_has_next(sched, args);
    wgmma_sums sums[WAVES];
    epilogue_operands held;
    if constexpr (PREFETCHES)
      epilogue_prefetch(held, vectors, tile.row + rows_above(), tile.col, tile.layer, args);
    multiply_tile(sums, tile, smem.pipe, thread_offset, releases, pipe);
    if (is_last)
      grid_dependency_launch();
    if constexpr (STREAM) {
      if (tile.first > 0) {
        publish_partials(partials, sums, sched, rank, args);
        continue;
      }
      if (tile.end < count_panels(args))
        accumulate_partials(partials, sums, rank, args);
    }
#if ROW_SUMS
    store_row_sums(row_sums, sums, tile, args);
#endif
    if constexpr (FUSES) {
      if constexpr (!PREFETCHES)
        epilogue_prefetch(held, vectors, tile.row + rows_above(), tile.col, tile.layer, args);
      epilogue_apply_all(sums, held, vectors_smem, group, vectors.steps->alpha);
    }
    if constexpr (OUTPUT == BY_THREADS)
      store_by_threads(c, sums, tile, vectors, args, boxes);
    else if constexpr (FUSES && C_IS_16_BITS)
      store_by_map<OUTPUT>(map, sums, tile, is_last, wgmma_identity_scale(), smem.pipe.stages, boxes);
    else /* with C of f32 the compiler serializes wgmma (C7520) if accumulators are not multiplied here */
      store_by_map<OUTPUT>(map, sums, tile, is_last, args.alpha, smem.pipe.stages, boxes);
  }
  tma_store_wait_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                        const __grid_constant__ tensor_map a_tail, const __grid_constant__ tensor_map b_tail,
                        const __grid_constant__ tensor_map map, c_element *c,
                        const __grid_constant__ cuda_wgmma_arguments args, const epilogue_bias *bias,
                        const float *scale_a, const float *scale_b,
                        const __grid_constant__ cuda_wgmma_finish steps, char *partials, char *row_sums) {
  const epilogue_vectors vectors = {bias, scale_a, scale_b, &steps};
  const operand_maps maps = {&a, &b, &a_tail, &b_tail};
  extern __shared__ char memory[];
  if (threadIdx.x == 0) {
    tma_prefetch_map(&a);
    tma_prefetch_map(&b);
    if (!A_MN_MAJOR && args.a_tail < BLOCK_M)
      tma_prefetch_map(&a_tail);
    if (!B_MN_MAJOR && args.b_tail < BLOCK_N)
      tma_prefetch_map(&b_tail);
    tma_prefetch_map(&map);
    if (OVERLAPS && args.ahead > 0)
      prefetch_first_tile(maps, args, CLUSTER > 1 ? cluster_rank() : 0);
  }
  const block_memory smem = init_block(memory);
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  if (group == 0) {
    if (WARPGROUPS == 2)
      setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x < 32 && elect_one())
      run_producer(maps, args, smem, rank);
  } else {
    grid_dependency_wait();
    constexpr bool HAS_MAP = !A_FROM_REGISTERS || BLOCK_N >= (C_BY_COLUMNS ? 64 : BOX_N);
    if (WARPGROUPS == 2)
      setmaxnreg_inc<CONSUMER_REGISTERS>();
    if (HAS_MAP && args.by_map)
      run_consumers<HAS_MAP ? MAP_OUTPUT : BY_THREADS>(&map, c, partials, row_sums, vectors, args, smem,
                                                       rank);
    else
      run_consumers<BY_THREADS>(&map, c, partials, row_sums, vectors, args, smem, rank);
  }
}
#endif
