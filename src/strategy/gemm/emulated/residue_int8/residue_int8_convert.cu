/* Conversion to residues: a thread takes 16 numbers of a line and stores 16 bytes for each modulus. A block
 * takes 32 lines of a panel, 128 numbers each, which are contiguous in each plane: 4096 bytes.
 *   along: a line's numbers are adjacent             across: numbers of different lines are adjacent
 *   neighbours along the line, then lines            16 lines, then neighbours along them: half-warps read
 *                                                    16 neighbours, warps store 32 bytes of each line
 * Lines of B are permuted in their plane, so that a wgmma thread has 16 neighbours of a row of C
 * (residue_int8_multiply.cu).
 * Digits: a' is split into signed digits of 14 bits, the lowest first. Modulo p, 2^14, 2^28, ... are at most
 * p / 2, so the digits times these sum to |v| < 2^22 exactly. f32 holds v in a float; f64 adds two products
 * at a time in an integer, a float's low bits. `q`: v / p rounded down, by adding 2^23 + 2^22. The residue v
 * - q p is from 0 to p, because v inverse errs by less than 1 / p. For p = 256 it is the lowest digit's low
 * byte. Two residues are joined in a float, r_0 + 256 r_1, and two floats as bytes.
 * Complex numbers: a thread takes 8, and stores 8 bytes each of real parts, imaginary parts and their sums. A
 * block takes 16 lines, of which a quarter of a warp reads 8 neighbours.
 * Defines of the host: TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not. */
#include "sm90.h"

#include "residue_int8_shared.h"

constexpr int THREADS = 256, AT_ONCE = 16, TERMS = AT_ONCE / TSL_RESIDUE_EACH, PANEL = TSL_RESIDUE_PANEL,
              CHUNKS = PANEL / TERMS, LINES = THREADS / CHUNKS, LINES_ACROSS = TERMS;
constexpr float ROUNDER = 12582912; /* 2^23 + 2^22 */

/* Returns the row of a panel that holds a line's residues; groups of 64 lines of B are permuted. */
SM90_FUNCTION int row_of(int operand, int line) {
  const int in = line % TSL_RESIDUE_GROUP;
  return operand == 0 ? line : line - in + in % 16 / 2 * 8 + in / 16 * 2 + in % 2;
}

/* Loads AT_ONCE numbers of a line from `h` on; numbers from k on are 0. */
SM90_FUNCTION void load(const residue_real *from, long long step, int h, int k, bool is_wide,
                        residue_real numbers[AT_ONCE]) {
  if (is_wide && h + AT_ONCE <= k) {
#ifdef TSL_RESIDUE_F64
#pragma unroll
    for (int i = 0; i < AT_ONCE; i += 2) {
      const double2 two = *(const double2 *)(from + h + i);
      numbers[i] = two.x, numbers[i + 1] = two.y;
    }
#else
#pragma unroll
    for (int i = 0; i < AT_ONCE; i += 4) {
      const float4 four = *(const float4 *)(from + h + i);
      numbers[i] = four.x, numbers[i + 1] = four.y, numbers[i + 2] = four.z, numbers[i + 3] = four.w;
    }
#endif
    return;
  }
#pragma unroll
  for (int i = 0; i < AT_ONCE; i++)
    numbers[i] = h + i < k ? from[TSL_RESIDUE_AT(step, h + i)] : (residue_real)0;
}

#ifdef TSL_RESIDUE_F64
struct digits {
  /* lowest digit, in a float's bits; pairs of the other digits */
  int first[AT_ONCE], second[AT_ONCE], third[AT_ONCE];
};
/* x + WHOLE has the integer nearest to |x| < 2^51 in its low bits. */
constexpr double WHOLE = 0x1.8p52;
SM90_FUNCTION int low_bits(double rounded) {
  return __double2loint(rounded);
}
/* Splits numbers into digits by doubles, for |a'| < 2^63; only the rounding is inexact. The rest of the 53
 * bits is taken 28 at a time. 2^scale is two factors, because it may overflow a double. */
template <bool IS_DEEP>
SM90_FUNCTION void cut(const residue_real numbers[AT_ONCE], int scale, digits *target) {
  const int half = max(-1022, min(1023, scale)), rest = max(-1022, min(1023, scale - half));
  const double one = residue_two(half), other = residue_two(rest);
#pragma unroll
  for (int i = 0; i < AT_ONCE; i++) {
    const double whole = numbers[i] * one * other;
    const double top = __fma_rn(whole, 0x1p-56, WHOLE), upper = __fma_rn(top - WHOLE, -0x1p56, whole);
    const double middle = __fma_rn(upper, 0x1p-28, WHOLE), lower = __fma_rn(middle - WHOLE, -0x1p28, upper);
    const int low = low_bits(lower + WHOLE), first = (int)((unsigned)low << 18) >> 18;
    const int mid = low_bits(middle), second = (low - first) >> 14, third = (int)((unsigned)mid << 18) >> 18;
    target->first[i] = __float_as_int(ROUNDER) + first;
    target->second[i] = (second & 0xffff) | (int)((unsigned)third << 16);
    target->third[i] = ((mid - third) >> 14 & 0xffff) | (int)((unsigned)low_bits(top) << 16);
  }
}
template <bool IS_DEEP>
SM90_FUNCTION float sum_of(const digits &digits_in, int i, const residue_modulus &modulus) {
  int sum;
  asm("dp2a.lo.s32.s32 %0, %1, %2, %3;"
      : "=r"(sum)
      : "r"(digits_in.second[i]), "r"(modulus.powers), "r"(digits_in.first[i]));
  asm("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(digits_in.third[i]), "r"(modulus.powers), "r"(sum));
  return __int_as_float(sum) - ROUNDER;
}
SM90_FUNCTION int lowest(const digits &digits_in, int i) {
  return digits_in.first[i];
}
#else
struct digits {
  float first[AT_ONCE], second[AT_ONCE], third[AT_ONCE];
};
/* Splits numbers into digits by floats; only the rounding is inexact. 2^scale is two factors, because it may
 * overflow a float; no significant number becomes subnormal. IS_DEEP: 2^28 <= |a'| < 2^40 is possible; the
 * highest digit is then taken first, so that the rest fits in 24 bits. */
template <bool IS_DEEP>
SM90_FUNCTION void cut(const residue_real numbers[AT_ONCE], int scale, digits *target) {
  const int half = max(-126, min(127, scale)), rest = max(-126, min(127, scale - half));
  const float one = __int_as_float((half + 127) << 23), other = __int_as_float((rest + 127) << 23);
#pragma unroll
  for (int i = 0; i < AT_ONCE; i++) {
    float whole = numbers[i] * one * other;
    if (IS_DEEP) {
      target->third[i] = __fmaf_rn(whole, 0x1p-28f, ROUNDER) - ROUNDER;
      whole = __fmaf_rn(target->third[i], -0x1p28f, whole);
    }
    target->second[i] = __fmaf_rn(whole, 0x1p-14f, ROUNDER) - ROUNDER;
    target->first[i] = (__fmaf_rn(target->second[i], -0x1p14f, whole) + ROUNDER) - ROUNDER;
  }
}
template <bool IS_DEEP>
SM90_FUNCTION float sum_of(const digits &digits_in, int i, const residue_modulus &modulus) {
  const float sum = __fmaf_rn(digits_in.second[i], modulus.first, digits_in.first[i]);
  return IS_DEEP ? __fmaf_rn(digits_in.third[i], modulus.second, sum) : sum;
}
SM90_FUNCTION int lowest(const digits &digits_in, int i) {
  return __float_as_int(digits_in.first[i] + ROUNDER);
}
#endif

SM90_FUNCTION float reduced(float v, const residue_modulus &modulus) {
  const float q = __fmaf_rd(v, modulus.inverse, ROUNDER) - ROUNDER;
  return __fmaf_rn(q, modulus.minus_p, v);
}

template <bool IS_DEEP>
SM90_FUNCTION float residue_of(const digits &digits_in, int i, const residue_modulus &modulus) {
  return reduced(sum_of<IS_DEEP>(digits_in, i, modulus), modulus);
}

SM90_FUNCTION unsigned joined(float first, float second) {
  return __float_as_uint(__fmaf_rn(second, 256, first) + ROUNDER);
}

#ifdef TSL_RESIDUE_COMPLEX
/* Returns four residues' low bytes as a word. */
SM90_FUNCTION unsigned word_of(const float rest[4]) {
  return __byte_perm(joined(rest[0], rest[1]), joined(rest[2], rest[3]), 0x5410);
}
SM90_FUNCTION unsigned word_of(const int low[4]) {
  return __byte_perm(__byte_perm(low[0], low[1], 0x0040), __byte_perm(low[2], low[3], 0x0040), 0x5410);
}

SM90_FUNCTION void store_kinds(const uint2 word[TSL_RESIDUE_KINDS], long long plane, unsigned char *dst) {
#pragma unroll
  for (int kind = 0; kind < TSL_RESIDUE_KINDS; kind++)
    *(uint2 *)(dst + kind * plane) = word[kind];
}

/* Stores the residues of a thread's numbers for each modulus. Complex: real parts are numbers 0, 2, ...,
 * imaginary parts 1, 3, ... A sum of two residues is at most 2 p and is reduced like a number. */
template <bool IS_DEEP>
SM90_FUNCTION void store(const digits &digits_in, const residue_arguments &args, int moduli, long long plane,
                         unsigned char *dst) {
  uint2 word[TSL_RESIDUE_KINDS];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    int low[TSL_RESIDUE_KINDS][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      low[0][i] = lowest(digits_in, 8 * half + 2 * i);
      low[1][i] = lowest(digits_in, 8 * half + 2 * i + 1);
      low[2][i] = (int)((unsigned)low[0][i] + (unsigned)low[1][i]);
    }
#pragma unroll
    for (int kind = 0; kind < TSL_RESIDUE_KINDS; kind++)
      (half ? word[kind].y : word[kind].x) = word_of(low[kind]);
  }
  store_kinds(word, plane, dst);
#pragma unroll 1
  for (int l = 1; l < moduli; l++) {
    const residue_modulus modulus = args.rules.moduli[l];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float rest[TSL_RESIDUE_KINDS][4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        rest[0][i] = residue_of<IS_DEEP>(digits_in, 8 * half + 2 * i, modulus);
        rest[1][i] = residue_of<IS_DEEP>(digits_in, 8 * half + 2 * i + 1, modulus);
        rest[2][i] = reduced(rest[0][i] + rest[1][i], modulus);
      }
#pragma unroll
      for (int kind = 0; kind < TSL_RESIDUE_KINDS; kind++)
        (half ? word[kind].y : word[kind].x) = word_of(rest[kind]);
    }
    store_kinds(word, plane, dst + l * TSL_RESIDUE_KINDS * plane);
  }
}
#else
template <bool IS_DEEP>
SM90_FUNCTION void store(const digits &digits_in, const residue_arguments &args, int moduli, long long plane,
                         unsigned char *dst) {
  uint4 out;
  unsigned *word = &out.x;
#pragma unroll
  for (int i = 0; i < 4; i++)
    word[i] =
        __byte_perm(__byte_perm(lowest(digits_in, 4 * i), lowest(digits_in, 4 * i + 1), 0x0040),
                    __byte_perm(lowest(digits_in, 4 * i + 2), lowest(digits_in, 4 * i + 3), 0x0040), 0x5410);
  *(uint4 *)dst = out;
#pragma unroll 1
  for (int l = 1; l < moduli; l++) {
    const residue_modulus modulus = args.rules.moduli[l];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const unsigned low = joined(residue_of<IS_DEEP>(digits_in, 4 * i, modulus),
                                  residue_of<IS_DEEP>(digits_in, 4 * i + 1, modulus)),
                     high = joined(residue_of<IS_DEEP>(digits_in, 4 * i + 2, modulus),
                                   residue_of<IS_DEEP>(digits_in, 4 * i + 3, modulus));
      word[i] = __byte_perm(low, high, 0x5410);
    }
    *(uint4 *)(dst + l * plane) = out;
  }
}
#endif

/* Converts block `number` to residues. Blocks of A come first, then blocks of B. */
SM90_FUNCTION void convert_block(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                 const residue_arguments &args, int number) {
  const int operand = number >= args.converters, panels = (args.k + PANEL - 1) / PANEL;
  const residue_matrix &matrix = args.operands[operand];
  const int block = number - (operand ? args.converters : 0), panel = block % panels, thread = threadIdx.x;
  const int in = matrix.is_across ? thread % LINES_ACROSS + thread / (LINES_ACROSS * CHUNKS) * LINES_ACROSS
                                  : thread / CHUNKS,
            chunk = matrix.is_across ? thread / LINES_ACROSS % CHUNKS : thread % CHUNKS;
  const int line = block / panels * LINES + in, h = panel * PANEL + chunk * TERMS;
  const int moduli = ((const volatile residue_choice *)(scratch + args.choice))->moduli_to_convert[operand];
  if (moduli == 0 || line >= (operand ? args.n : args.m))
    return;
  const int scale = ((const int *)(scratch + args.scales[operand]))[line];
  if (scale == TSL_RESIDUE_NO_SCALE)
    return;
  residue_real numbers[AT_ONCE];
  digits own;
  load((operand ? b : a) + matrix.offset + line * matrix.across, matrix.along, h * TSL_RESIDUE_EACH,
       args.k * TSL_RESIDUE_EACH, matrix.is_wide, numbers);
#ifdef TSL_RESIDUE_COMPLEX
#pragma unroll
  for (int i = 1; i < AT_ONCE; i += 2)
    numbers[i] = matrix.is_conjugate ? -numbers[i] : numbers[i];
#endif
  unsigned char *to = scratch + args.planes[operand] + panel * args.panel[operand] +
                      row_of(operand, line) * PANEL + chunk * TERMS;
#ifndef TSL_RESIDUE_F64
  if (moduli > TSL_RESIDUE_SHALLOW) {
    cut<true>(numbers, scale, &own);
    store<true>(own, args, moduli, args.plane[operand], to);
    return;
  }
#endif
  cut<false>(numbers, scale, &own);
  store<false>(own, args, moduli, args.plane[operand], to);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tsl_gemm_residue_int8_convert(const residue_real *a, const residue_real *b, unsigned char *scratch,
                                  const __grid_constant__ residue_arguments args) {
  grid_dependency_launch();
  grid_dependency_wait();
  const volatile residue_choice *choice = (const volatile residue_choice *)(scratch + args.choice);
  if (choice->moduli_to_convert[0] == 0 && choice->moduli_to_convert[1] == 0)
    return;
  for (int number = blockIdx.x; number < args.conversions; number += gridDim.x)
    convert_block(a, b, scratch, args, number);
}
