#include "cublas/cublas_thread.h"

#include "core/memory.h"

#include <pthread.h>
#include <stdbool.h>
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
