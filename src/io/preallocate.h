#ifndef TSL_IO_PREALLOCATE_H
#define TSL_IO_PREALLOCATE_H

#include <stdint.h>

/* Extends an empty regular file to `bytes` and reserves disk space where possible. Returns 0, or errno's
 * value with the file unchanged (ENOSPC, EFBIG). Checks free space first: ext4 takes all before it fails. */
int tsl_reserve_file_space(int fd, uint64_t bytes);

#endif
