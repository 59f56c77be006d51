/* Tables of cells, printed as aligned text, as Markdown or as CSV. */
#ifndef TSL_TOOL_CLI_TABLE_H
#define TSL_TOOL_CLI_TABLE_H

#include "core/text.h"

#include <stdarg.h>

#define TSL_TABLE_COLUMNS_MAX 24

typedef enum tsl_align { TSL_ALIGN_LEFT, TSL_ALIGN_RIGHT } tsl_align;

/* Colours by meaning; used only if the output is a terminal. */
typedef enum tsl_paint {
  TSL_PAINT_NONE,
  TSL_PAINT_GOOD,
  TSL_PAINT_BAD,
  TSL_PAINT_FAINT,
  TSL_PAINT_STRONG
} tsl_paint;

typedef struct tsl_table_heading {
  const char *title; /* a constant, or a text that lives as long as the table */
  tsl_align align;
  bool wraps; /* long text is wrapped if the table is too wide */
} tsl_table_heading;

typedef struct tsl_cell {
  char *text;
  tsl_paint paint;
} tsl_cell;

/* A table; starts as {0}. A lack of memory sets `failed`, and later cells are dropped;
 * tsl_table_status() reports it. */
typedef struct tsl_table {
  tsl_table_heading columns[TSL_TABLE_COLUMNS_MAX];
  int column_count;
  bool bare; /* the text form has no titles above the columns */
  tsl_cell *cells;
  size_t cell_count, cell_capacity;
  bool failed;
} tsl_table;

void tsl_table_column(tsl_table *table, const char *title, tsl_align align, bool wraps);
/* Adds columns, ended by NULL. A title after ">" is aligned right, a title after "~" wraps. */
void tsl_table_columns(tsl_table *table, const char *const titles[]);
#define TSL_TABLE_COLUMNS(table, ...) tsl_table_columns(table, (const char *const[]){__VA_ARGS__, NULL})
/* Adds the next cell. A row ends after as many cells as there are columns. */
void tsl_table_add(tsl_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tsl_table_add_painted(tsl_table *table, tsl_paint paint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tsl_table_add_list(tsl_table *table, tsl_paint paint, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/* Fills an unfinished row with empty cells. */
void tsl_table_end_row(tsl_table *table);
size_t tsl_table_rows(const tsl_table *table);
tesela_status tsl_table_status(const tsl_table *table);
void tsl_table_free(tsl_table *table);

/* Returns the columns of a UTF-8 text on a terminal: two for each wide character, as of Chinese. */
int tsl_text_columns(const char *text);
/* Appends aligned text, each line after `indent` blanks. `width` is the terminal's, for wrapping.
 * 0: never wraps, so that each row is one line for grep and awk. */
void tsl_table_text(const tsl_table *table, int indent, int width, bool colour, tsl_text *out);
void tsl_table_markdown(const tsl_table *table, tsl_text *out);
/* Appends CSV (RFC 4180), with a line of titles. */
void tsl_table_csv(const tsl_table *table, tsl_text *out);

/* Appends words, broken at blanks so that no line is longer than `width` (0: never broken). The
 * first line starts at column `start`, later lines after `indent` blanks. Appends no newline at the
 * end. */
void tsl_text_add_wrapped(tsl_text *out, const char *words, int start, int indent, int width);
/* Appends `text` between the terminal codes of `paint`, or without codes if `colour` is false. */
void tsl_text_add_painted(tsl_text *out, tsl_paint paint, bool colour, const char *text);

#endif
