/* How much memory this process may still take: what the kernel says is available, and for each cgroup that
 * the process is in, up to the root, its limit less what it uses. Page cache that a cgroup could drop at once
 * (inactive files) counts as free, as it does in MemAvailable. */
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files of each version of cgroups. Folders are where distributions mount them, from the root. */
typedef struct cgroup_layout {
  const char *folder, *limit, *used, *droppable;
} cgroup_layout;

static const cgroup_layout version_1 = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                        "total_inactive_file"};
static const cgroup_layout version_2 = {"", "memory.max", "memory.current", "inactive_file"};
static const cgroup_layout version_2_beside_1 = {"/unified", "memory.max", "memory.current", "inactive_file"};

/* The start of a small file as text; false when it cannot be read. */
static bool read_start(const char *path, char *out, size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  size_t length = 0;
  while (length < size - 1) {
    const ssize_t count = read(file, out + length, size - 1 - length);
    if (count <= 0)
      break;
    length += (size_t)count;
  }
  close(file);
  out[length] = '\0';
  return length > 0;
}

/* The number at the start of `text`, after blanks; false when there is none ("max"). */
static bool leading_number(const char *text, uint64_t *out) {
  text += strspn(text, " \t");
  if (*text < '0' || *text > '9')
    return false;
  *out = strtoull(text, NULL, 10);
  return true;
}

/* The number that follows `key` at the start of one of the lines. */
static bool line_number(const char *lines, const char *key, uint64_t *out) {
  const size_t length = strlen(key);
  for (const char *line = lines; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == ':'))
      return leading_number(line + length + 1, out);
  }
  return false;
}

static bool group_file(const char *root, const cgroup_layout *layout, const char *group, const char *name,
                       char *out, size_t size) {
  char path[4096];
  const int length = snprintf(path, sizeof path, "%s%s%s/%s", root, layout->folder, group, name);
  return length > 0 && (size_t)length < sizeof path && read_start(path, out, size);
}

/* Lowers *least to what one cgroup leaves. */
static void consider_group(const char *root, const cgroup_layout *layout, const char *group,
                           uint64_t *least) {
  char text[8192];
  uint64_t limit, used, droppable = 0;
  if (!group_file(root, layout, group, layout->limit, text, sizeof text) || !leading_number(text, &limit) ||
      !group_file(root, layout, group, layout->used, text, sizeof text) || !leading_number(text, &used))
    return;
  if (group_file(root, layout, group, "memory.stat", text, sizeof text))
    line_number(text, layout->droppable, &droppable);
  used -= droppable < used ? droppable : used;
  const uint64_t left = limit > used ? limit - used : 0;
  if (left < *least)
    *least = left;
}

/* A cgroup and all above it. Inside a container the path may be the host's, and only its root is there. */
static void consider_groups(const char *root, const cgroup_layout *layout, char *group, uint64_t *least) {
  for (;;) {
    if (strcmp(group, "/") == 0)
      *group = '\0';
    consider_group(root, layout, group, least);
    char *const slash = strrchr(group, '/');
    if (!slash)
      return;
    *slash = '\0';
  }
}

uint64_t tsl_memory_available_at(const char *meminfo, const char *root, const char *self_cgroup_file) {
  char text[8192];
  uint64_t least = UINT64_MAX, kibibytes;
  if (read_start(meminfo, text, sizeof text) && line_number(text, "MemAvailable", &kibibytes) &&
      kibibytes < UINT64_MAX / 1024)
    least = kibibytes * 1024;
  if (!read_start(self_cgroup_file, text, sizeof text))
    return least;
  /* Lines are "number:controllers:path"; version 2 has number 0 and no controllers. */
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *const controllers = strchr(line, ':');
    char *const group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
      continue;
    char again[4096];
    snprintf(again, sizeof again, "%s", group + 1);
    *group = '\0';
    if (strcmp(controllers, ":memory") == 0) {
      consider_groups(root, &version_1, again, &least);
    } else if (strcmp(controllers, ":") == 0) {
      consider_groups(root, &version_2, again, &least);
      snprintf(again, sizeof again, "%s", group + 1);
      consider_groups(root, &version_2_beside_1, again, &least);
    }
  }
  return least;
}

uint64_t tsl_memory_available(void) {
  const uint64_t least = tsl_memory_available_at("/proc/meminfo", "/sys/fs/cgroup", "/proc/self/cgroup");
  if (least != UINT64_MAX)
    return least;
  const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}
