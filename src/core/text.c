#include "core/text.h"

#include "core/checked.h"
#include "core/locale.h"
#include "core/status.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reserves `count` more bytes and a NUL. Returns false, with `failed` set, without memory. */
static bool text_reserve(tsl_text *text, size_t count) {
  size_t wanted;
  if (text->failed)
    return false;
  if (!tsl_size_add(text->length, count, &wanted) || !tsl_size_add(wanted, 1, &wanted)) {
    text->failed = true;
    return false;
  }
  if (wanted <= text->capacity)
    return true;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity < wanted)
    if (!tsl_size_mul(capacity, 2, &capacity))
      capacity = wanted;
  char *const data = capacity > PTRDIFF_MAX ? NULL : realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void tsl_text_add_arguments(tsl_text *text, const char *format, va_list arguments) {
  if (!text_reserve(text, 0))
    return;
  va_list again;
  va_copy(again, arguments);
  const size_t space = text->capacity - text->length;
  int length = tsl_locale_format(text->data + text->length, space, format, arguments);
  if (length >= 0 && (size_t)length >= space && text_reserve(text, (size_t)length))
    length = tsl_locale_format(text->data + text->length, (size_t)length + 1, format, again);
  va_end(again);
  if (length < 0 || text->failed) {
    text->failed = true;
    text->data[text->length] = '\0';
    return;
  }
  text->length += (size_t)length;
}

void tsl_text_add(tsl_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tsl_text_add_arguments(text, format, arguments);
  va_end(arguments);
}

void tsl_text_add_bytes(tsl_text *text, const char *bytes, size_t count) {
  if (!text_reserve(text, count))
    return;
  if (count > 0)
    memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = '\0';
}

void tsl_text_add_double(tsl_text *text, double value) {
  if (isnan(value) || isinf(value)) {
    tsl_text_add(text, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  /* Fifteen digits hold every shorter decimal of a normal number; seventeen are always enough. */
  char digits[40];
  for (int precision = fabs(value) < DBL_MIN ? 1 : DBL_DIG; precision <= DBL_DECIMAL_DIG; precision++) {
    double back;
    tsl_locale_print(digits, sizeof digits, "%.*g", precision, value);
    if (tsl_parse_double(digits, &back) && back == value)
      break;
  }
  tsl_text_add_bytes(text, digits, strlen(digits));
}

size_t tsl_utf8_bytes(const char *text) {
  static const uint32_t min_codes[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *const bytes = (const unsigned char *)text;
  const unsigned ones = (unsigned)__builtin_clz(~((unsigned)bytes[0] << 24)); /* leading bits that are set */
  if (ones == 1 || ones > 4)
    return 0;
  const size_t count = ones > 0 ? ones : 1;
  uint32_t code = bytes[0] & (0x7fu >> ones);
  for (size_t i = 1; i < count; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (bytes[i] & 0x3f);
  }
  return code >= min_codes[count] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? count : 0;
}

tesela_status tsl_text_status(const tsl_text *text) {
  return text->failed
             ? tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a text of more than %zu bytes", text->length)
             : TESELA_OK;
}

const char *tsl_text_get(const tsl_text *text) {
  return text->data ? text->data : "";
}

char *tsl_text_take(tsl_text *text) {
  if (text->failed)
    tsl_text_free(text);
  else
    tsl_text_add_bytes(text, "", 0);
  char *const data = text->data;
  *text = (tsl_text){0};
  return data;
}

void tsl_text_free(tsl_text *text) {
  free(text->data);
  *text = (tsl_text){0};
}

static bool text_is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool tsl_parse_i64(const char *word, int64_t *out) {
  const bool negative = *word == '-';
  word += *word == '-' || *word == '+';
  if (!*word)
    return false;
  /* Counts down, because the most negative number has no positive counterpart. */
  int64_t value = 0;
  for (; *word; word++)
    if (!text_is_digit(*word) || !tsl_i64_mul(value, 10, &value) || !tsl_i64_add(value, '0' - *word, &value))
      return false;
  if (!negative && !tsl_i64_mul(value, -1, &value))
    return false;
  *out = value;
  return true;
}

bool tsl_parse_double(const char *word, double *out) {
  /* strtod() also accepts leading white space, hexadecimal and "nan(text)". */
  const char first = word[*word == '-' || *word == '+'];
  const bool starts = text_is_digit(first) || first == '.' || (first != '\0' && strchr("iInN", first));
  const locale_t locale = tsl_locale_c();
  if (!starts || strpbrk(word, "xX(") || !locale)
    return false;
  const int saved_errno = errno;
  char *end;
  errno = 0;
  const double value = strtod_l(word, &end, locale);
  const bool overflow = errno == ERANGE && isinf(value);
  errno = saved_errno;
  if (*end != '\0' || end == word || overflow)
    return false;
  *out = value;
  return true;
}

/* Returns the bytes of "", "B", "K", "MiB", ...; 0: an unknown suffix. */
static uint64_t factor_of_size_suffix(const char *suffix) {
  static const char letters[] = "KMGTPE";
  if (!*suffix || strcmp(suffix, "B") == 0)
    return 1;
  const char *const letter = strchr(letters, *suffix == 'k' ? 'K' : *suffix);
  if (!letter || (suffix[1] != '\0' && strcmp(suffix + 1, "iB") != 0))
    return 0;
  return (uint64_t)1 << (10 * (letter - letters + 1));
}

bool tsl_parse_bytes(const char *word, uint64_t *out) {
  if (!text_is_digit(*word))
    return false;
  uint64_t whole = 0;
  for (; text_is_digit(*word); word++)
    if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *word - '0', &whole))
      return false;
  double fraction = 0, decimal_place = 1;
  const bool has_fraction = *word == '.';
  if (has_fraction) {
    if (!text_is_digit(*++word))
      return false;
    for (; text_is_digit(*word); word++)
      fraction += (decimal_place /= 10) * (*word - '0');
  }
  const uint64_t factor = factor_of_size_suffix(word);
  if (factor == 0 || (has_fraction && factor == 1) || __builtin_mul_overflow(whole, factor, &whole) ||
      __builtin_add_overflow(whole, (uint64_t)(fraction * (double)factor), &whole))
    return false;
  *out = whole;
  return true;
}
