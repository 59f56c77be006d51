#include "cli/matrix_output.h"

#include "cli/interrupt.h"
#include "cli/tool.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool tsl_matrix_to_standard(const char *path) {
  return path && strcmp(path, "-") == 0;
}

tesela_status tsl_matrix_output(const char *path, const char *format, int64_t rows, int64_t cols,
                                tesela_type type, tsl_writer **writer) {
  if (tsl_matrix_to_standard(path) && format && strcmp(format, "npy") == 0 && isatty(STDOUT_FILENO))
    return tsl_fail(TESELA_BAD_CALL,
                    "npy is not for terminals: redirect standard output, or take another --format");
  tsl_interrupt_hold();
  const tesela_status status = tsl_writer_open(path, format, rows, cols, type, writer);
  tsl_interrupt_guard(status == TESELA_OK ? tsl_writer_temporary(*writer) : NULL);
  if (status == TESELA_BAD_CALL && tsl_matrix_to_standard(path) && !format)
    return tsl_fail(status, "-o - has no ending that says how the matrix is written: add --format, one of %s",
                    tsl_io_formats());
  return status;
}

tesela_status tsl_matrix_report(const char *path, tsl_text *text) {
  if (!tsl_matrix_to_standard(path))
    return tsl_print(text);
  const tesela_status status = tsl_text_status(text);
  fputs(tsl_text_get(text), stderr);
  tsl_text_free(text);
  return status;
}

tesela_status tsl_matrix_check_json(const char *path, bool json) {
  return json && tsl_matrix_to_standard(path)
             ? tsl_fail(TESELA_BAD_CALL, "--json and -o - both write to standard output: write one to a file")
             : TESELA_OK;
}
