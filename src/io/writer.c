#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "io/io_format.h"

static tesela_status choose_writer_format(const char *path, const char *name, const tsl_format **format) {
  *format = tsl_format_of_name(path);
  if (*format == NULL && name != NULL)
    *format = tsl_format_find(name);
  if (tsl_format_name_ends(path, ".gz") || tsl_format_name_ends(path, ".npz"))
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: compressed files cannot be written: write a plain file and compress it", path);
  if (*format != NULL)
    return TESELA_OK;
  if (name != NULL)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is no format of matrix files; there are %s", name,
                    tsl_io_formats());
  if (strcmp(path, "-") == 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "standard output has no ending that says how a matrix is written: name one of %s",
                    tsl_io_formats());
  return tsl_fail(TESELA_BAD_CALL, "%s: the ending says how a matrix is written; it is one of %s", path,
                  tsl_io_endings());
}

tesela_status tsl_writer_open(const char *path, const char *format_name, int64_t rows, int64_t cols,
                              tesela_type type, tsl_writer **out) {
  tesela_status status = TESELA_OK;
  tsl_writer *writer = NULL;
  const tsl_format *format;
  *out = NULL;
  TSL_TRY(choose_writer_format(path, format_name, &format));
  int64_t count, bytes;
  if (tsl_type(type) == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: type %d is none of %s", path, (int)type, tsl_type_names());
  if (rows < 0 || cols < 0)
    return tsl_fail(TESELA_BAD_CALL, "%s: %" PRId64 " x %" PRId64 " is no size: both are 0 or more", path,
                    rows, cols);
  /* The widest type and a number as text have 16 bytes. */
  if (!tsl_i64_mul(rows, cols, &count) || !tsl_i64_mul(count, 16, &bytes))
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: %" PRId64 " x %" PRId64 " elements are too many for a file: 2^59 is the limit", path,
                    rows, cols);
  if (format->real_only && tsl_type(type)->is_complex)
    return tsl_fail(TESELA_BAD_CALL, "%s: %s holds no complex numbers; npy and mtx do", path, format->name);
  if (format->may_write != NULL)
    TSL_TRY(format->may_write(path, rows, cols, type));
  writer = calloc(1, sizeof *writer);
  if (writer == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to write it", path);
  *writer = (tsl_writer){.format = format, .rows = rows, .cols = cols, .type = type};
  TSL_GO(tsl_output_open(path, &writer->out));
  TSL_GO(format->write_header(writer));
  *out = writer;
out:
  if (status != TESELA_OK)
    tsl_writer_close(writer);
  return status;
}

tesela_status tsl_writer_rows(tsl_writer *writer, int64_t rows, const void *data, int64_t row_stride,
                              int64_t col_stride) {
  if (writer->failed)
    return tsl_fail(TESELA_BAD_CALL, "%s: cannot be written further after an error", writer->out.path);
  if (rows < 0 || rows > writer->rows - writer->row)
    return tsl_fail(TESELA_BAD_CALL, "%s: %" PRId64 " rows are written, but only %" PRId64 " are left",
                    writer->out.path, rows, writer->rows - writer->row);
  const tsl_file_panel panel = {.source = data,
                                .row_stride = row_stride,
                                .col_stride = col_stride,
                                .first = writer->row,
                                .rows = rows,
                                .cols = writer->cols,
                                .type = writer->type,
                                .size = tsl_type(writer->type)->size};
  const tesela_status status = writer->format->write_rows(writer, &panel);
  writer->failed = status != TESELA_OK;
  writer->row += rows;
  return status;
}

tesela_status tsl_writer_commit(tsl_writer *writer) {
  if (writer->failed)
    return tsl_fail(TESELA_BAD_CALL, "%s: is not complete, because writing it failed", writer->out.path);
  if (writer->row != writer->rows)
    return tsl_fail(TESELA_BAD_CALL, "%s: is not complete: %" PRId64 " of %" PRId64 " rows were written",
                    writer->out.path, writer->row, writer->rows);
  writer->failed = true; /* no second commit */
  if (writer->format->write_end != NULL)
    TSL_TRY(writer->format->write_end(writer));
  return tsl_output_commit(&writer->out);
}

void tsl_writer_close(tsl_writer *writer) {
  if (writer == NULL)
    return;
  tsl_output_close(&writer->out);
  tsl_free(writer->state);
  free(writer);
}

bool tsl_writer_keeps_rows(const tsl_writer *writer) {
  return writer->format->keeps_rows;
}

const char *tsl_writer_temporary(const tsl_writer *writer) {
  return writer->out.temporary;
}

bool tsl_io_takes_blocks(const char *path, const char *name) {
  const tsl_format *format = tsl_format_of_name(path);
  if (format == NULL && name != NULL)
    format = tsl_format_find(name);
  return format != NULL && format->takes_blocks && strcmp(path, "-") != 0;
}
