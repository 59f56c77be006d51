#include "interpose/contexts.h"

#include "core/cancel.h"
#include "core/env.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct context_entry {
  int threads; /* 0: all threads of the device */
  tesela_context *context;
  struct context_entry *older;
} context_entry;

static _Atomic(context_entry *) newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a context is made */

static tesela_context *contexts_create(int threads) {
  static atomic_flag was_reported = ATOMIC_FLAG_INIT;
  const char *requested = tsl_env_get_or_null(TSL_ENV_DEVICE);
  /* BLAS programs have many small matrices, and only the user knows a process's device among several. */
  const char *device = requested ? requested : "cpu";
  tesela_context *context = NULL;
  const tesela_status status =
      tesela_context_create(&(tesela_context_desc){.device = device, .threads = threads}, &context);
  if (status == TESELA_OK || status == TESELA_OUT_OF_MEMORY)
    return context;
  if (!atomic_flag_test_and_set(&was_reported))
    fprintf(stderr, "tesela: %s; the cpu is used\n", tesela_last_error());
  (void)tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context);
  return context;
}

static const context_entry *contexts_find(int threads) {
  const context_entry *entry = atomic_load_explicit(&newest, memory_order_acquire);
  while (entry && entry->threads != threads)
    entry = entry->older;
  return entry;
}

/* Makes and publishes a context; NULL: no memory. Needs the lock. */
static const context_entry *contexts_make(int threads) {
  context_entry *entry = malloc(sizeof *entry);
  tesela_context *context = entry ? contexts_create(threads) : NULL;
  if (!context) {
    free(entry);
    return NULL;
  }
  *entry = (context_entry){threads, context, atomic_load_explicit(&newest, memory_order_relaxed)};
  atomic_store_explicit(&newest, entry, memory_order_release);
  return entry;
}

tesela_context *tsl_interpose_context(int threads) {
  const context_entry *entry = contexts_find(threads);
  if (!entry) {
    TSL_NOT_CANCELLED;
    pthread_mutex_lock(&lock);
    entry = contexts_find(threads);
    if (!entry)
      entry = contexts_make(threads);
    pthread_mutex_unlock(&lock);
  }
  return entry ? entry->context : NULL;
}

void tsl_interpose_forget_contexts(void) {
  pthread_mutex_init(&lock, NULL);
  atomic_store(&newest, NULL);
}
