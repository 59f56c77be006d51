#include "scalapack/scalapack_context.h"

#include "core/cancel.h"
#include "core/env.h"
#include "core/pool.h"
#include "core/thread_limit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Never freed: there are one or two. */
typedef struct scalapack_context_entry {
  int threads;
  tesela_context *context;
  struct scalapack_context_entry *older;
} scalapack_context_entry;

static scalapack_context_entry *newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tesela_context *scalapack_context_create(int threads) {
  const char *requested = tsl_env_get_or_null(TSL_ENV_DEVICE);
  /* Only the user knows a process's device, so the default is the CPU. */
  const char *device = requested ? requested : "cpu";
  tesela_context *context = NULL;
  const tesela_status status =
      tesela_context_create(&(tesela_context_desc){.device = device, .threads = threads}, &context);
  if (status == TESELA_OK || status == TESELA_OUT_OF_MEMORY)
    return context;
  fprintf(stderr, "tesela: %s; the cpu is used\n", tesela_last_error());
  (void)tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context);
  return context;
}

/* Returns the context for `threads` threads, kept for good; NULL on failure. Needs the lock. */
static tesela_context *find_or_make_context(int threads) {
  for (const scalapack_context_entry *entry = newest; entry; entry = entry->older)
    if (entry->threads == threads)
      return entry->context;
  scalapack_context_entry *entry = malloc(sizeof *entry);
  tesela_context *context = entry ? scalapack_context_create(threads) : NULL;
  if (!context) {
    free(entry);
    return NULL;
  }
  *entry = (scalapack_context_entry){threads, context, newest};
  newest = entry;
  return entry->context;
}

/* Returns the threads of one of `sharing` processes; TESELA_THREADS counts per process. */
static int scalapack_context_threads(int sharing) {
  const int all = tsl_pool_default_threads();
  if (tsl_env_get_or_null(TSL_ENV_THREADS))
    return all;
  const int own = all / sharing;
  return tsl_thread_limit_from_env(own > 1 ? own : 1);
}

tesela_context *tsl_scalapack_context(int sharing) {
  const int threads = scalapack_context_threads(sharing);
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  tesela_context *context = find_or_make_context(threads);
  pthread_mutex_unlock(&lock);
  return context;
}
