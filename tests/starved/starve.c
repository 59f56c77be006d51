#include "starved/starve.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Until the next library's functions are found, what looks for them is served from here, and keeps it. */
static _Alignas(64) char early[4096];
static size_t early_used;

static atomic_int left, failures; /* calls until one fails; 0: none does */
static atomic_bool is_for_good;

void starve(int nth, bool for_good) {
  atomic_store(&failures, 0);
  atomic_store(&is_for_good, for_good);
  atomic_store(&left, nth);
}

int starve_end(void) {
  atomic_store(&left, 0);
  return atomic_load(&failures);
}

static bool fails(void) {
  int now = atomic_load(&left);
  while (now > 1 && !atomic_compare_exchange_weak(&left, &now, now - 1))
    continue;
  if (now != 1)
    return false;
  if (!atomic_load(&is_for_good) && !atomic_compare_exchange_strong(&left, &now, 0))
    return false;
  /* The first one takes its time, as a system does that has no memory: other threads come to their own
   * meanwhile. */
  if (atomic_fetch_add(&failures, 1) == 0)
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
  errno = ENOMEM;
  return true;
}

typedef void *allocate(size_t size);
typedef void *allocate_many(size_t count, size_t size);
typedef void *reallocate(void *block, size_t size);
typedef void *allocate_aligned(size_t alignment, size_t size);
typedef int allocate_posix(void **out, size_t alignment, size_t size);

static struct {
  allocate *malloc;
  allocate_many *calloc;
  reallocate *realloc;
  allocate_aligned *aligned_alloc;
  allocate_posix *posix_memalign;
} real;

static void *take_early(size_t size) {
  char *at = early + early_used;
  early_used += (size + 63) / 64 * 64;
  return early_used <= sizeof early ? at : NULL;
}

/* ISO C cannot convert a data pointer to a function pointer. POSIX requires this way. */
static void find(void) {
  static bool looks;
  if (looks)
    return;
  looks = true;
  *(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
  *(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
  *(void **)&real.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  *(void **)&real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  *(void **)&real.malloc = dlsym(RTLD_NEXT, "malloc");
}

void *malloc(size_t size) {
  find();
  return fails() ? NULL : real.malloc ? real.malloc(size) : take_early(size);
}

void *calloc(size_t count, size_t size) {
  find();
  return fails() ? NULL : real.calloc ? real.calloc(count, size) : take_early(count * size);
}

void *realloc(void *block, size_t size) {
  find();
  return fails() ? NULL : real.realloc ? real.realloc(block, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
  find();
  return fails() ? NULL : real.aligned_alloc ? real.aligned_alloc(alignment, size) : NULL;
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  find();
  return fails() || !real.posix_memalign ? ENOMEM : real.posix_memalign(out, alignment, size);
}
