/* Idea: f32 numbers as one f16 number or two or three bf16 numbers, which matrix units multiply fastest. Each
 * line is multiplied by a power of two, so that its numbers fit the few exponents.
 *
 *   TSL_SPLIT_F16                           otherwise: 24 bits in parts of 8
 *   a sample of a line gives its scale      all of a line gives its scale
 *   | x . . x . . x |  2^e  | h h h h |     1xxxxxxx xxxxxxxx xxxxxxxx = 1xxxxxxx + xxxxxxxx + xxxxxxxx
 *   rounded once, tiny numbers counted      0001xxxx xxxxxxxx xxxxxxxx
 *
 *   f16:  tsl_gemm_split_guess         guesses the lines' scales
 *         tsl_gemm_split_round_along   rounds a line a group; its numbers are contiguous
 *         tsl_gemm_split_round_across  rounds TSL_SPLIT_ACROSS lines by TSL_SPLIT_DEPTH numbers a group
 *         tsl_gemm_split_decide        an item decides about a line
 *   bf16: tsl_gemm_split_measure       a group finds the largest and smallest numbers of lines, hence scales
 *         tsl_gemm_split_cut           an item cuts 8 numbers, and stores 16 bytes of each part
 *   both: tsl_gemm_split_join          an item computes 4 adjacent elements of C from sums
 *         tsl_gemm_split_native        a group has a tile of C: elements without a proof
 *
 * Rounded f16 numbers are dense in the operand's orientation; parts of bf16 are dense along lines. Without
 * products only C = beta C is computed. Limits: f32. */
#include "dialect.h"

#include "split_precision_shared.h"

#define ITEMS TSL_SPLIT_ITEMS
#define FOUR TSL_SPLIT_FOUR

TSL_FUNCTION unsigned larger(unsigned a, unsigned b) {
  return a > b ? a : b;
}

TSL_FUNCTION int count_lines(const split_arguments *args, int operand) {
  return operand ? args->n : args->m;
}

/* A line that some items of a group measure. */
typedef struct measured_line {
  int operand, number, is_there, worker, each, next; /* each: items of the line, `next` apart */
} measured_line;

TSL_FUNCTION measured_line get_line(const split_arguments *args, int along, int across) {
  measured_line line;
  const int item = TSL_ITEM(0);
  line.operand = TSL_GROUP(0) < args->blocks[0] ? 0 : 1;
  const int is_across = args->operands[line.operand].is_across, lines = is_across ? across : along;
  line.each = ITEMS / lines;
  line.worker = is_across ? item / lines : item % line.each;
  line.next = is_across ? lines : 1;
  line.number = (TSL_GROUP(0) - (line.operand ? args->blocks[0] : 0)) * lines +
                (is_across ? item % lines : item / line.each);
  line.is_there = line.number < count_lines(args, line.operand);
  return line;
}

#ifdef TSL_SPLIT_F16
TSL_KERNEL(TSL_SPLIT_ITEMS, 1, 1)
tsl_gemm_split_guess(TSL_GLOBAL const unsigned *a, TSL_GLOBAL const unsigned *b,
                     TSL_GLOBAL unsigned char *scratch, const split_arguments args) {
  TSL_LOCAL unsigned largest[ITEMS];
  const measured_line line = get_line(&args, TSL_SPLIT_GUESS_ALONG, TSL_SPLIT_GUESS_ACROSS);
  const split_matrix matrix = args.operands[line.operand];
  const int item = TSL_ITEM(0), count = args.k < TSL_SPLIT_SAMPLE ? args.k : TSL_SPLIT_SAMPLE;
  TSL_GLOBAL const unsigned *from =
      (line.operand ? b : a) + matrix.offset + (line.is_there ? line.number * matrix.across : 0);
  unsigned most = 0;
  TSL_UNROLL_BY(8)
  for (int i = line.worker; i < (line.is_there ? count : 0); i += line.each)
    most = larger(most, from[split_sample_at(args.k, i) * matrix.along] & 0x7fffffffu);
  largest[item] = most;
  for (int step = line.each / 2; step > 0; step /= 2) {
    TSL_BARRIER();
    if (line.worker < step)
      largest[item] = larger(largest[item], largest[item + step * line.next]);
  }
  if (line.worker == 0 && line.is_there)
    ((TSL_GLOBAL int *)(scratch + args.scales[line.operand]))[line.number] = split_f16_scale(largest[item]);
}

typedef struct line_scaling {
  float factor;   /* 2^scale */
  unsigned least; /* bits of the smallest magnitude that is not small */
} line_scaling;

TSL_FUNCTION void scaling_of(int scale, line_scaling *by) {
  by->factor = TSL_AS_FLOAT((scale + 127) << 23);
  by->least = split_f16_from(TSL_SPLIT_LEAST, scale);
}

TSL_FUNCTION int scale_in(const line_scaling *by) {
  return (TSL_AS_INT(by->factor) >> 23) - 127;
}

#define ZERO (1 << 16)
typedef struct line_counts {
  int fields, small; /* sum of exponents' fields; numbers below 2^LEAST after scaling, plus ZERO per zero */
  unsigned largest;  /* bits of the largest magnitude */
} line_counts;

TSL_FUNCTION void count_none(line_counts *counts) {
  counts->fields = counts->small = 0;
  counts->largest = 0;
}

/* Rounds a subnormal number or 0 with integers, because some devices flush subnormal numbers. */
TSL_FUNCTION unsigned round_subnormal(unsigned bits, const line_scaling *by, line_counts *counts) {
  int exponent;
  counts->small += (bits & 0x7fffffffu) == 0 ? ZERO : 0;
  counts->fields -= 22;
  return split_f16_rounded(bits & 0x7fffffffu, scale_in(by), &exponent) | (bits >> 31 << 15);
}

TSL_FUNCTION unsigned round_and_count(unsigned bits, const line_scaling *by, line_counts *counts) {
  const unsigned magnitude = bits & 0x7fffffffu;
  counts->largest = larger(counts->largest, magnitude);
  counts->small += magnitude < by->least;
  counts->fields += (int)(magnitude >> 23);
  return magnitude < 0x800000u ? round_subnormal(bits, by, counts)
                               : TSL_HALF_OF_FLOAT(TSL_AS_FLOAT((int)bits) * by->factor);
}

/* Returns the number of zeros, plus OVER if a number exceeds f16's exponents. */
TSL_FUNCTION int zeros_of(const line_counts *counts, const line_scaling *by) {
  const int is_over =
      counts->largest >= 0x7f800000u || counts->largest >= split_f16_from(TSL_SPLIT_TOP, scale_in(by));
  return counts->small / ZERO + (is_over ? TSL_SPLIT_OVER : 0);
}

/* Loads four numbers, `step` apart, of which the first `count` exist. */
TSL_FUNCTION void load_four(unsigned value[FOUR], TSL_GLOBAL const unsigned *from, split_index step,
                            int count, int is_wide) {
  if (is_wide && count == FOUR) {
    const TSL_VECTOR(int, 4) four = TSL_LOAD_ALIGNED(int, 4, (TSL_GLOBAL const int *)from);
    value[0] = (unsigned)TSL_LANE(four, 0);
    value[1] = (unsigned)TSL_LANE(four, 1);
    value[2] = (unsigned)TSL_LANE(four, 2);
    value[3] = (unsigned)TSL_LANE(four, 3);
    return;
  }
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++)
    value[i] = i < count ? from[i * step] : 0;
}

TSL_FUNCTION void store_four(TSL_GLOBAL unsigned char *dst, const unsigned rounded[FOUR]) {
  TSL_VECTOR(int, 2) out;
  TSL_LANE(out, 0) = (int)(rounded[0] | rounded[1] << 16);
  TSL_LANE(out, 1) = (int)(rounded[2] | rounded[3] << 16);
  TSL_STORE_ALIGNED(int, 2, (TSL_GLOBAL int *)dst, out);
}

/* Rounds a line by all items of a group; the counts are reduced 16 at a time. */
#define SIXTEEN 16
TSL_KERNEL(TSL_SPLIT_ITEMS, 1, 1)
tsl_gemm_split_round_along(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                           const split_arguments args, const int operand) {
  TSL_LOCAL int counts[TSL_SPLIT_COUNTS][ITEMS];
  const split_matrix matrix = args.operands[operand];
  const int item = TSL_ITEM(0), line = TSL_GROUP(0);
  TSL_GLOBAL unsigned char *to = scratch + args.planes[operand] + line * args.pitch[operand] * 2;
  line_counts own;
  line_scaling by;
  count_none(&own);
  scaling_of(((TSL_GLOBAL const int *)(scratch + args.scales[operand]))[line], &by);
  from += matrix.offset + line * matrix.across;
  TSL_UNROLL_BY(4)
  for (int h = item * FOUR; h < args.k; h += ITEMS * FOUR) {
    unsigned number[FOUR], rounded[FOUR];
    const int count = args.k - h < FOUR ? args.k - h : FOUR;
    load_four(number, from + h * matrix.along, matrix.along, count, matrix.is_wide);
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++)
      rounded[i] = i < count ? round_and_count(number[i], &by, &own) : 0;
    store_four(to + h * 2, rounded);
  }
  counts[0][item] = own.fields;
  counts[1][item] = own.small % ZERO;
  counts[2][item] = zeros_of(&own, &by);
  for (int step = ITEMS / SIXTEEN; step > 0; step /= SIXTEEN) {
    int sum[TSL_SPLIT_COUNTS] = {0, 0, 0};
    TSL_BARRIER();
    if (item < step)
      for (int i = 0; i < SIXTEEN; i++) {
        TSL_UNROLL
        for (int c = 0; c < TSL_SPLIT_COUNTS; c++)
          sum[c] += counts[c][item + i * step];
      }
    TSL_BARRIER();
    TSL_UNROLL
    for (int c = 0; c < TSL_SPLIT_COUNTS; c++)
      counts[c][item] = sum[c];
  }
  if (item == 0)
    for (int c = 0; c < TSL_SPLIT_COUNTS; c++)
      ((TSL_GLOBAL int *)(scratch + args.counts[operand]))[line * TSL_SPLIT_COUNTS + c] = counts[c][0];
}

/* Rounds ACROSS lines, DEPTH numbers of each: 32 items across, 8 rows of memory at a time. */
#define SIDE (TSL_SPLIT_ACROSS / FOUR)
#define ROWS (TSL_SPLIT_ITEMS / SIDE)
TSL_KERNEL_SHARING(TSL_SPLIT_ITEMS, 1, 1, 4)
tsl_gemm_split_round_across(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                            const split_arguments args, const int operand) {
  TSL_LOCAL int counts[TSL_SPLIT_COUNTS][ROWS * TSL_SPLIT_ACROSS];
  const split_matrix matrix = args.operands[operand];
  const int item = TSL_ITEM(0), lines = count_lines(&args, operand),
            across = (lines + TSL_SPLIT_ACROSS - 1) / TSL_SPLIT_ACROSS,
            first = TSL_GROUP(0) % across * TSL_SPLIT_ACROSS, chunk = TSL_GROUP(0) / across,
            line = first + item % SIDE * FOUR, count = lines - line < FOUR ? lines - line : FOUR;
  const int begin = chunk * TSL_SPLIT_DEPTH,
            end = begin + TSL_SPLIT_DEPTH < args.k ? begin + TSL_SPLIT_DEPTH : args.k,
            last = count > 0 ? end : begin;
  line_counts own[FOUR];
  line_scaling by[FOUR];
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++) {
    count_none(&own[i]);
    scaling_of(i < count ? ((TSL_GLOBAL const int *)(scratch + args.scales[operand]))[line + i] : 0, &by[i]);
  }
  from += matrix.offset + line * matrix.across;
  TSL_GLOBAL unsigned char *to = scratch + args.planes[operand] + line * 2;
  TSL_UNROLL_BY(4)
  for (int h = begin + item / SIDE; h < last; h += ROWS) {
    unsigned number[FOUR], rounded[FOUR];
    load_four(number, from + h * matrix.along, matrix.across, count, matrix.is_wide);
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++)
      rounded[i] = round_and_count(number[i], &by[i], &own[i]);
    store_four(to + h * args.pitch[operand] * 2, rounded);
  }
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++) {
    const int at = item / SIDE * TSL_SPLIT_ACROSS + item % SIDE * FOUR + i;
    counts[0][at] = own[i].fields;
    counts[1][at] = own[i].small % ZERO;
    counts[2][at] = zeros_of(&own[i], &by[i]);
  }
  TSL_BARRIER();
  if (item < TSL_SPLIT_ACROSS && first + item < lines) {
    TSL_GLOBAL int *all = (TSL_GLOBAL int *)(scratch + args.counts[operand]) +
                          (chunk * (TSL_INDEX)lines + first + item) * TSL_SPLIT_COUNTS;
    TSL_UNROLL
    for (int c = 0; c < TSL_SPLIT_COUNTS; c++) {
      int sum = 0;
      TSL_UNROLL
      for (int i = 0; i < ROWS; i++)
        sum += counts[c][i * TSL_SPLIT_ACROSS + item];
      all[c] = sum;
    }
  }
}

TSL_KERNEL(TSL_SPLIT_GROUP_ITEMS, 1, 1)
tsl_gemm_split_decide(TSL_GLOBAL unsigned char *scratch, const split_arguments args) {
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0);
  const int operand = index < args.m ? 0 : 1, lines = count_lines(&args, operand);
  const TSL_INDEX line = operand ? index - args.m : index, step = lines * (TSL_INDEX)TSL_SPLIT_COUNTS;
  if (line >= lines)
    return;
  TSL_GLOBAL const int *counts =
      (TSL_GLOBAL const int *)(scratch + args.counts[operand]) + line * TSL_SPLIT_COUNTS;
  TSL_INDEX fields = 0;
  int small = 0, zeros = 0, is_over = 0;
  TSL_UNROLL_BY(8)
  for (int chunk = 0; chunk < args.chunks[operand]; chunk++) {
    fields += counts[chunk * step];
    small += counts[chunk * step + 1];
    zeros += counts[chunk * step + 2] % TSL_SPLIT_OVER;
    is_over |= counts[chunk * step + 2] >= TSL_SPLIT_OVER;
  }
  ((TSL_GLOBAL int *)(scratch + args.states[operand]))[line] =
      split_f16_state(((TSL_GLOBAL const int *)(scratch + args.scales[operand]))[line], fields, small, zeros,
                      is_over, args.k);
}

#else
#define NUMBERS TSL_SPLIT_NUMBERS
#define HALVINGS 7 /* maximum halvings of the items of a line */
TSL_FUNCTION unsigned smaller(unsigned a, unsigned b) {
  return a < b ? a : b;
}

TSL_KERNEL(TSL_SPLIT_ITEMS, 1, 1)
tsl_gemm_split_measure(TSL_GLOBAL const unsigned *a, TSL_GLOBAL const unsigned *b,
                       TSL_GLOBAL unsigned char *scratch, const split_arguments args) {
  TSL_LOCAL unsigned largest[ITEMS];
  TSL_LOCAL unsigned least[ITEMS]; /* magnitudes minus one; 0 becomes the maximum */
  const measured_line line = get_line(&args, TSL_SPLIT_MEASURE_ALONG, TSL_SPLIT_MEASURE_ACROSS);
  const split_matrix matrix = args.operands[line.operand];
  const int item = TSL_ITEM(0);
  TSL_GLOBAL const unsigned *from =
      (line.operand ? b : a) + matrix.offset + (line.is_there ? line.number * matrix.across : 0);
  unsigned most = 0, fewest = 0xffffffffu;
  for (int h = line.worker; line.is_there && h < args.k; h += line.each) {
    const unsigned magnitude = from[h * matrix.along] & 0x7fffffffu;
    most = larger(most, magnitude);
    fewest = smaller(fewest, magnitude - 1);
  }
  largest[item] = most;
  least[item] = fewest;
  for (int halving = 1; halving <= HALVINGS; halving++) {
    const int step = line.each >> halving;
    TSL_BARRIER();
    if (line.worker < step) {
      largest[item] = larger(largest[item], largest[item + step * line.next]);
      least[item] = smaller(least[item], least[item + step * line.next]);
    }
  }
  if (line.worker == 0 && line.is_there)
    ((TSL_GLOBAL int *)(scratch + args.states[line.operand]))[line.number] =
        split_state(split_bf16_scale(largest[item], least[item] + 1), 0, 0, 0);
}

TSL_KERNEL(TSL_SPLIT_GROUP_ITEMS, 1, 1)
tsl_gemm_split_cut(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                   const split_arguments args, const int operand) {
  const split_matrix matrix = args.operands[operand];
  const int lines = matrix.is_across ? TSL_SPLIT_CUT_ACROSS : 1, chunks = args.depth / NUMBERS;
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), line = index / lines / chunks * lines + index % lines;
  const int h = (int)(index / lines % chunks) * NUMBERS;
  if (line >= (operand ? args.n : args.m))
    return;
  const int state = ((TSL_GLOBAL const int *)(scratch + args.states[operand]))[line],
            is_native = state == TSL_SPLIT_NATIVE, scale = is_native ? 0 : split_scale_of(state);
  unsigned word[TSL_SPLIT_PARTS][NUMBERS / 2];
  TSL_UNROLL
  for (int i = 0; i < NUMBERS; i++) {
    unsigned part[TSL_SPLIT_PARTS], bits = 0;
    if (!is_native && h + i < args.k)
      bits = from[matrix.offset + line * matrix.across + (h + i) * matrix.along];
    split_cut(bits, scale, part);
    TSL_UNROLL
    for (int s = 0; s < TSL_SPLIT_PARTS; s++)
      word[s][i / 2] = i % 2 == 0 ? part[s] & 0xffff : word[s][i / 2] | part[s] << 16;
  }
  TSL_GLOBAL unsigned char *to = scratch + args.planes[operand] + (line * args.depth + h) * 2;
  TSL_UNROLL
  for (int s = 0; s < TSL_SPLIT_PARTS; s++)
    if (s < args.parts) {
      TSL_VECTOR(int, 4) out;
      TSL_LANE(out, 0) = (int)word[s][0];
      TSL_LANE(out, 1) = (int)word[s][1];
      TSL_LANE(out, 2) = (int)word[s][2];
      TSL_LANE(out, 3) = (int)word[s][3];
      TSL_STORE_WHOLE(int, 4, (TSL_GLOBAL int *)(to + s * args.part_bytes[operand]), out);
    }
}
#endif

TSL_FUNCTION void finish(TSL_GLOBAL float *dst, float sum, const split_arguments *args) {
  const float product = args->alpha * sum;
  *dst = args->beta != 0 ? TSL_FMA(args->beta, *dst, product) : product;
}

TSL_KERNEL(TSL_SPLIT_GROUP_ITEMS, 1, 1)
tsl_gemm_split_join(TSL_GLOBAL float *c, TSL_GLOBAL const unsigned char *scratch,
                    const split_arguments args) {
  const TSL_INDEX col = TSL_GLOBAL_ITEM(0) * FOUR;
  TSL_GLOBAL const int *rows = (TSL_GLOBAL const int *)(scratch + args.states[0]),
                       *columns = (TSL_GLOBAL const int *)(scratch + args.states[1]);
  const int count = args.n - col < FOUR ? (int)(args.n - col) : FOUR;
  int right[FOUR];
  if (count <= 0)
    return;
  TSL_UNROLL
  for (int i = 0; i < FOUR; i++)
    right[i] = i < count && !args.is_empty ? columns[col + i] : 0;
  for (TSL_INDEX row = TSL_GROUP(1); row < args.m; row += TSL_GROUPS(1)) {
    TSL_GLOBAL float *to = c + args.c_offset + row * args.c_row + col * args.c_col;
    if (args.is_empty) {
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        if (i < count)
          finish(to + i * args.c_col, 0, &args);
      continue;
    }
    const int down = rows[row];
    const TSL_VECTOR(float, 4) sums = TSL_LOAD_ALIGNED(
        float, 4, (TSL_GLOBAL const float *)(scratch + args.sums) + row * args.sums_row + col);
    float out[FOUR];
    int is_whole = args.c_is_wide && count == FOUR && args.beta == 0;
    out[0] = TSL_LANE(sums, 0);
    out[1] = TSL_LANE(sums, 1);
    out[2] = TSL_LANE(sums, 2);
    out[3] = TSL_LANE(sums, 3);
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++)
      if (i < count && split_is_native(down, right[i]))
        is_whole = 0;
      else
        out[i] = split_unscaled(out[i], split_scale_of(down) + split_scale_of(right[i]));
    if (is_whole) {
      TSL_VECTOR(float, 4) four;
      TSL_LANE(four, 0) = args.alpha * out[0];
      TSL_LANE(four, 1) = args.alpha * out[1];
      TSL_LANE(four, 2) = args.alpha * out[2];
      TSL_LANE(four, 3) = args.alpha * out[3];
      TSL_STORE_WHOLE(float, 4, to, four);
    } else {
      TSL_UNROLL
      for (int i = 0; i < FOUR; i++)
        if (i < count && !split_is_native(down, right[i]))
          finish(to + i * args.c_col, out[i], &args);
    }
  }
}

#define TILE TSL_SPLIT_TILE
#define DEPTH 16
#define PITCH (TILE + 4) /* row pitch of a tile in local memory, a multiple of 16 bytes */

/* Loads numbers from h on of an operand's lines; zeros outside the matrix. */
TSL_FUNCTION void fetch(TSL_LOCAL_POINTER float *dst, TSL_GLOBAL const float *from, const split_matrix matrix,
                        TSL_INDEX line, int lines, int h, int k) {
  TSL_UNROLL
  for (int r = 0; r < TILE * DEPTH / ITEMS; r++) {
    const int e = TSL_ITEM(0) + r * ITEMS, l = matrix.is_across ? e % TILE : e / DEPTH,
              d = matrix.is_across ? e / TILE : e % DEPTH;
    dst[d * PITCH + l] = line + l < lines && h + d < k
                             ? from[matrix.offset + (line + l) * matrix.across + (h + d) * matrix.along]
                             : 0;
  }
}

/* Returns 1 if an item's line is native or has tiny numbers; items from `first` on have the TILE lines. */
TSL_FUNCTION int may_be_native(TSL_GLOBAL const int *states, TSL_INDEX line, int lines, int first) {
  const int own = TSL_ITEM(0) - first;
  if (own < 0 || own >= TILE || line + own >= lines)
    return 0;
  return states[line + own] == TSL_SPLIT_NATIVE || (states[line + own] & (TSL_SPLIT_FIELD - 1)) != 0;
}

/* Computes the elements without a proof of a tile of C, 4 x 4 an item; returns at once without any. */
TSL_KERNEL(TSL_SPLIT_ITEMS, 1, 1)
tsl_gemm_split_native(TSL_GLOBAL const float *a, TSL_GLOBAL const float *b, TSL_GLOBAL float *c,
                      TSL_GLOBAL const unsigned char *scratch, const split_arguments args) {
  TSL_LOCAL float left[DEPTH * PITCH];
  TSL_LOCAL float above[DEPTH * PITCH];
  TSL_LOCAL int any;
  const int x = TSL_ITEM(0) % (TILE / FOUR) * FOUR, y = TSL_ITEM(0) / (TILE / FOUR) * FOUR;
  const TSL_INDEX col = (TSL_INDEX)TSL_GROUP(0) * TILE;
  TSL_GLOBAL const int *rows = (TSL_GLOBAL const int *)(scratch + args.states[0]),
                       *columns = (TSL_GLOBAL const int *)(scratch + args.states[1]);
  for (TSL_INDEX row = (TSL_INDEX)TSL_GROUP(1) * TILE; row < args.m; row += (TSL_INDEX)TSL_GROUPS(1) * TILE) {
    float sums[FOUR][FOUR];
    unsigned natives = 0;
    TSL_BARRIER();
    if (TSL_ITEM(0) == 0)
      any = 0;
    TSL_BARRIER();
    if (may_be_native(rows, row, args.m, 0) || may_be_native(columns, col, args.n, TILE))
      any = 1;
    TSL_BARRIER();
    const int looks = any;
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++) {
      TSL_UNROLL
      for (int j = 0; j < FOUR; j++) {
        sums[i][j] = 0;
        if (looks && row + y + i < args.m && col + x + j < args.n &&
            split_is_native(rows[row + y + i], columns[col + x + j]))
          natives |= 1u << (FOUR * i + j);
      }
    }
    TSL_BARRIER();
    if (TSL_ITEM(0) == 0)
      any = 0;
    TSL_BARRIER();
    if (natives != 0)
      any = 1;
    TSL_BARRIER();
    if (!any)
      continue;
    for (int h = 0; h < args.k; h += DEPTH) {
      fetch(left, a, args.operands[0], row, args.m, h, args.k);
      fetch(above, b, args.operands[1], col, args.n, h, args.k);
      TSL_BARRIER();
      TSL_UNROLL
      for (int d = 0; d < DEPTH; d++) {
        const TSL_VECTOR(float, 4) l = TSL_LOCAL_LOAD(float, 4, left + d * PITCH + y),
                                   r = TSL_LOCAL_LOAD(float, 4, above + d * PITCH + x);
        const float down[FOUR] = {TSL_LANE(l, 0), TSL_LANE(l, 1), TSL_LANE(l, 2), TSL_LANE(l, 3)},
                    across[FOUR] = {TSL_LANE(r, 0), TSL_LANE(r, 1), TSL_LANE(r, 2), TSL_LANE(r, 3)};
        TSL_UNROLL
        for (int i = 0; i < FOUR; i++) {
          TSL_UNROLL
          for (int j = 0; j < FOUR; j++)
            sums[i][j] = h + d < args.k ? TSL_FMA(down[i], across[j], sums[i][j]) : sums[i][j];
        }
      }
      TSL_BARRIER();
    }
    TSL_UNROLL
    for (int i = 0; i < FOUR; i++) {
      TSL_UNROLL
      for (int j = 0; j < FOUR; j++)
        if (natives >> (FOUR * i + j) & 1)
          finish(c + args.c_offset + (row + y + i) * args.c_row + (col + x + j) * args.c_col, sums[i][j],
                 &args);
    }
  }
}
