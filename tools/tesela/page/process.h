/* Another program, given its input and asked for its output through pipes. No shell is involved. */
#ifndef TSL_TOOL_PAGE_PROCESS_H
#define TSL_TOOL_PAGE_PROCESS_H

#include "base/text.h"

typedef struct tsl_process {
  const char *const
      *arguments;    /* the program's name, looked for in PATH, and what it is given; NULL-terminated */
  const char *input; /* for its standard input */
  double seconds;    /* it is ended when it takes longer */
  size_t output_max; /* bytes; it is ended when it writes more */
} tsl_process;

/* Runs it to its end. *found is false, and nothing else happened, where PATH has no such program. `output`
 * gets what it wrote to standard output. TESELA_IO_FAILED when it failed, was ended or wrote too much: the
 * sentence has its last line on standard error. */
tesela_status tsl_process_run(const tsl_process *process, tsl_text *output, bool *found);

#endif
