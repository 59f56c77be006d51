/* Integer product of residue_int8 by sm_90's wgmma (contract: residue_int8.h): all planes of A and B in one
 * launch. Persistent blocks take tile after tile of plane after plane, so that tails of planes and launches
 * are hidden.
 *   work tile: (modulus, k part, tile of 128 x 256)         warpgroup 0: TMA producer (one thread)
 *   | modulus 0: raster of tiles | modulus 1 ...            warpgroups 1 and 2: consumers of 64 rows each
 * A plane is panels of 128 k, with all lines of a panel adjacent: a tile's panel is contiguous memory.
 * Epilogue in registers: a thread has two adjacent sums in each 8 columns of a row. Lines of B are permuted
 * in their plane (residue_int8_convert.cu), so that the sums in 64 columns are 16 neighbours of C: 16 bytes,
 * one store.
 * Reduction: a sum of at most TSL_RESIDUE_PART products of bytes is high 2^16 + low < 2^32. One instruction
 * makes `v` = high (2^16 modulo p) + low + a multiple of p, from 2^23 to 2^24, as a float's bits. `q` is v
 * inverse rounded down. v - q p is from 0 to p; its low byte follows from both floats' low bits
 * (tests/unit/test_residue_int8.c checks all v).
 * Complex: a modulus has three planes, of real parts, imaginary parts and their sums. CLUSTER = 2: two
 * blocks, one tile below the other, share columns of B: each loads half of these for both. Defines of the
 * host: STAGES; CLUSTER; TSL_RESIDUE_COMPLEX or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int BLOCK_M = 128, BLOCK_N = 256, WARPGROUPS = 2, PANEL = TSL_RESIDUE_PANEL;
constexpr float ROUNDER = 12582912; /* 2^23 + 2^22 */
constexpr int A_BYTES = BLOCK_M * PANEL, B_BYTES = BLOCK_N * PANEL, STAGE_BYTES = A_BYTES + B_BYTES,
              STAGE_PANELS = 1;
#include "sm90_mainloop.h"

typedef int sums_t[BLOCK_N / 8][4];

/* Tile of C in a plane, its part of k, and its panels [first, end). */
struct work_tile {
  int plane, part, row, col, first, end;
};

SM90_FUNCTION int count_clusters_down(const residue_arguments &args) {
  return (args.tiles_m + CLUSTER - 1) / CLUSTER;
}

SM90_FUNCTION work_tile get_work_tile(int number, int rank, const residue_arguments &args) {
  const int down = count_clusters_down(args), tiles = down * args.tiles_n, tile = number % tiles,
            plane = number / tiles;
  const int above = tile / (args.raster_height * args.tiles_n) * args.raster_height,
            place = tile % (args.raster_height * args.tiles_n);
  const int height = min(down - above, args.raster_height);
  const int panels = (args.k + PANEL - 1) / PANEL, most = TSL_RESIDUE_PART / PANEL;
  const int part = plane % args.parts;
  return {plane / args.parts,       part,        ((above + place % height) * CLUSTER + rank) * BLOCK_M,
          place / height * BLOCK_N, part * most, min(panels, (part + 1) * most)};
}

SM90_FUNCTION void run_producer(const tensor_map *a, const tensor_map *b, const residue_arguments &args,
                                int work_tiles, int rank, const pipeline_memory &smem) {
  pipeline_state pipe = {0, 1}; /* all stages are empty at first */
  const int panels = (args.k + PANEL - 1) / PANEL;
  for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += gridDim.x / CLUSTER) {
    const work_tile tile = get_work_tile(number, rank, args);
    producer_mainloop(smem, pipe, tile.first, tile.end, [&](shared_t stage, shared_t full, int p) {
      tma_load(stage, a, full, 0, tile.row, tile.plane * panels + p);
      if (CLUSTER == 1)
        tma_load(stage + A_BYTES, b, full, 0, tile.col, tile.plane * panels + p);
      else
        tma_load_multicast(stage + A_BYTES + rank * (B_BYTES / CLUSTER), b, full, 0,
                           tile.col + rank * (BLOCK_N / CLUSTER), tile.plane * panels + p,
                           (1 << CLUSTER) - 1);
    });
  }
}

SM90_FUNCTION void multiply_panel(sums_t sums, shared_t a, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int s = 0; s < PANEL / 32; s++)
    wgmma_multiply(256, "m64n256k32", "s32.u8.u8", "", "r", sums, smem_descriptor(a + s * 32, 0, 1024),
                   smem_descriptor(b + s * 32, 0, 1024), add || s > 0);
  wgmma_commit_group();
}

/* Marks a stage as read by this warpgroup, in every block of the cluster: each block writes to all. With the
 * nested branches of cuda_wgmma.cu the compiler peels two panels off the loop of clusters. */
SM90_FUNCTION void release_stage(shared_t empty) {
  const unsigned thread = threadIdx.x % 128;
  if (CLUSTER == 1 && thread == 0)
    mbarrier_arrive(empty);
  if (CLUSTER > 1 && thread < CLUSTER)
    mbarrier_arrive_remote(empty, thread);
}

SM90_FUNCTION void multiply_tile(sums_t sums, const work_tile &tile, const pipeline_memory &smem,
                                 pipeline_state &pipe) {
  const shared_t a_offset = (threadIdx.x / 128 - 1) * 64 * PANEL;
  const auto release = [](shared_t empty) { release_stage(empty); };
  release_stage(consumer_mainloop(
      smem, pipe, tile.first, tile.end,
      [&](shared_t stage, bool accumulates) {
        multiply_panel(sums, stage + a_offset, stage + A_BYTES, accumulates);
      },
      release));
#pragma unroll
  for (int j = 0; j < BLOCK_N / 8; j++)
    wgmma_fence_operand("r", sums, j);
}

/* Returns the sum modulo p in its low byte, from 0 to p; for p = 256 (IS_BYTE) the sum itself. */
template <bool IS_BYTE>
SM90_FUNCTION unsigned residue_of_sum(int sum, const residue_reduction &by, const residue_modulus &modulus) {
  if (IS_BYTE)
    return (unsigned)sum;
  unsigned v;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(sum), "r"(by.factors), "r"(by.base));
  return v - __float_as_uint(__fmaf_rd(__uint_as_float(v), modulus.inverse, ROUNDER)) * modulus.p;
}

template <bool IS_BYTE>
SM90_FUNCTION void store_tile(unsigned char *rests, sums_t sums, const work_tile &tile,
                              const residue_arguments &args) {
  const residue_reduction by = args.reductions[tile.plane / TSL_RESIDUE_KINDS];
  const residue_modulus modulus = args.rules.moduli[tile.plane / TSL_RESIDUE_KINDS];
  const int thread = threadIdx.x % 128,
            row = tile.row + (threadIdx.x / 128 - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
  unsigned char *to = rests + (tile.plane * args.parts + tile.part) * args.rest_plane +
                      row * args.rest_pitch + tile.col + 16 * (thread % 4);
#pragma unroll
  for (int half = 0; half < 2; half++) {
#pragma unroll
    for (int g = 0; g < BLOCK_N / TSL_RESIDUE_GROUP; g++) {
      uint4 out;
      unsigned *word = &out.x;
#pragma unroll
      for (int w = 0; w < 4; w++) {
        const int *one = &sums[8 * g + 2 * w][2 * half], *two = &sums[8 * g + 2 * w + 1][2 * half];
        word[w] = __byte_perm(__byte_perm(residue_of_sum<IS_BYTE>(one[0], by, modulus),
                                          residue_of_sum<IS_BYTE>(one[1], by, modulus), 0x0040),
                              __byte_perm(residue_of_sum<IS_BYTE>(two[0], by, modulus),
                                          residue_of_sum<IS_BYTE>(two[1], by, modulus), 0x0040),
                              0x5410);
      }
      if (row + 8 * half < args.m && tile.col + TSL_RESIDUE_GROUP * g < args.rest_pitch)
        *(uint4 *)(to + 8 * half * args.rest_pitch + TSL_RESIDUE_GROUP * g) = out;
    }
  }
}

#if CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

extern "C" __global__ void CLUSTERED __launch_bounds__(128 * (WARPGROUPS + 1), 1)
    tsl_gemm_residue_int8_multiply(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                                   unsigned char *scratch, const __grid_constant__ residue_arguments args) {
  extern __shared__ char memory[];
  pipeline_memory smem;
  smem.stages = (shared_address(memory) + 1023) / 1024 * 1024;
  smem.full = smem.stages + STAGES * STAGE_BYTES;
  smem.empty = smem.full + 8 * STAGES;
  const int group = threadIdx.x / 128, rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
  if (threadIdx.x == 0) {
    tma_prefetch_map(&a);
    tma_prefetch_map(&b);
    init_barriers(smem, WARPGROUPS * CLUSTER);
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  grid_dependency_launch();
  grid_dependency_wait();
  const int work_tiles = ((const volatile residue_choice *)(scratch + args.choice))->moduli *
                         TSL_RESIDUE_KINDS * args.parts * count_clusters_down(args) * args.tiles_n;
  if (group == 0) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      run_producer(&a, &b, args, work_tiles, rank, smem);
  } else {
    setmaxnreg_inc<CONSUMER_REGISTERS>();
    pipeline_state pipe = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += gridDim.x / CLUSTER) {
      const work_tile tile = get_work_tile(number, rank, args);
      sums_t sums;
      multiply_tile(sums, tile, smem, pipe);
      if (tile.plane < TSL_RESIDUE_KINDS) /* p = 256 */
        store_tile<true>(scratch + args.rests, sums, tile, args);
      else
        store_tile<false>(scratch + args.rests, sums, tile, args);
    }
  }
  if (CLUSTER > 1) /* a block must not exit while the other block still sends copies and arrivals to it */
    cluster_barrier();
}
