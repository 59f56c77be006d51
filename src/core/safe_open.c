#include "core/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *why_not_trusted(int file, mode_t type, bool may_be_root, const char *wrong_type_reason) {
  struct stat facts;
  if (fstat(file, &facts) != 0)
    return strerror(errno);
  if ((facts.st_mode & S_IFMT) != type)
    return wrong_type_reason;
  if (facts.st_uid != geteuid() && !(may_be_root && facts.st_uid == 0))
    return "it belongs to another user";
  if (facts.st_mode & (S_IWGRP | S_IWOTH))
    return "other users may write to it; chmod go-w repairs this";
  return NULL;
}

/* Returns a static text why an open folder is not trusted ("it belongs to another user"); NULL: trusted. */
static const char *refuse_folder(int folder) {
  return why_not_trusted(folder, S_IFDIR, false, "it is no folder");
}

/* Returns the reason of a failed open. Symbolic links and other files may both give ENOTDIR. */
static const char *why_not_opened(int folder, const char *path) {
  const int reason = errno;
  struct stat facts;
  const bool is_link = (reason == ELOOP || reason == ENOTDIR) &&
                       fstatat(folder, path, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
  errno = is_link ? 0 : reason;
  return is_link ? "it is a symbolic link" : strerror(reason);
}

static int open_trusted_file(int folder, const char *path, int flags, mode_t mode, bool may_be_root,
                             const char **why) {
  const int file = openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, mode);
  if (file < 0) {
    *why = why_not_opened(folder, path);
    return -1;
  }
  *why = why_not_trusted(file, S_IFREG, may_be_root, "it is no regular file");
  if (!*why)
    return file;
  close(file);
  errno = 0;
  return -1;
}

int tsl_trusted_file(int folder, const char *path, int flags, mode_t mode, const char **why) {
  return open_trusted_file(folder, path, flags, mode, false, why);
}

int tsl_trusted_shared_file(const char *path, const char **why) {
  return open_trusted_file(AT_FDCWD, path, O_RDONLY, 0, true, why);
}

int tsl_trusted_folder(const char *path, const char **why) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0) {
    *why = why_not_opened(AT_FDCWD, path);
    return -1;
  }
  *why = refuse_folder(folder);
  if (!*why)
    return folder;
  close(folder);
  errno = 0;
  return -1;
}

const char *tsl_read_regular(int file, size_t bytes_max, tsl_text *text) {
  char block[16384];
  struct stat facts;
  size_t left = bytes_max;
  if (fstat(file, &facts) != 0)
    return strerror(errno);
  if (!S_ISREG(facts.st_mode))
    return S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "it is no regular file";
  for (ssize_t count; (count = read(file, block, sizeof block)) != 0;) {
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return strerror(errno);
    if ((size_t)count > left)
      return "it is too large";
    left -= (size_t)count;
    tsl_text_add_bytes(text, block, (size_t)count);
  }
  return text->failed ? "memory ran out" : NULL;
}
