#include "comm/comm_threads.h"

#include "comm/comm_call.h"
#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Side of a message, in the receiver's list until both sides are there. */
typedef struct message {
  struct message *next;
  int from, tag;
  bool done;
  const void *send_memory;
  void *receive_memory;
  size_t bytes;
} message;

typedef struct batch {
  message *messages;
  int count, capacity;
} batch;

typedef struct world world;

typedef struct thread_rank {
  tsl_ranks ranks; /* first: both addresses are equal */
  world *world;
  pthread_t thread;
  batch batches[TSL_BATCHES];
  message *sends, *receives; /* unmatched sides of messages to this rank, in order */
  const void *gathered;      /* data of the current gather or broadcast */
  double value;              /* value of the current comm_threads_least() */
} thread_rank;

struct world {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int size, arrived;     /* ranks; ranks that wait in the barrier */
  unsigned round;        /* number of the current barrier */
  bool start, cancelled; /* threads may go on; they end at once, because one did not start */
  thread_rank *all;
  tsl_rank_body body;
  void *user;
};

static tesela_status comm_threads_reserve(tsl_ranks *ranks, int number, int messages) {
  batch *queue = &((thread_rank *)ranks)->batches[number];
  if (messages <= queue->capacity)
    return TESELA_OK;
  message *more = calloc((size_t)messages, sizeof *more);
  if (!more)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for %d messages", messages);
  free(queue->messages);
  *queue = (batch){.messages = more, .capacity = messages};
  return TESELA_OK;
}

/* Removes and returns the first message with this sender and tag; NULL: none. */
static message *take_match(message **list, int from, int tag) {
  for (; *list; list = &(*list)->next)
    if ((*list)->from == from && (*list)->tag == tag) {
      message *found = *list;
      *list = found->next;
      return found;
    }
  return NULL;
}

static void append_message(message **list, message *item) {
  while (*list)
    list = &(*list)->next;
  *list = item;
}

/* Begins one side of a message with `rank`, the receiver. The second side copies the data. */
static tesela_status begin_message_side(thread_rank *self, int number, thread_rank *rank, message what,
                                        bool is_send) {
  batch *queue = &self->batches[number];
  if (queue->count == queue->capacity)
    return tsl_fail(TESELA_INTERNAL, "more than the %d messages that were reserved", queue->capacity);
  message *mine = &queue->messages[queue->count++];
  *mine = what;
  pthread_mutex_lock(&self->world->lock);
  message *other = take_match(is_send ? &rank->receives : &rank->sends, what.from, what.tag);
  if (other) {
    const message *send_memory = is_send ? mine : other, *receive_memory = is_send ? other : mine;
    if (send_memory->bytes == receive_memory->bytes && send_memory->bytes > 0)
      memcpy(receive_memory->receive_memory, send_memory->send_memory, send_memory->bytes);
    mine->done = other->done = true;
    pthread_cond_broadcast(&self->world->changed);
  } else {
    append_message(is_send ? &rank->sends : &rank->receives, mine);
  }
  const bool sizes_agree = !other || other->bytes == what.bytes;
  pthread_mutex_unlock(&self->world->lock);
  return sizes_agree ? TESELA_OK
                     : tsl_fail(TESELA_INTERNAL, "a message has %zu bytes, but the receiver expects %zu",
                                is_send ? what.bytes : other->bytes, is_send ? other->bytes : what.bytes);
}

static tesela_status comm_threads_send_message(tsl_ranks *ranks, int number, int destination, int tag,
                                               const void *data, size_t bytes) {
  thread_rank *self = (thread_rank *)ranks;
  ranks->sent += bytes;
  return begin_message_side(self, number, &self->world->all[destination],
                            (message){.from = ranks->rank, .tag = tag, .send_memory = data, .bytes = bytes},
                            true);
}

static tesela_status comm_threads_receive_message(tsl_ranks *ranks, int number, int from, int tag, void *data,
                                                  size_t bytes) {
  thread_rank *self = (thread_rank *)ranks;
  ranks->received += bytes;
  return begin_message_side(
      self, number, self, (message){.from = from, .tag = tag, .receive_memory = data, .bytes = bytes}, false);
}

static tesela_status comm_threads_progress(tsl_ranks *ranks, int number, int *done) {
  thread_rank *self = (thread_rank *)ranks;
  const batch *queue = &self->batches[number];
  *done = 1;
  pthread_mutex_lock(&self->world->lock);
  for (int i = 0; i < queue->count; i++)
    *done = *done && queue->messages[i].done;
  pthread_mutex_unlock(&self->world->lock);
  return TESELA_OK;
}

static tesela_status comm_threads_wait_batch(tsl_ranks *ranks, int number) {
  thread_rank *self = (thread_rank *)ranks;
  batch *queue = &self->batches[number];
  pthread_mutex_lock(&self->world->lock);
  for (int i = 0; i < queue->count; i++)
    while (!queue->messages[i].done)
      pthread_cond_wait(&self->world->changed, &self->world->lock);
  pthread_mutex_unlock(&self->world->lock);
  queue->count = 0;
  return TESELA_OK;
}

static void barrier(world *w) {
  pthread_mutex_lock(&w->lock);
  const unsigned round = w->round;
  if (++w->arrived == w->size) {
    w->arrived = 0;
    w->round++;
    pthread_cond_broadcast(&w->changed);
  }
  while (round == w->round)
    pthread_cond_wait(&w->changed, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

static tesela_status comm_threads_gather(tsl_ranks *ranks, const void *data, size_t bytes, void *all) {
  thread_rank *self = (thread_rank *)ranks;
  self->gathered = data;
  barrier(self->world);
  for (int i = 0; i < ranks->size; i++)
    if (bytes > 0)
      memcpy((char *)all + (size_t)i * bytes, self->world->all[i].gathered, bytes);
  barrier(self->world);
  return TESELA_OK;
}

static tesela_status comm_threads_broadcast(tsl_ranks *ranks, int root, void *data, size_t bytes) {
  thread_rank *self = (thread_rank *)ranks;
  self->gathered = data;
  barrier(self->world);
  if (ranks->rank != root && bytes > 0)
    memcpy(data, self->world->all[root].gathered, bytes);
  barrier(self->world);
  return TESELA_OK;
}

static tesela_status comm_threads_least(tsl_ranks *ranks, double current, double *out) {
  thread_rank *self = (thread_rank *)ranks;
  self->value = current;
  barrier(self->world);
  double found = current;
  for (int i = 0; i < ranks->size; i++)
    found = self->world->all[i].value < found ? self->world->all[i].value : found;
  barrier(self->world);
  *out = found;
  return TESELA_OK;
}

static const tsl_ranks_ops thread_ops = {
    .name = "threads",
    .reserve = comm_threads_reserve,
    .send = comm_threads_send_message,
    .receive = comm_threads_receive_message,
    .progress = comm_threads_progress,
    .wait = comm_threads_wait_batch,
    .gather = comm_threads_gather,
    .broadcast = comm_threads_broadcast,
    .least = comm_threads_least,
};

static void *run_rank(void *argument) {
  thread_rank *self = argument;
  world *w = self->world;
  pthread_mutex_lock(&w->lock);
  while (!w->start)
    pthread_cond_wait(&w->changed, &w->lock);
  const bool cancelled = w->cancelled;
  pthread_mutex_unlock(&w->lock);
  if (!cancelled)
    w->body(&self->ranks, w->user);
  return NULL;
}

tesela_status tsl_threads_run(int size, tsl_rank_body body, void *user) {
  world w = {.size = size, .body = body, .user = user};
  w.all = calloc((size_t)size, sizeof *w.all);
  if (!w.all)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for %d ranks", size);
  pthread_mutex_init(&w.lock, NULL);
  pthread_cond_init(&w.changed, NULL);
  int started = 0;
  for (; started < size; started++) {
    thread_rank *entry = &w.all[started];
    entry->world = &w;
    entry->ranks = (tsl_ranks){.ops = &thread_ops,
                               .rank = started,
                               .size = size,
                               .version = TESELA_VERSION_NUMBER,
                               .host_ranks = size};
    if (pthread_create(&entry->thread, NULL, run_rank, entry) != 0)
      break;
  }
  pthread_mutex_lock(&w.lock);
  w.start = true;
  w.cancelled = started < size;
  pthread_cond_broadcast(&w.changed);
  pthread_mutex_unlock(&w.lock);
  for (int i = 0; i < started; i++)
    pthread_join(w.all[i].thread, NULL);
  for (int i = 0; i < size; i++) {
    for (int b = 0; b < TSL_BATCHES; b++)
      free(w.all[i].batches[b].messages);
    tsl_ranks_end(&w.all[i].ranks);
  }
  free(w.all);
  pthread_cond_destroy(&w.changed);
  pthread_mutex_destroy(&w.lock);
  return started == size
             ? TESELA_OK
             : tsl_fail(TESELA_OUT_OF_MEMORY, "only %d of %d threads could be started", started, size);
}
