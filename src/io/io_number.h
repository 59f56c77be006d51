/* Numbers as text, independent of the locale. Reading rounds exactly; writing is shortest. */
#ifndef TSL_IO_IO_NUMBER_H
#define TSL_IO_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Flags: forms besides decimals, sign, "inf", "infinity" and "nan" in any case. */
#define TSL_NUMBER_FORTRAN 1 /* exponents as 1d5 and 1D5, as in Fortran */
#define TSL_NUMBER_COMMA 2   /* a decimal comma in place of the point */

/* Decimal precision of a file's numbers so far, for their error. All zeros: none. */
typedef struct tsl_printed {
  bool fractions; /* a number has a point or exponent; false: all are exact integers */
  /* All have a fixed number of decimals: a number without exponent ends in 0 after its point. */
  bool fixed;
  int decimals; /* maximum decimals with exponent: 1.25e-3 has 5, 1.25e3 has -1 */
  int digits;   /* maximum significant digits */
} tsl_printed;
/* Returns half a unit of `value`'s last digit, by decimals or digits, whichever is coarser; 0: integers. */
double tsl_printed_half_unit(const tsl_printed *printed, double value);

typedef enum tsl_number_result {
  TSL_NUMBER_READ,
  TSL_NUMBER_NONE,
  TSL_NUMBER_TOO_LARGE, /* finite, but above the largest double */
} tsl_number_result;

/* Reads all of the text, with a sum of flags. Rounds to nearest, ties to even; tiny numbers become 0. */
tsl_number_result tsl_number_read(const char *text, size_t length, int flags, double *value);
/* Reads a number and updates `printed` (may be NULL). */
tsl_number_result tsl_number_read_printed(const char *text, size_t length, int flags, double *value,
                                          tsl_printed *printed);
/* Reads an integer without point and exponent; TSL_NUMBER_TOO_LARGE beyond 64 bits. */
tsl_number_result tsl_number_read_whole(const char *text, size_t length, int64_t *value);

#define TSL_NUMBER_MAX 32
/* Writes a real type's value without NUL and returns the length. Uses the fewest digits that read back to an
 * equal value, and of these the nearest; "inf", "-inf", "nan". */
size_t tsl_number_write(tesela_type type, double value, char out[TSL_NUMBER_MAX]);

#endif
