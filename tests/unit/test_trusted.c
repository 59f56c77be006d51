/* Files that decide which code runs are read only where no other user can have written them. A file
 * that is no regular file never blocks the reader. */
#include "jit_fixture.h"

#include "core/safe_open.h"
#include "core/warnings.h"
#include "device/devices.h"
#include "planner/planner_wisdom.h"
#include "strategy/strategy_list.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOMEBODY = 65534 };

/* Returns the notice since the last call, "" where there was none. */
static const char *noted(void) {
  static int seen;
  static char sentence[TSL_NOTICE_BYTES];
  bool logged;
  char last[TSL_NOTICE_BYTES];
  sentence[0] = '\0';
  for (; tsl_notice_at(seen, last, &logged); seen++)
    memcpy(sentence, last, sizeof sentence);
  return sentence;
}

static void expect_noted(const char *what) {
  const char *sentence = noted();
  if (!strstr(sentence, what))
    fail_msg("noted \"%s\", not \"%s\"", sentence, what);
}

/* --- the folder of compiled kernels --- */

static void test_folder_of_others(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  assert_int_equal(ask_once(), 0);
  static const mode_t modes[] = {0777, 0720, 0702, 01777};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(cache.folder, modes[i]), 0);
    assert_int_equal(ask_once(), 1);
  }
  expect_noted("other users may write to it");
  assert_int_equal(ask_once(), 1);
  assert_string_equal(noted(), ""); /* told once */
  assert_int_equal(chmod(cache.folder, 0755), 0);
  assert_int_equal(ask_once(), 0);
  if (geteuid() != 0)
    skip(); /* the rest gives files away */
  assert_int_equal(chown(cache.folder, SOMEBODY, (gid_t)-1), 0);
  assert_int_equal(ask_once(), 1);
  expect_noted("it belongs to another user");
}

static void test_folder_by_link(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  char link[PATH_MAX + 16];
  snprintf(link, sizeof link, "%s.link", cache.folder);
  assert_int_equal(symlink(cache.folder, link), 0);
  setenv("TESELA_CACHE_DIR", link, 1);
  const int builds = ask_once();
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  assert_int_equal(unlink(link), 0);
  assert_int_equal(builds, 1);
  expect_noted("it is a symbolic link");
  assert_int_equal(ask_once(), 0);
}

/* --- entries --- */

static void give_to_group(const char *path) {
  assert_int_equal(chmod(path, 0620), 0);
}
static void give_away(const char *path) {
  assert_int_equal(chown(path, SOMEBODY, (gid_t)-1), 0);
}
static void replace_by_link(const char *path) {
  char away[PATH_MAX + 300];
  snprintf(away, sizeof away, "%s.away", path);
  assert_int_equal(rename(path, away), 0);
  assert_int_equal(symlink(away, path), 0);
}
static void replace_by_fifo(const char *path) {
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
}

/* Each change makes the cache build the entry again. The alarm ends a reader that blocks. */
static void test_entries_of_others(void **state) {
  (void)state;
  void (*const changes[])(const char *path) = {give_to_group, replace_by_link, replace_by_fifo, give_away};
  const int count = geteuid() == 0 ? 4 : 3;
  for (int i = 0; i < count; i++) {
    alarm(20);
    assert_int_equal(ask_once(), 1);
    assert_int_equal(ask_once(), 0);
    files_ending(".bin", changes[i]);
    assert_int_equal(ask_once(), 1);
    scratch_remove(&cache);
    assert_int_equal(mkdir(cache.folder, 0700), 0);
  }
  alarm(0);
}

/* --- wisdom --- */

static const char *write_wisdom(void) {
  char line[512];
  snprintf(line, sizeof line,
           "gemm sequential version=%d key=mock/1 units=1 m=9 n=9 k=9 types=f32,f32,f32 layout=rrr beta=0 "
           "seconds=1 spread=0.01 date=2026-01-01T00:00:00Z\n",
           tsl_strategy_find(TSL_OP_GEMM, "sequential")->version);
  scratch_write(&cache, "wisdom", line);
  setenv("TESELA_WISDOM", scratch_path(&cache, "wisdom"), 1);
  return scratch_path(&cache, "wisdom");
}

/* Records for a device that nothing shipped is for. */
static int records(void) {
  const tsl_device device = {.key = "mock/1", .compute_units = 1};
  tsl_wisdom *wisdom;
  int of_device;
  assert_int_equal(tsl_wisdom_open(&wisdom), TESELA_OK);
  tsl_wisdom_count(wisdom, &device, &of_device);
  tsl_wisdom_close(wisdom);
  return of_device;
}

static void test_wisdom_of_others(void **state) {
  (void)state;
  void (*const changes[])(const char *path) = {give_to_group, replace_by_link, replace_by_fifo, give_away};
  static const char *const sentences[] = {"other users may write to it", "it is a symbolic link",
                                          "it is no regular file", "it belongs to another user"};
  const int count = geteuid() == 0 ? 4 : 3;
  for (int i = 0; i < count; i++) {
    tsl_wisdom_merged merged;
    alarm(20);
    const char *path = write_wisdom();
    (void)noted();
    assert_int_equal(records(), 1);
    assert_string_equal(noted(), "");
    changes[i](path);
    assert_int_equal(records(), 0);
    expect_noted(sentences[i]);
    assert_int_equal(tsl_wisdom_merge(path, "", &merged), TESELA_IO_FAILED);
    assert_non_null(strstr(tesela_last_error(), sentences[i]));
    unlink(path);
  }
  alarm(0);
  unsetenv("TESELA_WISDOM");
}

static void test_wisdom_has_a_size(void **state) {
  (void)state;
  const char *path = write_wisdom();
  assert_int_equal(records(), 1);
  assert_int_equal(truncate(path, (off_t)65 << 20), 0);
  assert_int_equal(records(), 0);
  expect_noted("it is too large");
  unsetenv("TESELA_WISDOM");
}

/* A file that the caller names is read for any owner, and never blocks the reader. */
static void test_named_files(void **state) {
  (void)state;
  tsl_text text = {0};
  const char *path = write_wisdom();
  give_to_group(path);
  assert_int_equal(tsl_wisdom_read(path, false, &text), TESELA_OK);
  assert_true(text.length > 0);
  tsl_text_free(&text);
  alarm(20);
  replace_by_fifo(path);
  assert_int_equal(tsl_wisdom_read(path, false, &text), TESELA_IO_FAILED);
  assert_int_equal(tsl_wisdom_read("/dev/zero", false, &text), TESELA_IO_FAILED);
  alarm(0);
  assert_int_equal(text.length, 0);
  tsl_text_free(&text);
  unsetenv("TESELA_WISDOM");
}

static void test_garbage_is_told(void **state) {
  (void)state;
  write_wisdom();
  FILE *file = fopen(scratch_path(&cache, "wisdom"), "a");
  assert_non_null(file);
  fputs("# a comment\nwhat is this\nand this\n", file);
  fclose(file);
  assert_int_equal(records(), 1);
  expect_noted("2 lines are no records; the first is line 3");
  unsetenv("TESELA_WISDOM");
}

int main(void) {
#define TRUST_TEST(function) cmocka_unit_test_setup_teardown(function, cache_begin, cache_end)
  const struct CMUnitTest tests[] = {
      TRUST_TEST(test_folder_by_link),   TRUST_TEST(test_entries_of_others),
      TRUST_TEST(test_wisdom_of_others), TRUST_TEST(test_wisdom_has_a_size),
      TRUST_TEST(test_named_files),      TRUST_TEST(test_garbage_is_told),
      TRUST_TEST(test_folder_of_others),
  };
  tsl_device_kind_add(&copier_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
