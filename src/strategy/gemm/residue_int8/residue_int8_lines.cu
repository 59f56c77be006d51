/* The first kernels of residue_int8: lines are measured, and one block chooses.
 *
 * tsl_gemm_residue_int8_measure: a block reads some elements of its lines, to guess what all are below, and then all of them once,
 * for what is added up (residue_sums); again where the guess was wrong.
 *
 *   along: numbers of a line follow each other       across: numbers of different lines do
 *   4 lines a block, 128 threads each                16 lines a block, 32 threads each: half-warps read 16 neighbours
 *
 * tsl_gemm_residue_int8_choose: counts lines and chooses; every line's scale is final then.
 *
 * Everything is made of integers, so that no order of threads matters. From the host: TSL_RESIDUE_F64 or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
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

/* What a block knows of its lines. */
struct totals {
  residue_bits largest[MOST_LINES];
  unsigned long long sum[MOST_LINES], squares[MOST_LINES], excess[TSL_RESIDUE_EXCESSES][MOST_LINES];
  unsigned count[MOST_LINES], few[TSL_RESIDUE_DROPS][MOST_LINES];
};

/* What a thread does of its line. */
struct share {
  const residue_real *from;
  long long step;
  int own, worker, workers, k;
  bool is_across, says; /* says: this thread speaks for those of its line in the warp */
};

SM90_FUNCTION void forget(totals *all, int line) {
  all->largest[line] = 0;
  all->sum[line] = all->squares[line] = all->count[line] = 0;
  for (int i = 0; i < TSL_RESIDUE_EXCESSES; i++)
    all->excess[i][line] = 0;
  for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
    all->few[i][line] = 0;
}

SM90_FUNCTION residue_bits largest_of(const share &at, int count, totals *all) {
  residue_bits largest = 0;
#pragma unroll 4
  for (int h = at.worker; h < count; h += at.workers) {
    const residue_bits magnitude = magnitude_of(at.from + h * at.step);
    largest = magnitude > largest ? magnitude : largest;
  }
  largest = larger(largest, at.is_across);
  if (at.says)
    atomicMax(&all->largest[at.own], largest);
  __syncthreads();
  return all->largest[at.own];
}

/* residue_top() for an exponent that is known: a float adds 2^23 and cuts off. Two factors, because 2^(TOP - exponent) may be too large
 * for a float; what becomes subnormal on the way is 0 in any case. */
struct tops {
#ifdef TSL_RESIDUE_F64
  int exponent;
  static __device__ __forceinline__ tops of(int exponent) {
    return {exponent};
  }
#else
  float one, other;
  static __device__ __forceinline__ tops of(int exponent) {
    const int all = TSL_RESIDUE_TOP - exponent, half = max(-126, min(127, all)),
              rest = max(-126, min(127, all - half));
    return {__int_as_float((half + 127) << 23), __int_as_float((rest + 127) << 23)};
  }
#endif
};
SM90_FUNCTION unsigned top_of(residue_bits magnitude, const tops &by) {
#ifdef TSL_RESIDUE_F64
  return residue_top(magnitude, by.exponent);
#else
  const float scaled = __fmul_rn(__fmul_rn(__uint_as_float(magnitude), by.one), by.other);
  return __float_as_uint(__fadd_rz(scaled, 8388608)) - 0x4b000000u;
#endif
}

/* Adds up the elements of lines whose threads want it. A thread's sums of tops fit 32 bits (residue_int8.c limits k). */
SM90_FUNCTION void add_up(const share &at, int exponent, const residue_rules &rules, bool wants,
                          totals *all) {
  unsigned sum = 0, count = 0, excess[TSL_RESIDUE_EXCESSES] = {}, few[TSL_RESIDUE_DROPS] = {};
  unsigned long long squares = 0;
  residue_bits largest = 0, least[TSL_RESIDUE_DROPS];
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
    least[i] = residue_threshold(exponent - residue_drop(&rules) - TSL_RESIDUE_DROP(i));
  const tops by = tops::of(exponent);
  const int k = wants ? at.k : 0;
#pragma unroll 8
  for (int h = at.worker; h < k; h += at.workers) {
    const residue_bits magnitude = magnitude_of(at.from + h * at.step);
    const unsigned top = top_of(magnitude, by);
    largest = magnitude > largest ? magnitude : largest;
    sum += top;
    squares += (unsigned long long)top * top;
    count += magnitude != 0;
#pragma unroll
    for (int i = 0; i < TSL_RESIDUE_EXCESSES; i++)
      excess[i] += max((int)(top + 1 - TSL_RESIDUE_EXCESS(i)), 0);
#pragma unroll
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      few[i] += magnitude < least[i]; /* zeros, too */
  }
  largest = larger(largest, at.is_across);
  const unsigned long long own_sum = added((unsigned long long)sum, at.is_across),
                           own_squares = added(squares, at.is_across);
  const unsigned own_count = added(count, at.is_across);
  if (at.says && wants) {
    atomicMax(&all->largest[at.own], largest);
    atomicAdd(&all->sum[at.own], own_sum);
    atomicAdd(&all->squares[at.own], own_squares);
    atomicAdd(&all->count[at.own], own_count);
  }
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_EXCESSES; i++) {
    const unsigned long long of = added((unsigned long long)excess[i], at.is_across);
    if (at.says && wants)
      atomicAdd(&all->excess[i][at.own], of);
  }
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_DROPS; i++) {
    const unsigned of = added(few[i], at.is_across);
    if (at.says && wants)
      atomicAdd(&all->few[i][at.own], of);
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, sizeof(residue_real) == 8 ? 2 : 3)
    tsl_gemm_residue_int8_measure(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                  const __grid_constant__ residue_arguments given) {
  __shared__ totals all;
  const int operand = blockIdx.x < given.blocks[1], thread = threadIdx.x;
  const residue_matrix &of = given.of[operand];
  const bool is_across = of.is_across;
  const int workers = THREADS / (is_across ? LINES_ACROSS : LINES_ALONG),
            own = is_across ? thread % LINES_ACROSS : thread / workers,
            block = blockIdx.x - (operand ? 0 : given.blocks[1]),
            number = block * (is_across ? LINES_ACROSS : LINES_ALONG) + own;
  const bool is_there = number < (operand ? given.n : given.m);
  const share at = {(operand ? b : a) + of.offset + number * of.across,
                    of.along,
                    own,
                    is_across ? thread / LINES_ACROSS : thread % workers,
                    workers,
                    is_there ? given.k : 0,
                    is_across,
                    thread % 32 < (is_across ? 16 : 1)};
  if (thread < MOST_LINES)
    forget(&all, thread);
  __syncthreads();
  dependency_wait();
  const residue_bits sample = largest_of(at, min(at.k, TSL_RESIDUE_SAMPLE), &all);
  const bool guesses = sample > 0 && sample < TSL_RESIDUE_INFINITY;
  int exponent = guesses ? residue_exponent(sample) + TSL_RESIDUE_ROOM : -TSL_RESIDUE_BIAS;
  __syncthreads();
  add_up(at, exponent, given.rules, true, &all);
  const residue_bits largest = all.largest[own];
  const bool is_wrong = largest > 0 && largest < TSL_RESIDUE_INFINITY && residue_exponent(largest) > exponent;
  if (__syncthreads_or(is_wrong)) {
    if (is_wrong) {
      exponent = residue_exponent(largest);
      if (at.worker == 0)
        forget(&all, own);
    }
    __syncthreads();
    add_up(at, exponent, given.rules, is_wrong, &all);
  }
  if (at.worker == 0 && is_there) {
    residue_sums sums;
    residue_line line;
    sums.sum = all.sum[own], sums.squares = all.squares[own], sums.count = all.count[own];
    for (int i = 0; i < TSL_RESIDUE_EXCESSES; i++)
      sums.excess[i] = all.excess[i][own];
    for (int i = 0; i < TSL_RESIDUE_DROPS; i++)
      sums.few[i] = all.few[i][own] > 0 ? all.few[i][own] - (at.k - sums.count) : 0;
    residue_know(&given.rules, largest, exponent, &sums, &line);
    ((unsigned *)(scratch + given.keys[operand]))[number] = line.key;
#pragma unroll
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      ((int *)(scratch + given.candidates[operand][c]))[number] = line.scale[c];
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
#pragma unroll 4
    for (int i = thread; i < given.rules.lines[o]; i += CHOOSERS) {
      const unsigned key = ((const unsigned *)(scratch + given.keys[o]))[i];
      if (key & TSL_RESIDUE_ZERO)
        continue;
      count(&counts.has[o][residue_has(key)]);
#pragma unroll
      for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
        if (c < given.rules.candidates)
          count(key & TSL_RESIDUE_LOST << c ? &counts.lost[c][o] : &counts.needs[c][o][residue_need(key, c)]);
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
  if (thread == 0)
    residue_choose(&given.rules, &counts, least, levels, &choice);
  __syncthreads();
  for (int o = 0; o < 2; o++) {
    const int *scales = (const int *)(scratch + given.candidates[o][choice.candidate]);
    int native = 0;
#pragma unroll 4
    for (int i = thread; i < given.rules.lines[o]; i += CHOOSERS) {
      const unsigned key = ((const unsigned *)(scratch + given.keys[o]))[i];
      const int is_native = residue_is_native(&choice, o, key);
      ((int *)(scratch + given.scales[o]))[i] = is_native ? TSL_RESIDUE_NO_SCALE : scales[i];
      native += is_native;
    }
    if (native > 0)
      atomicAdd(&choice.native[o], native);
  }
  __syncthreads();
  if (thread == 0)
    *(residue_choice *)(scratch + given.choice) = choice;
}
