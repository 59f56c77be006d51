#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/status.h"
#include "core/text.h"

tesela_status tsl_spool_open(const char *path, int *fd) {
  const char *const given = secure_getenv("TMPDIR");
  const char *const folder = given != NULL && given[0] == '/' ? given : "/tmp";
  tsl_text name = {0};
  *fd = -1;
  tsl_text_add(&name, "%s/tesela-XXXXXX", folder);
  tesela_status status = tsl_text_status(&name);
  if (status == TESELA_OK) {
    *fd = mkostemp(name.data, O_CLOEXEC);
    status = *fd >= 0 ? TESELA_OK
                      : tsl_fail(TESELA_IO_FAILED, "%s: no temporary file can be made in %s: %s", path,
                                 folder, strerror(errno));
  }
  if (*fd >= 0)
    unlink(name.data);
  tsl_text_free(&name);
  return status;
}

tesela_status tsl_spool_write(int fd, const char *path, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t now = write(fd, bytes, count);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: cannot be kept in a temporary file: %s", path, strerror(errno));
    bytes += now;
    count -= (size_t)now;
  }
  return TESELA_OK;
}
