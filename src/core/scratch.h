/* Temporary host memory of a run. Two freed blocks are cached (runs may nest): clearing new pages is slow. */
#ifndef TSL_CORE_SCRATCH_H
#define TSL_CORE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* Takes uninitialised memory, aligned to a cache line, from the cache or the system; free it with
 * tsl_scratch_give(). Thread-safe. TESELA_OUT_OF_MEMORY names the size and `purpose`. */
tesela_status tsl_scratch_take(size_t bytes, const char *purpose, void **out);
/* Sets the bytes that a run may use (UINT64_MAX: no limit). Strategies that need more are refused. */
void tsl_scratch_set_limit(uint64_t bytes);
uint64_t tsl_scratch_limit(void);
/* Returns a block to the cache, from any thread; may free another. NULL is allowed. */
void tsl_scratch_give(void *block);

/* Advances *size, of bytes or elements, by `more`, rounded up to `unit`. Returns its old value, the offset.
 */
static inline int64_t tsl_scratch_reserve(int64_t *size, int64_t more, int64_t unit) {
  const int64_t offset = *size;
  *size += (more + unit - 1) / unit * unit;
  return offset;
}

#endif
