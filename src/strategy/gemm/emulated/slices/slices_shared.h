/* Arithmetic of slices: integers and single exact operations on floats. The including file defines
 * TSL_FUNCTION, and TSL_AS_INT(x) and TSL_AS_FLOAT(i), which convert a float to its bits and back.
 * A line is a row of A or a column of B. All its numbers are multiplied by 2^scale: the largest is then
 * between 2^54 and 2^55, and a number other than 0 is at least 2^-40; otherwise the line is native. So slices
 * are multiples of 2^-63, products of two slices multiples of 2^-126, and sums of 65536 products below 2^127.
 * Nothing overflows or becomes subnormal. */
#ifndef TSL_SLICES_SHARED_H
#define TSL_SLICES_SHARED_H

#define TSL_SLICES 3                 /* maximum slices of a number */
#define TSL_SLICES_TOP 55            /* lines are scaled below 2^TOP */
#define TSL_SLICES_SPREAD 94         /* maximum difference of the exponents of a line's numbers */
#define TSL_SLICES_NATIVE 0x40000000 /* scale of a line that is multiplied in f32 */
#define TSL_SLICES_ITEMS 256
#define TSL_SLICES_LINES_ALONG 2   /* lines of a group that measures, K-major operands */
#define TSL_SLICES_LINES_ACROSS 32 /* lines of a group that measures, MN-major operands */
#define TSL_SLICES_GROUP_ITEMS 64
#define TSL_SLICES_NUMBERS 8
#define TSL_SLICES_CONVERT_ACROSS 16 /* lines that adjacent items cut, MN-major operands */

#ifdef __OPENCL_C_VERSION__
typedef long slices_index;
#else
typedef long long slices_index;
#endif

typedef struct slices_matrix {
  slices_index offset, across, along; /* strides in elements: between lines, and along a line */
  int is_across;                      /* numbers of different lines are contiguous */
} slices_matrix;

/* Offsets into scratch memory are bytes. Slice s of operand o is plane[o] bytes: lines of `depth` bf16
 * numbers, zeros after the k-th. Scales of lines are ints; sums are f32 in rows of sums_row. */
typedef struct slices_arguments {
  slices_matrix operands[2];
  slices_index c_offset, c_row, c_col;
  slices_index planes[2], plane[2], scales[2], sums, sums_row;
  float alpha, beta;
  int m, n, k, depth, slices;
  int blocks[2]; /* groups that measure lines of A, of B */
  int is_empty;
} slices_arguments;

/* Returns the smallest exponent with magnitude < 2^exponent, from the bits of a finite nonzero number. */
TSL_FUNCTION int slices_exponent(unsigned magnitude) {
  int length = 0;
  if (magnitude >> 23 != 0)
    return (int)(magnitude >> 23) - 126;
  for (int step = 16; step > 0; step /= 2)
    if (magnitude >> (length + step) != 0)
      length += step;
  return length + 1 - 149;
}

/* Returns a line's scale from its largest magnitude and its smallest one other than 0; 0 if all are 0. */
TSL_FUNCTION int slices_scale(unsigned largest, unsigned least) {
  if (largest == 0)
    return 0;
  if (largest >= 0x7f800000u || slices_exponent(largest) - slices_exponent(least) > TSL_SLICES_SPREAD)
    return TSL_SLICES_NATIVE;
  return TSL_SLICES_TOP - slices_exponent(largest);
}

/* Returns the bits of a number times 2^scale, if normal. Uses integers: devices may flush subnormals. */
TSL_FUNCTION unsigned slices_scaled(unsigned bits, int scale) {
  const unsigned sign = bits & 0x80000000u;
  unsigned magnitude = bits & 0x7fffffffu;
  int field = (int)(magnitude >> 23);
  if (magnitude == 0)
    return sign;
  if (field == 0) {
    const int up = 24 - (slices_exponent(magnitude) + 149);
    magnitude <<= up;
    field = 1 - up;
  }
  return sign | (unsigned)(field + scale) << 23 | (magnitude & 0x7fffffu);
}

/* Returns the bits of the nearest bf16, ties to even. */
TSL_FUNCTION unsigned slices_rounded(unsigned bits) {
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

/* Cuts a number into slices, the largest first. Each is the bf16 nearest to the remainder; after three
 * nothing is left, because a number has 24 bits and a slice 8. */
TSL_FUNCTION void slices_cut(unsigned bits, int scale, unsigned slice[TSL_SLICES]) {
  float left = TSL_AS_FLOAT((int)slices_scaled(bits, scale));
  for (int i = 0; i < TSL_SLICES; i++) {
    slice[i] = slices_rounded((unsigned)TSL_AS_INT(left));
    left -= TSL_AS_FLOAT((int)(slice[i] << 16));
  }
}

/* Returns x 2^-scale, rounded once if the result is normal. */
TSL_FUNCTION float slices_unscaled(float x, int scale) {
  for (; scale > 126; scale -= 126)
    x *= TSL_AS_FLOAT(1 << 23);
  for (; scale < -126; scale += 126)
    x *= TSL_AS_FLOAT(253 << 23);
  return x * TSL_AS_FLOAT((127 - scale) << 23);
}

#endif
