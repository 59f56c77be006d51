/* Weights of C's columns in checksums of its rows (docs/VERIFY.md). 32 columns share the bits of a hash. */
#ifndef TSL_KERNEL_CHECKSUM_WEIGHTS_H
#define TSL_KERNEL_CHECKSUM_WEIGHTS_H

#include "dialect.h"

/* Returns 32 bits of an index. The mixer has constants of Wellons (2018). */
TSL_FUNCTION unsigned checksum_bits(TSL_INDEX index) {
  unsigned x = (unsigned)index + 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Returns the weight of column `i` of the 32 columns that share `bits`: an odd number, for integers. */
TSL_FUNCTION unsigned checksum_odd(unsigned bits, int i) {
  return (bits ^ (unsigned)i * 0x9e3779b9u) | 1;
}

/* Returns the sign bit of that column's weight, 1 or -1, for floats. */
TSL_FUNCTION unsigned checksum_sign(unsigned bits, int i) {
  return bits << (31 - i) & 0x80000000u;
}

#endif
