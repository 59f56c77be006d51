/* First kernels of residue_int8: lines are measured, and one block chooses the number of moduli.
 * `tsl_gemm_residue_int8_measure`: a block reads a sample of its lines for a guess (residue_guess). Then it
 * reads all elements once for the sums (residue_sums); again where an element exceeds the guess.
 *   along: a line's numbers are adjacent             across: numbers of different lines are adjacent
 *   2 to 8 lines a block, 128 to 32 threads each     4 or 8 lines a block, 64 or 32 threads each;
 *                                                    4 or 8 threads read neighbours
 * Much of a block's time does not depend on its lines: few lines a block are for products with few blocks.
 * `tsl_gemm_residue_int8_choose`: counts lines and chooses; sets every line's final scale and lists native
 * lines. Where the previous run measured an operand's lines, it also sets whether their residues are valid
 * for this choice.
 * Everything is integer arithmetic, so that the order of threads does not matter. Defines of the host:
 * TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not. */
#include "sm90.h"

#include "residue_int8_shared.h"

constexpr int THREADS = 256, MOST_LINES = 8;

SM90_FUNCTION residue_bits magnitude_of(const residue_real *number) {
#ifdef TSL_RESIDUE_F64
  return (residue_bits)__double_as_longlong(*number) & ~TSL_RESIDUE_SIGN;
#else
  return __float_as_uint(*number) & ~TSL_RESIDUE_SIGN;
#endif
}

/* Returns the sum over a warp's threads of one line, which are `apart` apart; largest_of(): the maximum. */
template <typename word>
SM90_FUNCTION word added(word value, int apart) {
  for (int step = 16; step >= apart; step /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
template <typename word>
SM90_FUNCTION word larger(word value, int apart) {
  for (int step = 16; step >= apart; step /= 2) {
    const word other = __shfl_xor_sync(0xffffffffu, value, step);
    value = other > value ? other : value;
  }
  return value;
}

struct totals {
  residue_bits largest[MOST_LINES];
  unsigned long long sum[MOST_LINES], squares[MOST_LINES], excess[MOST_LINES];
  unsigned count[MOST_LINES], few[TSL_RESIDUE_CANDIDATES][MOST_LINES];
  residue_guess guess[MOST_LINES];
};

struct share {
  const residue_real *from; /* first element of this thread's line, and stride along it */
  long long step;
  int own, worker, workers, k, apart; /* line in the block; thread of the line; their number and distance */
  bool is_wide, writes;               /* writes: this thread writes the results of its line in the warp */
};

SM90_FUNCTION void clear_totals(totals *all, int line) {
  all->largest[line] = 0;
  all->sum[line] = all->squares[line] = all->excess[line] = all->count[line] = 0;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    all->few[i][line] = 0;
}

/* residue_top() for a known exponent. f32: a float adds 2^23 and truncates. f64: a double's upper word has
 * all significant bits, except in lines of subnormal numbers. 2^(TOP - exponent) is two factors, because it
 * may overflow a float. Values that become subnormal count as 0 anyway. */
struct tops {
#ifdef TSL_RESIDUE_F64
  int exponent;
  static __device__ __forceinline__ tops matrix(int exponent) {
    return {exponent};
  }
#else
  float one, other;
  static __device__ __forceinline__ tops matrix(int exponent) {
    const int all = TSL_RESIDUE_TOP - exponent, half = max(-126, min(127, all)),
              rest = max(-126, min(127, all - half));
    return {__int_as_float((half + 127) << 23), __int_as_float((rest + 127) << 23)};
  }
#endif
};
SM90_FUNCTION unsigned top_of(residue_bits magnitude, const tops &by) {
#ifdef TSL_RESIDUE_F64
  if (by.exponent < TSL_RESIDUE_TOP + 33 - TSL_RESIDUE_BIAS)
    return residue_top(magnitude, by.exponent);
  const unsigned upper = (unsigned)(magnitude >> 32), field = upper >> 20,
                 m = (upper & 0xfffffu) | (field > 0 ? 0x100000u : 0u);
  const unsigned down = by.exponent + (TSL_RESIDUE_BIAS - 32 - TSL_RESIDUE_TOP) - max(field, 1u);
  return m >> min(down, 31u);
#else
  const float scaled = __fmul_rn(__fmul_rn(__uint_as_float(magnitude), by.one), by.other);
  return __float_as_uint(__fadd_rz(scaled, 8388608)) - 0x4b000000u;
#endif
}

SM90_FUNCTION residue_bits sampled(const share &share_in, int i) {
  return magnitude_of(share_in.from + TSL_RESIDUE_AT(share_in.step, residue_sample_at(share_in.k, i)));
}

/* Guesses about a line from its sample. Sets *all to zeros, except the line's largest element. */
SM90_FUNCTION void guess_line(const share &share_in, const residue_rules &rules, totals *all) {
  const int count = share_in.k > 0 ? (int)residue_sample_count(share_in.k) : 0;
  residue_bits largest = 0;
  unsigned sum = 0;
  unsigned long long squares = 0;
#pragma unroll 2
  for (int i = share_in.worker; i < count; i += share_in.workers) {
    const residue_bits magnitude = sampled(share_in, i);
    largest = magnitude > largest ? magnitude : largest;
  }
  largest = larger(largest, share_in.apart);
  if (share_in.writes)
    atomicMax(&all->largest[share_in.own], largest);
  __syncthreads();
  largest = all->largest[share_in.own];
  const int exponent = residue_guess_exponent(largest);
  const tops by = tops::matrix(exponent);
#pragma unroll 2
  for (int i = share_in.worker; i < count; i += share_in.workers) {
    const unsigned top = largest < TSL_RESIDUE_INFINITY ? top_of(sampled(share_in, i), by) : 0;
    sum += top;
    squares += (unsigned long long)top * top;
  }
  sum = added(sum, share_in.apart);
  squares = added(squares, share_in.apart);
  if (share_in.writes) {
    atomicAdd(&all->sum[share_in.own], (unsigned long long)sum);
    atomicAdd(&all->squares[share_in.own], squares);
  }
  __syncthreads();
  if (share_in.worker == 0) {
    residue_guess_of(&rules, exponent, (unsigned)all->sum[share_in.own], all->squares[share_in.own],
                     &all->guess[share_in.own]);
    all->sum[share_in.own] = all->squares[share_in.own] = 0;
  }
  __syncthreads();
}

/* Sums of a thread; sums of tops fit in 32 bits (residue_int8.c limits k). */
struct part {
  unsigned sum, count, excess, few[TSL_RESIDUE_CANDIDATES];
  unsigned long long squares;
  residue_bits largest;
};
struct limits {
  tops by;
  unsigned limit;
  residue_bits least[TSL_RESIDUE_CANDIDATES];
};

SM90_FUNCTION void add_element(part &part_in, const limits &than, residue_bits magnitude) {
  const unsigned top = top_of(magnitude, than.by);
  part_in.largest = magnitude > part_in.largest ? magnitude : part_in.largest;
  part_in.sum += top;
  part_in.squares += (unsigned long long)top * top;
  part_in.count += magnitude != 0;
  part_in.excess += max((int)(top + 1 - than.limit), 0);
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    part_in.few[i] += magnitude < than.least[i]; /* includes zeros */
}

/* Adds 16 bytes of adjacent elements. */
SM90_FUNCTION void add_wide(part &part_in, const limits &than, const uint4 &uint4_in) {
#ifdef TSL_RESIDUE_F64
  add_element(part_in, than, (uint4_in.x | (residue_bits)uint4_in.y << 32) & ~TSL_RESIDUE_SIGN);
  add_element(part_in, than, (uint4_in.z | (residue_bits)uint4_in.w << 32) & ~TSL_RESIDUE_SIGN);
#else
  add_element(part_in, than, uint4_in.x & ~TSL_RESIDUE_SIGN);
  add_element(part_in, than, uint4_in.y & ~TSL_RESIDUE_SIGN);
  add_element(part_in, than, uint4_in.z & ~TSL_RESIDUE_SIGN);
  add_element(part_in, than, uint4_in.w & ~TSL_RESIDUE_SIGN);
#endif
}

/* Adds the elements of lines whose threads set `wants`. */
SM90_FUNCTION void add_up(const share &share_in, const residue_rules &rules, bool wants, totals *all) {
  constexpr int WIDE = 16 / sizeof(residue_real);
  const residue_guess &guess = all->guess[share_in.own];
  part own = {};
  limits than = {tops::matrix(guess.exponent), guess.limit, {}};
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    than.least[i] = residue_small(&rules, guess.exponent, guess.aims[i]);
  const int k = wants ? share_in.k : 0, wide = share_in.is_wide ? k / WIDE : 0;
#pragma unroll 2
  for (int h = share_in.worker; h < wide; h += share_in.workers)
    add_wide(own, than, ((const uint4 *)share_in.from)[h]);
  const long long stride =
      share_in.step * (share_in.workers / TSL_RESIDUE_EACH); /* an even number of workers */
  const residue_real *from = share_in.from + TSL_RESIDUE_AT(share_in.step, wide * WIDE + share_in.worker);
#pragma unroll 8
  for (int h = wide * WIDE + share_in.worker; h < k; h += share_in.workers) {
    add_element(own, than, magnitude_of(from));
    from += stride;
  }
  own.largest = larger(own.largest, share_in.apart);
  const unsigned long long sum = added((unsigned long long)own.sum, share_in.apart),
                           squares = added(own.squares, share_in.apart),
                           excess = added((unsigned long long)own.excess, share_in.apart);
  own.count = added(own.count, share_in.apart);
  const bool writes = share_in.writes && wants;
  if (writes) {
    atomicMax(&all->largest[share_in.own], own.largest);
    atomicAdd(&all->sum[share_in.own], sum);
    atomicAdd(&all->squares[share_in.own], squares);
    atomicAdd(&all->excess[share_in.own], excess);
    atomicAdd(&all->count[share_in.own], own.count);
  }
#pragma unroll
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++) {
    const unsigned few = added(own.few[i], share_in.apart);
    if (writes)
      atomicAdd(&all->few[i][share_in.own], few);
  }
  __syncthreads();
}

/* Returns true if a glance at a few lines has shown that residues do not pay. */
SM90_FUNCTION bool is_lost(const unsigned char *scratch, const residue_arguments &args) {
  return args.glance >= 0 && ((const volatile residue_choice *)(scratch + args.glance))->moduli == 0;
}

extern "C" __global__ void __launch_bounds__(THREADS, sizeof(residue_real) == 8 ? 4 : 5)
    tsl_gemm_residue_int8_measure(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                  const __grid_constant__ residue_arguments args) {
  __shared__ totals all;
  const int operand = blockIdx.x < args.blocks[1], thread = threadIdx.x;
  const residue_matrix &matrix = args.operands[operand];
  const bool is_across = matrix.is_across;
  const int lines = args.block_lines[operand], workers = THREADS / lines,
            own = is_across ? thread % lines : thread / workers,
            block = blockIdx.x - (operand ? 0 : args.blocks[1]),
            line = block * args.apart[operand] * lines + own, apart = is_across ? lines : 1;
  const bool is_there = line < (operand ? args.n : args.m);
  const share at = {(operand ? b : a) + matrix.offset + line * matrix.across,
                    matrix.along,
                    own,
                    is_across ? thread / lines : thread % workers,
                    workers,
                    is_there ? args.k * TSL_RESIDUE_EACH : 0,
                    apart,
                    matrix.is_wide != 0,
                    thread % 32 < apart};
  grid_dependency_launch();
  if (thread < MOST_LINES)
    clear_totals(&all, thread);
  __syncthreads();
  grid_dependency_wait();
  if (is_lost(scratch, args))
    return;
  guess_line(at, args.rules, &all);
  add_up(at, args.rules, true, &all);
  const residue_bits largest = all.largest[own];
  const bool is_wrong =
      largest > 0 && largest < TSL_RESIDUE_INFINITY && residue_exponent(largest) > all.guess[own].exponent;
  if (__syncthreads_or(is_wrong)) {
    if (is_wrong && at.worker == 0) {
      residue_guess_again(&args.rules, largest, &all.guess[own]);
      clear_totals(&all, own);
    }
    __syncthreads();
    add_up(at, args.rules, is_wrong, &all);
  }
  if (at.worker == 0 && is_there) {
    const int number = (line - own) / args.apart[operand] + own; /* index among the measured lines */
    residue_sums sums;
    residue_line known;
    sums.sum = all.sum[own], sums.squares = all.squares[own], sums.count = all.count[own];
    sums.excess = all.excess[own];
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      sums.few[i] = all.few[i][own] > 0 ? all.few[i][own] - (at.k - sums.count) : 0;
    residue_know(&args.rules, largest, &all.guess[own], &sums, &known);
    ((unsigned *)(scratch + args.keys[operand]))[number] = known.key;
#pragma unroll
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      ((int *)(scratch + args.candidates[operand][c]))[number] = known.scale[c];
  }
}

constexpr int CHOOSERS = 1024, AHEAD = 4, WAYS = 2 * TSL_RESIDUE_CANDIDATES, COUNTS = TSL_RESIDUE_LEVELS + 2;

/* Counts the lines of all calling threads; threads with the same key count together. */
SM90_FUNCTION void count(residue_counts &counts, int operand, int candidates, unsigned key) {
  const unsigned mine = __match_any_sync(__activemask(), key);
  if (threadIdx.x % 32 != __ffs(mine) - 1)
    return;
  const unsigned lines = __popc(mine);
  atomicAdd(&counts.has[operand][residue_has(key)], lines);
#pragma unroll
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
    if (c < candidates)
      atomicAdd(key & TSL_RESIDUE_LOST << c ? &counts.lost[c][operand]
                                            : &counts.needs[c][operand][residue_need(key, c)],
                lines);
}

/* Computes inclusive prefix sums of 64 numbers by a warp; a thread has numbers lane and lane + 32. */
SM90_FUNCTION void add_before(unsigned value[2]) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned before = __shfl_up_sync(0xffffffffu, value[i], step);
      value[i] += lane >= step ? before : 0;
    }
  value[1] += __shfl_sync(0xffffffffu, value[0], 31);
}

/* Returns the least residue_cost() of a candidate and operand, and its lowest level, in a whole warp. */
SM90_FUNCTION residue_word least_cost(const residue_rules &rules, const residue_counts &counts, int candidate,
                                      int operand, int *level) {
  const int lane = threadIdx.x % 32;
  unsigned own[2], other[2], here[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const bool is_there = lane + 32 * i < COUNTS;
    own[i] = is_there ? counts.needs[candidate][operand][lane + 32 * i] : 0;
    other[i] = here[i] = is_there ? counts.has[1 - operand][lane + 32 * i] : 0;
  }
  add_before(own);
  add_before(other);
  const unsigned all = __shfl_sync(0xffffffffu, own[1], 31);
  residue_word best = ~0ull;
  *level = 0;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const residue_word cost = (all - own[i]) * (residue_word)rules.lines[1 - operand] +
                              (other[i] - here[i]) * (residue_word)rules.lines[operand];
    if (lane + 32 * i <= TSL_RESIDUE_LEVELS && cost < best) {
      best = cost;
      *level = lane + 32 * i;
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    const residue_word cost = __shfl_xor_sync(0xffffffffu, best, step);
    const int its = __shfl_xor_sync(0xffffffffu, *level, step);
    if (cost < best || (cost == best && its < *level)) {
      best = cost;
      *level = its;
    }
  }
  return best;
}

/* Loads the keys of a thread's lines of both operands, all in flight at once; absent lines are zeros. */
SM90_FUNCTION void fetch_keys(unsigned keys[2][AHEAD], const unsigned char *scratch,
                              const residue_arguments &args, int first) {
#pragma unroll
  for (int o = 0; o < 2; o++)
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const int i = first + u * CHOOSERS;
      keys[o][u] =
          i < args.rules.lines[o] ? ((const unsigned *)(scratch + args.keys[o]))[i] : TSL_RESIDUE_ZERO;
    }
}

extern "C" __global__ void __launch_bounds__(CHOOSERS)
    tsl_gemm_residue_int8_choose(unsigned char *scratch, const __grid_constant__ residue_arguments args) {
  __shared__ residue_counts counts;
  __shared__ residue_word least[TSL_RESIDUE_CANDIDATES][2];
  __shared__ int levels[TSL_RESIDUE_CANDIDATES][2];
  __shared__ residue_choice choice;
  const int thread = threadIdx.x, most = (int)max(args.rules.lines[0], args.rules.lines[1]);
  for (int i = thread; i < (int)(sizeof counts / sizeof(unsigned)); i += CHOOSERS)
    ((unsigned *)&counts)[i] = 0;
  __syncthreads();
  grid_dependency_launch();
  grid_dependency_wait();
  if (is_lost(scratch, args)) {
    if (thread == 0)
      *(residue_choice *)(scratch + args.choice) = *(const residue_choice *)(scratch + args.glance);
    return;
  }
  for (int first = thread; first < most; first += AHEAD * CHOOSERS) {
    unsigned keys[2][AHEAD];
    fetch_keys(keys, scratch, args, first);
#pragma unroll
    for (int o = 0; o < 2; o++)
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        if (!(keys[o][u] & TSL_RESIDUE_ZERO))
          count(counts, o, args.rules.candidates, keys[o][u]);
  }
  __syncthreads();
  if (thread < 32 * WAYS) {
    const int way = thread / 32;
    int level;
    const residue_word cost = least_cost(args.rules, counts, way / 2, way % 2, &level);
    if (thread % 32 == 0) {
      levels[way / 2][way % 2] = level;
      least[way / 2][way % 2] = cost;
    }
  }
  __syncthreads();
  if (thread == 0) {
    residue_choose(&args.rules, &counts, least, levels, &choice);
    if (args.is_kept && residue_serves((const residue_choice *)(scratch + args.made), &choice, args.stays))
      choice.moduli_to_convert[args.stays] = 0;
  }
  __syncthreads();
  for (int first = thread; first < most; first += AHEAD * CHOOSERS) {
    unsigned keys[2][AHEAD];
    int scales[2][AHEAD];
    fetch_keys(keys, scratch, args, first);
#pragma unroll
    for (int o = 0; o < 2; o++)
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int i = first + u * CHOOSERS;
        if (i < args.rules.lines[o])
          scales[o][u] = ((const int *)(scratch + args.candidates[o][choice.candidate]))[i];
      }
#pragma unroll
    for (int o = 0; o < 2; o++)
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int i = first + u * CHOOSERS;
        if (i >= args.rules.lines[o])
          continue;
        const int is_native = residue_is_native(&choice, o, keys[o][u]);
        ((int *)(scratch + args.scales[o]))[i] = is_native ? TSL_RESIDUE_NO_SCALE : scales[o][u];
        if (is_native)
          ((int *)(scratch + args.natives[o]))[atomicAdd(&choice.native[o], 1)] = i;
      }
  }
  __syncthreads();
  if (thread == 0) {
    *(residue_choice *)(scratch + args.choice) = choice;
    if (args.host_choice)
      *args.host_choice = choice;
    if (!args.is_kept || choice.moduli_to_convert[args.stays] > 0)
      *(residue_choice *)(scratch + args.made) = choice;
  }
}
