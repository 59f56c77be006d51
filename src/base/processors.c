/* How many threads this process should use: the user's wish, else affinity and cgroup quotas. */
#include "base/env.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of root/folder/file without its newline; false when it cannot be read. */
static bool read_line(const char *folder, const char *file, char *line, size_t size) {
  tsl_text path = {0};
  tsl_text_add(&path, "%s/%s", folder, file);
  FILE *stream = path.failed ? NULL : fopen(tsl_text_get(&path), "re");
  tsl_text_free(&path);
  if (!stream)
    return false;
  const bool read = fgets(line, (int)size, stream) != NULL;
  fclose(stream);
  if (read)
    line[strcspn(line, "\n")] = '\0';
  return read;
}

/* Whole processors that `quota` of every `period` microseconds come to, rounded up; 0 for no quota. */
static int whole_processors(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0)
    return 0;
  const int64_t processors = (quota - 1) / period + 1;
  return processors > INT_MAX ? INT_MAX : (int)processors;
}

/* One cgroup's quota, version 2: "max 100000" or "150000 100000". */
static int read_quota_v2(const char *folder) {
  char line[64];
  int64_t quota, period = 100000;
  if (!read_line(folder, "cpu.max", line, sizeof line))
    return 0;
  char *blank = strchr(line, ' ');
  if (blank)
    *blank = '\0';
  if (!tsl_parse_i64(line, &quota) || (blank && !tsl_parse_i64(blank + 1, &period)))
    return 0;
  return whole_processors(quota, period);
}

/* One cgroup's quota, version 1: two files, -1 for no quota. */
static int read_quota_v1(const char *folder) {
  char line[64];
  int64_t quota, period;
  if (!read_line(folder, "cpu.cfs_quota_us", line, sizeof line) || !tsl_parse_i64(line, &quota) ||
      !read_line(folder, "cpu.cfs_period_us", line, sizeof line) || !tsl_parse_i64(line, &period))
    return 0;
  return whole_processors(quota, period);
}

static int smaller_quota(int a, int b) {
  return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The smallest quota on the way from the cgroup `group` ("/a/b") up to the hierarchy's root, which is mounted
 * at root/mount. In a container the names may be those of the host, which are not seen here: folders that are
 * not there set no quota. */
static int read_quota_path(const char *root, const char *mount, const char *group,
                           int (*read_quota)(const char *folder)) {
  tsl_text folder = {0};
  tsl_text_add(&folder, "%s/%s", root, mount);
  const size_t top = folder.length;
  tsl_text_add(&folder, "%s", group);
  int quota = 0;
  while (!folder.failed) {
    quota = smaller_quota(quota, read_quota(tsl_text_get(&folder)));
    if (folder.length <= top)
      break;
    while (folder.length > top && folder.data[folder.length - 1] != '/')
      folder.length--;
    if (folder.length > top)
      folder.length--; /* the slash */
    folder.data[folder.length] = '\0';
  }
  tsl_text_free(&folder);
  return quota;
}

static bool names_cpu(const char *controllers) {
  for (const char *at = controllers;; at++) {
    const size_t length = strcspn(at, ",");
    if (length == 3 && memcmp(at, "cpu", 3) == 0)
      return true;
    at += length;
    if (*at == '\0')
      return false;
  }
}

/* The quota that one line of /proc/self/cgroup leads to: "0::/a/b" for version 2, "4:cpu,cpuacct:/a/b" for
 * version 1. */
static int read_quota_entry(const char *root, char *line) {
  char *controllers = strchr(line, ':');
  char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!group || group[1] != '/')
    return 0;
  *controllers++ = '\0';
  *group++ = '\0';
  if (strstr(group, "/..")) /* outside of the cgroup namespace: only its root is seen */
    group[1] = '\0';
  if (controllers[0] == '\0')
    return smaller_quota(read_quota_path(root, "", group, read_quota_v2),
                         read_quota_path(root, "unified", group, read_quota_v2));
  if (!names_cpu(controllers))
    return 0;
  return smaller_quota(read_quota_path(root, controllers, group, read_quota_v1),
                       read_quota_path(root, "cpu", group, read_quota_v1));
}

int tsl_pool_quota_at(const char *root, const char *self_cgroup_file) {
  FILE *file = fopen(self_cgroup_file, "re");
  if (!file)
    return 0;
  char *line = NULL;
  size_t size = 0;
  int quota = 0;
  while (getline(&line, &size, file) > 0) {
    line[strcspn(line, "\n")] = '\0';
    quota = smaller_quota(quota, read_quota_entry(root, line));
  }
  free(line);
  fclose(file);
  return quota;
}

/* Processors in this thread's affinity mask. The kernel refuses a mask that is shorter than its own. */
static int count_affinity(void) {
  for (int processors = 1024; processors <= 1 << 20; processors *= 2) {
    cpu_set_t *mask = CPU_ALLOC(processors);
    if (!mask)
      break;
    const size_t size = CPU_ALLOC_SIZE(processors);
    const int failed = sched_getaffinity(0, size, mask) != 0 ? errno : 0;
    const int count = failed ? 0 : CPU_COUNT_S(size, mask);
    CPU_FREE(mask);
    if (!failed)
      return count;
    if (failed != EINVAL)
      break;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online < INT_MAX ? (int)online : 1;
}

int tsl_pool_processors(void) {
  const int allowed =
      smaller_quota(count_affinity(), tsl_pool_quota_at("/sys/fs/cgroup", "/proc/self/cgroup"));
  return allowed < 1 ? 1 : allowed;
}

int tsl_pool_default_threads(void) {
  const char *wish = tsl_env_get(TSL_ENV_THREADS);
  int64_t threads = 0;
  if (wish[0] != '\0') {
    if (tsl_parse_i64(wish, &threads) && threads >= 1 && threads <= TSL_POOL_THREADS_MAX)
      return (int)threads;
    tsl_log(TSL_LOG_DEVICE, "TESELA_THREADS=%s is ignored: it should be a whole number from 1 to %d", wish,
            TSL_POOL_THREADS_MAX);
  }
  const int processors = tsl_pool_processors();
  return processors < TSL_POOL_THREADS_MAX ? processors : TSL_POOL_THREADS_MAX;
}
