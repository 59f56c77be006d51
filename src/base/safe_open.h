/* Opening of files that determine what code runs: compiled kernels, their self-tests, wisdom. A file is read
 * only if no other user can have written it. A FIFO, device or folder is refused, so reading never blocks.
 *
 * A trusted file belongs to the effective user, is not writable for group or others, and is not itself a
 * symbolic link. Folders on its path may be links, since only the owner of the file matters. */
#ifndef TSL_BASE_SAFE_OPEN_H
#define TSL_BASE_SAFE_OPEN_H

#include "base/text.h"

#include <sys/types.h>

/* Returns why an open file is not trusted, such as "it belongs to another user"; NULL: it is trusted. A
 * static string. */
const char *tsl_trusted_refuse_file(int file);
/* Returns why an open folder is not trusted; NULL: it is trusted. A static string. */
const char *tsl_trusted_refuse_folder(int folder);

/* Opens `path` as open() with these flags, O_CLOEXEC, O_NONBLOCK and O_NOFOLLOW, and refuses untrusted
 * files. A relative path is below `folder` (AT_FDCWD: the working folder). Returns -1 after a failure,
 * with the reason in *why, a static string. errno is 0 if the system did not fail. */
int tsl_trusted_file(int folder, const char *path, int flags, mode_t mode, const char **why);
/* Opens a folder for reading; refuses untrusted ones as tsl_trusted_file() does. */
int tsl_trusted_folder(const char *path, const char **why);
/* Opens a file for reading as tsl_trusted_file() does. The file may belong to root, too: an administrator
 * installed it. */
int tsl_trusted_shared_file(const char *path, const char **why);

/* Appends the content of an open regular file to `text`, at most `most` bytes. Returns NULL, or the
 * reason of a failure. */
const char *tsl_read_regular(int file, size_t most, tsl_text *text);

#endif
