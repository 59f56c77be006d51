/* Runs another program with pipes for its input and output. No shell is involved. */
#ifndef TSL_TOOL_PAGE_PROCESS_H
#define TSL_TOOL_PAGE_PROCESS_H

#include "core/text.h"

typedef struct tsl_process {
  const char *const *arguments; /* the program's name, found in PATH, and its arguments; NULL-terminated */
  const char *input;            /* text for standard input */
  double seconds;               /* time limit; a slower program is killed */
  size_t output_max;            /* limit of standard output, bytes; a program that writes more is killed */
} tsl_process;

/* Runs the program to its end and stores its standard output in `output`. *found: PATH has the program; if
 * false, nothing else happens. Returns TESELA_IO_FAILED if the program failed, was killed or wrote too much;
 * the message has its last line on standard error. */
tesela_status tsl_process_run(const tsl_process *process, tsl_text *output, bool *found);

#endif
