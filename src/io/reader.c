#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/cast.h"
#include "io/format.h"
#include "io/list.h"
#include "io/number.h"

#define TSL_FORMAT_DECLARE(name) extern const tsl_format tsl_format_##name;
TSL_FORMAT_LIST(TSL_FORMAT_DECLARE)
#undef TSL_FORMAT_DECLARE

#define TSL_FORMAT_ROW(name) &tsl_format_##name,
static const tsl_format *const formats[] = {TSL_FORMAT_LIST(TSL_FORMAT_ROW)};
#undef TSL_FORMAT_ROW
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

bool tsl_format_name_ends(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

const tsl_format *tsl_format_of_name(const char *path) {
  const char *const slash = strrchr(path, '/');
  const char *const ending = strrchr(slash != NULL ? slash : path, '.');
  if (ending == NULL)
    return NULL;
  const size_t length = strlen(ending);
  for (int i = 0; i < FORMAT_COUNT; i++)
    for (const char *at = formats[i]->endings; *at != '\0'; at = strchr(at, ' ') + 1)
      if (strncasecmp(at, ending, length) == 0 && at[length] == ' ')
        return formats[i];
  return NULL;
}

const tsl_format *tsl_format_find(const char *name) {
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (strcmp(formats[i]->name, name) == 0)
      return formats[i];
  return NULL;
}

bool tsl_io_has_format(const char *name) {
  return tsl_format_find(name) != NULL;
}

const char *tsl_io_endings(void) {
#define TSL_FORMAT_ENDING(name) ", ." #name
  return &TSL_FORMAT_LIST(TSL_FORMAT_ENDING)[2];
#undef TSL_FORMAT_ENDING
}

const char *tsl_io_formats(void) {
#define TSL_FORMAT_NAME(name) ", " #name
  return &TSL_FORMAT_LIST(TSL_FORMAT_NAME)[2];
#undef TSL_FORMAT_NAME
}

/* By the first bytes; NULL where they say nothing. `marked`: only if they are a format's alone. */
static const tsl_format *recognise(const tsl_input *in, bool marked) {
  const size_t waiting = in->end - in->at;
  for (int i = 0; i < FORMAT_COUNT; i++)
    if ((formats[i]->marked || !marked) &&
        formats[i]->recognise(in->block + in->at, waiting < 4096 ? waiting : 4096))
      return formats[i];
  return NULL;
}

/* The format of a name that may end in .gz. */
static const tsl_format *format_of_packed_name(const char *path) {
  char inner[4096];
  const size_t length = strlen(path);
  if (!tsl_format_name_ends(path, ".gz") || length >= sizeof inner)
    return tsl_format_of_name(path);
  snprintf(inner, sizeof inner, "%.*s", (int)(length - 3), path);
  return tsl_format_of_name(inner);
}

static tesela_status choose_format(tsl_reader *reader, const char *path, const tsl_format *given) {
  TSL_TRY(tsl_input_fill(&reader->in, 4096));
  if (reader->in.archive)
    reader->format = tsl_format_find("npy");
  else if (given != NULL)
    reader->format = recognise(&reader->in, true);
  else
    reader->format = format_of_packed_name(path);
  if (reader->format == NULL)
    reader->format = given != NULL ? given : recognise(&reader->in, false);
  if (reader->format != NULL)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: is no matrix file that its name or its first bytes tell; the endings are %s",
                  reader->path, tsl_io_endings());
}

tesela_status tsl_reader_open_as(const char *path, const char *format, tsl_reader **out) {
  tesela_status status;
  const tsl_format *const given = format != NULL ? tsl_format_find(format) : NULL;
  *out = NULL;
  if (format != NULL && given == NULL)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is no format of matrix files; there are %s", format,
                    tsl_io_formats());
  tsl_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL || (reader->path = strdup(tsl_input_name(path))) == NULL) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to open it", path);
    goto out;
  }
  TSL_GO(tsl_input_open(path, reader->path, &reader->in));
  TSL_GO(choose_format(reader, path, given));
  TSL_GO(reader->format->read_header(reader));
  reader->info.format = reader->format->name;
  reader->info.text = reader->format->text;
  reader->info.by_columns = reader->info.by_rows && reader->in.regular;
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

tesela_status tsl_reader_open(const char *path, tsl_reader **reader) {
  return tsl_reader_open_as(path, NULL, reader);
}

const tsl_file_info *tsl_reader_info(const tsl_reader *reader) {
  return &reader->info;
}

static tesela_status read_rows(tsl_reader *reader, const tsl_panel *panel) {
  TSL_TRY(reader->format->read_rows(reader, panel));
  reader->row += panel->rows;
  return reader->row == reader->info.rows ? reader->format->read_end(reader) : TESELA_OK;
}

static tesela_status check_call(const tsl_reader *reader, tesela_type type) {
  if (tsl_type(type) == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: %d is no element type to read into", reader->path, (int)type);
  if (reader->failed)
    return tsl_fail(TESELA_BAD_CALL, "%s: cannot be read further after an error", reader->path);
  return TESELA_OK;
}

tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  TSL_TRY(check_call(reader, type));
  if (rows < 0 || rows > info->rows - reader->row)
    return tsl_fail(TESELA_BAD_CALL, "%s: %" PRId64 " rows are asked for where %" PRId64 " are left",
                    reader->path, rows, info->rows - reader->row);
  if (!info->by_rows && rows != info->rows)
    return tsl_fail(TESELA_BAD_CALL, "%s: this file is read as a whole, not by rows", reader->path);
  const tsl_panel panel = {.data = out,
                           .row_stride = row_stride,
                           .col_stride = col_stride,
                           .first = reader->row,
                           .rows = rows,
                           .cols = info->cols,
                           .type = type,
                           .size = tsl_type(type)->size};
  const tesela_status status = read_rows(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
}

tesela_status tsl_reader_restart(tsl_reader *reader) {
  reader->row = 0;
  return tsl_input_seek(&reader->in, reader->start, reader->start_line);
}

/* Columns by way of whole rows, a few at a time. */
static tesela_status read_through(tsl_reader *reader, const tsl_panel *panel) {
  enum { CHUNK_BYTES = 1 << 20 };
  const tsl_file_info *const info = &reader->info;
  const int64_t row_bytes = info->cols * (int64_t)panel->size;
  const int64_t most = CHUNK_BYTES / row_bytes < 1 ? 1 : CHUNK_BYTES / row_bytes;
  tesela_status status = TESELA_OK;
  void *block;
  TSL_TRY(tsl_alloc((size_t)((info->rows < most ? info->rows : most) * row_bytes), "rows of a file", &block));
  TSL_GO(tsl_reader_restart(reader));
  for (int64_t row = 0; row < info->rows; row += most) {
    const int64_t rows = info->rows - row < most ? info->rows - row : most;
    const tsl_panel chunk = {.data = block,
                             .row_stride = info->cols,
                             .col_stride = 1,
                             .first = row,
                             .rows = rows,
                             .cols = info->cols,
                             .type = panel->type,
                             .size = panel->size};
    TSL_GO(read_rows(reader, &chunk));
    for (int64_t i = 0; i < rows; i++)
      tsl_type_convert(panel->type, tsl_panel_at(&chunk, i, panel->first_col), 1, panel->type,
                       tsl_panel_at(panel, row + i, 0), panel->col_stride, (size_t)panel->cols);
  }
  status = tsl_reader_restart(reader);
out:
  tsl_free(block);
  return status;
}

static tesela_status read_columns(tsl_reader *reader, const tsl_panel *panel) {
  if (panel->rows == 0 || panel->cols == 0)
    return TESELA_OK;
  if (reader->format->read_block != NULL) {
    const tesela_status status = reader->format->read_block(reader, panel);
    if (status != TESELA_UNSUPPORTED)
      return status;
  }
  return read_through(reader, panel);
}

tesela_status tsl_reader_columns(tsl_reader *reader, int64_t first, int64_t cols, tesela_type type, void *out,
                                 int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  TSL_TRY(check_call(reader, type));
  if (!info->by_columns)
    return tsl_fail(TESELA_BAD_CALL, "%s: this file is not read by columns", reader->path);
  if (first < 0 || cols < 0 || cols > info->cols || first > info->cols - cols)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: columns %" PRId64 " to %" PRId64 " are asked for where there are %" PRId64,
                    reader->path, first, first + cols, info->cols);
  const tsl_panel panel = {.data = out,
                           .row_stride = row_stride,
                           .col_stride = col_stride,
                           .rows = info->rows,
                           .cols = cols,
                           .first_col = first,
                           .type = type,
                           .size = tsl_type(type)->size};
  const tesela_status status = read_columns(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
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

void *tsl_panel_at(const tsl_panel *panel, int64_t i, int64_t j) {
  return (char *)panel->data + (i * panel->row_stride + j * panel->col_stride) * (int64_t)panel->size;
}

tesela_status tsl_reader_set_shape(tsl_reader *reader, int64_t rows, int64_t cols) {
  int64_t count, bytes;
  reader->info.rows = rows;
  reader->info.cols = cols;
  if (tsl_i64_mul(rows, cols, &count) && tsl_i64_mul(count, 16, &bytes))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s: its shape, %" PRId64 " x %" PRId64 ", is larger than any memory",
                  reader->path, rows, cols);
}

tesela_status tsl_reader_put(const tsl_reader *reader, const tsl_panel *panel, int64_t i, int64_t j,
                             int64_t line, const double value[2]) {
  size_t bad;
  if (panel->type == TESELA_F64 && value[1] == 0) {
    memcpy(tsl_panel_at(panel, i, j), value, sizeof(double));
    return TESELA_OK;
  }
  if (tsl_cast(TESELA_C128, value, panel->type, tsl_panel_at(panel, i, j), 1, 1, &bad))
    return TESELA_OK;
  tsl_cast_fail(value, panel->type);
  return tsl_fail_in(TESELA_BAD_INPUT, "%s: line %" PRId64 " (row %" PRId64 ", column %" PRId64 ")",
                     reader->path, line, panel->first + i + 1, j + 1);
}

bool tsl_reader_is_complex(const char *text, size_t length) {
  double value;
  if (length < 1 || ((text[length - 1] | 0x20) != 'i' && (text[length - 1] | 0x20) != 'j'))
    return false;
  /* "2i", or a number, a sign and a number. */
  size_t at = length - 1;
  while (at > 0 && !((text[at] == '+' || text[at] == '-') && (text[at - 1] | 0x20) != 'e'))
    at--;
  return tsl_number_read(text, length - 1, 0, &value) == TSL_NUMBER_READ ||
         (at > 0 && tsl_number_read(text, at, 0, &value) == TSL_NUMBER_READ);
}

tesela_status tsl_reader_number(tsl_reader *reader, tsl_word word, int flags, double *value) {
  char quoted[TSL_QUOTE_MAX];
  const tsl_number_result result =
      tsl_number_read_printed(word.text, word.length, flags, value, &reader->printed);
  if (result == TSL_NUMBER_READ)
    return TESELA_OK;
  tsl_input_quote(word.text, word.length, quoted);
  if (result == TSL_NUMBER_TOO_LARGE)
    return tsl_input_bad_line(&reader->in, reader->in.line, "has '%s', which is larger than any double",
                              quoted);
  if (reader->format->real_only && tsl_reader_is_complex(word.text, word.length))
    return tsl_input_bad_line(&reader->in, reader->in.line,
                              "has '%s', but %s holds real numbers only: npy and mtx hold complex ones",
                              quoted, reader->format->name);
  return tsl_input_bad_line(&reader->in, reader->in.line, "has '%s' where a number should be", quoted);
}

tesela_status tsl_reader_expect(const tsl_reader *reader, int64_t count, int64_t bytes, const char *what) {
  if (!reader->in.regular)
    return TESELA_OK;
  /* The last one needs no line end. */
  const uint64_t most = (tsl_input_left(&reader->in) + 1) / (uint64_t)bytes;
  if ((uint64_t)count <= most)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line,
                            "announces %" PRId64 " %s, but the file ends after %" PRIu64
                            " bytes more: it is truncated",
                            count, what, tsl_input_left(&reader->in));
}
