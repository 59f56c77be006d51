#include "blas/blas_context.h"

#include "blas/blas_arguments.h"
#include "blas/blas_threads.h"
#include "blas/call_log.h"
#include "core/cancel.h"
#include "core/env.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Context, never freed, because calls may still use it. */
typedef struct blas_context_entry {
  int threads; /* 0: all threads of the device */
  tesela_context *context;
  struct blas_context_entry *older;
} blas_context_entry;

static _Atomic(blas_context_entry *) newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a context is made */

static tesela_context *blas_context_create(int threads) {
  static atomic_flag was_told = ATOMIC_FLAG_INIT;
  const char *requested = tsl_env_get_or_null(TSL_ENV_DEVICE);
  /* BLAS programs have many small matrices: the CPU, unless requested otherwise. */
  const char *device = requested ? requested : "cpu";
  tesela_context *context = NULL;
  const tesela_status status =
      tesela_context_create(&(tesela_context_desc){.device = device, .threads = threads}, &context);
  if (status == TESELA_OK || status == TESELA_OUT_OF_MEMORY)
    return context;
  if (!atomic_flag_test_and_set(&was_told))
    fprintf(stderr, "tesela: %s; the cpu is used\n", tesela_last_error());
  (void)tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context);
  return context;
}

/* The cpu of the first context, never freed. The child of a fork uses its parent's; it needs no lock. */
static _Atomic(const tsl_device *) cpu;
static atomic_bool cpu_is_known;

/* Publishes the cpu, unless memory runs out. Needs the lock. */
static void blas_context_offer(tesela_context *context) {
  const tsl_device *device;
  if (tsl_api_cpu(context, &device) == TESELA_OUT_OF_MEMORY)
    return;
  atomic_store_explicit(&cpu, device, memory_order_relaxed);
  atomic_store_explicit(&cpu_is_known, true, memory_order_release);
}

static const blas_context_entry *blas_context_find(int threads) {
  const blas_context_entry *entry = atomic_load_explicit(&newest, memory_order_acquire);
  while (entry && entry->threads != threads)
    entry = entry->older;
  return entry;
}

/* Makes and publishes a context; NULL: no memory. Needs the lock. */
static const blas_context_entry *blas_context_make(int threads) {
  blas_context_entry *entry = malloc(sizeof *entry);
  tesela_context *context = entry ? blas_context_create(threads) : NULL;
  if (!context) {
    free(entry);
    return NULL;
  }
  *entry = (blas_context_entry){threads, context, atomic_load_explicit(&newest, memory_order_relaxed)};
  atomic_store_explicit(&newest, entry, memory_order_release);
  if (!entry->older)
    blas_context_offer(entry->context);
  return entry;
}

/* Returns the context with at most `threads` threads (0: all); NULL: the next call tries again. */
static tesela_context *context_of(int threads) {
  const blas_context_entry *entry = blas_context_find(threads);
  if (!entry) {
    TSL_NOT_CANCELLED;
    pthread_mutex_lock(&lock);
    entry = blas_context_find(threads);
    if (!entry)
      entry = blas_context_make(threads);
    pthread_mutex_unlock(&lock);
  }
  return entry ? entry->context : NULL;
}

const tsl_device *tsl_blas_cpu(void) {
  if (!atomic_load_explicit(&cpu_is_known, memory_order_acquire)) {
    tesela_context *context = context_of(0);
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&cpu_is_known, memory_order_acquire) && context)
      blas_context_offer(context);
    pthread_mutex_unlock(&lock);
  }
  return atomic_load_explicit(&cpu, memory_order_relaxed);
}

/* Drops the parent's contexts in the child of a fork: a missing thread may hold their locks. */
static void blas_context_forget(void) {
  pthread_mutex_init(&lock, NULL);
  atomic_store(&newest, NULL);
  tsl_blas_forget_threads();
  tsl_blas_forget_calls();
  tsl_blas_forget_background();
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, blas_context_forget);
}

static tesela_context *context_now(void) {
  return context_of(tsl_blas_threads());
}

tesela_status tsl_blas_run_gemm(const tesela_gemm_desc *desc, tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_gemm(on, desc, record) : TESELA_OUT_OF_MEMORY;
}
tesela_status tsl_blas_run_batch(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                 tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_gemm_batched(on, desc, batch, record) : TESELA_OUT_OF_MEMORY;
}
tesela_status tsl_blas_run_grouped(const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                                   tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_gemm_grouped(on, descs, batches, count, record) : TESELA_OUT_OF_MEMORY;
}
tesela_status tsl_blas_run_dot(const tesela_dot_desc *desc, tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_dot(on, desc, record) : TESELA_OUT_OF_MEMORY;
}
tesela_status tsl_blas_run_solve(const tesela_solve_desc *desc, tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_solve(on, desc, record) : TESELA_OUT_OF_MEMORY;
}
tesela_status tsl_blas_run_transpose(const tesela_transpose_desc *desc, tesela_record *record) {
  tesela_context *on = context_now();
  return on ? tesela_transpose(on, desc, record) : TESELA_OUT_OF_MEMORY;
}

tsl_blas_place tsl_blas_place_of(const tesela_gemm_desc *desc) {
  const int threads = tsl_blas_threads();
  tesela_context *on = context_of(threads);
  return on ? tsl_blas_async_placement(on, desc, threads) : TSL_BLAS_HERE;
}

enum { TYPES = TESELA_C128 + 1 };
static atomic_bool lacking[TSL_BLAS_OPS][TYPES][TYPES];

bool tsl_blas_lacks(int op, tesela_type type, tesela_type result) {
  return atomic_load_explicit(&lacking[op][type][result], memory_order_relaxed);
}
void tsl_blas_mark_unsupported(int op, tesela_type type, tesela_type result) {
  atomic_store_explicit(&lacking[op][type][result], true, memory_order_relaxed);
}
