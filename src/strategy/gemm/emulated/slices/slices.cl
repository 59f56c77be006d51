/* Idea: f32 numbers as three bf16 slices, whose products are exact in f32 and fast on many units. Lines are
 * measured, their numbers cut, and C computed from the sums of the slices' products. slices.c lists the
 * products.
 *
 *   a line's largest    slice 1    slice 2    slice 3
 *   v
 *   1xxxxxxx xxxxxxxx xxxxxxxx  =  1xxxxxxx + xxxxxxxx + xxxxxxxx    24 bits in slices of 8; each line is
 *   0001xxxx xxxxxxxx xxxxxxxx                                       scaled by a power of two
 *
 *   tsl_gemm_slices_measure   a group finds the largest and smallest numbers of its lines, hence scales
 *   tsl_gemm_slices_cut       an item cuts 8 numbers of a line, and stores 16 bytes of each slice
 *   tsl_gemm_slices_join      an item computes an element of C; a native row or column by k multiply-adds
 *
 * Without products only C = beta C is computed. Items lie along a line, then over lines. If numbers of
 * different lines are contiguous, items lie over some lines, then along them. Limits: f32; 65536 terms. */
#include "dialect.h"

#include "slices_shared.h"

#define ITEMS TSL_SLICES_ITEMS
#define NUMBERS TSL_SLICES_NUMBERS
#define HALVINGS 7 /* maximum halvings of the items of a line */

TSL_FUNCTION unsigned larger(unsigned a, unsigned b) {
  return a > b ? a : b;
}
TSL_FUNCTION unsigned smaller(unsigned a, unsigned b) {
  return a < b ? a : b;
}

TSL_KERNEL(TSL_SLICES_ITEMS, 1, 1)
tsl_gemm_slices_measure(TSL_GLOBAL const unsigned *a, TSL_GLOBAL const unsigned *b,
                        TSL_GLOBAL unsigned char *scratch, const slices_arguments args) {
  TSL_LOCAL unsigned largest[ITEMS];
  TSL_LOCAL unsigned least[ITEMS]; /* magnitudes minus one; 0 becomes the maximum */
  const int item = TSL_ITEM(0), operand = TSL_GROUP(0) < args.blocks[0] ? 0 : 1;
  const slices_matrix matrix = args.operands[operand];
  const int lines = matrix.is_across ? TSL_SLICES_LINES_ACROSS : TSL_SLICES_LINES_ALONG, each = ITEMS / lines;
  const int own = matrix.is_across ? item % lines : item / each,
            worker = matrix.is_across ? item / lines : item % each, next = matrix.is_across ? lines : 1;
  const int number = (TSL_GROUP(0) - (operand ? args.blocks[0] : 0)) * lines + own,
            is_there = number < (operand ? args.n : args.m);
  TSL_GLOBAL const unsigned *from =
      (operand ? b : a) + matrix.offset + (is_there ? number * matrix.across : 0);
  unsigned most = 0, fewest = 0xffffffffu;
  for (int h = worker; is_there && h < args.k; h += each) {
    const unsigned magnitude = from[h * matrix.along] & 0x7fffffffu;
    most = larger(most, magnitude);
    fewest = smaller(fewest, magnitude - 1);
  }
  largest[item] = most;
  least[item] = fewest;
  for (int halving = 1; halving <= HALVINGS; halving++) {
    const int step = each >> halving;
    TSL_BARRIER();
    if (worker < step) {
      largest[item] = larger(largest[item], largest[item + step * next]);
      least[item] = smaller(least[item], least[item + step * next]);
    }
  }
  if (worker == 0 && is_there)
    ((TSL_GLOBAL int *)(scratch + args.scales[operand]))[number] =
        slices_scale(largest[item], least[item] + 1);
}

TSL_KERNEL(TSL_SLICES_GROUP_ITEMS, 1, 1)
tsl_gemm_slices_cut(TSL_GLOBAL const unsigned *from, TSL_GLOBAL unsigned char *scratch,
                    const slices_arguments args, const int operand) {
  const slices_matrix matrix = args.operands[operand];
  const int lines = matrix.is_across ? TSL_SLICES_CONVERT_ACROSS : 1, chunks = args.depth / NUMBERS;
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), line = index / lines / chunks * lines + index % lines;
  const int h = (int)(index / lines % chunks) * NUMBERS;
  if (line >= (operand ? args.n : args.m))
    return;
  const int scale = ((TSL_GLOBAL const int *)(scratch + args.scales[operand]))[line],
            is_native = scale == TSL_SLICES_NATIVE;
  unsigned word[TSL_SLICES][NUMBERS / 2];
  TSL_UNROLL
  for (int i = 0; i < NUMBERS; i++) {
    unsigned slice[TSL_SLICES], bits = 0;
    if (!is_native && h + i < args.k)
      bits = from[matrix.offset + line * matrix.across + (h + i) * matrix.along];
    slices_cut(bits, is_native ? 0 : scale, slice);
    TSL_UNROLL
    for (int s = 0; s < TSL_SLICES; s++)
      word[s][i / 2] = i % 2 == 0 ? slice[s] & 0xffff : word[s][i / 2] | slice[s] << 16;
  }
  TSL_GLOBAL unsigned char *to = scratch + args.planes[operand] + (line * args.depth + h) * 2;
  TSL_UNROLL
  for (int s = 0; s < TSL_SLICES; s++)
    if (s < args.slices) {
      TSL_VECTOR(int, 4) out;
      TSL_LANE(out, 0) = (int)word[s][0];
      TSL_LANE(out, 1) = (int)word[s][1];
      TSL_LANE(out, 2) = (int)word[s][2];
      TSL_LANE(out, 3) = (int)word[s][3];
      TSL_STORE_WHOLE(int, 4, (TSL_GLOBAL int *)(to + s * args.plane[operand]), out);
    }
}

TSL_KERNEL(TSL_SLICES_GROUP_ITEMS, 1, 1)
tsl_gemm_slices_join(TSL_GLOBAL const float *a, TSL_GLOBAL const float *b, TSL_GLOBAL float *c,
                     TSL_GLOBAL const unsigned char *scratch, const slices_arguments args) {
  const TSL_INDEX index = TSL_GLOBAL_ITEM(0), row = index / args.n, col = index % args.n;
  if (row >= args.m)
    return;
  TSL_GLOBAL float *to = c + args.c_offset + row * args.c_row + col * args.c_col;
  float sum = 0;
  if (!args.is_empty) {
    const int down = ((TSL_GLOBAL const int *)(scratch + args.scales[0]))[row],
              right = ((TSL_GLOBAL const int *)(scratch + args.scales[1]))[col];
    if (down != TSL_SLICES_NATIVE && right != TSL_SLICES_NATIVE) {
      sum = slices_unscaled(((TSL_GLOBAL const float *)(scratch + args.sums))[row * args.sums_row + col],
                            down + right);
    } else {
      TSL_GLOBAL const float *left = a + args.operands[0].offset + row * args.operands[0].across,
                             *above = b + args.operands[1].offset + col * args.operands[1].across;
      for (int h = 0; h < args.k; h++)
        sum = TSL_FMA(left[h * args.operands[0].along], above[h * args.operands[1].along], sum);
    }
    sum *= args.alpha;
  }
  *to = args.beta != 0 ? TSL_FMA(args.beta, *to, sum) : sum;
}
