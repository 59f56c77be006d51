/* The last kernels of residue_int8.
 *
 * tsl_gemm_residue_int8_join: a thread makes four neighbours of a row of C of their residues.
 * tsl_gemm_residue_int8_native: what has no proof, or is not finite: tiles of SIDE x SIDE elements, a thread PER x PER of them,
 * k products added one after the other, each fused. Tiles without a native line are left out at once; where nothing was chosen,
 * none is. Where there are no products, C = beta C is all that is left.
 *
 *   scales of rows, of columns: NO_SCALE marks what the one kernel leaves to the other
 *
 * From the host: TSL_RESIDUE_F64 or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int THREADS = 256, FOUR = 4;
#ifdef TSL_RESIDUE_F64
constexpr int LIMBS = 4, PER = 4;
#else
constexpr int LIMBS = 2, PER = 8;
#endif

/* --- from residues --- */

SM90_FUNCTION double number_of(residue_sum *sum, const residue_sieve &sieve, int scale) {
  sum->quotient += 1u << 19;
#ifdef TSL_RESIDUE_F64
  return residue_sum_long(sum, &sieve, scale);
#else
  return residue_power(-scale, (double)residue_sum_short(sum, &sieve));
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tsl_gemm_residue_int8_join(residue_real *c, const unsigned char *scratch,
                               const __grid_constant__ residue_arguments given) {
  const int col = (blockIdx.x * THREADS + threadIdx.x) * FOUR;
  dependency_wait();
  const residue_choice choice = *(const residue_choice *)(scratch + given.choice);
  if (choice.moduli == 0 || col >= given.n)
    return;
  const residue_sieve &sieve = given.rules.sieves[choice.candidate];
  const int4 across = *(const int4 *)((const int *)(scratch + given.scales[1]) + col);
  const int scales[FOUR] = {across.x, across.y, across.z, across.w};
  const residue_real alpha = (residue_real)given.alpha, beta = (residue_real)given.beta;
  for (int row = blockIdx.y; row < given.m; row += gridDim.y) {
    const int down = ((const int *)(scratch + given.scales[0]))[row];
    if (down == TSL_RESIDUE_NO_SCALE)
      continue;
    const unsigned char *from = scratch + given.rests + row * given.rest_pitch + col;
    residue_sum sums[FOUR] = {};
#pragma unroll 2
    for (int l = 0; l < choice.moduli; l++) {
      unsigned rests[FOUR];
      if (given.parts == 1) {
        const unsigned bytes = *(const unsigned *)(from + l * given.rest_plane);
#pragma unroll
        for (int i = 0; i < FOUR; i++)
          rests[i] = bytes >> 8 * i & 255;
      } else {
        for (int i = 0; i < FOUR; i++) {
          rests[i] = 0;
          for (int part = 0; part < given.parts; part++)
            rests[i] += from[(l * given.parts + part) * given.rest_plane + i];
          rests[i] %= given.rules.moduli[l].p;
        }
      }
#pragma unroll
      for (int i = 0; i < FOUR; i++)
        residue_sum_add(&sums[i], &sieve, l, rests[i], LIMBS);
    }
    residue_real *to = c + given.c_offset + row * given.c_row + col * given.c_col, out[FOUR];
#pragma unroll
    for (int i = 0; i < FOUR; i++)
      if (col + i < given.n && scales[i] != TSL_RESIDUE_NO_SCALE)
        out[i] = residue_finish(number_of(&sums[i], sieve, down + scales[i]), alpha, beta, to + i * given.c_col);
    bool all = given.is_wide && col + FOUR <= given.n;
#pragma unroll
    for (int i = 0; i < FOUR; i++)
      all = all && scales[i] != TSL_RESIDUE_NO_SCALE;
    if (all) {
#ifdef TSL_RESIDUE_F64
      *(double2 *)to = make_double2(out[0], out[1]);
      *(double2 *)(to + 2) = make_double2(out[2], out[3]);
#else
      *(float4 *)to = make_float4(out[0], out[1], out[2], out[3]);
#endif
      continue;
    }
#pragma unroll
    for (int i = 0; i < FOUR; i++)
      if (col + i < given.n && scales[i] != TSL_RESIDUE_NO_SCALE)
        to[i * given.c_col] = out[i];
  }
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
    to[d][i] = line + i < lines && h + d < k
                   ? from[of.offset + (line + i) * of.across + (h + d) * of.along]
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
  const bool everything =
      given.is_empty || ((const volatile residue_choice *)(scratch + given.choice))->moduli == 0;
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
