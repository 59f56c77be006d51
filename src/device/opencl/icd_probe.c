/* Detects platforms from files, because loading one takes tens of milliseconds. */
#include "device/opencl/opencl.h"

#include "core/cgroup.h"
#include "core/env.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Libraries of processors: PoCL without other configured devices, and Intel's runtime for the cpu. */
static const char *const libraries[] = {"libpocl", "libintelocl"};

/* Variables that may select other platforms. */
static const char *const redirections[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
                                           "POCL_DEVICES", "CONDA_PREFIX"};

/* Returns true if a variable may select other platforms than the ICD files. */
static bool is_redirected(void) {
  bool any = *tsl_env_get(TSL_ENV_OPENCL) != '\0';
  for (size_t i = 0; i < sizeof redirections / sizeof *redirections; i++)
    any |= secure_getenv(redirections[i]) != NULL;
  return any;
}

static bool icd_names_processor(const char *path) {
  char line[PATH_MAX];
  if (!tsl_file_read_start(path, line, sizeof line))
    return false;
  line[strcspn(line, "\n")] = '\0';
  const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
      return true;
  return false;
}

bool tsl_opencl_lists_only_processors_at(const char *root) {
  char folder[PATH_MAX], path[PATH_MAX + 256];
  const struct dirent *entry;
  int count = 0;
  bool all = true;
  if (is_redirected() || snprintf(folder, sizeof folder, "%s/etc/OpenCL/vendors", root) >= (int)sizeof folder)
    return false;
  DIR *open = opendir(folder);
  while (open && all && (entry = readdir(open))) {
    const size_t length = strlen(entry->d_name);
    if (length < 4 || strcmp(entry->d_name + length - 4, ".icd") != 0)
      continue;
    snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
    all = icd_names_processor(path);
    count++;
  }
  if (open)
    closedir(open);
  return all && count > 0; /* without files, it may be a vendor's library */
}

bool tsl_opencl_lists_only_processors(void) {
  return tsl_opencl_lists_only_processors_at("");
}
