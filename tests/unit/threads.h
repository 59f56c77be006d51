/* Whether a program's results depend on the number of threads: it is its own child, with TESELA_THREADS set.
 */
#ifndef TESTS_UNIT_THREADS_H
#define TESTS_UNIT_THREADS_H

#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* What `program N` prints in a process of its own that has N threads; TEXT is of SIZE bytes. */
static inline void results_with(const char *program, int threads, char *text, size_t size) {
  const char *emulator = getenv("TESELA_EMULATOR"); /* where programs are another processor's */
  char command[1024];
  snprintf(command, sizeof command, "TESELA_THREADS=%d %s '%s' %d", threads, emulator ? emulator : "",
           program, threads);
  FILE *output = popen(command, "r");
  assert_non_null(output);
  text[fread(text, 1, size - 1, output)] = '\0';
  assert_int_equal(pclose(output), 0);
}

#endif
