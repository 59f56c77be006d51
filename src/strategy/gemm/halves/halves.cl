/* Idea: numbers of f32 become numbers of f16, which matrix units multiply fastest: each line is multiplied by a power of two, so that f16's few
 * exponents are where its numbers are, and rounded.
 *
 *   some of a line -> scale        all of it, once: rounded, and what the proof needs is counted          C = alpha 2^-(e + f) sums + beta C
 *   | x . . x . . x |   2^e        | h h h h h h h h |   sum of exponents, tiny numbers, zeros
 *
 * Rounded numbers lie as the operand's do, dense: whatever multiplies them takes either way.
 *
 * What it adds to the rungs below: one product in place of three or six of slices, where 11 bits of factors are enough.
 * Kernels: tsl_gemm_halves_guess; tsl_gemm_halves_round, where a line's numbers follow each other a group has a line, else TSL_HALVES_ACROSS lines
 * and TSL_HALVES_DEPTH numbers of each, an item 4 neighbours; tsl_gemm_halves_decide, an item has a line; tsl_gemm_halves_join, an item makes
 * 4 neighbours of C, and those without a proof by k products added one after the other, each fused. Where there are no products, C = beta C is
 * all that is left.
 * Parameters: none of their own. Limits: f32. */
#include "dialect.h"

#include "halves_shared.h"

#define ITEMS TSL_HALVES_ITEMS
#define FOUR TSL_HALVES_FOUR

TSL_FUNCTION unsigned larger(unsigned a, unsigned b) {
  return a > b ? a : b;
}

TSL_FUNCTION int lines_of(const halves_arguments *given, int operand) {
  return operand ? given->n : given->m;
}

TSL_KERNEL(TSL_HALVES_ITEMS, 1, 1)
tsl_gemm_halves_guess(TSL_GLOBAL const unsigned *a, TSL_GLOBAL const unsigned *b,
                      TSL_GLOBAL unsigned char *scratch, const halves_arguments given) {
  TSL_LOCAL unsigned largest[ITEMS];
  const int item = TSL_ITEM(0), operand = TSL_GROUP(0) < given.blocks[0] ? 0 : 1;
  const halves_matrix of = given.of[operand];
  const int lines = of.is_across ? TSL_HALVES_GUESS_ACROSS : TSL_HALVES_GUESS_ALONG, each = ITEMS / lines;
  const int own = of.is_across ? item % lines : item / each,
            worker = of.is_across ? item / lines : item % each, next = of.is_across ? lines : 1;
  const int number = (TSL_GROUP(0) - (operand ? given.blocks[0] : 0)) * lines + own,
            is_there = number < lines_of(&given, operand),
            count = given.k < TSL_HALVES_SAMPLE ? given.k : TSL_HALVES_SAMPLE;
  TSL_GLOBAL const unsigned *from = (operand ? b : a) + of.offset + (is_there ? number * of.across : 0);
  unsigned most = 0;
  for (int i = worker; is_there && i < count; i += each)
    most = larger(most, from[halves_sample_at(given.k, i) * of.along] & 0x7fffffffu);
  largest[item] = most;
  for (int step = each / 2; step > 0; step /= 2) {
    TSL_BARRIER();
    if (worker < step)
      largest[item] = larger(largest[item], largest[item + step * next]);
  }
  if (worker == 0 && is_there)
    ((TSL_GLOBAL int *)(scratch + given.scales[operand]))[number] = halves_scale(largest[item]);
}

/* What is counted of a line. */
typedef struct counted {
  int exponents, tiny, zeros, is_over;
} counted;

TSL_FUNCTION unsigned round_one(unsigned bits, int scale, counted *own) {
  const unsigned magnitude = bits & 0x7fffffffu;
  int exponent;
  const unsigned rounded = halves_rounded(magnitude, scale, &exponent);
  own->exponents += magnitude != 0 ? exponent : 0;
  own->zeros += magnitude == 0;
  own->tiny += magnitude != 0 && exponent < TSL_HALVES_LEAST;
  own->is_over |= magnitude >= 0x7f800000u || (magnitude != 0 && exponent >= TSL_HALVES_TOP);
  return rounded | (bits >> 31 << 15);
}

/* Four neighbours, `step` apart, the first `count` of which are there. */
TSL_FUNCTION void load_four(unsigned own[FOUR], TSL_GLOBAL const unsigned *from, halves_index step, int count,
                            int is_wide) {
  if (is_wide && count == FOUR) {
    const TSL_VECTOR(int, 4) four = TSL_LOAD_ALIGNED(int, 4, (TSL_GLOBAL const int *)from);
    own[0] = (unsigned)TSL_LANE(four, 0);
    own[1] = (unsigned)TSL_LANE(four, 1);
    own[2] = (unsigned)TSL_LANE(four, 2);
    own[3] = (unsigned)TSL_LANE(four, 3);
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++)
    own[i] = i < count ? from[i * step] : 0;
}

TSL_FUNCTION void store_four(TSL_GLOBAL unsigned char *to, const unsigned rounded[FOUR]) {
  TSL_VECTOR(int, 2) out;
  TSL_LANE(out, 0) = (int)(rounded[0] | rounded[1] << 16);
  TSL_LANE(out, 1) = (int)(rounded[2] | rounded[3] << 16);
  TSL_STORE_ALIGNED(int, 2, (TSL_GLOBAL int *)to, out);
}

/* A line, by all items. */
TSL_FUNCTION void round_along(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                              const halves_arguments *given, int operand, TSL_LOCAL_POINTER int *exponents,
                              TSL_LOCAL_POINTER int *rare) {
  const halves_matrix of = given->of[operand];
  const int item = TSL_ITEM(0), line = TSL_GROUP(0);
  const int scale = ((TSL_GLOBAL const int *)(scratch + given->scales[operand]))[line];
  TSL_GLOBAL unsigned char *to = scratch + given->planes[operand] + line * given->pitch[operand] * 2;
  counted own = {0, 0, 0, 0};
  from += of.offset + line * of.across;
  if (item < 2)
    rare[item] = 0;
  for (int h = item * FOUR; h < given->k; h += ITEMS * FOUR) {
    unsigned number[FOUR], rounded[FOUR];
    const int count = given->k - h < FOUR ? given->k - h : FOUR;
    load_four(number, from + h * of.along, of.along, count, of.is_wide);
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++) {
      counted one = own;
      rounded[i] = round_one(number[i], scale, &one);
      if (i < count)
        own = one;
    }
    store_four(to + h * 2, rounded);
  }
  exponents[item] = own.exponents;
  TSL_BARRIER();
  if (own.tiny > 0)
    TSL_LOCAL_ADD(&rare[0], own.tiny);
  if (own.zeros > 0 || own.is_over) /* of a line there are fewer zeros than 2^20 */
    TSL_LOCAL_ADD(&rare[1], own.zeros + (own.is_over ? 1 << 20 : 0));
  for (int step = ITEMS / 2; step > 0; step /= 2) {
    TSL_BARRIER();
    if (item < step)
      exponents[item] += exponents[item + step];
  }
  if (item == 0) {
    TSL_GLOBAL int *counts = (TSL_GLOBAL int *)(scratch + given->counts[operand]) + line * TSL_HALVES_COUNTS;
    counts[0] = exponents[0];
    counts[1] = rare[0];
    counts[2] = rare[1] >> 20 != 0 ? TSL_HALVES_OVER : rare[1];
  }
}

/* ACROSS lines, DEPTH numbers of each: 32 items across, 8 rows of memory at a time. */
#define SIDE (TSL_HALVES_ACROSS / FOUR)
#define ROWS (TSL_HALVES_ITEMS / SIDE)
TSL_FUNCTION void round_across(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                               const halves_arguments *given, int operand, TSL_LOCAL_POINTER int *exponents,
                               TSL_LOCAL_POINTER int *rare) {
  const halves_matrix of = given->of[operand];
  const int item = TSL_ITEM(0), lines = lines_of(given, operand),
            across = (lines + TSL_HALVES_ACROSS - 1) / TSL_HALVES_ACROSS,
            first = TSL_GROUP(0) % across * TSL_HALVES_ACROSS, chunk = TSL_GROUP(0) / across,
            line = first + item % SIDE * FOUR, count = lines - line < FOUR ? lines - line : FOUR;
  const int begin = chunk * TSL_HALVES_DEPTH,
            end = begin + TSL_HALVES_DEPTH < given->k ? begin + TSL_HALVES_DEPTH : given->k;
  counted own[FOUR];
  int scale[FOUR];
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++) {
    own[i].exponents = own[i].tiny = own[i].zeros = own[i].is_over = 0;
    scale[i] = i < count ? ((TSL_GLOBAL const int *)(scratch + given->scales[operand]))[line + i] : 0;
  }
  if (item < TSL_HALVES_ACROSS)
    rare[item] = 0;
  TSL_BARRIER();
  from += of.offset + line * of.across;
  TSL_GLOBAL unsigned char *to = scratch + given->planes[operand] + line * 2;
  const int last = count > 0 ? end : begin;
  TSL_UNROLL_BY(4)
  for (int h = begin + item / SIDE; h < last; h += ROWS) {
    unsigned number[FOUR], rounded[FOUR];
    load_four(number, from + h * of.along, of.across, count, of.is_wide);
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++)
      rounded[i] = round_one(number[i], scale[i], &own[i]);
    store_four(to + h * given->pitch[operand] * 2, rounded);
  }
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++) {
    const int rarely = (own[i].tiny << 8) + own[i].zeros + (own[i].is_over ? 1 << 16 : 0);
    exponents[item / SIDE * TSL_HALVES_ACROSS + item % SIDE * FOUR + i] = own[i].exponents;
    if (rarely != 0) /* DEPTH is below 256 */
      TSL_LOCAL_ADD(&rare[item % SIDE * FOUR + i], rarely);
  }
  TSL_BARRIER();
  if (item < TSL_HALVES_ACROSS && first + item < lines) {
    TSL_GLOBAL int *counts = (TSL_GLOBAL int *)(scratch + given->counts[operand]) +
                             (chunk * (TSL_INDEX)lines + first + item) * TSL_HALVES_COUNTS;
    int sum = 0;
    for (int i = 0; i < ROWS; i++)
      sum += exponents[i * TSL_HALVES_ACROSS + item];
    counts[0] = sum;
    counts[1] = rare[item] >> 8 & 255;
    counts[2] = rare[item] >> 16 != 0 ? TSL_HALVES_OVER : rare[item] & 255;
  }
}

TSL_KERNEL(TSL_HALVES_ITEMS, 1, 1)
tsl_gemm_halves_round(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                      const halves_arguments given, const int operand) {
  TSL_LOCAL int exponents[ROWS * TSL_HALVES_ACROSS];
  TSL_LOCAL int rare[TSL_HALVES_ACROSS];
  if (given.of[operand].is_across)
    round_across(from, scratch, &given, operand, exponents, rare);
  else
    round_along(from, scratch, &given, operand, exponents, rare);
}

TSL_KERNEL(TSL_HALVES_GROUP_ITEMS, 1, 1)
tsl_gemm_halves_decide(TSL_GLOBAL unsigned char *scratch, const halves_arguments given) {
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0);
  const int operand = index < given.m ? 0 : 1, lines = lines_of(&given, operand);
  const TSL_INDEX line = operand ? index - given.m : index;
  if (line >= lines)
    return;
  TSL_GLOBAL const int *counts =
      (TSL_GLOBAL const int *)(scratch + given.counts[operand]) + line * TSL_HALVES_COUNTS;
  TSL_INDEX exponents = 0;
  int tiny = 0, zeros = 0, is_over = 0;
  for (int chunk = 0; chunk < given.chunks[operand];
       chunk++, counts += lines * (TSL_INDEX)TSL_HALVES_COUNTS) {
    exponents += counts[0];
    tiny += counts[1];
    zeros += counts[2] < TSL_HALVES_OVER ? counts[2] : 0;
    is_over |= counts[2] >= TSL_HALVES_OVER;
  }
  ((TSL_GLOBAL int *)(scratch + given.states[operand]))[line] =
      halves_state(((TSL_GLOBAL const int *)(scratch + given.scales[operand]))[line], exponents, tiny, zeros,
                   is_over, given.k);
}

/* x 2^-scale, rounded once where that is normal. */
TSL_FUNCTION float unscaled(float x, int scale) {
  for (; scale > 126; scale -= 126)
    x *= TSL_AS_FLOAT(1 << 23);
  for (; scale < -126; scale += 126)
    x *= TSL_AS_FLOAT(253 << 23);
  return x * TSL_AS_FLOAT((127 - scale) << 23);
}

TSL_FUNCTION float native(TSL_GLOBAL const float *a, TSL_GLOBAL const float *b, const halves_arguments *given,
                          TSL_INDEX row, TSL_INDEX col) {
  TSL_GLOBAL const float *left = a + given->of[0].offset + row * given->of[0].across,
                         *above = b + given->of[1].offset + col * given->of[1].across;
  float sum = 0;
  TSL_UNROLL_BY(8)
  for (int h = 0; h < given->k; h++)
    sum = TSL_FMA(left[h * given->of[0].along], above[h * given->of[1].along], sum);
  return sum;
}

TSL_KERNEL(TSL_HALVES_GROUP_ITEMS, 1, 1)
tsl_gemm_halves_join(TSL_GLOBAL const float *a, TSL_GLOBAL const float *b, TSL_GLOBAL float *c,
                     TSL_GLOBAL const unsigned char *scratch, const halves_arguments given) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0) * FOUR;
  TSL_GLOBAL const int *rows = (TSL_GLOBAL const int *)(scratch + given.states[0]),
                       *columns = (TSL_GLOBAL const int *)(scratch + given.states[1]);
  const int count = given.n - col < FOUR ? (int)(given.n - col) : FOUR;
  int right[FOUR];
  if (count <= 0)
    return;
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++)
    right[i] = i < count && !given.is_empty ? columns[col + i] : 0;
  for (TSL_INDEX row = TSL_GROUP(1); row < given.m; row += TSL_GROUPS(1)) {
    TSL_GLOBAL float *to = c + given.c_offset + row * given.c_row + col * given.c_col;
    float out[FOUR];
    if (given.is_empty) {
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        out[i] = 0;
    } else {
      const int down = rows[row];
      const TSL_VECTOR(float, 4) sums = TSL_LOAD_ALIGNED(
          float, 4, (TSL_GLOBAL const float *)(scratch + given.sums) + row * given.sums_row + col);
      out[0] = TSL_LANE(sums, 0);
      out[1] = TSL_LANE(sums, 1);
      out[2] = TSL_LANE(sums, 2);
      out[3] = TSL_LANE(sums, 3);
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        if (i < count)
          out[i] = given.alpha * (halves_is_native(down, right[i])
                                      ? native(a, b, &given, row, col + i)
                                      : unscaled(out[i], halves_scale_of(down) + halves_scale_of(right[i])));
    }
    if (given.beta != 0) {
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        if (i < count)
          out[i] = TSL_FMA(given.beta, to[i * given.c_col], out[i]);
    }
    if (given.c_is_wide && count == FOUR) {
      TSL_VECTOR(float, 4) four;
      TSL_LANE(four, 0) = out[0];
      TSL_LANE(four, 1) = out[1];
      TSL_LANE(four, 2) = out[2];
      TSL_LANE(four, 3) = out[3];
      TSL_STORE_WHOLE(float, 4, to, four);
    } else {
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        if (i < count)
          to[i * given.c_col] = out[i];
    }
  }
}
