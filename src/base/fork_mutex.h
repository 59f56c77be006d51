/* Mutexes that survive a fork. The child has only the forking thread. A mutex that another thread held
 * would stay locked in the child, and its data would be half changed. So a fork first waits for all
 * these mutexes and locks them. In the child they are free and their data is consistent.
 *
 * A fork waits at most one second. A driver's thread may fork while our thread waits for it under a
 * mutex; without the limit the program would hang. After a timeout the child is as it would be without
 * this protection. */
#ifndef TSL_BASE_FORK_MUTEX_H
#define TSL_BASE_FORK_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct tsl_fork_mutex tsl_fork_mutex;
struct tsl_fork_mutex {
  pthread_mutex_t mutex;
  _Atomic(const void *) owner;     /* address that identifies the holding thread; NULL: free */
  tsl_fork_mutex *previous, *next; /* list of all guards */
};

/* Initialises a guard and adds it to the process's list. Do not move it in memory until it is destroyed. */
void tsl_fork_mutex_init(tsl_fork_mutex *guard);
void tsl_fork_mutex_destroy(tsl_fork_mutex *guard);

void tsl_fork_mutex_lock(tsl_fork_mutex *guard);
void tsl_fork_mutex_unlock(tsl_fork_mutex *guard);

#endif
