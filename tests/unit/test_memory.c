#include "core/memory.h"

#include "unit/sanitizers.h"
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_alignment(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 1000003};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    void *block = NULL;
    assert_int_equal(tsl_alloc(sizes[i], "a test", &block), TESELA_OK);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % TSL_CACHE_LINE, 0);
    memset(block, 0xff, sizes[i]);
    tsl_free(block);
    assert_int_equal(tsl_alloc_zeroed(sizes[i], "a test", &block), TESELA_OK);
    assert_int_equal((uintptr_t)block % TSL_CACHE_LINE, 0);
    for (size_t byte = 0; byte < sizes[i]; byte++)
      assert_int_equal(((const char *)block)[byte], 0);
    tsl_free(block);
  }
  tsl_free(NULL);
}

static void test_too_much(void **state) {
  (void)state;
  void *block = &block;
  assert_int_equal(tsl_alloc(SIZE_MAX, "the packed A", &block), TESELA_OUT_OF_MEMORY);
  assert_null(block);
  assert_non_null(strstr(tesela_last_error(), "16 EiB (18446744073709551615 bytes)"));
  assert_non_null(strstr(tesela_last_error(), "the packed A"));
  block = &block;
  assert_int_equal(tsl_alloc_zeroed(SIZE_MAX - 63, "zeros", &block), TESELA_OUT_OF_MEMORY);
  assert_null(block);
}

static void test_sizes(void **state) {
  (void)state;
  size_t size = 7;
  assert_true(tsl_size_mul(SIZE_MAX / 2, 2, &size));
  assert_int_equal(size, SIZE_MAX - 1);
  size = 7;
  assert_false(tsl_size_mul(SIZE_MAX / 2 + 1, 2, &size));
  assert_int_equal(size, 7);
  assert_true(tsl_size_mul(0, SIZE_MAX, &size));
  assert_int_equal(size, 0);
  assert_true(tsl_size_add(SIZE_MAX - 1, 1, &size));
  assert_int_equal(size, SIZE_MAX);
  size = 7;
  assert_false(tsl_size_add(SIZE_MAX, 1, &size));
  assert_int_equal(size, 7);
}

static void test_signed(void **state) {
  (void)state;
  int64_t value = 7;
  assert_true(tsl_i64_mul(INT64_C(3037000499), INT64_C(3037000499), &value));
  assert_int_equal(value, INT64_C(9223372030926249001));
  value = 7;
  assert_false(tsl_i64_mul(INT64_C(3037000500), INT64_C(3037000500), &value));
  assert_false(tsl_i64_mul(INT64_MIN, -1, &value));
  assert_false(tsl_i64_add(INT64_MAX, 1, &value));
  assert_false(tsl_i64_add(INT64_MIN, -1, &value));
  assert_int_equal(value, 7);
  assert_true(tsl_i64_mul(INT64_MIN, 1, &value));
  assert_true(value == INT64_MIN);
  assert_true(tsl_i64_add(INT64_MAX, INT64_MIN, &value));
  assert_int_equal(value, -1);
}

/* A scratch tree with files as the kernel shows them. */
static char scratch[256];

static const char *path_of(const char *name) {
  static char paths[4][512];
  static int next;
  char *const path = paths[next = (next + 1) % 4];
  snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
  return path;
}

static void make_folder(const char *name) {
  assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static void write_file(const char *name, const char *text) {
  FILE *const file = fopen(path_of(name), "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int make_scratch(void **state) {
  (void)state;
  snprintf(scratch, sizeof scratch, "%s/test_memory.XXXXXX", TESELA_BINARY_DIR);
  return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", scratch);
  return system(command);
}

static uint64_t available(const char *meminfo, const char *self) {
  return tsl_memory_available_at(path_of(meminfo), path_of("cgroup"), path_of(self));
}

static void test_meminfo(void **state) {
  (void)state;
  write_file("meminfo",
             "MemTotal:       16384 kB\nMemFree:  100 kB\nMemAvailable:    8192 kB\nBuffers: 1 kB\n");
  assert_int_equal(available("meminfo", "none"), 8192 * 1024);
  assert_true(available("none", "none") == UINT64_MAX);
  write_file("odd", "MemAvailable: lots\n");
  assert_true(available("odd", "none") == UINT64_MAX);
  write_file("empty", "");
  assert_true(available("empty", "empty") == UINT64_MAX);
}

static void test_version_2(void **state) {
  (void)state;
  make_folder("cgroup");
  make_folder("cgroup/user");
  make_folder("cgroup/user/job");
  write_file("self", "0::/user/job\n");
  /* Unlimited. */
  write_file("cgroup/user/job/memory.max", "max\n");
  write_file("cgroup/user/job/memory.current", "1000000\n");
  assert_int_equal(available("meminfo", "self"), 8192 * 1024);
  /* Limited, with page cache that can be dropped. */
  write_file("cgroup/user/job/memory.max", "3000000\n");
  assert_int_equal(available("meminfo", "self"), 2000000);
  write_file("cgroup/user/job/memory.stat", "anon 1\nactive_inactive_file 5\ninactive_file 400000\nfile 9\n");
  assert_int_equal(available("meminfo", "self"), 2400000);
  write_file("cgroup/user/job/memory.stat", "inactive_file 9999999\n");
  assert_int_equal(available("meminfo", "self"), 3000000);
  /* The parent is tighter, and over its limit. */
  write_file("cgroup/user/memory.max", "500000\n");
  write_file("cgroup/user/memory.current", "200000\n");
  assert_int_equal(available("meminfo", "self"), 300000);
  write_file("cgroup/user/memory.current", "600000\n");
  assert_int_equal(available("meminfo", "self"), 0);
  /* A cgroup path of the host that is not mounted here: the limits of its mounted ancestors count. */
  write_file("self", "0::/user/elsewhere/deep\n");
  write_file("cgroup/user/memory.current", "400000\n");
  assert_int_equal(available("meminfo", "self"), 100000);
}

static void test_version_1(void **state) {
  (void)state;
  make_folder("cgroup/memory");
  write_file("self", "9:cpu,cpuacct:/x\n4:memory:/gone\n1:name=systemd:/\n0::/\n");
  write_file("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write_file("cgroup/memory/memory.usage_in_bytes", "5000000\n");
  assert_int_equal(available("meminfo", "self"), 8192 * 1024);
  write_file("cgroup/memory/memory.limit_in_bytes", "6000000\n");
  assert_int_equal(available("meminfo", "self"), 1000000);
  write_file("cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 1500000\n");
  assert_int_equal(available("meminfo", "self"), 2500000);
  /* Version 2 mounted in addition to version 1. */
  make_folder("cgroup/unified");
  write_file("cgroup/unified/memory.max", "50000\n");
  write_file("cgroup/unified/memory.current", "20000\n");
  assert_int_equal(available("meminfo", "self"), 30000);
}

static void test_odd_cgroup_files(void **state) {
  (void)state;
  static const char *const texts[] = {
      "\n", "x", "0:", "0::", "::\n", "0::relative\n", ":memory:/\n:::::\n", "0::///\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    write_file("self", texts[i]);
    assert_true(available("meminfo", "self") <= 8192 * 1024);
  }
}

static void test_here(void **state) {
  (void)state;
  const uint64_t bytes = tsl_memory_available();
  assert_true(bytes > 1 << 20);
  assert_true(bytes < UINT64_C(1) << 50);
}

/* The process's own limits count, minus its use. */
static void test_process_limits(void **state) {
  static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
  (void)state;
  if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
    print_message("  a sanitizer needs more memory itself\n");
    skip();
  }
  for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
    struct rlimit before, low;
    assert_int_equal(getrlimit(resources[i], &before), 0);
    low = before;
    low.rlim_cur = 1 << 20; /* less than the process has */
    assert_int_equal(setrlimit(resources[i], &low), 0);
    const uint64_t none = tsl_memory_available();
    low.rlim_cur = (rlim_t)1 << 46; /* more than any memory */
    assert_int_equal(setrlimit(resources[i], &low), 0);
    const uint64_t all = tsl_memory_available();
    assert_int_equal(setrlimit(resources[i], &before), 0);
    assert_int_equal(none, 0);
    assert_true(all > 1 << 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alignment), cmocka_unit_test(test_too_much),
      cmocka_unit_test(test_sizes),     cmocka_unit_test(test_signed),
      cmocka_unit_test(test_meminfo),   cmocka_unit_test(test_version_2),
      cmocka_unit_test(test_version_1), cmocka_unit_test(test_odd_cgroup_files),
      cmocka_unit_test(test_here),      cmocka_unit_test(test_process_limits),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
