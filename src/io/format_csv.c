/* Numbers separated by commas, semicolons or tabs, one row a line (RFC 4180 and spreadsheets). Read twice,
 * first for the shape; a pipe is copied to a temporary file.
 *
 * The first line gives the separator: tabs before semicolons before commas. A first line without numbers is a
 * header if a cell does not begin like a number. With semicolons all fractions may have decimal commas. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "core/status.h"
#include "io/io_format.h"
#include "io/io_number.h"

/* maximum bytes of a cell with blanks: a quoted name may be longer than numbers */
#define CELL_MAX (TSL_INPUT_BLOCK / 16)

typedef struct csv_state {
  char separator;
  char mark;         /* first decimal mark: '.' or ','; '\0': none yet */
  int64_t mark_line; /* line of `mark` */
} csv_state;

typedef struct csv_cell {
  const char *text; /* cell without surrounding blanks and quotes; valid until the next cell */
  size_t length;
  int64_t line;
  bool last; /* last cell of its line */
} csv_cell;

static bool csv_recognise(const char *bytes, size_t count) {
  const char *const end = memchr(bytes, '\n', count);
  const size_t line = end != NULL ? (size_t)(end - bytes) : count;
  if (memchr(bytes, '\0', count) != NULL)
    return false;
  return memchr(bytes, ',', line) != NULL || memchr(bytes, ';', line) != NULL ||
         memchr(bytes, '\t', line) != NULL;
}

/* Finds the separator in the first line, outside of quotes. */
static tesela_status find_separator(tsl_input *in, char *separator) {
  static const char order[] = ",;\t"; /* separators in rising precedence */
  bool quoted = false;
  size_t best = 0;
  TSL_TRY(tsl_input_fill(in, TSL_INPUT_BLOCK));
  for (size_t i = in->at; i < in->end && (quoted || in->block[i] != '\n'); i++) {
    const char c = in->block[i];
    quoted ^= c == '"';
    const char *const found = c != '\0' ? strchr(order, c) : NULL;
    if (!quoted && found != NULL && (size_t)(found - order) > best)
      best = (size_t)(found - order);
  }
  *separator = order[best];
  return TESELA_OK;
}

static bool is_csv_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static tesela_status skip_csv_blanks(tsl_reader *reader) {
  tsl_input *const in = &reader->in;
  const char separator = ((const csv_state *)reader->state)->separator;
  for (;;) {
    TSL_TRY(tsl_input_fill(in, 1));
    for (; in->at < in->end; in->at++) {
      const char c = in->block[in->at];
      if (c == separator || !is_csv_blank(c))
        return TESELA_OK;
    }
    if (in->eof)
      return TESELA_OK;
  }
}

/* Advances to the next line with cells; *more is false at the end. Blank lines are allowed only there. */
static tesela_status next_line_with_cells(tsl_reader *reader, bool *more) {
  tsl_input *const in = &reader->in;
  int64_t blank = 0;
  for (;;) {
    TSL_TRY(skip_csv_blanks(reader));
    *more = in->at < in->end;
    if (!*more)
      return TESELA_OK;
    if (in->block[in->at] != '\n')
      break;
    if (blank == 0)
      blank = in->line;
    in->at++;
    in->line++;
  }
  if (blank != 0)
    return tsl_input_bad_line(
        in, blank, "is blank, but line %" PRId64 " is not: blank lines are allowed at the end only",
        in->line);
  return TESELA_OK;
}

/* Reads a quoted cell; "" is a quote. */
static tesela_status read_quoted_cell(tsl_input *in, csv_cell *cell) {
  const char *const text = in->block + in->at + 1;
  const size_t waiting = in->end - in->at - 1;
  size_t length = 0;
  for (;; length++) {
    if (length >= waiting || length > CELL_MAX)
      return tsl_input_bad_line(in, cell->line, "has a quote that does not end");
    in->line += text[length] == '\n';
    if (text[length] != '"')
      continue;
    if (length + 1 >= waiting || text[length + 1] != '"')
      break;
    length++;
  }
  cell->text = text;
  cell->length = length;
  in->at += length + 2;
  return TESELA_OK;
}

static tesela_status read_unquoted_cell(tsl_input *in, char separator, csv_cell *cell) {
  const char *const text = in->block + in->at;
  const size_t waiting = in->end - in->at;
  size_t length = 0;
  while (length < waiting && text[length] != separator && text[length] != '\n')
    length++;
  if (length > CELL_MAX)
    return tsl_input_bad_line(in, cell->line, "has a cell of more than %zu characters", CELL_MAX);
  in->at += length;
  while (length > 0 && is_csv_blank(text[length - 1]))
    length--;
  cell->text = text;
  cell->length = length;
  return TESELA_OK;
}

/* Reads a cell, after next_line_with_cells() or a cell that is not the last. */
static tesela_status read_cell(tsl_reader *reader, csv_cell *cell) {
  tsl_input *const in = &reader->in;
  const char separator = ((const csv_state *)reader->state)->separator;
  TSL_TRY(skip_csv_blanks(reader));
  TSL_TRY(tsl_input_fill(in, 2 * CELL_MAX));
  cell->line = in->line;
  if (in->at < in->end && in->block[in->at] == '"') {
    TSL_TRY(read_quoted_cell(in, cell));
    while (in->at < in->end && in->block[in->at] != separator && is_csv_blank(in->block[in->at]))
      in->at++;
  } else {
    TSL_TRY(read_unquoted_cell(in, separator, cell));
  }
  if (in->at == in->end && in->eof) {
    cell->last = true;
    return TESELA_OK;
  }
  if (in->at == in->end || (in->block[in->at] != separator && in->block[in->at] != '\n'))
    return tsl_input_bad_line(in, in->line, "has text after a closing quote");
  cell->last = in->block[in->at++] == '\n';
  in->line += cell->last;
  return TESELA_OK;
}

/* Reads a number. *mark: its decimal mark, or '\0'. `printed` may be NULL. */
static tsl_number_result read_cell_number(const csv_state *state, const csv_cell *cell, double *value,
                                          char *mark, tsl_printed *printed) {
  const bool comma = state->separator == ';' && memchr(cell->text, ',', cell->length) != NULL;
  *mark = comma ? ',' : memchr(cell->text, '.', cell->length) != NULL ? '.' : '\0';
  return tsl_number_read_printed(cell->text, cell->length, comma ? TSL_NUMBER_COMMA : 0, value, printed);
}

static tesela_status fail_not_a_number(const tsl_reader *reader, const csv_cell *cell, int64_t column,
                                       tsl_number_result result) {
  char quoted[TSL_QUOTE_MAX];
  const int64_t number = column + 1;
  if (cell->length == 0)
    return tsl_input_bad_line(&reader->in, cell->line,
                              "has an empty cell %" PRId64 " where a number should be", number);
  tsl_input_quote(cell->text, cell->length, quoted);
  if (result == TSL_NUMBER_TOO_LARGE)
    return tsl_input_bad_line(&reader->in, cell->line,
                              "has '%s' in cell %" PRId64 ", which is larger than any double", quoted,
                              number);
  if (tsl_reader_is_complex(cell->text, cell->length))
    return tsl_input_bad_line(&reader->in, cell->line,
                              "has '%s' in cell %" PRId64
                              ", but csv holds real numbers only: npy and mtx hold complex ones",
                              quoted, number);
  return tsl_input_bad_line(&reader->in, cell->line, "has '%s' in cell %" PRId64 " where a number should be",
                            quoted, number);
}

static tesela_status fail_text_among_numbers(const tsl_reader *reader, const csv_cell *cell, int64_t column) {
  char quoted[TSL_QUOTE_MAX];
  return tsl_input_bad_line(&reader->in, cell->line,
                            "has '%s' in cell %" PRId64
                            " and numbers in other cells: a header line must have no numbers",
                            tsl_input_quote(cell->text, cell->length, quoted), column + 1);
}

/* Returns true if a non-numeric cell is a name ("x2"), not "2x" or a marker of a missing value. */
static bool is_column_name(const csv_cell *cell) {
  static const char *const missing[] = {"na", "n/a", "null", "none", "?", "#n/a"};
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
    if (strlen(missing[i]) == cell->length && strncasecmp(cell->text, missing[i], cell->length) == 0)
      return false;
  return cell->length > 0 && (cell->text[0] == '\0' || strchr("0123456789+-.,", cell->text[0]) == NULL);
}

/* Counts the first line's columns; *header: it has names and no number. Fails if it has both, or neither. */
static tesela_status read_first_line(tsl_reader *reader, int64_t *columns, bool *header) {
  const csv_state *const state = reader->state;
  csv_cell cell;
  tesela_status status = TESELA_OK;
  bool names = false, numbers = false;
  *columns = 0;
  do {
    double value;
    char mark;
    TSL_TRY(read_cell(reader, &cell));
    const tsl_number_result result = read_cell_number(state, &cell, &value, &mark, NULL);
    const bool name = result == TSL_NUMBER_NONE && is_column_name(&cell);
    names = names || name;
    numbers = numbers || result != TSL_NUMBER_NONE;
    if (result != TSL_NUMBER_READ && status == TESELA_OK)
      status = name ? fail_text_among_numbers(reader, &cell, *columns)
                    : fail_not_a_number(reader, &cell, *columns, result);
    ++*columns;
  } while (!cell.last);
  *header = names && !numbers;
  return *header ? TESELA_OK : status;
}

static tesela_status fail_other_cell_count(const tsl_reader *reader, int64_t line, int64_t cells) {
  return tsl_input_bad_line(&reader->in, line, "has %" PRId64 " cells where the first line has %" PRId64,
                            cells, reader->info.cols);
}

/* Counts the other lines and checks their cells. */
static tesela_status count_rows(tsl_reader *reader, int64_t *rows) {
  bool more;
  TSL_TRY(next_line_with_cells(reader, &more));
  while (more) {
    int64_t cells = 0;
    csv_cell cell;
    const int64_t line = reader->in.line;
    do {
      TSL_TRY(read_cell(reader, &cell));
      cells++;
    } while (!cell.last);
    if (cells != reader->info.cols)
      return fail_other_cell_count(reader, line, cells);
    ++*rows;
    TSL_TRY(next_line_with_cells(reader, &more));
  }
  return TESELA_OK;
}

static tesela_status csv_read_header(tsl_reader *reader) {
  tsl_input *const in = &reader->in;
  TSL_TRY(tsl_input_spool(in));
  TSL_TRY(tsl_alloc_zeroed(sizeof(csv_state), "reading a csv file", &reader->state));
  csv_state *const state = reader->state;
  TSL_TRY(tsl_input_skip_byte_order_mark(in));
  TSL_TRY(find_separator(in, &state->separator));

  bool more, header;
  TSL_TRY(next_line_with_cells(reader, &more));
  uint64_t start = tsl_input_tell(in);
  int64_t line = in->line, rows = 0;
  if (!more)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is empty; csv has at least one line of numbers", reader->path);
  TSL_TRY(read_first_line(reader, &reader->info.cols, &header));
  if (header) {
    start = tsl_input_tell(in);
    line = in->line;
  } else {
    rows = 1;
  }
  TSL_TRY(count_rows(reader, &rows));
  if (rows == 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s: has a header line but no line of numbers", reader->path);
  TSL_TRY(tsl_reader_set_shape(reader, rows, reader->info.cols));
  reader->info.type = TESELA_F64;
  reader->info.by_rows = true;
  reader->info.header = header;
  return tsl_input_seek(in, start, line);
}

/* Refuses "1.234" with "2,5": one of both would be misread. */
static tesela_status check_decimal_mark(tsl_reader *reader, const csv_cell *cell, char mark) {
  csv_state *const state = reader->state;
  if (mark == '\0' || mark == state->mark)
    return TESELA_OK;
  if (state->mark != '\0')
    return tsl_input_bad_line(&reader->in, cell->line,
                              "has a decimal '%c' where line %" PRId64 " has '%c': use only one mark", mark,
                              state->mark_line, state->mark);
  state->mark = mark;
  state->mark_line = cell->line;
  return TESELA_OK;
}

static tesela_status read_csv_row(tsl_reader *reader, const tsl_file_panel *panel, int64_t i) {
  const int64_t line = reader->in.line;
  csv_cell cell = {.last = false};
  for (int64_t j = 0; j < panel->cols; j++) {
    double value[2] = {0, 0};
    char mark;
    if (cell.last)
      return fail_other_cell_count(reader, line, j);
    TSL_TRY(read_cell(reader, &cell));
    const tsl_number_result result =
        read_cell_number(reader->state, &cell, &value[0], &mark, &reader->printed);
    if (result != TSL_NUMBER_READ)
      return fail_not_a_number(reader, &cell, j, result);
    TSL_TRY(check_decimal_mark(reader, &cell, mark));
    TSL_TRY(tsl_reader_store_value(reader, panel, i, j, cell.line, value));
  }
  return cell.last ? TESELA_OK : fail_other_cell_count(reader, line, panel->cols + 1);
}

static tesela_status csv_read_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  for (int64_t i = 0; i < panel->rows; i++) {
    bool more;
    TSL_TRY(next_line_with_cells(reader, &more));
    if (!more)
      return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated: it became shorter while it was read",
                      reader->path);
    TSL_TRY(read_csv_row(reader, panel, i));
  }
  return TESELA_OK;
}

static tesela_status csv_read_end(tsl_reader *reader) {
  bool more;
  TSL_TRY(next_line_with_cells(reader, &more));
  if (!more)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s: is oversized: it became longer while it was read", reader->path);
}

static tesela_status refuse_empty_matrix(const char *path, int64_t rows, int64_t cols, tesela_type type) {
  (void)type;
  if (rows == 0 || cols == 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: csv cannot hold an empty matrix (%" PRId64 " x %" PRId64 "); the other formats can",
                    path, rows, cols);
  return TESELA_OK;
}

static tesela_status csv_write_header(tsl_writer *writer) {
  (void)writer;
  return TESELA_OK;
}

static tesela_status csv_write_rows(tsl_writer *writer, const tsl_file_panel *panel) {
  return tsl_writer_write_lines(writer, panel, tsl_format_name_ends(writer->out.path, ".tsv") ? '\t' : ',');
}

const tsl_format tsl_format_csv = {
    .name = "csv",
    .endings = ".csv .tsv ",
    .is_text = true,
    .real_only = true,
    .recognise = csv_recognise,
    .read_header = csv_read_header,
    .read_rows = csv_read_rows,
    .read_end = csv_read_end,
    .may_write = refuse_empty_matrix,
    .write_header = csv_write_header,
    .write_rows = csv_write_rows,
};
