#include "core/affinity.h"

#include "core/hash.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

/* Returns a thread's mask of *size bytes (0: the caller's), for CPU_FREE(); NULL: unavailable. The loop is
 * needed because the kernel refuses a mask shorter than its own. */
static cpu_set_t *read_thread_mask(pid_t thread, size_t *size) {
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

/* Returns the union of the main thread's mask and the caller's, for CPU_FREE(); NULL: unavailable. */
static cpu_set_t *read_process_mask(size_t *size) {
  size_t main_size;
  cpu_set_t *mask = read_thread_mask(0, size), *main_mask = read_thread_mask(getpid(), &main_size);
  if (mask && main_mask && main_size == *size)
    CPU_OR_S(*size, mask, mask, main_mask);
  if (main_mask)
    CPU_FREE(main_mask);
  return mask;
}

int tsl_affinity_count(void) {
  size_t size;
  cpu_set_t *mask = read_process_mask(&size);
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
  cpu_set_t *mask = read_process_mask(&size);
  if (!mask)
    return 0;
  const tsl_hash hash = tsl_hash_add(tsl_hash_start(), mask, size);
  CPU_FREE(mask);
  return hash.low;
}

void tsl_affinity_use_whole_process(void) {
  size_t size;
  cpu_set_t *mask = read_process_mask(&size);
  if (!mask)
    return;
  (void)sched_setaffinity(0, size, mask); /* a failure only makes a bound thread slower */
  CPU_FREE(mask);
}
