#ifndef TSL_IO_PREALLOCATE_H
#define TSL_IO_PREALLOCATE_H

#include <stdint.h>

/* Extends an empty regular file to `bytes` and reserves disk space, so that a full disk is reported
 * at the start. Returns 0, or errno's value with the file unchanged (ENOSPC: no space; EFBIG: too
 * long). A file system without reservation only gets the length. Checks the free space first,
 * because ext4 takes all space before it fails, and other writers would fail meanwhile. */
int tsl_room_take(int fd, uint64_t bytes);

#endif
