/* Numbers as text, in the C locale whatever the program's locale is: a reader that is exactly rounded, and a
 * writer of the shortest text that reads back to the same value. */
#ifndef TSL_IO_NUMBER_H
#define TSL_IO_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* What the reader takes beside plain decimals, "inf", "infinity" and "nan" (any case), and a leading sign. */
#define TSL_NUMBER_FORTRAN 1 /* 1d5 and 1D5, as Fortran writes double precision */
#define TSL_NUMBER_COMMA 2   /* a decimal comma in place of the point */

typedef enum tsl_number_result {
  TSL_NUMBER_READ,
  TSL_NUMBER_NONE,      /* the text is not one number */
  TSL_NUMBER_TOO_LARGE, /* a finite number beyond the largest double */
} tsl_number_result;

/* Reads all of text[0] to text[length - 1]; `flags` is a sum of the above. Rounds to nearest, ties to even;
 * what is smaller than the smallest double becomes zero. */
tsl_number_result tsl_number_read(const char *text, size_t length, int flags, double *value);
/* The same for whole numbers without a point or an exponent; TOO_LARGE beyond 64 bits. */
tsl_number_result tsl_number_read_whole(const char *text, size_t length, int64_t *value);

/* Longest text of a number. */
#define TSL_NUMBER_MAX 32
/* Writes a value of a real type: the fewest digits from which tsl_number_read(), rounded to that type, gives
 * the value again, and of those the nearest; "inf", "-inf", "nan". Returns the length; no NUL. */
size_t tsl_number_write(tesela_type type, double value, char out[TSL_NUMBER_MAX]);

#endif
