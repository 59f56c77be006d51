/* Preloaded: on rank 1 of Open MPI, tesela's library gets no memory from STARVE bytes on, and everybody else
 * does. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool is_refused(void *caller, size_t bytes) {
  Dl_info from;
  const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *least = getenv("STARVE");
  return rank && least && strcmp(rank, "1") == 0 && bytes >= strtoul(least, NULL, 10) &&
         dladdr(caller, &from) && from.dli_fname && strstr(from.dli_fname, "libtesela_scalapack");
}

void *malloc(size_t bytes) {
  union {
    void *address;
    void *(*call)(size_t);
  } next = {dlsym(RTLD_NEXT, "malloc")};
  return is_refused(__builtin_return_address(0), bytes) ? NULL : next.call(bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  union {
    void *address;
    void *(*call)(size_t, size_t);
  } next = {dlsym(RTLD_NEXT, "aligned_alloc")};
  return is_refused(__builtin_return_address(0), bytes) ? NULL : next.call(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  union {
    void *address;
    int (*call)(void **, size_t, size_t);
  } next = {dlsym(RTLD_NEXT, "posix_memalign")};
  return is_refused(__builtin_return_address(0), bytes) ? ENOMEM : next.call(out, alignment, bytes);
}
