#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "io/spool.h"

static tesela_status fail_path_with_errno(const char *path, const char *what) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s: %s", path, what, strerror(errno));
}

static tesela_status fail_output_with_errno(const tsl_output *out, const char *what) {
  return fail_path_with_errno(out->path, what);
}

static size_t folder_length(const char *path) {
  const char *const slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Refuses another user's symbolic link, except root's: it may point to any file. */
static tesela_status refuse_foreign_link(const char *path, const char *link, const char *target) {
  struct stat about;
  if (lstat(link, &about) == 0 && S_ISLNK(about.st_mode) && about.st_uid != geteuid() && about.st_uid != 0)
    return tsl_fail(
        TESELA_IO_FAILED,
        "%s: is a symbolic link of another user, to %s, and is not followed; name that file itself", path,
        target);
  return TESELA_OK;
}

/* Follows a path's symbolic links; the file need not exist. */
static tesela_status follow_links(const char *path, char **target) {
  enum { LINKS_MAX = 40, LINK_MAX_LENGTH = 4096 };
  tsl_text current = {0};
  tsl_text_add(&current, "%s", path);
  for (int count = 0; !current.failed; count++) {
    char link[LINK_MAX_LENGTH];
    const ssize_t length = readlink(tsl_text_get(&current), link, sizeof link - 1);
    if (length < 0)
      break;
    link[length] = '\0';
    const tesela_status status = refuse_foreign_link(path, tsl_text_get(&current), link);
    if (status != TESELA_OK) {
      tsl_text_free(&current);
      return status;
    }
    if (count == LINKS_MAX || length == (ssize_t)sizeof link - 1) {
      tsl_text_free(&current);
      return tsl_fail(TESELA_IO_FAILED, "%s: is a symbolic link to a missing file", path);
    }
    tsl_text next = {0};
    if (link[0] != '/')
      tsl_text_add_bytes(&next, current.data, folder_length(current.data));
    tsl_text_add_bytes(&next, link, (size_t)length);
    tsl_text_free(&current);
    current = next;
  }
  const tesela_status status = tsl_text_status(&current);
  if (status == TESELA_OK)
    *target = tsl_text_take(&current);
  else
    tsl_text_free(&current);
  return status;
}

/* Checks that `target`, `path` without links, can be replaced or is missing. *mode: its permissions, or 0. */
static tesela_status check_replaceable(const char *path, const char *target, unsigned *mode) {
  struct stat about;
  *mode = 0;
  if (stat(target, &about) != 0)
    return errno == ENOENT ? TESELA_OK : fail_path_with_errno(path, "cannot be written");
  if (S_ISDIR(about.st_mode))
    return tsl_fail(TESELA_IO_FAILED, "%s: is a folder; the output must be a file", path);
  if (!S_ISREG(about.st_mode))
    return tsl_fail(TESELA_IO_FAILED, "%s: is a device or a pipe; the output must be a file", path);
  if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0)
    return fail_path_with_errno(path, "exists and cannot be replaced");
  *mode = about.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  return TESELA_OK;
}

tesela_status tsl_output_resolve_target(const char *path, char **target, unsigned *mode) {
  *target = NULL;
  TSL_TRY(follow_links(path, target));
  const tesela_status status = check_replaceable(path, *target, mode);
  if (status != TESELA_OK) {
    free(*target);
    *target = NULL;
  }
  return status;
}

/* Creates ".<name>.<pid>.tmp" in the target's folder, or ".<name>.<pid>-<n>.tmp". O_EXCL opens no existing
 * file or link. A replacement is private until it gets the old file's permissions. */
static tesela_status output_create_temporary(tsl_output *out, bool replaces) {
  enum { TRIES_MAX = 1000, NAME_PART = 200 };
  const size_t folder = folder_length(out->target);
  for (int n = 0; n < TRIES_MAX; n++) {
    tsl_text name = {0};
    tsl_text_add_bytes(&name, out->target, folder);
    tsl_text_add(&name, ".%.*s.%ld", NAME_PART, out->target + folder, (long)getpid());
    if (n > 0)
      tsl_text_add(&name, "-%d", n);
    tsl_text_add(&name, ".tmp");
    const tesela_status status = tsl_text_status(&name);
    if (status != TESELA_OK) {
      tsl_text_free(&name);
      return status;
    }
    out->fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaces ? 0600 : 0666);
    if (out->fd >= 0) {
      out->temporary = tsl_text_take(&name);
      return TESELA_OK;
    }
    const int reason = errno;
    tsl_text_free(&name);
    errno = reason;
    if (errno == ENOENT || errno == ENOTDIR)
      return fail_output_with_errno(out, "cannot be written, because its folder does not exist");
    if (errno != EEXIST)
      return fail_output_with_errno(out, "cannot be written");
  }
  return fail_output_with_errno(out, "cannot be written");
}

/* Refuses a file that another process writes in blocks (resumable_npy.h) and will rename. */
static tesela_status refuse_if_written_in_blocks(const char *path, const char *target) {
  tsl_text name = {0};
  tsl_text_add(&name, "%s%s", target, TSL_OUTPUT_JOURNAL);
  tesela_status status = tsl_text_status(&name);
  const int journal =
      status == TESELA_OK ? open(name.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
  if (journal >= 0 && flock(journal, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    status = tsl_fail(TESELA_BAD_CALL, "%s: another process is writing it, by %s", path, name.data);
  if (journal >= 0)
    close(journal);
  tsl_text_free(&name);
  return status;
}

static tesela_status open_target_file(const char *path, tsl_output *out) {
  unsigned mode;
  TSL_TRY(tsl_output_resolve_target(path, &out->target, &mode));
  TSL_TRY(refuse_if_written_in_blocks(path, out->target));
  TSL_TRY(output_create_temporary(out, mode != 0));
  if (mode != 0 && fchmod(out->fd, mode) != 0)
    return fail_output_with_errno(out, "its permissions cannot be kept");
  return TESELA_OK;
}

tesela_status tsl_output_open(const char *path, tsl_output *out) {
  tesela_status status = TESELA_OK;
  const bool standard = strcmp(path, "-") == 0;
  *out = (tsl_output){.fd = -1, .path = strdup(standard ? "standard output" : path)};
  if (out->path == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a file's name");
  TSL_GO(tsl_alloc(TSL_OUTPUT_BLOCK, "writing a file", (void **)&out->block));
  status = standard ? tsl_spool_open(out->path, &out->fd) : open_target_file(path, out);
out:
  if (status != TESELA_OK)
    tsl_output_close(out);
  return status;
}

static tesela_status write_all_to(const tsl_output *out, int fd, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t now = write(fd, bytes, count);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0)
      return fail_output_with_errno(out, "cannot be written");
    bytes += now;
    count -= (size_t)now;
  }
  return TESELA_OK;
}

static tesela_status write_all(const tsl_output *out, const char *bytes, size_t count) {
  return write_all_to(out, out->fd, bytes, count);
}

static tesela_status flush_block(tsl_output *out) {
  const size_t used = out->used;
  out->used = 0;
  return write_all(out, out->block, used);
}

tesela_status tsl_output_space(tsl_output *out, size_t count, char **space) {
  if (TSL_OUTPUT_BLOCK - out->used < count)
    TSL_TRY(flush_block(out));
  *space = out->block + out->used;
  return TESELA_OK;
}

tesela_status tsl_output_write(tsl_output *out, const void *bytes, size_t count) {
  if (count >= TSL_OUTPUT_BLOCK) {
    TSL_TRY(flush_block(out));
    return write_all(out, bytes, count);
  }
  char *space;
  TSL_TRY(tsl_output_space(out, count, &space));
  memcpy(space, bytes, count);
  out->used += count;
  return TESELA_OK;
}

/* Syncs a file; true on file systems without fsync(). */
static bool sync_file(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

/* Syncs the folder for a durable name; skips an unreadable folder. */
static tesela_status sync_folder(const char *path, const char *target) {
  const size_t length = folder_length(target);
  char *const folder = length > 0 ? strndup(target, length) : strdup(".");
  const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  tesela_status status = TESELA_OK;
  free(folder);
  if (fd < 0)
    return TESELA_OK;
  if (!sync_file(fd))
    status = fail_path_with_errno(path, "is written, but its folder cannot be synced to the disk");
  close(fd);
  return status;
}

tesela_status tsl_output_rename(const char *path, int *fd, const char *temporary, const char *target) {
  /* Network file systems report a full disk only here or at the close. */
  if (!sync_file(*fd))
    return fail_path_with_errno(path, "cannot be written");
  const int closing = *fd;
  *fd = -1;
  if (close(closing) != 0)
    return fail_path_with_errno(path, "cannot be written");
  if (rename(temporary, target) != 0)
    return fail_path_with_errno(path, "cannot take its name");
  return sync_folder(path, target);
}

static tesela_status copy_to_standard_output(tsl_output *out) {
  if (lseek(out->fd, 0, SEEK_SET) < 0)
    return fail_output_with_errno(out, "its temporary file cannot be read");
  for (;;) {
    const ssize_t got = read(out->fd, out->block, TSL_OUTPUT_BLOCK);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail_output_with_errno(out, "its temporary file cannot be read");
    if (got == 0)
      return TESELA_OK;
    TSL_TRY(write_all_to(out, STDOUT_FILENO, out->block, (size_t)got));
  }
}

tesela_status tsl_output_commit(tsl_output *out) {
  TSL_TRY(flush_block(out));
  if (out->target == NULL)
    return copy_to_standard_output(out);
  const tesela_status status = tsl_output_rename(out->path, &out->fd, out->temporary, out->target);
  if (status == TESELA_OK || access(out->temporary, F_OK) != 0) {
    free(out->temporary);
    out->temporary = NULL;
  }
  return status;
}

void tsl_output_close(tsl_output *out) {
  if (out->path != NULL && out->fd >= 0)
    close(out->fd);
  if (out->temporary != NULL)
    unlink(out->temporary);
  free(out->temporary);
  free(out->target);
  free(out->path);
  tsl_free(out->block);
  *out = (tsl_output){0};
}
