/* Opens the matrix file that a command writes. */
#ifndef TSL_TOOL_CLI_MATRIX_OUTPUT_H
#define TSL_TOOL_CLI_MATRIX_OUTPUT_H

#include "core/text.h"
#include "io/io.h"

/* Opens the output as tsl_writer_open() does. An interrupt removes its temporary file
 * (interrupt.h) until the caller ends the guard. "-" is standard output; a terminal accepts text
 * formats only. */
tesela_status tsl_matrix_output(const char *path, const char *format, int64_t rows, int64_t cols,
                                tesela_type type, tsl_writer **writer);
/* Returns true if the path is standard output: reports then go to stderr. NULL is not. */
bool tsl_matrix_to_standard(const char *path);
/* Prints a report to standard output, or to stderr if the matrix goes to standard output; frees the
 * text. */
tesela_status tsl_matrix_report(const char *path, tsl_text *text);
/* Returns TESELA_BAD_CALL for --json together with a matrix on standard output. */
tesela_status tsl_matrix_check_json(const char *path, bool json);

#endif
