/* Numbers as text in the C locale, independent of the program's locale. Reading rounds exactly;
 * writing gives the shortest text that reads back to an equal value. */
#ifndef TSL_IO_IO_NUMBER_H
#define TSL_IO_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Flags: accepted forms besides plain decimals, a sign, "inf", "infinity" and "nan" in any case. */
#define TSL_NUMBER_FORTRAN 1 /* exponents as 1d5 and 1D5, as in Fortran */
#define TSL_NUMBER_COMMA 2   /* a decimal comma in place of the point */

/* Decimal precision of the numbers of a file read so far, from which their error is estimated. All
 * zeros: none read. */
typedef struct tsl_printed {
  bool fractions; /* a number has a point or an exponent; false: all are integers, taken as exact */
  /* a number without an exponent ends in 0 after its point: all have a fixed number of decimals */
  bool fixed;
  int decimals; /* maximum decimals, including the exponent: 1.25e-3 has 5, 1.25e3 has -1 */
  int digits;   /* maximum significant digits */
} tsl_printed;
/* Returns half a unit of the last digit of `value` in such a file: by decimals or by digits,
 * whichever is coarser. 0 for integers. */
double tsl_printed_half_unit(const tsl_printed *printed, double value);

typedef enum tsl_number_result {
  TSL_NUMBER_READ,
  TSL_NUMBER_NONE,      /* the text is not a number */
  TSL_NUMBER_TOO_LARGE, /* finite, but beyond the largest double */
} tsl_number_result;

/* Reads all of text[0] to text[length - 1]. `flags` is a sum of the flags above. Rounds to nearest,
 * ties to even; numbers below the smallest double become 0. */
tsl_number_result tsl_number_read(const char *text, size_t length, int flags, double *value);
/* Reads a number and updates `printed`, which may be NULL. */
tsl_number_result tsl_number_read_printed(const char *text, size_t length, int flags, double *value,
                                          tsl_printed *printed);
/* Reads an integer without point and exponent; TSL_NUMBER_TOO_LARGE beyond 64 bits. */
tsl_number_result tsl_number_read_whole(const char *text, size_t length, int64_t *value);

/* maximum length of a number as text */
#define TSL_NUMBER_MAX 32
/* Writes a value of a real type. Uses the fewest digits from which tsl_number_read(), rounded to
 * the type, gives an equal value, and of these the nearest; "inf", "-inf", "nan". Returns the
 * length; writes no NUL. */
size_t tsl_number_write(tesela_type type, double value, char out[TSL_NUMBER_MAX]);

#endif
