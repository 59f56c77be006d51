/* File that appears completely or not at all: a temporary file in its folder, renamed at the end. Standard
 * output ("-") is copied at the end from an unnamed file. */
#ifndef TSL_IO_OUTPUT_H
#define TSL_IO_OUTPUT_H

#include <stddef.h>
#include <tesela/tesela.h>

#define TSL_OUTPUT_BLOCK ((size_t)1 << 20)
#define TSL_OUTPUT_JOURNAL ".tesela-journal"

typedef struct tsl_output {
  char *path;      /* the caller's path, for messages */
  char *target;    /* final file: `path` with links followed; NULL: standard output */
  char *temporary; /* NULL after rename or removal */
  int fd;
  char *block;
  size_t used; /* bytes in `block`, not yet written */
} tsl_output;

/* Creates the temporary file; keeps an existing file's permissions. TESELA_IO_FAILED if the folder is not
 * writable, or `path` is a folder or read-only. TESELA_BAD_CALL if another process writes it in blocks. */
tesela_status tsl_output_open(const char *path, tsl_output *out);
/* Follows symbolic links, except other users' (but root's), to a file that need not exist; the caller frees
 * *target. An existing file must be replaceable; *mode: its permissions (0: none). Messages name `path`. */
tesela_status tsl_output_resolve_target(const char *path, char **target, unsigned *mode);
/* Renames durably: syncs, closes *fd and sets it to -1, renames, syncs the folder. */
tesela_status tsl_output_rename(const char *path, int *fd, const char *temporary, const char *target);
/* Returns space for `count` bytes, at most a block. Write there, then add to `used`. */
tesela_status tsl_output_space(tsl_output *out, size_t count, char **space);
tesela_status tsl_output_write(tsl_output *out, const void *bytes, size_t count);
/* Flushes, syncs, renames, and syncs the folder. */
tesela_status tsl_output_commit(tsl_output *out);
/* Closes, and removes an uncommitted temporary file. An output of zeros is allowed. */
void tsl_output_close(tsl_output *out);

#endif
