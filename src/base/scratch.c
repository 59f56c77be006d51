#include "base/scratch.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* Large blocks lie on pages of this size where the system has some: copies that are read again and again then need few
 * entries of the processor's table of pages. */
#define LARGE_PAGE ((size_t)2 << 20)

/* In front of a block, on a cache line of its own. */
typedef union header {
  size_t bytes; /* of the block */
  unsigned char line[TSL_CACHE_LINE];
} header;

/* The one that is kept, or NULL. Who takes it out owns it. */
static _Atomic(header *) kept;

static tesela_status take_block(size_t bytes, const char *what, void **out) {
  size_t whole;
  if (bytes < LARGE_PAGE / 2 || !tsl_size_add(bytes, LARGE_PAGE - 1, &whole))
    return tsl_alloc(bytes, what, out);
  whole -= whole % LARGE_PAGE;
  TSL_TRY(tsl_alloc_aligned(whole, LARGE_PAGE, what, out));
  (void)madvise(*out, whole, MADV_HUGEPAGE); /* a request: where it is refused, pages are small */
  return TESELA_OK;
}

tesela_status tsl_scratch_take(size_t bytes, const char *what, void **out) {
  header *block = atomic_exchange(&kept, NULL);
  *out = NULL;
  if (!block || block->bytes < bytes) {
    size_t total;
    void *memory;
    tsl_free(block);
    if (!tsl_size_add(bytes, sizeof *block, &total))
      total = SIZE_MAX; /* refused, with the sentence that says so */
    TSL_TRY(take_block(total, what, &memory));
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
