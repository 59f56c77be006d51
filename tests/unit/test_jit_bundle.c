/* Cache files: tsl_jit_export() writes them and TESELA_CACHE reads them. A file that is damaged, foreign or
 * writable by others gives a warning and never a wrong kernel. TESELA_JIT=never compiles nothing. */
#include "jit_fixture.h"

#include "core/warnings.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SOMEBODY = 65534, HEAD_BYTES = 48, INDEX_ENTRY_BYTES = 64 };

static scratch files; /* folder of the cache files */

static int bundle_begin(void **state) {
  scratch_create(&files);
  unsetenv("TESELA_CACHE");
  unsetenv("TESELA_JIT");
  return cache_begin(state);
}
static int bundle_end(void **state) {
  unsetenv("TESELA_CACHE");
  unsetenv("TESELA_JIT");
  scratch_remove(&files);
  return cache_end(state);
}

static tesela_status write_to_file(void *argument, const void *bytes, size_t count) {
  assert_int_equal(fwrite(bytes, 1, count, argument), count);
  return TESELA_OK;
}

/* Exports the folder to `name`, entries of one device only if `device_key` is not NULL. Returns the number of
 * entries. */
static int export_to(const char *name, const char *device_key) {
  int count = 0;
  uint64_t bytes = 0;
  FILE *file = fopen(scratch_path(&files, name), "w");
  assert_non_null(file);
  assert_int_equal(tsl_jit_export(&device_key, device_key != NULL, write_to_file, file, &count, &bytes),
                   TESELA_OK);
  fclose(file);
  assert_int_equal(chmod(scratch_path(&files, name), 0644), 0);
  assert_int_equal(size_of(scratch_path(&files, name)), (long)bytes);
  return count;
}

static void empty_the_folder(void) {
  int count;
  uint64_t bytes;
  assert_int_equal(tsl_jit_clear(&count, &bytes), TESELA_OK);
  assert_int_equal(files_ending("", NULL), 0);
}

/* Returns true if a warning of this process has these words. */
static bool is_noted(const char *words) {
  char sentence[TSL_NOTICE_BYTES];
  bool logged, is_there = false;
  for (int i = 0; tsl_notice_at(i, sentence, &logged) && !is_there; i++)
    is_there = strstr(sentence, words) != NULL;
  return is_there;
}

/* Makes a cache file of three kernels, empties the folder and names the file in TESELA_CACHE. */
static const char *const texts[] = {"__kernel void f() {}\n", "__kernel void g() {}\n",
                                    "__kernel void h() {}\n"};
enum { TEXTS = 3 };

static int ask_for_texts(void) {
  int builds = 0;
  for (int i = 0; i < TEXTS; i++)
    builds += copier_ask_alone("gemm/tile_local", texts[i]);
  return builds;
}

static void begin_with_file(void) {
  assert_int_equal(ask_for_texts(), TEXTS);
  assert_int_equal(export_to("kernels", NULL), TEXTS);
  empty_the_folder();
  setenv("TESELA_CACHE", scratch_path(&files, "kernels"), 1);
}

/* Asks for a text that is in no cache, and expects the refusal of TESELA_JIT=never. */
static void expect_refused(const char *text) {
  copier c = copier_begin();
  const tsl_build build = {.name = "gemm/tile_local", .text = text, .options = ""};
  const int before = atomic_load(&copier_builds);
  tsl_module *module;
  assert_int_equal(tsl_jit_module(c.device, &build, &module, NULL), TESELA_UNSUPPORTED);
  assert_non_null(
      strstr(tesela_last_error(), "not compiled: TESELA_JIT=never and the kernel is in no cache"));
  assert_int_equal(atomic_load(&copier_builds), before);
  copier_end(&c);
}

/* --- good files --- */

static void test_read_from_an_empty_home(void **state) {
  (void)state;
  begin_with_file();
  setenv("TESELA_JIT", "never", 1);
  assert_int_equal(ask_for_texts(), 0);
  assert_int_equal(in_process(ask_for_texts), 0);
  expect_refused("in no cache");
  assert_int_equal(files_ending("", NULL), 0);
  setenv("TESELA_CACHE_DIR", scratch_path(&cache, "not/there"), 1);
  assert_int_equal(ask_for_texts(), 0);
  expect_refused("in no cache");
  assert_int_equal(files_ending("", NULL), 0); /* the folder was not made */
  setenv("TESELA_CACHE_SIZE", "0", 1);         /* a limit of the folder, not of the file */
  assert_int_equal(ask_for_texts(), 0);
  assert_false(is_noted("TESELA_CACHE"));
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  unsetenv("TESELA_CACHE_SIZE");
  unsetenv("TESELA_JIT");
  assert_int_equal(copier_ask_alone("gemm/tile_local", "in no cache"), 1);
  assert_int_equal(files_ending(".bin", NULL), 1);
}

static void test_folder_without_compiler(void **state) {
  (void)state;
  assert_int_equal(ask_once(), 1);
  setenv("TESELA_JIT", "never", 1);
  assert_int_equal(ask_once(), 0);
  expect_refused("in no cache");
  setenv("TESELA_JIT", "no", 1);
  tsl_devices *devices;
  assert_int_equal(tsl_devices_create(&devices), TESELA_BAD_CALL);
  assert_string_equal(tesela_last_error(), "TESELA_JIT is \"no\"; it can be allow or never");
}

static void test_file_without_permission_to_write(void **state) {
  (void)state;
  begin_with_file();
  assert_int_equal(chmod(scratch_path(&files, "kernels"), 0444), 0);
  assert_int_equal(chmod(files.folder, 0555), 0);
  assert_int_equal(ask_for_texts(), 0);
  assert_int_equal(chmod(files.folder, 0755), 0);
}

static void expect_same(const char *name, const char *other_name) {
  static char bytes[2][1 << 16];
  size_t count[2];
  const char *const names[] = {name, other_name};
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(scratch_path(&files, names[i]), "r");
    assert_non_null(file);
    count[i] = fread(bytes[i], 1, sizeof bytes[i], file);
    fclose(file);
  }
  assert_true(count[0] > HEAD_BYTES && count[0] < sizeof bytes[0]);
  assert_int_equal(count[0], count[1]);
  assert_memory_equal(bytes[0], bytes[1], count[0]);
}

/* The order in which kernels were compiled, and when, does not show. Damaged entries are left out. */
static void test_same_bytes(void **state) {
  (void)state;
  assert_int_equal(ask_for_texts(), TEXTS);
  assert_int_equal(export_to("one", NULL), TEXTS);
  empty_the_folder();
  for (int i = TEXTS - 1; i >= 0; i--)
    assert_int_equal(copier_ask_alone("gemm/tile_local", texts[i]), 1);
  assert_int_equal(export_to("other", NULL), TEXTS);
  expect_same("one", "other");
  char damaged[64];
  snprintf(damaged, sizeof damaged, "%s.bin", cache_listed().last.hash);
  make_empty(scratch_path(&cache, damaged));
  assert_int_equal(export_to("fewer", NULL), TEXTS - 1);
  files_ending(".bin", make_empty);
  int count;
  uint64_t bytes;
  assert_int_equal(tsl_jit_export(NULL, 0, write_to_file, NULL, &count, &bytes), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "there is nothing to export"));
}

static void test_one_device(void **state) {
  (void)state;
  assert_int_equal(ask_for_texts(), TEXTS);
  copier_key = "copier/two";
  assert_int_equal(ask_once(), 1);
  assert_int_equal(export_to("one", "copier/one"), TEXTS);
  assert_int_equal(export_to("two", "copier/two"), 1);
  empty_the_folder();
  setenv("TESELA_JIT", "never", 1);
  setenv("TESELA_CACHE", scratch_path(&files, "two"), 1);
  assert_int_equal(ask_once(), 0);
  copier_key = "copier/one"; /* another device or driver: not found, and nothing is wrong with the file */
  expect_refused("__kernel void f() {}\n");
  setenv("TESELA_CACHE", scratch_path(&files, "one"), 1);
  assert_int_equal(ask_for_texts(), 0);
  copier_version = "2";
  expect_refused("__kernel void f() {}\n");
  assert_false(is_noted("TESELA_CACHE"));
}

/* --- bad files --- */

/* Asks for all texts in a process that has no warnings yet; expects right kernels, `builds` compilations and
 * a warning with these words. */
static int expected_builds;
static const char *expected_words;

static int ask_and_note(void) {
  assert_int_equal(ask_for_texts(), expected_builds);
  if (expected_words == NULL)
    assert_false(is_noted("TESELA_CACHE"));
  else if (!is_noted(expected_words))
    fail_msg("no warning has \"%s\"", expected_words);
  return 0;
}

static void expect(int builds, const char *words) {
  expected_builds = builds;
  expected_words = words;
  assert_int_equal(in_process(ask_and_note), 0);
  empty_the_folder();
}

static void test_cut_short(void **state) {
  (void)state;
  begin_with_file();
  const char *path = getenv("TESELA_CACHE");
  const long whole = size_of(path);
  const long lengths[] = {whole - 1,
                          whole - 60,
                          whole / 2,
                          HEAD_BYTES + TEXTS * INDEX_ENTRY_BYTES + 1,
                          HEAD_BYTES + TEXTS * INDEX_ENTRY_BYTES,
                          HEAD_BYTES + INDEX_ENTRY_BYTES,
                          HEAD_BYTES + 1,
                          HEAD_BYTES,
                          HEAD_BYTES - 1,
                          8,
                          1,
                          0};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    assert_int_equal(truncate(path, lengths[i]), 0);
    expect(TEXTS, "it is cut short");
  }
}

static void test_longer(void **state) {
  (void)state;
  begin_with_file();
  assert_int_equal(truncate(getenv("TESELA_CACHE"), size_of(getenv("TESELA_CACHE")) + 1), 0);
  expect(TEXTS, "its length is not what it says");
}

/* A change of any byte makes the file, or the entry that has the byte, unusable. */
static void test_flipped(void **state) {
  (void)state;
  begin_with_file();
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", getenv("TESELA_CACHE"));
  const long data = HEAD_BYTES + TEXTS * INDEX_ENTRY_BYTES, whole = size_of(path);
  for (long at = 0; at < whole; at += at < data ? 5 : 11) {
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fflush(file);
    expect(at < data ? TEXTS : 1, at < data ? "TESELA_CACHE is ignored" : "is damaged and is ignored");
    fseek(file, at, SEEK_SET);
    fputc(byte, file);
    fclose(file);
  }
  expect(0, NULL);
}

static void test_foreign(void **state) {
  (void)state;
  begin_with_file();
  const char *path = getenv("TESELA_CACHE");
  overwrite(path, 8, 2);
  expect(TEXTS, "another version of tesela wrote it");
  overwrite(path, 8, 1);
  overwrite(path, 12, 1);
  expect(TEXTS, "another byte order");
  scratch_write(&files, "text", "this is a text that somebody named by mistake, and it is long enough\n");
  setenv("TESELA_CACHE", scratch_path(&files, "text"), 1);
  expect(TEXTS, "it is no file that tesela cache export wrote");
}

static void test_not_trusted(void **state) {
  (void)state;
  begin_with_file();
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", getenv("TESELA_CACHE"));
  static const mode_t modes[] = {0666, 0664, 0646};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(path, modes[i]), 0);
    expect(TEXTS, "other users may write to it");
  }
  assert_int_equal(chmod(path, 0644), 0);
  expect(0, NULL);
  assert_int_equal(symlink(path, scratch_path(&files, "link")), 0);
  setenv("TESELA_CACHE", scratch_path(&files, "link"), 1);
  expect(TEXTS, "it is a symbolic link");
  setenv("TESELA_CACHE", files.folder, 1);
  expect(TEXTS, "it is no regular file");
  assert_int_equal(mkfifo(scratch_path(&files, "pipe"), 0600), 0);
  setenv("TESELA_CACHE", scratch_path(&files, "pipe"), 1);
  expect(TEXTS, "it is no regular file");
  setenv("TESELA_CACHE", scratch_path(&files, "not there"), 1);
  expect(TEXTS, "No such file");
  setenv("TESELA_CACHE", path, 1);
  if (geteuid() != 0)
    return;
  assert_int_equal(chown(path, SOMEBODY, (gid_t)-1), 0);
  expect(TEXTS, "it belongs to another user");
}

static int ask_as_somebody(void) {
  setenv("TESELA_JIT", "never", 1);
  assert_int_equal(seteuid(SOMEBODY), 0);
  assert_int_equal(ask_for_texts(), 0);
  return 0;
}

/* An administrator installs the file for all users. */
static void test_of_root(void **state) {
  (void)state;
  if (geteuid() != 0)
    skip();
  /* In /tmp: other users may not search the folders above the build. */
  char folder[] = "/tmp/tesela-cache.XXXXXX", path[64];
  begin_with_file();
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/kernels", folder);
  assert_int_equal(chmod(folder, 0755), 0);
  FILE *from = fopen(getenv("TESELA_CACHE"), "r"), *to = fopen(path, "w");
  assert_true(from != NULL && to != NULL);
  for (int byte; (byte = fgetc(from)) != EOF;)
    fputc(byte, to);
  fclose(from);
  fclose(to);
  assert_int_equal(chmod(path, 0644), 0);
  setenv("TESELA_CACHE", path, 1);
  const int code = in_process(ask_as_somebody);
  unlink(path);
  rmdir(folder);
  assert_int_equal(code, 0);
}

/* Cuts the file and makes it whole again until the process is killed. */
static _Noreturn void cut_for_ever(const char *path, const char *bytes, size_t count) {
  const int file = open(path, O_WRONLY);
  for (size_t at = 0;; at = (at + 37) % count)
    if (ftruncate(file, (off_t)at) != 0 || pwrite(file, bytes, count, 0) != (ssize_t)count)
      _exit(1);
}

static void test_cut_while_read(void **state) {
  (void)state;
  static char bytes[1 << 16];
  begin_with_file();
  FILE *file = fopen(getenv("TESELA_CACHE"), "r");
  assert_non_null(file);
  const size_t count = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    cut_for_ever(getenv("TESELA_CACHE"), bytes, count);
  for (int i = 0; i < 200; i++)
    ask_for_texts(); /* the texts are compared */
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void) {
#define BUNDLE_TEST(function) cmocka_unit_test_setup_teardown(function, bundle_begin, bundle_end)
  const struct CMUnitTest tests[] = {
      BUNDLE_TEST(test_read_from_an_empty_home),
      BUNDLE_TEST(test_folder_without_compiler),
      BUNDLE_TEST(test_file_without_permission_to_write),
      BUNDLE_TEST(test_same_bytes),
      BUNDLE_TEST(test_one_device),
      BUNDLE_TEST(test_cut_short),
      BUNDLE_TEST(test_longer),
      BUNDLE_TEST(test_flipped),
      BUNDLE_TEST(test_foreign),
      BUNDLE_TEST(test_not_trusted),
      BUNDLE_TEST(test_of_root),
      BUNDLE_TEST(test_cut_while_read),
  };
  tsl_device_kind_add(&copier_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
