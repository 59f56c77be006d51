/* Room on a disk, taken before it is needed. */
#ifndef TSL_IO_PREALLOCATE_H
#define TSL_IO_PREALLOCATE_H

#include <stdint.h>

/* Has the empty regular file made `bytes` long with room for all of it, so that a full disk is told now and
 * not after hours. 0, or errno's value of what went wrong (ENOSPC: there is no such room; EFBIG: no file may
 * be so long): the file is as it was. A file system that cannot take room ahead gets the length alone. Never
 * asks for more than others may have of the disk: ext4 takes all that is left before it refuses, and whoever
 * writes then fails. */
int tsl_room_take(int fd, uint64_t bytes);

#endif
