#include "cublas/cublas_thread.h"

#include "core/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_key_t key;
static bool has_key;

static void end_thread(void *argument) {
  tsl_cublas_thread *thread = argument;
  for (int i = 0; i < TSL_CUBLAS_WRAPPED; i++)
    tesela_buffer_destroy(thread->wrapped[i].buffer);
  free(thread);
}

__attribute__((constructor)) static void make_key(void) {
  has_key = pthread_key_create(&key, end_thread) == 0;
}

tsl_cublas_thread *tsl_cublas_thread_get(void) {
  tsl_cublas_thread *thread = has_key ? pthread_getspecific(key) : NULL;
  if (thread || !has_key)
    return thread;
  thread = calloc(1, sizeof *thread);
  if (thread && pthread_setspecific(key, thread) != 0) {
    free(thread);
    thread = NULL;
  }
  return thread;
}

void tsl_cublas_thread_forget(void) {
  tsl_cublas_thread *thread = has_key ? pthread_getspecific(key) : NULL;
  if (thread)
    *thread = (tsl_cublas_thread){.forwarding = thread->forwarding};
}

tesela_buffer *tsl_cublas_thread_wrap(tsl_cublas_thread *thread, tesela_context *context,
                                      const char *device_name, int device, const void *memory, size_t bytes) {
  for (int i = 0; i < TSL_CUBLAS_WRAPPED; i++) {
    const tsl_cublas_wrapped *known = &thread->wrapped[i];
    if (known->buffer && known->memory == memory && known->bytes == bytes && known->device == device)
      return known->buffer;
  }
  tsl_cublas_wrapped *slot = &thread->wrapped[thread->next_wrapped];
  thread->next_wrapped = (thread->next_wrapped + 1) % TSL_CUBLAS_WRAPPED;
  tesela_buffer_destroy(slot->buffer);
  *slot = (tsl_cublas_wrapped){.memory = memory, .bytes = bytes, .device = device};
  (void)tesela_buffer_wrap(context, device_name, tsl_writable(memory), bytes, &slot->buffer);
  return slot->buffer;
}

enum { HANDLES = 256 };

/* A handle is used by one thread at a time, so its members change only between its calls. */
typedef struct handle_workspace {
  _Atomic(const void *) handle; /* NULL: free */
  _Atomic(const void *) memory;
  atomic_size_t bytes;
} handle_workspace;

static handle_workspace table[HANDLES]; /* by the hash of the handle, then the next place; never freed */

/* Returns a handle's place; NULL: it has none. */
static handle_workspace *find_place(const void *handle, int adds) {
  const unsigned first = (unsigned)((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 56);
  for (unsigned i = 0; i < HANDLES; i++) {
    handle_workspace *place = &table[(first + i) % HANDLES];
    const void *known = atomic_load_explicit(&place->handle, memory_order_acquire);
    if (!known && adds)
      (void)atomic_compare_exchange_strong(&place->handle, &known, handle);
    known = atomic_load_explicit(&place->handle, memory_order_acquire);
    if (known == handle)
      return place;
    if (!known)
      return NULL;
  }
  return NULL;
}

void tsl_cublas_workspace_set(const void *handle, const void *memory, size_t bytes) {
  handle_workspace *place = find_place(handle, bytes > 0);
  if (!place)
    return;
  atomic_store_explicit(&place->memory, memory, memory_order_relaxed);
  atomic_store_explicit(&place->bytes, memory ? bytes : 0, memory_order_relaxed);
}

const void *tsl_cublas_workspace_get(const void *handle, size_t *bytes) {
  const handle_workspace *place = find_place(handle, 0);
  *bytes = place ? atomic_load_explicit(&place->bytes, memory_order_relaxed) : 0;
  return *bytes > 0 ? atomic_load_explicit(&place->memory, memory_order_relaxed) : NULL;
}
