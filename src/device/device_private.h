#ifndef TSL_DEVICE_DEVICE_PRIVATE_H
#define TSL_DEVICE_DEVICE_PRIVATE_H

#include <pthread.h>

#include "core/fork_mutex.h"
#include "device/device.h"

typedef struct tsl_jit_module_entry tsl_jit_module_entry;
typedef struct tsl_self_test_entry tsl_self_test_entry;

/* Pool of unused device memory (device/memory_pool.h), the most recently freed buffer first. */
enum { TSL_POOLED_BUFFERS_MAX = 24 };
typedef struct tsl_buffer_pool {
  pthread_mutex_t lock;
  tsl_buffer *buffers[TSL_POOLED_BUFFERS_MAX];
  int count;
  uint64_t total_bytes;
} tsl_buffer_pool;

/* Private data; every tsl_device is the first member of a slot. */
typedef struct tsl_device_slot {
  tsl_device device;
  const tsl_device_kind *kind;
  tsl_fork_mutex open_lock;
  bool is_open;
  pthread_mutex_t jit_lock; /* protects the two lists below */
  pthread_cond_t jit_done;  /* signals the end of a build in the list */
  tsl_jit_module_entry *jit_modules;
  tsl_self_test_entry *self_tests;
  pthread_mutex_t staging_lock;
  struct tsl_staging *staging; /* released stagings, protected by staging_lock */
  tsl_buffer_pool pool;
} tsl_device_slot;

static inline tsl_device_slot *tsl_device_slot_of(tsl_device *device) {
  return (tsl_device_slot *)device;
}

#endif
