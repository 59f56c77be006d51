#include "device/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

static const char mark[] = "<kernel>:";

/* Appends "file:line" for line `wanted` (from 1) of the text, by the last #line directive above it. */
static void add_file_and_line(tsl_text *out, const char *text, long wanted) {
  const char *file = "<kernel>";
  size_t file_length = strlen(file);
  long line = 1;
  for (long physical = 1; physical < wanted && *text != '\0'; physical++) {
    const char *end = text + strcspn(text, "\n");
    line++;
    if (strncmp(text, "#line ", 6) == 0) {
      char *rest;
      line = strtol(text + 6, &rest, 10);
      if (rest[0] == ' ' && rest[1] == '"') {
        file = rest + 2;
        file_length = strcspn(file, "\"\n");
      }
    }
    text = *end == '\n' ? end + 1 : end;
  }
  tsl_text_add_bytes(out, file, file_length);
  tsl_text_add(out, ":%ld", line);
}

char *tsl_opencl_log_with_files(const char *log, const char *text) {
  tsl_text out = {0};
  for (const char *at; (at = strstr(log, mark)) != NULL;) {
    char *rest;
    const long line = strtol(at + strlen(mark), &rest, 10);
    tsl_text_add_bytes(&out, log, (size_t)(at - log));
    add_file_and_line(&out, text, line);
    log = rest;
  }
  tsl_text_add_bytes(&out, log, strlen(log) + 1);
  if (!out.failed)
    return tsl_text_take(&out);
  tsl_text_free(&out);
  return NULL;
}
