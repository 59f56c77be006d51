/* Arithmetic of residue_int8 for the host and for kernels: integers and single operations on doubles, so that
 * every device rounds alike. The includer may define TSL_FUNCTION ("static inline"). For doubles it then
 * defines TSL_TIMES(a, b), TSL_PLUS(a, b) and TSL_FUSE(a, b, c) = a b + c rounded once; nothing else is
 * fused. Optional: TSL_WIDE(a, b, c) = a b + c of 32-bit a and b and 64-bit c; TSL_LENGTH(x), the bits of a
 * 64-bit x up to the highest set bit. TSL_TABLES and TSL_COUNTS: the address spaces of the rules and of the
 * counts of lines. A line is a row of A or a column of B. 2^e is its scale; a' is the integer nearest to 2^e
 * a. C' = A' B' is known modulo P = p_0 p_1 ..., which determines C' where |C'| < P / 2 (proofs:
 * docs/lab/residue_int8.md). */
#ifndef TSL_RESIDUE_INT8_SHARED_H
#define TSL_RESIDUE_INT8_SHARED_H

#define TSL_RESIDUE_MODULI 16    /* maximum number of moduli */
#define TSL_RESIDUE_CANDIDATES 3 /* numbers of moduli that a call chooses from */
#define TSL_RESIDUE_LEVELS 56    /* levels, half powers of two, by which lines are counted */
#define TSL_RESIDUE_PART 65536   /* k of a product whose sums fit in 32 bits, for all residues */
#define TSL_RESIDUE_TOP 12       /* bits of an element that count for its line's norm */
#define TSL_RESIDUE_SAMPLE 256   /* elements of a line's sample */
#define TSL_RESIDUE_CHUNK 32     /* adjacent elements of the sample; chunks are evenly spaced over the line */
#define TSL_RESIDUE_ROOM 2       /* bits by which the guessed exponent exceeds the sample's largest element */
#define TSL_RESIDUE_SHALLOW 7    /* numbers of moduli up to this one have |a'| < 2^28 */
#define TSL_RESIDUE_GROUP 64     /* columns of B that are reordered for wgmma's accumulators */
#define TSL_RESIDUE_PANEL 128    /* k of a panel of a plane (CUDA) */
#define TSL_RESIDUE_CONVERT_ACROSS 16 /* adjacent lines of a block that converts MN-major operands */

#define TSL_RESIDUE_ITEMS 256      /* portable kernels: items of a group that measures or chooses */
#define TSL_RESIDUE_LINES_ALONG 2  /* lines of a measuring group with numbers along lines */
#define TSL_RESIDUE_LINES_ACROSS 8 /* lines of a measuring group with numbers across lines */
#define TSL_RESIDUE_GROUP_ITEMS 64 /* items of all other groups */
#define TSL_RESIDUE_NUMBERS 16     /* numbers of a line that an item converts */
#define TSL_RESIDUE_FOUR 4         /* adjacent elements of a row of C that an item computes */
#define TSL_RESIDUE_TILE 16        /* side of a group's tile of native elements of C */

#ifdef __OPENCL_C_VERSION__
typedef ulong residue_word;
typedef long residue_index;
#else
typedef unsigned long long residue_word;
typedef long long residue_index;
#endif

#ifdef TSL_KERNEL /* of dialect.h: a portable kernel */
#define TSL_TIMES(a, b) TSL_MUL(double, a, b)
#define TSL_PLUS(a, b) ((a) + (b))
#define TSL_FUSE(a, b, c) TSL_FMA(a, b, c)
#define TSL_TABLES TSL_GLOBAL
#define TSL_COUNTS TSL_LOCAL_POINTER
#else
#define TSL_TABLES
#define TSL_COUNTS
#ifndef TSL_FUNCTION
#ifdef __CUDACC__
#define TSL_FUNCTION static __device__ __forceinline__
#define TSL_TIMES(a, b) __dmul_rn(a, b)
#define TSL_PLUS(a, b) __dadd_rn(a, b)
#define TSL_FUSE(a, b, c) __fma_rn(a, b, c)
#define TSL_LENGTH(x) (64 - __clzll((long long)(x)))
#else
#define TSL_FUNCTION static inline
#define TSL_TIMES(a, b) ((a) * (b))
#define TSL_PLUS(a, b) ((a) + (b))
#define TSL_FUSE(a, b, c) fma(a, b, c)
#endif
#endif
#endif
#ifndef TSL_WIDE
#define TSL_WIDE(a, b, c) ((residue_word)(a) * (b) + (c))
#endif

/* Constants that reconstruct C' for one number of moduli. */
typedef struct residue_sieve {
  /* C' = sum of weight_l c_l + q minus_product modulo 2^128, for 0 <= c_l < p_l; q is the integer nearest to
   * the sum of part_l c_l / 2^20. Limbs have 32 bits, the lowest first. */
  unsigned weight[TSL_RESIDUE_MODULI][4], part[TSL_RESIDUE_MODULI], minus_product[4];
  /* at least 2^63; half_top 2^half_exponent <= P (1/2 - 1/256) limits a line's sum of squares */
  residue_word half_top;
  int half_exponent, moduli;
} residue_sieve;

/* A modulus p and constants to divide by it. */
typedef struct residue_modulus {
  /* x / p = (high word of x magic) / 2^7 for x up to 2^31 + 255; bias: first multiple of p from 2^30 on;
   * powers: bytes 2^14, 2^28, 2^42 and 2^56 modulo p, of least magnitude */
  unsigned p, magic, bias, powers;
  float inverse, minus_p, first, second; /* 1 / p; -p; the first two powers */
} residue_modulus;

/* Rules of a call. An element may have the relative error 2^margin / (1 + fraction / 2^20); in a line with x
 * steps (residue_steps()) it is then a factor of 2^(x + TOP + 1) times this error below its line's bound. */
typedef struct residue_rules {
  residue_sieve sieves[TSL_RESIDUE_CANDIDATES];
  residue_modulus moduli[TSL_RESIDUE_MODULI];
  residue_index lines[2], k; /* rows of A, columns of B; terms */
  int candidates, margin;
  /* guard / 2: factor by which a line's sum of squares may exceed the sample's */
  unsigned fraction, guard;
  /* costs in elements of C for one modulus: an element if all are native; of native lines; any native line */
  int native_weight, line_weight, native_once;
} residue_rules;

/* A line of k complex numbers is 2 k real ones, alternating real and imaginary parts, with one scale. Strides
 * count real numbers; the stride along the line is between complex numbers. Each modulus has three products
 * of k terms: of real parts, of imaginary parts, and of their sums modulo p. */
#define TSL_RESIDUE_PRODUCTS 3
#ifdef TSL_RESIDUE_COMPLEX
#define TSL_RESIDUE_KINDS TSL_RESIDUE_PRODUCTS
#define TSL_RESIDUE_EACH 2
#define TSL_RESIDUE_AT(along, h) (((h) >> 1) * (along) + ((h)&1))
#else
#define TSL_RESIDUE_KINDS 1
#define TSL_RESIDUE_EACH 1
#define TSL_RESIDUE_AT(along, h) ((h) * (along))
#endif

/* Returns (x - y) modulo p, for x and y below p: the real part of C'. residue_imaginary(): z - x - y. */
TSL_FUNCTION unsigned residue_less(unsigned x, unsigned y, unsigned p) {
  return x >= y ? x - y : x + p - y;
}
TSL_FUNCTION unsigned residue_imaginary(unsigned x, unsigned y, unsigned z, unsigned p) {
  return residue_less(residue_less(z, x, p), y, p);
}

#define TSL_RESIDUE_NO_SCALE (-0x40000000) /* scale of a native line, which is computed without residues */

/* A line's scales e for each candidate, or NO_SCALE. `key` has fields of six bits, from the lowest bit on:
 * level of the line's spread; for each candidate, level needed of lines of the other operand; then flags. Two
 * lines can be multiplied by residues if each has at least the level that the other needs. */
#define TSL_RESIDUE_ZERO (1u << 24) /* all elements are 0 */
#define TSL_RESIDUE_LOST (1u << 25) /* << candidate: the line has no scale or is not finite */
typedef struct residue_line {
  unsigned key;
  int scale[TSL_RESIDUE_CANDIDATES];
} residue_line;

/* Choice of a call: sieve `candidate`, with `moduli` moduli; 0: no residues. A line of operand o is native if
 * it needs more than level[o] or has less than level[1 - o]. */
#define TSL_RESIDUE_UNKNOWN (-1) /* candidate before the first run's choice */
typedef struct residue_choice {
  int candidate, moduli, level[2], native[2]; /* number of native lines of each operand */
  int moduli_to_convert[2];                   /* to make for each operand; 0: the previous run's are valid */
  int is_whole; /* no residues: read by the subplan that computes the whole product */
} residue_choice;

/* Operand of residue kernels. */
typedef struct residue_matrix {
  residue_index offset, across, along; /* in elements: first one; strides between lines and along a line */
  int is_across;                       /* elements of different lines are adjacent */
  int is_wide;                         /* 16 bytes along a line are aligned */
  int is_conjugate;                    /* imaginary parts are negated */
} residue_matrix;
#ifndef TSL_KERNEL
/* Constants that reconstruct C' by exact sums of doubles, in parts of 40 bits, the lowest first. The quotient
 * comes from the two highest of `parts` (2 to 4) sums. */
#define TSL_RESIDUE_PARTS 4
typedef struct residue_weights {
  /* parts of the weights and of the product P of all moduli; inverse of P's highest parts */
  double weight[TSL_RESIDUE_MODULI][TSL_RESIDUE_PARTS], product[TSL_RESIDUE_PARTS], inverse;
  int parts;
} residue_weights;
typedef struct residue_tables {
  residue_weights candidates[TSL_RESIDUE_CANDIDATES];
} residue_tables;

/* Reduction of a sum modulo p. `factors`: bytes 1 and 2^16 modulo p, of least magnitude, for the sum's
 * halves. `base`: bits of a float, a multiple of p, that makes the result a float from 2^23 to 2^24. */
typedef struct residue_reduction {
  unsigned factors, base;
} residue_reduction;
#endif

/* Arguments of the kernels; portable ones get the members from `operands` on. Workspace offsets are in bytes,
 * strides in real numbers. k is split into `parts`, whose sums fit in 32 bits.
 * CUDA: a plane is the panels of a modulus. Portable: plane l parts + i (complex: (3 l + kind) parts + i)
 * holds part i modulo p_l, in lines of `depth` bytes, padded with zeros. */
typedef struct residue_arguments {
#ifndef TSL_KERNEL
  residue_rules rules;
  residue_reduction reductions[TSL_RESIDUE_MODULI];
  long long panel[2],
      natives[2];   /* bytes of TSL_RESIDUE_PANEL k; byte of the workspace of native lines' list */
  long long glance; /* choice from a few lines; -1: none. Against residues, later kernels return at once */
  residue_choice *host_choice; /* also receives the choice, in host memory; NULL: none */
  int tiles_m, tiles_n, raster_height;
  int block_lines[2]; /* lines of the blocks that measure lines of A and B */
  int converters;     /* blocks that convert A */
  int conversions;    /* blocks that one launch of convert turns into residues */
  int has_whole;      /* a subplan computes the whole product if residues are not chosen */
  int apart[2];       /* distance of the blocks that measure, in blocks */
#endif
  residue_matrix operands[2];
  residue_index c_offset, c_row, c_col;
  double alpha, beta;
  residue_index planes[2], plane[2]; /* byte of the workspace; bytes from plane to plane */
  /* bytes of the workspace: keys, candidate and final scales of lines; choice; choice by which the residues
   * of operand `stays` were made */
  residue_index keys[2], candidates[2][TSL_RESIDUE_CANDIDATES], scales[2], choice, made;
  residue_index rests, rest_plane, rest_pitch; /* residues of C: byte; bytes of a plane; bytes of a row */
  residue_index rules_at, sums,
      sums_row; /* portable: bytes of the rules, of a plane's sums; integers of a row */
  int m, n, k, parts, depth;
  int blocks[2]; /* groups that measure lines of A and of B */
  int is_wide;   /* adjacent elements of a row of C are aligned to 16 bytes; portable: only of real C */
  int is_empty;
  int stays, is_kept; /* reused operand, whose data lies first; the previous run left its data */
} residue_arguments;

/* Piece of the rules as a kernel argument; arguments are limited to 1024 bytes. */
#define TSL_RESIDUE_SOME 192
typedef struct residue_some {
  unsigned word[TSL_RESIDUE_SOME];
  residue_index at; /* byte offset in the workspace */
  int count;
} residue_some;

/* Floating-point format: its bits; a magnitude is m 2^s with an integer m. */
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
#ifdef TSL_RESIDUE_PRECISE
typedef double residue_native;
#else
typedef residue_real residue_native;
#endif

/* Returns the real (part 0) or imaginary part of a native element from the sums of real by real, real by
 * imaginary, ... products. C' = B' A' and conjugates give the same bits. */
TSL_FUNCTION residue_real residue_native_part(int part, const residue_real state[2][2], int a_is_conjugate,
                                              int b_is_conjugate) {
  if (part == 0)
    return state[0][0] + (a_is_conjugate == b_is_conjugate ? -state[1][1] : state[1][1]);
  return (b_is_conjugate ? -state[0][1] : state[0][1]) + (a_is_conjugate ? -state[1][0] : state[1][0]);
}

/* Returns the bits of x up to the highest set bit; 0 for 0. */
TSL_FUNCTION int residue_length(residue_word x) {
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

/* Returns m of a magnitude (without sign); residue_field() is s + TSL_RESIDUE_BIAS. */
TSL_FUNCTION residue_bits residue_mantissa(residue_bits magnitude) {
  const residue_bits hidden = (residue_bits)1 << TSL_RESIDUE_FRACTION, m = magnitude & (hidden - 1);
  return magnitude >= hidden ? m | hidden : m;
}
TSL_FUNCTION int residue_field(residue_bits magnitude) {
  const int field = (int)(magnitude >> TSL_RESIDUE_FRACTION);
  return field > 1 ? field : 1;
}

/* Returns the least exponent with magnitude < 2^exponent; the magnitude is not 0. */
TSL_FUNCTION int residue_exponent(residue_bits magnitude) {
  const residue_bits hidden = (residue_bits)1 << TSL_RESIDUE_FRACTION;
  if (magnitude >= hidden)
    return (int)(magnitude >> TSL_RESIDUE_FRACTION) + TSL_RESIDUE_FRACTION + 1 - TSL_RESIDUE_BIAS;
  return residue_length(magnitude) + 1 - TSL_RESIDUE_BIAS;
}

/* Returns floor(magnitude 2^(TOP - exponent)). Undefined unless magnitude < 2^exponent. */
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

/* Returns the integer nearest to magnitude 2^scale, halves to even. */
TSL_FUNCTION residue_word residue_scaled(residue_bits magnitude, int scale) {
  const int up = residue_field(magnitude) - TSL_RESIDUE_BIAS + scale;
  const residue_word m = residue_mantissa(magnitude), one = 1;
  if (up >= 0)
    return m << (up < 63 ? up : 63);
  if (up < -(TSL_RESIDUE_FRACTION + 2))
    return 0;
  return (m + (one << (-up - 1)) - 1 + (m >> -up & 1)) >> -up;
}

/* Returns the largest x with squares 4^x at most the sieve's half. `squares` is not 0. */
TSL_FUNCTION int residue_steps(const TSL_TABLES residue_sieve *sieve, residue_word squares) {
  const int length = residue_length(squares);
  const residue_word top = squares << (64 - length);
  const int ratio = sieve->half_exponent - (length - 64) - (top > sieve->half_top ? 1 : 0);
  return ratio >= 0 ? ratio / 2 : -((1 - ratio) / 2);
}

/* Returns the number of elements of a line's sample. residue_sample_at(): position of element i. */
TSL_FUNCTION residue_index residue_sample_count(residue_index k) {
  return k < TSL_RESIDUE_SAMPLE ? k : TSL_RESIDUE_SAMPLE;
}
TSL_FUNCTION residue_index residue_sample_at(residue_index k, int i) {
  const int chunks = TSL_RESIDUE_SAMPLE / TSL_RESIDUE_CHUNK;
  return k < TSL_RESIDUE_SAMPLE ? i : i / TSL_RESIDUE_CHUNK * (k / chunks) + i % TSL_RESIDUE_CHUNK;
}

/* Guesses about a line from its sample. A wrong guess costs work, or gives a better result. */
typedef struct residue_guess {
  int exponent, aims[TSL_RESIDUE_CANDIDATES]; /* elements are below 2^exponent; steps with each candidate */
  unsigned limit;       /* elements with tops above it make about half of the line's sum */
  residue_word squares; /* sum of (top + 1)^2 */
} residue_guess;

/* Sets the probable steps with each candidate, from the guessed sum of squares. */
TSL_FUNCTION void residue_aim(const TSL_TABLES residue_rules *rules, residue_guess *guess) {
  for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
    guess->aims[c] = residue_steps(&rules->sieves[c < rules->candidates ? c : 0],
                                   c == 0 ? guess->squares * rules->guard / 2 : guess->squares << 2);
}

/* Returns the guessed exponent for a sample's largest magnitude. residue_guess_of() fills in the guess. */
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
/* Corrects a guess whose exponent was too low for `largest`, an element of the line. */
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

/* Returns the least magnitude whose exponent is at least `least`. */
TSL_FUNCTION residue_bits residue_threshold(int least) {
  const int field = least - 1 - TSL_RESIDUE_FRACTION + TSL_RESIDUE_BIAS, digit = least - 2 + TSL_RESIDUE_BIAS;
  if (field >= (int)(TSL_RESIDUE_INFINITY >> TSL_RESIDUE_FRACTION))
    return TSL_RESIDUE_INFINITY;
  if (field >= 1)
    return (residue_bits)field << TSL_RESIDUE_FRACTION;
  return digit >= 0 ? (residue_bits)1 << digit : 0;
}

/* Returns the least magnitude whose relative error is allowed by the call, for a line with these steps. */
TSL_FUNCTION residue_bits residue_small(const TSL_TABLES residue_rules *rules, int exponent, int steps) {
  const int least = exponent - steps - TSL_RESIDUE_TOP - rules->margin;
  const residue_bits below = residue_threshold(least);
  if (below >> TSL_RESIDUE_FRACTION == 0 || below >= TSL_RESIDUE_INFINITY)
    return residue_threshold(least + 1);
  return below + ((residue_bits)rules->fraction << (TSL_RESIDUE_FRACTION - 20));
}

typedef struct residue_sums {           /* over a line's elements */
  residue_word sum, squares, excess;    /* of tops; of their squares; of (top + 1) above the guess's limit */
  unsigned count;                       /* nonzero elements */
  unsigned few[TSL_RESIDUE_CANDIDATES]; /* elements that are too small with each aim's steps */
} residue_sums;

/* Returns a line's spread: twice the number of largest elements whose sum is at most half of the line's sum.
 * Any w elements sum to at most w times the largest one, and to at most w limit plus the excess. */
TSL_FUNCTION residue_word residue_spread(const residue_sums *sums, unsigned limit, unsigned largest_top) {
  const residue_word most = sums->sum / (largest_top + 1),
                     spread = sums->sum > 2 * sums->excess ? (sums->sum - 2 * sums->excess) / limit : 0;
  return spread > most ? spread : most;
}

/* Returns a spread's level: 0 for 0, else two levels for each power of two. */
TSL_FUNCTION int residue_level(residue_word x) {
  const int length = residue_length(x);
  return length < 2 ? length : 2 * length - 2 + (int)(x >> (length - 2) & 1);
}

/* Sets a line's key and scales; `largest` is its largest magnitude. |a'| <= (top + 1) 2^x, an integer, so
 * sums of these squares also bound the rounded elements. Small elements are counted with the most steps that
 * were aimed at and that the line has. */
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

/* Returns the level that a line has; residue_need(): the level that it needs of the other operand's lines. */
TSL_FUNCTION int residue_has(unsigned key) {
  return (int)(key & 63);
}
TSL_FUNCTION int residue_need(unsigned key, int candidate) {
  return (int)(key >> 6 * (candidate + 1) & 63);
}

typedef struct residue_counts {
  /* numbers of each operand's lines: without scale for a candidate; by needed level; by their own level */
  unsigned lost[TSL_RESIDUE_CANDIDATES][2];
  unsigned needs[TSL_RESIDUE_CANDIDATES][2][TSL_RESIDUE_LEVELS + 2], has[2][TSL_RESIDUE_LEVELS + 2];
} residue_counts;

/* Returns an upper bound of C's native elements, if `operand`'s lines may need `level` and others have it. */
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

/* Chooses the candidate with the least total cost. The caller then counts each operand's native lines. */
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
  choice->moduli_to_convert[0] = choice->moduli_to_convert[1] = choice->moduli;
  choice->is_whole = choice->moduli == 0 ? 1 : 0;
}

/* Returns true if residues made by choice_in are valid for choice: equal moduli and candidate give equal
 * scales. Native lines have no residues, so with native lines both levels must be equal too. */
TSL_FUNCTION int residue_serves(const residue_choice *choice_in, const residue_choice *choice, int operand) {
  return choice->moduli > 0 && choice_in->moduli == choice->moduli &&
         choice_in->candidate == choice->candidate &&
         (choice_in->native[operand] == 0 ||
          (choice_in->level[0] == choice->level[0] && choice_in->level[1] == choice->level[1]));
}

/* Returns 1 if the choice leaves a line of `operand` with this key to native multiplication. */
TSL_FUNCTION int residue_is_native(const residue_choice *choice, int operand, unsigned key) {
  if (key & TSL_RESIDUE_ZERO)
    return 0;
  return (key & TSL_RESIDUE_LOST << choice->candidate) != 0 ||
         residue_need(key, choice->candidate) > choice->level[operand] ||
         residue_has(key) < choice->level[1 - operand];
}

typedef struct residue_sum { /* carries are not propagated yet */
  residue_word limb[4];
  unsigned quotient; /* 2^20 q + 1/2 */
} residue_sum;

/* Adds residue c of modulus number `modulus` to the lowest `limbs` limbs and the quotient. */
TSL_FUNCTION void residue_sum_add(residue_sum *sum, const TSL_TABLES residue_sieve *sieve, int modulus,
                                  unsigned c, int limbs) {
  for (int i = 0; i < limbs; i++)
    sum->limb[i] = TSL_WIDE(sieve->weight[modulus][i], c, sum->limb[i]);
  sum->quotient += sieve->part[modulus] * c;
}

/* Returns C' for P < 2^64: two limbs. */
TSL_FUNCTION residue_index residue_sum_short(const residue_sum *sum, const TSL_TABLES residue_sieve *sieve) {
  const unsigned q = sum->quotient >> 20;
  const residue_word low = TSL_WIDE(sieve->minus_product[0], q, sum->limb[0]),
                     high = TSL_WIDE(sieve->minus_product[1], q, sum->limb[1]);
  return (residue_index)(low + (high << 32));
}

/* Returns 2^exponent, for -1022 <= exponent <= 1023. */
TSL_FUNCTION double residue_two(int exponent) {
  union {
    residue_word bits;
    double value;
  } power;
  power.bits = (residue_word)(exponent + 1023) << 52;
  return power.value;
}

/* Returns x 2^exponent with one rounding if the result is a normal number. */
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

/* Returns C' 2^-scale, rounded once, for any P. */
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

/* Returns alpha x + beta c in C's type; f32 is computed in double and rounded once. A NaN becomes the quiet
 * NaN without sign. With beta = 0, c is not read. */
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
