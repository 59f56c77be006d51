#include "cli/sentence.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Limit of comparisons, so that a strange sentence takes no time. */
enum { STEPS_MAX = 100000 };

const char *tsl_sentence_conversion(const char *format, char *kind, int *place) {
  char *end;
  const long number = strtol(format + 1, &end, 10);
  *place = *end == '$' && number > 0 && number <= TSL_SENTENCE_PARTS_MAX ? (int)number : 0;
  format = *end == '$' ? end + 1 : format + 1;
  format += strspn(format, "-+ #0123456789.*lzh");
  *kind = *format;
  return *format ? format + 1 : format;
}

/* Returns the number of bytes that a conversion of this kind can take at most. */
static size_t sentence_room(char kind, const char *text) {
  switch (kind) {
  case 's':
    return strlen(text);
  case 'c':
    return *text ? 1 : 0;
  case 'x':
    return strspn(text, "0123456789abcdef");
  default: /* numbers, infinities and NaN */
    return strspn(text, "0123456789+-.einfa");
  }
}

static bool sentence_match(const char *format, const char *text, tsl_sentence_part *parts, int count,
                           int *steps) {
  for (; *format && *steps > 0; format++, text++, --*steps) {
    if (*format == '%' && format[1] != '%') {
      char kind;
      int place;
      const char *const rest = tsl_sentence_conversion(format, &kind, &place);
      const size_t room = sentence_room(kind, text);
      const bool is_text = kind == 's';
      if (count == TSL_SENTENCE_PARTS_MAX)
        return false;
      /* Words are taken as short as possible, numbers as long as possible. */
      for (size_t i = is_text ? 0 : 1; i <= room; i++) {
        const size_t length = is_text ? i : room + 1 - i;
        parts[place > 0 ? place - 1 : count] = (tsl_sentence_part){text, length, is_text};
        if (sentence_match(rest, text + length, parts, count + 1, steps))
          return true;
      }
      return false;
    }
    format += *format == '%';
    if (*format != *text)
      return false;
  }
  return *steps > 0 && *text == '\0';
}

/* Returns false if the text lacks the words between conversions, in their order. Most formats fail here. */
static bool has_words(const char *format, const char *text) {
  for (;;) {
    const size_t length = strcspn(format, "%");
    text = memmem(text, strlen(text), format, length);
    if (!text)
      return false;
    text += length;
    format += length;
    if (!*format)
      return true;
    char kind;
    int place;
    format = format[1] == '%' ? format + 2 : tsl_sentence_conversion(format, &kind, &place);
  }
}

bool tsl_sentence_match(const char *format, const char *text,
                        tsl_sentence_part parts[TSL_SENTENCE_PARTS_MAX]) {
  int steps = STEPS_MAX;
  if (!has_words(format, text))
    return false;
  memset(parts, 0, TSL_SENTENCE_PARTS_MAX * sizeof *parts);
  return sentence_match(format, text, parts, 0, &steps);
}

int tsl_sentence_letters(const char *format) {
  int letters = 0;
  while (*format)
    if (*format == '%' && format[1] != '%') {
      char kind;
      int place;
      format = tsl_sentence_conversion(format, &kind, &place);
    } else
      letters += isalpha((unsigned char)*format++) != 0;
  return letters;
}
