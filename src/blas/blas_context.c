#include "blas/blas_context.h"

#include "blas/blas_arguments.h"
#include "blas/blas_threads.h"
#include "core/cancel.h"
#include "interpose/contexts.h"

#include <pthread.h>
#include <stdatomic.h>

/* The cpu of the first context, never freed. The child of a fork uses its parent's; it needs no lock. */
static _Atomic(const tsl_device *) cpu;
static atomic_bool cpu_is_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the cpu is published */

/* Publishes the cpu of the first context, unless memory runs out. */
static void blas_context_offer(tesela_context *context) {
  const tsl_device *device;
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  if (!atomic_load_explicit(&cpu_is_known, memory_order_relaxed) &&
      tsl_api_cpu(context, &device) != TESELA_OUT_OF_MEMORY) {
    atomic_store_explicit(&cpu, device, memory_order_relaxed);
    atomic_store_explicit(&cpu_is_known, true, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
}

/* Returns the context with at most `threads` threads (0: all); NULL: the next call tries again. */
static tesela_context *context_of(int threads) {
  tesela_context *context = tsl_interpose_context(threads);
  if (context && !atomic_load_explicit(&cpu_is_known, memory_order_acquire))
    blas_context_offer(context);
  return context;
}

const tsl_device *tsl_blas_cpu(void) {
  if (!atomic_load_explicit(&cpu_is_known, memory_order_acquire))
    (void)context_of(0);
  return atomic_load_explicit(&cpu, memory_order_relaxed);
}

/* A missing thread may hold locks in the child of a fork. */
static void blas_context_forget(void) {
  pthread_mutex_init(&lock, NULL);
  tsl_interpose_forget_contexts();
  tsl_blas_forget_threads();
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
