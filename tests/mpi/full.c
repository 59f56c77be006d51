/* A preloaded library that emulates a failing disk. Reads and writes of files whose name contains FULL_FILE
 * fail on rank FULL_RANK ("all": on all ranks). The error is FULL_ERROR (28: no space left on the device; 5:
 * input/output error). If FULL_MPI is not empty, only transfers of MPI's own files fail: tesela's files are
 * recognized by their close-on-exec flag. Each failure is printed on stderr. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *said(const char *name) {
  const char *text = getenv(name);
  return text ? text : "";
}

static int fails(int fd) {
  const char *rank = said("FULL_RANK");
  char link[64], name[1024] = "";
  if (strcmp(rank, "all") != 0 && (!*rank || strcmp(rank, said("OMPI_COMM_WORLD_RANK")) != 0))
    return 0;
  if (*said("FULL_MPI") && (fcntl(fd, F_GETFD) & FD_CLOEXEC))
    return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, name, sizeof name - 1) < 0 || !strstr(name, said("FULL_FILE")))
    return 0;
  fprintf(stderr, "refused: %s\n", name);
  errno = atoi(said("FULL_ERROR"));
  return 1;
}

static void *next(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

/* Each name with and without 64: both have files of 64 bits here. */
#define MOVES(name, parameters, arguments)                                                                   \
  ssize_t name parameters;                                                                                   \
  ssize_t name parameters {                                                                                  \
    union {                                                                                                  \
      void *address;                                                                                         \
      ssize_t(*call) parameters;                                                                             \
    } real = {next(#name)};                                                                                  \
    return fails(fd) ? -1 : real.call arguments;                                                             \
  }
MOVES(pread, (int fd, void *data, size_t bytes, off_t place), (fd, data, bytes, place))
MOVES(pread64, (int fd, void *data, size_t bytes, off_t place), (fd, data, bytes, place))
MOVES(preadv, (int fd, const struct iovec *list, int count, off_t place), (fd, list, count, place))
MOVES(preadv64, (int fd, const struct iovec *list, int count, off_t place), (fd, list, count, place))
MOVES(pwrite, (int fd, const void *data, size_t bytes, off_t place), (fd, data, bytes, place))
MOVES(pwrite64, (int fd, const void *data, size_t bytes, off_t place), (fd, data, bytes, place))
MOVES(pwritev, (int fd, const struct iovec *list, int count, off_t place), (fd, list, count, place))
MOVES(pwritev64, (int fd, const struct iovec *list, int count, off_t place), (fd, list, count, place))
