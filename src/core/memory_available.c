/* Minimum of MemAvailable, of the process's own limits minus its use and, for each cgroup up to the root, of
 * its limit minus its use. Page cache that a cgroup can drop at once (inactive files) counts as free. */
#include "core/cgroup.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
  const char *limit_file, *used_file, *droppable_key;
} files[] = {[1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
             [2] = {"memory.max", "memory.current", "inactive_file"}};

/* Reads the number at the start of a text; false: none ("max"). */
static bool parse_leading_number(const char *text, uint64_t *out) {
  text += strspn(text, " \t");
  if (*text < '0' || *text > '9')
    return false;
  *out = strtoull(text, NULL, 10);
  return true;
}

/* Reads the number of the line "key 123" or "key: 123"; false: none. */
static bool parse_number_of_key(const char *lines, const char *key, uint64_t *out) {
  const size_t length = strlen(key);
  for (const char *line = lines; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == ':'))
      return parse_leading_number(line + length + 1, out);
  }
  return false;
}

static void lower_to_cgroup_limit(void *available, int version, const char *folder) {
  char text[8192];
  uint64_t limit, used, droppable = 0, *const lowest = available;
  if (!tsl_cgroup_read(folder, files[version].limit_file, text, sizeof text) ||
      !parse_leading_number(text, &limit) ||
      !tsl_cgroup_read(folder, files[version].used_file, text, sizeof text) ||
      !parse_leading_number(text, &used))
    return;
  if (tsl_cgroup_read(folder, "memory.stat", text, sizeof text))
    parse_number_of_key(text, files[version].droppable_key, &droppable);
  used -= droppable < used ? droppable : used;
  const uint64_t left = limit > used ? limit - used : 0;
  if (left < *lowest)
    *lowest = left;
}

uint64_t tsl_memory_available_at(const char *meminfo, const char *root, const char *self_cgroup_file) {
  char text[8192];
  uint64_t available = UINT64_MAX, kibibytes;
  if (tsl_file_read_start(meminfo, text, sizeof text) &&
      parse_number_of_key(text, "MemAvailable", &kibibytes) && kibibytes < UINT64_MAX / 1024)
    available = kibibytes * 1024;
  tsl_cgroup_walk(root, self_cgroup_file, "memory", lower_to_cgroup_limit, &available);
  return available;
}

/* Returns a limit of this process (ulimit) minus its use, from line `key`. UINT64_MAX: no limit. */
static uint64_t left_of_process_limit(int resource, const char *key) {
  char text[8192];
  struct rlimit limit;
  uint64_t kibibytes;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      !tsl_file_read_start("/proc/self/status", text, sizeof text) ||
      !parse_number_of_key(text, key, &kibibytes))
    return UINT64_MAX;
  return limit.rlim_cur / 1024 > kibibytes ? limit.rlim_cur - kibibytes * 1024 : 0;
}

uint64_t tsl_memory_available(void) {
  uint64_t available = tsl_memory_available_at("/proc/meminfo", "/sys/fs/cgroup", "/proc/self/cgroup");
  const uint64_t space = left_of_process_limit(RLIMIT_AS, "VmSize"),
                 data = left_of_process_limit(RLIMIT_DATA, "VmData");
  available = space < available ? space : available;
  available = data < available ? data : available;
  if (available != UINT64_MAX)
    return available;
  const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}
