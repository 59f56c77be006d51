/* Growing strings, locale-independent numbers, and records "name key=value ...". */
#ifndef TSL_CORE_TEXT_H
#define TSL_CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Growing string, from {0}; data is NULL or NUL-terminated. Without memory `failed` is set and additions do
 * nothing, so callers check once, with tsl_text_status(). */
typedef struct tsl_text {
  char *data;
  size_t length, capacity; /* bytes without the NUL; bytes allocated */
  bool failed;
} tsl_text;

/* Appends like printf() in the C locale. */
void tsl_text_add(tsl_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_text_add_arguments(tsl_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void tsl_text_add_bytes(tsl_text *text, const char *bytes, size_t count);
/* Appends the shortest %g form that reads back as the same double; "inf", "-inf" or "nan". */
void tsl_text_add_double(tsl_text *text, double value);
tesela_status tsl_text_status(const tsl_text *text); /* TESELA_OK or TESELA_OUT_OF_MEMORY */
const char *tsl_text_get(const tsl_text *text);      /* never NULL */
/* Returns the string, for free(), and resets text to {0}; NULL: memory ran out. */
char *tsl_text_take(tsl_text *text);
void tsl_text_free(tsl_text *text);

/* Returns the bytes of the UTF-8 character at the start; 0 for a surrogate, an overlong form, or no UTF-8. */
size_t tsl_utf8_bytes(const char *text);

/* Parses a whole word in the C locale. Returns false, with *out unchanged, for blanks, hexadecimal and
 * overflow. A sign is allowed; a double that is too small is rounded, at last to 0. */
bool tsl_parse_i64(const char *word, int64_t *out);
bool tsl_parse_double(const char *word, double *out); /* also accepts inf and nan */
/* Parses a size: "64", "16KiB", "1.5GiB", "2G"; drops a fraction of a byte. False: not one, or too large. */
bool tsl_parse_bytes(const char *word, uint64_t *out);

/* Field of a record. A record may start with several bare words ("gemm tile_local tile=16"). */
typedef struct tsl_record_field {
  const char *key;   /* NULL for a bare word */
  const char *value; /* the word itself if it is bare */
} tsl_record_field;

typedef struct tsl_record {
  tsl_record_field *fields;
  int count;
  char *storage; /* copy of the line, to which the fields point */
} tsl_record;

/* Splits a line at blanks; free the record. A value may be empty. TESELA_BAD_INPUT, with *out empty: an empty
 * or repeated key, a bare word after key=value, a control character but tabs, or over 1024 words. */
tesela_status tsl_record_parse(const char *line, tsl_record *out);
void tsl_record_free(tsl_record *record);
/* Returns the `index`-th bare word, or NULL. */
const char *tsl_record_word(const tsl_record *record, int index);
/* Returns the value of a key, or NULL. */
const char *tsl_record_get(const tsl_record *record, const char *key);

/* Writes a size such as "1.5 GiB", "640 KiB", "12 B", at most `size` bytes. Returns `out`. */
const char *tsl_format_bytes(uint64_t bytes, char *out, size_t size);
/* Writes a time such as "1.23 s", "45.6 ms", "789 us", "12 ns". Returns `out`. */
const char *tsl_format_seconds(double seconds, char *out, size_t size);

#endif
