#include "comm/failure_broadcast.h"

#include "core/clock.h"
#include "core/status.h"

#include <sched.h>
#include <time.h>

enum { TAG_ALARM = 5 };
static const int32_t fine, failed = 1;

static int batch_of(int neighbour) {
  return TSL_BATCH_ALARM + neighbour;
}

tesela_status tsl_failure_broadcast_reserve(tsl_ranks *ranks) {
  for (int i = 0; i < TSL_FAILURE_BROADCAST_NEIGHBOURS; i++)
    TSL_TRY(ranks->ops->reserve(ranks, batch_of(i), 1));
  return ranks->ops->reserve(ranks, TSL_BATCH_ALARM_SENT, TSL_FAILURE_BROADCAST_NEIGHBOURS);
}

tesela_status tsl_failure_broadcast_start(tsl_failure_broadcast *alarm, tsl_ranks *ranks) {
  const int around[] = {(ranks->rank + 1) / 2 - 1, 2 * ranks->rank + 1, 2 * ranks->rank + 2};
  const uint64_t received = ranks->received;
  *alarm = (tsl_failure_broadcast){.ranks = ranks};
  for (int i = 0; i < TSL_FAILURE_BROADCAST_NEIGHBOURS; i++)
    if (around[i] >= 0 && around[i] < ranks->size)
      alarm->neighbour[alarm->count++] = around[i];
  for (int i = 0; i < alarm->count; i++)
    TSL_TRY(ranks->ops->receive(ranks, batch_of(i), alarm->neighbour[i], TAG_ALARM, &alarm->received[i],
                                sizeof alarm->received[i]));
  ranks->received = received;
  return TESELA_OK;
}

/* Sends `fine` or `failed` to a neighbour that got neither; not counted as sent bytes. */
static tesela_status send_outcome(tsl_failure_broadcast *alarm, int neighbour, const int32_t *outcome) {
  tsl_ranks *ranks = alarm->ranks;
  const uint64_t sent = ranks->sent;
  if (alarm->has_sent[neighbour])
    return TESELA_OK;
  alarm->has_sent[neighbour] = true;
  TSL_TRY(ranks->ops->send(ranks, TSL_BATCH_ALARM_SENT, alarm->neighbour[neighbour], TAG_ALARM, outcome,
                           sizeof *outcome));
  ranks->sent = sent;
  return TESELA_OK;
}

tesela_status tsl_failure_broadcast_raise(tsl_failure_broadcast *alarm) {
  alarm->is_raised = true;
  for (int i = 0; i < alarm->count; i++)
    TSL_TRY(send_outcome(alarm, i, &failed));
  return TESELA_OK;
}

tesela_status tsl_failure_broadcast_poll(tsl_failure_broadcast *alarm, bool *raised) {
  tsl_ranks *ranks = alarm->ranks;
  for (int i = 0; i < alarm->count; i++) {
    int done = 0;
    if (!alarm->has_received[i])
      TSL_TRY(ranks->ops->progress(ranks, batch_of(i), &done));
    if (!done)
      continue;
    TSL_TRY(ranks->ops->wait(ranks, batch_of(i)));
    alarm->has_received[i] = true;
    if (alarm->received[i] == failed)
      TSL_TRY(tsl_failure_broadcast_raise(alarm));
  }
  *raised = alarm->is_raised;
  return TESELA_OK;
}

/* Sends success to the parent after all children reported it, and to the children after the parent. */
static tesela_status forward_success(tsl_failure_broadcast *alarm, bool *done) {
  const int children = alarm->ranks->rank > 0; /* the parent comes first */
  bool below = true;
  for (int i = children; i < alarm->count; i++)
    below = below && alarm->has_received[i];
  if (below && children)
    TSL_TRY(send_outcome(alarm, 0, &fine));
  *done = below && (!children || alarm->has_received[0]);
  for (int i = children; i < alarm->count && *done; i++)
    TSL_TRY(send_outcome(alarm, i, &fine));
  return TESELA_OK;
}

tesela_status tsl_failure_broadcast_end(tsl_failure_broadcast *alarm, bool *raised) {
  static const struct timespec moment = {.tv_nsec = 20000};
  const double begin = tsl_clock();
  for (bool done = false; !done;) {
    TSL_TRY(tsl_failure_broadcast_poll(alarm, raised));
    TSL_TRY(forward_success(alarm, &done));
    /* A sleep would take longer than a short wait. */
    if (!done && tsl_clock() - begin > 1e-3)
      nanosleep(&moment, NULL);
    else if (!done && tsl_clock() - begin > 1e-4)
      sched_yield();
  }
  return alarm->ranks->ops->wait(alarm->ranks, TSL_BATCH_ALARM_SENT);
}
