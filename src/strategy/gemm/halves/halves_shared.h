/* The arithmetic of halves, for the host and for kernels. The includer defines TSL_FUNCTION.
 *
 * A line is a row of A or a column of B, all of whose numbers are multiplied by 2^scale and rounded to f16.
 * Its scale is guessed from a sample, whose largest is below 2^SAMPLE_TOP then. What is rounded from 2^-14 on
 * errs by 2^-11 of itself at most; below that a number is tiny, and errs by 2^-25. docs/lab/halves.md proves
 * what that is worth, by the means of lines' exponents. */
#ifndef TSL_HALVES_SHARED_H
#define TSL_HALVES_SHARED_H

#define TSL_HALVES_TOP 15         /* what is not below 2^TOP makes its line native */
#define TSL_HALVES_SAMPLE_TOP 11  /* what the sample is below */
#define TSL_HALVES_LEAST (-14)    /* what is below 2^LEAST is tiny */
#define TSL_HALVES_ITEMS 256      /* of a group that guesses, and of one that rounds */
#define TSL_HALVES_GROUP_ITEMS 64 /* of all other groups */
#define TSL_HALVES_SAMPLE 64      /* numbers that a line is guessed from, */
#define TSL_HALVES_CHUNK 16       /* so many neighbours each */
#define TSL_HALVES_GUESS_ALONG                                                                               \
  8 /* lines of a group that guesses, where a line's numbers follow each other; */
#define TSL_HALVES_GUESS_ACROSS 32 /* where those of different lines do */
#define TSL_HALVES_FOUR 4 /* neighbours in memory that an item rounds, and in a row of C that it makes */
#define TSL_HALVES_ACROSS                                                                                    \
  128 /* lines of a group that rounds, where those of different lines follow each other, */
#define TSL_HALVES_DEPTH 128                                          /* and numbers of each */
#define TSL_HALVES_COLUMNS (TSL_HALVES_GROUP_ITEMS * TSL_HALVES_FOUR) /* of a group that makes C */

/* In place of a line's state: it is multiplied as it is. */
#define TSL_HALVES_NATIVE 0x40000000
/* Else a state is a scale and two fields of six bits. The mean of its exponents, where nothing is 0, cut off
 * and MEAN_BIAS more; or 0. And, where some numbers are tiny, what its mean and that of a line of the other
 * operand must come to together, NEED_BIAS more; or 0. */
#define TSL_HALVES_FIELD 64
#define TSL_HALVES_MEAN_BIAS 45
#define TSL_HALVES_NEED_BIAS 30
#define TSL_HALVES_TILE                                                                                      \
  64 /* side of a tile of C that is multiplied as it is, where an element of it has no proof */

#ifdef __OPENCL_C_VERSION__
typedef long halves_index;
#else
typedef long long halves_index;
#endif

typedef struct halves_matrix {
  halves_index offset, across, along; /* elements; from line to line, and in a line */
  int is_across; /* numbers of different lines follow each other, in what is rounded, too */
  int is_wide;   /* fours of neighbours are aligned to 16 bytes */
} halves_matrix;

/* What kernels are told. Offsets into scratch memory are bytes. Of operand o: f16 numbers, as they lie in the
 * operand but dense, `pitch` numbers from one row of memory to the next; scales that are guessed; what is
 * counted of each line in each of `chunks` parts of k (HALVES_COUNTS ints); states of lines. Sums are f32,
 * sums_row of them a row. */
/* What is counted: the sum of exponents' fields; small numbers; zeros, and OVER for each item that saw a
 * number too large. */
#define TSL_HALVES_COUNTS 3
#define TSL_HALVES_OVER (1 << 20)
typedef struct halves_arguments {
  halves_matrix of[2];
  halves_index c_offset, c_row, c_col;
  halves_index planes[2], pitch[2], scales[2], counts[2], states[2], sums, sums_row;
  float alpha, beta;
  int m, n, k;
  int chunks[2], blocks[2]; /* blocks: groups that guess lines of A, of B */
  int is_empty;             /* there are no products */
  int c_is_wide;            /* fours of neighbours in C are aligned to 16 bytes */
} halves_arguments;

/* The exponent e of a number of magnitude from 2^e to 2^(e+1), by its bits: of one that is not 0. */
TSL_FUNCTION int halves_exponent(unsigned magnitude) {
  int length = 0;
  if (magnitude >> 23 != 0)
    return (int)(magnitude >> 23) - 127;
  for (int step = 16; step > 0; step /= 2)
    if (magnitude >> (length + step) != 0)
      length += step;
  return length - 149;
}

/* Where a line's sample lies. */
TSL_FUNCTION int halves_sample_at(int k, int i) {
  const int chunks = TSL_HALVES_SAMPLE / TSL_HALVES_CHUNK;
  return k < TSL_HALVES_SAMPLE ? i : i / TSL_HALVES_CHUNK * (k / chunks) + i % TSL_HALVES_CHUNK;
}

/* A line's scale, by the largest magnitude of its sample: such that 2^scale is normal. */
TSL_FUNCTION int halves_scale(unsigned largest) {
  const int scale =
      largest == 0 || largest >= 0x7f800000u ? 0 : TSL_HALVES_SAMPLE_TOP - 1 - halves_exponent(largest);
  return scale < 126 ? scale : 126;
}

/* The bits of the magnitude from which on numbers are at least 2^exponent when they are scaled; or of the
 * smallest normal one. */
TSL_FUNCTION unsigned halves_from(int exponent, int scale) {
  const int field = exponent - scale + 127;
  return (unsigned)(field < 1 ? 1 : field) << 23;
}

/* The bits of f16 nearest to magnitude 2^scale, halves to even; and the number's exponent then, of one that
 * is not 0. */
TSL_FUNCTION unsigned halves_rounded(unsigned magnitude, int scale, int *exponent) {
  const int own = halves_exponent(magnitude), e = own + scale;
  unsigned places = magnitude >> 23 != 0 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude << (-126 - own);
  *exponent = e;
  if (magnitude == 0 || e < TSL_HALVES_LEAST - 12)
    return 0;
  if (e >= TSL_HALVES_TOP)
    return 0x7800u; /* of a native line: anything */
  const int down = e < TSL_HALVES_LEAST ? 13 + TSL_HALVES_LEAST - e : 13;
  places = (places + (1u << (down - 1)) - 1 + (places >> down & 1)) >> down;
  return e < TSL_HALVES_LEAST ? places : places + ((unsigned)(e - TSL_HALVES_LEAST) << 10);
}

/* A line's state, from what was counted: numbers below 2^LEAST are small, zeros among them. The fields' sum
 * tells the mean exponent where nothing is 0. With t of k numbers tiny, 2^(both means) has to be t / k 2^12
 * at least. */
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
    int parts = 0; /* k / t, in powers of two, cut off */
    while (tiny <= k >> (parts + 1))
      parts++;
    need = 12 - parts + TSL_HALVES_NEED_BIAS;
  }
  return (scale * TSL_HALVES_FIELD + mean) * TSL_HALVES_FIELD + need;
}

/* Whether an element of C has no proof. */
TSL_FUNCTION int halves_is_native(int row, int column) {
  const int last = TSL_HALVES_FIELD - 1, row_need = row & last, column_need = column & last,
            need = row_need > column_need ? row_need : column_need;
  const int row_mean = row >> 6 & last, column_mean = column >> 6 & last;
  if (row == TSL_HALVES_NATIVE || column == TSL_HALVES_NATIVE)
    return 1;
  return need != 0 && (row_mean == 0 || column_mean == 0 ||
                       row_mean + column_mean - 2 * TSL_HALVES_MEAN_BIAS < need - TSL_HALVES_NEED_BIAS);
}

/* A state's scale. */
TSL_FUNCTION int halves_scale_of(int state) {
  return state >> 12;
}

#endif
