/* Text: a growing string, locale-independent numbers, and records "name key=value ...". A record is the
 * one-line form of plans, strategies and wisdom. */
#ifndef TSL_BASE_TEXT_H
#define TSL_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Growing string. Start with {0}; data is NULL or NUL-terminated. When memory runs out `failed` is set
 * and later additions do nothing. So callers check once, with tsl_text_status(). */
typedef struct tsl_text {
  char *data;
  size_t length, capacity;
  bool failed;
} tsl_text;

/* Appends like printf() in the C locale. */
void tsl_text_add(tsl_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_text_add_list(tsl_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void tsl_text_add_bytes(tsl_text *text, const char *bytes, size_t count);
/* Appends the shortest %g form that reads back as the same double; "inf", "-inf" or "nan". */
void tsl_text_add_double(tsl_text *text, double value);
tesela_status tsl_text_status(const tsl_text *text); /* TESELA_OK or TESELA_OUT_OF_MEMORY */
const char *tsl_text_get(const tsl_text *text);      /* never NULL */
/* Returns the string, which the caller frees with free(), and resets text to {0}. NULL only if memory
 * ran out. */
char *tsl_text_take(tsl_text *text);
void tsl_text_free(tsl_text *text);

/* Parses a whole word as a number in the C locale. Returns false, with *out unchanged, unless all of
 * `word` is one number in range. A sign is allowed; blanks, hexadecimal and overflow are not. A double
 * that is too small is rounded, at last to 0. */
bool tsl_parse_i64(const char *word, int64_t *out);
bool tsl_parse_double(const char *word, double *out); /* also accepts inf and nan */
/* Parses a size with an optional binary suffix: "64", "16KiB", "1.5GiB", "2G". A fraction of a byte is
 * dropped. */
bool tsl_parse_bytes(const char *word, uint64_t *out);

/* Field of a record "name key=value key=value". Words are separated by blanks. A record may start with
 * several bare words ("gemm tile_local tile=16"). */
typedef struct tsl_record_field {
  const char *key; /* NULL for a bare word */
  const char *value;
} tsl_record_field;

typedef struct tsl_record {
  tsl_record_field *fields;
  int count;
  char *storage;
} tsl_record;

/* Splits a line; free the record with tsl_record_free(). A value may be empty. TESELA_BAD_INPUT names
 * the wrong word: an empty or repeated key, a bare word after key=value, a control character (tabs are
 * blanks), or more than 1024 words. After a failure *out is empty. */
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
