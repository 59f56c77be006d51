/* Text: a growing string, numbers that do not depend on the locale, and the one-line form "name key=value
 * ..." in which plans, strategies and remembered plans are written. */
#ifndef TSL_BASE_TEXT_H
#define TSL_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* A growing string. Start with {0}; data is NULL or NUL-terminated. Out of memory sets `failed` and later
 * additions do nothing, so that callers check once, with tsl_text_status(). */
typedef struct tsl_text {
  char *data;
  size_t length, capacity;
  bool failed;
} tsl_text;

/* printf in the C locale. */
void tsl_text_add(tsl_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_text_add_list(tsl_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void tsl_text_add_bytes(tsl_text *text, const char *bytes, size_t count);
/* The shortest %g form that reads back to the same double; "inf", "-inf", "nan". */
void tsl_text_add_double(tsl_text *text, double value);
tesela_status tsl_text_status(const tsl_text *text); /* TESELA_OK or TESELA_OUT_OF_MEMORY */
const char *tsl_text_get(const tsl_text *text);      /* never NULL */
/* The caller frees it with free(); text is {0} again. NULL only when memory ran out. */
char *tsl_text_take(tsl_text *text);
void tsl_text_free(tsl_text *text);

/* Whole-word readers, C locale: false, and *out unchanged, unless all of `word` is one number in range. A
 * sign may stand in front; blanks, hexadecimal and numbers that overflow are refused. A double too small for
 * its type is rounded, to 0 in the end. */
bool tsl_parse_i64(const char *word, int64_t *out);
bool tsl_parse_double(const char *word, double *out); /* also inf and nan */
/* A count with an optional binary suffix: "64", "16KiB", "1.5GiB", "2G". A fraction of a byte is cut off. */
bool tsl_parse_bytes(const char *word, uint64_t *out);

/* "name key=value key=value": words split at blanks; a value is any run of other characters. A record may
 * start with several bare words ("gemm tile_local tile=16"). */
typedef struct tsl_record_field {
  const char *key; /* NULL for a bare word */
  const char *value;
} tsl_record_field;

typedef struct tsl_record {
  tsl_record_field *fields;
  int count;
  char *storage;
} tsl_record;

/* Splits a line. TESELA_BAD_INPUT names the word: an empty key, a key given twice, a bare word after
 * key=value, a control character (tabs are blanks); or more than 1024 words. A value may be empty. On failure
 * *out is empty. */
tesela_status tsl_record_parse(const char *line, tsl_record *out);
void tsl_record_free(tsl_record *record);
/* The `index`-th bare word, or NULL. */
const char *tsl_record_word(const tsl_record *record, int index);
/* The value of a key, or NULL. */
const char *tsl_record_get(const tsl_record *record, const char *key);

/* "1.5 GiB", "640 KiB", "12 B". Writes at most `size` bytes and returns `out`. */
const char *tsl_format_bytes(uint64_t bytes, char *out, size_t size);
/* "1.23 s", "45.6 ms", "789 us", "12 ns". */
const char *tsl_format_seconds(double seconds, char *out, size_t size);

#endif
