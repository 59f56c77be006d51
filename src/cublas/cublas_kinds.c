#include "cublas/cublas_kinds.h"

#include "core/cancel.h"
#include "core/clock.h"
#include "core/log.h"
#include "cublas/cublas_describe.h"
#include "cublas/cublas_functions.h"
#include "cublas/cublas_route.h"
#include "interpose/background.h"
#include "interpose/contexts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A kind keeps its plan for good. */
enum { KINDS_MAX = 2048, CHAINS = 1024 };
/* Calls of a kind in a thread before its first search for the kind, and between searches. */
enum { CALLS_BEFORE = 2, CALLS_BETWEEN = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */
static tsl_cublas_kind *chains[CHAINS], *queue[KINDS_MAX];
static int kind_count, queue_first, queue_count;

/* Plans and races take turns, because drivers delay calls while a plan is made. After a plan, open races have
 * as long as the plan took before the next plan is begun. */
static atomic_bool makes_plan;
static atomic_int open_races;         /* kinds that are racing or comparing */
static _Atomic double races_turn_end; /* time of tsl_clock() */

static bool is_open(tsl_cublas_state state) {
  return state == TSL_CUBLAS_RACING || state == TSL_CUBLAS_COMPARING;
}
static bool is_turn_of_plans(void) {
  return atomic_load(&open_races) == 0 || tsl_clock() >= atomic_load(&races_turn_end);
}

static const char *const routine_names[] = {"gemm", "syrk", "herk", "symm", "hemm", "trmm", "trsm"};

/* Decides a kind. Logs the reason. */
static void decide_kind(tsl_cublas_kind *kind, tsl_cublas_state state, const char *why) {
  const tsl_cublas_key *key = &kind->key;
  tsl_log(TSL_LOG_PLAN, "cuBLAS's %s of %lld x %lld x %lld, type %d: %s, %s", routine_names[key->routine],
          (long long)key->size.m, (long long)key->size.n, (long long)key->size.k, (int)key->a_type,
          state == TSL_CUBLAS_OURS     ? "tesela"
          : state == TSL_CUBLAS_THEIRS ? "cuBLAS"
                                       : "both by turns",
          why);
  const int before = atomic_exchange_explicit(&kind->state, (int)state, memory_order_acq_rel);
  atomic_fetch_add(&open_races, (int)is_open(state) - (int)is_open((tsl_cublas_state)before));
}

/* Makes the plan of a kind. */
static void prepare(tsl_cublas_kind *kind) {
  kind->device = tsl_cublas_device_open(kind->key.device);
  tsl_background_watch_end(); /* drivers are loaded now */
  if (!kind->device || tsl_cublas_describe_plan(kind->device->context, &kind->key, kind->device->anchor,
                                                &kind->plan) != TESELA_OK) {
    decide_kind(kind, TSL_CUBLAS_THEIRS, tesela_last_error());
    return;
  }
  kind->workspace = tesela_plan_workspace(kind->plan);
  if (kind->workspace > kind->device->workspace_most)
    decide_kind(kind, TSL_CUBLAS_THEIRS, "tesela's workspace would be too large");
  else if (tsl_cublas_is_forced()) {
    kind->is_for_graphs = true;
    decide_kind(kind, TSL_CUBLAS_OURS, tesela_plan_describe(kind->plan));
  } else if (tsl_cublas_race_begin(&kind->race, kind->device))
    decide_kind(kind, TSL_CUBLAS_RACING, tesela_plan_describe(kind->plan));
  else
    decide_kind(kind, TSL_CUBLAS_THEIRS, tesela_last_error());
}

static void compare(tsl_cublas_kind *kind) {
  static const tsl_cublas_state next_states[] = {[TSL_CUBLAS_GO_ON] = TSL_CUBLAS_RACING,
                                                 [TSL_CUBLAS_WON] = TSL_CUBLAS_OURS,
                                                 [TSL_CUBLAS_LOST] = TSL_CUBLAS_THEIRS,
                                                 [TSL_CUBLAS_BROKEN] = TSL_CUBLAS_THEIRS};
  char text[128];
  const tsl_cublas_verdict verdict =
      tsl_cublas_race_compare(&kind->race, &kind->is_for_graphs, text, sizeof text);
  decide_kind(kind, next_states[verdict], verdict == TSL_CUBLAS_BROKEN ? tesela_last_error() : text);
}

static bool is_new(const tsl_cublas_kind *kind) {
  return atomic_load_explicit(&kind->state, memory_order_acquire) == TSL_CUBLAS_NEW;
}

/* Does the next piece of work on a kind: its plan, or the comparison of its times. */
static void advance_now(tsl_cublas_kind *kind) {
  const int mode = tsl_cublas_capture_mode(TSL_CAPTURE_RELAXED);
  if (is_new(kind)) {
    const double begin = tsl_clock();
    atomic_store(&makes_plan, true);
    prepare(kind);
    const double end = tsl_clock();
    atomic_store(&races_turn_end, end + (end - begin));
    atomic_store(&makes_plan, false);
  } else {
    compare(kind);
  }
  (void)tsl_cublas_capture_mode(mode);
}

/* Returns the kind whose work is next; NULL: none, or it is the races' turn. Needs the lock. */
static tsl_cublas_kind *take_next(void) {
  tsl_cublas_kind *kind = queue_count > 0 ? queue[queue_first] : NULL;
  if (!kind || (is_new(kind) && !is_turn_of_plans()))
    return NULL;
  queue_first = (queue_first + 1) % KINDS_MAX;
  queue_count--;
  return kind;
}

/* Goes on while there is work. */
static void advance_next(void) {
  pthread_mutex_lock(&lock);
  tsl_cublas_kind *kind = take_next();
  pthread_mutex_unlock(&lock);
  if (!kind)
    return;
  advance_now(kind);
  (void)tsl_background_add(advance_next);
}

bool tsl_cublas_kind_takes_calls(const tsl_cublas_kind *kind) {
  const int state = atomic_load_explicit(&kind->state, memory_order_relaxed);
  return state == TSL_CUBLAS_OURS ||
         (state == TSL_CUBLAS_RACING && !atomic_load_explicit(&makes_plan, memory_order_relaxed));
}

void tsl_cublas_kinds_resume(void) {
  TSL_NOT_CANCELLED;
  if (!atomic_load(&makes_plan) && is_turn_of_plans())
    (void)tsl_background_add(advance_next);
}

/* Returns false if there is no background thread. A kind is queued once at a time. Comparisons are short and
 * precede plans, which need compilers. Needs the lock. */
static bool enqueue(tsl_cublas_kind *kind, bool precedes) {
  if (queue_count == KINDS_MAX || !tsl_background_exit_waits() || !tsl_background_add(advance_next))
    return false;
  if (precedes)
    queue_first = (queue_first + KINDS_MAX - 1) % KINDS_MAX;
  queue[precedes ? queue_first : (queue_first + queue_count) % KINDS_MAX] = kind;
  queue_count++;
  return true;
}

static void advance_later(tsl_cublas_kind *kind) {
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  const bool is_queued = enqueue(kind, true);
  pthread_mutex_unlock(&lock);
  if (!is_queued)
    decide_kind(kind, TSL_CUBLAS_THEIRS, "there is no background thread");
}

bool tsl_cublas_kind_start(tsl_cublas_kind *kind, tsl_cublas_stream *stream, tsl_cublas_side *side) {
  if (atomic_load_explicit(&makes_plan, memory_order_relaxed))
    return false;
  if (atomic_flag_test_and_set_explicit(&kind->timing, memory_order_acquire))
    return false;
  const bool is_racing = atomic_load_explicit(&kind->state, memory_order_acquire) == TSL_CUBLAS_RACING;
  if (is_racing && tsl_cublas_race_start(&kind->race, stream, side))
    return true;
  if (is_racing)
    decide_kind(kind, TSL_CUBLAS_THEIRS, tesela_last_error());
  atomic_flag_clear_explicit(&kind->timing, memory_order_release);
  return false;
}

void tsl_cublas_kind_end(tsl_cublas_kind *kind, bool is_good) {
  if (!is_good || !tsl_cublas_race_end(&kind->race)) {
    decide_kind(kind, TSL_CUBLAS_THEIRS, is_good ? tesela_last_error() : "a call failed");
  } else if (tsl_cublas_race_is_due(&kind->race)) {
    atomic_store_explicit(&kind->state, TSL_CUBLAS_COMPARING, memory_order_release);
    advance_later(kind);
  }
  atomic_flag_clear_explicit(&kind->timing, memory_order_release);
}

/* Needs the lock. */
static tsl_cublas_kind *find_in_chain(const tsl_cublas_key *key, uint64_t hash) {
  tsl_cublas_kind *kind = chains[hash % CHAINS];
  while (kind && (kind->hash != hash || memcmp(&kind->key, key, sizeof *key) != 0))
    kind = kind->next;
  return kind;
}

/* Returns a kind that is new to the process; NULL: not now. Needs the lock. */
static tsl_cublas_kind *add_kind(const tsl_cublas_key *key, uint64_t hash) {
  tsl_cublas_kind *kind = kind_count < KINDS_MAX ? calloc(1, sizeof *kind) : NULL;
  if (!kind)
    return NULL;
  kind->key = *key;
  kind->hash = hash;
  atomic_flag_clear(&kind->timing);
  if (tsl_cublas_is_forced())
    advance_now(kind);
  else if (!enqueue(kind, false)) {
    free(kind);
    return NULL;
  }
  kind->next = chains[hash % CHAINS];
  chains[hash % CHAINS] = kind;
  kind_count++;
  return kind;
}

static __attribute__((noinline)) tsl_cublas_kind *find_or_add(const tsl_cublas_key *key, uint64_t hash,
                                                              const void *stream) {
  TSL_NOT_CANCELLED;
  const bool may_add = !tsl_cublas_is_forced() || !tsl_cublas_is_capturing(stream);
  pthread_mutex_lock(&lock);
  tsl_cublas_kind *kind = find_in_chain(key, hash);
  if (!kind && may_add)
    kind = add_kind(key, hash);
  pthread_mutex_unlock(&lock);
  return kind;
}

/* Returns the thread's entry of a kind; an unknown kind replaces the oldest entry of its set. */
static tsl_cublas_recent *find_recent(tsl_cublas_thread *thread, const tsl_cublas_key *key, uint64_t hash) {
  const unsigned set = (unsigned)(hash % TSL_CUBLAS_SETS);
  for (int way = 0; way < TSL_CUBLAS_WAYS; way++) {
    tsl_cublas_recent *recent = &thread->recent[set][way];
    if (recent->hash == hash && memcmp(&recent->key, key, sizeof *key) == 0)
      return recent;
  }
  tsl_cublas_recent *oldest = &thread->recent[set][thread->next_way[set]];
  thread->next_way[set] = (unsigned char)((thread->next_way[set] + 1) % TSL_CUBLAS_WAYS);
  *oldest = (tsl_cublas_recent){.key = *key, .hash = hash};
  return oldest;
}

tsl_cublas_kind *tsl_cublas_kind_find(tsl_cublas_thread *thread, const tsl_cublas_key *key,
                                      const void *stream) {
  const uint64_t hash = tsl_cublas_hash(key, sizeof *key);
  tsl_cublas_recent *recent = find_recent(thread, key, hash);
  if (recent->kind)
    return recent->kind;
  const unsigned before = recent->calls++;
  if (before % CALLS_BETWEEN == CALLS_BEFORE || tsl_cublas_is_forced())
    recent->kind = find_or_add(key, hash, stream);
  return recent->kind;
}

/* The plans are the parent's; a driver at work in the parent lacks its threads here. */
static void forget(void) {
  pthread_mutex_init(&lock, NULL);
  tsl_background_forget(kind_count > 0);
  tsl_interpose_forget_contexts();
  tsl_cublas_queue_forget();
  tsl_cublas_thread_forget();
  memset(chains, 0, sizeof chains);
  kind_count = queue_first = queue_count = 0;
  atomic_store(&makes_plan, false);
  atomic_store(&open_races, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, forget);
}
