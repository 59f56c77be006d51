#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "io/io_format.h"

static const tsl_format *format_of_name_before_gz(const char *path) {
  char inner[4096];
  const size_t length = strlen(path);
  if (!tsl_format_name_ends(path, ".gz") || length >= sizeof inner)
    return tsl_format_of_name(path);
  snprintf(inner, sizeof inner, "%.*s", (int)(length - 3), path);
  return tsl_format_of_name(inner);
}

static tesela_status reader_choose_format(tsl_reader *reader, const char *path, const tsl_format *format_in) {
  TSL_TRY(tsl_input_fill(&reader->in, 4096));
  if (reader->in.archive)
    reader->format = tsl_format_find("npy");
  else if (format_in != NULL)
    reader->format = tsl_format_recognise(&reader->in, true);
  else
    reader->format = format_of_name_before_gz(path);
  if (reader->format == NULL)
    reader->format = format_in != NULL ? format_in : tsl_format_recognise(&reader->in, false);
  if (reader->format != NULL)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: neither its name nor its first bytes are of a matrix file; the endings are %s",
                  reader->path, tsl_io_endings());
}

tesela_status tsl_reader_open(const char *path, const char *format, tsl_reader **out) {
  tesela_status status;
  const tsl_format *const format_given = format != NULL ? tsl_format_find(format) : NULL;
  *out = NULL;
  if (format != NULL && format_given == NULL)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is no format of matrix files; there are %s", format,
                    tsl_io_formats());
  tsl_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL || (reader->path = strdup(tsl_input_name(path))) == NULL) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to open it", path);
    goto out;
  }
  TSL_GO(tsl_input_open(path, reader->path, &reader->in));
  TSL_GO(reader_choose_format(reader, path, format_given));
  TSL_GO(reader->format->read_header(reader));
  reader->info.format = reader->format->name;
  reader->info.text = reader->format->is_text;
  reader->info.by_columns = reader->info.by_rows && reader->in.regular;
  reader->info.by_blocks = reader->info.by_blocks && reader->in.regular;
  reader->start = tsl_input_tell(&reader->in);
  reader->start_line = reader->in.line;
out:
  if (status != TESELA_OK) {
    tsl_reader_close(reader);
    reader = NULL;
  }
  *out = reader;
  return status;
}

const tsl_file_info *tsl_reader_info(const tsl_reader *reader) {
  return &reader->info;
}

static tesela_status read_panel_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  TSL_TRY(reader->format->read_rows(reader, panel));
  reader->row += panel->rows;
  return reader->row == reader->info.rows ? reader->format->read_end(reader) : TESELA_OK;
}

static tesela_status check_type_and_state(const tsl_reader *reader, tesela_type type) {
  if (tsl_type(type) == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: %d is no element type to read into", reader->path, (int)type);
  if (reader->failed)
    return tsl_fail(TESELA_BAD_CALL, "%s: cannot be read further after an error", reader->path);
  return TESELA_OK;
}

tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  TSL_TRY(check_type_and_state(reader, type));
  if (rows < 0 || rows > info->rows - reader->row)
    return tsl_fail(TESELA_BAD_CALL, "%s: %" PRId64 " rows are asked for where %" PRId64 " are left",
                    reader->path, rows, info->rows - reader->row);
  if (!info->by_rows && rows != info->rows)
    return tsl_fail(TESELA_BAD_CALL, "%s: this file is read as a whole, not by rows", reader->path);
  const tsl_file_panel panel = {.data = out,
                                .row_stride = row_stride,
                                .col_stride = col_stride,
                                .first = reader->row,
                                .rows = rows,
                                .cols = info->cols,
                                .type = type,
                                .size = tsl_type(type)->size};
  const tesela_status status = read_panel_rows(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
}

tesela_status tsl_reader_restart(tsl_reader *reader) {
  reader->row = 0;
  return tsl_input_seek(&reader->in, reader->start, reader->start_line);
}

/* Reads columns through whole rows, a few at a time. */
static tesela_status read_columns_by_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  enum { CHUNK_BYTES = 1 << 20 };
  const tsl_file_info *const info = &reader->info;
  const int64_t row_bytes = info->cols * (int64_t)panel->size;
  const int64_t rows_max = CHUNK_BYTES / row_bytes < 1 ? 1 : CHUNK_BYTES / row_bytes;
  tesela_status status = TESELA_OK;
  void *block;
  TSL_TRY(tsl_alloc((size_t)((info->rows < rows_max ? info->rows : rows_max) * row_bytes), "rows of a file",
                    &block));
  TSL_GO(tsl_reader_restart(reader));
  for (int64_t row = 0; row < info->rows; row += rows_max) {
    const int64_t rows = info->rows - row < rows_max ? info->rows - row : rows_max;
    const tsl_file_panel chunk = {.data = block,
                                  .row_stride = info->cols,
                                  .col_stride = 1,
                                  .first = row,
                                  .rows = rows,
                                  .cols = info->cols,
                                  .type = panel->type,
                                  .size = panel->size};
    TSL_GO(read_panel_rows(reader, &chunk));
    for (int64_t i = 0; i < rows; i++)
      tsl_type_convert(panel->type, tsl_panel_address(&chunk, i, panel->first_col), 1, panel->type,
                       tsl_panel_address(panel, row + i, 0), panel->col_stride, (size_t)panel->cols);
  }
  status = tsl_reader_restart(reader);
out:
  tsl_free(block);
  return status;
}

static tesela_status read_panel_columns(tsl_reader *reader, const tsl_file_panel *panel) {
  if (panel->rows == 0 || panel->cols == 0)
    return TESELA_OK;
  if (reader->format->read_block != NULL && !reader->format->has_short_rows(reader))
    return reader->format->read_block(reader, panel);
  return read_columns_by_rows(reader, panel);
}

tesela_status tsl_reader_columns(tsl_reader *reader, int64_t first, int64_t cols, tesela_type type, void *out,
                                 int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  TSL_TRY(check_type_and_state(reader, type));
  if (!info->by_columns)
    return tsl_fail(TESELA_BAD_CALL, "%s: this file is not read by columns", reader->path);
  if (first < 0 || cols < 0 || cols > info->cols || first > info->cols - cols)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: columns %" PRId64 " to %" PRId64 " are asked for where there are %" PRId64,
                    reader->path, first, first + cols, info->cols);
  const tsl_file_panel panel = {.data = out,
                                .row_stride = row_stride,
                                .col_stride = col_stride,
                                .rows = info->rows,
                                .cols = cols,
                                .first_col = first,
                                .type = type,
                                .size = tsl_type(type)->size};
  const tesela_status status = read_panel_columns(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
}

tesela_status tsl_reader_block(tsl_reader *reader, const tsl_rectangle *block, tesela_type type, void *out,
                               int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  TSL_TRY(check_type_and_state(reader, type));
  if (!info->by_blocks)
    return tsl_fail(TESELA_BAD_CALL, "%s: this file is not read by blocks", reader->path);
  if (block->row < 0 || block->rows < 0 || block->rows > info->rows ||
      block->row > info->rows - block->rows || block->col < 0 || block->cols < 0 ||
      block->cols > info->cols || block->col > info->cols - block->cols)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: %" PRId64 " x %" PRId64 " elements from row %" PRId64 ", column %" PRId64
                    " are asked for where there are %" PRId64 " x %" PRId64,
                    reader->path, block->rows, block->cols, block->row, block->col, info->rows, info->cols);
  const tsl_file_panel panel = {.data = out,
                                .row_stride = row_stride,
                                .col_stride = col_stride,
                                .first = block->row,
                                .rows = block->rows,
                                .cols = block->cols,
                                .first_col = block->col,
                                .type = type,
                                .size = tsl_type(type)->size};
  if (block->rows == 0 || block->cols == 0)
    return TESELA_OK;
  const tesela_status status = reader->format->read_block(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
}

bool tsl_reader_reads_file_directly(const tsl_reader *reader) {
  return reader->info.by_blocks && reader->in.regular && !reader->spooled;
}

void tsl_reader_set_read_function(tsl_reader *reader, tsl_read_function read_function, void *read_state) {
  reader->in.read_function = read_function;
  reader->in.read_state = read_state;
}

const tsl_printed *tsl_reader_printed(const tsl_reader *reader) {
  return &reader->printed;
}

void tsl_reader_close(tsl_reader *reader) {
  if (reader == NULL)
    return;
  tsl_input_close(&reader->in);
  tsl_free(reader->state);
  free(reader->path);
  free(reader);
}
