#include "core/scratch.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

/* Large pages for large blocks: operands that are read repeatedly then need few entries of the TLB. */
#define LARGE_PAGE ((size_t)2 << 20)

static _Atomic uint64_t limit = UINT64_MAX;

void tsl_scratch_set_limit(uint64_t bytes) {
  limit = bytes;
}

uint64_t tsl_scratch_limit(void) {
  return limit;
}

typedef union header {
  size_t bytes; /* usable size */
  unsigned char line[TSL_CACHE_LINE];
} header;

/* Cache of free blocks; NULL: empty slot. Two, because runs may nest. A thread that takes a block owns it. */
enum { CACHE_SLOTS = 2 };
static _Atomic(header *) cache[CACHE_SLOTS];

static header *take_cached_slot(int slot) {
  return atomic_load_explicit(&cache[slot], memory_order_relaxed) ? atomic_exchange(&cache[slot], NULL)
                                                                  : NULL;
}

/* Puts a block into an empty slot of the cache; if none is empty, into the first, whose block is freed. */
static void put_into_cache(header *block) {
  header *none = NULL;
  for (int i = 0; i < CACHE_SLOTS; i++, none = NULL)
    if (atomic_compare_exchange_strong(&cache[i], &none, block))
      return;
  tsl_free(atomic_exchange(&cache[0], block));
}

/* Returns true for the smaller of two blocks that fit, or the smaller of both if none fits. */
static bool fits_better(const header *block, const header *other, size_t bytes) {
  if (!block || !other)
    return block != NULL;
  const bool fits = block->bytes >= bytes;
  return fits != (other->bytes >= bytes) ? fits : block->bytes < other->bytes;
}

/* Takes the best cached block; NULL: the cache is empty. */
static header *take_best_cached(size_t bytes) {
  header *first = take_cached_slot(0), *second = take_cached_slot(1);
  const bool is_first = fits_better(first, second, bytes);
  header *other = is_first ? second : first;
  if (other)
    put_into_cache(other);
  return is_first ? first : second;
}

static tesela_status allocate_with_large_pages(size_t bytes, const char *purpose, void **out) {
  size_t whole;
  if (bytes < LARGE_PAGE / 2 || !tsl_size_add(bytes, LARGE_PAGE - 1, &whole))
    return tsl_alloc(bytes, purpose, out);
  whole -= whole % LARGE_PAGE;
  TSL_TRY(tsl_alloc_aligned(whole, LARGE_PAGE, purpose, out));
  (void)madvise(*out, whole, MADV_HUGEPAGE); /* only a hint */
  return TESELA_OK;
}

tesela_status tsl_scratch_take(size_t bytes, const char *purpose, void **out) {
  header *block = take_best_cached(bytes);
  *out = NULL;
  if (!block || block->bytes < bytes) {
    size_t total;
    void *memory;
    tsl_free(block);
    if (!tsl_size_add(bytes, sizeof *block, &total))
      total = SIZE_MAX; /* tsl_alloc() refuses this size with a message */
    TSL_TRY(allocate_with_large_pages(total, purpose, &memory));
    block = memory;
    block->bytes = bytes;
  }
  *out = block + 1;
  return TESELA_OK;
}

void tsl_scratch_give(void *block) {
  if (block)
    put_into_cache((header *)block - 1);
}
