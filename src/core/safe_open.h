/* Opening of files that determine what code runs. A trusted file is regular, so reading never blocks. It
 * belongs to the effective user, is not writable for group or others, and is no symbolic link. */
#ifndef TSL_CORE_SAFE_OPEN_H
#define TSL_CORE_SAFE_OPEN_H

#include "core/text.h"

#include <sys/types.h>

/* Opens `path` as openat() with these flags, O_CLOEXEC, O_NONBLOCK and O_NOFOLLOW. Returns -1 on failure,
 * with the reason in *why, a static string; errno is 0 if the file is untrusted. */
int tsl_trusted_file(int folder, const char *path, int flags, mode_t mode, const char **why);
/* Opens a folder for reading as tsl_trusted_file() does. */
int tsl_trusted_folder(const char *path, const char **why);
/* Opens a file for reading as tsl_trusted_file() does; it may also belong to root, as an administrator's. */
int tsl_trusted_shared_file(const char *path, const char **why);

/* Appends at most `bytes_max` bytes of an open regular file. Returns NULL, or the reason of a failure. */
const char *tsl_read_regular(int file, size_t bytes_max, tsl_text *text);

#endif
