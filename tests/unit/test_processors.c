/* How many threads a process should use: TESELA_THREADS, affinity, the quotas of cgroups. */
#include "unit/unit.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/pool.h"
#include "scratch.h"

static void threads_from_the_environment(void **state) {
  (void)state;
  unsetenv("TESELA_THREADS");
  const int fallback = tsl_pool_default_threads();
  assert_true(fallback >= 1);
  static const char *const malformed[] = {"", "0", "-2", "two", "3x", "1.5", "5000", "99999999999999999999"};
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
    setenv("TESELA_THREADS", malformed[i], 1);
    assert_int_equal(tsl_pool_default_threads(), fallback);
  }
  setenv("TESELA_THREADS", "7", 1);
  assert_int_equal(tsl_pool_default_threads(), 7);
  tsl_pool *pool;
  assert_int_equal(tsl_pool_create(0, &pool), TESELA_OK);
  assert_int_equal(tsl_pool_threads(pool), 7);
  tsl_pool_destroy(pool);
  unsetenv("TESELA_THREADS");
}

static void affinity_counts(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_true(tsl_pool_processors() <= CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before))
    first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  const int processors = tsl_pool_processors();
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(processors, 1);
}

/* One quota: what /proc/self/cgroup holds, and the files below /sys/fs/cgroup. */
typedef struct quota_case {
  const char *cgroup;
  const char *files[8]; /* name, text, name, text, ... */
  int quota;
} quota_case;

static const quota_case quota_cases[] = {
    /* version 2 */
    {"0::/a/b\n", {"a/b/cpu.max", "200000 100000\n"}, 2},
    {"0::/a/b\n", {"a/b/cpu.max", "150000 100000\n"}, 2},
    {"0::/a/b\n", {"a/b/cpu.max", "1000 100000\n"}, 1},
    {"0::/a/b\n", {"a/b/cpu.max", "max 100000\n"}, 0},
    {"0::/a/b\n", {"a/b/cpu.max", "300000\n"}, 3}, /* the period's default */
    {"0::/a/b\n", {"a/b/cpu.max", "max 100000\n", "a/cpu.max", "500000 100000\n"}, 5},
    {"0::/a/b\n", {"a/b/cpu.max", "400000 100000\n", "a/cpu.max", "300000 100000\n"}, 3},
    {"0::/a/b\n", {"a/b/cpu.max", "200000 100000\n", "a/cpu.max", "300000 100000\n"}, 2},
    {"0::/a/b\n", {"cpu.max", "600000 100000\n"}, 6}, /* seen from inside a container */
    {"0::/\n", {"cpu.max", "100001 100000\n"}, 2},
    {"0::/../x\n", {"cpu.max", "100000 50000\n"}, 2},
    {"0::/a/b\n", {"a/c/cpu.max", "100000 100000\n"}, 0}, /* another group's */
    {"0::/a/b\n", {"a/b/cpu.max", "many 100000\n"}, 0},
    {"0::/a/b\n", {"a/b/cpu.max", "100000 0\n"}, 0},
    {"0::/a/b\n", {"a/b/cpu.max", ""}, 0},
    {"0::/a/b\n", {"a/b/cpu.max", "9223372036854775807 1\n"}, INT_MAX},
    {"1:name=systemd:/s\n0::/a\n", {"unified/a/cpu.max", "200000 100000\n"}, 2},
    /* version 1 */
    {"4:cpu,cpuacct:/a\n",
     {"cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n", "cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"},
     3},
    {"4:cpuacct,cpu:/a\n", {"cpu/a/cpu.cfs_quota_us", "100000\n", "cpu/a/cpu.cfs_period_us", "50000\n"}, 2},
    {"4:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us", "-1\n", "cpu/a/cpu.cfs_period_us", "100000\n"}, 0},
    {"4:cpu:/a\n", {"cpu/cpu.cfs_quota_us", "400000\n", "cpu/cpu.cfs_period_us", "100000\n"}, 4},
    {"4:cpuset:/a\n", {"cpu/a/cpu.cfs_quota_us", "100000\n", "cpu/a/cpu.cfs_period_us", "100000\n"}, 0},
    {"2:cpuacct:/a\n", {"cpu/a/cpu.cfs_quota_us", "100000\n", "cpu/a/cpu.cfs_period_us", "100000\n"}, 0},
    {"2:pid:/a\n", {"cpu/a/cpu.cfs_quota_us", "100000\n", "cpu/a/cpu.cfs_period_us", "100000\n"}, 0},
    {"4:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us", "100000\n"}, 0},
    /* both, and damaged */
    {"4:cpu:/a\n0::/b\n",
     {"cpu/a/cpu.cfs_quota_us", "500000\n", "cpu/a/cpu.cfs_period_us", "100000\n", "b/cpu.max",
      "400000 100000\n"},
     4},
    {"\n:\n::\n4:cpu\nx:y:z\n", {"cpu.max", "100000 100000\n"}, 0},
    {"", {"cpu.max", "100000 100000\n"}, 0},
};

static void quotas_of_cgroups(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof quota_cases / sizeof *quota_cases; i++) {
    const quota_case *c = &quota_cases[i];
    scratch tree;
    scratch_create(&tree);
    scratch_write(&tree, "self", c->cgroup);
    scratch_write(&tree, "root/there", "");
    for (int f = 0; f < 8 && c->files[f]; f += 2) {
      char name[256];
      snprintf(name, sizeof name, "root/%s", c->files[f]);
      scratch_write(&tree, name, c->files[f + 1]);
    }
    const int quota = tsl_pool_quota_at(scratch_path(&tree, "root"), scratch_path(&tree, "self"));
    scratch_remove(&tree);
    if (quota != c->quota)
      fail_msg("case %zu: quota %d instead of %d", i, quota, c->quota);
  }
  assert_int_equal(tsl_pool_quota_at("/no/such/folder", "/no/such/file"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_from_the_environment),
      cmocka_unit_test(affinity_counts),
      cmocka_unit_test(quotas_of_cgroups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
