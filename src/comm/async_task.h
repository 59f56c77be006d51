/* Task in a second thread, while the caller's thread, which alone calls MPI, handles messages. */
#ifndef TSL_COMM_ASYNC_TASK_H
#define TSL_COMM_ASYNC_TASK_H

#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Initialize with {0}: no task. */
typedef struct tsl_async_task {
  tesela_status (*work)(void *argument);
  void *argument;
  tesela_status status;
  tsl_status_saved failure;
  pthread_t thread;
  bool has_thread;
  atomic_bool has_ended;
  double ended; /* end by tsl_clock(); set before has_ended */
} tsl_async_task;

/* Starts work(argument) in a thread, or runs it in the caller's thread if no thread can be started. */
void tsl_async_task_start(tsl_async_task *task, tesela_status (*work)(void *argument), void *argument);
bool tsl_async_task_is_running(const tsl_async_task *task);
/* Returns the seconds since `from` during which no task ran. */
double tsl_async_task_exposed(const tsl_async_task *task, double from);
/* Waits for the task's end and returns its status and message; TESELA_OK if no task was started. */
tesela_status tsl_async_task_join(tsl_async_task *task);

#endif
