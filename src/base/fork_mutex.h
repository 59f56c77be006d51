/* Mutexes that survive a fork. The child of a fork has one thread, the one that forked: a mutex that another
 * thread held at that moment stays locked there for ever, around data that were half changed. A fork waits
 * until no other thread holds a guard, and takes all of them across: in the child they are free and what they
 * guard is whole.
 *
 * A fork waits at most for a second, so that a driver's thread that forks while one of ours waits for it
 * under a guard ends nobody's program; then the child is as it would have been without. */
#ifndef TSL_BASE_FORK_MUTEX_H
#define TSL_BASE_FORK_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct tsl_fork_mutex tsl_fork_mutex;
struct tsl_fork_mutex {
  pthread_mutex_t mutex;
  _Atomic(const void *) owner;     /* something of the thread that holds it; NULL: nobody does */
  tsl_fork_mutex *previous, *next; /* of all guards */
};

/* A guard does not move between these two. */
void tsl_fork_mutex_init(tsl_fork_mutex *guard);
void tsl_fork_mutex_destroy(tsl_fork_mutex *guard);

void tsl_fork_mutex_lock(tsl_fork_mutex *guard);
void tsl_fork_mutex_unlock(tsl_fork_mutex *guard);

#endif
