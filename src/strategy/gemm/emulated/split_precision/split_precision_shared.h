/* Arithmetic of split_precision, shared by host and kernels: integers and single exact operations on floats.
 * The including file defines TSL_FUNCTION, and TSL_AS_INT(x) and TSL_AS_FLOAT(i), which convert a float to
 * its bits and back. A line is a row of A or a column of B. All its numbers are multiplied by 2^scale.
 *
 * f16: the scale is guessed from a sample, whose largest number is then below 2^SAMPLE_TOP. Rounding a number
 * of at least 2^-14 has an error of at most 2^-11 of it; a smaller number is tiny and has an error of up to
 * 2^-25. The total bound follows from the means of lines' exponents (docs/lab/split_precision.md).
 *
 * bf16: the largest number is between 2^54 and 2^55, and a number other than 0 is at least 2^-40; otherwise
 * the line is native. So parts are multiples of 2^-63, products of two parts multiples of 2^-126, and sums of
 * 65536 products below 2^127. Nothing overflows or becomes subnormal. */
#ifndef TSL_SPLIT_PRECISION_SHARED_H
#define TSL_SPLIT_PRECISION_SHARED_H

#define TSL_SPLIT_TOP 15        /* f16: a number of at least 2^TOP makes its line native */
#define TSL_SPLIT_SAMPLE_TOP 11 /* samples are scaled below 2^SAMPLE_TOP */
#define TSL_SPLIT_LEAST (-14)   /* numbers below 2^LEAST are tiny */
#define TSL_SPLIT_SAMPLE 64
#define TSL_SPLIT_CHUNK 16
#define TSL_SPLIT_PARTS 3     /* bf16: maximum parts of a number */
#define TSL_SPLIT_BF16_TOP 55 /* lines are scaled below 2^BF16_TOP */
#define TSL_SPLIT_SPREAD 94   /* maximum difference of the exponents of a line's numbers */
#define TSL_SPLIT_ITEMS 256   /* items of a group that measures or rounds */
#define TSL_SPLIT_GROUP_ITEMS 64
#define TSL_SPLIT_GUESS_ALONG 8   /* lines of a group that guesses, K-major operands */
#define TSL_SPLIT_GUESS_ACROSS 32 /* MN-major operands */
#define TSL_SPLIT_MEASURE_ALONG 2 /* lines of a group that measures, K-major operands */
#define TSL_SPLIT_MEASURE_ACROSS 32
#define TSL_SPLIT_FOUR 4     /* adjacent numbers that an item rounds, or elements of C that it computes */
#define TSL_SPLIT_ACROSS 128 /* lines of a group that rounds, MN-major operands */
#define TSL_SPLIT_DEPTH 128
#define TSL_SPLIT_NUMBERS 8     /* numbers of a line that an item cuts */
#define TSL_SPLIT_CUT_ACROSS 16 /* lines that adjacent items cut, MN-major operands */
#define TSL_SPLIT_COLUMNS (TSL_SPLIT_GROUP_ITEMS * TSL_SPLIT_FOUR) /* of a group that computes C */
#define TSL_SPLIT_TILE 64 /* side of a tile of C that is computed in f32, if an element has no proof */

#define TSL_SPLIT_NATIVE 0x40000000 /* state of a line that is multiplied in f32; bf16: also its scale */
/* Fields of a state: the scale, six bits, two bits, six bits. First: mean exponent, rounded down, plus
 * MEAN_BIAS, in which a zero counts as -ZERO_LOSS; 0: there is no proof. Second: none, FEW or MANY zeros.
 * Third: sum of means that two lines need, plus NEED_BIAS; 0 if no number is tiny. */
#define TSL_SPLIT_FIELD 64
#define TSL_SPLIT_CLASS 4
#define TSL_SPLIT_FEW 1  /* zeros are at most a quarter of a line: of two such lines at least half is left */
#define TSL_SPLIT_MANY 2 /* at most five eighths: with a line of FEW at least an eighth is left */
#define TSL_SPLIT_ZERO_LOSS (TSL_SPLIT_TOP - 1) /* largest exponent of the other line's number at a zero */
#define TSL_SPLIT_MEAN_BIAS 45
#define TSL_SPLIT_NEED_BIAS 30

#ifdef __OPENCL_C_VERSION__
typedef long split_index;
#else
typedef long long split_index;
#endif

typedef struct split_matrix {
  split_index offset, across, along; /* strides in elements: between lines, and along a line */
  int is_across;                     /* numbers of different lines are contiguous, also in the f16 copy */
  int is_wide;                       /* groups of four numbers are aligned to 16 bytes */
} split_matrix;

/* f16: counts of a line: sum of exponents' fields; small numbers; zeros, plus OVER for each item's overflow.
 */
#define TSL_SPLIT_COUNTS 3
#define TSL_SPLIT_OVER (1 << 20)
/* Arguments of the kernels. Arrays have A's value, B's. */
typedef struct split_arguments {
  split_matrix operands[2];
  split_index c_offset, c_row, c_col;
  split_index planes[2], pitch[2]; /* byte of scratch of the first part; numbers between rows of a part */
  split_index part_bytes[2];       /* bytes from part to part */
  /* bytes of scratch: states of lines; f16: guessed scales; counts of each line and chunk; f32 sums of C */
  split_index states[2], scales[2], counts[2], sums;
  split_index sums_row; /* sums between rows */
  float alpha, beta;
  int m, n, k, depth, parts; /* depth: k, rounded up; zeros follow the k-th number */
  int chunks[2], blocks[2];  /* parts of k that are counted alone; groups that measure */
  int is_empty;              /* no products: C = beta C */
  int c_is_wide;             /* groups of four elements of C are aligned to 16 bytes */
} split_arguments;

/* Returns the exponent e of a magnitude between 2^e and 2^(e+1), from its bits, which must not be 0. */
TSL_FUNCTION int split_exponent(unsigned magnitude) {
  int length = 0;
  if (magnitude >> 23 != 0)
    return (int)(magnitude >> 23) - 127;
  for (int step = 16; step > 0; step /= 2)
    if (magnitude >> (length + step) != 0)
      length += step;
  return length - 149;
}

TSL_FUNCTION int split_state(int scale, int mean, int zeros_class, int need) {
  return scale == TSL_SPLIT_NATIVE
             ? scale
             : ((scale * TSL_SPLIT_FIELD + mean) * TSL_SPLIT_CLASS + zeros_class) * TSL_SPLIT_FIELD + need;
}

/* Returns the position of number i of a line's sample. */
TSL_FUNCTION int split_sample_at(int k, int i) {
  const int chunks = TSL_SPLIT_SAMPLE / TSL_SPLIT_CHUNK;
  return k < TSL_SPLIT_SAMPLE ? i : i / TSL_SPLIT_CHUNK * (k / chunks) + i % TSL_SPLIT_CHUNK;
}

/* Returns a line's f16 scale from the largest magnitude of its sample; 2^scale is a normal number. */
TSL_FUNCTION int split_f16_scale(unsigned largest) {
  const int scale =
      largest == 0 || largest >= 0x7f800000u ? 0 : TSL_SPLIT_SAMPLE_TOP - 1 - split_exponent(largest);
  return scale < 126 ? scale : 126;
}

/* Returns the bits of the smallest normal magnitude that is at least 2^exponent after scaling. */
TSL_FUNCTION unsigned split_f16_from(int exponent, int scale) {
  const int field = exponent - scale + 127;
  return (unsigned)(field < 1 ? 1 : field) << 23;
}

/* Returns the bits of the f16 nearest to magnitude 2^scale, ties to even; *exponent: its exponent. */
TSL_FUNCTION unsigned split_f16_rounded(unsigned magnitude, int scale, int *exponent) {
  const int exponent_before = split_exponent(magnitude), e = exponent_before + scale;
  unsigned places =
      magnitude >> 23 != 0 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude << (-126 - exponent_before);
  *exponent = e;
  if (magnitude == 0 || e < TSL_SPLIT_LEAST - 12)
    return 0;
  if (e >= TSL_SPLIT_TOP)
    return 0x7800u; /* the line is native: the value is not used */
  const int down = e < TSL_SPLIT_LEAST ? 13 + TSL_SPLIT_LEAST - e : 13;
  places = (places + (1u << (down - 1)) - 1 + (places >> down & 1)) >> down;
  return e < TSL_SPLIT_LEAST ? places : places + ((unsigned)(e - TSL_SPLIT_LEAST) << 10);
}

/* Returns a line's f16 state from its counts; `small` includes zeros. If t of k numbers are tiny, 2^(both
 * means) must be at least t / k 2^12, and more for the terms that zeros take away. */
TSL_FUNCTION int split_f16_state(int scale, split_index fields, int small, int zeros, int is_over, int k) {
  const int tiny = small - zeros,
            zeros_class = zeros == 0       ? 0
                          : zeros <= k / 4 ? TSL_SPLIT_FEW
                                           : TSL_SPLIT_MANY,
            lost = zeros_class == TSL_SPLIT_MANY ? 3 : zeros_class;
  int mean = 0, need = 0;
  if (is_over)
    return TSL_SPLIT_NATIVE;
  if (zeros <= (split_index)k * 5 / 8) {
    /* A zero was counted with the field of the smallest number. */
    const split_index all = fields + (split_index)(scale - 127 + TSL_SPLIT_MEAN_BIAS) * k +
                            (split_index)(22 + 127 - scale - TSL_SPLIT_ZERO_LOSS) * zeros;
    mean = all < (split_index)(1 + lost) * k ? 0 : (int)(all / k) - lost;
  }
  if (tiny > 0) {
    int parts = 0; /* k / t in powers of two, rounded down */
    while (tiny <= k >> (parts + 1))
      parts++;
    need = 12 - parts + TSL_SPLIT_NEED_BIAS;
  }
  return split_state(scale, mean, zeros_class, need);
}

/* Returns 1 if an element of C has no proof and must be computed in f32. */
TSL_FUNCTION int split_is_native(int row, int column) {
  const int last = TSL_SPLIT_FIELD - 1, row_need = row & last, column_need = column & last;
  const int row_class = row >> 6 & (TSL_SPLIT_CLASS - 1), column_class = column >> 6 & (TSL_SPLIT_CLASS - 1);
  const int row_mean = row >> 8 & last, column_mean = column >> 8 & last;
  int need = row_need > column_need ? row_need : column_need;
  if (row == TSL_SPLIT_NATIVE || column == TSL_SPLIT_NATIVE)
    return 1;
  if (need == 0)
    return 0;
  if (row_mean == 0 || column_mean == 0 || row_class + column_class > TSL_SPLIT_FEW + TSL_SPLIT_MANY)
    return 1;
  /* With zeros the mean of the terms that are left is larger only if it is at least 0. */
  if (row_class + column_class > 0 && need < TSL_SPLIT_NEED_BIAS)
    need = TSL_SPLIT_NEED_BIAS;
  return row_mean + column_mean - 2 * TSL_SPLIT_MEAN_BIAS < need - TSL_SPLIT_NEED_BIAS;
}

TSL_FUNCTION int split_scale_of(int state) {
  return state >> 14;
}

/* Returns a line's bf16 scale from its largest magnitude and its smallest one other than 0; 0 if all are 0.
 */
TSL_FUNCTION int split_bf16_scale(unsigned largest, unsigned least) {
  if (largest == 0)
    return 0;
  if (largest >= 0x7f800000u || split_exponent(largest) - split_exponent(least) > TSL_SPLIT_SPREAD)
    return TSL_SPLIT_NATIVE;
  return TSL_SPLIT_BF16_TOP - 1 - split_exponent(largest);
}

/* Returns the bits of a number times 2^scale, if normal. Uses integers: devices may flush subnormals. */
TSL_FUNCTION unsigned split_scaled(unsigned bits, int scale) {
  const unsigned sign = bits & 0x80000000u;
  unsigned magnitude = bits & 0x7fffffffu;
  int field = (int)(magnitude >> 23);
  if (magnitude == 0)
    return sign;
  if (field == 0) {
    const int up = 23 - (split_exponent(magnitude) + 149);
    magnitude <<= up;
    field = 1 - up;
  }
  return sign | (unsigned)(field + scale) << 23 | (magnitude & 0x7fffffu);
}

/* Returns the bits of the nearest bf16, ties to even. */
TSL_FUNCTION unsigned split_bf16_rounded(unsigned bits) {
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

/* Cuts a number into bf16 parts, the largest first. Each is the bf16 nearest to the remainder; after three
 * nothing is left, because a number has 24 bits and a part 8. */
TSL_FUNCTION void split_cut(unsigned bits, int scale, unsigned part[TSL_SPLIT_PARTS]) {
  float left = TSL_AS_FLOAT((int)split_scaled(bits, scale));
  for (int i = 0; i < TSL_SPLIT_PARTS; i++) {
    part[i] = split_bf16_rounded((unsigned)TSL_AS_INT(left));
    left -= TSL_AS_FLOAT((int)(part[i] << 16));
  }
}

/* Returns x 2^-scale, rounded once if the result is normal. */
TSL_FUNCTION float split_unscaled(float x, int scale) {
  for (; scale > 126; scale -= 126)
    x *= TSL_AS_FLOAT(1 << 23);
  for (; scale < -126; scale += 126)
    x *= TSL_AS_FLOAT(253 << 23);
  return x * TSL_AS_FLOAT((127 - scale) << 23);
}

#endif
