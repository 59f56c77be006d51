/* The matrix file that a command writes. */
#ifndef TSL_TOOL_CLI_MATRIX_OUTPUT_H
#define TSL_TOOL_CLI_MATRIX_OUTPUT_H

#include "base/text.h"
#include "io/io.h"

/* Starts it as tsl_writer_open_as() does, with no moment at which an interrupt leaves its temporary file
 * behind: it is guarded (interrupt.h) until the caller ends that. "-" is standard output, where a terminal
 * takes text only. */
tesela_status tsl_matrix_output(const char *path, const char *format, int64_t rows, int64_t cols,
                                tesela_type type, tsl_writer **writer);
/* Whether that is standard output: what else there is to say goes to stderr. NULL is not. */
bool tsl_matrix_to_standard(const char *path);
/* Prints a report where the output leaves room for it, and frees the text. */
tesela_status tsl_matrix_report(const char *path, tsl_text *text);
/* Refuses --json beside a matrix on standard output. */
tesela_status tsl_matrix_check_json(const char *path, bool json);

#endif
