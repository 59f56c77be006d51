/* Lines become residues: the first kernels of residue_int8.
 *
 * tsl_gemm_residue_int8_lines: a block reads its lines three times, the second and third time from caches:
 *   largest magnitude -> sums of tops (norm, spread) -> scales; residues for the first candidate, and small elements counted.
 *
 *   along: numbers of a line follow each other       across: numbers of different lines do
 *   4 lines a block, 128 threads each                16 lines a block, 32 threads each: half-warps read 16 neighbours
 *
 *   A thread makes residues of 16 numbers of a line, and stores 16 bytes for each modulus. Planes of B have their lines in the
 *   order in which a thread of wgmma has 16 neighbours of a row of C (residue_int8_multiply.cu).
 *
 * tsl_gemm_residue_int8_choose: one block counts lines and chooses. Then the first kernel runs once more, and ends at once unless
 * another candidate was chosen.
 *
 * A number's integer is cut into signed digits of 14 bits, whose weights modulo p are bytes: one instruction adds two of them. The
 * sum v is below 2^22, so that 2^23 + 2^22 + v is a float's bits as it is; v / p is rounded by adding that once more, and
 * v - q p needs its low byte alone. It is right as v inverse errs by less than half of 1 / 255.
 *
 * From the host: TSL_RESIDUE_F64 or not. */
#include "sm90.h"

#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#include "residue_int8_shared.h"

constexpr int THREADS = 512, MOST_LINES = 16, AT_ONCE = 16;
constexpr int LINES_ALONG = TSL_RESIDUE_BLOCK_ALONG, LINES_ACROSS = TSL_RESIDUE_BLOCK_ACROSS;

/* --- a line's numbers --- */

SM90_FUNCTION residue_bits bits_of(const residue_real *number) {
#ifdef TSL_RESIDUE_F64
  return (residue_bits)__double_as_longlong(__ldg(number));
#else
  return __float_as_uint(__ldg(number));
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

/* Which lines of an operand a block has, and what of them a thread does. */
struct place {
  int operand, line, own, worker, workers; /* own: the line's number in the block */
  bool is_there, says; /* says: this thread speaks for the others of its line in the warp */
};

SM90_FUNCTION place place_of(const residue_arguments &given) {
  place at;
  at.operand = blockIdx.x >= given.blocks[0];
  const bool is_across = given.of[at.operand].is_across;
  const int block = blockIdx.x - (at.operand ? given.blocks[0] : 0), thread = threadIdx.x;
  at.workers = is_across ? THREADS / LINES_ACROSS : THREADS / LINES_ALONG;
  at.own = is_across ? thread % LINES_ACROSS : thread / at.workers;
  at.worker = is_across ? thread / LINES_ACROSS : thread % at.workers;
  at.line = block * (is_across ? LINES_ACROSS : LINES_ALONG) + at.own;
  at.is_there = at.line < (at.operand ? given.n : given.m);
  at.says = thread % 32 < (is_across ? 16 : 1);
  return at;
}

/* Where a line's residues lie in a plane. */
SM90_FUNCTION long long row_of(int operand, int line) {
  const int in = line % TSL_RESIDUE_GROUP;
  return operand == 0 ? line : line - in + in % 16 / 2 * 8 + in / 16 * 2 + in % 2;
}

/* --- what is known of lines --- */

struct measures {
  residue_bits largest[MOST_LINES];
  unsigned long long sum[MOST_LINES], squares[MOST_LINES], count[MOST_LINES];
  residue_line lines[MOST_LINES];
  residue_bits least[TSL_RESIDUE_CANDIDATES][MOST_LINES]; /* thresholds of small elements */
};

SM90_FUNCTION void measure(const residue_real *from, long long step, const residue_arguments &given,
                           const place &at, measures *all) {
  const bool is_across = given.of[at.operand].is_across;
  const int k = at.is_there ? given.k : 0;
  if (threadIdx.x < MOST_LINES) {
    all->largest[threadIdx.x] = 0;
    all->sum[threadIdx.x] = all->squares[threadIdx.x] = all->count[threadIdx.x] = 0;
  }
  __syncthreads();
  residue_bits largest = 0;
#pragma unroll 8
  for (int h = at.worker; h < k; h += at.workers) {
    const residue_bits magnitude = bits_of(from + h * step) & ~TSL_RESIDUE_SIGN;
    largest = magnitude > largest ? magnitude : largest;
  }
  largest = larger(largest, is_across);
  if (at.says)
    atomicMax(&all->largest[at.own], largest);
  __syncthreads();
  largest = all->largest[at.own];
  unsigned long long sum = 0, squares = 0, count = 0;
  if (largest > 0 && largest < TSL_RESIDUE_INFINITY) {
    const int exponent = residue_exponent(largest);
#pragma unroll 4
    for (int h = at.worker; h < k; h += at.workers) {
      const residue_bits magnitude = bits_of(from + h * step) & ~TSL_RESIDUE_SIGN;
      const unsigned top = residue_top(magnitude, exponent);
      sum += top;
      squares += (unsigned long long)top * top;
      count += magnitude != 0;
    }
  }
  sum = added(sum, is_across);
  squares = added(squares, is_across);
  count = added(count, is_across);
  if (at.says) {
    atomicAdd(&all->sum[at.own], sum);
    atomicAdd(&all->squares[at.own], squares);
    atomicAdd(&all->count[at.own], count);
  }
  __syncthreads();
  if (at.worker == 0) {
    residue_line line;
    residue_scales(&given.rules, largest, all->sum[at.own], all->squares[at.own], all->count[at.own], &line);
#pragma unroll
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      all->least[c][at.own] =
          c < given.rules.candidates ? residue_threshold(residue_least(&given.rules, &line, c)) : 0;
    all->lines[at.own] = line;
  }
  __syncthreads();
}

/* --- residues --- */

/* Digits of AT_ONCE numbers: the lowest, in front of a float's bits; and pairs of the others. */
struct digits {
  int first[AT_ONCE], second[AT_ONCE];
#ifdef TSL_RESIDUE_F64
  int third[AT_ONCE];
#endif
};
constexpr int IN_FLOAT = 0x4b400000; /* 2^23 + 2^22 */

SM90_FUNCTION void cut(residue_bits bits, int scale, int i, digits *to) {
  const residue_word whole = residue_scaled(bits & ~TSL_RESIDUE_SIGN, scale);
#ifdef TSL_RESIDUE_F64
  long long rest = bits & TSL_RESIDUE_SIGN ? -(long long)whole : (long long)whole;
  int digit[4];
#pragma unroll
  for (int d = 0; d < 4; d++) {
    digit[d] = (int)((unsigned)rest << 18) >> 18;
    rest = (rest - digit[d]) >> 14;
  }
  to->first[i] = IN_FLOAT + digit[0];
  to->second[i] = (digit[1] & 0xffff) | digit[2] << 16;
  to->third[i] = (digit[3] & 0xffff) | (int)rest << 16;
#else
  const unsigned magnitude = (unsigned)whole;
  const int sign = bits & TSL_RESIDUE_SIGN ? -1 : 1;
  to->first[i] = IN_FLOAT + sign * (int)(magnitude & 0x3fff);
  to->second[i] = (sign * (int)(magnitude >> 14 & 0x3fff) & 0xffff) | sign * (int)(magnitude >> 28) << 16;
#endif
}

/* Low byte: a residue of magnitude at most p / 2, or 128 of 256. */
SM90_FUNCTION int residue_of(const digits &of, int i, const residue_modulus &modulus) {
  int sum;
  asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(of.second[i]), "r"(modulus.powers), "r"(of.first[i]));
#ifdef TSL_RESIDUE_F64
  asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(of.third[i]), "r"(modulus.powers), "r"(sum));
#endif
  const float rounder = __int_as_float(IN_FLOAT), v = __int_as_float(sum) - rounder;
  return sum - __float_as_int(__fmaf_rn(v, modulus.inverse, rounder)) * (int)modulus.p;
}

SM90_FUNCTION unsigned bytes_of(int a, int b, int c, int d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* AT_ONCE numbers of a line from `h` on; zeros behind the k-th. */
SM90_FUNCTION void load(const residue_real *from, long long step, int h, int k, bool is_wide,
                        residue_bits bits[AT_ONCE]) {
  constexpr int WIDE = 16 / sizeof(residue_real);
  if (is_wide && h + AT_ONCE <= k) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; i += WIDE) {
#ifdef TSL_RESIDUE_F64
      const ulonglong2 two = __ldg((const ulonglong2 *)(from + h + i));
      bits[i] = two.x, bits[i + 1] = two.y;
#else
      const uint4 four = __ldg((const uint4 *)(from + h + i));
      bits[i] = four.x, bits[i + 1] = four.y, bits[i + 2] = four.z, bits[i + 3] = four.w;
#endif
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < AT_ONCE; i++)
    bits[i] = h + i < k ? bits_of(from + (h + i) * step) : 0;
}

/* Residues of a line for so many moduli; counts small elements where `small` is there. */
SM90_FUNCTION void convert(const residue_real *from, long long step, const residue_arguments &given,
                           const place &at, int scale, int moduli, const measures *all,
                           int small[TSL_RESIDUE_CANDIDATES], unsigned char *scratch) {
  const residue_matrix &of = given.of[at.operand];
  const long long plane = given.plane[at.operand];
  unsigned char *to = scratch + given.planes[at.operand] + row_of(at.operand, at.line) * given.pitch;
  for (int h = at.worker * AT_ONCE; h < given.k; h += at.workers * AT_ONCE) {
    residue_bits bits[AT_ONCE];
    digits own;
    load(from, step, h, given.k, of.is_wide, bits);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      cut(bits[i], scale, i, &own);
      if (all) {
        const residue_bits magnitude = bits[i] & ~TSL_RESIDUE_SIGN;
#pragma unroll
        for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
          small[c] += magnitude < all->least[c][at.own] && magnitude != 0;
      }
    }
#pragma unroll 1
    for (int l = 0; l < moduli; l++) {
      const residue_modulus modulus = given.rules.moduli[l];
      uint4 out;
      unsigned *word = &out.x;
#pragma unroll
      for (int i = 0; i < 4; i++)
        word[i] = bytes_of(residue_of(own, 4 * i, modulus), residue_of(own, 4 * i + 1, modulus),
                           residue_of(own, 4 * i + 2, modulus), residue_of(own, 4 * i + 3, modulus));
      *(uint4 *)(to + l * plane + h) = out;
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    tsl_gemm_residue_int8_lines(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                const __grid_constant__ residue_arguments given, int again) {
  __shared__ measures all;
  const place at = place_of(given);
  const residue_matrix &of = given.of[at.operand];
  const residue_real *from = (at.operand ? b : a) + of.offset + at.line * of.across;
  residue_line *line = (residue_line *)(scratch + given.lines[at.operand]) + at.line;
  int small[TSL_RESIDUE_CANDIDATES] = {0};
  dependency_wait();
  if (again) {
    const residue_choice *choice = (const residue_choice *)(scratch + given.choice);
    if (choice->candidate > 0 && choice->moduli > 0 && at.is_there &&
        ((const int *)(scratch + given.scales[at.operand]))[at.line] != TSL_RESIDUE_NO_SCALE)
      convert(from, of.along, given, at, line->scale[choice->candidate], choice->moduli, 0, small, scratch);
    return;
  }
  measure(from, of.along, given, at, &all);
  const int scale = all.lines[at.own].scale[0];
  /* A line without a scale counts its small elements all the same: for the next candidates. */
  if (at.is_there && !all.lines[at.own].flags)
    convert(from, of.along, given, at, scale == TSL_RESIDUE_NO_SCALE ? -all.lines[at.own].exponent : scale,
            given.rules.sieves[0].moduli, &all, small, scratch);
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++) {
    const int counted = added(small[c], of.is_across);
    if (at.says && at.is_there)
      atomicAdd(&all.lines[at.own].small[c], counted);
  }
  __syncthreads();
  if (at.worker == 0 && at.is_there)
    *line = all.lines[at.own];
}

/* --- choosing --- */

constexpr int CHOOSERS = 1024, LEVELS = TSL_RESIDUE_LEVELS + 1, WAYS = 2 * TSL_RESIDUE_CANDIDATES;

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
        atomicAdd(&counts.has[o][residue_has(&line)], 1);
#pragma unroll
      for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
        if (c >= given.rules.candidates)
          continue;
        else if (line.flags || line.scale[c] == TSL_RESIDUE_NO_SCALE)
          atomicAdd(&counts.lost[c][o], 1);
        else
          atomicAdd(&counts.needs[c][o][residue_need(&line, c)], 1);
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
