/* Arithmetic of halves, shared by host and kernels. The including file defines TSL_FUNCTION. A line is a row
 * of A or a column of B. All its numbers are multiplied by 2^scale and rounded to f16. The scale is guessed
 * from a sample, whose largest number is then below 2^SAMPLE_TOP. Rounding a number of at least 2^-14 has an
 * error of at most 2^-11 of it; a smaller number is tiny and has an error of up to 2^-25. The total bound
 * follows from the means of lines' exponents (docs/lab/halves.md). */
#ifndef TSL_HALVES_SHARED_H
#define TSL_HALVES_SHARED_H

#define TSL_HALVES_TOP 15        /* a number of at least 2^TOP makes its line native */
#define TSL_HALVES_SAMPLE_TOP 11 /* samples are scaled below 2^SAMPLE_TOP */
#define TSL_HALVES_LEAST (-14)   /* numbers below 2^LEAST are tiny */
#define TSL_HALVES_ITEMS 256     /* items of a group that guesses or rounds */
#define TSL_HALVES_GROUP_ITEMS 64
#define TSL_HALVES_SAMPLE 64
#define TSL_HALVES_CHUNK 16
#define TSL_HALVES_GUESS_ALONG 8   /* lines of a group that guesses, K-major operands */
#define TSL_HALVES_GUESS_ACROSS 32 /* lines of a group that guesses, MN-major operands */
#define TSL_HALVES_FOUR 4     /* adjacent numbers that an item rounds, or elements of C that it computes */
#define TSL_HALVES_ACROSS 128 /* lines of a group that rounds, MN-major operands */
#define TSL_HALVES_DEPTH 128
#define TSL_HALVES_COLUMNS (TSL_HALVES_GROUP_ITEMS * TSL_HALVES_FOUR) /* of a group that computes C */

#define TSL_HALVES_NATIVE 0x40000000 /* state of a line that is multiplied in f32 */
/* Fields of a state: the scale and two fields of six bits. First: mean exponent, rounded down, plus
 * MEAN_BIAS; 0 with zeros. Second: sum of means that two lines need, plus NEED_BIAS; 0 if no number is
 * tiny. */
#define TSL_HALVES_FIELD 64
#define TSL_HALVES_MEAN_BIAS 45
#define TSL_HALVES_NEED_BIAS 30
#define TSL_HALVES_TILE 64 /* side of a tile of C that is computed in f32, if an element has no proof */

#ifdef __OPENCL_C_VERSION__
typedef long halves_index;
#else
typedef long long halves_index;
#endif

typedef struct halves_matrix {
  halves_index offset, across, along; /* strides in elements: between lines, and along a line */
  int is_across; /* numbers of different lines are contiguous, also in the rounded copy */
  int is_wide;   /* groups of four numbers are aligned to 16 bytes */
} halves_matrix;

/* Counts of a line: sum of exponents' fields; small numbers; zeros, plus OVER for each item's overflow. */
#define TSL_HALVES_COUNTS 3
#define TSL_HALVES_OVER (1 << 20)
/* Arguments of the kernels. Arrays have A's value, B's. */
typedef struct halves_arguments {
  halves_matrix operands[2];
  halves_index c_offset, c_row, c_col;
  halves_index planes[2], pitch[2]; /* byte of scratch of the dense f16 numbers; numbers between their rows */
  /* bytes of scratch: guessed scales; counts of each line and chunk; states of lines; f32 sums of C */
  halves_index scales[2], counts[2], states[2], sums;
  halves_index sums_row; /* sums between rows */
  float alpha, beta;
  int m, n, k;
  int chunks[2], blocks[2]; /* parts of k that are counted alone; groups that guess */
  int is_empty;             /* no products: C = beta C */
  int c_is_wide;            /* groups of four elements of C are aligned to 16 bytes */
} halves_arguments;

/* Returns the exponent e of a magnitude between 2^e and 2^(e+1), from its bits, which must not be 0. */
TSL_FUNCTION int halves_exponent(unsigned magnitude) {
  int length = 0;
  if (magnitude >> 23 != 0)
    return (int)(magnitude >> 23) - 127;
  for (int step = 16; step > 0; step /= 2)
    if (magnitude >> (length + step) != 0)
      length += step;
  return length - 149;
}

/* Returns the position of number i of a line's sample. */
TSL_FUNCTION int halves_sample_at(int k, int i) {
  const int chunks = TSL_HALVES_SAMPLE / TSL_HALVES_CHUNK;
  return k < TSL_HALVES_SAMPLE ? i : i / TSL_HALVES_CHUNK * (k / chunks) + i % TSL_HALVES_CHUNK;
}

/* Returns a line's scale from the largest magnitude of its sample; 2^scale is a normal number. */
TSL_FUNCTION int halves_scale(unsigned largest) {
  const int scale =
      largest == 0 || largest >= 0x7f800000u ? 0 : TSL_HALVES_SAMPLE_TOP - 1 - halves_exponent(largest);
  return scale < 126 ? scale : 126;
}

/* Returns the bits of the smallest normal magnitude that is at least 2^exponent after scaling. */
TSL_FUNCTION unsigned halves_from(int exponent, int scale) {
  const int field = exponent - scale + 127;
  return (unsigned)(field < 1 ? 1 : field) << 23;
}

/* Returns the bits of the f16 nearest to magnitude 2^scale, ties to even; *exponent: its exponent. */
TSL_FUNCTION unsigned halves_rounded(unsigned magnitude, int scale, int *exponent) {
  const int exponent_before = halves_exponent(magnitude), e = exponent_before + scale;
  unsigned places =
      magnitude >> 23 != 0 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude << (-126 - exponent_before);
  *exponent = e;
  if (magnitude == 0 || e < TSL_HALVES_LEAST - 12)
    return 0;
  if (e >= TSL_HALVES_TOP)
    return 0x7800u; /* the line is native: the value is not used */
  const int down = e < TSL_HALVES_LEAST ? 13 + TSL_HALVES_LEAST - e : 13;
  places = (places + (1u << (down - 1)) - 1 + (places >> down & 1)) >> down;
  return e < TSL_HALVES_LEAST ? places : places + ((unsigned)(e - TSL_HALVES_LEAST) << 10);
}

/* Returns a line's state from its counts; `small` includes zeros. Fields give the mean exponent without
 * zeros. If t of k numbers are tiny, 2^(both means) must be at least t / k 2^12. */
TSL_FUNCTION int halves_state(int scale, halves_index fields, int small, int zeros, int is_over, int k) {
  const int tiny = small - zeros;
  int mean = 0, need = 0;
  if (is_over)
    return TSL_HALVES_NATIVE;
  if (zeros == 0) {
    const halves_index all = fields + (halves_index)(scale - 127 + TSL_HALVES_MEAN_BIAS) * k;
    mean = all < k ? 0 : (int)(all / k);
  }
  if (tiny > 0) {
    int parts = 0; /* k / t in powers of two, rounded down */
    while (tiny <= k >> (parts + 1))
      parts++;
    need = 12 - parts + TSL_HALVES_NEED_BIAS;
  }
  return (scale * TSL_HALVES_FIELD + mean) * TSL_HALVES_FIELD + need;
}

/* Returns 1 if an element of C has no proof and must be computed in f32. */
TSL_FUNCTION int halves_is_native(int row, int column) {
  const int last = TSL_HALVES_FIELD - 1, row_need = row & last, column_need = column & last,
            need = row_need > column_need ? row_need : column_need;
  const int row_mean = row >> 6 & last, column_mean = column >> 6 & last;
  if (row == TSL_HALVES_NATIVE || column == TSL_HALVES_NATIVE)
    return 1;
  return need != 0 && (row_mean == 0 || column_mean == 0 ||
                       row_mean + column_mean - 2 * TSL_HALVES_MEAN_BIAS < need - TSL_HALVES_NEED_BIAS);
}

TSL_FUNCTION int halves_scale_of(int state) {
  return state >> 12;
}

#endif
