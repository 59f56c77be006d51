#include "comm/async_task.h"

#include "core/clock.h"

static void async_task_run(tsl_async_task *task) {
  task->status = task->work(task->argument);
  if (task->status != TESELA_OK)
    tsl_status_save(&task->failure);
  task->ended = tsl_clock();
  atomic_store(&task->has_ended, true);
}

static void *async_task_run_in_thread(void *argument) {
  async_task_run(argument);
  return NULL;
}

void tsl_async_task_start(tsl_async_task *task, tesela_status (*work)(void *argument), void *argument) {
  task->work = work;
  task->argument = argument;
  task->has_thread = pthread_create(&task->thread, NULL, async_task_run_in_thread, task) == 0;
  if (!task->has_thread)
    async_task_run(task);
}

bool tsl_async_task_is_running(const tsl_async_task *task) {
  return task->work && !atomic_load(&task->has_ended);
}

double tsl_async_task_exposed(const tsl_async_task *task, double from) {
  if (tsl_async_task_is_running(task))
    return 0;
  const double since = task->work && task->ended > from ? task->ended : from;
  return tsl_clock() - since;
}

tesela_status tsl_async_task_join(tsl_async_task *task) {
  if (!task->work)
    return TESELA_OK;
  if (task->has_thread)
    pthread_join(task->thread, NULL);
  if (task->status != TESELA_OK)
    tsl_status_restore(&task->failure);
  return task->status;
}
