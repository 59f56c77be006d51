/* How wide the program's integers are. Names do not tell: MKL and who builds the reference with 64-bit
 * integers have them under the names that 32-bit ones have elsewhere. */
#ifndef TSL_SCALAPACK_WIDTH_H
#define TSL_SCALAPACK_WIDTH_H

#include <stdint.h>

/* Bytes of an integer of the program's ScaLAPACK: 4 or 8; 0 where it cannot be told. Asked once. */
int tsl_scalapack_width(void);
/* The integer at a place of an array of such integers. */
int64_t tsl_scalapack_integer(const void *array, int place);
/* The same integer, as the program's libraries read one by address. */
typedef union tsl_scalapack_word {
  int32_t narrow;
  int64_t wide;
} tsl_scalapack_word;
tsl_scalapack_word tsl_scalapack_say(int64_t value);

#endif
