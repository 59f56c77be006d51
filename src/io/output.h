/* File that appears completely or not at all: bytes go to a temporary file in its folder, which is
 * renamed at the end. Standard output ("-") is copied at the end from an unnamed file. */
#ifndef TSL_IO_OUTPUT_H
#define TSL_IO_OUTPUT_H

#include <stddef.h>
#include <tesela/tesela.h>

#define TSL_OUTPUT_BLOCK ((size_t)1 << 20)
/* Suffix of a journal's name: resumable_npy.h. */
#define TSL_OUTPUT_JOURNAL ".tesela-journal"

typedef struct tsl_output {
  char *path;      /* the caller's path, for messages */
  char *target;    /* final file: `path` with symbolic links followed; NULL: standard output */
  char *temporary; /* NULL after the rename or the removal */
  int fd;
  char *block;
  size_t used;
} tsl_output;

/* Creates the temporary file. TESELA_IO_FAILED if the folder is missing or not writable, or if
 * `path` is a folder, read-only, or not a regular file. TESELA_BAD_CALL if another process writes
 * it in blocks. Permissions of an existing file are preserved. */
tesela_status tsl_output_open(const char *path, tsl_output *out);
/* Finds the file that a path means after following symbolic links; it need not exist. The caller
 * frees *target. Links of other users, except root, are refused. An existing file must be
 * replaceable; *mode is its permissions (0: there is no file). Messages name `path`. */
tesela_status tsl_output_target(const char *path, char **target, unsigned *mode);
/* Renames the temporary file durably: syncs, closes *fd and sets it to -1, renames, syncs the
 * folder. */
tesela_status tsl_output_rename(const char *path, int *fd, const char *temporary, const char *target);
/* Returns `count` bytes of space in the block (at most a block). Write there, then add to `used`. */
tesela_status tsl_output_space(tsl_output *out, size_t count, char **space);
tesela_status tsl_output_write(tsl_output *out, const void *bytes, size_t count);
/* Flushes, syncs, renames, and syncs the folder. */
tesela_status tsl_output_commit(tsl_output *out);
/* Closes, and removes an uncommitted temporary file. An output of zeros is allowed. */
void tsl_output_close(tsl_output *out);

#endif
