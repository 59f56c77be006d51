/* The kernel cache's folder: it never exceeds its limit, never blocks a build, and no foreign file
 * is changed. */
#include "device/devices.h"
#include "device/fact_file.h"
#include "jit_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* --- size --- */

static void set_age(const char *path) {
  const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

/* Each large entry takes three times its text: in key, binary and source. Four fit, five do not. */
static void test_size(void **state) {
  (void)state;
  setenv("TESELA_CACHE_SIZE", "256KiB", 1);
  scratch_write(&cache, "0123456789abcdef0123456789abcdef.bin", "a file that somebody else keeps here");
  scratch_write(&cache, "0123456789abcdef0123456789abcdef.png", "and a picture of the same name");
  scratch_write(&cache, "fedcba9876543210fedcba9876543210.1-2.tmp", "left by a process that died");
  set_age(scratch_path(&cache, "fedcba9876543210fedcba9876543210.1-2.tmp"));
  for (int i = 0; i < 4; i++)
    assert_int_equal(copier_ask_alone("a", large_text(i)), 1);
  assert_int_equal(cache_listed().entries, 4);
  files_ending(".bin", set_age);
  assert_int_equal(copier_ask_alone("a", large_text(0)), 0); /* used: no longer the oldest */
  for (int i = 4; i < 7; i++) {
    assert_int_equal(copier_ask_alone("a", large_text(i)), 1);
    assert_int_equal(cache_listed().entries, 4);
    assert_true(cache_listed().bytes <= 256 * 1024);
  }
  assert_int_equal(copier_ask_alone("a", large_text(0)), 0);
  assert_int_equal(copier_ask_alone("a", large_text(1)), 1);
  assert_int_equal(files_ending(".tmp", NULL), 0);
  assert_int_equal(files_ending(".cl", NULL), 4);
  assert_int_equal(files_ending(".png", NULL), 1);
  assert_int_equal(files_ending(".bin", NULL), 5);
}

static void test_no_size(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  setenv("TESELA_CACHE_SIZE", "0", 1);
  assert_int_equal(ask_once(), 1); /* nothing is read, either */
  assert_int_equal(copier_ask_alone("b", "other"), 1);
  assert_int_equal(cache_listed().entries, 1);
  setenv("TESELA_CACHE_SIZE", "10KiB", 1); /* too small for this one, and no reason to drop the rest */
  assert_int_equal(copier_ask_alone("a", large_text(0)), 1);
  assert_int_equal(copier_ask_alone("a", large_text(0)), 1);
  assert_int_equal(ask_once(), 0);
  setenv("TESELA_CACHE_SIZE", "plenty", 1); /* no size: the default */
  assert_int_equal(copier_ask_alone("a", large_text(0)), 1);
  assert_int_equal(copier_ask_alone("a", large_text(0)), 0);
}

static void test_clear(void **state) {
  int count;
  uint64_t bytes;
  (void)state;
  assert_int_equal(ask_once(), 1);
  assert_int_equal(copier_ask_alone("b", "other"), 1);
  files_ending(".bin", change_magic); /* both are still known by their sources */
  scratch_write(&cache, "0123456789abcdef0123456789abcdef.bin", "somebody's");
  scratch_write(&cache, "notes.txt", "somebody's");
  scratch_write(&cache, "fedcba9876543210fedcba9876543210.1-2.tmp", "left by a process that died");
  const uint64_t there = cache_listed().bytes;
  assert_int_equal(tsl_jit_clear(&count, &bytes), TESELA_OK);
  assert_int_equal(count, 2);
  assert_true(bytes == there && there > 0);
  assert_int_equal(files_ending("", NULL), 2);
  assert_int_equal(tsl_jit_clear(&count, &bytes), TESELA_OK);
  assert_int_equal(count, 0);
  assert_int_equal(ask_once(), 1);
}

/* --- folders --- */

static void expect_folder(tesela_status status, const char *expected) {
  tsl_text folder = {0};
  assert_int_equal(tsl_jit_folder(&folder), status);
  assert_string_equal(tsl_text_get(&folder), expected);
  tsl_text_free(&folder);
}

static void test_folder(void **state) {
  const char *home = getenv("HOME");
  char *kept = home != NULL ? strdup(home) : NULL;
  int count;
  uint64_t bytes;
  (void)state;
  expect_folder(TESELA_OK, cache.folder);
  unsetenv("TESELA_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  setenv("HOME", "/home/of/me", 1);
  expect_folder(TESELA_OK, "/xdg/tesela/kernels");
  setenv("XDG_CACHE_HOME", "relative", 1);
  expect_folder(TESELA_OK, "/home/of/me/.cache/tesela/kernels");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  expect_folder(TESELA_IO_FAILED, "");
  assert_int_equal(tsl_jit_clear(&count, &bytes), TESELA_IO_FAILED);
  assert_int_equal(ask_once(), 1); /* and kernels compile all the same */
  if (kept != NULL)
    setenv("HOME", kept, 1);
  free(kept);
}

static void test_folder_is_made(void **state) {
  struct stat facts;
  int count;
  uint64_t bytes;
  (void)state;
  setenv("TESELA_CACHE_DIR", scratch_path(&cache, "not/there"), 1);
  assert_int_equal(cache_listed().entries, 0); /* asking makes nothing */
  assert_int_equal(tsl_jit_clear(&count, &bytes), TESELA_OK);
  assert_int_equal(stat(scratch_path(&cache, "not"), &facts), -1);
  assert_int_equal(ask_once(), 1);
  assert_int_equal(ask_once(), 0);
  assert_int_equal(stat(scratch_path(&cache, "not/there"), &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0700);
}

static int ask_twice_with_small_files(void) {
  const struct rlimit small = {.rlim_cur = 100, .rlim_max = 100};
  signal(SIGXFSZ, SIG_IGN);
  if (setrlimit(RLIMIT_FSIZE, &small) != 0)
    return 99;
  return ask_once() + ask_once();
}

static void test_unwritable(void **state) {
  (void)state;
  scratch_write(&cache, "file", "");
  setenv("TESELA_CACHE_DIR", scratch_path(&cache, "file/below"), 1);
  assert_int_equal(ask_once() + ask_once(), 2);
  setenv("TESELA_CACHE_DIR", "/proc/tesela", 1);
  assert_int_equal(ask_once() + ask_once(), 2);
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  assert_int_equal(in_process(ask_twice_with_small_files), 2); /* as when the disk is full */
  assert_int_equal(files_ending(".tmp", NULL), 0);
  assert_int_equal(cache_listed().entries, 0);
}

/* A read-only folder is read. (Root may write to it all the same.) */
static void test_read_only(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  assert_int_equal(chmod(cache.folder, 0500), 0);
  assert_int_equal(ask_once(), 0);
  assert_int_equal(copier_ask_alone("b", "other"), 1);
  assert_int_equal(chmod(cache.folder, 0700), 0);
}

static void count_line(void *argument, char *line) {
  (void)line;
  ++*(int *)argument;
}

/* A file with another first line belongs to another version or program. */
static void test_lines_of_others(void **state) {
  (void)state;
  const tsl_fact_lines lines = {"facts", "facts 2\n"};
  int count = 0;
  tsl_lines_add(&lines, "one");
  tsl_lines_each(&lines, count_line, &count);
  assert_int_equal(count, 1);
  scratch_write(&cache, "facts", "facts 1\none\ntwo\n");
  tsl_lines_each(&lines, count_line, &count);
  assert_int_equal(count, 1);
}

int main(void) {
#define CACHE_TEST(function) cmocka_unit_test_setup_teardown(function, cache_begin, cache_end)
  const struct CMUnitTest tests[] = {
      CACHE_TEST(test_size),      CACHE_TEST(test_no_size),         CACHE_TEST(test_clear),
      CACHE_TEST(test_folder),    CACHE_TEST(test_folder_is_made),  CACHE_TEST(test_unwritable),
      CACHE_TEST(test_read_only), CACHE_TEST(test_lines_of_others),
  };
  tsl_device_kind_add(&copier_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
