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

constexpr int SIDE = 16 * PER, DEPTH = 8, ROW = SIDE + 4, EACH = SIDE * DEPTH / THREADS;

typedef residue_real panel_t[DEPTH][ROW];

SM90_FUNCTION residue_real fused(residue_real a, residue_real b, residue_real c) {
#ifdef TSL_RESIDUE_F64
  return __fma_rn(a, b, c);
#else
  return __fmaf_rn(a, b, c);
#endif
}

/* Which number of a panel (SIDE lines, DEPTH numbers of each) is number `e` of a thread. */
SM90_FUNCTION int line_of(bool is_across, int e) {
  return is_across ? threadIdx.x % 32 + e % (SIDE / 32) * 32 : threadIdx.x / (DEPTH / EACH);
}
SM90_FUNCTION int depth_of(bool is_across, int e) {
  return is_across ? threadIdx.x / 32 + e / (SIDE / 32) * 8 : threadIdx.x % (DEPTH / EACH) * EACH + e;
}

/* A thread's numbers of a panel; zeros where there are none. */
SM90_FUNCTION void fetch(residue_real own[EACH], const residue_real *from, const residue_matrix &of, int line,
                         int lines, int h, int k) {
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = line + line_of(of.is_across, e), d = h + depth_of(of.is_across, e);
    own[e] = i < lines && d < k ? from[of.offset + i * of.across + d * of.along] : (residue_real)0;
  }
}

SM90_FUNCTION void put(panel_t to, const residue_real own[EACH], bool is_across) {
#pragma unroll
  for (int e = 0; e < EACH; e++)
    to[depth_of(is_across, e)][line_of(is_across, e)] = own[e];
}

/* Where a thread's lines are: four neighbours, and four more 64 lines on. */
SM90_FUNCTION int line_at(int thread, int i) {
  return i / FOUR * 64 + thread * FOUR + i % FOUR;
}

SM90_FUNCTION void take(residue_real own[PER], const residue_real *row, int thread) {
#pragma unroll
  for (int i = 0; i < PER; i++)
    own[i] = row[line_at(thread, i)];
}

/* Adds `depth` products, one after the other. */
SM90_FUNCTION void multiply(residue_real sums[PER][PER], const panel_t rows, const panel_t columns,
                            int depth) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  residue_real left[PER], above[PER];
#pragma unroll
  for (int d = 0; d < DEPTH; d++)
    if (d < depth) {
      take(left, rows[d], y);
      take(above, columns[d], x);
#pragma unroll
      for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++)
          sums[i][j] = fused(left[i], above[j], sums[i][j]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    tsl_gemm_residue_int8_native(const residue_real *a, const residue_real *b, residue_real *c,
                                 const unsigned char *scratch,
                                 const __grid_constant__ residue_arguments given) {
  alignas(16) __shared__ panel_t rows[2], columns[2];
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
    const int row = (int)(tile % down) * SIDE, col = (int)(tile / down) * SIDE;
    bool any = everything;
#pragma unroll
    for (int i = 0; i < PER && !everything; i++) {
      const int r = row + line_at(y, i), s = col + line_at(x, i);
      any = any || (r < given.m && scales[0][r] == TSL_RESIDUE_NO_SCALE) ||
            (s < given.n && scales[1][s] == TSL_RESIDUE_NO_SCALE);
    }
    if (!__syncthreads_or(any))
      continue;
    residue_real sums[PER][PER] = {}, left[EACH], above[EACH];
    int at = 0;
    if (k > 0) {
      fetch(left, a, given.of[0], row, given.m, 0, k);
      fetch(above, b, given.of[1], col, given.n, 0, k);
    }
    for (int h = 0; h < k; h += DEPTH, at ^= 1) {
      put(rows[at], left, given.of[0].is_across);
      put(columns[at], above, given.of[1].is_across);
      __syncthreads();
      if (h + DEPTH < k) {
        fetch(left, a, given.of[0], row, given.m, h + DEPTH, k);
        fetch(above, b, given.of[1], col, given.n, h + DEPTH, k);
      }
      if (k - h >= DEPTH)
        multiply(sums, rows[at], columns[at], DEPTH);
      else
        multiply(sums, rows[at], columns[at], k - h);
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
      for (int j = 0; j < PER; j++) {
        const int r = row + line_at(y, i), s = col + line_at(x, j);
        residue_real *to = c + given.c_offset + r * given.c_row + s * given.c_col;
        if (r < given.m && s < given.n &&
            (everything || scales[0][r] == TSL_RESIDUE_NO_SCALE || scales[1][s] == TSL_RESIDUE_NO_SCALE))
          *to = residue_finish(sums[i][j], given.is_empty ? (residue_real)0 : alpha, beta, to);
      }
    __syncthreads(); /* before the next tile's panels */
  }
}
