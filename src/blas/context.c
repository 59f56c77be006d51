/* The process's one context, and calls on it. */
#include "blas/blas.h"

#include "base/env.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tesela_context *_Atomic context;

static void create(void) {
  const char *device = tsl_env_get(TSL_ENV_DEVICE);
  tesela_context *made = NULL;
  /* "auto" is the variable's default; a program's matrices are small and many, and stay on the host. */
  if (strcmp(device, "auto") == 0)
    device = "cpu";
  if (tesela_context_create(&(tesela_context_desc){.device = device}, &made) != TESELA_OK) {
    fprintf(stderr, "tesela: %s; the cpu is used\n", tesela_last_error());
    if (tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &made) != TESELA_OK)
      made = NULL;
  }
  atomic_store(&context, made);
  tsl_blas_set_instant(made);
}

/* The parent's context may have been locked by a thread that the child does not have: it is left alone. */
static void start_again(void) {
  tsl_blas_forget_calls();
  create();
}

static void set_up(void) {
  create();
  pthread_atfork(NULL, NULL, start_again);
}

tesela_context *tsl_blas_context(void) {
  pthread_once(&once, set_up);
  return atomic_load_explicit(&context, memory_order_acquire);
}

bool tsl_blas_in_parallel(void) {
  static tsl_blas_late late;
  typedef int in_parallel(void);
  tsl_blas_function *function = tsl_blas_find(&late, "omp_in_parallel", true);
  return function && ((in_parallel *)function)() != 0;
}

/* One call of either operation. */
typedef struct job {
  int op;
  const void *desc;
  const tesela_batch *batch; /* of products, or NULL */
  tesela_record *record;
  tesela_status status;
} job;

static void run_job(void *argument, int64_t index, int worker) {
  job *now = argument;
  tesela_context *on = tsl_blas_context();
  (void)index;
  (void)worker;
  if (!on)
    now->status = TESELA_OUT_OF_MEMORY;
  else if (now->batch)
    now->status = tesela_gemm_batched(on, now->desc, now->batch, now->record);
  else if (now->op == TSL_BLAS_GEMM)
    now->status = tesela_gemm(on, now->desc, now->record);
  else if (now->op == TSL_BLAS_DOT)
    now->status = tesela_dot(on, now->desc, now->record);
  else
    now->status = tesela_transpose(on, now->desc, now->record);
}

/* Inside of a pool's task, tesela's own threads are not used: that is how a call is kept to one thread. */
static tesela_status run(int op, const void *desc, const tesela_batch *batch, tesela_record *record) {
  job now = {.op = op, .desc = desc, .batch = batch, .record = record, .status = TESELA_OK};
  if (tsl_blas_in_parallel())
    tsl_pool_run(tsl_pool_shared(), 1, run_job, &now);
  else
    run_job(&now, 0, 0);
  return now.status;
}

tesela_status tsl_blas_run_gemm(const tesela_gemm_desc *desc, tesela_record *record) {
  return run(TSL_BLAS_GEMM, desc, NULL, record);
}
tesela_status tsl_blas_run_batch(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                 tesela_record *record) {
  return run(TSL_BLAS_GEMM, desc, batch, record);
}
tesela_status tsl_blas_run_dot(const tesela_dot_desc *desc, tesela_record *record) {
  return run(TSL_BLAS_DOT, desc, NULL, record);
}
tesela_status tsl_blas_run_transpose(const tesela_transpose_desc *desc, tesela_record *record) {
  return run(TSL_BLAS_TRANSPOSE, desc, NULL, record);
}

/* --- what has no strategy --- */

enum { TYPES = TESELA_C128 + 1 };
static atomic_bool lacking[TSL_BLAS_OPS][TYPES][TYPES];

bool tsl_blas_lacks(int op, tesela_type type, tesela_type result) {
  return atomic_load_explicit(&lacking[op][type][result], memory_order_relaxed);
}
void tsl_blas_note_lack(int op, tesela_type type, tesela_type result) {
  atomic_store_explicit(&lacking[op][type][result], true, memory_order_relaxed);
}
