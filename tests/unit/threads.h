/* Checks that a program's results do not depend on the number of threads: the program starts itself
 * as a child, with TESELA_THREADS set. */
#ifndef TESTS_UNIT_THREADS_H
#define TESTS_UNIT_THREADS_H

#include "unit/unit.h"

/* Stores the output of the command `test N`, run in a process with N threads, in TEXT of SIZE bytes. */
void results_with(const char *test, int threads, char *text, size_t size);

#endif
