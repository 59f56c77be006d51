#include "base/affinity.h"

#include "base/source.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* The mask of a thread, or 0 for the caller's; NULL where it cannot be had. The kernel refuses one that is
 * shorter than its own. */
static cpu_set_t *read_mask(pid_t thread, size_t *size) {
  for (int processors = 1024; processors <= 1 << 20; processors *= 2) {
    cpu_set_t *mask = CPU_ALLOC(processors);
    if (!mask)
      return NULL;
    *size = CPU_ALLOC_SIZE(processors);
    if (sched_getaffinity(thread, *size, mask) == 0)
      return mask;
    const int failed = errno;
    CPU_FREE(mask);
    if (failed != EINVAL)
      return NULL;
  }
  return NULL;
}

/* The main thread has the process's number. Where it has gone, the caller's mask is all there is. */
static cpu_set_t *read_process(size_t *size) {
  size_t main_size;
  cpu_set_t *mask = read_mask(0, size), *mains = read_mask(getpid(), &main_size);
  if (mask && mains && main_size == *size)
    CPU_OR_S(*size, mask, mask, mains);
  if (mains)
    CPU_FREE(mains);
  return mask;
}

int tsl_affinity_count(void) {
  size_t size;
  cpu_set_t *mask = read_process(&size);
  if (mask) {
    const int count = CPU_COUNT_S(size, mask);
    CPU_FREE(mask);
    return count > 0 ? count : 1;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online < INT_MAX ? (int)online : 1;
}

uint64_t tsl_affinity_hash(void) {
  size_t size;
  cpu_set_t *mask = read_process(&size);
  if (!mask)
    return 0;
  const tsl_hash hash = tsl_hash_add(tsl_hash_start(), mask, size);
  CPU_FREE(mask);
  return hash.low;
}

void tsl_affinity_widen(void) {
  size_t size;
  cpu_set_t *mask = read_process(&size);
  if (!mask)
    return;
  (void)sched_setaffinity(0, size, mask); /* a request: bound is slower, and no less right */
  CPU_FREE(mask);
}
