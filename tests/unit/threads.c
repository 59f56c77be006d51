#include "unit/threads.h"

#include <stdio.h>
#include <stdlib.h>

void results_with(const char *test, int threads, char *text, size_t size) {
  const char *emulator = getenv("TESELA_EMULATOR"); /* where programs are another processor's */
  char command[4096 + 64];
  snprintf(command, sizeof command, "TESELA_THREADS=%d %s %s %d", threads, emulator ? emulator : "", test,
           threads);
  FILE *output = popen(command, "r");
  assert_non_null(output);
  text[fread(text, 1, size - 1, output)] = '\0';
  assert_int_equal(pclose(output), 0);
}
