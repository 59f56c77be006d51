/* Room taken ahead: whole or not at all, and never so that others run out of it. */
#include "io/preallocate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "formats/expected.h"

enum { SOME = 100000 };

/* How the file system answers: as it does, or with this error after it took half. */
static int fails_with, times_asked;

int __real_fallocate(int fd, int mode, off_t from, off_t count);
int __wrap_fallocate(int fd, int mode, off_t from, off_t count);
int __wrap_fallocate(int fd, int mode, off_t from, off_t count) {
  times_asked++;
  if (fails_with == 0)
    return __real_fallocate(fd, mode, from, count);
  assert_int_equal(posix_fallocate(fd, from, count / 2), 0);
  errno = fails_with;
  return -1;
}

static int open_empty(void) {
  const char *const path = scratch_file("room");
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  unlink(path);
  fails_with = times_asked = 0;
  return fd;
}

static void has(int fd, off_t bytes) {
  struct stat about;
  assert_int_equal(fstat(fd, &about), 0);
  assert_int_equal(about.st_size, bytes);
  close(fd);
}

static void test_taken(void **state) {
  (void)state;
  const int fd = open_empty();
  assert_int_equal(tsl_reserve_file_space(fd, SOME), 0);
  has(fd, SOME);
}

/* A request above the free space is refused before the file system is asked: ext4 would allocate
 * all of its free space first. */
static void test_more_than_there_is(void **state) {
  (void)state;
  struct statvfs disk;
  const int fd = open_empty();
  assert_int_equal(fstatvfs(fd, &disk), 0);
  const uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
  assert_int_equal(tsl_reserve_file_space(fd, 2 * free_bytes + ((uint64_t)1 << 40)), ENOSPC);
  assert_int_equal(tsl_reserve_file_space(fd, INT64_MAX), ENOSPC);
  assert_int_equal(tsl_reserve_file_space(fd, UINT64_MAX), EFBIG);
  assert_int_equal(times_asked, 0);
  has(fd, 0);
}

/* Another wrote meanwhile. */
static void test_full_in_between(void **state) {
  (void)state;
  const int fd = open_empty();
  fails_with = ENOSPC;
  assert_int_equal(tsl_reserve_file_space(fd, SOME), ENOSPC);
  assert_int_equal(times_asked, 1);
  has(fd, 0);
}

static void test_not_taken_ahead(void **state) {
  (void)state;
  static const int reasons[] = {EOPNOTSUPP, ENOSYS};
  for (int r = 0; r < 2; r++) {
    const int fd = open_empty();
    fails_with = reasons[r];
    assert_int_equal(tsl_reserve_file_space(fd, SOME), 0);
    has(fd, SOME);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taken),
      cmocka_unit_test(test_more_than_there_is),
      cmocka_unit_test(test_full_in_between),
      cmocka_unit_test(test_not_taken_ahead),
  };
  return cmocka_run_group_tests(tests, group_make_folder, group_remove_folder);
}
