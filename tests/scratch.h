/* A folder for a test's own files, inside the build folder. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <limits.h>

typedef struct scratch {
  char folder[PATH_MAX];
} scratch;

/* Ends the process with a message unless `holds`: a folder or file cannot be made. */
void scratch_require(int holds, const char *what);

/* Creates the folder; scratch_remove() removes the folder and its files. */
void scratch_create(scratch *s);

void scratch_remove(scratch *s);

/* Returns the path of `name` in the folder, valid for the next three calls. */
const char *scratch_path(const scratch *s, const char *name);

/* Writes a file, and creates the folders of its path. */
void scratch_write(const scratch *s, const char *name, const char *text);

#endif
