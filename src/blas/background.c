/* Requests wait in a short queue; a request that finds it full is repeated by a later call. The process's end
 * waits until a driver or compiler has finished, because its library is unloaded with the process.
 *
 * exit() calls handlers from the newest to the oldest. A compiler registers its handlers late, above ours,
 * and destroys what it needs. But before all handlers exit() destroys the thread-local variables of its own
 * thread. So the main thread waits in such a destructor; without it there is no background thread. An exit()
 * in another thread waits in our handler, after the handlers of drivers loaded later. A compilation that
 * begins at that moment may be lost. */
#include "blas/background.h"

#include "api/fast_path.h"
#include "core/cancel.h"
#include "core/floats.h"
#include "core/fork_mutex.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/thread_string.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAITING = 32, REFUSED = 32, PATIENCE = 20 /* maximum wait in seconds at the end of the process */ };

typedef struct background_job {
  tsl_blas_race *race; /* NULL: the job plans the product below */
  tsl_blas_symbol *symbol;
  tsl_blas_routine routine;
  tesela_context *context;
  tesela_gemm_desc desc; /* its alpha and beta point to the two members below */
  double alpha[2], beta[2];
} background_job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
static pthread_cond_t is_idle = PTHREAD_COND_INITIALIZER;
static background_job queue[WAITING], refused[REFUSED], current;
static int queue_first, queue_count, refused_count;
static unsigned long long loads_seen; /* loaded libraries at our last atexit(); 0: none */
static bool thread_runs, job_runs, is_ending;
static bool uses_drivers; /* planning has begun, after which a child of a fork must not plan */

/* Held by the thread at work, so that a fork waits and the child gets no half-made driver state. */
static tsl_fork_mutex driver_mutex;
static pthread_once_t driver_mutex_once = PTHREAD_ONCE_INIT;
static void init_driver_mutex(void) {
  tsl_fork_mutex_init(&driver_mutex);
}

static background_job planning_job_of(tesela_context *context, const tesela_gemm_desc *desc) {
  background_job call = {.context = context, .desc = *desc};
  memcpy(call.alpha, desc->alpha, sizeof call.alpha);
  memcpy(call.beta, desc->beta, sizeof call.beta);
  call.desc.a.data = call.desc.b.data = call.desc.c.data = NULL;
  call.desc.alpha = call.desc.beta = NULL;
  return call;
}

static bool same_matrix_layout(const tesela_matrix *a, const tesela_matrix *b) {
  return a->type == b->type && a->row_stride == b->row_stride && a->col_stride == b->col_stride &&
         a->conjugate == b->conjugate;
}

static bool same_structures(const tesela_gemm_desc *p, const tesela_gemm_desc *q) {
  return p->structure.a == q->structure.a && p->structure.a_triangle == q->structure.a_triangle &&
         p->structure.b == q->structure.b && p->structure.b_triangle == q->structure.b_triangle &&
         p->structure.c == q->structure.c && p->structure.c_triangle == q->structure.c_triangle &&
         p->structure.in_place == q->structure.in_place;
}

static bool background_same(const background_job *a, const background_job *b) {
  const tesela_gemm_desc *p = &a->desc, *q = &b->desc;
  return a->race == b->race && a->symbol == b->symbol && a->context == b->context && p->m == q->m &&
         p->n == q->n && p->k == q->k && same_matrix_layout(&p->a, &q->a) &&
         same_matrix_layout(&p->b, &q->b) && p->c.type == q->c.type && p->c.row_stride == q->c.row_stride &&
         p->c.col_stride == q->c.col_stride && same_structures(p, q) &&
         memcmp(a->alpha, b->alpha, sizeof a->alpha) == 0 && memcmp(a->beta, b->beta, sizeof a->beta) == 0;
}

/* Forbids new jobs and waits for the current job, at most PATIENCE seconds. */
static void stop_planning(void) {
  struct timespec until;
  pthread_mutex_lock(&lock);
  is_ending = true;
  queue_count = 0;
  if (job_runs)
    tsl_log(TSL_LOG_PLAN, "the exit waits for planning to finish");
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  while (job_runs && pthread_cond_timedwait(&is_idle, &lock, &until) != ETIMEDOUT)
    ;
  pthread_mutex_unlock(&lock);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  (void)size;
  *(unsigned long long *)loads = info->dlpi_adds;
  return 1;
}

/* Registers stop_planning() to run before the handlers of all libraries loaded so far. Needs the lock. */
static void watch_end(void) {
  unsigned long long loads = 0;
  (void)dl_iterate_phdr(count_loads, &loads);
  if (is_ending || loads == loads_seen)
    return;
  loads_seen = loads;
  (void)atexit(stop_planning);
}

/* Calls destroy(object) at the end of the calling thread, or at exit() in this thread before all handlers.
 * Weak: not every C library has it. Source: Itanium C++ ABI, 3.3.5.3 and its note on threads; glibc 2.18. */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*)
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
// NOLINTEND(bugprone-reserved-identifier,cert-dcl*)

static void end_main_thread(void *unused) {
  (void)unused;
  stop_planning();
}
static atomic_bool main_is_watched;
__attribute__((constructor)) static void watch_main_thread(void) {
  if (__cxa_thread_atexit_impl && gettid() == getpid() && !atomic_exchange(&main_is_watched, true))
    (void)__cxa_thread_atexit_impl(end_main_thread, NULL, &__dso_handle);
}
/* Returns true if the process's end waits for the background thread; else callers plan themselves. */
static bool exit_waits(void) {
  watch_main_thread();
  return atomic_load(&main_is_watched);
}

__attribute__((destructor)) static void end_with_library(void) {
  stop_planning();
}

static void drivers_loaded(void) {
  pthread_mutex_lock(&lock);
  watch_end();
  pthread_mutex_unlock(&lock);
}

/* Decides the place of a call and prepares its device; a call without an answer is stored in `refused`. */
static void decide_place(const background_job *call) {
  tesela_gemm_desc desc = call->desc;
  desc.alpha = call->alpha;
  desc.beta = call->beta;
  bool elsewhere;
  tsl_api_prepare_elsewhere(call->context, &desc, drivers_loaded);
  const bool known = tsl_api_knows_elsewhere(call->context, &desc, &elsewhere);
  if (known && elsewhere)
    tsl_log(TSL_LOG_PLAN, "%lld x %lld x %lld goes to another device from now on", (long long)desc.m,
            (long long)desc.n, (long long)desc.k);
  if (known)
    return;
  tsl_log(TSL_LOG_PLAN, "%lld x %lld x %lld stays on the processor: %s", (long long)desc.m, (long long)desc.n,
          (long long)desc.k, tesela_last_error());
  pthread_mutex_lock(&lock);
  refused[refused_count++ % REFUSED] = *call;
  pthread_mutex_unlock(&lock);
}

/* Takes the next request. If there is none, returns false and marks the thread as ended. */
static bool background_dequeue(background_job *call) {
  pthread_mutex_lock(&lock);
  job_runs = queue_count > 0 && !is_ending;
  thread_runs = job_runs;
  if (job_runs) {
    *call = current = queue[queue_first];
    queue_first = (queue_first + 1) % WAITING;
    queue_count--;
  } else {
    pthread_cond_broadcast(&is_idle);
  }
  pthread_mutex_unlock(&lock);
  return thread_runs;
}

static void *background_work(void *unused) {
  TSL_DEFAULT_FLOATS; /* the application's environment is inherited */
  background_job call;
  (void)unused;
  while (background_dequeue(&call)) {
    tsl_fork_mutex_lock(&driver_mutex);
    if (call.race)
      call.race(call.symbol, call.routine);
    else
      decide_place(&call);
    tsl_fork_mutex_unlock(&driver_mutex);
    tsl_thread_texts_free();
  }
  return NULL;
}

/* Starts the thread with all signals blocked. Returns false on failure. Needs the lock. */
static bool background_start(void) {
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_once(&driver_mutex_once, init_driver_mutex);
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool good = pthread_create(&thread, &attributes, background_work, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return good;
}

static bool background_is_waiting(const background_job *call) {
  bool found = thread_runs && job_runs && background_same(&current, call);
  for (int i = 0; i < queue_count && !found; i++)
    found = background_same(&queue[(queue_first + i) % WAITING], call);
  return found;
}
static bool was_refused(const background_job *call) {
  bool found = false;
  for (int i = 0; i < REFUSED && i < refused_count && !found; i++)
    found = background_same(&refused[i], call);
  return found;
}

/* Returns true if the job waits or runs. */
static bool background_enqueue(const background_job *call) {
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  uses_drivers = uses_drivers || !call->race;
  if (!is_ending && queue_count < WAITING && !background_is_waiting(call) && !was_refused(call)) {
    queue[(queue_first + queue_count++) % WAITING] = *call;
    if (!thread_runs) {
      watch_end();
      thread_runs = background_start();
    }
    if (!thread_runs)
      queue_count = 0; /* no thread: a later call tries again */
  }
  const bool is_known = background_is_waiting(call);
  pthread_mutex_unlock(&lock);
  return is_known;
}

tsl_blas_place tsl_blas_async_placement(tesela_context *context, const tesela_gemm_desc *desc, int threads) {
  const bool is_alone = threads == 1 || tsl_pool_default_threads() == 1;
  bool elsewhere;
  if (!is_alone && tsl_api_knows_elsewhere(context, desc, &elsewhere))
    return elsewhere ? TSL_BLAS_ELSEWHERE : TSL_BLAS_HERE;
  if (is_alone || !exit_waits())
    return tsl_api_goes_elsewhere(context, desc) ? TSL_BLAS_ELSEWHERE : TSL_BLAS_HERE;
  const background_job call = planning_job_of(context, desc);
  (void)background_enqueue(&call);
  return TSL_BLAS_NOT_YET;
}

bool tsl_blas_race_later(tsl_blas_race *race, tsl_blas_symbol *symbol, tsl_blas_routine routine) {
  return exit_waits() &&
         background_enqueue(&(background_job){.race = race, .symbol = symbol, .routine = routine});
}

/* A driver at work in the parent lacks its threads in the child, and a wait for it would not end. */
void tsl_blas_forget_background(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&is_idle, NULL);
  is_ending = is_ending || uses_drivers;
  queue_first = queue_count = refused_count = 0;
  thread_runs = job_runs = false;
}
