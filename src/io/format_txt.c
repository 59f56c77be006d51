/* "rows columns" on the first line, then the values by rows, separated by blanks or line ends. */
#include <inttypes.h>

#include "core/status.h"
#include "io/io_format.h"
#include "io/io_number.h"

static bool txt_recognise(const char *bytes, size_t count) {
  size_t i = 0;
  for (int number = 0; number < 2; number++) {
    while (i < count && (bytes[i] == ' ' || bytes[i] == '\t'))
      i++;
    const size_t start = i;
    while (i < count && bytes[i] >= '0' && bytes[i] <= '9')
      i++;
    if (i == start)
      return false;
  }
  while (i < count && (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\r'))
    i++;
  return i == count || bytes[i] == '\n';
}

static tesela_status read_txt_size(tsl_reader *reader, int64_t *size) {
  tsl_word word;
  char quoted[TSL_QUOTE_MAX];
  TSL_TRY(tsl_input_word(&reader->in, &word));
  if (tsl_number_read_whole(word.text, word.length, size) == TSL_NUMBER_READ && *size >= 0)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line,
                            "begins a .txt matrix and should be \"rows columns\", but has '%s'",
                            tsl_input_quote(word.text, word.length, quoted));
}

static tesela_status txt_read_header(tsl_reader *reader) {
  tsl_input *const in = &reader->in;
  bool more;
  int64_t rows = 0, cols = 0;
  tsl_word word;
  TSL_TRY(tsl_input_skip_byte_order_mark(in));
  TSL_TRY(tsl_input_next_line(in, &more));
  if (!more)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is empty; a .txt matrix begins with a line \"rows columns\"",
                    reader->path);
  TSL_TRY(read_txt_size(reader, &rows));
  TSL_TRY(read_txt_size(reader, &cols));
  TSL_TRY(tsl_input_word(in, &word));
  if (word.length != 0)
    return tsl_input_bad_line(in, in->line, "begins a .txt matrix and should be \"rows columns\" alone");
  TSL_TRY(tsl_reader_set_shape(reader, rows, cols));
  reader->info.type = TESELA_F64;
  reader->info.by_rows = true;
  return tsl_reader_check_length(reader, rows * cols, 2, "values");
}

static tesela_status txt_read_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  tsl_input *const in = &reader->in;
  for (int64_t i = 0; i < panel->rows && panel->cols > 0; i++) {
    for (int64_t j = 0; j < panel->cols; j++) {
      tsl_word word;
      TSL_TRY(tsl_input_word(in, &word));
      if (word.length == 0) {
        bool more;
        TSL_TRY(tsl_input_next_line(in, &more));
        TSL_TRY(tsl_input_word(in, &word));
      }
      if (word.length == 0)
        return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated: it ends after %" PRId64 " of %" PRId64 " values",
                        reader->path, (panel->first + i) * panel->cols + j, reader->info.rows * panel->cols);
      double value[2] = {0, 0};
      TSL_TRY(tsl_reader_read_number(reader, word, TSL_NUMBER_FORTRAN, &value[0]));
      TSL_TRY(tsl_reader_store_value(reader, panel, i, j, in->line, value));
    }
  }
  return TESELA_OK;
}

static tesela_status txt_read_end(tsl_reader *reader) {
  bool more;
  TSL_TRY(tsl_input_next_line(&reader->in, &more));
  if (!more)
    return TESELA_OK;
  return tsl_input_bad_line(&reader->in, reader->in.line,
                            "goes on after the last of %" PRId64 " x %" PRId64 " values", reader->info.rows,
                            reader->info.cols);
}

static tesela_status write_size(tsl_writer *writer, int64_t size, char end) {
  TSL_TRY(tsl_writer_write_number(writer, TESELA_F64, (double)size));
  return tsl_output_write(&writer->out, &end, 1);
}

static tesela_status txt_write_header(tsl_writer *writer) {
  TSL_TRY(write_size(writer, writer->rows, ' '));
  return write_size(writer, writer->cols, '\n');
}

static tesela_status txt_write_rows(tsl_writer *writer, const tsl_file_panel *panel) {
  return tsl_writer_write_lines(writer, panel, ' ');
}

const tsl_format tsl_format_txt = {
    .name = "txt",
    .endings = ".txt ",
    .is_text = true,
    .real_only = true,
    .recognise = txt_recognise,
    .read_header = txt_read_header,
    .read_rows = txt_read_rows,
    .read_end = txt_read_end,
    .write_header = txt_write_header,
    .write_rows = txt_write_rows,
};
