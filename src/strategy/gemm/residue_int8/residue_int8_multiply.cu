/* The integer product of residue_int8 by sm_90's tensor cores: of the planes of A and B, modulo by modulus, in one launch; its
 * contract stands in residue_int8.h. Thread blocks stay and take tile after tile of plane after plane, so that neither the launch nor
 * the last tiles of a plane leave units without work.
 *
 *   share: (modulus, part of k, tile of 128 x 256)      warpgroup 0 loads by tensor maps (one thread)
 *   | modulus 0: band of tiles, band, ... | modulus 1   warpgroups 1 and 2 multiply 64 rows each
 *
 * The last step stays in registers: a thread has of each row of its sums two neighbours in each 8 columns. Lines of B lie in their
 * plane in such an order (residue_int8_lines.cu) that of 64 columns these are 16 neighbours of C: reduced modulo p they are
 * 16 bytes, stored at once.
 *
 * A sum of at most TSL_RESIDUE_PART products is at most 2^30; with a multiple of p added it is x from 0 to 2^31 + 255, and the integer
 * x / p is the high word of x magic, / 2^7 (Granlund and Montgomery 1994): magic = 2^39 / p + e / p with e < 256, e x < 2^39.
 *
 * Of complex numbers a modulus has three planes, of real parts, imaginary ones and their sums.
 *
 * From the host: STAGES; TSL_RESIDUE_COMPLEX or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int TILE_M = 128, TILE_N = 256, WARPGROUPS = 2, PANEL = 128;
constexpr int A_BYTES = TILE_M * PANEL, B_BYTES = TILE_N * PANEL, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int LOADING_REGISTERS = 40, MULTIPLYING_REGISTERS = 232;

typedef int sums_t[TILE_N / 8][4];

struct share {
  int plane, part, row, col, first, end;
};

SM90_FUNCTION share share_of(int number, const residue_arguments &given) {
  const int tiles = given.tiles_m * given.tiles_n, tile = number % tiles, plane = number / tiles;
  const int above = tile / (given.band * given.tiles_n) * given.band,
            place = tile % (given.band * given.tiles_n);
  const int height = min(given.tiles_m - above, given.band);
  const int panels = (given.k + PANEL - 1) / PANEL, most = TSL_RESIDUE_PART / PANEL;
  const int part = plane % given.parts;
  return {plane / given.parts,     part,        (above + place % height) * TILE_M,
          place / height * TILE_N, part * most, min(panels, (part + 1) * most)};
}

struct stage {
  int number;
  unsigned parity;
};

SM90_FUNCTION void next_stage(stage &at) {
  if (++at.number == STAGES) {
    at.number = 0;
    at.parity ^= 1;
  }
}

SM90_FUNCTION void load_shares(const tensor_map *a, const tensor_map *b, const residue_arguments &given,
                               int shares, shared_t stages, shared_t full, shared_t empty) {
  stage at = {0, 1}; /* all are empty at first */
  for (int number = blockIdx.x; number < shares; number += gridDim.x) {
    const share own = share_of(number, given);
    for (int p = own.first; p < own.end; p++) {
      const shared_t to = stages + at.number * STAGE_BYTES, arrived = full + 8 * at.number;
      barrier_wait(empty + 8 * at.number, at.parity);
      barrier_arrive_expect(arrived, STAGE_BYTES);
      tma_load(to, a, arrived, p * PANEL, own.row, own.plane);
      tma_load(to + A_BYTES, b, arrived, p * PANEL, own.col, own.plane);
      next_stage(at);
    }
  }
}

/* Starts the products of a stage. */
SM90_FUNCTION void multiply_panel(sums_t sums, shared_t a, shared_t b, bool add) {
  wgmma_fence();
#pragma unroll
  for (int s = 0; s < PANEL / 32; s++)
    wgmma_n256("m64n256k32", "s32.s8.s8", "", "r", sums, factor_descriptor(a + s * 32, 0, 1024),
               factor_descriptor(b + s * 32, 0, 1024), add || s > 0);
  wgmma_commit();
}

SM90_FUNCTION void multiply_share(sums_t sums, const share &own, shared_t stages, shared_t full,
                                  shared_t empty, stage &at) {
  const shared_t from_a = (threadIdx.x / 128 - 1) * 64 * PANEL;
  shared_t before = 0; /* the stage whose products may be under way when the next ones start */
  for (int p = own.first; p < own.end; p++) {
    const shared_t panel = stages + at.number * STAGE_BYTES;
    barrier_wait(full + 8 * at.number, at.parity);
    multiply_panel(sums, panel + from_a, panel + A_BYTES, p > own.first);
    wgmma_wait<1>();
    if (p > own.first && threadIdx.x % 128 == 0)
      barrier_arrive(before);
    before = empty + 8 * at.number;
    next_stage(at);
  }
  wgmma_wait<0>();
  if (threadIdx.x % 128 == 0)
    barrier_arrive(before);
#pragma unroll
  for (int j = 0; j < TILE_N / 8; j++)
    wgmma_hold("r", sums, j);
}

/* Modulo p; modulo 256, as only a byte of it is kept, it is the sum itself. */
template <bool IS_BYTE>
SM90_FUNCTION unsigned rest_of(int sum, const residue_modulus &modulus) {
  if (IS_BYTE)
    return (unsigned)sum;
  const unsigned x = (unsigned)sum + modulus.bias;
  return x - (__umulhi(x, modulus.magic) >> 7) * modulus.p;
}

template <bool IS_BYTE>
SM90_FUNCTION void store_share(unsigned char *rests, sums_t sums, const share &own,
                               const residue_arguments &given) {
  const residue_modulus modulus = given.rules.moduli[own.plane / TSL_RESIDUE_KINDS];
  const int thread = threadIdx.x % 128,
            row = own.row + (threadIdx.x / 128 - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
  unsigned char *to = rests + (own.plane * given.parts + own.part) * given.rest_plane +
                      row * given.rest_pitch + own.col + 16 * (thread % 4);
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
            __byte_perm(rest_of<IS_BYTE>(one[0], modulus), rest_of<IS_BYTE>(one[1], modulus), 0x0040),
            __byte_perm(rest_of<IS_BYTE>(two[0], modulus), rest_of<IS_BYTE>(two[1], modulus), 0x0040),
            0x5410);
      }
      if (row + 8 * half < given.m && own.col + TSL_RESIDUE_GROUP * g < given.rest_pitch)
        *(uint4 *)(to + 8 * half * given.rest_pitch + TSL_RESIDUE_GROUP * g) = out;
    }
  }
}

extern "C" __global__ void __launch_bounds__(128 * (WARPGROUPS + 1), 1)
    tsl_gemm_residue_int8_multiply(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                                   unsigned char *scratch, const __grid_constant__ residue_arguments given) {
  extern __shared__ char memory[];
  const shared_t stages = (shared_address(memory) + 1023) / 1024 * 1024, full = stages + STAGES * STAGE_BYTES,
                 empty = full + 8 * STAGES;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    tma_prefetch(&a);
    tma_prefetch(&b);
    for (int s = 0; s < STAGES; s++) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, WARPGROUPS);
    }
    barriers_made_visible();
  }
  __syncthreads();
  dependency_launch();
  dependency_wait();
  const int shares = ((const volatile residue_choice *)(scratch + given.choice))->moduli * TSL_RESIDUE_KINDS *
                     given.parts * given.tiles_m * given.tiles_n;
  if (group == 0) {
    registers_give_back<LOADING_REGISTERS>();
    if (threadIdx.x == 0)
      load_shares(&a, &b, given, shares, stages, full, empty);
  } else {
    registers_take<MULTIPLYING_REGISTERS>();
    stage at = {0, 0};
    for (int number = blockIdx.x; number < shares; number += gridDim.x) {
      const share own = share_of(number, given);
      sums_t sums;
      multiply_share(sums, own, stages, full, empty, at);
      if (own.plane < TSL_RESIDUE_KINDS) /* 256 */
        store_share<true>(scratch + given.rests, sums, own, given);
      else
        store_share<false>(scratch + given.rests, sums, own, given);
    }
  }
}
