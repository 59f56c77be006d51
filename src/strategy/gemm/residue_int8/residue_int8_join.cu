/* The last kernels of residue_int8.
 *
 * tsl_gemm_residue_int8_join: a thread makes four neighbours of a row of C of their residues.
 * tsl_gemm_residue_int8_native: what has no proof, or is not finite: tiles of SIDE x SIDE elements, a thread PER x PER of them,
 * k products added one after the other, each fused. Tiles without a native line are left out at once; where nothing was chosen,
 * none is. Where there are no products, C = beta C is all that is left.
 *
 *   scales of rows, of columns: NO_SCALE marks what the one kernel leaves to the other
 *
 * From the host: TSL_RESIDUE_F64 or not; MODULI_FIRST, MODULI_SECOND, of both candidates. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int THREADS = 256, FOUR = 4;
#ifdef TSL_RESIDUE_F64
constexpr int LIMBS = 4, PER = 4;
#else
constexpr int LIMBS = 2, PER = 8;
#endif

/* --- from residues --- */

/* C' 2^-scale. A sum that fits 64 bits becomes a double by its halves: each is a double's low bits, so that only their sum is rounded. */
SM90_FUNCTION double number_of(residue_sum *sum, const residue_sieve &sieve, int scale) {
  sum->quotient += 1u << 19;
#ifdef TSL_RESIDUE_F64
  return residue_sum_long(sum, &sieve, scale);
#else
  const long long whole = residue_sum_short(sum, &sieve);
  const double low = __hiloint2double(0x43300000, (int)whole),
               high = __hiloint2double(0x45300000, (int)(whole >> 32) ^ (int)0x80000000);
  return __dadd_rn(__dsub_rn(high, 0x1.00000801p84), low) * residue_two(-scale);
#endif
}

/* Residues of four neighbours, a byte each; where k was cut, their sums reduced again. */
SM90_FUNCTION unsigned rests_of(const unsigned char *from, int modulus, const residue_arguments &given) {
  if (given.parts == 1)
    return *(const unsigned *)(from + modulus * given.rest_plane);
  unsigned out = 0;
#pragma unroll
  for (int i = 0; i < FOUR; i++) {
    unsigned rest = 0;
    for (int part = 0; part < given.parts; part++)
      rest += from[(modulus * given.parts + part) * given.rest_plane + i];
    out |= rest % given.rules.moduli[modulus].p << 8 * i;
  }
  return out;
}

/* All rows of four columns, with a number of moduli that the compiler knows. */
template <int CANDIDATE, int MODULI>
SM90_FUNCTION void join(residue_real *c, const unsigned char *scratch, const residue_arguments &given,
                        int col) {
  const residue_sieve &sieve = given.rules.sieves[CANDIDATE];
  const int4 across = *(const int4 *)((const int *)(scratch + given.scales[1]) + col);
  const int scales[FOUR] = {across.x, across.y, across.z, across.w};
  const residue_real alpha = (residue_real)given.alpha, beta = (residue_real)given.beta;
  bool is_wide = given.is_wide && col + FOUR <= given.n, here[FOUR];
#pragma unroll
  for (int i = 0; i < FOUR; i++) {
    here[i] = col + i < given.n && scales[i] != TSL_RESIDUE_NO_SCALE;
    is_wide = is_wide && here[i];
  }
  for (int row = blockIdx.y; row < given.m; row += gridDim.y) {
    const int down = ((const int *)(scratch + given.scales[0]))[row];
    if (down == TSL_RESIDUE_NO_SCALE)
      continue;
    const unsigned char *from = scratch + given.rests + row * given.rest_pitch + col;
    residue_real *to = c + given.c_offset + row * given.c_row + col * given.c_col, out[FOUR];
    unsigned rests[MODULI];
#pragma unroll
    for (int l = 0; l < MODULI; l++)
      rests[l] = rests_of(from, l, given);
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
      residue_sum sum = {};
#pragma unroll
      for (int l = 0; l < MODULI; l++)
        residue_sum_add(&sum, &sieve, l, rests[l] >> 8 * i & 255, LIMBS);
      if (here[i])
        out[i] = residue_finish(number_of(&sum, sieve, down + scales[i]), alpha, beta, to + i * given.c_col);
    }
    if (is_wide) {
#ifdef TSL_RESIDUE_F64
      *(double2 *)to = make_double2(out[0], out[1]);
      *(double2 *)(to + 2) = make_double2(out[2], out[3]);
#else
      *(float4 *)to = make_float4(out[0], out[1], out[2], out[3]);
#endif
    } else {
#pragma unroll
      for (int i = 0; i < FOUR; i++)
        if (here[i])
          to[i * given.c_col] = out[i];
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tsl_gemm_residue_int8_join(residue_real *c, const unsigned char *scratch,
                               const __grid_constant__ residue_arguments given) {
  const int col = (blockIdx.x * THREADS + threadIdx.x) * FOUR;
  dependency_wait();
  const residue_choice *choice = (const residue_choice *)(scratch + given.choice);
  if (choice->moduli == 0 || col >= given.n)
    return;
  if (choice->candidate == 0)
    join<0, MODULI_FIRST>(c, scratch, given, col);
  else
    join<1, MODULI_SECOND>(c, scratch, given, col);
}

/* --- as they are --- */

constexpr int SIDE = 16 * PER, DEPTH = 8, ROW = SIDE + 4;

SM90_FUNCTION residue_real fused(residue_real a, residue_real b, residue_real c) {
#ifdef TSL_RESIDUE_F64
  return __fma_rn(a, b, c);
#else
  return __fmaf_rn(a, b, c);
#endif
}

/* DEPTH numbers of SIDE lines; zeros where there are none. */
SM90_FUNCTION void fetch(residue_real to[DEPTH][ROW], const residue_real *from, const residue_matrix &of,
                         int line, int lines, int h, int k) {
#pragma unroll
  for (int e = threadIdx.x; e < SIDE * DEPTH; e += THREADS) {
    const int i = of.is_across ? e % SIDE : e / DEPTH, d = of.is_across ? e / SIDE : e % DEPTH;
    to[d][i] = line + i < lines && h + d < k ? from[of.offset + (line + i) * of.across + (h + d) * of.along]
                                             : (residue_real)0;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tsl_gemm_residue_int8_native(const residue_real *a, const residue_real *b, residue_real *c,
                                 const unsigned char *scratch,
                                 const __grid_constant__ residue_arguments given) {
  __shared__ residue_real rows[DEPTH][ROW], columns[DEPTH][ROW];
  const int across = (given.n + SIDE - 1) / SIDE, down = (given.m + SIDE - 1) / SIDE;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const residue_real alpha = (residue_real)given.alpha, beta = (residue_real)given.beta;
  const int *scales[2] = {(const int *)(scratch + given.scales[0]), (const int *)(scratch + given.scales[1])};
  dependency_wait();
  bool everything = true;
  if (!given.is_empty) {
    const residue_choice choice = *(const residue_choice *)(scratch + given.choice);
    everything = choice.moduli == 0;
    if (!everything && choice.native[0] == 0 && choice.native[1] == 0)
      return;
  }
  const int k = given.is_empty ? 0 : given.k;
  for (long long tile = blockIdx.x; tile < (long long)across * down; tile += gridDim.x) {
    const int row = (int)(tile / across) * SIDE, col = (int)(tile % across) * SIDE;
    bool marked[2][PER], any = everything;
#pragma unroll
    for (int i = 0; i < PER; i++) {
      const int r = row + y + 16 * i, s = col + x + 16 * i;
      marked[0][i] = everything || (r < given.m && scales[0][r] == TSL_RESIDUE_NO_SCALE);
      marked[1][i] = everything || (s < given.n && scales[1][s] == TSL_RESIDUE_NO_SCALE);
      any = any || marked[0][i] || marked[1][i];
    }
    if (!__syncthreads_or(any))
      continue;
    residue_real sums[PER][PER] = {};
    for (int h = 0; h < k; h += DEPTH) {
      fetch(rows, a, given.of[0], row, given.m, h, k);
      fetch(columns, b, given.of[1], col, given.n, h, k);
      __syncthreads();
      const int depth = min(DEPTH, k - h);
#pragma unroll
      for (int d = 0; d < DEPTH; d++)
        if (d < depth) {
          residue_real left[PER], above[PER];
#pragma unroll
          for (int i = 0; i < PER; i++)
            left[i] = rows[d][y + 16 * i], above[i] = columns[d][x + 16 * i];
#pragma unroll
          for (int i = 0; i < PER; i++)
#pragma unroll
            for (int j = 0; j < PER; j++)
              sums[i][j] = fused(left[i], above[j], sums[i][j]);
        }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
      for (int j = 0; j < PER; j++) {
        const int r = row + y + 16 * i, s = col + x + 16 * j;
        residue_real *to = c + given.c_offset + r * given.c_row + s * given.c_col;
        if (r < given.m && s < given.n && (marked[0][i] || marked[1][j]))
          *to = residue_finish(sums[i][j], given.is_empty ? (residue_real)0 : alpha, beta, to);
      }
  }
}
