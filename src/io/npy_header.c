#include "io/npy_header.h"

#include <string.h>

#include "core/status.h"
#include "io/io_number.h"

/* a longer header is damaged or describes a structured array */
#define HEADER_MAX (TSL_INPUT_BLOCK / 16 - 1)

typedef struct cursor {
  const char *path, *at, *end;
} cursor;

static tesela_status fail_at_cursor(const cursor *here, const char *what) {
  char quoted[TSL_QUOTE_MAX];
  return tsl_fail(TESELA_BAD_INPUT, "%s: its header is no NumPy dictionary: %s at '%s'", here->path, what,
                  tsl_input_quote(here->at, (size_t)(here->end - here->at), quoted));
}

static void skip_header_blanks(cursor *here) {
  while (here->at < here->end &&
         (*here->at == ' ' || *here->at == '\t' || *here->at == '\n' || *here->at == '\r'))
    here->at++;
}

/* Skips blanks, and `mark` if it follows; returns true if it did. */
static bool skip_mark_if_next(cursor *here, char mark) {
  skip_header_blanks(here);
  if (here->at == here->end || *here->at != mark)
    return false;
  here->at++;
  return true;
}

static bool skip_word_if_next(cursor *here, const char *word) {
  const size_t length = strlen(word);
  skip_header_blanks(here);
  if ((size_t)(here->end - here->at) < length || memcmp(here->at, word, length) != 0)
    return false;
  here->at += length;
  return true;
}

/* Reads 'text' or "text" without escapes. */
static tesela_status parse_string(cursor *here, tsl_word *string) {
  skip_header_blanks(here);
  const char quote = here->at < here->end ? *here->at : '\0';
  if (quote != '\'' && quote != '"')
    return fail_at_cursor(here, "a quoted text is missing");
  const char *const start = here->at + 1;
  const char *const end = memchr(start, quote, (size_t)(here->end - start));
  if (end == NULL || memchr(start, '\\', (size_t)(end - start)) != NULL)
    return fail_at_cursor(here, "a quoted text does not end");
  *string = (tsl_word){.text = start, .length = (size_t)(end - start)};
  here->at = end + 1;
  return TESELA_OK;
}

static bool word_equals(tsl_word word, const char *text) {
  return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* Reads '<f8'. */
static tesela_status parse_descr(cursor *here, tsl_npy_header *header) {
  skip_header_blanks(here);
  if (here->at < here->end && *here->at == '[')
    return tsl_fail(TESELA_BAD_INPUT, "%s: is a structured array, not a matrix: save one field of it",
                    here->path);
  tsl_word descr = {.text = ""};
  TSL_TRY(parse_string(here, &descr));
  char quoted[TSL_QUOTE_MAX];
  tsl_input_quote(descr.text, descr.length, quoted);
  const bool has_order = descr.length > 0 && strchr("<>=|", descr.text[0]) != NULL;
  header->order = has_order ? descr.text[0] : '=';
  const size_t at = has_order;
  int64_t size = 0;
  if (descr.length < at + 2 || descr.text[at + 1] < '0' || descr.text[at + 1] > '9' ||
      tsl_number_read_whole(descr.text + at + 1, descr.length - at - 1, &size) != TSL_NUMBER_READ ||
      size > 1024)
    return tsl_fail(TESELA_BAD_INPUT, "%s: holds elements '%s', which are not numbers", here->path, quoted);
  header->kind = descr.text[at];
  header->size = (int)size;
  return TESELA_OK;
}

static tesela_status parse_fortran_order(cursor *here, tsl_npy_header *header) {
  header->fortran = skip_word_if_next(here, "True");
  if (header->fortran || skip_word_if_next(here, "False"))
    return TESELA_OK;
  return fail_at_cursor(here, "'fortran_order' is neither True nor False");
}

/* Reads (3, 4). */
static tesela_status parse_shape(cursor *here, tsl_npy_header *header) {
  int64_t sizes[2] = {1, 1};
  int rank = 0;
  if (!skip_mark_if_next(here, '('))
    return fail_at_cursor(here, "'shape' is not a tuple");
  const char *const start = here->at;
  while (!skip_mark_if_next(here, ')')) {
    skip_header_blanks(here);
    const char *const digits = here->at;
    while (here->at < here->end && *here->at >= '0' && *here->at <= '9')
      here->at++;
    int64_t size;
    const tsl_number_result result = tsl_number_read_whole(digits, (size_t)(here->at - digits), &size);
    if (result == TSL_NUMBER_TOO_LARGE)
      return tsl_fail(TESELA_BAD_INPUT, "%s: its shape is larger than any memory", here->path);
    if (result != TSL_NUMBER_READ)
      return fail_at_cursor(here, "'shape' is not a tuple of sizes");
    if (rank < 2)
      sizes[rank] = size;
    rank++;
    skip_mark_if_next(here, 'L'); /* suffix of long integers in Python 2 */
    /* a single size needs a comma; the last of several may have one */
    if (!skip_mark_if_next(here, ',') && (rank == 1 || here->at == here->end || *here->at != ')'))
      return fail_at_cursor(here, "'shape' is not a tuple of sizes");
  }
  if (rank > 2) {
    char quoted[TSL_QUOTE_MAX];
    return tsl_fail(TESELA_BAD_INPUT, "%s: has %d dimensions, (%s; a matrix has at most two", here->path,
                    rank, tsl_input_quote(start, (size_t)(here->at - start), quoted));
  }
  header->rows = sizes[0];
  header->cols = sizes[1];
  return TESELA_OK;
}

/* Each key occurs once, in any order. */
static const struct {
  const char *name;
  tesela_status (*parse)(cursor *here, tsl_npy_header *header);
} keys[] = {{"descr", parse_descr}, {"fortran_order", parse_fortran_order}, {"shape", parse_shape}};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static tesela_status parse_dictionary(cursor *here, tsl_npy_header *header) {
  bool seen[KEY_COUNT] = {false};
  if (!skip_mark_if_next(here, '{'))
    return fail_at_cursor(here, "'{' is missing");
  while (!skip_mark_if_next(here, '}')) {
    tsl_word name = {.text = ""};
    const cursor before = *here;
    TSL_TRY(parse_string(here, &name));
    int key = 0;
    while (key < KEY_COUNT && !word_equals(name, keys[key].name))
      key++;
    if (key == KEY_COUNT || seen[key])
      return fail_at_cursor(&before, key == KEY_COUNT ? "an unknown key" : "a key for the second time");
    if (!skip_mark_if_next(here, ':'))
      return fail_at_cursor(here, "':' is missing");
    seen[key] = true;
    TSL_TRY(keys[key].parse(here, header));
    if (!skip_mark_if_next(here, ',') && (here->at == here->end || *here->at != '}'))
      return fail_at_cursor(here, "',' or '}' is missing");
  }
  for (int key = 0; key < KEY_COUNT; key++)
    if (!seen[key])
      return tsl_fail(TESELA_BAD_INPUT, "%s: its header has no '%s'", here->path, keys[key].name);
  skip_header_blanks(here);
  return here->at == here->end ? TESELA_OK : fail_at_cursor(here, "more text");
}

/* Reads up to the dictionary; *length: its bytes. */
static tesela_status read_prefix(tsl_input *in, size_t *length) {
  unsigned char bytes[TSL_NPY_MAGIC_LENGTH + 2 + 4] = {0};
  size_t got;
  TSL_TRY(tsl_input_read(in, bytes, TSL_NPY_MAGIC_LENGTH + 2, &got));
  if (memcmp(bytes, TSL_NPY_MAGIC, got < TSL_NPY_MAGIC_LENGTH ? got : TSL_NPY_MAGIC_LENGTH) != 0 || got == 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is no .npy file: it does not begin with \\x93NUMPY", in->path);
  const int version = bytes[TSL_NPY_MAGIC_LENGTH];
  if (got == TSL_NPY_MAGIC_LENGTH + 2 && (version < 1 || version > 3 || bytes[TSL_NPY_MAGIC_LENGTH + 1] != 0))
    return tsl_fail(TESELA_BAD_INPUT, "%s: is .npy of version %d.%d; versions 1.0, 2.0 and 3.0 are known",
                    in->path, version, bytes[TSL_NPY_MAGIC_LENGTH + 1]);
  const size_t width = version == 1 ? 2 : 4;
  unsigned char *const at = bytes + TSL_NPY_MAGIC_LENGTH + 2;
  TSL_TRY(tsl_input_read(in, at, width, &got));
  if (got < width)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated inside its header", in->path);
  *length = (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
  if (*length > HEADER_MAX)
    return tsl_fail(TESELA_BAD_INPUT, "%s: says that its header has %zu bytes; a matrix's has at most %zu",
                    in->path, *length, HEADER_MAX);
  return TESELA_OK;
}

tesela_status tsl_npy_header_read(tsl_input *in, tsl_npy_header *header) {
  size_t length = 0;
  TSL_TRY(read_prefix(in, &length));
  TSL_TRY(tsl_input_fill(in, length));
  if (in->end - in->at < length)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated inside its header", in->path);
  const char *const text = in->block + in->at;
  cursor here = {.path = in->path, .at = text, .end = text + length};
  in->at += length;
  *header = (tsl_npy_header){0};
  return parse_dictionary(&here, header);
}
