/* A file that appears whole or not at all: bytes go to a temporary file in the same folder, which takes the
 * name at the end. What goes to standard output ("-") is copied there from a file without a name at the end.
 */
#ifndef TSL_IO_OUTPUT_H
#define TSL_IO_OUTPUT_H

#include <stddef.h>
#include <tesela/tesela.h>

#define TSL_OUTPUT_BLOCK ((size_t)1 << 20)
/* Ending of a journal's name: resumable_npy.h. */
#define TSL_OUTPUT_JOURNAL ".tesela-journal"

typedef struct tsl_output {
  char *path;      /* as the caller gave it, for messages */
  char *target;    /* the file that appears: `path` with its symbolic links followed; NULL: standard output */
  char *temporary; /* NULL once it has become the target or is removed */
  int fd;
  char *block;
  size_t used;
} tsl_output;

/* Creates the temporary file. TESELA_IO_FAILED where the folder is missing or not writable, or where `path`
 * is a folder, a read-only file or no regular file; TESELA_BAD_CALL where another process writes it in
 * blocks. An older file's permissions are kept. */
tesela_status tsl_output_open(const char *path, tsl_output *out);
/* The file that a path means once symbolic links are followed, to free; it need not exist. A link of another
 * user than this one and root is refused. What is there must be a file that may be replaced, whose
 * permissions come in *mode (0: there is none). On failure `path` is named. */
tesela_status tsl_output_target(const char *path, char **target, unsigned *mode);
/* The file's temporary name becomes its own, durably: syncs, closes *fd (which is -1 afterwards), renames,
 * syncs the folder. */
tesela_status tsl_output_rename(const char *path, int *fd, const char *temporary, const char *target);
/* `count` bytes of space in the block (at most a block): write there, then count them with `used +=`. */
tesela_status tsl_output_space(tsl_output *out, size_t count, char **space);
tesela_status tsl_output_write(tsl_output *out, const void *bytes, size_t count);
/* Flushes, syncs, renames, syncs the folder. */
tesela_status tsl_output_commit(tsl_output *out);
/* Removes what was not committed. Also on an output that was never opened, if it is all zeros. */
void tsl_output_close(tsl_output *out);

#endif
