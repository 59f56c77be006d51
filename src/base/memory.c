#include "base/memory.h"

#include "base/status.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static tesela_status out_of_memory(size_t bytes, const char *what) {
  char wanted[32], left[32];
  return tsl_fail(TESELA_OUT_OF_MEMORY, "cannot take %s (%zu bytes) of host memory for %s; %s are available",
                  tsl_format_bytes(bytes, wanted, sizeof wanted), bytes, what,
                  tsl_format_bytes(tsl_memory_available(), left, sizeof left));
}

tesela_status tsl_alloc_aligned(size_t bytes, size_t alignment, const char *what, void **out) {
  *out = NULL;
  /* No object is larger than PTRDIFF_MAX: pointer differences inside it would not fit. */
  if (bytes > PTRDIFF_MAX || posix_memalign(out, alignment, bytes ? bytes : 1) != 0) {
    *out = NULL;
    return out_of_memory(bytes, what);
  }
  return TESELA_OK;
}

tesela_status tsl_alloc(size_t bytes, const char *what, void **out) {
  return tsl_alloc_aligned(bytes, TSL_CACHE_LINE, what, out);
}

tesela_status tsl_alloc_zeroed(size_t bytes, const char *what, void **out) {
  TSL_TRY(tsl_alloc(bytes, what, out));
  memset(*out, 0, bytes);
  return TESELA_OK;
}

/* Since Linux 5.14. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void tsl_memory_provide(void *start, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t from = (uintptr_t)start / page * page;
  const uintptr_t to = ((uintptr_t)start + bytes + page - 1) / page * page;
  const int was = errno;
  (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
  errno = was;
}

void tsl_free(void *block) {
  free(block);
}
