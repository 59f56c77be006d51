#ifndef TSL_CORE_MEMORY_H
#define TSL_CORE_MEMORY_H

#include "core/checked.h"

#include <tesela/tesela.h>

#define TSL_CACHE_LINE 64

/* Allocates uninitialised bytes, aligned to a cache line; free with tsl_free(). Zero bytes give a valid
 * pointer. TESELA_OUT_OF_MEMORY names the size and `purpose`. */
tesela_status tsl_alloc(size_t bytes, const char *purpose, void **out);
/* Allocates as tsl_alloc(), aligned to a power of two of at least a cache line. */
tesela_status tsl_alloc_aligned(size_t bytes, size_t alignment, const char *purpose, void **out);
/* Allocates as tsl_alloc() and clears the memory. */
tesela_status tsl_alloc_zeroed(size_t bytes, const char *purpose, void **out);
void tsl_free(void *block); /* NULL is allowed */

/* Makes the system provide the pages of a range, if it can; contents do not change. */
void tsl_memory_populate(void *start, size_t bytes);

/* Returns bytes that this process may still allocate: minimum of MemAvailable, ulimit and cgroups. */
uint64_t tsl_memory_available(void);
/* Computes tsl_memory_available() from these files, or copies in tests. UINT64_MAX: unknown. */
uint64_t tsl_memory_available_at(const char *meminfo, const char *root, const char *self_cgroup_file);

/* Removes const, for struct members that are read in some uses and written in others. */
static inline void *tsl_writable(const void *data) {
  union {
    const void *read;
    void *written;
  } pointer = {data};
  return pointer.written;
}

#endif
