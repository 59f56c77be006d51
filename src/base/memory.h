/* Host memory: aligned blocks; their sizes are reckoned by base/checked.h. */
#ifndef TSL_BASE_MEMORY_H
#define TSL_BASE_MEMORY_H

#include "base/checked.h"

#include <tesela/tesela.h>

#define TSL_CACHE_LINE 64

/* Takes `bytes` bytes aligned to a cache line; zero bytes give a pointer that may be freed. The sentence of a
 * failure says how much was asked for and `what` for. Free with tsl_free(). Not cleared. */
tesela_status tsl_alloc(size_t bytes, const char *what, void **out);
/* The same, aligned to `alignment` bytes: a power of two, a cache line at least. */
tesela_status tsl_alloc_aligned(size_t bytes, size_t alignment, const char *what, void **out);
tesela_status tsl_alloc_zeroed(size_t bytes, const char *what, void **out);
void tsl_free(void *block); /* NULL is allowed */

/* Has the system provide the pages of a range that is about to be written, where they are not there yet; what
 * they hold stays as it is. Nothing where it cannot. */
void tsl_memory_provide(void *start, size_t bytes);

/* Bytes that this process may still take: the least of MemAvailable and what the cgroup leaves. */
uint64_t tsl_memory_available(void);
/* The same from these files: as /proc/meminfo, /sys/fs/cgroup and /proc/self/cgroup. UINT64_MAX when none of
 * them tells. */
uint64_t tsl_memory_available_at(const char *meminfo, const char *root, const char *self_cgroup_file);

/* For structs whose one field holds what is read here and written there. */
static inline void *tsl_writable(const void *data) {
  union {
    const void *read;
    void *written;
  } pointer = {data};
  return pointer.written;
}

#endif
