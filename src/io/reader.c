#include <inttypes.h>
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

const char *tsl_format_endings(void) {
#define TSL_FORMAT_ENDING(name) ", ." #name
  return &TSL_FORMAT_LIST(TSL_FORMAT_ENDING)[2];
#undef TSL_FORMAT_ENDING
}

/* By the first bytes. */
static tesela_status recognise(tsl_reader *reader) {
  TSL_TRY(tsl_input_fill(&reader->in, 4096));
  const size_t waiting = reader->in.end - reader->in.at;
  for (int i = 0; i < FORMAT_COUNT; i++) {
    if (formats[i]->recognise(reader->in.block + reader->in.at, waiting < 4096 ? waiting : 4096)) {
      reader->format = formats[i];
      return TESELA_OK;
    }
  }
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: is no matrix file that its name or its first bytes tell; the endings are %s",
                  reader->path, tsl_format_endings());
}

tesela_status tsl_reader_open(const char *path, tsl_reader **out) {
  tesela_status status;
  tsl_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL || (reader->path = strdup(path)) == NULL) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to open it", path);
    goto out;
  }
  TSL_GO(tsl_input_open(reader->path, &reader->in));
  reader->format = tsl_format_of_name(path);
  if (reader->format == NULL)
    TSL_GO(recognise(reader));
  TSL_GO(reader->format->read_header(reader));
  reader->info.format = reader->format->name;
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

static tesela_status read_rows(tsl_reader *reader, const tsl_panel *panel) {
  TSL_TRY(reader->format->read_rows(reader, panel));
  reader->row += panel->rows;
  return reader->row == reader->info.rows ? reader->format->read_end(reader) : TESELA_OK;
}

tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride) {
  const tsl_file_info *const info = &reader->info;
  const tsl_type_info *const element = tsl_type(type);
  if (element == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: %d is no element type to read into", reader->path, (int)type);
  if (reader->failed)
    return tsl_fail(TESELA_BAD_CALL, "%s: cannot be read further after an error", reader->path);
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
                           .size = element->size};
  const tesela_status status = read_rows(reader, &panel);
  reader->failed = status != TESELA_OK;
  return status;
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

tesela_status tsl_reader_number(const tsl_reader *reader, tsl_word word, int flags, double *value) {
  char quoted[TSL_QUOTE_MAX];
  const tsl_number_result result = tsl_number_read(word.text, word.length, flags, value);
  if (result == TSL_NUMBER_READ)
    return TESELA_OK;
  tsl_input_quote(word.text, word.length, quoted);
  if (result == TSL_NUMBER_TOO_LARGE)
    return tsl_input_bad_line(&reader->in, reader->in.line, "has '%s', which is larger than any double",
                              quoted);
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
