/* Elements for checksums of a product on the device (judge/device_checksum.h). An item loads 16 bytes at
 * once. Where the elements of a row are contiguous, 32 items share a row; where the elements of a column are,
 * 8 items have the rows, and 32 sets of items the columns:
 *
 *            sum ->                                sum ->
 *      rows  | item 0 | item 1 | ...         rows  | item 0 | item 8  | ...
 *       |    | item 32 | ...                  |    | item 1 | item 9  |
 *
 * Numbers of a vector are stored as 32 items read them (checksum_place()). Complex elements are pairs of
 * components; a product of A then has two real vectors with twice as many terms. Floats are summed in double,
 * or with CHECKSUM_SINGLE in f32, integers modulo 2^32 with odd weights. From the host: CHECKSUM_FORMAT, the
 * components of the operand; CHECKSUM_INTEGER, CHECKSUM_BY_ROW, CHECKSUM_PARTS of an element,
 * CHECKSUM_VECTORS of a pass over A. Any strides. */
#ifndef TSL_KERNEL_CHECKSUM_ELEMENTS_H
#define TSL_KERNEL_CHECKSUM_ELEMENTS_H

#include "checksum_weights.h"

#include "../strategy/kernel_launch/gemm_shared.h"

#include "../judge/device_checksum_shared.h"

#define CHECKSUM_F64 0
#define CHECKSUM_F32 1
#define CHECKSUM_F16 2
#define CHECKSUM_BF16 3
#define CHECKSUM_I8 4
#define CHECKSUM_U8 5
#define CHECKSUM_I32 6
#define CHECKSUM_E4M3 7
#define CHECKSUM_E5M2 8

/* Component in memory; its number in 16 bytes. Floats narrower than double become doubles by their bits:
 *
 *   f32  s eeeeeeee mmm...              the double with this exponent field is the number times
 *   f64  s 000eeeeeeee mmm...000...     2^-CHECKSUM_SCALE, also if it is subnormal
 *
 * SHIFT: from a float's exponent to the place in the double's high word. SIGNS: sign bits of a word; NEXT:
 * added to magnitudes, sets the sign bit of infinity and NaN. */
#if CHECKSUM_FORMAT == CHECKSUM_F64
typedef double checksum_component;
typedef double checksum_word;
#define CHECKSUM_AT_ONCE 2
#define CHECKSUM_WORDS 2
#define CHECKSUM_SCALE 0
#elif CHECKSUM_FORMAT == CHECKSUM_F32 || CHECKSUM_FORMAT == CHECKSUM_I32
#if CHECKSUM_FORMAT == CHECKSUM_F32
typedef float checksum_component;
#define CHECKSUM_SIGNS 0x80000000u
#define CHECKSUM_NEXT 0x00800000u
#define CHECKSUM_SCALE 896
#else
typedef int checksum_component;
#endif
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 4
#define CHECKSUM_WORDS 4
#elif CHECKSUM_FORMAT == CHECKSUM_F16 || CHECKSUM_FORMAT == CHECKSUM_BF16
typedef unsigned short checksum_component;
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 8
#define CHECKSUM_WORDS 4
#define CHECKSUM_SIGNS 0x80008000u
#if CHECKSUM_FORMAT == CHECKSUM_F16
#define CHECKSUM_SHIFT 10
#define CHECKSUM_NEXT 0x04000400u
#define CHECKSUM_SCALE 1008
#else
#define CHECKSUM_SHIFT 13
#define CHECKSUM_NEXT 0x00800080u
#define CHECKSUM_SCALE 896
#endif
#else
typedef unsigned char checksum_component;
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 16
#define CHECKSUM_WORDS 4
#define CHECKSUM_SIGNS 0x80808080u
#if CHECKSUM_FORMAT == CHECKSUM_E4M3
#define CHECKSUM_SHIFT 17
#define CHECKSUM_NEXT 0x01010101u
#define CHECKSUM_SCALE 1016
#elif CHECKSUM_FORMAT == CHECKSUM_E5M2
#define CHECKSUM_SHIFT 18
#define CHECKSUM_NEXT 0x04040404u
#define CHECKSUM_SCALE 1008
#endif
#endif
/* Words whose components may be infinity or NaN, which the bits of a double hide. */
#if CHECKSUM_INTEGER || CHECKSUM_SINGLE || CHECKSUM_FORMAT == CHECKSUM_F64
#define CHECKSUM_HIDES_NAN 0
#else
#define CHECKSUM_HIDES_NAN 1
#endif

#if CHECKSUM_INTEGER
typedef unsigned checksum_number, checksum_sum; /* checksum_sum: of C, in memory */
#elif CHECKSUM_SINGLE
typedef float checksum_number;
typedef double checksum_sum;
#else
typedef double checksum_number, checksum_sum;
#endif

#define CHECKSUM_ELEMENTS (CHECKSUM_AT_ONCE / CHECKSUM_PARTS)
#define CHECKSUM_PITCH 33
/* Rows of an item, and of a group; an item's first row, and its place among the 32 items of a row. AHEAD:
 * loads of an item for each row before it uses them. */
#if CHECKSUM_BY_ROW
#define CHECKSUM_ITEM_ROWS (TSL_DEVICE_CHECKSUM_ROWS * 32 / TSL_DEVICE_CHECKSUM_ITEMS)
#define CHECKSUM_ROWS TSL_DEVICE_CHECKSUM_ROWS
#define CHECKSUM_ITEM_ROW (TSL_ITEM(0) / 32 * CHECKSUM_ITEM_ROWS)
#define CHECKSUM_LANE (TSL_ITEM(0) % 32)
#define CHECKSUM_AHEAD 2
#else
#define CHECKSUM_ITEM_ROWS CHECKSUM_ELEMENTS
#define CHECKSUM_ROWS (TSL_DEVICE_CHECKSUM_LANES * CHECKSUM_ELEMENTS)
#define CHECKSUM_ITEM_ROW (TSL_ITEM(0) % TSL_DEVICE_CHECKSUM_LANES * CHECKSUM_ELEMENTS)
#define CHECKSUM_LANE (TSL_ITEM(0) / TSL_DEVICE_CHECKSUM_LANES)
#define CHECKSUM_AHEAD 4
#endif
/* Sums of a row of A in a pass: with vectors, and for floats with the bound. */
#define CHECKSUM_SUMS (CHECKSUM_VECTORS + !CHECKSUM_INTEGER)
/* Before a loop over sums that are joined: PoCL 3.1 stores wrong numbers if it unrolls a loop with barriers.
 */
#ifdef __OPENCL_C_VERSION__
#define CHECKSUM_UNROLL_JOINS TSL_UNROLL_BY(1)
#else
#define CHECKSUM_UNROLL_JOINS TSL_UNROLL
#endif
#define CHECKSUM_B 1

/* Lines whose elements are summed: a row of an operand with elements `step` apart. */
typedef struct checksum_lines {
  TSL_INDEX rows, row_stride, step; /* strides in components */
  bool is_wide;
} checksum_lines;

typedef struct checksum_load {
  checksum_word word[CHECKSUM_WORDS];
} checksum_load;

TSL_FUNCTION checksum_number checksum_magnitude(checksum_number x) {
#if CHECKSUM_INTEGER
  return x;
#else
  return fabs(x);
#endif
}

/* Returns 2 to the power of an exponent of normal numbers. */
TSL_FUNCTION double checksum_power(int exponent) {
  return TSL_AS_DOUBLE((TSL_INDEX)(exponent + 1023) << 52);
}

/* Returns a component, times 2^-CHECKSUM_SCALE; of CHECKSUM_SINGLE the component. */
TSL_FUNCTION checksum_number checksum_decode(checksum_component x) {
#if CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_F32
  return x;
#elif CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_F16
  return TSL_FLOAT_OF_HALF(x);
#elif CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_BF16
  return TSL_AS_FLOAT((int)((unsigned)x << 16));
#elif CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_E4M3
  const unsigned short half_bits = (unsigned short)((x & 128u) << 8 | (x & 127u) << 7); /* times 2^-8 */
  return (x & 127) == 127 ? TSL_NAN(float) : TSL_FLOAT_OF_HALF(half_bits) * 256.0f;
#elif CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_E5M2
  return TSL_FLOAT_OF_HALF((unsigned short)(x << 8));
#elif CHECKSUM_FORMAT == CHECKSUM_F32
  return (double)x * checksum_power(-CHECKSUM_SCALE);
#elif CHECKSUM_FORMAT == CHECKSUM_F16
  return (double)TSL_FLOAT_OF_HALF(x) * checksum_power(-CHECKSUM_SCALE);
#elif CHECKSUM_FORMAT == CHECKSUM_BF16
  return (double)TSL_AS_FLOAT((int)((unsigned)x << 16)) * checksum_power(-CHECKSUM_SCALE);
#elif CHECKSUM_FORMAT == CHECKSUM_I8
  return (checksum_number)(int)(signed char)x;
#elif CHECKSUM_FORMAT == CHECKSUM_E4M3
  const unsigned short half_bits = (unsigned short)((x & 128u) << 8 | (x & 127u) << 7); /* times 2^-8 */
  return (x & 127) == 127 ? TSL_NAN(double)
                          : (double)TSL_FLOAT_OF_HALF(half_bits) * checksum_power(8 - CHECKSUM_SCALE);
#elif CHECKSUM_FORMAT == CHECKSUM_E5M2
  return (double)TSL_FLOAT_OF_HALF((unsigned short)(x << 8)) * checksum_power(-CHECKSUM_SCALE);
#else
  return (checksum_number)x;
#endif
}

/* Returns component e, a constant, of a load, times 2^-CHECKSUM_SCALE. Infinity and NaN are other numbers. */
TSL_FUNCTION checksum_number checksum_get(checksum_load from, int e) {
#if CHECKSUM_FORMAT == CHECKSUM_F64
  return from.word[e];
#elif CHECKSUM_FORMAT == CHECKSUM_I32
  return checksum_decode(from.word[e]);
#elif CHECKSUM_INTEGER
  return checksum_decode((unsigned char)((unsigned)from.word[e / 4] >> 8 * (e % 4)));
#elif CHECKSUM_SINGLE && CHECKSUM_FORMAT == CHECKSUM_F32
  return TSL_AS_FLOAT(from.word[e]);
#elif CHECKSUM_SINGLE
  const int width = 32 / (CHECKSUM_AT_ONCE / 4), own = e % (32 / width);
  return checksum_decode((checksum_component)((unsigned)from.word[e * 4 / CHECKSUM_AT_ONCE] >> width * own));
#elif CHECKSUM_FORMAT == CHECKSUM_F32
  const unsigned bits = (unsigned)from.word[e], high = (bits & 0x80000000u) | (bits & 0x7fffffffu) >> 3;
  return TSL_AS_DOUBLE((TSL_INDEX)((TSL_UINT64)high << 32 | (TSL_UINT64)(bits << 29)));
#else
  /* the component is moved to the top of the word */
  const int width = 32 / (CHECKSUM_AT_ONCE / 4), own = e % (32 / width);
  const unsigned bits = (unsigned)from.word[e * 4 / CHECKSUM_AT_ONCE] << (32 - width - own * width),
                 magnitude = (bits & 0x7fffffffu) >> (32 - width);
  return TSL_AS_DOUBLE((TSL_INDEX)((TSL_UINT64)((bits & 0x80000000u) | magnitude << CHECKSUM_SHIFT) << 32));
#endif
}

/* Returns sign bits for the components of a word that are infinity or NaN. */
TSL_FUNCTION unsigned checksum_find_nan(checksum_word word) {
#if CHECKSUM_HIDES_NAN
  return (((unsigned)word & ~CHECKSUM_SIGNS) + CHECKSUM_NEXT) & CHECKSUM_SIGNS;
#else
  return 0;
#endif
}

TSL_FUNCTION checksum_load checksum_load_whole(TSL_GLOBAL const checksum_component *from) {
  checksum_load load;
#if CHECKSUM_FORMAT == CHECKSUM_F64
  const TSL_VECTOR(double, 2) words = TSL_LOAD_ALIGNED(double, 2, from);
#else
  const TSL_VECTOR(int, 4) words = TSL_LOAD_ALIGNED(int, 4, (TSL_GLOBAL const int *)from);
  load.word[2] = TSL_LANE(words, 2);
  load.word[3] = TSL_LANE(words, 3);
#endif
  load.word[0] = TSL_LANE(words, 0);
  load.word[1] = TSL_LANE(words, 1);
  return load;
}

TSL_FUNCTION checksum_load checksum_no_load(void) {
  checksum_load load;
  TSL_UNROLL
  for (int i = 0; i < CHECKSUM_WORDS; i++)
    load.word[i] = 0;
  return load;
}

/* Makes the sums of a row NaN. */
TSL_FUNCTION void checksum_set_nan(checksum_number *sums, int count, bool is_nan) {
#if CHECKSUM_HIDES_NAN
  TSL_UNROLL
  for (int i = 0; i < count; i++)
    sums[i] = is_nan ? TSL_NAN(double) : sums[i];
#endif
}

/* Returns true if a component is set in the flags of checksum_find_nan(), one for each word of a load. */
TSL_FUNCTION bool checksum_is_flagged(const unsigned *flags, int e) {
  const int in_word = CHECKSUM_AT_ONCE / CHECKSUM_WORDS, width = 32 / in_word;
  return (flags[e / in_word] >> (e % in_word * width + width - 1) & 1) != 0;
}

/* Sets the weights of `count` columns: odd numbers, or 1 with a sign. 32 columns share the bits of a number;
 * the columns are in one such set. */
TSL_FUNCTION void checksum_set_weights(TSL_INDEX col, int count, checksum_number *weights) {
  const unsigned bits = checksum_bits(col >> 5);
  const int first = (int)(col & 31);
  TSL_UNROLL
  for (int i = 0; i < count; i++)
#if CHECKSUM_INTEGER
    weights[i] = checksum_odd(bits, first + i);
#else
    weights[i] = checksum_sign(bits >> first, i) ? (checksum_number)-1 : (checksum_number)1;
#endif
}

/* Returns the place of a term in a vector. 32 items with `at_once` terms each then read neighbours. */
TSL_FUNCTION TSL_INDEX checksum_place(TSL_INDEX term, int at_once) {
  const TSL_INDEX within = term % (32 * at_once);
  return term - within + within % at_once * 32 + within / at_once;
}

/* Sums partial[row][0 .. 32) of `rows` rows into partial[row][0]. All items of the group call it. */
TSL_FUNCTION void checksum_join(TSL_LOCAL_POINTER checksum_number *partial, int rows) {
  TSL_BARRIER();
  for (int i = TSL_ITEM(0); i < rows * 4; i += TSL_DEVICE_CHECKSUM_ITEMS) {
    TSL_LOCAL_POINTER checksum_number *own = partial + i / 4 * CHECKSUM_PITCH + i % 4;
    own[0] = ((own[0] + own[4]) + (own[8] + own[12])) + ((own[16] + own[20]) + (own[24] + own[28]));
  }
  TSL_BARRIER();
  for (int i = TSL_ITEM(0); i < rows; i += TSL_DEVICE_CHECKSUM_ITEMS) {
    TSL_LOCAL_POINTER checksum_number *own = partial + i * CHECKSUM_PITCH;
    own[0] = (own[0] + own[1]) + (own[2] + own[3]);
  }
  TSL_BARRIER();
}

#endif
