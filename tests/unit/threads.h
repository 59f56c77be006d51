/* Checks that a program's results do not depend on the number of threads: the program starts itself
 * as a child, with TESELA_THREADS set. */
#ifndef TESTS_UNIT_THREADS_H
#define TESTS_UNIT_THREADS_H

#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* Stores the output of the command `test N`, run in a process with N threads, in TEXT of SIZE bytes. */
static inline void results_with(const char *test, int threads, char *text, size_t size) {
  const char *emulator = getenv("TESELA_EMULATOR"); /* where programs are another processor's */
  char command[4096 + 64];
  snprintf(command, sizeof command, "TESELA_THREADS=%d %s %s %d", threads, emulator ? emulator : "",
           test, threads);
  FILE *output = popen(command, "r");
  assert_non_null(output);
  text[fread(text, 1, size - 1, output)] = '\0';
  assert_int_equal(pclose(output), 0);
}

#endif
