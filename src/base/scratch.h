/* Temporary host memory of a run. The process caches two freed blocks, since a run may need another one
 * inside the first. So consecutive runs get memory without page faults; clearing new pages costs as
 * much as a small product. */
#ifndef TSL_BASE_SCRATCH_H
#define TSL_BASE_SCRATCH_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Takes at least `bytes` bytes, aligned to a cache line, uninitialised. Thread-safe: cached blocks that
 * are large enough are reused, other requests allocate. A failure's message has the size and `purpose`,
 * the purpose. */
tesela_status tsl_scratch_take(size_t bytes, const char *purpose, void **out);
/* Sets the bytes of scratch memory that a run may use; strategies that need more are refused.
 * UINT64_MAX, the default: no limit. Applies to the whole process. */
void tsl_scratch_set_limit(uint64_t bytes);
uint64_t tsl_scratch_limit(void);
/* Returns a block to the cache, from any thread; another cached block may be freed. NULL is allowed. */
void tsl_scratch_give(void *block);

#endif
