/* Portable kernels for residues: of numbers before the integer product, and of its sums after it.
 * `tsl_gemm_residue_int8_convert`: an item takes 16 numbers of a line and stores 16 bytes for each modulus.
 * `tsl_gemm_residue_int8_reduce`: an item reduces four neighbours of a plane of sums to bytes below p.
 *   along: neighbours along the line, then lines       across: 16 lines, then neighbours along them
 * |a'| < 2^63 is split into digits of 14 bits. Modulo p, 2^14, 2^28, ... are at most p / 2 of magnitude, so
 * the digits times these sum to less than 2^23. With a multiple of p added it is x from 0 to 2^31 + 255, and
 * x / p is (high word of x magic) / 2^7 (residue_modulus). Sums of at most TSL_RESIDUE_PART products are at
 * most 2^30.
 * Complex: an item takes 8 numbers and stores, for each modulus, 8 bytes each of real parts, imaginary parts
 * and their sums. Defines of the host: TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not. */
#include "dialect.h"

#include "residue_int8_shared.h"

#define NUMBERS TSL_RESIDUE_NUMBERS
#define TERMS (NUMBERS / TSL_RESIDUE_EACH)
#define DIGIT_BITS 14
#define UNIT ((int)(16 / sizeof(residue_bits))) /* numbers of 16 bytes */
#ifdef TSL_RESIDUE_F64
#define DIGITS 5
#else
#define DIGITS 3 /* |a'| < 2^40 (rules.c) */
#endif

TSL_FUNCTION int get_chosen_moduli(TSL_GLOBAL const unsigned char *scratch, const residue_arguments *args) {
  return ((TSL_GLOBAL const residue_choice *)(scratch + args->choice))->moduli;
}

/* Returns x modulo p, for x up to 2^31 + 255. */
TSL_FUNCTION unsigned rest_of(unsigned x, const residue_modulus *modulus) {
  return x - (unsigned)((residue_word)x * modulus->magic >> 39) * modulus->p;
}

typedef struct digits {
  int digit[DIGITS];
} digits;

TSL_FUNCTION digits digits_of(residue_bits number, int scale) {
  const residue_word whole = residue_scaled(number & ~TSL_RESIDUE_SIGN, scale);
  const int sign = number & TSL_RESIDUE_SIGN ? -1 : 1;
  digits made;
  for (int i = 0; i < DIGITS; i++)
    made.digit[i] = sign * (int)(whole >> DIGIT_BITS * i & ((1 << DIGIT_BITS) - 1));
  return made;
}

/* Returns the residue from 0 to p - 1. */
TSL_FUNCTION unsigned rest_in(const digits *digits_in, const residue_modulus *modulus) {
  int sum = digits_in->digit[0];
  for (int i = 1; i < DIGITS; i++)
    sum += digits_in->digit[i] * ((int)(modulus->powers << (32 - 8 * i)) >> 24);
  return rest_of((unsigned)sum + modulus->bias, modulus);
}

/* Returns the residue of least magnitude as a byte, plus (p - 1) / 2: the residue of x + (p - 1) / 2. */
TSL_FUNCTION unsigned least_in(const digits *digits_in, const residue_modulus *modulus) {
  const unsigned up = (modulus->p - 1) / 2;
  residue_modulus more = *modulus;
  more.bias += up;
  return (rest_in(digits_in, &more) - up) & 255;
}

TSL_FUNCTION unsigned byte_of(unsigned rest, const residue_modulus *modulus) {
  return (rest > (modulus->p - 1) / 2 ? rest - modulus->p : rest) & 255;
}

#ifdef TSL_RESIDUE_COMPLEX
/* Stores an item's residues for one modulus: real parts are numbers 0, 2, ..., imaginary parts 1, 3, ... */
TSL_FUNCTION void store_residues_of_tile(TSL_GLOBAL unsigned char *dst, TSL_INDEX plane,
                                         const digits *digits_in, const residue_modulus *modulus) {
  unsigned word[TSL_RESIDUE_KINDS][TERMS / 4];
  for (int kind = 0; kind < TSL_RESIDUE_KINDS; kind++)
    for (int i = 0; i < TERMS / 4; i++)
      word[kind][i] = 0;
  for (int i = 0; i < TERMS; i++) {
    const unsigned one = rest_in(&digits_in[2 * i], modulus), other = rest_in(&digits_in[2 * i + 1], modulus),
                   sum = one + other, shift = 8 * (i % 4);
    word[0][i / 4] |= byte_of(one, modulus) << shift;
    word[1][i / 4] |= byte_of(other, modulus) << shift;
    word[2][i / 4] |= byte_of(sum >= modulus->p ? sum - modulus->p : sum, modulus) << shift;
  }
  for (int kind = 0; kind < TSL_RESIDUE_KINDS; kind++)
    *(TSL_GLOBAL residue_word *)(dst + kind * plane) = word[kind][0] | (residue_word)word[kind][1] << 32;
}
#else
TSL_FUNCTION void store_residues_of_tile(TSL_GLOBAL unsigned char *dst, TSL_INDEX plane,
                                         const digits *digits_in, const residue_modulus *modulus) {
  unsigned word[NUMBERS / 4];
  (void)plane;
  for (int i = 0; i < NUMBERS / 4; i++) {
    word[i] = 0;
    for (int j = 0; j < 4; j++)
      word[i] |= least_in(&digits_in[4 * i + j], modulus) << 8 * j;
  }
  TSL_VECTOR(int, 4) out;
  TSL_LANE(out, 0) = (int)word[0];
  TSL_LANE(out, 1) = (int)word[1];
  TSL_LANE(out, 2) = (int)word[2];
  TSL_LANE(out, 3) = (int)word[3];
  TSL_STORE_WHOLE(int, 4, (TSL_GLOBAL int *)dst, out);
}
#endif

/* Loads a line's numbers from h on, 16 bytes at once where aligned; numbers from k on are 0. */
TSL_FUNCTION void load_numbers(residue_bits *bits, TSL_GLOBAL const residue_bits *from, residue_index along,
                               int h, int k, int is_wide) {
  if (is_wide && h + NUMBERS <= k) {
    TSL_GLOBAL const int *words = (TSL_GLOBAL const int *)(from + h);
    TSL_UNROLL
    for (int i = 0; i < NUMBERS / UNIT; i++) {
      const TSL_VECTOR(int, 4) four = TSL_LOAD_ALIGNED(int, 4, words + 4 * i);
#ifdef TSL_RESIDUE_F64
      bits[2 * i] = (unsigned)TSL_LANE(four, 0) | (residue_bits)(unsigned)TSL_LANE(four, 1) << 32;
      bits[2 * i + 1] = (unsigned)TSL_LANE(four, 2) | (residue_bits)(unsigned)TSL_LANE(four, 3) << 32;
#else
      bits[4 * i] = (unsigned)TSL_LANE(four, 0);
      bits[4 * i + 1] = (unsigned)TSL_LANE(four, 1);
      bits[4 * i + 2] = (unsigned)TSL_LANE(four, 2);
      bits[4 * i + 3] = (unsigned)TSL_LANE(four, 3);
#endif
    }
    return;
  }
  for (int i = 0; i < NUMBERS; i++)
    bits[i] = h + i < k ? from[TSL_RESIDUE_AT(along, h + i)] : 0;
}

TSL_KERNEL(TSL_RESIDUE_GROUP_ITEMS, 1, 1)
tsl_gemm_residue_int8_convert(TSL_GLOBAL const residue_bits *from, TSL_GLOBAL unsigned char *scratch,
                              const residue_arguments args, const int operand) {
  TSL_GLOBAL const residue_rules *rules = (TSL_GLOBAL const residue_rules *)(scratch + args.rules_at);
  const residue_matrix matrix = args.operands[operand];
  const int lines = matrix.is_across ? TSL_RESIDUE_CONVERT_ACROSS : 1, part_chunks = args.depth / TERMS,
            chunks = part_chunks * args.parts,
            moduli = ((TSL_GLOBAL const residue_choice *)(scratch + args.choice))->moduli_to_convert[operand];
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), line = index / lines / chunks * lines + index % lines;
  const int chunk = (int)(index / lines % chunks), h = chunk * TERMS;
  if (line >= (operand ? args.n : args.m))
    return;
  const int scale = ((TSL_GLOBAL const int *)(scratch + args.scales[operand]))[line];
  if (moduli == 0 || scale == TSL_RESIDUE_NO_SCALE)
    return;
  residue_bits numbers[NUMBERS];
  digits own[NUMBERS];
  load_numbers(numbers, from + (matrix.offset + line * matrix.across), matrix.along, h * TSL_RESIDUE_EACH,
               args.k * TSL_RESIDUE_EACH, matrix.is_wide);
  for (int i = 0; i < NUMBERS; i++) {
#ifdef TSL_RESIDUE_COMPLEX
    numbers[i] ^= matrix.is_conjugate && i % 2 == 1 ? TSL_RESIDUE_SIGN : 0;
#endif
    own[i] = digits_of(numbers[i], scale);
  }
  const int part = chunk / part_chunks;
  TSL_GLOBAL unsigned char *to = scratch + args.planes[operand] + line * args.depth + (h - part * args.depth);
  const TSL_INDEX kind = args.parts * args.plane[operand];
  for (int l = 0; l < moduli; l++) {
    const residue_modulus modulus = rules->moduli[l];
    store_residues_of_tile(to + (TSL_INDEX)l * TSL_RESIDUE_KINDS * kind + part * args.plane[operand], kind,
                           own, &modulus);
  }
}

TSL_KERNEL(TSL_RESIDUE_GROUP_ITEMS, 1, 1)
tsl_gemm_residue_int8_reduce(TSL_GLOBAL unsigned char *scratch, const residue_arguments args,
                             const int plane) {
  TSL_GLOBAL const residue_rules *rules = (TSL_GLOBAL const residue_rules *)(scratch + args.rules_at);
  const int l = plane / args.parts / TSL_RESIDUE_KINDS,
            across = (args.n + TSL_RESIDUE_FOUR - 1) / TSL_RESIDUE_FOUR;
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), row = index / across, col = index % across * TSL_RESIDUE_FOUR;
  if (row >= args.m || l >= get_chosen_moduli(scratch, &args))
    return;
  const residue_modulus modulus = rules->moduli[l];
  const TSL_VECTOR(int, 4) sums =
      TSL_LOAD_ALIGNED(int, 4, (TSL_GLOBAL const int *)(scratch + args.sums) + row * args.sums_row + col);
  const unsigned word = rest_of((unsigned)TSL_LANE(sums, 0) + modulus.bias, &modulus) |
                        rest_of((unsigned)TSL_LANE(sums, 1) + modulus.bias, &modulus) << 8 |
                        rest_of((unsigned)TSL_LANE(sums, 2) + modulus.bias, &modulus) << 16 |
                        rest_of((unsigned)TSL_LANE(sums, 3) + modulus.bias, &modulus) << 24;
  *(TSL_GLOBAL unsigned *)(scratch + args.rests + plane * args.rest_plane + row * args.rest_pitch + col) =
      word;
}
