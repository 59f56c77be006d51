#include "core/memory.h"

#include "core/reserve.h"
#include "core/status.h"
#include "core/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static tesela_status fail_out_of_memory(size_t bytes, const char *purpose) {
  char wanted[32], left[32];
  return tsl_fail(TESELA_OUT_OF_MEMORY, "cannot take %s (%zu bytes) of host memory for %s; %s are available",
                  tsl_format_bytes(bytes, wanted, sizeof wanted), bytes, purpose,
                  tsl_format_bytes(tsl_memory_available(), left, sizeof left));
}

/* Header of a block in a reserve, in front of the block. */
typedef struct block_header {
  size_t top, last; /* the reserve's values before this block was taken */
  size_t is_free;   /* 1: freed while a higher block is in use */
} block_header;

static _Thread_local tsl_reserve *thread_reserve;

/* Takes a block from a reserve; NULL: no reserve, or no space in it. */
static void *take_from_reserve(tsl_reserve *reserve, size_t bytes, size_t alignment) {
  if (!reserve || alignment > TSL_CACHE_LINE || bytes > reserve->bytes)
    return NULL;
  const size_t start =
      (reserve->top + sizeof(block_header) + TSL_CACHE_LINE - 1) / TSL_CACHE_LINE * TSL_CACHE_LINE;
  if (start > reserve->bytes - bytes)
    return NULL;
  block_header *header = (block_header *)(void *)(reserve->memory + start - sizeof(block_header));
  *header = (block_header){reserve->top, reserve->last, false};
  reserve->top = start + bytes;
  reserve->last = start;
  return reserve->memory + start;
}

/* Marks a block as free and lowers the top over all free blocks. */
static void return_to_reserve(tsl_reserve *reserve, void *block) {
  ((block_header *)block - 1)->is_free = true;
  while (reserve->last > 0) {
    const block_header *highest = (const block_header *)(const void *)(reserve->memory + reserve->last) - 1;
    if (!highest->is_free)
      return;
    reserve->top = highest->top;
    reserve->last = highest->last;
  }
}

static bool is_from_reserve(const tsl_reserve *reserve, const void *block) {
  const uintptr_t at = (uintptr_t)block;
  return reserve && at - (uintptr_t)reserve->memory < reserve->bytes;
}

tesela_status tsl_reserve_create(size_t bytes, size_t blocks, const char *purpose, tsl_reserve *out) {
  void *memory;
  *out = (tsl_reserve){.memory = NULL};
  if (!tsl_size_add(bytes, (blocks + 1) * 2 * TSL_CACHE_LINE, &bytes))
    return fail_out_of_memory(SIZE_MAX, purpose);
  TSL_TRY(tsl_alloc(bytes, purpose, &memory));
  *out = (tsl_reserve){.memory = memory, .bytes = bytes};
  return TESELA_OK;
}

tesela_status tsl_list_reserve(void *list, int count, int *capacity, size_t size, const char *items) {
  const int more = *capacity ? 2 * *capacity : 16;
  void *grown;
  if (count < *capacity)
    return TESELA_OK;
  memcpy(&grown, list, sizeof grown);
  grown = realloc(grown, (size_t)more * size);
  if (!grown)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d %s", more, items);
  memcpy(list, &grown, sizeof grown);
  *capacity = more;
  return TESELA_OK;
}

void tsl_reserve_use(tsl_reserve *reserve) {
  thread_reserve = reserve;
}

void tsl_reserve_free(tsl_reserve *reserve) {
  tsl_free(reserve->memory);
  *reserve = (tsl_reserve){.memory = NULL};
}

tesela_status tsl_alloc_aligned(size_t bytes, size_t alignment, const char *purpose, void **out) {
  *out = NULL;
  /* Pointer differences inside an object must fit PTRDIFF_MAX. */
  if (bytes > PTRDIFF_MAX || posix_memalign(out, alignment, bytes ? bytes : 1) != 0) {
    *out = take_from_reserve(thread_reserve, bytes, alignment);
    return *out ? TESELA_OK : fail_out_of_memory(bytes, purpose);
  }
  return TESELA_OK;
}

tesela_status tsl_alloc(size_t bytes, const char *purpose, void **out) {
  return tsl_alloc_aligned(bytes, TSL_CACHE_LINE, purpose, out);
}

tesela_status tsl_alloc_zeroed(size_t bytes, const char *purpose, void **out) {
  TSL_TRY(tsl_alloc(bytes, purpose, out));
  memset(*out, 0, bytes);
  return TESELA_OK;
}

/* Constant of Linux 5.14. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void tsl_memory_populate(void *start, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t from = (uintptr_t)start / page * page;
  const uintptr_t to = ((uintptr_t)start + bytes + page - 1) / page * page;
  const int saved_errno = errno;
  (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
  errno = saved_errno;
}

void tsl_free(void *block) {
  if (is_from_reserve(thread_reserve, block))
    return_to_reserve(thread_reserve, block);
  else
    free(block);
}
