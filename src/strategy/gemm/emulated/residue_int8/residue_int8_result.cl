/* Last portable kernels of residue_int8.
 * `tsl_gemm_residue_int8_join`: an item computes four neighbours of a row of C from their residues.
 * `tsl_gemm_residue_int8_native`: an item computes a native element, which has no bound by residues or is not
 * finite. The k products are added one after the other, each fused; f32 in double with TSL_RESIDUE_PRECISE.
 * For k = 0, C = beta C.
 *   scales of rows, of columns: NO_SCALE marks elements that one kernel leaves to the other
 * Defines of the host: TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not, TSL_RESIDUE_PRECISE or not. */
#include "dialect.h"

#include "residue_int8_shared.h"

#define FOUR TSL_RESIDUE_FOUR
#define SHORT 8 /* moduli for which C' fits in 64 bits */
#ifdef TSL_RESIDUE_F64
#define MODULI_MOST TSL_RESIDUE_MODULI
#else
#define MODULI_MOST 10 /* rules.c */
#endif

TSL_FUNCTION int scale_of(TSL_GLOBAL const unsigned char *scratch, const residue_arguments *args, int operand,
                          TSL_INDEX line) {
  return ((TSL_GLOBAL const int *)(scratch + args->scales[operand]))[line];
}

/* Returns an element of C from its number, C' 2^-scale or a native sum; `c` is its address. */
TSL_FUNCTION residue_real finished(TSL_GLOBAL const residue_real *c, double number,
                                   const residue_arguments *args) {
  const residue_real beta = (residue_real)args->beta;
  const residue_real before = beta != 0 ? *c : 0;
  return residue_finish(number, args->is_empty ? 0 : (residue_real)args->alpha, beta, &before);
}
TSL_FUNCTION void finish(TSL_GLOBAL residue_real *c, double number, const residue_arguments *args) {
  *c = finished(c, number, args);
}

/* Returns the residues of four neighbours, a byte each; parts of a split k are added and reduced again. */
TSL_FUNCTION unsigned rests_of(TSL_GLOBAL const unsigned char *from, int plane, unsigned p,
                               const residue_arguments *args) {
  unsigned rests = *(TSL_GLOBAL const unsigned *)(from + plane * args->parts * args->rest_plane);
  for (int part = 1; part < args->parts; part++) {
    const unsigned more =
        *(TSL_GLOBAL const unsigned *)(from + ((TSL_INDEX)plane * args->parts + part) * args->rest_plane);
    unsigned sum = 0;
    for (int i = 0; i < FOUR; i++)
      sum |= ((rests >> 8 * i & 255) + (more >> 8 * i & 255)) % p << 8 * i;
    rests = sum;
  }
  return rests;
}

/* Returns the residues of C' modulo p_l; of part element_part for complex numbers. */
TSL_FUNCTION unsigned rests_in(TSL_GLOBAL const unsigned char *from, int l, int element_part, unsigned p,
                               const residue_arguments *args) {
#ifdef TSL_RESIDUE_COMPLEX
  const unsigned x = rests_of(from, 3 * l, p, args), y = rests_of(from, 3 * l + 1, p, args),
                 z = element_part == 0 ? 0 : rests_of(from, 3 * l + 2, p, args);
  unsigned rests = 0;
  for (int i = 0; i < FOUR; i++) {
    const unsigned one = x >> 8 * i & 255, other = y >> 8 * i & 255;
    rests |=
        (element_part == 0 ? residue_less(one, other, p) : residue_imaginary(one, other, z >> 8 * i & 255, p))
        << 8 * i;
  }
  return rests;
#else
  (void)element_part;
  return rests_of(from, l, p, args);
#endif
}

/* Adds the weighted residues of at most `most` moduli, all loads in flight at once; absent ones load 0. */
TSL_FUNCTION void add_up(residue_sum *sums, TSL_GLOBAL const residue_rules *rules,
                         const residue_choice *choice, TSL_GLOBAL const unsigned char *from, int element_part,
                         const residue_arguments *args, int most, int limbs) {
  TSL_GLOBAL const residue_sieve *sieve = &rules->sieves[choice->candidate];
  unsigned rests[MODULI_MOST];
  TSL_UNROLL
  for (int l = 0; l < most; l++)
    rests[l] = l < choice->moduli ? rests_in(from, l, element_part, rules->moduli[l].p, args) : 0;
  for (int i = 0; i < FOUR; i++) {
    for (int limb = 0; limb < 4; limb++)
      sums[i].limb[limb] = 0;
    sums[i].quotient = 1u << 19;
  }
  TSL_UNROLL
  for (int l = 0; l < most; l++)
    TSL_UNROLL
  for (int i = 0; i < FOUR; i++)
    residue_sum_add(&sums[i], sieve, l, rests[l] >> 8 * i & 255, limbs);
}

/* Stores four neighbours; dst is aligned to 16 bytes. */
TSL_FUNCTION void store_four(TSL_GLOBAL residue_real *dst, const residue_real *out) {
#ifdef TSL_RESIDUE_F64
  TSL_VECTOR(double, 2) two;
  for (int i = 0; i < FOUR; i += 2) {
    TSL_LANE(two, 0) = out[i];
    TSL_LANE(two, 1) = out[i + 1];
    TSL_STORE_WHOLE(double, 2, dst + i, two);
  }
#else
  TSL_VECTOR(float, 4) four;
  TSL_LANE(four, 0) = out[0];
  TSL_LANE(four, 1) = out[1];
  TSL_LANE(four, 2) = out[2];
  TSL_LANE(four, 3) = out[3];
  TSL_STORE_WHOLE(float, 4, dst, four);
#endif
}

TSL_KERNEL(TSL_RESIDUE_GROUP_ITEMS, 1, 1)
tsl_gemm_residue_int8_join(TSL_GLOBAL residue_real *c, TSL_GLOBAL const unsigned char *scratch,
                           const residue_arguments args) {
  TSL_GLOBAL const residue_rules *rules = (TSL_GLOBAL const residue_rules *)(scratch + args.rules_at);
  const residue_choice choice = *(TSL_GLOBAL const residue_choice *)(scratch + args.choice);
  const int across = (args.n + FOUR - 1) / FOUR;
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), row = index / across, col = index % across * FOUR;
  if (row >= args.m || choice.moduli == 0)
    return;
  const int down = scale_of(scratch, &args, 0, row);
  if (down == TSL_RESIDUE_NO_SCALE)
    return;
  TSL_GLOBAL const residue_sieve *sieve = &rules->sieves[choice.candidate];
  TSL_GLOBAL const unsigned char *from = scratch + args.rests + row * args.rest_pitch + col;
  TSL_GLOBAL residue_real *to = c + args.c_offset + row * args.c_row + col * args.c_col;
  int right[FOUR], is_whole = args.is_wide;
  for (int i = 0; i < FOUR; i++) {
    right[i] = col + i < args.n ? scale_of(scratch, &args, 1, col + i) : TSL_RESIDUE_NO_SCALE;
    is_whole = is_whole && right[i] != TSL_RESIDUE_NO_SCALE;
  }
  for (int part = 0; part < TSL_RESIDUE_EACH; part++) {
    const int is_short = choice.moduli <= SHORT;
    residue_sum sums[FOUR];
    residue_real out[FOUR];
    if (is_short)
      add_up(sums, rules, &choice, from, part, &args, SHORT, 2);
    else
      add_up(sums, rules, &choice, from, part, &args, MODULI_MOST, 4);
    for (int i = 0; i < FOUR; i++) {
      const int scale = down + right[i];
      if (right[i] != TSL_RESIDUE_NO_SCALE)
        out[i] = finished(to + i * args.c_col + part,
                          is_short ? residue_power(-scale, (double)residue_sum_short(&sums[i], sieve))
                                   : residue_sum_long(&sums[i], sieve, scale),
                          &args);
    }
    if (is_whole) {
      store_four(to, out);
      continue;
    }
    for (int i = 0; i < FOUR; i++)
      if (right[i] != TSL_RESIDUE_NO_SCALE)
        to[i * args.c_col + part] = out[i];
  }
}

TSL_KERNEL(TSL_RESIDUE_TILE, TSL_RESIDUE_TILE, 1)
tsl_gemm_residue_int8_native(TSL_GLOBAL const residue_real *a, TSL_GLOBAL const residue_real *b,
                             TSL_GLOBAL residue_real *c, TSL_GLOBAL const unsigned char *scratch,
                             const residue_arguments args) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0);
  const residue_choice choice = *(TSL_GLOBAL const residue_choice *)(scratch + args.choice);
  const int is_all = args.is_empty || choice.moduli == 0, k = args.is_empty ? 0 : args.k;
  if (col >= args.n || (!is_all && choice.native[0] + choice.native[1] == 0))
    return;
  const int is_own = is_all || scale_of(scratch, &args, 1, col) == TSL_RESIDUE_NO_SCALE;
  for (TSL_INDEX row = TSL_GLOBAL_ITEM(1); row < args.m; row += (TSL_INDEX)TSL_GROUPS(1) * TSL_RESIDUE_TILE) {
    if (!is_own && scale_of(scratch, &args, 0, row) != TSL_RESIDUE_NO_SCALE)
      continue;
    TSL_GLOBAL const residue_real *left = a + args.operands[0].offset + row * args.operands[0].across,
                                  *right = b + args.operands[1].offset + col * args.operands[1].across;
    TSL_GLOBAL residue_real *to = c + args.c_offset + row * args.c_row + col * args.c_col;
#ifdef TSL_RESIDUE_COMPLEX
    residue_real sums[2][2] = {{0, 0}, {0, 0}};
    for (int h = 0; h < k; h++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          sums[i][j] = TSL_FMA(left[h * args.operands[0].along + i], right[h * args.operands[1].along + j],
                               sums[i][j]);
    for (int part = 0; part < 2; part++)
      finish(to + part,
             residue_native_part(part, sums, args.operands[0].is_conjugate, args.operands[1].is_conjugate),
             &args);
#else
    residue_native sum = 0;
    for (int h = 0; h < k; h++)
      sum = TSL_FMA((residue_native)left[h * args.operands[0].along],
                    (residue_native)right[h * args.operands[1].along], sum);
    finish(to, sum, &args);
#endif
  }
}
