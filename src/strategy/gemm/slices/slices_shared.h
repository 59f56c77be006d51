/* The arithmetic of slices, for the host and for kernels: one text, of integers and of single exact
 * operations on floats. The includer defines TSL_FUNCTION, and of a float TSL_AS_INT(x) and TSL_AS_FLOAT(i),
 * its bits.
 *
 * A line is a row of A or a column of B, all of whose numbers are multiplied by 2^scale: its largest is then
 * from 2^54 on and below 2^55, and what is not 0 is at least 2^-40 (else the line is native). So slices are
 * multiples of 2^-63, products of two of them multiples of 2^-126, and sums of 65536 below 2^127: nothing on
 * the way overflows or becomes subnormal. */
#ifndef TSL_SLICES_SHARED_H
#define TSL_SLICES_SHARED_H

#define TSL_SLICES 3         /* of a number, at most */
#define TSL_SLICES_TOP 55    /* lines are below 2^TOP */
#define TSL_SLICES_SPREAD 94 /* from the exponent of a line's least number to its largest's, at most */
#define TSL_SLICES_NATIVE 0x40000000 /* in place of a scale: the line is multiplied as it is */
#define TSL_SLICES_ITEMS 256         /* of a group that measures */
#define TSL_SLICES_LINES_ALONG 2     /* of such a group, where a line's numbers follow each other; */
#define TSL_SLICES_LINES_ACROSS 32   /* where those of different lines do */
#define TSL_SLICES_GROUP_ITEMS 64    /* of all other groups */
#define TSL_SLICES_NUMBERS 8         /* of a line that an item cuts */
#define TSL_SLICES_CONVERT_ACROSS 16 /* lines whose numbers neighbours cut, where those follow each other */

#ifdef __OPENCL_C_VERSION__
typedef long slices_index;
#else
typedef long long slices_index;
#endif

typedef struct slices_matrix {
  slices_index offset, across, along; /* elements; from line to line, and in a line */
  int is_across;                      /* numbers of different lines follow each other */
} slices_matrix;

/* What kernels are told. Offsets into scratch memory are bytes: slice s of operand o is a plane of plane[o]
 * bytes, a line of `depth` bf16 numbers after the other, zeros behind the k-th; lines' scales are ints; sums
 * are f32, sums_row of them a row. */
typedef struct slices_arguments {
  slices_matrix of[2];
  slices_index c_offset, c_row, c_col;
  slices_index planes[2], plane[2], scales[2], sums, sums_row;
  float alpha, beta;
  int m, n, k, depth, slices;
  int blocks[2]; /* groups that measure lines of A, of B */
  int is_empty;  /* there are no products */
} slices_arguments;

/* The least exponent with magnitude < 2^exponent, of the bits of a number that is finite and not 0. */
TSL_FUNCTION int slices_exponent(unsigned magnitude) {
  int length = 0;
  if (magnitude >> 23 != 0)
    return (int)(magnitude >> 23) - 126;
  for (int step = 16; step > 0; step /= 2)
    if (magnitude >> (length + step) != 0)
      length += step;
  return length + 1 - 149;
}

/* A line's, by the magnitudes of its largest number and of its least that is not 0; any where all are 0. */
TSL_FUNCTION int slices_scale(unsigned largest, unsigned least) {
  if (largest == 0)
    return 0;
  if (largest >= 0x7f800000u || slices_exponent(largest) - slices_exponent(least) > TSL_SLICES_SPREAD)
    return TSL_SLICES_NATIVE;
  return TSL_SLICES_TOP - slices_exponent(largest);
}

/* The bits of a number times 2^scale, where that is normal: by its exponent, since some devices take
 * subnormal numbers for 0. */
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

/* The bits of bf16 nearest to a number's, halves to even. */
TSL_FUNCTION unsigned slices_rounded(unsigned bits) {
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

/* A number in slices, the largest first: each is nearest to what the ones before leave, and after three
 * nothing is left, since a number has 24 bits and a slice 8. */
TSL_FUNCTION void slices_cut(unsigned bits, int scale, unsigned slice[TSL_SLICES]) {
  float left = TSL_AS_FLOAT((int)slices_scaled(bits, scale));
  for (int i = 0; i < TSL_SLICES; i++) {
    slice[i] = slices_rounded((unsigned)TSL_AS_INT(left));
    left -= TSL_AS_FLOAT((int)(slice[i] << 16));
  }
}

/* x 2^-scale, rounded once where that is normal. */
TSL_FUNCTION float slices_unscaled(float x, int scale) {
  for (; scale > 126; scale -= 126)
    x *= TSL_AS_FLOAT(1 << 23);
  for (; scale < -126; scale += 126)
    x *= TSL_AS_FLOAT(253 << 23);
  return x * TSL_AS_FLOAT((127 - scale) << 23);
}

#endif
