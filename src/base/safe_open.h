/* Files that decide what runs: compiled kernels, self-tests of them, wisdom. They are read where nobody but
 * this process's effective user can have written them, and never so that a reader waits: a FIFO, a device or
 * a folder of that name is no such file.
 *
 * Trusted is what belongs to the effective user, lets no group and no other write, and is reached through no
 * symbolic link at the end of its path. Folders on the way there may be links: what matters is who owns the
 * end. */
#ifndef TSL_BASE_SAFE_OPEN_H
#define TSL_BASE_SAFE_OPEN_H

#include "base/text.h"

#include <sys/types.h>

/* What is wrong with an open file or folder; NULL: it is trusted. Sentence parts such as "it belongs to
 * another user". */
const char *tsl_trusted_refuse_file(int file);
const char *tsl_trusted_refuse_folder(int folder);

/* Opens `path`, below `folder` where it is relative (AT_FDCWD: the working folder), as open() with these
 * flags, O_CLOEXEC, O_NONBLOCK and O_NOFOLLOW, and refuses what is not trusted. -1, with errno (0 where the
 * reason is not the system's) and the reason in `why`, which is static text. */
int tsl_trusted_file(int folder, const char *path, int flags, mode_t mode, const char **why);
/* The same for a folder, opened for reading. */
int tsl_trusted_folder(const char *path, const char **why);
/* Opens a file for reading as tsl_trusted_file() does. The file may belong to root, too: an administrator
 * installed it. */
int tsl_trusted_shared_file(const char *path, const char **why);

/* The whole of an open regular file, at most `most` bytes, behind what `text` holds. NULL, or what is wrong.
 */
const char *tsl_read_regular(int file, size_t most, tsl_text *text);

#endif
