/* Entries of the kernel cache on disk: other processes find them, and reject damaged ones, whatever
 * damaged the entry or stopped its writer. */
#include "device/devices.h"
#include "jit_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* --- found again --- */

static void expect_source(const char *path) {
  char text[256] = "";
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_string_equal(text, "// tesela kernel gemm/tile_local for copier/one\n__kernel void f() {}\n");
}

static void test_second_process(void **state) {
  (void)state;
  assert_int_equal(in_process(ask_once), 1);
  assert_int_equal(in_process(ask_once), 0);
  assert_int_equal(ask_once(), 0);
  assert_int_equal(files_ending(".bin", NULL), 1);
  assert_int_equal(files_ending(".cl", expect_source), 1);
  assert_int_equal(files_ending("", NULL), 2);
  const listed all = cache_listed();
  assert_int_equal(all.entries, 1);
  assert_int_equal(all.damaged, 0);
  assert_string_equal(all.last.name, "gemm/tile_local");
  assert_string_equal(all.last.device, "copier/one");
  assert_true(all.last.age < 1000);
}

static void test_another_device_or_compiler(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  copier_version = "2";
  assert_int_equal(ask_once(), 1);
  copier_key = "copier/two";
  assert_int_equal(ask_once(), 1);
  copier_version = "1";
  copier_key = "copier/one";
  assert_int_equal(ask_once(), 0);
  assert_int_equal(cache_listed().entries, 3);
}

/* --- damage --- */

static void cut_head(const char *path) {
  assert_int_equal(truncate(path, 20), 0);
}
static void cut_end(const char *path) {
  assert_int_equal(truncate(path, size_of(path) - 1), 0);
}
static void lengthen(const char *path) {
  assert_int_equal(truncate(path, size_of(path) + 1), 0);
}
static void change_version(const char *path) {
  overwrite(path, 8, 99);
}
static void change_byte_order(const char *path) {
  overwrite(path, 12, 1);
}
static void enlarge_length(const char *path) {
  for (long at = 16; at < 32; at++)
    overwrite(path, at, (char)0xff);
}
static void change_checksum(const char *path) {
  overwrite(path, 40, 0);
}
static void change_key(const char *path) {
  overwrite(path, 60, '#');
}
static void change_binary(const char *path) {
  overwrite(path, size_of(path) - 1, '#');
}
static void refuse(const char *path) {
  (void)path;
  atomic_store(&copier_refuses, true);
}

static void test_damage(void **state) {
  static void (*const damages[])(const char *path) = {
      make_empty,        cut_head,       cut_end,         lengthen,   change_magic,  change_version,
      change_byte_order, enlarge_length, change_checksum, change_key, change_binary, refuse};
  (void)state;
  assert_int_equal(ask_once(), 1);
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    assert_int_equal(files_ending(".bin", damages[i]), 1);
    assert_int_equal(cache_listed().damaged, damages[i] != refuse);
    assert_int_equal(ask_once(), 1);
    assert_int_equal(ask_once(), 0); /* it was put right */
    assert_int_equal(cache_listed().damaged, 0);
  }
}

/* Whole and undamaged, and another kernel's: one whose key is as long. */
static int ask_for_twin(void) {
  return copier_ask_alone("gemm/tile_local", "__kernel void g() {}\n");
}
static char second_name[4096];
static void remember(const char *path) {
  snprintf(second_name, sizeof second_name, "%s", path);
}
static void take_the_place(const char *path) {
  if (strcmp(path, second_name) != 0)
    assert_int_equal(rename(path, second_name), 0);
}
static void test_swapped(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  files_ending(".bin", remember);
  assert_int_equal(ask_for_twin(), 1);
  files_ending(".bin", take_the_place);
  assert_int_equal(cache_listed().damaged, 2); /* one has a wrong name, one has lost its source */
  assert_int_equal(ask_once(), 1);
  assert_int_equal(ask_for_twin(), 1);
  assert_int_equal(ask_once() + ask_for_twin(), 0);
}

static void replace_by_folder(const char *path) {
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
}
static void replace_by_pipe(const char *path) {
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
}
static void test_no_file(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  files_ending(".bin", replace_by_folder);
  assert_int_equal(ask_once(), 1);
  assert_int_equal(ask_once(), 1); /* nothing can be kept there */
  files_ending(".bin", replace_by_pipe);
  assert_int_equal(ask_once(), 1);
  assert_int_equal(ask_once(), 0);
  assert_int_equal(files_ending(".tmp", NULL), 0);
}

/* --- processes --- */

enum { TEXTS = 40 };

static int ask_for_all(void) {
  char text[32];
  int builds = 0;
  for (int i = 0; i < TEXTS; i++) {
    snprintf(text, sizeof text, "text %d", i);
    builds += copier_ask_alone("many", text);
  }
  return builds;
}

static void test_processes_at_once(void **state) {
  pid_t children[3];
  (void)state;
  for (int i = 0; i < 3; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i] == 0)
      _exit(ask_for_all() <= TEXTS ? 0 : 1);
  }
  for (int i = 0; i < 3; i++) {
    int result;
    assert_int_equal(waitpid(children[i], &result, 0), children[i]);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  }
  assert_int_equal(in_process(ask_for_all), 0);
  assert_int_equal(files_ending(".tmp", NULL), 0);
  assert_int_equal(cache_listed().entries, TEXTS);
}

/* Writes until it is killed; never the same text twice, so that every ask is a write. */
static _Noreturn void write_for_ever(void) {
  for (int i = 0;; i++) {
    copier_ask_alone("many", large_text(i % 30));
    files_ending(".bin", make_empty);
  }
}

static void test_killed(void **state) {
  (void)state;
  for (int round = 0; round < 12; round++) {
    const struct timespec pause = {.tv_nsec = 5000000 + 1700000 * round};
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
      write_for_ever();
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < 30; i++) /* the text is compared: built again at most, never wrong */
      copier_ask_alone("many", large_text(i));
    assert_int_equal(cache_listed().damaged, 0);
  }
  assert_true(cache_listed().entries <= 30);
}

int main(void) {
#define CACHE_TEST(function) cmocka_unit_test_setup_teardown(function, cache_begin, cache_end)
  const struct CMUnitTest tests[] = {
      CACHE_TEST(test_second_process), CACHE_TEST(test_another_device_or_compiler),
      CACHE_TEST(test_damage),         CACHE_TEST(test_swapped),
      CACHE_TEST(test_no_file),        CACHE_TEST(test_processes_at_once),
      CACHE_TEST(test_killed),
  };
  tsl_device_kind_add(&copier_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
