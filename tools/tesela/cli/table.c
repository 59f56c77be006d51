#include "cli/table.h"

#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NARROWEST = 12 };

void tsl_table_column(tsl_table *table, const char *title, tsl_align align, bool wraps) {
  if (table->column_count == TSL_TABLE_COLUMNS_MAX) {
    table->failed = true;
    return;
  }
  table->columns[table->column_count++] = (tsl_table_heading){title, align, wraps};
}

void tsl_table_columns(tsl_table *table, const char *const titles[]) {
  for (; *titles; titles++)
    tsl_table_column(table, *titles + (**titles == '>' || **titles == '~'),
                     **titles == '>' ? TSL_ALIGN_RIGHT : TSL_ALIGN_LEFT, **titles == '~');
}

void tsl_table_add_list(tsl_table *table, tsl_paint paint, const char *format, va_list arguments) {
  if (table->failed)
    return;
  if (table->cell_count == table->cell_capacity) {
    const size_t capacity = table->cell_capacity ? 2 * table->cell_capacity : 64;
    tsl_cell *cells = realloc(table->cells, capacity * sizeof *cells);
    if (!cells) {
      table->failed = true;
      return;
    }
    table->cells = cells;
    table->cell_capacity = capacity;
  }
  char *text;
  if (vasprintf(&text, format, arguments) < 0) {
    table->failed = true;
    return;
  }
  table->cells[table->cell_count++] = (tsl_cell){text, paint};
}

void tsl_table_add(tsl_table *table, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tsl_table_add_list(table, TSL_PAINT_NONE, format, arguments);
  va_end(arguments);
}

void tsl_table_add_painted(tsl_table *table, tsl_paint paint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tsl_table_add_list(table, paint, format, arguments);
  va_end(arguments);
}

void tsl_table_end_row(tsl_table *table) {
  while (!table->failed && table->cell_count % (size_t)table->column_count != 0)
    tsl_table_add(table, "%s", "");
}

size_t tsl_table_rows(const tsl_table *table) {
  return table->column_count ? table->cell_count / (size_t)table->column_count : 0;
}

tesela_status tsl_table_status(const tsl_table *table) {
  return table->failed ? tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a table of results") : TESELA_OK;
}

void tsl_table_free(tsl_table *table) {
  for (size_t i = 0; i < table->cell_count; i++)
    free(table->cells[i].text);
  free(table->cells);
  *table = (tsl_table){0};
}

/* Returns the code point of the UTF-8 character at the start, and its bytes; 1 for a byte that is none. */
static unsigned table_character(const char *text, size_t *bytes) {
  static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  *bytes = tsl_utf8_bytes(text);
  if (*bytes == 0)
    *bytes = 1;
  unsigned code = (unsigned char)*text & masks[*bytes];
  for (size_t i = 1; i < *bytes; i++)
    code = code << 6 | ((unsigned char)text[i] & 0x3F);
  return code;
}

/* Returns true for characters of two columns: East Asian Wide and Fullwidth of Unicode. */
static bool table_is_wide(unsigned code) {
  static const unsigned ranges[][2] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                       {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (code >= ranges[i][0] && code <= ranges[i][1])
      return true;
  return false;
}

/* Returns true for punctuation that begins no line: 、 。 ， ： ； ！ ？ ） 」 』. */
static bool table_closes(unsigned code) {
  return code == 0x3001 || code == 0x3002 || code == 0x300D || code == 0x300F || code == 0xFF01 ||
         code == 0xFF09 || code == 0xFF0C || code == 0xFF1A || code == 0xFF1B || code == 0xFF1F;
}

/* Returns the columns of the first bytes of a text. */
static int table_columns(const char *text, size_t length) {
  int columns = 0;
  for (size_t i = 0, bytes; i < length && text[i]; i += bytes)
    columns += table_is_wide(table_character(text + i, &bytes)) ? 2 : 1;
  return columns;
}

int tsl_text_columns(const char *text) {
  return table_columns(text, strlen(text));
}

/* Returns the end of the next word, after the blanks before it. Lines may break between wide characters, but
 * not before closing punctuation. */
static const char *table_word_end(const char *text) {
  size_t bytes;
  text += strspn(text, " ");
  for (const char *at = text; *at && *at != ' '; at += bytes) {
    const bool is_wide = table_is_wide(table_character(at, &bytes));
    const unsigned next = table_character(at + bytes, &(size_t){0});
    if (is_wide && table_is_wide(next) && !table_closes(next))
      return at + bytes;
  }
  return text + strcspn(text, " ");
}

void tsl_text_add_painted(tsl_text *out, tsl_paint paint, bool colour, const char *text) {
  static const char *const codes[] = {
      [TSL_PAINT_NONE] = "",   [TSL_PAINT_GOOD] = "32",  [TSL_PAINT_BAD] = "31;1",
      [TSL_PAINT_FAINT] = "2", [TSL_PAINT_STRONG] = "1",
  };
  if (colour && paint != TSL_PAINT_NONE && *text)
    tsl_text_add(out, "\033[%sm%s\033[0m", codes[paint], text);
  else
    tsl_text_add(out, "%s", text);
}

static void add_blanks(tsl_text *out, int count) {
  if (count > 0)
    tsl_text_add(out, "%*s", count, "");
}

/* Returns the bytes of the next line of *words: at least one word, at most `width` columns (0: all
 * of it). Moves *words past the line and the blanks after it. */
static size_t take_line(const char **words, int width, const char **line) {
  const char *start = *words, *end = start;
  int used = 0;
  while (*end) {
    const char *word_end = table_word_end(end);
    const int columns = table_columns(end, (size_t)(word_end - end));
    if (width > 0 && used > 0 && used + columns > width)
      break;
    used += columns;
    end = word_end;
  }
  *words = end + strspn(end, " ");
  *line = start;
  return (size_t)(end - start);
}

void tsl_text_add_wrapped(tsl_text *out, const char *words, int start, int indent, int width) {
  int column = start;
  for (bool first = true; *words; first = false) {
    const char *line;
    if (!first) {
      tsl_text_add(out, "\n");
      add_blanks(out, indent);
      column = indent;
    }
    const int space = width > column + 1 ? width - column : 1;
    const size_t length = take_line(&words, width ? space : 0, &line);
    tsl_text_add_bytes(out, line, length);
  }
}

/* Returns the columns of the longest word in a column's cells, at most half of the terminal. */
static int longest_word(const tsl_table *table, size_t column, int width) {
  int most = 0;
  for (size_t i = column; i < table->cell_count; i += (size_t)table->column_count) {
    const char *words = table->cells[i].text, *line;
    while (*words) {
      char word[256];
      const size_t length = take_line(&words, 1, &line);
      snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), line);
      const int columns = tsl_text_columns(word);
      most = columns > most ? columns : most;
    }
  }
  return most < width / 2 ? most : width / 2;
}

/* Sets the width of each column to its widest cell. If the table is too wide, shrinks the wrapping columns,
 * the widest first, down to their longest words. */
static void table_lay_out(const tsl_table *table, int indent, int width, int widths[]) {
  const size_t count = (size_t)table->column_count;
  int total = indent + GAP * (table->column_count - 1);
  for (size_t c = 0; c < count; c++) {
    widths[c] = table->bare ? 0 : tsl_text_columns(table->columns[c].title);
    for (size_t i = c; i < table->cell_count; i += count) {
      const int columns = tsl_text_columns(table->cells[i].text);
      widths[c] = columns > widths[c] ? columns : widths[c];
    }
    total += widths[c];
  }
  int least[TSL_TABLE_COLUMNS_MAX] = {0};
  for (size_t c = 0; c < count && total > width; c++)
    least[c] = table->columns[c].wraps && width > 0 ? longest_word(table, c, width) : 0;
  while (width > 0 && total > width) {
    size_t widest = count;
    for (size_t c = 0; c < count; c++)
      if (table->columns[c].wraps && widths[c] > NARROWEST && widths[c] > least[c] &&
          (widest == count || widths[c] > widths[widest]))
        widest = c;
    if (widest == count)
      break;
    widths[widest]--;
    total--;
  }
}

/* Appends one row, on as many lines as its tallest cell needs. `cells` NULL: the titles. */
static void table_add_row(const tsl_table *table, const tsl_cell *cells, const int widths[], int indent,
                          int width, bool colour, tsl_text *out) {
  const char *rest[TSL_TABLE_COLUMNS_MAX];
  const int count = table->column_count;
  for (int c = 0; c < count; c++)
    rest[c] = cells ? cells[c].text : table->columns[c].title;
  for (bool more = true; more;) {
    more = false;
    int pending = indent; /* blanks still to be written, so that no line ends in blanks */
    for (int c = 0; c < count; c++) {
      const tsl_table_heading *column = &table->columns[c];
      const char *line;
      const size_t length = take_line(&rest[c], width && column->wraps ? widths[c] : 0, &line);
      more |= *rest[c] != '\0';
      char *piece = strndup(line, length);
      if (!piece) {
        out->failed = true;
        return;
      }
      const int slack = widths[c] - tsl_text_columns(piece);
      if (*piece) {
        add_blanks(out, pending + (column->align == TSL_ALIGN_RIGHT ? slack : 0));
        tsl_text_add_painted(out, cells ? cells[c].paint : TSL_PAINT_STRONG, colour, piece);
        pending = column->align == TSL_ALIGN_RIGHT ? 0 : slack;
      } else
        pending += widths[c];
      pending += GAP;
      free(piece);
    }
    tsl_text_add(out, "\n");
  }
}

void tsl_table_text(const tsl_table *table, int indent, int width, bool colour, tsl_text *out) {
  int widths[TSL_TABLE_COLUMNS_MAX] = {0};
  table_lay_out(table, indent, width, widths);
  if (!table->bare)
    table_add_row(table, NULL, widths, indent, width, colour, out);
  for (size_t i = 0; i + (size_t)table->column_count <= table->cell_count; i += (size_t)table->column_count)
    table_add_row(table, &table->cells[i], widths, indent, width, colour, out);
}

static void table_add_escaped(tsl_text *out, const char *text, const char *special, char with) {
  for (; *text; text++) {
    if (strchr(special, *text))
      tsl_text_add_bytes(out, &with, 1);
    tsl_text_add_bytes(out, text, 1);
  }
}

void tsl_table_markdown(const tsl_table *table, tsl_text *out) {
  const int count = table->column_count;
  for (int c = 0; c < count; c++)
    tsl_text_add(out, "| %s ", table->columns[c].title);
  tsl_text_add(out, "|\n");
  for (int c = 0; c < count; c++)
    tsl_text_add(out, table->columns[c].align == TSL_ALIGN_RIGHT ? "|---:" : "|---");
  tsl_text_add(out, "|\n");
  for (size_t i = 0; i < table->cell_count; i++) {
    tsl_text_add(out, "| ");
    table_add_escaped(out, table->cells[i].text, "|", '\\');
    tsl_text_add(out, (i + 1) % (size_t)count == 0 ? " |\n" : " ");
  }
}

static void add_csv_field(tsl_text *out, const char *text) {
  if (!strpbrk(text, ",\"\n")) {
    tsl_text_add(out, "%s", text);
    return;
  }
  tsl_text_add(out, "\"");
  table_add_escaped(out, text, "\"", '"');
  tsl_text_add(out, "\"");
}

void tsl_table_csv(const tsl_table *table, tsl_text *out) {
  const size_t count = (size_t)table->column_count;
  for (size_t c = 0; c < count; c++) {
    tsl_text_add(out, c ? "," : "");
    add_csv_field(out, table->columns[c].title);
  }
  tsl_text_add(out, "\n");
  for (size_t i = 0; i < table->cell_count; i++) {
    add_csv_field(out, table->cells[i].text);
    tsl_text_add(out, (i + 1) % count == 0 ? "\n" : ",");
  }
}
