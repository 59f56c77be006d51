/* Output files appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/expected.h"
#include "io/io.h"

static const double values[6] = {1, 2, 3, 4, 5, 6};

static tesela_status write_matrix(const char *path) {
  tsl_writer *writer;
  tesela_status status = tsl_writer_open(path, NULL, 2, 3, TESELA_F64, &writer);
  if (status != TESELA_OK) {
    assert_null(writer);
    return status;
  }
  status = tsl_writer_rows(writer, 2, values, 3, 1);
  if (status == TESELA_OK)
    status = tsl_writer_commit(writer);
  tsl_writer_close(writer);
  return status;
}

static void check_text(const char *path, const char *want) {
  char text[128];
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, want);
}

static void put_text(const char *path, const char *text) {
  FILE *const file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static const char *const written = "1,2,3\n4,5,6\n";

static void check_sentence(const char *path, const char *word) {
  assert_int_equal(strncmp(tesela_last_error(), path, strlen(path)), 0);
  if (strstr(tesela_last_error() + strlen(path), word) == NULL)
    fail_msg("no \"%s\" in: %s", word, tesela_last_error());
}

/* Nothing has the name before the commit; an older file stays until then. */
static void test_appears_at_commit(void **state) {
  (void)state;
  const char *const path = scratch_file("out.csv");
  tsl_writer *writer;
  assert_int_equal(tsl_writer_open(path, NULL, 2, 3, TESELA_F64, &writer), TESELA_OK);
  assert_int_equal(tsl_writer_rows(writer, 2, values, 3, 1), TESELA_OK);
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(tsl_writer_commit(writer), TESELA_OK);
  check_text(path, written);
  tsl_writer_close(writer);
  assert_int_equal(count_scratch_files(), 1);

  put_text(path, "old");
  assert_int_equal(tsl_writer_open(path, NULL, 2, 3, TESELA_F64, &writer), TESELA_OK);
  assert_int_equal(tsl_writer_rows(writer, 1, values, 3, 1), TESELA_OK);
  assert_int_equal(tsl_writer_commit(writer), TESELA_BAD_CALL);
  check_sentence(path, "1 of 2 rows");
  tsl_writer_close(writer);
  check_text(path, "old");
  assert_int_equal(write_matrix(path), TESELA_OK);
  check_text(path, written);
  unlink(path);
  assert_int_equal(count_scratch_files(), 0);
  tsl_writer_close(NULL);
}

static void test_too_many_rows(void **state) {
  (void)state;
  tsl_writer *writer;
  const char *const path = scratch_file("out.csv");
  assert_int_equal(tsl_writer_open(path, NULL, 1, 3, TESELA_F64, &writer), TESELA_OK);
  assert_int_equal(tsl_writer_rows(writer, 2, values, 3, 1), TESELA_BAD_CALL);
  tsl_writer_close(writer);
  assert_int_equal(count_scratch_files(), 0);
}

/* A file larger than the process may write fails as a full disk does. */
static void test_full_disk(void **state) {
  (void)state;
  static const char *const names[] = {"full.npy", "full.mtx", "full.csv", "full.txt"};
  enum { ROWS = 400, COLS = 1000 };
  double *const large = calloc((size_t)ROWS * COLS, sizeof *large);
  assert_non_null(large);
  for (int i = 0; i < ROWS * COLS; i++)
    large[i] = i + 0.125;
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
  for (int n = 0; n < 4; n++) {
    const char *const path = scratch_file(names[n]);
    put_text(path, "old");
    /* Once during the rows, and once at the commit only. */
    for (int rows = 1; rows <= ROWS; rows += ROWS - 1) {
      small = before;
      small.rlim_cur = 1000;
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
      tsl_writer *writer;
      tesela_status status = tsl_writer_open(path, NULL, rows, COLS, TESELA_F64, &writer);
      if (status == TESELA_OK)
        status = tsl_writer_rows(writer, rows, large, COLS, 1);
      if (status == TESELA_OK)
        status = tsl_writer_commit(writer);
      else
        assert_int_equal(tsl_writer_commit(writer), TESELA_BAD_CALL);
      tsl_writer_close(writer);
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
      assert_int_equal(status, TESELA_IO_FAILED);
      assert_int_equal(count_scratch_files(), 1);
      check_text(path, "old");
    }
    unlink(path);
  }
  signal(SIGXFSZ, handler);
  free(large);
}

static void test_full_disk_sentence(void **state) {
  (void)state;
  struct rlimit before, small;
  const char *const path = scratch_file("full.csv");
  void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 5;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const tesela_status status = write_matrix(path);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, TESELA_IO_FAILED);
  check_sentence(path, strerror(EFBIG));
  assert_int_equal(count_scratch_files(), 0);
}

static void test_bad_places(void **state) {
  (void)state;
  assert_int_equal(write_matrix("/no/such/folder/out.csv"), TESELA_IO_FAILED);
  check_sentence("/no/such/folder/out.csv", "folder does not exist");
  assert_int_equal(write_matrix("/dev/null/out.csv"), TESELA_IO_FAILED);

  const char *const folder = scratch_file("folder.csv");
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(write_matrix(folder), TESELA_IO_FAILED);
  check_sentence(folder, "is a folder");
  rmdir(folder);

  const char *const pipe_path = scratch_file("pipe.csv");
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_int_equal(write_matrix(pipe_path), TESELA_IO_FAILED);
  check_sentence(pipe_path, "must be a file");
  unlink(pipe_path);
  assert_int_equal(count_scratch_files(), 0);
}

/* The start of an ending is none. */
static void test_short_endings(void **state) {
  (void)state;
  static const char *const names[] = {"x.n", "x.np", "x.m", "x.mt", "x.c", "x.cs", "x.t", "x.tx", "x."};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tsl_writer *writer;
    assert_int_equal(tsl_writer_open(names[i], NULL, 2, 3, TESELA_F64, &writer), TESELA_BAD_CALL);
    assert_non_null(strstr(tesela_last_error(), "the ending says how a matrix is written"));
  }
}

static void test_bad_calls(void **state) {
  (void)state;
  tsl_writer *writer;
  assert_int_equal(write_matrix(scratch_file("out")), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), ".npy, .mtx, .csv, .txt"));
  assert_int_equal(write_matrix(scratch_file("out.png")), TESELA_BAD_CALL);
  assert_int_equal(write_matrix(scratch_file("npy")), TESELA_BAD_CALL);
  assert_int_equal(tsl_writer_open(scratch_file("out.npy"), NULL, -1, 3, TESELA_F64, &writer),
                   TESELA_BAD_CALL);
  assert_int_equal(tsl_writer_open(scratch_file("out.npy"), NULL, INT64_MAX, 3, TESELA_F64, &writer),
                   TESELA_BAD_CALL);
  assert_int_equal(tsl_writer_open(scratch_file("out.npy"), NULL, 3, 3, TESELA_TYPE_DEFAULT, &writer),
                   TESELA_BAD_CALL);
  assert_int_equal(tsl_writer_open(scratch_file("out.csv"), NULL, 3, 3, TESELA_C64, &writer),
                   TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "csv holds no complex numbers"));
  assert_int_equal(tsl_writer_open(scratch_file("out.txt"), NULL, 3, 3, TESELA_C64, &writer),
                   TESELA_BAD_CALL);
  assert_int_equal(write_matrix(scratch_file("out.csv.gz")), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "compressed files cannot be written"));
  assert_int_equal(write_matrix("-"), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "npy, mtx, csv, txt"));
  assert_int_equal(tsl_writer_open(scratch_file("out.dat"), "png", 3, 3, TESELA_F64, &writer),
                   TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "npy, mtx, csv, txt"));
  assert_int_equal(count_scratch_files(), 0);
}

static bool access_as_is(const char *path) {
  return faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0;
}

/* Root may write everywhere, so root changes its user meanwhile. */
static void test_no_permission(void **state) {
  (void)state;
  const uid_t user = geteuid(), other = user == 0 ? 65534 : user;
  const char *const folder = scratch_file("closed"), *const inside = scratch_file("closed/out.csv");
  const char *const kept = scratch_file("kept.csv");
  put_text(kept, "old");
  assert_int_equal(mkdir(folder, 0500), 0);
  assert_int_equal(chmod(kept, 0400), 0);
  assert_int_equal(chown(folder, other, (gid_t)-1), 0);
  assert_int_equal(chown(kept, other, (gid_t)-1), 0);
  assert_int_equal(seteuid(other), 0);
  const bool reached = access_as_is(folder);
  if (reached) {
    assert_int_equal(write_matrix(inside), TESELA_IO_FAILED);
    check_sentence(inside, strerror(EACCES));
    assert_int_equal(write_matrix(kept), TESELA_IO_FAILED);
    check_sentence(kept, "cannot be replaced");
  }
  assert_int_equal(seteuid(user), 0);
  check_text(kept, "old");
  assert_int_equal(count_scratch_files(), 2);
  rmdir(folder);
  unlink(kept);
  if (!reached) {
    print_message("skipped: the build folder is closed to the user %d\n", (int)other);
    skip();
  }
}

static void test_permissions(void **state) {
  (void)state;
  struct stat about;
  const mode_t mask = umask(022);
  const char *const path = scratch_file("out.csv");
  assert_int_equal(write_matrix(path), TESELA_OK);
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0644);
  assert_int_equal(chmod(path, 0660), 0);
  assert_int_equal(write_matrix(path), TESELA_OK);
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0660);
  unlink(path);
  umask(mask);
}

/* Output to a symbolic link goes where it points, and the link stays. */
static void test_symbolic_link(void **state) {
  (void)state;
  struct stat about;
  const char *const folder = scratch_file("elsewhere"), *const file = scratch_file("elsewhere/real.csv");
  const char *const link = scratch_file("link.csv"), *const second = scratch_file("second.csv");
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(symlink("elsewhere/real.csv", link), 0);
  assert_int_equal(symlink(link, second), 0);
  for (int round = 0; round < 2; round++) { /* where there is no file yet, and where there is one */
    assert_int_equal(write_matrix(second), TESELA_OK);
    check_text(file, written);
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
  }
  unlink(second);
  unlink(link);
  unlink(file);
  assert_int_equal(symlink("link.csv", link), 0);
  assert_int_equal(write_matrix(link), TESELA_IO_FAILED);
  check_sentence(link, "is a symbolic link to a missing file");
  unlink(link);
  assert_int_equal(rmdir(folder), 0);
}

/* fsync() and rename() as they are called (ld's --wrap): what was synced ('f' a file, 'd' a folder), and 'r'.
 */
static char calls[16];
static int folder_errno; /* fails the sync of a folder so */

static void note(char what) {
  const size_t length = strlen(calls);
  if (length + 1 < sizeof calls)
    calls[length] = what;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
  struct stat about;
  assert_int_equal(fstat(fd, &about), 0);
  note(S_ISDIR(about.st_mode) ? 'd' : 'f');
  if (S_ISDIR(about.st_mode) && folder_errno != 0) {
    errno = folder_errno;
    return -1;
  }
  return __real_fsync(fd);
}

int __real_rename(const char *from, const char *dst);
int __wrap_rename(const char *from, const char *dst);
int __wrap_rename(const char *from, const char *dst) {
  note('r');
  return __real_rename(from, dst);
}

/* A new name outlives a power cut only when its folder is synced, after the renaming. */
static void test_folder_is_synced(void **state) {
  (void)state;
  char here[4096];
  const char *const path = scratch_file("out.csv");
  memset(calls, 0, sizeof calls);
  assert_int_equal(write_matrix(path), TESELA_OK);
  assert_string_equal(calls, "frd");
  /* A name without a folder is in this one. */
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(TESELA_BINARY_DIR), 0);
  memset(calls, 0, sizeof calls);
  assert_int_equal(write_matrix("synced.csv"), TESELA_OK);
  assert_string_equal(calls, "frd");
  assert_int_equal(unlink("synced.csv"), 0);
  assert_int_equal(chdir(here), 0);
  /* Some file systems cannot sync a folder (EINVAL), which is no error. A failing disk is an error. */
  folder_errno = EINVAL;
  assert_int_equal(write_matrix(path), TESELA_OK);
  folder_errno = EIO;
  assert_int_equal(write_matrix(path), TESELA_IO_FAILED);
  check_sentence(path, "folder cannot be synced");
  folder_errno = 0;
  unlink(path);
  assert_int_equal(count_scratch_files(), 0);
}

/* Two writers of one name do not disturb each other; the later commit wins. */
static void test_two_writers(void **state) {
  (void)state;
  const char *const path = scratch_file("out.csv");
  tsl_writer *first, *second;
  const double one = 1, two = 2;
  assert_int_equal(tsl_writer_open(path, NULL, 1, 1, TESELA_F64, &first), TESELA_OK);
  assert_int_equal(tsl_writer_open(path, NULL, 1, 1, TESELA_F64, &second), TESELA_OK);
  assert_int_equal(tsl_writer_rows(second, 1, &two, 1, 1), TESELA_OK);
  assert_int_equal(tsl_writer_rows(first, 1, &one, 1, 1), TESELA_OK);
  assert_int_equal(tsl_writer_commit(first), TESELA_OK);
  check_text(path, "1\n");
  assert_int_equal(tsl_writer_commit(second), TESELA_OK);
  check_text(path, "2\n");
  tsl_writer_close(first);
  tsl_writer_close(second);
  assert_int_equal(count_scratch_files(), 1);
  unlink(path);
}

static void test_long_name(void **state) {
  (void)state;
  char name[252];
  memset(name, 'n', sizeof name);
  memcpy(name + sizeof name - 5, ".csv", 5);
  const char *const path = scratch_file(name);
  assert_int_equal(write_matrix(path), TESELA_OK);
  check_text(path, written);
  assert_int_equal(unlink(path), 0);
}

static void test_same_file(void **state) {
  (void)state;
  const char *const a = scratch_file("a.csv"), *const b = scratch_file("b.csv"),
                    *const c = scratch_file("c.csv");
  put_text(a, "1\n");
  put_text(c, "1\n");
  assert_int_equal(symlink(a, b), 0);
  assert_true(tsl_io_same_file(a, a));
  assert_true(tsl_io_same_file(a, b));
  assert_false(tsl_io_same_file(a, c));
  assert_false(tsl_io_same_file(a, scratch_file("none.csv")));
  unlink(a);
  unlink(b);
  unlink(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_appears_at_commit), cmocka_unit_test(test_too_many_rows),
      cmocka_unit_test(test_full_disk),         cmocka_unit_test(test_full_disk_sentence),
      cmocka_unit_test(test_bad_places),        cmocka_unit_test(test_short_endings),
      cmocka_unit_test(test_bad_calls),         cmocka_unit_test(test_no_permission),
      cmocka_unit_test(test_permissions),       cmocka_unit_test(test_symbolic_link),
      cmocka_unit_test(test_two_writers),       cmocka_unit_test(test_long_name),
      cmocka_unit_test(test_same_file),         cmocka_unit_test(test_folder_is_synced),
  };
  return cmocka_run_group_tests(tests, group_make_folder, group_remove_folder);
}
