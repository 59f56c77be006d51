/* What devices.c and the kernel cache keep beside a device. Nothing outside src/device includes this. */
#ifndef TSL_DEVICE_DEVICE_PRIVATE_H
#define TSL_DEVICE_DEVICE_PRIVATE_H

#include <pthread.h>

#include "base/fork_mutex.h"
#include "device/device.h"

typedef struct tsl_jit_module_entry tsl_jit_module_entry;
typedef struct tsl_self_test_entry tsl_self_test_entry;

/* Memory that nobody uses (device/memory_pool.h): what was given back last comes first. */
enum { TSL_KEPT_MOST = 24 };
typedef struct tsl_kept {
  pthread_mutex_t lock;
  tsl_buffer *buffers[TSL_KEPT_MOST];
  int count;
  uint64_t bytes;
} tsl_kept;

/* Every tsl_device that the rest of tesela sees is the first member of one of these. */
typedef struct tsl_device_slot {
  tsl_device device;
  const tsl_device_kind *kind;
  tsl_fork_mutex open_lock; /* held while the device opens */
  bool is_open;
  pthread_mutex_t jit_lock; /* of the lists below */
  pthread_cond_t jit_done;  /* a build of the list came to its end */
  tsl_jit_module_entry *jit_modules;
  tsl_self_test_entry *self_tests;
  pthread_mutex_t staging_lock;
  struct tsl_staging *staging; /* what runs gave back (device/staging.h), under its lock */
  tsl_kept kept;
} tsl_device_slot;

static inline tsl_device_slot *tsl_device_slot_of(tsl_device *device) {
  return (tsl_device_slot *)device;
}

#endif
