/* Requests wait in a short queue; a request that finds it full is repeated by a later call. */
#include "blas/background.h"

#include "api/fast_path.h"
#include "core/cancel.h"
#include "core/log.h"
#include "core/pool.h"
#include "interpose/background.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { WAITING = 32, REFUSED = 32 };

typedef struct background_job {
  tsl_blas_race *race; /* NULL: the job plans the product below */
  tsl_blas_symbol *symbol;
  tsl_blas_routine routine;
  tesela_context *context;
  tesela_gemm_desc desc; /* its alpha and beta point to the two members below */
  double alpha[2], beta[2];
} background_job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
static background_job queue[WAITING], refused[REFUSED], current;
static int queue_first, queue_count, refused_count;
static bool job_runs;
static bool uses_drivers; /* planning has begun, after which a child of a fork must not plan */

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

/* Decides the place of a call and prepares its device; a call without an answer is stored in `refused`. */
static void decide_place(const background_job *call) {
  tesela_gemm_desc desc = call->desc;
  desc.alpha = call->alpha;
  desc.beta = call->beta;
  bool elsewhere;
  tsl_api_prepare_elsewhere(call->context, &desc, tsl_background_watch_end);
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

/* Takes the next request as `current`, which only this thread changes; false: there is none. */
static bool background_dequeue(void) {
  pthread_mutex_lock(&lock);
  job_runs = queue_count > 0;
  const bool has_job = job_runs;
  if (has_job) {
    current = queue[queue_first];
    queue_first = (queue_first + 1) % WAITING;
    queue_count--;
  }
  pthread_mutex_unlock(&lock);
  return has_job;
}

static void do_next_job(void) {
  if (!background_dequeue())
    return;
  if (current.race)
    current.race(current.symbol, current.routine);
  else
    decide_place(&current);
  pthread_mutex_lock(&lock);
  job_runs = false;
  pthread_mutex_unlock(&lock);
}

static bool background_is_waiting(const background_job *call) {
  bool found = job_runs && background_same(&current, call);
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
  if (queue_count < WAITING && !background_is_waiting(call) && !was_refused(call)) {
    queue[(queue_first + queue_count++) % WAITING] = *call;
    if (!tsl_background_add(do_next_job))
      queue_count = 0;
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
  if (is_alone || !tsl_background_exit_waits())
    return tsl_api_goes_elsewhere(context, desc) ? TSL_BLAS_ELSEWHERE : TSL_BLAS_HERE;
  const background_job call = planning_job_of(context, desc);
  (void)background_enqueue(&call);
  return TSL_BLAS_NOT_YET;
}

bool tsl_blas_race_later(tsl_blas_race *race, tsl_blas_symbol *symbol, tsl_blas_routine routine) {
  return tsl_background_exit_waits() &&
         background_enqueue(&(background_job){.race = race, .symbol = symbol, .routine = routine});
}

void tsl_blas_forget_background(void) {
  pthread_mutex_init(&lock, NULL);
  tsl_background_forget(uses_drivers);
  queue_first = queue_count = refused_count = 0;
  job_runs = false;
}
