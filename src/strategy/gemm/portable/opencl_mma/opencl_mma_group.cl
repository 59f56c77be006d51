/* Idea: sm_90's wgmma, which four warps execute together with both operands in local memory. Beyond
 * opencl_mma.cl: no operands in registers, so that each item has 128 sums and nothing is read twice; panels
 * are copied by one instruction (TMA) of a producer warp, as many stages ahead as local memory holds.
 *   group's tile of C, TILE_M x TILE_N             warps
 *   +------------------+                           four warps multiply GROUP_M rows: 16 rows each of every 64
 *   |   warps 0 to 3   | GROUP_M                   four warps the next GROUP_M rows, and so on
 *   +------------------+                           the last warp is the producer
 *   |   warps 4 to 7   |
 *   +------------------+      local memory: stage 0 | stage 1 | ...   each has mbarriers "full" and "empty"
 * A stage is a panel of each operand, DEPTH_BYTES of each line along k, in wgmma's layout (opencl_mma.cl).
 * The producer waits until a stage is empty and issues its copies. The copies complete its "full" mbarrier,
 * and the consumers arrive at "empty" after their products. Each group writes its tensor maps (128 bytes) to
 * the workspace first.
 * Operands have inner stride 1 here, addresses and pitches are multiples of 16 bytes, and 8-bit elements are
 * K-major: others are packed first (kernel_launch/pack_rows.cl). Elements outside of the matrix become zeros.
 * Where tiles are fewer than resident groups, k is split: groups store each part's sums, which are added in a
 * fixed order (SPLIT). Parameters: TSL_PARAM_TILE_M, _TILE_N, _STAGES; each warp has _WARP_M * _WARP_N
 * sums. Defines of the host: SPLIT, and as opencl_mma.cl. Limits: sm_90 only; sizes below 2^31. */
#define TILE_M TSL_PARAM_TILE_M
#define TILE_N TSL_PARAM_TILE_N
#define STAGES TSL_PARAM_STAGES
#define DEPTH_BYTES 128
#define GROUP_M (4 * TSL_PARAM_WARP_M * TSL_PARAM_WARP_N / TILE_N)
#define BLOCKS_M (GROUP_M / 64)
#define TILES_M 1
#define TILES_N (TILE_N / 8)
#include "ptx_group.h"

#include "mma_sums.h"

/* A run may request residues instead of C. */
#define REDUCES (WHOLE && !SPLIT && !A_MN_MAJOR && !B_MN_MAJOR)
#define MULTIPLYING (128 * (TILE_M / GROUP_M))
#define ITEMS (MULTIPLYING + 32)
#define LINES_8 1024 /* bytes of 8 lines */
/* Local memory: two tensor maps, mbarriers, and stages from the next multiple of 1024 bytes on. */
#define MAP_BYTES 128
#define BARRIERS (2 * MAP_BYTES)
#define PANELS (BARRIERS + 16 * STAGES)
#define LOCAL_BYTES (PANELS + 1023 + STAGES * STAGE_BYTES)

#if WHOLE
#define GROUP_DEPTH "32"
#define GROUP_FLAGS ""
#define MAP_TYPE "0"
#else
#define GROUP_DEPTH "16"
#define GROUP_FLAGS ", 1, 1, " TSL_TEXT(A_MN_MAJOR) ", " TSL_TEXT(B_MN_MAJOR)
#define MAP_TYPE "1"
#endif
#if TILE_N == 256
#define GROUP_MULTIPLY TSL_PTX_GROUP_256
#elif TILE_N == 192
#define GROUP_MULTIPLY TSL_PTX_GROUP_192
#else
#define GROUP_MULTIPLY TSL_PTX_GROUP_128
#endif

/* Pipeline state: stage number, and the parity of its mbarriers' phase. */
typedef struct mma_pipeline_state {
  int number;
  unsigned int phase;
} mma_pipeline_state;

TSL_FUNCTION void next_stage(mma_pipeline_state *stage) {
  stage->number++;
  if (stage->number == STAGES) {
    stage->number = 0;
    stage->phase ^= 1;
  }
}

/* Writes the tensor map of an operand of `lines` lines (the pitch of a single line may be 0). Boxes have
 * `box` lines K-major, or MN-major one block of a panel's depths. */
TSL_FUNCTION void describe(unsigned int map, int across, TSL_GLOBAL const char *from, TSL_INDEX lines,
                           TSL_INDEX k, TSL_INDEX pitch, int box) {
  TSL_PTX_MAP(map, from, across ? lines : k, across ? k : lines, pitch > 0 ? SIZE * pitch : 16, BLOCK_LINES,
              across ? DEPTH : box, MAP_TYPE);
}

TSL_FUNCTION void copy_panel(unsigned int end, TSL_GLOBAL char *map, int across, int lines, int line,
                             int depth, unsigned int full) {
  if (!across) {
    tsl_ptx_copy_box(end, map, depth, line, full);
    return;
  }
  TSL_UNROLL
  for (int s = 0; s < lines / BLOCK_LINES; s++)
    tsl_ptx_copy_box(end + s * BLOCK_BYTES, map, line + s * BLOCK_LINES, depth, full);
}

/* Loads all panels of all work tiles of this group. Called by one item. */
TSL_FUNCTION void run_producer(unsigned int base, unsigned int full, unsigned int empty,
                               TSL_GLOBAL char *maps, const opencl_mma_group_arguments args) {
  const int work_tiles = count_work_tiles(args.whole);
  mma_pipeline_state stage = {0, 1}; /* all stages are empty at first */
  tsl_ptx_map_acquire(maps);
  tsl_ptx_map_acquire(maps + MAP_BYTES);
  TSL_UNROLL_BY(1)
  for (int number = TSL_GROUP(0); number < work_tiles; number += TSL_GROUPS(0)) {
    mma_work_tile share;
    get_work_tile(number, args.whole, &share);
    TSL_UNROLL_BY(1)
    for (int p = share.first; p < share.end; p++) {
      const unsigned int to = base + stage.number * STAGE_BYTES, own_full = full + 8 * stage.number;
      tsl_ptx_wait_phase(empty + 8 * stage.number, stage.phase);
      tsl_ptx_arrive_bytes(own_full, STAGE_BYTES);
      copy_panel(to, maps, A_MN_MAJOR, TILE_M, (int)share.row, p * DEPTH, own_full);
      copy_panel(to + A_BYTES, maps + MAP_BYTES, B_MN_MAJOR, TILE_N, (int)share.col, p * DEPTH, own_full);
      next_stage(&stage);
    }
  }
}

TSL_FUNCTION void copy_warp(unsigned int start, unsigned int base, TSL_GLOBAL const char *a,
                            TSL_GLOBAL const char *b, TSL_GLOBAL char *maps,
                            const opencl_mma_group_arguments args) {
  const bool is_first = TSL_ITEM(0) == MULTIPLYING;
  const tsl_gemm_arguments gemm = args.whole.gemm;
  if (gemm.k == 0)
    return;
  if (is_first) {
    describe(start, A_MN_MAJOR, a + SIZE * gemm.a_offset, gemm.m, gemm.k,
             A_MN_MAJOR ? gemm.a_col_stride : gemm.a_row_stride, TILE_M);
    describe(start + MAP_BYTES, B_MN_MAJOR, b + SIZE * gemm.b_offset, gemm.n, gemm.k,
             B_MN_MAJOR ? gemm.b_row_stride : gemm.b_col_stride, TILE_N);
  }
  /* An ordinary write first: memory checkers do not see the write that publishes the map. */
  ((TSL_GLOBAL TSL_UINT64 *)maps)[TSL_ITEM(0) - MULTIPLYING] = 0;
  tsl_ptx_warp_barrier();
  tsl_ptx_map_publish(maps, start);
  tsl_ptx_map_publish(maps + MAP_BYTES, start + MAP_BYTES);
  if (is_first)
    run_producer(base, start + BARRIERS, start + BARRIERS + 8 * STAGES, maps, args);
}

TSL_FUNCTION TSL_UINT64 step_of(unsigned int panel, int across, int step) {
  return across ? tsl_ptx_panel_descriptor(panel + step * STEP_DEPTH * 128, BLOCK_BYTES, LINES_8)
                : tsl_ptx_panel_descriptor(panel + step * 32, 16, LINES_8);
}

/* Starts the products of a stage by four warps; `a` is the address of their rows. */
TSL_FUNCTION void multiply_panel(MMA_NUMBER sums[BLOCKS_M][TILES_N][4], unsigned int a, unsigned int b) {
  TSL_PTX_GROUP_BEGIN();
  TSL_UNROLL
  for (int s = 0; s < STEPS; s++) {
    TSL_UNROLL
    for (int i = 0; i < BLOCKS_M; i++)
      GROUP_MULTIPLY(GROUP_DEPTH, MMA_SUM, MMA_REGISTER, MMA_A, MMA_B, sums[i],
                     step_of(a + i * (A_MN_MAJOR ? BLOCK_BYTES : 64 * DEPTH_BYTES), A_MN_MAJOR, s),
                     step_of(b, B_MN_MAJOR, s), GROUP_FLAGS);
  }
  TSL_PTX_GROUP_END();
}

/* Computes and stores GROUP_M rows of all work tiles of this group. */
TSL_FUNCTION void run_consumers(unsigned int base, unsigned int full, unsigned int empty,
                                TSL_GLOBAL MMA_RESULT *TSL_RESTRICT c, TSL_GLOBAL char *scratch,
                                const opencl_mma_group_arguments args) {
  const int work_tiles = count_work_tiles(args.whole), first_row = TSL_ITEM(0) / 128 * GROUP_M;
  const TSL_INDEX apart_pitch = args.whole.tiles_n * TILE_N, apart_rows = args.whole.tiles_m * TILE_M;
  const unsigned int from_a = A_MN_MAJOR ? first_row / BLOCK_LINES * BLOCK_BYTES : first_row * DEPTH_BYTES;
  const bool tells = TSL_ITEM(0) % 128 == 0;
  mma_pipeline_state stage = {0, 0};
  MMA_NUMBER sums[BLOCKS_M][TILES_N][4];
  TSL_UNROLL_BY(1)
  for (int number = TSL_GROUP(0); number < work_tiles; number += TSL_GROUPS(0)) {
    unsigned int before = empty; /* "empty" mbarrier of the stage whose products may still be in flight */
    mma_work_tile share;
    get_work_tile(number, args.whole, &share);
    TSL_UNROLL
    for (int i = 0; i < BLOCKS_M; i++)
      clear_sums(sums + i);
    TSL_UNROLL_BY(1)
    for (int p = share.first; p < share.end; p++) {
      const unsigned int panel = base + stage.number * STAGE_BYTES;
      tsl_ptx_wait_phase(full + 8 * stage.number, stage.phase);
      multiply_panel(sums, panel + from_a, panel + A_BYTES);
      TSL_PTX_GROUP_WAIT(1);
      if (p > share.first && tells)
        tsl_ptx_arrive(before);
      before = empty + 8 * stage.number;
      next_stage(&stage);
    }
    TSL_PTX_GROUP_WAIT(0);
    TSL_UNROLL
    for (int i = 0; i < BLOCKS_M; i++) {
      TSL_UNROLL
      for (int j = 0; j < TILES_N; j++)
        TSL_PTX_SUMS_HOLD(MMA_REGISTER, sums[i], j);
    }
    if (share.end > share.first && tells)
      tsl_ptx_arrive(before);
    const TSL_INDEX row = share.row + first_row + TSL_ITEM(0) % 128 / 32 * 16;
    TSL_GLOBAL MMA_NUMBER *to =
        SPLIT ? (TSL_GLOBAL MMA_NUMBER *)(scratch + args.whole.sums) + share.part * apart_rows * apart_pitch
              : 0;
#if REDUCES
    if (args.rests_row > 0) {
      TSL_UNROLL
      for (int i = 0; i < BLOCKS_M; i++)
        store_residues_of_tile(scratch + args.rests, row + i * 64, share.col, sums + i, args);
      continue;
    }
#endif
    TSL_UNROLL
    for (int i = 0; i < BLOCKS_M; i++)
      store_tile(c, to, apart_pitch, row + i * 64, share.col, sums + i, args.whole);
  }
}

TSL_KERNEL(ITEMS, 1, 1)
tsl_gemm_opencl_mma_group(TSL_GLOBAL const char *TSL_RESTRICT a, TSL_GLOBAL const char *TSL_RESTRICT b,
                          TSL_GLOBAL MMA_RESULT *TSL_RESTRICT c, TSL_GLOBAL char *scratch,
                          const opencl_mma_group_arguments args) {
  TSL_LOCAL_BYTES(memory, LOCAL_BYTES);
  const unsigned int start = tsl_ptx_local_address(memory), full = start + BARRIERS,
                     empty = full + 8 * STAGES, base = (start + PANELS + 1023) / 1024 * 1024;
  if (args.wanted >= 0 && *(TSL_GLOBAL const int *)(scratch + args.wanted) <= args.wanted_above)
    return;
  if (TSL_ITEM(0) < 2 * MAP_BYTES / 4)
    ((TSL_LOCAL_POINTER unsigned int *)memory)[TSL_ITEM(0)] = 0;
  if (TSL_ITEM(0) == 0) {
    for (int s = 0; s < STAGES; s++) {
      tsl_ptx_barrier_start(full + 8 * s, 1);
      tsl_ptx_barrier_start(empty + 8 * s, MULTIPLYING / 128);
    }
    tsl_ptx_barriers_started();
  }
  TSL_BARRIER();
  if (TSL_ITEM(0) >= MULTIPLYING)
    copy_warp(start, base, a, b, scratch + (args.maps + TSL_GROUP(0) * 2 * MAP_BYTES), args);
  else
    run_consumers(base, full, empty, c, scratch, args);
}
