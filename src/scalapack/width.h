/* Names do not tell the width of integers: MKL, and some builds, use the 32-bit names for 64-bit ones. */
#ifndef TSL_SCALAPACK_WIDTH_H
#define TSL_SCALAPACK_WIDTH_H

#include <stdint.h>

/* Returns the bytes of an integer of the program's ScaLAPACK: 4 or 8; 0: unknown. */
int tsl_scalapack_width(void);
/* Returns integer `index` of an array of the program. */
int64_t tsl_scalapack_integer(const void *array, int index);
/* Integer in the program's width, to be passed by address. */
typedef union tsl_scalapack_word {
  int32_t narrow;
  int64_t wide;
} tsl_scalapack_word;
/* Converts an integer to the program's width. */
tsl_scalapack_word tsl_scalapack_word_of(int64_t value);

#endif
