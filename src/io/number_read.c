/* Short numbers need one rounded operation: digits below 2^53 and powers of ten to 10^22 are exact doubles
 * (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990). The C library reads other numbers. */
#include "io/io_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/text.h"
#include "io/input.h"

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* digits * 10^exponent. */
typedef struct decimal {
  bool negative;
  bool is_not_integer, has_exponent; /* is_not_integer: has a point or an exponent */
  uint64_t digits;                   /* first 19 significant digits */
  int significant;                   /* number of significant digits */
  int64_t exponent;
} decimal;

static const int64_t exponent_limit = 100000; /* beyond any double, far from overflow */

/* Reads digits and a point; returns the end, or NULL without a digit. */
static const char *parse_digits(const char *src, const char *end, char point, decimal *number) {
  bool any = false, after_point = false;
  int64_t fraction = 0;
  for (; src < end; src++) {
    if (*src == point && !after_point) {
      after_point = true;
      continue;
    }
    if (!is_digit(*src))
      break;
    any = true;
    fraction += after_point;
    if (number->significant == 0 && *src == '0')
      continue;
    if (number->significant++ < 19)
      number->digits = number->digits * 10 + (uint64_t)(*src - '0');
  }
  number->exponent = -fraction;
  number->is_not_integer = after_point;
  return any ? src : NULL;
}

/* Reads "e+12" up to `end`; false: anything else. */
static bool parse_exponent(const char *src, const char *end, decimal *number) {
  src++;
  const bool negative = src < end && *src == '-';
  src += src < end && (*src == '-' || *src == '+');
  if (src == end)
    return false;
  int64_t exponent = 0;
  for (; src < end; src++) {
    if (!is_digit(*src))
      return false;
    exponent = exponent * 10 + (*src - '0');
    if (exponent > exponent_limit)
      exponent = exponent_limit;
  }
  number->exponent += negative ? -exponent : exponent;
  number->is_not_integer = number->has_exponent = true;
  return true;
}

static bool equals_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static tsl_number_result read_inf_or_nan(const char *text, size_t length, bool negative, double *value) {
  if (equals_word(text, length, "inf") || equals_word(text, length, "infinity"))
    *value = negative ? -INFINITY : INFINITY;
  else if (equals_word(text, length, "nan"))
    *value = negative ? -NAN : NAN;
  else
    return TSL_NUMBER_NONE;
  return TSL_NUMBER_READ;
}

/* Reads a valid decimal by the C library; it can only be too large. */
static tsl_number_result read_by_c_library(const char *text, size_t length, double *value) {
  char copy[TSL_WORD_MAX + 1];
  if (length > TSL_WORD_MAX)
    return TSL_NUMBER_NONE;
  for (size_t i = 0; i < length; i++)
    copy[i] = text[i] == ',' ? '.' : text[i] == 'd' || text[i] == 'D' ? 'e' : text[i];
  copy[length] = '\0';
  return tsl_parse_double(copy, value) ? TSL_NUMBER_READ : TSL_NUMBER_TOO_LARGE;
}

/* Updates the precision; `last` is the number's last character. */
static void update_precision(tsl_printed *printed, const decimal *number, char last) {
  const int decimals = (int)-number->exponent;
  const bool first = printed->digits == 0 && !printed->fractions;
  if (number->significant > printed->digits)
    printed->digits = number->significant;
  if (first || decimals > printed->decimals)
    printed->decimals = decimals;
  printed->fractions = printed->fractions || number->is_not_integer;
  printed->fixed = printed->fixed || (number->is_not_integer && !number->has_exponent && last == '0');
}

double tsl_printed_half_unit(const tsl_printed *printed, double value) {
  if (!printed->fractions || !isfinite(value))
    return 0;
  const double by_decimals = 0.5 * pow(10, -printed->decimals);
  if (value == 0 || printed->fixed)
    return by_decimals;
  return fmax(by_decimals, 0.5 * pow(10, floor(log10(fabs(value))) - printed->digits + 1));
}

tsl_number_result tsl_number_read(const char *text, size_t length, int flags, double *value) {
  return tsl_number_read_printed(text, length, flags, value, NULL);
}

tsl_number_result tsl_number_read_printed(const char *text, size_t length, int flags, double *value,
                                          tsl_printed *printed) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = text;
  const char *const end = text + length;
  decimal number = {0};
  number.negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');
  if (at < end && (*at | 0x20) >= 'a')
    return read_inf_or_nan(at, (size_t)(end - at), number.negative, value);

  at = parse_digits(at, end, flags & TSL_NUMBER_COMMA ? ',' : '.', &number);
  if (at == NULL)
    return TSL_NUMBER_NONE;
  if (at < end) {
    const char mark = (char)(*at | 0x20);
    if (!(mark == 'e' || (mark == 'd' && (flags & TSL_NUMBER_FORTRAN))) || !parse_exponent(at, end, &number))
      return TSL_NUMBER_NONE;
  }
  if (printed != NULL)
    update_precision(printed, &number, end[-1]);

  if (number.significant > 19 || number.digits > (uint64_t)1 << 53 ||
      (number.digits != 0 && (number.exponent > 22 || number.exponent < -22)))
    return read_by_c_library(text, length, value);
  double result = (double)number.digits;
  if (number.digits != 0)
    result = number.exponent < 0 ? result / powers[-number.exponent] : result * powers[number.exponent];
  *value = number.negative ? -result : result;
  return TSL_NUMBER_READ;
}

tsl_number_result tsl_number_read_whole(const char *text, size_t length, int64_t *value) {
  const bool negative = length > 0 && text[0] == '-';
  size_t i = length > 0 && (text[0] == '-' || text[0] == '+');
  if (i == length)
    return TSL_NUMBER_NONE;
  int64_t result = 0;
  bool too_large = false;
  for (; i < length; i++) {
    if (!is_digit(text[i]))
      return TSL_NUMBER_NONE;
    const int64_t digit = text[i] - '0';
    too_large = too_large || result > (INT64_MAX - digit) / 10;
    result = too_large ? 0 : result * 10 + digit;
  }
  if (too_large)
    return TSL_NUMBER_TOO_LARGE;
  *value = negative ? -result : result;
  return TSL_NUMBER_READ;
}
