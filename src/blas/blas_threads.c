#include "blas/blas_threads.h"

#include "blas/blas_thread_limit.h"
#include "core/pool.h"
#include "core/thread_limit.h"

#include <tesela/blas.h>

static atomic_int requested; /* tesela_set_num_threads(); 0: not set */
/* Processors or TESELA_THREADS, and the part that the environment allows; 0: not read yet. */
static atomic_int max_threads, allowed;

/* Concurrent first reads agree. */
static int max_threads_now(void) {
  int count = atomic_load_explicit(&max_threads, memory_order_relaxed);
  if (count == 0) {
    count = tsl_pool_default_threads();
    atomic_store_explicit(&max_threads, count, memory_order_relaxed);
  }
  return count;
}

static int allowed_now(void) {
  int count = atomic_load_explicit(&allowed, memory_order_relaxed);
  if (count == 0) {
    count = tsl_thread_limit_from_env(max_threads_now());
    atomic_store_explicit(&allowed, count, memory_order_relaxed);
  }
  return count;
}

void tsl_blas_forget_threads(void) {
  atomic_store(&max_threads, 0);
  atomic_store(&allowed, 0);
}

static int threads_now(void) {
  const int wanted = atomic_load_explicit(&requested, memory_order_relaxed);
  return wanted > 0 ? wanted : tsl_blas_followed(allowed_now());
}

/* Returns true within an OpenMP parallel region. */
static bool is_in_parallel(void) {
  static tsl_lazy_symbol late;
  typedef int in_parallel(void);
  tsl_next_function *function =
      tsl_interpose_is_due(&late) ? tsl_interpose_program(&late, "omp_in_parallel") : NULL;
  return function && ((in_parallel *)function)() != 0;
}

int tsl_blas_threads(void) {
  if (is_in_parallel())
    return 1;
  const int count = threads_now();
  return count < max_threads_now() ? count : 0;
}

void tesela_set_num_threads(int threads) {
  const int at_most = max_threads_now();
  atomic_store_explicit(&requested,
                        threads < 1         ? 0
                        : threads < at_most ? threads
                                            : at_most,
                        memory_order_relaxed);
}

int tesela_get_num_threads(void) {
  return threads_now();
}
