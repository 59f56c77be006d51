#include "core/affinity.h"
#include "core/cgroup.h"
#include "core/env.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/text.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Returns the processors that `quota` microseconds in every `period` allow, rounded up; 0: no quota. */
static int processors_of_quota(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0)
    return 0;
  const int64_t processors = (quota - 1) / period + 1;
  return processors > INT_MAX ? INT_MAX : (int)processors;
}

static bool read_quota_line(const char *folder, const char *file, char *line, size_t size) {
  if (!tsl_cgroup_read(folder, file, line, size))
    return false;
  line[strcspn(line, "\n")] = '\0';
  return true;
}

/* Reads a version 2 quota, "max 100000" or "150000 100000", as processors; 0: none. */
static int read_quota_v2(const char *folder) {
  char line[64];
  int64_t quota, period = 100000;
  if (!read_quota_line(folder, "cpu.max", line, sizeof line))
    return 0;
  char *blank = strchr(line, ' ');
  if (blank)
    *blank = '\0';
  if (!tsl_parse_i64(line, &quota) || (blank && !tsl_parse_i64(blank + 1, &period)))
    return 0;
  return processors_of_quota(quota, period);
}

/* Reads a version 1 quota from two files (-1: none) as processors; 0: none. */
static int read_quota_v1(const char *folder) {
  char line[64];
  int64_t quota, period;
  if (!read_quota_line(folder, "cpu.cfs_quota_us", line, sizeof line) || !tsl_parse_i64(line, &quota) ||
      !read_quota_line(folder, "cpu.cfs_period_us", line, sizeof line) || !tsl_parse_i64(line, &period))
    return 0;
  return processors_of_quota(quota, period);
}

/* Returns the smaller number of processors; 0 means no quota. */
static int smaller_quota(int a, int b) {
  return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Lowers *quota, an int, to the cgroup's number of processors. */
static void lower_quota(void *quota, int version, const char *folder) {
  *(int *)quota = smaller_quota(*(int *)quota, version == 2 ? read_quota_v2(folder) : read_quota_v1(folder));
}

int tsl_pool_quota_at(const char *root, const char *self_cgroup_file) {
  int quota = 0;
  tsl_cgroup_walk(root, self_cgroup_file, "cpu", lower_quota, &quota);
  return quota;
}

int tsl_pool_processors(void) {
  const int allowed =
      smaller_quota(tsl_affinity_count(), tsl_pool_quota_at("/sys/fs/cgroup", "/proc/self/cgroup"));
  return allowed < 1 ? 1 : allowed;
}

int tsl_pool_default_threads(void) {
  const char *setting = tsl_env_get(TSL_ENV_THREADS);
  int64_t threads = 0;
  if (setting[0] != '\0') {
    if (tsl_parse_i64(setting, &threads) && threads >= 1 && threads <= TSL_POOL_THREADS_MAX)
      return (int)threads;
    tsl_log(TSL_LOG_DEVICE, "TESELA_THREADS=%s is ignored: it should be a whole number from 1 to %d", setting,
            TSL_POOL_THREADS_MAX);
  }
  const int processors = tsl_pool_processors();
  return processors < TSL_POOL_THREADS_MAX ? processors : TSL_POOL_THREADS_MAX;
}

int tsl_pool_shared_threads(int processes) {
  const int own = tsl_pool_default_threads(), all = (int)sysconf(_SC_NPROCESSORS_ONLN);
  const int share = own < all || processes < 1 ? own : own / processes;
  return share > 0 ? share : 1;
}
