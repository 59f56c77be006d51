#include "comm/gpu_transport.h"

#include "api/device_p2p.h"
#include "comm/collective_status.h"
#include "comm/comm.h"
#include "comm/nccl/nccl.h"
#include "comm/transport_name.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Broadcast of a failure while ranks wait for messages outside of MPI (comm/gpu_transport.h). Ranks form a
 * binary tree. A failure is sent at once; success goes up, and down after all ranks. So all ranks agree. */
enum { TSL_FAILURE_BROADCAST_NEIGHBOURS = 3 };

typedef struct tsl_failure_broadcast {
  tsl_ranks *ranks;
  int neighbour[TSL_FAILURE_BROADCAST_NEIGHBOURS], count;
  int32_t received[TSL_FAILURE_BROADCAST_NEIGHBOURS]; /* message of each neighbour; 0: success */
  bool has_received[TSL_FAILURE_BROADCAST_NEIGHBOURS], has_sent[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool is_raised; /* this rank knows of a failure on some rank */
} tsl_failure_broadcast;

enum { TAG_ALARM = 5 };
static const int32_t fine, failed = 1;

static int batch_of(int neighbour) {
  return TSL_BATCH_ALARM + neighbour;
}

/* Reserves memory for all broadcasts of these ranks, once. TESELA_OUT_OF_MEMORY. */
static tesela_status failure_broadcast_reserve(tsl_ranks *ranks) {
  for (int i = 0; i < TSL_FAILURE_BROADCAST_NEIGHBOURS; i++)
    TSL_TRY(ranks->ops->reserve(ranks, batch_of(i), 1));
  return ranks->ops->reserve(ranks, TSL_BATCH_ALARM_SENT, TSL_FAILURE_BROADCAST_NEIGHBOURS);
}

/* Begins a broadcast. Collective. The struct must not move until failure_broadcast_end(). The functions
 * fail only if the ranks' own messages fail, without remedy (comm/comm.h). */
static tesela_status failure_broadcast_start(tsl_failure_broadcast *alarm, tsl_ranks *ranks) {
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

/* Reports a failure of this rank to all ranks. */
static tesela_status failure_broadcast_raise(tsl_failure_broadcast *alarm) {
  alarm->is_raised = true;
  for (int i = 0; i < alarm->count; i++)
    TSL_TRY(send_outcome(alarm, i, &failed));
  return TESELA_OK;
}

/* Sets *raised to whether any rank reported a failure so far. Call it while waiting. */
static tesela_status failure_broadcast_poll(tsl_failure_broadcast *alarm, bool *raised) {
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
      TSL_TRY(failure_broadcast_raise(alarm));
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

/* Waits for all ranks to call it. Sets *raised to whether any reported a failure. */
static tesela_status failure_broadcast_end(tsl_failure_broadcast *alarm, bool *raised) {
  static const struct timespec moment = {.tv_nsec = 20000};
  const double begin = tsl_clock();
  for (bool done = false; !done;) {
    TSL_TRY(failure_broadcast_poll(alarm, raised));
    TSL_TRY(forward_success(alarm, &done));
    /* A sleep would take longer than a short wait. */
    if (!done && tsl_clock() - begin > 1e-3)
      nanosleep(&moment, NULL);
    else if (!done && tsl_clock() - begin > 1e-4)
      sched_yield();
  }
  return alarm->ranks->ops->wait(alarm->ranks, TSL_BATCH_ALARM_SENT);
}

struct tsl_gpu_transport {
  tsl_ranks *ranks;
  char device[TSL_RANK_DEVICE_BYTES];
  char name[32];
  bool is_refused; /* no transport is possible */
  /* Keeps the device open between calls. */
  tesela_context *keeper;
  tesela_stream *home; /* its device is made current for NCCL */
  tsl_nccl nccl;
  /* State of a call. */
  tesela_stream *stream;
  tesela_event *marks[TSL_GPU_TRANSPORT_BATCHES];
  bool is_marked[TSL_GPU_TRANSPORT_BATCHES];
  tsl_failure_broadcast alarm;
  bool skips_rest;
  bool is_broken; /* a message failed on some rank; equal on all ranks */
  tesela_status status;
  tsl_status_saved failure;
};

/* Clusters of a product's blocks need adjacent multiprocessors, so four more are left free. */
const int tsl_gpu_transport_units = TSL_NCCL_BLOCKS + 4;

/* Frees the communicator; does nothing without one, or if the device cannot be entered. */
static void end_nccl(tsl_gpu_transport *transport, bool aborts) {
  if (!transport->nccl.handle || tsl_api_enter(transport->home) != TESELA_OK)
    return;
  tsl_nccl_end(&transport->nccl, aborts);
  tsl_api_leave(transport->home);
}

static void abort_messages(tsl_gpu_transport *transport) {
  transport->skips_rest = true;
  end_nccl(transport, true);
}

/* Records and broadcasts a failure of this rank. */
static tesela_status gpu_transport_record_failure(tsl_gpu_transport *transport, tesela_status status) {
  if (status == TESELA_OK || transport->skips_rest)
    return TESELA_OK;
  transport->status = status;
  tsl_status_save(&transport->failure);
  abort_messages(transport);
  return failure_broadcast_raise(&transport->alarm);
}

/* Sets *yes to whether the condition holds; `batch` may be ignored. */
typedef tesela_status (*poll_condition)(const tsl_gpu_transport *transport, int batch, bool *yes);

/* Sets *yes to whether NCCL's last operation is in the stream, or all ranks have joined. */
static tesela_status is_enqueued(const tsl_gpu_transport *transport, int batch, bool *yes) {
  (void)batch;
  TSL_TRY(tsl_api_enter(transport->home));
  const tesela_status status = tsl_nccl_ready(&transport->nccl, yes);
  tsl_api_leave(transport->home);
  return status;
}

/* Sets *yes to whether the stream has reached the batch's last mark. */
static tesela_status is_batch_complete(const tsl_gpu_transport *transport, int batch, bool *yes) {
  bool ready;
  TSL_TRY(is_enqueued(transport, batch, &ready));
  return tsl_api_event_done(transport->marks[batch], yes);
}

/* Polls until yes, a failure, or a broadcast. Yields after 0.1 ms and sleeps after 1 ms. */
static tesela_status wait_until(tsl_gpu_transport *transport, poll_condition condition, int batch) {
  static const struct timespec moment = {.tv_nsec = 50000};
  const double begin = tsl_clock();
  bool yes = false, raised = false;
  while (!transport->skips_rest) {
    const tesela_status status = condition(transport, batch, &yes);
    if (status != TESELA_OK)
      return gpu_transport_record_failure(transport, status);
    if (yes)
      break;
    TSL_TRY(failure_broadcast_poll(&transport->alarm, &raised));
    if (raised)
      abort_messages(transport);
    else if (tsl_clock() - begin > 1e-3)
      nanosleep(&moment, NULL);
    else if (tsl_clock() - begin > 1e-4)
      sched_yield();
  }
  return TESELA_OK;
}

/* Rank's device, gathered by all ranks. */
typedef struct gpu_identity {
  uint64_t host;   /* host_number() */
  int64_t version; /* version of NCCL, as in tsl_nccl */
  char pci[TSL_API_CARD_BYTES];
} gpu_identity;

/* Returns a number that is equal for all ranks of a host, even in containers. */
static uint64_t host_number(void) {
  char text[128] = "";
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  size_t length = file ? fread(text, 1, sizeof text, file) : 0;
  if (file)
    fclose(file);
  if (length == 0 && gethostname(text, sizeof text - 1) == 0)
    length = strlen(text);
  return tsl_agreed_value_bytes(text, length);
}

static void print_nccl_version(int version, char *out, size_t size) {
  const int hundreds = version / 100 % 100;
  snprintf(out, size, "NCCL %d.%d.%d", version / 10000, hundreds, version % 100);
}

void tsl_transfer_path_name(char *out, size_t size) {
  tsl_nccl nccl;
  char name[32];
  if (tsl_nccl_load(&nccl) != TESELA_OK) {
    snprintf(out, size, "through host memory: %s", tesela_last_error());
    return;
  }
  print_nccl_version(nccl.version, name, sizeof name);
  snprintf(out, size, "from GPU to GPU by %s where each rank has one, else through host memory", name);
}

/* Loads NCCL, opens this rank's device, and fills `identity` for the other ranks. */
static tesela_status gpu_transport_prepare(tsl_gpu_transport *transport, gpu_identity *identity) {
  identity->host = host_number();
  TSL_TRY(failure_broadcast_reserve(transport->ranks));
  TSL_TRY(tsl_nccl_load(&transport->nccl));
  identity->version = transport->nccl.version;
  print_nccl_version(transport->nccl.version, transport->name, sizeof transport->name);
  TSL_TRY(tesela_context_create(&(tesela_context_desc){.device = transport->device}, &transport->keeper));
  TSL_TRY(tsl_api_card(transport->keeper, transport->device, identity->pci));
  return tesela_stream_create(transport->keeper, transport->device, &transport->home);
}

/* Compares versions of NCCL and refuses ranks that share a GPU. Equal on all ranks. */
static tesela_status check_gpu_identities(const gpu_identity *identities, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      if (identities[i].version != identities[j].version)
        return tsl_fail(TESELA_UNSUPPORTED, "ranks %d and %d have different versions of NCCL (%lld and %lld)",
                        j, i, (long long)identities[j].version, (long long)identities[i].version);
      if (identities[i].host == identities[j].host &&
          memcmp(identities[i].pci, identities[j].pci, sizeof identities[i].pci) == 0)
        return tsl_fail(TESELA_UNSUPPORTED,
                        "ranks %d and %d share a GPU (%s), but NCCL needs one for each rank", j, i,
                        identities[i].pci);
    }
  return TESELA_OK;
}

static tesela_status make_and_broadcast_id(const tsl_gpu_transport *transport, tsl_nccl_id *id) {
  tesela_status status = TESELA_OK;
  if (transport->ranks->rank == 0)
    status = tsl_nccl_make_id(&transport->nccl, id);
  TSL_TRY(tsl_agree(transport->ranks, status));
  return transport->ranks->ops->broadcast(transport->ranks, 0, id, sizeof *id);
}

/* Joins the NCCL communicator. Collective; returns early if a rank fails. */
static tesela_status join_communicator(tsl_gpu_transport *transport, const tsl_nccl_id *id) {
  bool raised;
  transport->skips_rest = false;
  transport->status = TESELA_OK;
  TSL_TRY(failure_broadcast_start(&transport->alarm, transport->ranks));
  TSL_TRY(gpu_transport_record_failure(
      transport, tsl_nccl_join_begin(&transport->nccl, transport->ranks->size, transport->ranks->rank, id)));
  TSL_TRY(wait_until(transport, is_enqueued, 0));
  TSL_TRY(failure_broadcast_end(&transport->alarm, &raised));
  return tsl_agree(transport->ranks, tsl_gpu_transport_status(transport));
}

/* Compares all ranks' GPUs, then joins a communicator. Collective; one status on all ranks. */
static tesela_status make_collectively(tsl_gpu_transport *transport, const gpu_identity *identity,
                                       gpu_identity *identities) {
  tsl_nccl_id id = {{0}};
  TSL_TRY(transport->ranks->ops->gather(transport->ranks, identity, sizeof *identity, identities));
  TSL_TRY(check_gpu_identities(identities, transport->ranks->size));
  /* NCCL is called with the rank's device current. */
  const tesela_status entered = tsl_api_enter(transport->home);
  tesela_status status = tsl_agree(transport->ranks, entered);
  if (status == TESELA_OK)
    status = make_and_broadcast_id(transport, &id);
  if (status == TESELA_OK)
    status = join_communicator(transport, &id);
  if (entered == TESELA_OK)
    tsl_api_leave(transport->home);
  return status;
}

static void release_transport(tsl_gpu_transport *transport, bool aborts) {
  end_nccl(transport, aborts);
  tesela_stream_destroy(transport->home);
  tesela_context_destroy(transport->keeper);
  transport->home = NULL;
  transport->keeper = NULL;
}

/* Releases the transport for good; messages then pass through host memory. Rank 0 logs `why`. */
static void gpu_transport_give_up(tsl_gpu_transport *transport, const char *why) {
  if (transport->ranks->rank == 0)
    tsl_log(TSL_LOG_PLAN, "ranks' messages pass through host memory: %s", why);
  transport->is_refused = true;
  release_transport(transport, true);
}

/* Makes this rank's transport, or marks it as refused. Collective. */
static void gpu_transport_make(tsl_ranks *ranks, const tsl_rank_device *rank_device) {
  void *block = NULL;
  gpu_identity own = {0}, *identities = calloc((size_t)ranks->size, sizeof *identities);
  tsl_gpu_transport *transport = ranks->transport;
  tesela_status status =
      identities ? TESELA_OK
                 : tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for %d ranks' devices", ranks->size);
  if (transport)
    release_transport(transport, false);
  else if (status == TESELA_OK)
    status = tsl_alloc_zeroed(sizeof *transport, "messages between devices", &block);
  transport = transport ? transport : block;
  if (transport) {
    *transport = (tsl_gpu_transport){.ranks = ranks};
    snprintf(transport->device, sizeof transport->device, "%s", rank_device->device);
    ranks->transport = transport;
  }
  if (status == TESELA_OK)
    status = gpu_transport_prepare(transport, &own);
  status = tsl_agree(ranks, status);
  if (status == TESELA_OK)
    status = make_collectively(transport, &own, identities);
  if (status != TESELA_OK && transport)
    gpu_transport_give_up(transport, tesela_last_error());
  else if (status == TESELA_OK && ranks->rank == 0)
    tsl_log(TSL_LOG_PLAN, "ranks' messages go from device to device by %s", transport->name);
  free(identities);
}

tesela_status tsl_gpu_transport_find(tsl_ranks *ranks, const tsl_rank_device *rank_device,
                                     tsl_gpu_transport **out, bool *on_devices) {
  enum { HOST, NONE, WANTED, THERE };
  const tsl_gpu_transport *transport = ranks->transport;
  const bool is_same = transport && strcmp(transport->device, rank_device->device) == 0;
  const int own = !tsl_multiplies_on_device(rank_device) ? HOST
                  : is_same && transport->is_refused     ? NONE
                  : is_same                              ? THERE
                                                         : WANTED;
  double least;
  *out = NULL;
  TSL_TRY(ranks->ops->least(ranks, own, &least));
  if (least == WANTED) {
    tsl_status_saved saved;
    tsl_status_save(&saved);
    gpu_transport_make(ranks, rank_device);
    tsl_status_restore(&saved);
  }
  *on_devices = least > HOST;
  if (least > NONE && ranks->transport && !ranks->transport->is_refused)
    *out = ranks->transport;
  return TESELA_OK;
}

const char *tsl_gpu_transport_name(const tsl_gpu_transport *transport) {
  return transport->name;
}

void tsl_gpu_transport_free(tsl_gpu_transport *transport) {
  if (!transport)
    return;
  release_transport(transport, false);
  tsl_free(transport);
}

tesela_status tsl_gpu_transport_start(tsl_gpu_transport *transport, tesela_context *context) {
  transport->skips_rest = false;
  transport->status = TESELA_OK;
  transport->is_broken = false;
  memset(transport->is_marked, 0, sizeof transport->is_marked);
  TSL_TRY(tesela_stream_create(context, transport->device, &transport->stream));
  for (int i = 0; i < TSL_GPU_TRANSPORT_BATCHES; i++)
    TSL_TRY(tesela_event_create(transport->stream, &transport->marks[i]));
  return TESELA_OK;
}

tesela_status tsl_gpu_transport_arm(tsl_gpu_transport *transport) {
  return failure_broadcast_start(&transport->alarm, transport->ranks);
}

/* Waits for all ranks; if any failed, marks the transport as broken and aborts the messages. */
static tesela_status end_failure_broadcast(tsl_gpu_transport *transport) {
  bool raised;
  TSL_TRY(failure_broadcast_end(&transport->alarm, &raised));
  transport->is_broken = transport->is_broken || raised;
  if (raised)
    abort_messages(transport);
  return TESELA_OK;
}

tesela_status tsl_gpu_transport_barrier(tsl_gpu_transport *transport) {
  TSL_TRY(end_failure_broadcast(transport));
  return tsl_gpu_transport_arm(transport);
}

tesela_status tsl_gpu_transport_end(tsl_gpu_transport *transport) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  for (int i = 0; i < TSL_GPU_TRANSPORT_BATCHES; i++)
    TSL_TRY(tsl_gpu_transport_wait(transport, i));
  TSL_TRY(end_failure_broadcast(transport));
  /* Copies may still run after the messages were aborted. */
  (void)tesela_stream_wait(transport->stream);
  if (transport->is_broken)
    gpu_transport_give_up(transport, "messages between devices have failed");
  tsl_status_restore(&saved);
  return TESELA_OK;
}

void tsl_gpu_transport_stop(tsl_gpu_transport *transport) {
  for (int i = 0; i < TSL_GPU_TRANSPORT_BATCHES; i++) {
    tesela_event_destroy(transport->marks[i]);
    transport->marks[i] = NULL;
  }
  tesela_stream_destroy(transport->stream);
  transport->stream = NULL;
}

bool tsl_gpu_transport_has_buffer(const tsl_gpu_transport *transport, const tesela_buffer *buffer) {
  return tsl_api_is_of(transport->stream, buffer);
}

tesela_status tsl_gpu_transport_copy(tsl_gpu_transport *transport, const tsl_api_rows *rows) {
  return transport->skips_rest
             ? TESELA_OK
             : gpu_transport_record_failure(transport, tsl_api_copy_rows(transport->stream, rows));
}

bool tsl_gpu_transport_can_round(const tsl_gpu_transport *transport, tesela_type type) {
  return tsl_api_rounds(transport->stream, type);
}

tesela_status tsl_gpu_transport_round(tsl_gpu_transport *transport, const tsl_api_rounded_sum *rounding) {
  return transport->skips_rest
             ? TESELA_OK
             : gpu_transport_record_failure(transport, tsl_api_round(transport->stream, rounding));
}

bool tsl_gpu_transport_can_add(const tsl_gpu_transport *transport, tesela_type type) {
  return tsl_api_adds(transport->stream, type);
}

tesela_status tsl_gpu_transport_add(tsl_gpu_transport *transport, const tsl_api_adding *adding) {
  return transport->skips_rest
             ? TESELA_OK
             : gpu_transport_record_failure(transport, tsl_api_add(transport->stream, adding));
}

static tesela_status gpu_transport_exchange(const tsl_gpu_transport *transport,
                                            const tsl_message *gpu_messages, int count) {
  void *stream = tesela_stream_native(transport->stream);
  TSL_TRY(tsl_nccl_group_begin(&transport->nccl));
  tesela_status status = TESELA_OK;
  for (int i = 0; i < count && status == TESELA_OK; i++) {
    const tsl_message *p = &gpu_messages[i];
    char *address = (char *)tesela_buffer_memory(p->buffer).native + p->offset;
    status = p->is_send ? tsl_nccl_send(&transport->nccl, p->other, address, p->bytes, stream)
                        : tsl_nccl_receive(&transport->nccl, p->other, address, p->bytes, stream);
  }
  /* The thread that began a group must end it, even after a failure. */
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status ended = tsl_nccl_group_end(&transport->nccl);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return status != TESELA_OK ? status : ended;
}

tesela_status tsl_gpu_transport_exchange(tsl_gpu_transport *transport, const tsl_message *gpu_messages,
                                         int count) {
  if (transport->skips_rest || count == 0)
    return TESELA_OK;
  for (int i = 0; i < count; i++)
    *(gpu_messages[i].is_send ? &transport->ranks->sent : &transport->ranks->received) +=
        gpu_messages[i].bytes;
  tesela_status status = tsl_api_enter(transport->home);
  if (status == TESELA_OK) {
    status = gpu_transport_exchange(transport, gpu_messages, count);
    tsl_api_leave(transport->home);
  }
  TSL_TRY(gpu_transport_record_failure(transport, status));
  return wait_until(transport, is_enqueued, 0);
}

tesela_status tsl_gpu_transport_mark(tsl_gpu_transport *transport, int batch) {
  if (transport->skips_rest)
    return TESELA_OK;
  transport->is_marked[batch] = true;
  return gpu_transport_record_failure(transport,
                                      tesela_event_record(transport->marks[batch], transport->stream));
}

tesela_status tsl_gpu_transport_wait(tsl_gpu_transport *transport, int batch) {
  const bool waits = transport->is_marked[batch];
  transport->is_marked[batch] = false;
  return waits ? wait_until(transport, is_batch_complete, batch) : TESELA_OK;
}

tesela_status tsl_gpu_transport_status(const tsl_gpu_transport *transport) {
  if (transport->status != TESELA_OK)
    tsl_status_restore(&transport->failure);
  return transport->status;
}
