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
 * integers modulo 2^32 with odd weights. From the host: CHECKSUM_FORMAT, the components of the operand;
 * CHECKSUM_INTEGER, CHECKSUM_PARTS of an element, CHECKSUM_VECTORS of a pass over A.
 * Any strides. */
#ifndef TSL_KERNEL_CHECKSUM_ELEMENTS_H
#define TSL_KERNEL_CHECKSUM_ELEMENTS_H

#include "dialect.h"

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

/* Component in memory; its number in 16 bytes; words of a load, with components each. */
#if CHECKSUM_FORMAT == CHECKSUM_F64
typedef double checksum_component;
typedef double checksum_word;
#define CHECKSUM_AT_ONCE 2
#elif CHECKSUM_FORMAT == CHECKSUM_F32 || CHECKSUM_FORMAT == CHECKSUM_I32
#if CHECKSUM_FORMAT == CHECKSUM_F32
typedef float checksum_component;
#else
typedef int checksum_component;
#endif
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 4
#elif CHECKSUM_FORMAT == CHECKSUM_F16 || CHECKSUM_FORMAT == CHECKSUM_BF16
typedef unsigned short checksum_component;
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 8
#else
typedef unsigned char checksum_component;
typedef int checksum_word;
#define CHECKSUM_AT_ONCE 16
#endif
#if CHECKSUM_FORMAT == CHECKSUM_F64
#define CHECKSUM_WORDS 2
#else
#define CHECKSUM_WORDS 4
#endif

#if CHECKSUM_INTEGER
typedef unsigned checksum_number;
#else
typedef double checksum_number;
#endif

#define CHECKSUM_ELEMENTS (CHECKSUM_AT_ONCE / CHECKSUM_PARTS)
#define CHECKSUM_PITCH 33
/* Rows of an item, and of a group, where rows are contiguous; loads of an item before it uses them. */
#define CHECKSUM_ITEM_ROWS (TSL_DEVICE_CHECKSUM_ROWS * 32 / TSL_DEVICE_CHECKSUM_ITEMS)
#define CHECKSUM_AHEAD 2
/* The same where columns are contiguous. */
#define CHECKSUM_GROUP_ACROSS (TSL_DEVICE_CHECKSUM_LANES * CHECKSUM_ELEMENTS)
#define CHECKSUM_AHEAD_ACROSS 4
#if CHECKSUM_GROUP_ACROSS > TSL_DEVICE_CHECKSUM_ROWS
#define CHECKSUM_ROWS_MAX CHECKSUM_GROUP_ACROSS
#else
#define CHECKSUM_ROWS_MAX TSL_DEVICE_CHECKSUM_ROWS
#endif
/* Rows of an item in either case. */
#if CHECKSUM_ELEMENTS > CHECKSUM_ITEM_ROWS
#define CHECKSUM_OWN_ROWS CHECKSUM_ELEMENTS
#else
#define CHECKSUM_OWN_ROWS CHECKSUM_ITEM_ROWS
#endif
/* Sums of a row of A in a pass: with vectors, and for floats with the bound. */
#define CHECKSUM_SUMS (CHECKSUM_VECTORS + !CHECKSUM_INTEGER)
#define CHECKSUM_B 1
#define CHECKSUM_C 2

/* Lines whose elements are summed: a row of an operand with elements `step` apart. */
typedef struct checksum_lines {
  TSL_INDEX rows, row_stride, step; /* strides in components */
  bool by_row, is_wide;
} checksum_lines;

typedef struct checksum_load {
  checksum_word word[CHECKSUM_WORDS];
} checksum_load;

TSL_FUNCTION checksum_number checksum_magnitude(checksum_number x) {
#if CHECKSUM_INTEGER
  return x;
#else
  return x < 0 ? -x : x;
#endif
}

TSL_FUNCTION checksum_number checksum_decode(checksum_component x) {
#if CHECKSUM_FORMAT == CHECKSUM_F16
  return (double)TSL_FLOAT_OF_HALF(x);
#elif CHECKSUM_FORMAT == CHECKSUM_BF16
  return (double)TSL_AS_FLOAT((int)((unsigned)x << 16));
#elif CHECKSUM_FORMAT == CHECKSUM_I8
  return (checksum_number)(int)(signed char)x;
#elif CHECKSUM_FORMAT == CHECKSUM_E4M3
  const unsigned short half_bits = (unsigned short)((x & 128u) << 8 | (x & 127u) << 7);
  return (x & 127) == 127 ? TSL_NAN(double) : 256.0 * (double)TSL_FLOAT_OF_HALF(half_bits);
#elif CHECKSUM_FORMAT == CHECKSUM_E5M2
  return (double)TSL_FLOAT_OF_HALF((unsigned short)(x << 8));
#else
  return (checksum_number)x;
#endif
}

/* Returns component e, a constant, of a load. */
TSL_FUNCTION checksum_number checksum_get(checksum_load from, int e) {
#if CHECKSUM_FORMAT == CHECKSUM_F64
  return from.word[e];
#elif CHECKSUM_FORMAT == CHECKSUM_F32
  return checksum_decode(TSL_AS_FLOAT(from.word[e]));
#elif CHECKSUM_FORMAT == CHECKSUM_I32
  return checksum_decode(from.word[e]);
#elif CHECKSUM_AT_ONCE == 8
  return checksum_decode((unsigned short)((unsigned)from.word[e / 2] >> 16 * (e % 2)));
#else
  return checksum_decode((unsigned char)((unsigned)from.word[e / 4] >> 8 * (e % 4)));
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

/* Returns 32 bits of an index. The mixer has constants of Wellons (2018). */
TSL_FUNCTION unsigned checksum_bits(TSL_INDEX index) {
  unsigned x = (unsigned)index + 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Sets the weights of `count` columns: odd numbers, or 1 with a sign. 32 columns share the bits of a number;
 * the columns are in one such set. */
TSL_FUNCTION void checksum_set_weights(TSL_INDEX col, int count, checksum_number *weights) {
#if !CHECKSUM_INTEGER
  const unsigned bits = checksum_bits(col >> 5) >> (int)(col & 31);
#endif
  TSL_UNROLL
  for (int i = 0; i < count; i++)
#if CHECKSUM_INTEGER
    weights[i] = checksum_bits(col + i) | 1;
#else
    weights[i] = bits >> i & 1 ? -1.0 : 1.0;
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
