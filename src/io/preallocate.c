#include "io/preallocate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Returns true if less free space is reported; some network file systems report nothing. */
static int reports_less_space(int fd, uint64_t bytes) {
  struct statvfs disk;
  if (fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0 || disk.f_frsize == 0)
    return 0;
  return bytes / disk.f_frsize > disk.f_bavail;
}

int tsl_reserve_file_space(int fd, uint64_t bytes) {
  if (bytes > INT64_MAX)
    return EFBIG;
  if (reports_less_space(fd, bytes))
    return ENOSPC;
  if (fallocate(fd, 0, 0, (off_t)bytes) == 0)
    return 0;
  const int reason = errno;
  if (reason == EOPNOTSUPP || reason == ENOSYS)
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
  /* Gives back a failed reservation's space. */
  return ftruncate(fd, 0) == 0 ? reason : errno;
}
