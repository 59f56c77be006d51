#include "core/fork_mutex.h"

#include "core/clock.h"
#include "core/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static const double time_limit = 1;

/* Protects the list. A thread that holds a guard may lock the list, never the other way round. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static tsl_fork_mutex *guards;

static _Thread_local char thread_marker;    /* its address identifies the thread */
static _Thread_local bool holds_all_guards; /* true between the handlers of this thread's fork */

static bool is_held_by_this_thread(const tsl_fork_mutex *guard) {
  return atomic_load_explicit(&guard->owner, memory_order_relaxed) == &thread_marker;
}

/* Unlocks the list and the guards in front of `end`, but not those locked by this thread before the fork. */
static void unlock_guards_before(const tsl_fork_mutex *end) {
  for (tsl_fork_mutex *guard = guards; guard != end; guard = guard->next)
    if (!is_held_by_this_thread(guard))
      pthread_mutex_unlock(&guard->mutex);
  pthread_mutex_unlock(&list_lock);
}

/* Locks all guards without waiting; false: one was taken, none is locked. */
static bool try_lock_all_guards(void) {
  pthread_mutex_lock(&list_lock);
  for (tsl_fork_mutex *guard = guards; guard; guard = guard->next)
    if (!is_held_by_this_thread(guard) && pthread_mutex_trylock(&guard->mutex) != 0) {
      unlock_guards_before(guard);
      return false;
    }
  return true;
}

static void lock_guards_before_fork(void) {
  const double end = tsl_clock() + time_limit;
  while (!(holds_all_guards = try_lock_all_guards()) && tsl_clock() < end)
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void unlock_guards_after_fork(void) {
  if (holds_all_guards)
    unlock_guards_before(NULL);
  holds_all_guards = false;
}

/* Registers the pools' fork handlers first, since handlers before a fork run in reverse order. The pools'
 * handler waits for a lock that a thread may need while it holds a guard, so it must run last. */
static void register_fork_handlers(void) {
  tsl_pool_register_fork_handlers();
  pthread_atfork(lock_guards_before_fork, unlock_guards_after_fork, unlock_guards_after_fork);
}

void tsl_fork_mutex_init(tsl_fork_mutex *guard) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork_handlers);
  pthread_mutex_init(&guard->mutex, NULL);
  atomic_init(&guard->owner, NULL);
  pthread_mutex_lock(&list_lock);
  guard->previous = NULL;
  guard->next = guards;
  if (guards)
    guards->previous = guard;
  guards = guard;
  pthread_mutex_unlock(&list_lock);
}

void tsl_fork_mutex_destroy(tsl_fork_mutex *guard) {
  pthread_mutex_lock(&list_lock);
  if (guard->next)
    guard->next->previous = guard->previous;
  if (guard->previous)
    guard->previous->next = guard->next;
  else
    guards = guard->next;
  pthread_mutex_unlock(&list_lock);
  pthread_mutex_destroy(&guard->mutex);
}

void tsl_fork_mutex_lock(tsl_fork_mutex *guard) {
  pthread_mutex_lock(&guard->mutex);
  atomic_store_explicit(&guard->owner, &thread_marker, memory_order_relaxed);
}

void tsl_fork_mutex_unlock(tsl_fork_mutex *guard) {
  atomic_store_explicit(&guard->owner, NULL, memory_order_relaxed);
  pthread_mutex_unlock(&guard->mutex);
}
