#include "base/scratch.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdatomic.h>

/* In front of a block, on a cache line of its own. */
typedef union header {
  size_t bytes; /* of the block */
  unsigned char line[TSL_CACHE_LINE];
} header;

/* The one that is kept, or NULL. Who takes it out owns it. */
static _Atomic(header *) kept;

tesela_status tsl_scratch_take(size_t bytes, const char *what, void **out) {
  header *block = atomic_exchange(&kept, NULL);
  *out = NULL;
  if (!block || block->bytes < bytes) {
    size_t total;
    void *memory;
    tsl_free(block);
    if (!tsl_size_add(bytes, sizeof *block, &total))
      total = SIZE_MAX; /* refused, with the sentence that says so */
    TSL_TRY(tsl_alloc(total, what, &memory));
    block = memory;
    block->bytes = bytes;
  }
  *out = block + 1;
  return TESELA_OK;
}

void tsl_scratch_give(void *block) {
  if (block)
    tsl_free(atomic_exchange(&kept, (header *)block - 1));
}
