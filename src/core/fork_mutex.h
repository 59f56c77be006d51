/* Mutexes that survive a fork, which first locks them all: in the child they are free, their data consistent.
 * After one second a fork proceeds without: a driver's thread may fork while ours waits for it in a mutex. */
#ifndef TSL_CORE_FORK_MUTEX_H
#define TSL_CORE_FORK_MUTEX_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct tsl_fork_mutex tsl_fork_mutex;
struct tsl_fork_mutex {
  pthread_mutex_t mutex;
  _Atomic(const void *) owner;     /* address that identifies the holding thread; NULL: free */
  tsl_fork_mutex *previous, *next; /* list of all guards */
};

/* Initialises a guard and adds it to the process's list. Do not move it until it is destroyed. */
void tsl_fork_mutex_init(tsl_fork_mutex *guard);
void tsl_fork_mutex_destroy(tsl_fork_mutex *guard);

void tsl_fork_mutex_lock(tsl_fork_mutex *guard);
void tsl_fork_mutex_unlock(tsl_fork_mutex *guard);

#endif
