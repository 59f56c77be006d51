#include "cli/library_paths.h"

#include "core/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folders relative to the tool's folder, in build trees and installations. */
static const char *const folders[] = {"../lib", "../lib64", TESELA_LIBRARY_FROM_TOOL, NULL};

tesela_status tsl_library_beside(const char *name, char out[PATH_MAX]) {
  char tool[PATH_MAX], candidate[2 * PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
  if (length < 0)
    return tsl_fail(TESELA_IO_FAILED, "/proc/self/exe: %s", strerror(errno));
  tool[length] = '\0';
  *strrchr(tool, '/') = '\0';
  for (const char *const *folder = folders; *folder; folder++) {
    snprintf(candidate, sizeof candidate, "%s/%s/%s", tool, *folder, name);
    if (realpath(candidate, out))
      return TESELA_OK;
  }
  return tsl_fail(TESELA_BAD_INPUT, "%s is not installed with the tool: it should be in %s/../lib", name,
                  tool);
}
