#include "comm/false_nccl.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NCCL's results. */
enum { SUCCESS = 0, SYSTEM_ERROR = 2, INTERNAL_ERROR = 3, INVALID = 4, USAGE = 5, IN_PROGRESS = 7 };

typedef struct unique_id {
  char internal[128];
} unique_id;

typedef struct config {
  size_t size;
  unsigned magic, version;
  int blocking, cluster, blocks_min, blocks_max;
} config;

typedef struct message message;
struct message {
  message *next;
  struct ncclComm *owner;
  bool is_send;
  int other;
  const void *source;
  void *target;
  size_t bytes;
};

/* One rank's. All of a communicator have its id. */
struct ncclComm {
  struct ncclComm *next;
  unique_id id;
  int ranks, rank, error, asked;
  message *messages; /* in order, not matched yet */
};

false_nccl_state false_nccl;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *all;
static int ids;
/* A group that this thread has begun. */
static _Thread_local bool in_group;
static _Thread_local int group_error;
static _Thread_local message *group;

/* Returns true when this call must fail. The caller holds the lock. */
static bool fails(false_nccl_call call) {
  if (false_nccl.fails != call || false_nccl.nth <= 0 || --false_nccl.nth > 0)
    return false;
  false_nccl.failed++;
  return true;
}

static void look_around(void) {
  if (false_nccl.entered && false_nccl.entered() == 0)
    false_nccl.wrong++;
}

static bool fails_now(false_nccl_call call) {
  pthread_mutex_lock(&lock);
  look_around();
  const bool failed = fails(call);
  pthread_mutex_unlock(&lock);
  return failed;
}

static void drop(message **list) {
  while (*list) {
    message *next = (*list)->next;
    free(*list);
    *list = next;
  }
}

int ncclGetVersion(int *version) {
  pthread_mutex_lock(&lock);
  *version = fails(FALSE_NCCL_VERSION) ? 21805 : 22703;
  const bool failed = fails(FALSE_NCCL_VERSION_CALL);
  pthread_mutex_unlock(&lock);
  return failed ? SYSTEM_ERROR : SUCCESS;
}

int ncclGetUniqueId(unique_id *id) {
  memset(id, 0, sizeof *id);
  if (fails_now(FALSE_NCCL_ID))
    return SYSTEM_ERROR;
  pthread_mutex_lock(&lock);
  snprintf(id->internal, sizeof id->internal, "false %d", ++ids);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, unique_id id, int rank,
                           const config *settings) {
  *comm = NULL;
  if (fails_now(FALSE_NCCL_JOIN))
    return SYSTEM_ERROR;
  struct ncclComm *own = calloc(1, sizeof *own);
  if (!own)
    return SYSTEM_ERROR;
  *own = (struct ncclComm){.id = id, .ranks = ranks, .rank = rank};
  pthread_mutex_lock(&lock);
  if (settings->size != sizeof *settings || settings->magic != 0xcafebeef || settings->version != 21700 ||
      settings->blocking != 0 || settings->cluster != INT_MIN || settings->blocks_min != INT_MIN ||
      settings->blocks_max < 1 || rank < 0 || rank >= ranks)
    false_nccl.wrong++;
  own->error = fails(FALSE_NCCL_JOIN_LATER) ? INTERNAL_ERROR : SUCCESS;
  own->next = all;
  all = own;
  false_nccl.alive++;
  pthread_mutex_unlock(&lock);
  *comm = own;
  return IN_PROGRESS;
}

static struct ncclComm *rank_of(const struct ncclComm *comm, int rank, int *joined) {
  struct ncclComm *found = NULL;
  *joined = 0;
  for (struct ncclComm *other = all; other; other = other->next)
    if (memcmp(&other->id, &comm->id, sizeof comm->id) == 0) {
      found = other->rank == rank ? other : found;
      ++*joined;
    }
  return found;
}

/* The other side's first message between the two. */
static message **mate(struct ncclComm *other, const message *message_in) {
  for (message **at = &other->messages; *at; at = &(*at)->next)
    if ((*at)->is_send != message_in->is_send && (*at)->other == message_in->owner->rank)
      return at;
  return NULL;
}

/* Returns true when an earlier message of the same direction and peer is waiting. Messages match in
 * their order. */
static bool is_behind(const message *message_in) {
  for (const message *m = message_in->owner->messages; m != message_in; m = m->next)
    if (m->is_send == message_in->is_send && m->other == message_in->other)
      return true;
  return false;
}

static void carry(struct ncclComm *comm) {
  int joined;
  for (message **at = &comm->messages; *at;) {
    message *own = *at;
    struct ncclComm *other = rank_of(comm, own->other, &joined);
    message **there = other && !is_behind(own) ? mate(other, own) : NULL;
    if (!there) {
      at = &own->next;
      continue;
    }
    message *pair = *there;
    const message *from = own->is_send ? own : pair, *to = own->is_send ? pair : own;
    if (from->bytes != to->bytes || fails(FALSE_NCCL_MESSAGE_LATER))
      comm->error = INTERNAL_ERROR;
    else if (from->bytes > 0)
      memcpy(to->target, from->source, from->bytes);
    false_nccl.messages++;
    *there = pair->next;
    *at = own->next;
    free(pair);
    free(own);
  }
}

/* Fine once all have joined, and its messages have arrived; not at the first question. */
int ncclCommGetAsyncError(struct ncclComm *comm, int *state) {
  int joined;
  pthread_mutex_lock(&lock);
  look_around();
  (void)rank_of(comm, comm->rank, &joined);
  carry(comm);
  *state = comm->error                                                        ? comm->error
           : joined < comm->ranks || comm->messages || ++comm->asked % 2 == 1 ? IN_PROGRESS
                                                                              : SUCCESS;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int end(struct ncclComm *comm) {
  pthread_mutex_lock(&lock);
  look_around();
  struct ncclComm **at = &all;
  while (*at && *at != comm)
    at = &(*at)->next;
  if (*at) {
    *at = comm->next;
    drop(&comm->messages);
    free(comm);
    false_nccl.alive--;
  } else {
    false_nccl.wrong++;
  }
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int ncclCommAbort(struct ncclComm *comm) {
  return end(comm);
}

int ncclCommDestroy(struct ncclComm *comm) {
  return end(comm);
}

int ncclGroupStart(void) {
  if (fails_now(FALSE_NCCL_GROUP))
    return INTERNAL_ERROR;
  if (in_group)
    false_nccl.wrong++;
  in_group = true;
  group_error = SUCCESS;
  return SUCCESS;
}

int ncclGroupEnd(void) {
  const bool failed = fails_now(FALSE_NCCL_GROUP_END);
  pthread_mutex_lock(&lock);
  if (!in_group)
    false_nccl.wrong++;
  in_group = false;
  if (failed || group_error != SUCCESS) {
    drop(&group);
  } else {
    while (group) {
      message *next = group->next, **last = &group->owner->messages;
      while (*last)
        last = &(*last)->next;
      group->next = NULL;
      *last = group;
      group = next;
    }
  }
  pthread_mutex_unlock(&lock);
  return failed ? INTERNAL_ERROR : group_error != SUCCESS ? group_error : IN_PROGRESS;
}

static int add(message what, int type, const void *stream) {
  const struct ncclComm *comm = what.owner;
  if (!in_group || !stream || type != 0 || what.other < 0 || what.other >= comm->ranks ||
      what.other == comm->rank || (what.bytes > 0 && !what.source && !what.target)) {
    false_nccl.wrong++;
    return INVALID;
  }
  message *own = malloc(sizeof *own), **last = &group;
  if (!own)
    return SYSTEM_ERROR;
  *own = what;
  while (*last)
    last = &(*last)->next;
  *last = own;
  return SUCCESS;
}

/* A group ends as its first failure. */
static int note(int result) {
  group_error = group_error != SUCCESS ? group_error : result;
  return result;
}

int ncclSend(const void *address, size_t count, int type, int peer, struct ncclComm *comm, void *stream) {
  const message what = {.owner = comm, .is_send = true, .other = peer, .source = address, .bytes = count};
  return note(fails_now(FALSE_NCCL_SEND) ? SYSTEM_ERROR : add(what, type, stream));
}

int ncclRecv(void *address, size_t count, int type, int peer, struct ncclComm *comm, void *stream) {
  const message what = {.owner = comm, .other = peer, .target = address, .bytes = count};
  return note(fails_now(FALSE_NCCL_RECEIVE) ? SYSTEM_ERROR : add(what, type, stream));
}

const char *ncclGetErrorString(int result) {
  return result == SYSTEM_ERROR     ? "unhandled system error"
         : result == INTERNAL_ERROR ? "internal error"
                                    : "wrong";
}

const char *ncclGetLastError(struct ncclComm *comm) {
  (void)comm;
  return "as the test wants it";
}
