#include "device/fact_file.h"

#include "core/safe_open.h"
#include "core/warnings.h"
#include "device/jit_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESTART_BYTES = 1 << 20, READ_BYTES_MAX = 1 << 24, LINE_BYTES_MAX = 2048 };

/* Returns -1 with the reason in `why` on failure. */
static int fact_file_open(const tsl_fact_lines *lines, bool create, char *why, size_t size) {
  const char *refused;
  if (tsl_jit_size_limit() == 0) {
    snprintf(why, size, "TESELA_CACHE_SIZE is 0");
    return -1;
  }
  const int folder = tsl_jit_folder_open(create, why, size);
  if (folder < 0)
    return -1;
  const int file =
      tsl_trusted_file(folder, lines->file, create ? O_RDWR | O_APPEND | O_CREAT : O_RDONLY, 0600, &refused);
  if (file < 0)
    snprintf(why, size, "%s", refused);
  if (file < 0 && errno == 0)
    tsl_notice(TSL_LOG_CACHE, "the file %s in the folder of compiled kernels is not used: %s", lines->file,
               refused);
  close(folder);
  return file;
}

/* Reads the file; empty if it is missing or lacks the mark. */
static void fact_file_read(const tsl_fact_lines *lines, tsl_text *text) {
  char why[256];
  const size_t mark = strlen(lines->mark);
  const int file = fact_file_open(lines, false, why, sizeof why);
  if (file < 0)
    return;
  const char *wrong = tsl_read_regular(file, READ_BYTES_MAX, text);
  close(file);
  if (wrong || text->length < mark || memcmp(text->data, lines->mark, mark) != 0)
    tsl_text_free(text);
}

void tsl_lines_each(const tsl_fact_lines *lines, void (*each)(void *argument, char *line), void *argument) {
  tsl_text text = {0};
  fact_file_read(lines, &text);
  for (char *line = text.data ? text.data + strlen(lines->mark) : NULL; line && *line;) {
    char *end = strchr(line, '\n');
    if (!end)
      break;
    *end = '\0';
    each(argument, line);
    line = end + 1;
  }
  tsl_text_free(&text);
}

/* Appends a line in one write, after a newline if a previous write was interrupted. */
static bool fact_file_append(const tsl_fact_lines *lines, int file, const char *line) {
  struct stat facts;
  tsl_text text = {0};
  char last = '\n';
  if (fstat(file, &facts) != 0)
    return false;
  if (facts.st_size > RESTART_BYTES && ftruncate(file, 0) == 0)
    facts.st_size = 0;
  if (facts.st_size > 0 && pread(file, &last, 1, facts.st_size - 1) != 1)
    return false;
  tsl_text_add(&text, "%s%s%s\n", facts.st_size == 0 ? lines->mark : "", last == '\n' ? "" : "\n", line);
  const bool good = !text.failed && write(file, text.data, text.length) == (ssize_t)text.length;
  tsl_text_free(&text);
  return good;
}

void tsl_lines_add(const tsl_fact_lines *lines, const char *line) {
  if (strlen(line) >= LINE_BYTES_MAX)
    return;
  char why[256];
  const int file = fact_file_open(lines, true, why, sizeof why);
  if (file < 0 || !fact_file_append(lines, file, line))
    tsl_log(TSL_LOG_CACHE, "%s: nothing is stored: %s", lines->file, file < 0 ? why : strerror(errno));
  if (file >= 0)
    close(file);
}

void tsl_lines_remove(const tsl_fact_lines *lines) {
  tsl_text text = {0};
  char why[256];
  fact_file_read(lines, &text);
  const int folder = text.length > 0 ? tsl_jit_folder_open(false, why, sizeof why) : -1;
  if (folder >= 0) {
    unlinkat(folder, lines->file, 0);
    close(folder);
  }
  tsl_text_free(&text);
}
