/* Work in a thread of its own, while the caller's thread, which alone calls MPI, sees to messages. */
#ifndef TSL_COMM_ASYNC_TASK_H
#define TSL_COMM_ASYNC_TASK_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Starts with {0}: nothing runs. Of one caller. */
typedef struct tsl_async_task {
  tesela_status (*work)(void *argument);
  void *argument;
  tesela_status status;
  tsl_status_saved failure;
  pthread_t thread;
  bool has_thread;
  atomic_bool has_ended;
  double ended; /* when, by tsl_clock(); set before has_ended */
} tsl_async_task;

/* Starts work(argument); at once, and to its end, where no thread is to be had. */
void tsl_beside_start(tsl_async_task *beside, tesela_status (*work)(void *argument), void *argument);
/* Whether there is work under way. */
bool tsl_beside_runs(const tsl_async_task *beside);
/* What of the time from `from` to now nothing ran beside, in seconds. */
double tsl_beside_exposed(const tsl_async_task *beside, double from);
/* Waits for its end, and gives its status with its sentence; TESELA_OK where nothing was started. */
tesela_status tsl_beside_join(tsl_async_task *beside);

#endif
