/* The first kernels of residue_int8: lines are measured, and one block chooses.
 *
 * tsl_gemm_residue_int8_measure: a block reads its lines twice, the second time from caches: for the largest magnitude; and for what
 * is added up of all (residue_sums).
 *
 *   along: numbers of a line follow each other       across: numbers of different lines do
 *   4 lines a block, 128 threads each                16 lines a block, 32 threads each: half-warps read 16 neighbours
 *
 * tsl_gemm_residue_int8_choose: counts lines and chooses; every line's scale is final then.
 *
 * Everything is made of integers, so that no order of threads matters. From the host: TSL_RESIDUE_F64 or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int THREADS = 512, MOST_LINES = 16;
constexpr int LINES_ALONG = TSL_RESIDUE_BLOCK_ALONG, LINES_ACROSS = TSL_RESIDUE_BLOCK_ACROSS;

SM90_FUNCTION residue_bits magnitude_of(const residue_real *number) {
#ifdef TSL_RESIDUE_F64
  return (residue_bits)__double_as_longlong(__ldg(number)) & ~TSL_RESIDUE_SIGN;
#else
  return __float_as_uint(__ldg(number)) & ~TSL_RESIDUE_SIGN;
#endif
}

/* Sums and maxima of the threads of a line: all 32 of a warp, or two. */
template <typename word>
SM90_FUNCTION word added(word value, bool is_across) {
  for (int step = 16; step >= (is_across ? 16 : 1); step /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
template <typename word>
SM90_FUNCTION word larger(word value, bool is_across) {
  for (int step = 16; step >= (is_across ? 16 : 1); step /= 2) {
    const word other = __shfl_xor_sync(0xffffffffu, value, step);
    value = other > value ? other : value;
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
    tsl_gemm_residue_int8_measure(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                  const __grid_constant__ residue_arguments given) {
  __shared__ residue_bits all_largest[MOST_LINES];
  __shared__ unsigned long long all_sum[MOST_LINES], all_squares[MOST_LINES];
  __shared__ unsigned all_count[MOST_LINES], all_few[TSL_RESIDUE_DROPS][MOST_LINES];
  const int operand = blockIdx.x >= given.blocks[0], thread = threadIdx.x;
  const residue_matrix &of = given.of[operand];
  const bool is_across = of.is_across;
  const int workers = THREADS / (is_across ? LINES_ACROSS : LINES_ALONG),
            own = is_across ? thread % LINES_ACROSS : thread / workers,
            worker = is_across ? thread / LINES_ACROSS : thread % workers,
            number = (blockIdx.x - (operand ? given.blocks[0] : 0)) * (is_across ? LINES_ACROSS : LINES_ALONG) + own;
  const bool is_there = number < (operand ? given.n : given.m), says = thread % 32 < (is_across ? 16 : 1);
  const int k = is_there ? given.k : 0;
  const long long step = of.along;
  const residue_real *from = (operand ? b : a) + of.offset + number * of.across;
  if (thread < MOST_LINES) {
    all_largest[thread] = 0;
    all_sum[thread] = all_squares[thread] = all_count[thread] = 0;
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      all_few[i][thread] = 0;
  }
  __syncthreads();
  dependency_wait();
  residue_bits largest = 0;
#pragma unroll 8
  for (int h = worker; h < k; h += workers) {
    const residue_bits magnitude = magnitude_of(from + h * step);
    largest = magnitude > largest ? magnitude : largest;
  }
  largest = larger(largest, is_across);
  if (says)
    atomicMax(&all_largest[own], largest);
  __syncthreads();
  largest = all_largest[own];
  residue_sums sums = {};
  if (largest > 0 && largest < TSL_RESIDUE_INFINITY) {
    const int exponent = residue_exponent(largest);
    residue_bits least[TSL_RESIDUE_DROPS];
#pragma unroll
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      least[i] = residue_threshold(exponent - residue_drop(&given.rules) - TSL_RESIDUE_DROP(i));
#pragma unroll 8
    for (int h = worker; h < k; h += workers) {
      const residue_bits magnitude = magnitude_of(from + h * step);
      const unsigned top = residue_top(magnitude, exponent);
      sums.sum += top;
      sums.squares += (unsigned long long)top * top;
      sums.count += magnitude != 0;
#pragma unroll
      for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
        sums.few[i] += magnitude < least[i];
    }
  }
  sums.sum = added(sums.sum, is_across);
  sums.squares = added(sums.squares, is_across);
  sums.count = added(sums.count, is_across);
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
    sums.few[i] = added(sums.few[i], is_across);
  if (says) {
    atomicAdd(&all_sum[own], sums.sum);
    atomicAdd(&all_squares[own], sums.squares);
    atomicAdd(&all_count[own], sums.count);
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      atomicAdd(&all_few[i][own], sums.few[i]);
  }
  __syncthreads();
  if (worker == 0 && is_there) {
    residue_line line;
    sums.sum = all_sum[own], sums.squares = all_squares[own], sums.count = all_count[own];
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++) /* less the zeros, which are smaller than anything */
      sums.few[i] = largest == 0 ? 0 : all_few[i][own] - (all_few[i][own] > 0 ? k - sums.count : 0);
    residue_know(&given.rules, largest, &sums, &line);
    ((residue_line *)(scratch + given.lines[operand]))[number] = line;
  }
}

/* --- choosing --- */

constexpr int CHOOSERS = 1024, LEVELS = TSL_RESIDUE_LEVELS + 1, WAYS = 2 * TSL_RESIDUE_CANDIDATES;

/* ++*counter by every thread that comes here; those with one counter together. */
SM90_FUNCTION void count(unsigned *counter) {
  const unsigned here = __activemask(),
                 mine = __match_any_sync(here, (unsigned)__cvta_generic_to_shared(counter));
  if (threadIdx.x % 32 == __ffs(mine) - 1)
    atomicAdd(counter, __popc(mine));
}

extern "C" __global__ void __launch_bounds__(CHOOSERS)
    tsl_gemm_residue_int8_choose(unsigned char *scratch, const __grid_constant__ residue_arguments given) {
  __shared__ residue_counts counts;
  __shared__ residue_word costs[WAYS][LEVELS], least[TSL_RESIDUE_CANDIDATES][2];
  __shared__ int levels[TSL_RESIDUE_CANDIDATES][2];
  __shared__ residue_choice choice;
  const int thread = threadIdx.x;
  for (int i = thread; i < (int)(sizeof counts / sizeof(unsigned)); i += CHOOSERS)
    ((unsigned *)&counts)[i] = 0;
  __syncthreads();
  dependency_wait();
  for (int o = 0; o < 2; o++)
    for (int i = thread; i < given.rules.lines[o]; i += CHOOSERS) {
      const residue_line line = ((const residue_line *)(scratch + given.lines[o]))[i];
      if (residue_is_zero(&line, given.k))
        continue;
      if (!line.flags)
        count(&counts.has[o][residue_has(&line)]);
#pragma unroll
      for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
        if (c < given.rules.candidates)
          count(line.flags || line.scale[c] == TSL_RESIDUE_NO_SCALE
                    ? &counts.lost[c][o]
                    : &counts.needs[c][o][residue_need(&line, c)]);
    }
  __syncthreads();
  for (int i = thread; i < WAYS * LEVELS; i += CHOOSERS)
    costs[i / LEVELS][i % LEVELS] =
        residue_cost(&given.rules, &counts, i / LEVELS / 2, i / LEVELS % 2, i % LEVELS);
  __syncthreads();
  if (thread < WAYS) {
    int best = 0;
    for (int level = 1; level < LEVELS; level++)
      best = costs[thread][level] < costs[thread][best] ? level : best;
    levels[thread / 2][thread % 2] = best;
    least[thread / 2][thread % 2] = costs[thread][best];
  }
  __syncthreads();
  if (thread == 0) {
    residue_choose(&given.rules, &counts, least, levels, &choice);
    *(residue_choice *)(scratch + given.choice) = choice;
  }
  __syncthreads();
  for (int o = 0; o < 2; o++)
    for (int i = thread; i < given.rules.lines[o]; i += CHOOSERS) {
      const residue_line line = ((const residue_line *)(scratch + given.lines[o]))[i];
      ((int *)(scratch + given.scales[o]))[i] = residue_is_native(&given.rules, &choice, o, &line)
                                                    ? TSL_RESIDUE_NO_SCALE
                                                    : line.scale[choice.candidate];
    }
}
