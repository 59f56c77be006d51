/* One input of a fuzzer: the bytes are a file of the format fuzz_format. For any bytes, the reader returns an
 * error or values, and values read by rows equal values read at once. */
#include "fuzz/fuzz_reader.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/io.h"

/* A larger matrix is opened and closed only. */
enum { ELEMENTS_MAX = 1 << 16 };

/* A program of libFuzzer is compiled for one format, and feed.c sets the format. */
#ifndef TESELA_FUZZ_FORMAT
#define TESELA_FUZZ_FORMAT NULL
#endif
const char *fuzz_format = TESELA_FUZZ_FORMAT;

static char folder[] = "/tmp/tesela_fuzz_XXXXXX";
static char path[64];

static void remove_folder(void) {
  unlink(path);
  rmdir(folder);
}

/* Breaks off where the fuzzer, or CTest, sees it. */
static void must(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n", what, tesela_last_error());
  abort();
}

/* A file in memory that has a name with the right ending. */
static int make_file(void) {
  const int fd = memfd_create("fuzz", 0);
  char target[64];
  must(fd >= 0 && mkdtemp(folder) != NULL, "no place for the input");
  snprintf(path, sizeof path, "%s/input.%s", folder, fuzz_format);
  snprintf(target, sizeof target, "/proc/%ld/fd/%d", (long)getpid(), fd);
  must(symlink(target, path) == 0, "no name for the input");
  atexit(remove_folder);
  return fd;
}

static void check_sentence(tesela_status status) {
  must(status == TESELA_BAD_INPUT, "not a status for bad input");
  must(strncmp(tesela_last_error(), path, strlen(path)) == 0, "the sentence does not begin with the file");
  for (const char *at = tesela_last_error(); *at != '\0'; at++)
    must(*at >= ' ' && *at <= '~', "the sentence has unprintable characters");
}

/* Reads all rows, `step` at a time, into a dense matrix of exactly the right size. */
static tesela_status read_all(tesela_type type, int64_t step, void **values, size_t *bytes) {
  tsl_reader *reader;
  must(tsl_reader_open(path, NULL, &reader) == TESELA_OK, "opens the first time only");
  const tsl_file_info *const info = tsl_reader_info(reader);
  const int64_t cols = info->cols;
  const size_t size = tsl_type(type)->size;
  *bytes = (size_t)(info->rows * cols) * size;
  *values = calloc(*bytes + (*bytes == 0), 1);
  must(*values != NULL, "no memory for the values");
  tesela_status status = TESELA_OK;
  /* A matrix without columns has nothing to read, and may have any number of rows. */
  const int64_t rows = cols == 0 && info->by_rows ? 0 : info->rows;
  for (int64_t i = 0; status == TESELA_OK && (i < rows || i == 0); i += step) {
    const int64_t count = rows - i < step ? rows - i : step;
    status = tsl_reader_rows(reader, count, type, (char *)*values + (size_t)(i * cols) * size, cols, 1);
  }
  if (status != TESELA_OK)
    check_sentence(status);
  tsl_reader_close(reader);
  return status;
}

static void check_values(const tsl_file_info *info, size_t size) {
  void *whole, *parts, *other;
  size_t whole_bytes, bytes;
  const tesela_status status = read_all(info->type, INT64_MAX, &whole, &whole_bytes);
  if (info->by_rows) {
    must(read_all(info->type, 1 + (int64_t)size % 3, &parts, &bytes) == status, "reads differently by rows");
    must(status != TESELA_OK || memcmp(whole, parts, bytes) == 0, "has other values by rows");
    free(parts);
  }
  const tesela_type type = tsl_type_at((int)(size % 8))->type;
  const tesela_status as_other = read_all(type, INT64_MAX, &other, &bytes);
  must(status == TESELA_OK || as_other != TESELA_OK, "reads as another type only");
  free(other);
  free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int fd = -1;
  if (fd < 0)
    fd = make_file();
  must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "cannot write the input");
  tsl_reader *reader;
  const tesela_status status = tsl_reader_open(path, NULL, &reader);
  if (status != TESELA_OK) {
    check_sentence(status);
    return 0;
  }
  const tsl_file_info info = *tsl_reader_info(reader);
  tsl_reader_close(reader);
  must(info.rows >= 0 && info.cols >= 0, "a negative shape");
  if (info.cols == 0 || info.rows <= ELEMENTS_MAX / info.cols)
    check_values(&info, size);
  return 0;
}
