/* Numbers as text, in the C locale whatever the program's locale is: a reader that is exactly rounded, and a
 * writer of the shortest text that reads back to the same value. */
#ifndef TSL_IO_IO_NUMBER_H
#define TSL_IO_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* What the reader takes beside plain decimals, "inf", "infinity" and "nan" (any case), and a leading sign. */
#define TSL_NUMBER_FORTRAN 1 /* 1d5 and 1D5, as Fortran writes double precision */
#define TSL_NUMBER_COMMA 2   /* a decimal comma in place of the point */

/* How the numbers of a file are printed, as far as they were read: what of them can be believed. Zeros: none
 * was read. */
typedef struct tsl_printed {
  bool fractions; /* one has a point or an exponent; else all are whole numbers, which are what they seem */
  bool fixed; /* one without an exponent ends in 0 behind its point: all have so many decimals, wanted or not
               */
  int decimals; /* the most digits behind a point, exponents counted in: 1.25e-3 has 5, 1.25e3 has -1 */
  int digits;   /* the most digits from the first that is not 0 */
} tsl_printed;
/* Half a unit of the last digit of `value` in such a file: of its decimals, or else of its digits, whichever
 * is coarser. 0 for whole numbers. */
double tsl_printed_half_unit(const tsl_printed *printed, double value);

typedef enum tsl_number_result {
  TSL_NUMBER_READ,
  TSL_NUMBER_NONE,      /* the text is not one number */
  TSL_NUMBER_TOO_LARGE, /* a finite number beyond the largest double */
} tsl_number_result;

/* Reads all of text[0] to text[length - 1]; `flags` is a sum of the above. Rounds to nearest, ties to even;
 * what is smaller than the smallest double becomes zero. */
tsl_number_result tsl_number_read(const char *text, size_t length, int flags, double *value);
/* The same, and widens `printed` by this number. */
tsl_number_result tsl_number_read_printed(const char *text, size_t length, int flags, double *value,
                                          tsl_printed *printed);
/* The same for whole numbers without a point or an exponent; TOO_LARGE beyond 64 bits. */
tsl_number_result tsl_number_read_whole(const char *text, size_t length, int64_t *value);

/* Longest text of a number. */
#define TSL_NUMBER_MAX 32
/* Writes a value of a real type: the fewest digits from which tsl_number_read(), rounded to that type, gives
 * the value again, and of those the nearest; "inf", "-inf", "nan". Returns the length; no NUL. */
size_t tsl_number_write(tesela_type type, double value, char out[TSL_NUMBER_MAX]);

#endif
