/* The arithmetic of residue_int8, for the host and for kernels: one text, made of integers and of single
 * operations on doubles, so that every device rounds alike. The includer defines TSL_FUNCTION ("static
 * inline", "static __device__"), and of doubles TSL_TIMES(a, b), TSL_PLUS(a, b) and TSL_FUSE(a, b, c), a b +
 * c rounded once; nothing else is fused. It may define TSL_WIDE(a, b, c), a b + c of 32-bit a and b and
 * 64-bit c, and TSL_LENGTH(x), the bits of a 64-bit x up to the highest that is set, where its compiler needs
 * to be told; and, where pointers say what memory they point to, TSL_TABLES and TSL_COUNTS: where the rules
 * are, and the counts of lines.
 *
 * A line is a row of A or a column of B. 2^e is its scale; a' = the integer nearest to 2^e a. C' = A' B' is
 * known modulo P = p_0 p_1 ..., and that is all of it where |C'| < P / 2. NOTES.md proves the bounds. */
#ifndef TSL_RESIDUE_INT8_SHARED_H
#define TSL_RESIDUE_INT8_SHARED_H

#define TSL_RESIDUE_MODULI 16    /* most that there are */
#define TSL_RESIDUE_CANDIDATES 3 /* numbers of moduli that a call chooses among */
#define TSL_RESIDUE_LEVELS 56    /* steps of half a power of two that lines are counted by */
#define TSL_RESIDUE_PART 65536   /* terms of k whose products' sum 32 bits hold, however its residues are */
#define TSL_RESIDUE_TOP 12       /* bits of an element that count for its line's norm */
#define TSL_RESIDUE_SAMPLE 256   /* elements that a line is guessed from, */
#define TSL_RESIDUE_CHUNK 32     /* so many neighbours each, as far apart as the line is long */
#define TSL_RESIDUE_ROOM 2       /* bits that its exponent is guessed above the largest of them */
#define TSL_RESIDUE_SHALLOW 7    /* moduli with which |a'| < 2^28 */
#define TSL_RESIDUE_GROUP 64     /* columns of B whose order wgmma's sums decide */
#define TSL_RESIDUE_PANEL 128    /* terms of a line that lie together in a plane (CUDA) */
#define TSL_RESIDUE_CONVERT_ACROSS 16 /* neighbours of a block that converts such ones */

#ifdef __OPENCL_C_VERSION__
typedef ulong residue_word;
typedef long residue_index;
#else
typedef unsigned long long residue_word;
typedef long long residue_index;
#endif

#ifndef TSL_TABLES
#define TSL_TABLES
#define TSL_COUNTS
#endif
#ifndef TSL_WIDE
#define TSL_WIDE(a, b, c) ((residue_word)(a) * (b) + (c))
#endif

/* --- moduli --- */

/* What makes C' of residues, for some number of moduli: C' = sum of weight_l c_l + q minus_product, modulo
 * 2^128, where q = the integer nearest to the sum of part_l c_l / 2^20, and c_l is at least 0 and below p_l.
 * Limbs have 32 bits, the lowest first. 2^half_exponent half_top is at most P (1/2 - 1/256), and what a
 * line's sum of squares may be. */
typedef struct residue_sieve {
  unsigned weight[TSL_RESIDUE_MODULI][4], part[TSL_RESIDUE_MODULI], minus_product[4];
  residue_word half_top; /* at least 2^63 */
  int half_exponent, moduli;
} residue_sieve;

/* A modulus as it is divided by: x / p = high word of x magic, / 2^7, for x up to 2^31 + 255; bias is its
 * first multiple from 2^30 on. inverse = 1 / p. 2^14, 2^28, 2^42, 2^56 modulo p, of least magnitude, are the
 * bytes of `powers`; the first two also as floats. */
typedef struct residue_modulus {
  unsigned p, magic, bias, powers;
  float inverse, minus_p, first, second;
} residue_modulus;

/* What all kernels and the host know of a call. An element may have the relative error 2^margin / (1 +
 * fraction / 2^20), and so be smaller than what its line is below by 2^(x + TOP + 1) times as much, x being
 * its line's steps (residue_steps). Half the guard is how many times as large a line's sum of squares may be
 * as its sample tells, where its steps with the first sieve are guessed. Costs are counted in elements of C
 * for each modulus: of an element where everything is native, where few lines are, and once if any line is.
 */
typedef struct residue_rules {
  residue_sieve sieves[TSL_RESIDUE_CANDIDATES];
  residue_modulus moduli[TSL_RESIDUE_MODULI];
  residue_index lines[2], k;
  int candidates, margin;
  unsigned fraction, guard;
  int native_weight, line_weight, native_once;
} residue_rules;

/* --- complex numbers --- */

/* A line of k complex numbers is one of 2 k real ones, real and imaginary parts by turns, with one scale; its
 * strides count real numbers, those along it from one complex number to the next. Each modulus has three
 * products of k terms: of real parts, of imaginary parts, and of their sums modulo p. What kernels are
 * compiled for is TSL_RESIDUE_COMPLEX or not; the host asks the problem. */
#define TSL_RESIDUE_PRODUCTS 3
#ifdef TSL_RESIDUE_COMPLEX
#define TSL_RESIDUE_KINDS TSL_RESIDUE_PRODUCTS /* products of a modulus */
#define TSL_RESIDUE_EACH 2                     /* real numbers of an element, in A, B and C */
#define TSL_RESIDUE_AT(along, h) (((h) >> 1) * (along) + ((h)&1))
#else
#define TSL_RESIDUE_KINDS 1
#define TSL_RESIDUE_EACH 1
#define TSL_RESIDUE_AT(along, h) ((h) * (along))
#endif

/* From residues of the three products, 0 to p - 1, those of the two parts of C': x - y, and z - x - y. */
TSL_FUNCTION unsigned residue_less(unsigned x, unsigned y, unsigned p) {
  return x >= y ? x - y : x + p - y;
}
TSL_FUNCTION unsigned residue_imaginary(unsigned x, unsigned y, unsigned z, unsigned p) {
  return residue_less(residue_less(z, x, p), y, p);
}

/* --- lines --- */

#define TSL_RESIDUE_NO_SCALE (-0x40000000) /* of a line that is computed without residues: native */

/* What is known of a line: scales e of each candidate, or NO_SCALE; and in `key`, from the lowest bit, levels
 * of six bits each: what it has for lines of the other operand, what it needs of them with each candidate;
 * and the flags. Levels are residue_level()'s: what has a level has at least as many as what needs it, or a
 * lower one. */
#define TSL_RESIDUE_ZERO (1u << 24) /* all zeros */
#define TSL_RESIDUE_LOST (1u << 25) /* << candidate: it has no scale, or is not finite */
typedef struct residue_line {
  unsigned key;
  int scale[TSL_RESIDUE_CANDIDATES];
} residue_line;

/* What was chosen: sieve `candidate`, or no residues at all (`moduli` 0); lines that need more than the level
 * are native, and so are those of the other operand that have less. */
typedef struct residue_choice {
  int candidate, moduli, level[2], native[2]; /* native: lines of each operand */
  int made[2];  /* of each operand residues of so many moduli are to be made: 0 where those of the run before
                   do */
  int is_whole; /* no residues at all: what the child that computes the whole product looks at */
} residue_choice;

/* What kernels are given. Offsets into scratch memory are bytes: residues of operand o, a plane of `plane`
 * bytes for each modulus, of panels of `panel` bytes each, TSL_RESIDUE_PANEL of each line; the lines' keys,
 * their scales for each candidate, and the final ones; which lines are native, in any order; the choice;
 * residues of C, for each modulus and part of k a plane of `rest_plane` bytes, in rows of rest_pitch. Strides
 * count elements. */
typedef struct residue_matrix {
  residue_index offset, across, along;
  int is_across;    /* numbers of different lines follow each other */
  int is_wide;      /* 16 bytes along a line are aligned */
  int is_conjugate; /* of complex numbers: imaginary parts count negative */
} residue_matrix;
#ifndef __OPENCL_C_VERSION__ /* CUDA alone; portable kernels have residue_portable_shared.h */
/* What makes C' of residues in sums of doubles, all of them exact: weights, and the product of all moduli, in
 * parts of 40 bits, the lowest first. The quotient is that of the sums of the two highest of `parts`, 2 to 4.
 */
#define TSL_RESIDUE_PARTS 4
typedef struct residue_weights {
  double weight[TSL_RESIDUE_MODULI][TSL_RESIDUE_PARTS], product[TSL_RESIDUE_PARTS], inverse;
  int parts;
} residue_weights;
typedef struct residue_tables { /* of each candidate */
  residue_weights of[TSL_RESIDUE_CANDIDATES];
} residue_tables;

/* How a sum is reduced modulo p: bytes 1 and 2^16 modulo p, of least magnitude, for its halves; and the bits
 * of a float that is a multiple of p, which with these is from 2^23 to 2^24. */
typedef struct residue_reduction {
  unsigned factors, base;
} residue_reduction;

typedef struct residue_arguments {
  residue_rules rules;
  residue_reduction reductions[TSL_RESIDUE_MODULI];
  residue_matrix of[2];
  long long c_offset, c_row, c_col;
  double alpha, beta;
  long long planes[2], plane[2], panel[2];
  long long keys[2], candidates[2][TSL_RESIDUE_CANDIDATES], scales[2], natives[2], choice, rests, rest_plane,
      rest_pitch;
  long long made;       /* the choice by which residues of operand `stays` were made */
  residue_choice *said; /* memory of the host that the choice is written to, too; NULL: none */
  int m, n, k, parts, tiles_m, tiles_n, raster_height;
  int blocks[2], block_lines[2],
      converters;     /* that measure lines of A, of B, and lines of each; that make residues of A */
  int is_wide;        /* pairs or fours of C in a row are aligned to 16 bytes */
  int is_empty;       /* there are no products */
  int stays, is_kept; /* the operand that lies first, for later runs; whether the run before left its lines
                         measured, and residues */
  int has_whole;      /* another kernel computes the whole product where no residues do */
  int apart[2];       /* blocks that measure have lines so many blocks' lines apart */
  long long glance; /* the choice of a few lines, which ends all that is left where it is not to use residues;
                       -1: there is none */
} residue_arguments;
#endif

/* Numbers of one type: bits, their magnitude m 2^s with an integer m, as small exponents have it. */
#ifdef TSL_RESIDUE_F64
typedef double residue_real;
typedef residue_word residue_bits;
#define TSL_RESIDUE_FRACTION 52
#define TSL_RESIDUE_BIAS 1075
#define TSL_RESIDUE_INFINITY ((residue_bits)0x7ff << 52)
#else
typedef float residue_real;
typedef unsigned residue_bits;
#define TSL_RESIDUE_FRACTION 23
#define TSL_RESIDUE_BIAS 150
#define TSL_RESIDUE_INFINITY 0x7f800000u
#endif
#define TSL_RESIDUE_SIGN ((residue_bits)1 << (sizeof(residue_bits) * 8 - 1))
/* What elements without residues are summed in. */
#ifdef TSL_RESIDUE_PRECISE
typedef double residue_native;
#else
typedef residue_real residue_native;
#endif

/* An element as it is: of sums of the parts' products, real by real, real by imaginary, ..., each of k terms
 * in order, its real part (0) or imaginary part. The same bits for C' = B' A', and for conjugates. */
TSL_FUNCTION residue_real residue_native_part(int part, const residue_real state[2][2], int a_is_conjugate,
                                              int b_is_conjugate) {
  if (part == 0)
    return state[0][0] + (a_is_conjugate == b_is_conjugate ? -state[1][1] : state[1][1]);
  return (b_is_conjugate ? -state[0][1] : state[0][1]) + (a_is_conjugate ? -state[1][0] : state[1][0]);
}

TSL_FUNCTION int residue_length(residue_word x) { /* bits up to the highest that is set */
#ifdef TSL_LENGTH
  return TSL_LENGTH(x);
#else
  int length = 0;
  for (int step = 32; step > 0; step /= 2)
    if (x >> step != 0) {
      x >>= step;
      length += step;
    }
  return length + (x != 0 ? 1 : 0);
#endif
}

/* Of a magnitude (no sign): m, and s + TSL_RESIDUE_BIAS. */
TSL_FUNCTION residue_bits residue_mantissa(residue_bits magnitude) {
  const residue_bits hidden = (residue_bits)1 << TSL_RESIDUE_FRACTION, m = magnitude & (hidden - 1);
  return magnitude >= hidden ? m | hidden : m;
}
TSL_FUNCTION int residue_field(residue_bits magnitude) {
  const int field = (int)(magnitude >> TSL_RESIDUE_FRACTION);
  return field > 1 ? field : 1;
}

/* The least exponent with magnitude < 2^exponent, of a number that is not 0. */
TSL_FUNCTION int residue_exponent(residue_bits magnitude) {
  const residue_bits hidden = (residue_bits)1 << TSL_RESIDUE_FRACTION;
  if (magnitude >= hidden)
    return (int)(magnitude >> TSL_RESIDUE_FRACTION) + TSL_RESIDUE_FRACTION + 1 - TSL_RESIDUE_BIAS;
  return residue_length(magnitude) + 1 - TSL_RESIDUE_BIAS;
}

/* floor(magnitude 2^(TOP - exponent)), where magnitude < 2^exponent; else anything. */
TSL_FUNCTION unsigned residue_top(residue_bits magnitude, int exponent) {
  const int down = exponent - TSL_RESIDUE_TOP - (residue_field(magnitude) - TSL_RESIDUE_BIAS);
  const int most = (int)sizeof(residue_bits) * 8 - 1;
  const residue_bits m = residue_mantissa(magnitude);
#ifdef TSL_RESIDUE_F64
  if (down >= 32)
    return (unsigned)(m >> 32) >> (down < 63 ? down - 32 : 31);
#endif
  return (unsigned)(down < 0 ? m << (-down < TSL_RESIDUE_TOP ? -down : TSL_RESIDUE_TOP)
                             : m >> (down < most ? down : most));
}

/* The integer nearest to magnitude 2^scale, halves to even. */
TSL_FUNCTION residue_word residue_scaled(residue_bits magnitude, int scale) {
  const int up = residue_field(magnitude) - TSL_RESIDUE_BIAS + scale;
  const residue_word m = residue_mantissa(magnitude), one = 1;
  if (up >= 0)
    return m << (up < 63 ? up : 63);
  if (up < -(TSL_RESIDUE_FRACTION + 2))
    return 0;
  return (m + (one << (-up - 1)) - 1 + (m >> -up & 1)) >> -up;
}

/* The largest x with squares 4^x at most the sieve's half; squares is not 0. */
TSL_FUNCTION int residue_steps(const TSL_TABLES residue_sieve *sieve, residue_word squares) {
  const int length = residue_length(squares);
  const residue_word top = squares << (64 - length);
  const int ratio = sieve->half_exponent - (length - 64) - (top > sieve->half_top ? 1 : 0);
  return ratio >= 0 ? ratio / 2 : -((1 - ratio) / 2);
}

/* Where a line's sample lies: number i of `count`. */
TSL_FUNCTION residue_index residue_sample_count(residue_index k) {
  return k < TSL_RESIDUE_SAMPLE ? k : TSL_RESIDUE_SAMPLE;
}
TSL_FUNCTION residue_index residue_sample_at(residue_index k, int i) {
  const int chunks = TSL_RESIDUE_SAMPLE / TSL_RESIDUE_CHUNK;
  return k < TSL_RESIDUE_SAMPLE ? i : i / TSL_RESIDUE_CHUNK * (k / chunks) + i % TSL_RESIDUE_CHUNK;
}

/* What is guessed of a line: that all is below 2^exponent; what the sum of its (top + 1)^2 may be; and from
 * these two, a top near which elements are that make up half of the line's sum, and steps that it is likely
 * to have at least with each candidate, the lower ones first. Nothing depends on guesses but how much is
 * found out. */
typedef struct residue_guess {
  int exponent, aims[TSL_RESIDUE_CANDIDATES];
  unsigned limit;
  residue_word squares;
} residue_guess;

TSL_FUNCTION void residue_aim(const TSL_TABLES residue_rules *rules, residue_guess *guess) {
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
    guess->aims[c] = residue_steps(&rules->sieves[c < rules->candidates ? c : 0],
                                   c == 0 ? guess->squares * rules->guard / 2 : guess->squares << 2);
}

/* Of a sample whose largest is neither 0 nor infinite; the sums of its tops and of these squared. */
TSL_FUNCTION int residue_guess_exponent(residue_bits largest) {
  return largest > 0 && largest < TSL_RESIDUE_INFINITY ? residue_exponent(largest) + TSL_RESIDUE_ROOM
                                                       : -TSL_RESIDUE_BIAS;
}
TSL_FUNCTION void residue_guess_of(const TSL_TABLES residue_rules *rules, int exponent, unsigned sum,
                                   residue_word squares, residue_guess *guess) {
  const residue_word count = (residue_word)residue_sample_count(rules->k),
                     limit = sum > 0 ? squares * 13 / 16 / sum : 0;
  guess->exponent = exponent;
  guess->limit = limit > 0 ? (unsigned)limit : 1;
  guess->squares = (squares + 2 * (residue_word)sum + count) * ((residue_word)rules->k / count + 1);
  residue_aim(rules, guess);
}
/* Where `largest` turned out to be too large for the guess: it counts for half of a top of the new exponent
 * at least. */
TSL_FUNCTION void residue_guess_again(const TSL_TABLES residue_rules *rules, residue_bits largest,
                                      residue_guess *guess) {
  const int exponent = residue_exponent(largest), up = exponent - guess->exponent;
  const residue_word least = (residue_word)1 << (2 * TSL_RESIDUE_TOP - 2);
  guess->exponent = exponent;
  guess->limit = up < TSL_RESIDUE_TOP ? guess->limit >> up : 1u << (TSL_RESIDUE_TOP - 3);
  guess->limit = guess->limit > 0 ? guess->limit : 1;
  guess->squares = up < 32 && guess->squares >> 2 * up > least ? guess->squares >> 2 * up : least;
  residue_aim(rules, guess);
}

/* The magnitude from which on an element's exponent is at least `least`. */
TSL_FUNCTION residue_bits residue_threshold(int least) {
  const int field = least - 1 - TSL_RESIDUE_FRACTION + TSL_RESIDUE_BIAS, digit = least - 2 + TSL_RESIDUE_BIAS;
  if (field >= (int)(TSL_RESIDUE_INFINITY >> TSL_RESIDUE_FRACTION))
    return TSL_RESIDUE_INFINITY;
  if (field >= 1)
    return (residue_bits)field << TSL_RESIDUE_FRACTION;
  return digit >= 0 ? (residue_bits)1 << digit : 0;
}

/* The magnitude from which on elements err by no more than the call allows, where the line has these steps.
 */
TSL_FUNCTION residue_bits residue_small(const TSL_TABLES residue_rules *rules, int exponent, int steps) {
  const int least = exponent - steps - TSL_RESIDUE_TOP - rules->margin;
  const residue_bits below = residue_threshold(least);
  if (below >> TSL_RESIDUE_FRACTION == 0 || below >= TSL_RESIDUE_INFINITY)
    return residue_threshold(least + 1);
  return below + ((residue_bits)rules->fraction << (TSL_RESIDUE_FRACTION - 20));
}

/* What is added up of a line's elements, all of which are below 2^exponent: their tops, these squared, and
 * what of (top + 1) is above the guess's limit; how many are not 0, and how many of those are small where the
 * line has the steps of each aim. */
typedef struct residue_sums {
  residue_word sum, squares, excess;
  unsigned count, few[TSL_RESIDUE_CANDIDATES];
} residue_sums;

/* A line's spread: so many of its elements, the largest ones, are half of its sum at most; twice that. Any w
 * elements have at most w times the largest, or w limit and what all have above the limit. */
TSL_FUNCTION residue_word residue_spread(const residue_sums *sums, unsigned limit, unsigned largest_top) {
  const residue_word most = sums->sum / (largest_top + 1),
                     spread = sums->sum > 2 * sums->excess ? (sums->sum - 2 * sums->excess) / limit : 0;
  return spread > most ? spread : most;
}

/* 0 of 0, and two for each power of two. */
TSL_FUNCTION int residue_level(residue_word x) {
  const int length = residue_length(x);
  return length < 2 ? length : 2 * length - 2 + (int)(x >> (length - 2) & 1);
}

/* What is known of a line whose largest magnitude is `largest`. An element's a' is at most (top + 1) 2^x, an
 * integer, so that the squares of these are enough for what is rounded, too. Small is what is so with the
 * most steps that were aimed at and that there are. */
TSL_FUNCTION void residue_know(const TSL_TABLES residue_rules *rules, residue_bits largest,
                               const residue_guess *guess, const residue_sums *sums, residue_line *line) {
  const residue_index zeros = rules->k - (residue_index)sums->count;
  line->key = largest == 0 ? TSL_RESIDUE_ZERO : 0;
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
    line->scale[c] = 0;
  if (largest == 0)
    return;
  if (largest < TSL_RESIDUE_INFINITY)
    line->key =
        (unsigned)residue_level(residue_spread(sums, guess->limit, residue_top(largest, guess->exponent)));
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++) {
    const int x = c < rules->candidates && largest < TSL_RESIDUE_INFINITY
                      ? residue_steps(&rules->sieves[c], sums->squares + 2 * sums->sum + sums->count)
                      : -1;
    if (x < 0) {
      line->scale[c] = TSL_RESIDUE_NO_SCALE;
      line->key |= TSL_RESIDUE_LOST << c;
      continue;
    }
    line->scale[c] = x + TSL_RESIDUE_TOP - guess->exponent;
    residue_index small = sums->count;
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      if (guess->aims[i] <= x && (residue_index)sums->few[i] < small)
        small = sums->few[i];
    if (small > 0)
      line->key |= (unsigned)(residue_level((residue_word)(2 * (small + zeros) - 1)) + 1) << 6 * (c + 1);
  }
}

/* --- choosing --- */

TSL_FUNCTION int residue_has(unsigned key) {
  return (int)(key & 63);
}
TSL_FUNCTION int residue_need(unsigned key, int candidate) {
  return (int)(key >> 6 * (candidate + 1) & 63);
}

/* How many lines of each operand there are: without a scale; by need; by spread. */
typedef struct residue_counts {
  unsigned lost[TSL_RESIDUE_CANDIDATES][2];
  unsigned needs[TSL_RESIDUE_CANDIDATES][2][TSL_RESIDUE_LEVELS + 2], has[2][TSL_RESIDUE_LEVELS + 2];
} residue_counts;

/* Elements of C that are native, at most, where lines of `operand` may need so much and those of the other
 * have as much. */
TSL_FUNCTION residue_word residue_cost(const TSL_TABLES residue_rules *rules,
                                       const TSL_COUNTS residue_counts *counts, int candidate, int operand,
                                       int level) {
  residue_word own = 0, other = 0;
  for (int i = level + 1; i < TSL_RESIDUE_LEVELS + 2; i++)
    own += counts->needs[candidate][operand][i];
  for (int i = 0; i < level; i++)
    other += counts->has[1 - operand][i];
  return own * (residue_word)rules->lines[1 - operand] + other * (residue_word)rules->lines[operand];
}

/* Chooses, by the least costs and their levels for each candidate and operand. Whoever asks counts the native
 * lines of each operand. */
TSL_FUNCTION void residue_choose(const TSL_TABLES residue_rules *rules,
                                 const TSL_COUNTS residue_counts *counts,
                                 const residue_word costs[TSL_RESIDUE_CANDIDATES][2],
                                 const int levels[TSL_RESIDUE_CANDIDATES][2], residue_choice *choice) {
  const residue_word all = (residue_word)rules->lines[0] * (residue_word)rules->lines[1];
  residue_word least = all * (residue_word)rules->native_weight;
  choice->candidate = choice->moduli = 0;
  choice->level[0] = choice->level[1] = 0;
  choice->native[0] = choice->native[1] = 0;
  for (int c = 0; c < rules->candidates; c++) {
    residue_word native = costs[c][0] + costs[c][1];
    for (int o = 0; o < 2; o++)
      native += (residue_word)counts->lost[c][o] * (residue_word)rules->lines[1 - o];
    const residue_word cost = all * (residue_word)rules->sieves[c].moduli +
                              native * (residue_word)rules->line_weight +
                              (native > 0 ? (residue_word)rules->native_once : 0);
    if (cost >= least)
      continue;
    least = cost;
    choice->candidate = c;
    choice->moduli = rules->sieves[c].moduli;
    for (int o = 0; o < 2; o++)
      choice->level[o] = levels[c][o];
  }
  choice->made[0] = choice->made[1] = choice->moduli;
  choice->is_whole = choice->moduli == 0 ? 1 : 0;
}

/* Whether what was made of an operand's lines by one choice, with `native` counted, does for another one: the
 * same lines, whose keys and candidates are what they were, have the same scales. Of native lines nothing was
 * made; which ones are depends on both levels. */
TSL_FUNCTION int residue_serves(const residue_choice *choice_in, const residue_choice *choice, int operand) {
  return choice->moduli > 0 && choice_in->moduli == choice->moduli &&
         choice_in->candidate == choice->candidate &&
         (choice_in->native[operand] == 0 ||
          (choice_in->level[0] == choice->level[0] && choice_in->level[1] == choice->level[1]));
}

/* Whether a line is native. */
TSL_FUNCTION int residue_is_native(const residue_choice *choice, int operand, unsigned key) {
  if (key & TSL_RESIDUE_ZERO)
    return 0;
  return (key & TSL_RESIDUE_LOST << choice->candidate) != 0 ||
         residue_need(key, choice->candidate) > choice->level[operand] ||
         residue_has(key) < choice->level[1 - operand];
}

/* --- back from residues --- */

/* A sum of weights, by limbs that have not passed their carries on. */
typedef struct residue_sum {
  residue_word limb[4];
  unsigned quotient; /* 2^20 times, and a half */
} residue_sum;

TSL_FUNCTION void residue_sum_add(residue_sum *sum, const TSL_TABLES residue_sieve *sieve, int modulus,
                                  unsigned c, int limbs) {
  for (int i = 0; i < limbs; i++)
    sum->limb[i] = TSL_WIDE(sieve->weight[modulus][i], c, sum->limb[i]);
  sum->quotient += sieve->part[modulus] * c;
}

/* C' where P < 2^64: two limbs. */
TSL_FUNCTION residue_index residue_sum_short(const residue_sum *sum, const TSL_TABLES residue_sieve *sieve) {
  const unsigned q = sum->quotient >> 20;
  const residue_word low = TSL_WIDE(sieve->minus_product[0], q, sum->limb[0]),
                     high = TSL_WIDE(sieve->minus_product[1], q, sum->limb[1]);
  return (residue_index)(low + (high << 32));
}

/* 2^exponent, from -1022 to 1023. */
TSL_FUNCTION double residue_two(int exponent) {
  union {
    residue_word bits;
    double value;
  } power;
  power.bits = (residue_word)(exponent + 1023) << 52;
  return power.value;
}

/* x 2^exponent with one rounding, unless it is too large or too small for a normal number. */
TSL_FUNCTION double residue_power(int exponent, double x) {
  while (exponent < -1000) {
    x *= 0x1p-1000;
    exponent += 1000;
  }
  while (exponent > 1000) {
    x *= 0x1p1000;
    exponent -= 1000;
  }
  return x * residue_two(exponent);
}

/* C' 2^-scale, rounded once, in general. */
TSL_FUNCTION double residue_sum_long(const residue_sum *sum, const TSL_TABLES residue_sieve *sieve,
                                     int scale) {
  const unsigned q = sum->quotient >> 20;
  const residue_word mask = 0xffffffffu;
  residue_word part[4], carry = 0;
  for (int i = 0; i < 4; i++) {
    carry += TSL_WIDE(sieve->minus_product[i], q, sum->limb[i]);
    part[i] = carry & mask;
    carry >>= 32;
  }
  residue_word low = part[0] | part[1] << 32, high = part[2] | part[3] << 32;
  const int is_negative = (high >> 63) != 0;
  if (is_negative) {
    low = ~low + 1;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const int length = high != 0 ? 64 + residue_length(high) : residue_length(low), down = length - 64;
  residue_word top = low;
  if (down > 0) {
    top = down == 64 ? high : high << (64 - down) | low >> down;
    top |= (down == 64 ? low : low << (64 - down)) != 0 ? 1 : 0;
  }
  const double value = residue_power((down > 0 ? down : 0) - scale, (double)top);
  return is_negative ? -value : value;
}

/* alpha x + beta c in the type of C, a NaN being the quiet one without a sign. With f32 everything is double,
 * rounded once more at the end; beta 0 does not read c. */
TSL_FUNCTION residue_real residue_finish(double x, residue_real alpha, residue_real beta,
                                         const residue_real *c) {
  union {
    residue_bits bits;
    residue_real value;
  } out;
  double sum = TSL_TIMES((double)alpha, x);
#ifdef TSL_RESIDUE_F64
  if (beta != 0)
    sum = TSL_FUSE(beta, *c, sum);
#else
  if (beta != 0) {
    const double before = TSL_TIMES((double)beta, (double)*c);
    sum = TSL_PLUS(sum, before);
  }
#endif
  out.value = (residue_real)sum;
  if (out.value != out.value)
    out.bits = TSL_RESIDUE_INFINITY | TSL_RESIDUE_INFINITY >> 1;
  return out.value;
}

#endif
