#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "io/io_format.h"
#include "io/npy_header.h"
#include "io/preallocate.h"
#include "io/spool.h"

tsl_file_state tsl_reader_get_file_state(const tsl_reader *reader) {
  struct stat about;
  if (reader->spooled)
    return reader->original_state;
  if (fstat(reader->in.fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink == 0)
    return (tsl_file_state){0};
  return (tsl_file_state){
      .size = (uint64_t)about.st_size, .seconds = about.st_mtim.tv_sec, .nanoseconds = about.st_mtim.tv_nsec};
}

/* Opens an unnamed file with `bytes` reserved. */
static tesela_status open_spool_with_space(const tsl_reader *reader, uint64_t bytes, int *fd) {
  char shown[32];
  TSL_TRY(tsl_spool_open(reader->path, fd));
  const int reason = tsl_reserve_file_space(*fd, bytes);
  if (reason == 0)
    return TESELA_OK;
  close(*fd);
  *fd = -1;
  return tsl_fail(TESELA_IO_FAILED,
                  "%s: there is no room for a temporary file of its %s: %s; TMPDIR may name another folder",
                  reader->path, tsl_format_bytes(bytes, shown, sizeof shown), strerror(reason));
}

static tesela_status read_rows_for_spool(tsl_reader *reader, int64_t first, int64_t rows, tesela_type type,
                                         void *out) {
  const tsl_file_panel panel = {.data = out,
                                .row_stride = reader->info.cols,
                                .col_stride = 1,
                                .first = first,
                                .rows = rows,
                                .cols = reader->info.cols,
                                .type = type,
                                .size = tsl_type(type)->size};
  if (reader->info.by_rows)
    return tsl_reader_rows(reader, rows, type, out, reader->info.cols, 1);
  TSL_TRY(tsl_reader_restart(reader));
  return reader->format->read_block(reader, &panel);
}

/* Copies all rows to a .npy file, a part at a time. */
static tesela_status copy_rows_to_npy(tsl_reader *reader, tesela_type type, uint64_t bytes_max, int fd) {
  const tsl_file_info *info = &reader->info;
  const tesela_type stored = tsl_npy_stored_type(type);
  const size_t from = tsl_type(type)->size, to = tsl_type(stored)->size;
  const uint64_t row_bytes = (uint64_t)info->cols * (from + to);
  const int64_t fit = (int64_t)(bytes_max / row_bytes), rows = fit < 1            ? 1
                                                               : fit < info->rows ? fit
                                                                                  : info->rows;
  tesela_status status = TESELA_OK;
  void *read = NULL, *wide = NULL;
  TSL_GO(tsl_alloc((size_t)(rows * info->cols) * from, "rows of a file", &read));
  TSL_GO(tsl_alloc((size_t)(rows * info->cols) * to, "rows of a file", &wide));
  for (int64_t row = 0; row < info->rows; row += rows) {
    const int64_t now = info->rows - row < rows ? info->rows - row : rows;
    const size_t count = (size_t)(now * info->cols);
    TSL_GO(read_rows_for_spool(reader, row, now, type, read));
    tsl_type_convert(type, read, 1, stored, wide, 1, count);
    TSL_GO(tsl_spool_write(fd, reader->path, wide, count * to));
  }
out:
  tsl_free(read);
  tsl_free(wide);
  return status;
}

/* Converts the values to a .npy file for the reader. */
static tesela_status convert_to_npy_spool(tsl_reader *reader, tesela_type type, uint64_t bytes_max) {
  char header[TSL_NPY_HEADER_MAX];
  const size_t length = tsl_npy_header_print(type, reader->info.rows, reader->info.cols, header);
  const uint64_t bytes =
      length + (uint64_t)(reader->info.rows * reader->info.cols) * tsl_type(tsl_npy_stored_type(type))->size;
  tesela_status status = TESELA_OK;
  int fd;
  TSL_TRY(open_spool_with_space(reader, bytes, &fd));
  TSL_GO(tsl_spool_write(fd, reader->path, header, length));
  TSL_GO(copy_rows_to_npy(reader, type, bytes_max, fd));
  TSL_TRY(tsl_input_replace(&reader->in, fd, bytes));
  tsl_free(reader->state);
  reader->state = NULL;
  reader->row = 0;
  reader->format = tsl_format_find("npy");
  TSL_TRY(reader->format->read_header(reader));
  reader->start = tsl_input_tell(&reader->in);
  reader->start_line = reader->in.line;
  reader->info.by_columns = true;
  return TESELA_OK;
out:
  close(fd);
  return status;
}

tesela_status tsl_reader_spool(tsl_reader *reader, tesela_type type, uint64_t bytes_max) {
  tsl_file_info *info = &reader->info;
  if (info->by_blocks || info->rows == 0 || info->cols == 0)
    return TESELA_OK;
  reader->original_state = tsl_reader_get_file_state(reader);
  reader->spooled = true;
  const bool is_values = strcmp(reader->format->name, "npy") != 0;
  if (!reader->in.regular && !(is_values && info->by_rows)) {
    TSL_TRY(tsl_input_spool(&reader->in));
    reader->start = tsl_input_tell(&reader->in);
    reader->start_line = reader->in.line;
    if (!is_values)
      TSL_TRY(tsl_npy_check_size(reader));
  }
  if (is_values)
    return convert_to_npy_spool(reader, type, bytes_max);
  info->by_rows = info->by_columns = info->by_blocks = true;
  return TESELA_OK;
}
