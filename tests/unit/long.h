/* A long form of a test is a run of `make test-long` (tesela_long_form() in tests/CMakeLists.txt). */
#ifndef TESTS_UNIT_LONG_H
#define TESTS_UNIT_LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_long_form(void) {
  return getenv("TESELA_LONG_TESTS") != NULL;
}

#endif
