/* The integer product of residue_int8 by sm_90's tensor cores: of the planes of A and B, modulus by modulus, in one launch; its
 * contract stands in residue_int8.h. Thread blocks stay and take tile after tile of plane after plane, so that neither the launch nor
 * the last tiles of a plane leave units without work.
 *
 *   share: (modulus, part of k, tile of 128 x 256)      warpgroup 0 loads by tensor maps (one thread)
 *   | modulus 0: band of tiles, band, ... | modulus 1   warpgroups 1 and 2 multiply 64 rows each
 *
 * A plane has its panels of 128 terms one after the other, all lines of each side by side: a tile's panel is one piece of memory.
 *
 * The last step stays in registers: a thread has of each row of its sums two neighbours in each 8 columns. Lines of B lie in their
 * plane in such an order (residue_int8_convert.cu) that of 64 columns these are 16 neighbours of C: reduced modulo p they are
 * 16 bytes, stored at once.
 *
 * A sum of at most TSL_RESIDUE_PART products of bytes is below 2^32, high 2^16 + low; high (2^16 modulo p) + low + a multiple of p is v, a
 * whole number from 2^23 to 2^24, made as a float's bits by one instruction. v inverse rounded down is q, and v - q p from 0 to p: its low
 * byte follows from the low bits of both floats (tests/unit/test_residue_int8.c goes through all v).
 *
 * Of complex numbers a modulus has three planes, of real parts, imaginary ones and their sums.
 *
 * CLUSTER = 2: two blocks, one tile below the other, share columns of B: each loads half of them for both.
 *
 * From the host: STAGES; CLUSTER; TSL_RESIDUE_COMPLEX or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int TILE_M = 128, TILE_N = 256, WARPGROUPS = 2, PANEL = TSL_RESIDUE_PANEL;
constexpr float ROUNDER = 12582912; /* 2^23 + 2^22 */
constexpr int A_BYTES = TILE_M * PANEL, B_BYTES = TILE_N * PANEL, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int LOADING_REGISTERS = 40, MULTIPLYING_REGISTERS = 232;

typedef int sums_t[TILE_N / 8][4];

struct share {
  int plane, part, row, col, first, end;
};

/* Rows of tiles that a cluster takes at once. */
SM90_FUNCTION int down_of(const residue_arguments &args) {
  return (args.tiles_m + CLUSTER - 1) / CLUSTER;
}

SM90_FUNCTION share share_of(int number, int rank, const residue_arguments &args) {
  const int down = down_of(args), tiles = down * args.tiles_n, tile = number % tiles,
            plane = number / tiles;
  const int above = tile / (args.band * args.tiles_n) * args.band,
            place = tile % (args.band * args.tiles_n);
  const int height = min(down - above, args.band);
  const int panels = (args.k + PANEL - 1) / PANEL, most = TSL_RESIDUE_PART / PANEL;
  const int part = plane % args.parts;
  return {plane / args.parts,     part,        ((above + place % height) * CLUSTER + rank) * TILE_M,
          place / height * TILE_N, part * most, min(panels, (part + 1) * most)};
}

struct stage {
  int number;
  unsigned parity;
};

SM90_FUNCTION void next_stage(stage &stage_in) {
  if (++stage_in.number == STAGES) {
    stage_in.number = 0;
    stage_in.parity ^= 1;
  }
}

SM90_FUNCTION void load_shares(const tensor_map *a, const tensor_map *b, const residue_arguments &args,
                               int shares, int rank, shared_t stages, shared_t full, shared_t empty) {
  stage at = {0, 1}; /* all are empty at first */
  const int panels = (args.k + PANEL - 1) / PANEL;
  for (int number = blockIdx.x / CLUSTER; number < shares; number += gridDim.x / CLUSTER) {
    const share own = share_of(number, rank, args);
    for (int p = own.first; p < own.end; p++) {
      const shared_t to = stages + at.number * STAGE_BYTES, arrived = full + 8 * at.number;
      barrier_wait(empty + 8 * at.number, at.parity);
      barrier_arrive_expect(arrived, STAGE_BYTES);
      tma_load(to, a, arrived, 0, own.row, own.plane * panels + p);
      if (CLUSTER == 1)
        tma_load(to + A_BYTES, b, arrived, 0, own.col, own.plane * panels + p);
      else
        tma_load_multicast(to + A_BYTES + rank * (B_BYTES / CLUSTER), b, arrived, 0,
                           own.col + rank * (TILE_N / CLUSTER), own.plane * panels + p, (1 << CLUSTER) - 1);
      next_stage(at);
    }
  }
}

/* Starts the products of a stage. */
SM90_FUNCTION void multiply_panel(sums_t sums, shared_t a, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int s = 0; s < PANEL / 32; s++)
    wgmma_n256("m64n256k32", "s32.u8.u8", "", "r", sums, factor_descriptor(a + s * 32, 0, 1024),
               factor_descriptor(b + s * 32, 0, 1024), add || s > 0);
  wgmma_commit();
}

/* A warpgroup needs a stage no more, which all blocks of the cluster write to. */
SM90_FUNCTION void give_stage(shared_t empty) {
  const unsigned thread = threadIdx.x % 128;
  if (CLUSTER == 1 && thread == 0)
    barrier_arrive(empty);
  if (CLUSTER > 1 && thread < CLUSTER)
    barrier_arrive_at(empty, thread);
}

SM90_FUNCTION void multiply_share(sums_t sums, const share &share_in, shared_t stages, shared_t full,
                                  shared_t empty, stage &stage_in) {
  const shared_t from_a = (threadIdx.x / 128 - 1) * 64 * PANEL;
  shared_t before = 0; /* the stage whose products may be under way when the next ones start */
  for (int p = share_in.first; p < share_in.end; p++) {
    const shared_t panel = stages + stage_in.number * STAGE_BYTES;
    barrier_wait(full + 8 * stage_in.number, stage_in.parity);
    multiply_panel(sums, panel + from_a, panel + A_BYTES, p > share_in.first);
    wgmma_wait<1>();
    if (p > share_in.first)
      give_stage(before);
    before = empty + 8 * stage_in.number;
    next_stage(stage_in);
  }
  wgmma_wait<0>();
  give_stage(before);
#pragma unroll
  for (int j = 0; j < TILE_N / 8; j++)
    wgmma_hold("r", sums, j);
}

/* A byte that is the sum modulo p, and not more than p; modulo 256, as only a byte of it is kept, it is the sum itself. */
template <bool IS_BYTE>
SM90_FUNCTION unsigned rest_of(int sum, const residue_reduction &by, const residue_modulus &modulus) {
  if (IS_BYTE)
    return (unsigned)sum;
  unsigned v;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(v) : "r"(sum), "r"(by.factors), "r"(by.base));
  return v - __float_as_uint(__fmaf_rd(__uint_as_float(v), modulus.inverse, ROUNDER)) * modulus.p;
}

template <bool IS_BYTE>
SM90_FUNCTION void store_share(unsigned char *rests, sums_t sums, const share &share_in,
                               const residue_arguments &args) {
  const residue_reduction by = args.reductions[share_in.plane / TSL_RESIDUE_KINDS];
  const residue_modulus modulus = args.rules.moduli[share_in.plane / TSL_RESIDUE_KINDS];
  const int thread = threadIdx.x % 128,
            row = share_in.row + (threadIdx.x / 128 - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
  unsigned char *to = rests + (share_in.plane * args.parts + share_in.part) * args.rest_plane +
                      row * args.rest_pitch + share_in.col + 16 * (thread % 4);
#pragma unroll
  for (int half = 0; half < 2; half++) {
#pragma unroll
    for (int g = 0; g < TILE_N / TSL_RESIDUE_GROUP; g++) {
      uint4 out;
      unsigned *word = &out.x;
#pragma unroll
      for (int w = 0; w < 4; w++) {
        const int *one = &sums[8 * g + 2 * w][2 * half], *two = &sums[8 * g + 2 * w + 1][2 * half];
        word[w] = __byte_perm(
            __byte_perm(rest_of<IS_BYTE>(one[0], by, modulus), rest_of<IS_BYTE>(one[1], by, modulus), 0x0040),
            __byte_perm(rest_of<IS_BYTE>(two[0], by, modulus), rest_of<IS_BYTE>(two[1], by, modulus), 0x0040),
            0x5410);
      }
      if (row + 8 * half < args.m && share_in.col + TSL_RESIDUE_GROUP * g < args.rest_pitch)
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
  const shared_t stages = (shared_address(memory) + 1023) / 1024 * 1024, full = stages + STAGES * STAGE_BYTES,
                 empty = full + 8 * STAGES;
  const int group = threadIdx.x / 128, rank = CLUSTER > 1 ? (int)cluster_rank() : 0;
  if (threadIdx.x == 0) {
    tma_prefetch(&a);
    tma_prefetch(&b);
    for (int s = 0; s < STAGES; s++) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, WARPGROUPS * CLUSTER);
    }
    barriers_made_visible();
  }
  if (CLUSTER > 1)
    cluster_barrier();
  else
    __syncthreads();
  dependency_launch();
  dependency_wait();
  const int shares = ((const volatile residue_choice *)(scratch + args.choice))->moduli * TSL_RESIDUE_KINDS *
                     args.parts * down_of(args) * args.tiles_n;
  if (group == 0) {
    registers_give_back<LOADING_REGISTERS>();
    if (threadIdx.x == 0)
      load_shares(&a, &b, args, shares, rank, stages, full, empty);
  } else {
    registers_take<MULTIPLYING_REGISTERS>();
    stage at = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < shares; number += gridDim.x / CLUSTER) {
      const share own = share_of(number, rank, args);
      sums_t sums;
      multiply_share(sums, own, stages, full, empty, at);
      if (own.plane < TSL_RESIDUE_KINDS) /* 256 */
        store_share<true>(scratch + args.rests, sums, own, args);
      else
        store_share<false>(scratch + args.rests, sums, own, args);
    }
  }
  if (CLUSTER > 1) /* a block that has gone takes no copies and no arrivals any more */
    cluster_barrier();
}
