#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/checked.h"
#include "core/status.h"
#include "io/cast.h"
#include "io/io_format.h"
#include "io/io_number.h"

bool tsl_format_name_ends(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

void *tsl_panel_address(const tsl_file_panel *panel, int64_t i, int64_t j) {
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

tesela_status tsl_reader_store_value(const tsl_reader *reader, const tsl_file_panel *panel, int64_t i,
                                     int64_t j, int64_t line, const double value[2]) {
  size_t bad;
  if (panel->type == TESELA_F64 && value[1] == 0) {
    memcpy(tsl_panel_address(panel, i, j), value, sizeof(double));
    return TESELA_OK;
  }
  if (tsl_cast(TESELA_C128, value, panel->type, tsl_panel_address(panel, i, j), 1, 1, &bad))
    return TESELA_OK;
  tsl_cast_fail(value, panel->type);
  return tsl_fail_in(TESELA_BAD_INPUT, "%s: line %" PRId64 " (row %" PRId64 ", column %" PRId64 ")",
                     reader->path, line, panel->first + i + 1, panel->first_col + j + 1);
}

bool tsl_reader_is_complex(const char *text, size_t length) {
  double value;
  if (length < 1 || ((text[length - 1] | 0x20) != 'i' && (text[length - 1] | 0x20) != 'j'))
    return false;
  /* "2i", or a number, a sign and a number */
  size_t at = length - 1;
  while (at > 0 && !((text[at] == '+' || text[at] == '-') && (text[at - 1] | 0x20) != 'e'))
    at--;
  return tsl_number_read(text, length - 1, 0, &value) == TSL_NUMBER_READ ||
         (at > 0 && tsl_number_read(text, at, 0, &value) == TSL_NUMBER_READ);
}

tesela_status tsl_reader_read_number(tsl_reader *reader, tsl_word word, int flags, double *value) {
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

tesela_status tsl_reader_check_length(const tsl_reader *reader, int64_t count, int64_t bytes,
                                      const char *what) {
  if (!reader->in.regular)
    return TESELA_OK;
  /* the last value needs no line end */
  const uint64_t count_max = (tsl_input_bytes_left(&reader->in) + 1) / (uint64_t)bytes;
  if ((uint64_t)count <= count_max)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line,
                            "announces %" PRId64 " %s, but only %" PRIu64
                            " bytes follow: the file is truncated",
                            count, what, tsl_input_bytes_left(&reader->in));
}

tesela_status tsl_writer_write_number(tsl_writer *writer, tesela_type type, double value) {
  char *space;
  TSL_TRY(tsl_output_space(&writer->out, TSL_NUMBER_MAX, &space));
  writer->out.used += tsl_number_write(type, value, space);
  return TESELA_OK;
}

tesela_status tsl_writer_write_lines(tsl_writer *writer, const tsl_file_panel *panel, char separator) {
  for (int64_t i = 0; i < panel->rows && panel->cols > 0; i++) {
    for (int64_t j = 0; j < panel->cols; j++) {
      const char end = j + 1 < panel->cols ? separator : '\n';
      double value[2];
      tsl_type_load(panel->type, tsl_panel_address(panel, i, j), value);
      TSL_TRY(tsl_writer_write_number(writer, panel->type, value[0]));
      TSL_TRY(tsl_output_write(&writer->out, &end, 1));
    }
  }
  return TESELA_OK;
}
