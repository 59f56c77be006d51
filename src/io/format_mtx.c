/* Matrix Market (https://math.nist.gov/MatrixMarket/formats.html): a banner, the shape, one entry a line.
 * Arrays are stored by columns. Coordinate files list row and column, from 1, of non-zero entries. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "core/status.h"
#include "io/io_format.h"
#include "io/io_number.h"

enum { ARRAY, COORDINATE };
enum { REAL, INTEGER, COMPLEX, PATTERN, UNSIGNED, FIELDS };
enum { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN };

/* In the order of the enumerations above. */
static const char banner_start[] = "%%MatrixMarket";
static const char *const object_names[] = {"matrix", NULL};
static const char *const form_names[] = {"array", "coordinate", NULL};
static const char *const field_names[] = {"real", "integer", "complex", "pattern", "unsigned-integer", NULL};
static const char *const symmetry_names[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

typedef struct mtx_state {
  int form, field, symmetry; /* enumerations above: ARRAY, REAL, GENERAL, ... */
  int64_t entries;           /* number of lines with values */
} mtx_state;

static bool mtx_recognise(const char *bytes, size_t count) {
  const size_t length = sizeof banner_start - 1;
  return count >= length && strncasecmp(bytes, banner_start, length) == 0;
}

static tesela_status read_banner_word(tsl_reader *reader, const char *const names[], int *index) {
  tsl_word word;
  char quoted[TSL_QUOTE_MAX], all[128] = "";
  TSL_TRY(tsl_input_word(&reader->in, &word));
  for (*index = 0; names[*index] != NULL; ++*index)
    if (strlen(names[*index]) == word.length && strncasecmp(word.text, names[*index], word.length) == 0)
      return TESELA_OK;
  for (int i = 0; names[i] != NULL; i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? ", " : "", names[i]);
  return tsl_input_bad_line(&reader->in, 1, "says '%s' where one of these should be: %s",
                            tsl_input_quote(word.text, word.length, quoted), all);
}

/* Reads "%%MatrixMarket matrix array real general". */
static tesela_status read_banner(tsl_reader *reader) {
  tsl_input *const in = &reader->in;
  mtx_state *const state = reader->state;
  tsl_word word;
  int object;
  TSL_TRY(tsl_input_skip_byte_order_mark(in));
  TSL_TRY(tsl_input_word(in, &word));
  if (!mtx_recognise(word.text, word.length) || word.length != sizeof banner_start - 1)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is no Matrix Market file: it does not begin with %s", reader->path,
                    banner_start);
  TSL_TRY(read_banner_word(reader, object_names, &object));
  TSL_TRY(read_banner_word(reader, form_names, &state->form));
  TSL_TRY(read_banner_word(reader, field_names, &state->field));
  TSL_TRY(read_banner_word(reader, symmetry_names, &state->symmetry));
  TSL_TRY(tsl_input_word(in, &word));
  if (word.length != 0)
    return tsl_input_bad_line(in, 1, "goes on after the fifth word of the banner");
  if (state->field == PATTERN && (state->form == ARRAY || state->symmetry > SYMMETRIC))
    return tsl_input_bad_line(in, 1, "says '%s pattern %s', which Matrix Market does not have",
                              form_names[state->form], symmetry_names[state->symmetry]);
  return TESELA_OK;
}

static tesela_status skip_blank_and_comment_lines(tsl_reader *reader) {
  tsl_input *const in = &reader->in;
  bool more;
  for (;;) {
    TSL_TRY(tsl_input_next_line(in, &more));
    if (!more)
      return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated: it ends before the line with the shape",
                      reader->path);
    if (in->block[in->at] != '%')
      return TESELA_OK;
    TSL_TRY(tsl_input_skip_line(in));
  }
}

static tesela_status read_shape(tsl_reader *reader, int64_t sizes[3]) {
  tsl_input *const in = &reader->in;
  const mtx_state *const state = reader->state;
  const int count = state->form == ARRAY ? 2 : 3;
  tsl_word word;
  for (int i = 0; i <= count; i++) {
    char quoted[TSL_QUOTE_MAX];
    TSL_TRY(tsl_input_word(in, &word));
    const bool good =
        i == count
            ? word.length == 0
            : tsl_number_read_whole(word.text, word.length, &sizes[i]) == TSL_NUMBER_READ && sizes[i] >= 0;
    if (!good)
      return tsl_input_bad_line(in, in->line, "has '%s', but should be \"rows columns%s\"",
                                tsl_input_quote(word.text, word.length, quoted),
                                count == 3 ? " entries" : "");
  }
  return TESELA_OK;
}

static tesela_status mtx_read_header(tsl_reader *reader) {
  TSL_TRY(tsl_alloc_zeroed(sizeof(mtx_state), "reading a Matrix Market file", &reader->state));
  mtx_state *const state = reader->state;
  int64_t sizes[3] = {0};
  TSL_TRY(read_banner(reader));
  TSL_TRY(skip_blank_and_comment_lines(reader));
  TSL_TRY(read_shape(reader, sizes));
  TSL_TRY(tsl_reader_set_shape(reader, sizes[0], sizes[1]));
  const int64_t rows = sizes[0], cols = sizes[1];
  if (state->symmetry != GENERAL && rows != cols)
    return tsl_input_bad_line(&reader->in, reader->in.line,
                              "says %" PRId64 " x %" PRId64 ", but a %s matrix is square", rows, cols,
                              symmetry_names[state->symmetry]);
  state->entries = sizes[2];
  if (state->form == ARRAY && state->symmetry == GENERAL)
    state->entries = rows * cols;
  else if (state->form == ARRAY)
    state->entries = state->symmetry == SKEW_SYMMETRIC ? rows * (rows - 1) / 2 : rows * (rows + 1) / 2;
  reader->info.type = state->field == COMPLEX ? TESELA_C128 : TESELA_F64;
  reader->info.by_rows = false;
  return tsl_reader_check_length(reader, state->entries, state->form == ARRAY ? 2 : 4, "entries");
}

/* Returns the words of an entry's line, for messages: "row, column and value". */
static const char *describe_entry_words(const mtx_state *state) {
  static const char *const words[2][FIELDS] = {{"value", "value", "real and imaginary part", "", "value"},
                                               {"row, column and value", "row, column and value",
                                                "row, column, real and imaginary part", "row and column",
                                                "row, column and value"}};
  return words[state->form][state->field];
}

static tesela_status fail_malformed_entry(const tsl_reader *reader) {
  return tsl_input_bad_line(&reader->in, reader->in.line, "is no entry of this file, which is: %s",
                            describe_entry_words(reader->state));
}

/* Reads a row or column; *index counts from 0. */
static tesela_status read_index(tsl_reader *reader, int64_t size, const char *what, int64_t *index) {
  tsl_word word;
  TSL_TRY(tsl_input_word(&reader->in, &word));
  if (tsl_number_read_whole(word.text, word.length, index) != TSL_NUMBER_READ)
    return fail_malformed_entry(reader);
  if (*index < 1 || *index > size)
    return tsl_input_bad_line(&reader->in, reader->in.line,
                              "names %s %" PRId64 ", which is outside of 1 to %" PRId64, what, *index, size);
  --*index;
  return TESELA_OK;
}

/* Refuses a word with a point, an exponent, more than 64 bits or no equal f64. */
static tesela_status check_integer(const tsl_reader *reader, tsl_word word) {
  const bool is_unsigned = ((const mtx_state *)reader->state)->field == UNSIGNED;
  const bool negative = word.text[0] == '-';
  const size_t first = negative || word.text[0] == '+';
  const uint64_t limit = is_unsigned ? UINT64_MAX : (uint64_t)INT64_MAX + negative;
  char quoted[TSL_QUOTE_MAX];
  bool whole = first < word.length, fits = true;
  uint64_t value = 0;
  for (size_t i = first; i < word.length && whole; i++) {
    const uint64_t digit = (uint64_t)word.text[i] - '0';
    whole = word.text[i] >= '0' && word.text[i] <= '9';
    fits = fits && value <= (limit - digit) / 10;
    value = fits ? value * 10 + digit : value;
  }
  tsl_input_quote(word.text, word.length, quoted);
  if (!whole || (is_unsigned && negative && value > 0))
    return tsl_input_bad_line(&reader->in, reader->in.line, "has '%s', which is no %s", quoted,
                              is_unsigned ? "unsigned integer" : "integer");
  if (!fits)
    return tsl_input_bad_line(&reader->in, reader->in.line, "has '%s', which is larger than any 64-bit %s",
                              quoted, is_unsigned ? "unsigned integer" : "integer");
  const double rounded = (double)value;
  if (rounded < 0x1p64 && (uint64_t)rounded == value)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line,
                            "has '%s', an integer beyond 2^53 that no f64 is equal to", quoted);
}

/* Reads an entry's value, 1 in a pattern, up to the end of its line. */
static tesela_status read_value(tsl_reader *reader, double value[2]) {
  const mtx_state *const state = reader->state;
  const int parts = state->field == PATTERN ? 0 : state->field == COMPLEX ? 2 : 1;
  tsl_word word;
  value[0] = parts == 0;
  value[1] = 0;
  for (int part = 0; part < parts; part++) {
    TSL_TRY(tsl_input_word(&reader->in, &word));
    if (word.length == 0)
      return fail_malformed_entry(reader);
    if (state->field == INTEGER || state->field == UNSIGNED)
      TSL_TRY(check_integer(reader, word));
    TSL_TRY(tsl_reader_read_number(reader, word, TSL_NUMBER_FORTRAN, &value[part]));
    if (state->field == INTEGER || state->field == UNSIGNED)
      value[part] += 0.0; /* -0 becomes 0 */
  }
  TSL_TRY(tsl_input_word(&reader->in, &word));
  return word.length == 0 ? TESELA_OK : fail_malformed_entry(reader);
}

static double negate_but_zero(double value) {
  return value == 0 ? value : -value;
}

static void mirror_value(int symmetry, const double value[2], double mirrored[2]) {
  mirrored[0] = symmetry == SKEW_SYMMETRIC ? negate_but_zero(value[0]) : value[0];
  mirrored[1] = symmetry == SYMMETRIC ? value[1] : negate_but_zero(value[1]);
}

/* Stores a value; adds to a duplicate's. Ignores elements outside of the panel. */
static tesela_status add_to_panel(tsl_reader *reader, const tsl_file_panel *panel, int64_t row, int64_t col,
                                  const double value[2]) {
  const mtx_state *const state = reader->state;
  const int64_t i = row - panel->first, j = col - panel->first_col;
  double sum[2] = {0, 0};
  if (i < 0 || i >= panel->rows || j < 0 || j >= panel->cols)
    return TESELA_OK;
  if (state->form == COORDINATE)
    tsl_type_load(panel->type, tsl_panel_address(panel, i, j), sum);
  for (int part = 0; part < 2; part++) {
    const double before = sum[part];
    sum[part] = before == 0 ? value[part] : before + value[part];
    if (isinf(sum[part]) && isfinite(before) && isfinite(value[part]))
      return tsl_input_bad_line(&reader->in, reader->in.line,
                                "adds to an entry, and the sum is larger than any double");
  }
  return tsl_reader_store_value(reader, panel, i, j, reader->in.line, sum);
}

/* Adds an entry, and its mirror image by the symmetry, to the panel. TESELA_BAD_INPUT: invalid diagonal. */
static tesela_status add_entry_with_mirror(tsl_reader *reader, const tsl_file_panel *panel, int64_t i,
                                           int64_t j, const double value[2]) {
  const mtx_state *const state = reader->state;
  double mirrored[2];
  mirror_value(state->symmetry, value, mirrored);
  if (state->symmetry == GENERAL)
    return add_to_panel(reader, panel, i, j, value);
  if (i != j) {
    TSL_TRY(add_to_panel(reader, panel, i, j, value));
    return add_to_panel(reader, panel, j, i, mirrored);
  }
  if ((mirrored[0] != value[0] && !isnan(value[0])) || (mirrored[1] != value[1] && !isnan(value[1])))
    return tsl_input_bad_line(&reader->in, reader->in.line,
                              "has a diagonal entry that a %s matrix cannot have",
                              symmetry_names[state->symmetry]);
  return add_to_panel(reader, panel, i, j, value);
}

static void fill_panel_with_zeros(const tsl_file_panel *panel) {
  static const double zero[2] = {0, 0};
  for (int64_t i = 0; i < panel->rows && panel->cols > 0; i++)
    for (int64_t j = 0; j < panel->cols; j++)
      tsl_type_store(panel->type, tsl_panel_address(panel, i, j), zero);
}

/* Moves to the next entry's line. TESELA_BAD_INPUT at the file's end, after `read` entries. */
static tesela_status next_entry_line(tsl_reader *reader, int64_t read) {
  const mtx_state *const state = reader->state;
  bool more;
  TSL_TRY(tsl_input_next_line(&reader->in, &more));
  if (more)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated: it ends after %" PRId64 " of %" PRId64 " entries",
                  reader->path, read, state->entries);
}

static tesela_status read_coordinates(tsl_reader *reader, const tsl_file_panel *panel) {
  const mtx_state *const state = reader->state;
  for (int64_t entry = 0; entry < state->entries; entry++) {
    int64_t i, j;
    double value[2];
    TSL_TRY(next_entry_line(reader, entry));
    TSL_TRY(read_index(reader, reader->info.rows, "row", &i));
    TSL_TRY(read_index(reader, reader->info.cols, "column", &j));
    TSL_TRY(read_value(reader, value));
    TSL_TRY(add_entry_with_mirror(reader, panel, i, j, value));
  }
  return TESELA_OK;
}

/* Reads by columns; symmetric matrices store the triangle on or below the diagonal. */
static tesela_status read_array(tsl_reader *reader, const tsl_file_panel *panel) {
  const mtx_state *const state = reader->state;
  int64_t entry = 0;
  const int64_t rows = reader->info.rows, cols = reader->info.cols;
  for (int64_t j = 0; j < cols && rows > 0; j++) {
    const int64_t first = state->symmetry == GENERAL ? 0 : state->symmetry == SKEW_SYMMETRIC ? j + 1 : j;
    for (int64_t i = first; i < rows; i++, entry++) {
      double value[2];
      TSL_TRY(next_entry_line(reader, entry));
      TSL_TRY(read_value(reader, value));
      TSL_TRY(add_entry_with_mirror(reader, panel, i, j, value));
    }
  }
  return TESELA_OK;
}

static tesela_status mtx_read_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  const mtx_state *const state = reader->state;
  if (state->form == COORDINATE || state->symmetry == SKEW_SYMMETRIC)
    fill_panel_with_zeros(panel);
  return state->form == ARRAY ? read_array(reader, panel) : read_coordinates(reader, panel);
}

static tesela_status mtx_read_end(tsl_reader *reader) {
  const mtx_state *const state = reader->state;
  bool more;
  TSL_TRY(tsl_input_next_line(&reader->in, &more));
  if (!more)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line, "goes on after the last of %" PRId64 " entries",
                            state->entries);
}

/* Reads the whole file and ignores elements outside of the block. */
static tesela_status mtx_read_block(tsl_reader *reader, const tsl_file_panel *panel) {
  TSL_TRY(mtx_read_rows(reader, panel));
  return mtx_read_end(reader);
}

static tesela_status mtx_write_header(tsl_writer *writer) {
  const tsl_type_info *const type = tsl_type(writer->type);
  char header[128];
  const int length =
      snprintf(header, sizeof header, "%s matrix array %s general\n%" PRId64 " %" PRId64 "\n", banner_start,
               field_names[type->is_complex   ? COMPLEX
                           : type->is_integer ? INTEGER
                                              : REAL],
               writer->rows, writer->cols);
  return tsl_output_write(&writer->out, header, (size_t)length);
}

static tesela_status write_columns(tsl_writer *writer, const tsl_file_panel *panel) {
  const tsl_type_info *const type = tsl_type(panel->type);
  for (int64_t j = 0; j < panel->cols && panel->rows > 0; j++) {
    for (int64_t i = 0; i < panel->rows; i++) {
      double value[2];
      tsl_type_load(panel->type, tsl_panel_address(panel, i, j), value);
      TSL_TRY(tsl_writer_write_number(writer, type->component, value[0]));
      if (type->is_complex) {
        TSL_TRY(tsl_output_write(&writer->out, " ", 1));
        TSL_TRY(tsl_writer_write_number(writer, type->component, value[1]));
      }
      TSL_TRY(tsl_output_write(&writer->out, "\n", 1));
    }
  }
  return TESELA_OK;
}

/* Returns the panel of all rows, buffered until the end. */
static tsl_file_panel buffered_panel(const tsl_writer *writer) {
  return (tsl_file_panel){.data = writer->state,
                          .row_stride = writer->cols,
                          .col_stride = 1,
                          .rows = writer->rows,
                          .cols = writer->cols,
                          .type = writer->type,
                          .size = tsl_type(writer->type)->size};
}

/* Buffers rows that come in parts: the file is stored by columns. */
static tesela_status mtx_write_rows(tsl_writer *writer, const tsl_file_panel *panel) {
  if (panel->rows == writer->rows)
    return write_columns(writer, panel);
  if (writer->state == NULL)
    TSL_TRY(tsl_alloc((size_t)(writer->rows * writer->cols) * panel->size,
                      "writing a Matrix Market file by columns", &writer->state));
  const tsl_file_panel buffer = buffered_panel(writer);
  for (int64_t i = 0; i < panel->rows && panel->cols > 0; i++)
    tsl_type_convert(panel->type, tsl_panel_address(panel, i, 0), panel->col_stride, panel->type,
                     tsl_panel_address(&buffer, panel->first + i, 0), 1, (size_t)panel->cols);
  return TESELA_OK;
}

static tesela_status mtx_write_end(tsl_writer *writer) {
  if (writer->state == NULL)
    return TESELA_OK;
  const tsl_file_panel buffer = buffered_panel(writer);
  return write_columns(writer, &buffer);
}

const tsl_format tsl_format_mtx = {
    .name = "mtx",
    .endings = ".mtx ",
    .marked = true,
    .is_text = true,
    .keeps_rows = true,
    .recognise = mtx_recognise,
    .read_header = mtx_read_header,
    .read_rows = mtx_read_rows,
    .read_block = mtx_read_block,
    .read_end = mtx_read_end,
    .write_header = mtx_write_header,
    .write_rows = mtx_write_rows,
    .write_end = mtx_write_end,
};
