#include "comm/async_task.h"

#include "base/clock.h"

static void async_task_run(tsl_async_task *beside) {
  beside->status = beside->work(beside->argument);
  if (beside->status != TESELA_OK)
    tsl_status_save(&beside->failure);
  beside->ended = tsl_clock();
  atomic_store(&beside->has_ended, true);
}

static void *async_task_run_in_thread(void *argument) {
  async_task_run(argument);
  return NULL;
}

void tsl_beside_start(tsl_async_task *beside, tesela_status (*work)(void *argument), void *argument) {
  beside->work = work;
  beside->argument = argument;
  beside->has_thread = pthread_create(&beside->thread, NULL, async_task_run_in_thread, beside) == 0;
  if (!beside->has_thread)
    async_task_run(beside);
}

bool tsl_beside_runs(const tsl_async_task *beside) {
  return beside->work && !atomic_load(&beside->has_ended);
}

double tsl_beside_exposed(const tsl_async_task *beside, double from) {
  if (tsl_beside_runs(beside))
    return 0;
  const double since = beside->work && beside->ended > from ? beside->ended : from;
  return tsl_clock() - since;
}

tesela_status tsl_beside_join(tsl_async_task *beside) {
  if (!beside->work)
    return TESELA_OK;
  if (beside->has_thread)
    pthread_join(beside->thread, NULL);
  if (beside->status != TESELA_OK)
    tsl_status_restore(&beside->failure);
  return beside->status;
}
