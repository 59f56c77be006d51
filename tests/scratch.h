/* A folder for a test's own files, inside the build folder. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <limits.h>

typedef struct scratch {
  char folder[PATH_MAX];
} scratch;

/* Stops the test when the folder or a file cannot be made. */
void scratch_require(int holds, const char *what);

void scratch_create(scratch *s);

void scratch_remove(scratch *s);

/* The path of `name` in the folder. Good until the fourth call after this one. */
const char *scratch_path(const scratch *s, const char *name);

/* Writes a file, and the folders on the way to it. */
void scratch_write(const scratch *s, const char *name, const char *text);

#endif
