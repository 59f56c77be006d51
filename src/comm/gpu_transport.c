#include "comm/gpu_transport.h"

#include "api/device_p2p.h"
#include "comm/collective_status.h"
#include "comm/failure_broadcast.h"
#include "comm/nccl/nccl.h"
#include "comm/transport_name.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct tsl_lane {
  tsl_ranks *ranks;
  char device[TSL_PLACE_NAME]; /* this rank's device */
  char name[32];
  bool is_refused; /* no transport is possible */
  /* Keeps the device open between calls. */
  tesela_context *keeper;
  tesela_stream *home; /* its device is made current for NCCL */
  tsl_nccl nccl;
  /* State of a call. */
  tesela_stream *stream;
  tesela_event *marks[TSL_LANE_BATCHES];
  bool is_marked[TSL_LANE_BATCHES];
  tsl_failure_broadcast alarm;
  bool is_over;   /* the call's rest is skipped */
  bool is_broken; /* a message failed on some rank; equal on all ranks */
  tesela_status status;
  tsl_status_saved failure;
};

/* Clusters of a product's blocks need adjacent multiprocessors, so four more are left free. */
const int tsl_lane_units = TSL_NCCL_BLOCKS + 4;

static void end_nccl(tsl_lane *lane, bool aborts) {
  if (!lane->nccl.handle || tsl_api_enter(lane->home) != TESELA_OK)
    return;
  tsl_nccl_end(&lane->nccl, aborts);
  tsl_api_leave(lane->home);
}

static void abort_messages(tsl_lane *lane) {
  lane->is_over = true;
  end_nccl(lane, true);
}

/* Records and broadcasts a failure of this rank. */
static tesela_status gpu_transport_keep(tsl_lane *lane, tesela_status status) {
  if (status == TESELA_OK || lane->is_over)
    return TESELA_OK;
  lane->status = status;
  tsl_status_save(&lane->failure);
  abort_messages(lane);
  return tsl_failure_broadcast_raise(&lane->alarm);
}

/* Sets *yes to whether the condition holds; `batch` may be ignored. */
typedef tesela_status (*question)(const tsl_lane *lane, int batch, bool *yes);

static tesela_status is_ready(const tsl_lane *lane, int batch, bool *yes) {
  (void)batch;
  TSL_TRY(tsl_api_enter(lane->home));
  const tesela_status status = tsl_nccl_ready(&lane->nccl, yes);
  tsl_api_leave(lane->home);
  return status;
}

static tesela_status is_complete(const tsl_lane *lane, int batch, bool *yes) {
  bool ready;
  TSL_TRY(is_ready(lane, batch, &ready));
  return tsl_api_event_done(lane->marks[batch], yes);
}

/* Polls until yes, a failure, or a broadcast. Yields after 0.1 ms and sleeps after 1 ms. */
static tesela_status wait_until(tsl_lane *lane, question asked, int batch) {
  static const struct timespec moment = {.tv_nsec = 50000};
  const double begin = tsl_clock();
  bool yes = false, raised = false;
  while (!lane->is_over) {
    const tesela_status status = asked(lane, batch, &yes);
    if (status != TESELA_OK)
      return gpu_transport_keep(lane, status);
    if (yes)
      break;
    TSL_TRY(tsl_failure_broadcast_poll(&lane->alarm, &raised));
    if (raised)
      abort_messages(lane);
    else if (tsl_clock() - begin > 1e-3)
      nanosleep(&moment, NULL);
    else if (tsl_clock() - begin > 1e-4)
      sched_yield();
  }
  return TESELA_OK;
}

/* Rank's device, gathered by all ranks. */
typedef struct card {
  uint64_t host;   /* host_number() */
  int64_t version; /* version of NCCL, as in tsl_nccl */
  char pci[TSL_API_CARD_BYTES];
} card;

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

static tesela_status gpu_transport_prepare(tsl_lane *lane, card *card_in) {
  card_in->host = host_number();
  TSL_TRY(tsl_failure_broadcast_reserve(lane->ranks));
  TSL_TRY(tsl_nccl_load(&lane->nccl));
  card_in->version = lane->nccl.version;
  print_nccl_version(lane->nccl.version, lane->name, sizeof lane->name);
  TSL_TRY(tesela_context_create(&(tesela_context_desc){.device = lane->device}, &lane->keeper));
  TSL_TRY(tsl_api_card(lane->keeper, lane->device, card_in->pci));
  return tesela_stream_create(lane->keeper, lane->device, &lane->home);
}

/* Compares versions of NCCL and refuses ranks that share a GPU. Equal on all ranks. */
static tesela_status gpu_transport_compare(const card *cards, int count) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      if (cards[i].version != cards[j].version)
        return tsl_fail(TESELA_UNSUPPORTED, "ranks %d and %d have different versions of NCCL (%lld and %lld)",
                        j, i, (long long)cards[j].version, (long long)cards[i].version);
      if (cards[i].host == cards[j].host && memcmp(cards[i].pci, cards[j].pci, sizeof cards[i].pci) == 0)
        return tsl_fail(TESELA_UNSUPPORTED,
                        "ranks %d and %d share a GPU (%s), but NCCL needs one for each rank", j, i,
                        cards[i].pci);
    }
  return TESELA_OK;
}

static tesela_status make_id(const tsl_lane *lane, tsl_nccl_id *id) {
  tesela_status status = TESELA_OK;
  if (lane->ranks->rank == 0)
    status = tsl_nccl_make_id(&lane->nccl, id);
  TSL_TRY(tsl_agree(lane->ranks, status));
  return lane->ranks->ops->broadcast(lane->ranks, 0, id, sizeof *id);
}

/* Joins the NCCL communicator. Collective; returns early if a rank fails. */
static tesela_status join_communicator(tsl_lane *lane, const tsl_nccl_id *id) {
  bool raised;
  lane->is_over = false;
  lane->status = TESELA_OK;
  TSL_TRY(tsl_failure_broadcast_start(&lane->alarm, lane->ranks));
  TSL_TRY(gpu_transport_keep(lane, tsl_nccl_join(&lane->nccl, lane->ranks->size, lane->ranks->rank, id)));
  TSL_TRY(wait_until(lane, is_ready, 0));
  TSL_TRY(tsl_failure_broadcast_end(&lane->alarm, &raised));
  return tsl_agree(lane->ranks, tsl_lane_status(lane));
}

static tesela_status make_with(tsl_lane *lane, const card *card_in, card *cards) {
  tsl_nccl_id id = {{0}};
  TSL_TRY(lane->ranks->ops->gather(lane->ranks, card_in, sizeof *card_in, cards));
  TSL_TRY(gpu_transport_compare(cards, lane->ranks->size));
  /* NCCL is called with the rank's device current. */
  const tesela_status entered = tsl_api_enter(lane->home);
  tesela_status status = tsl_agree(lane->ranks, entered);
  if (status == TESELA_OK)
    status = make_id(lane, &id);
  if (status == TESELA_OK)
    status = join_communicator(lane, &id);
  if (entered == TESELA_OK)
    tsl_api_leave(lane->home);
  return status;
}

static void release_transport(tsl_lane *lane, bool aborts) {
  end_nccl(lane, aborts);
  tesela_stream_destroy(lane->home);
  tesela_context_destroy(lane->keeper);
  lane->home = NULL;
  lane->keeper = NULL;
}

/* Releases the transport for good; messages then pass through host memory. Rank 0 logs `why`. */
static void gpu_transport_give_up(tsl_lane *lane, const char *why) {
  if (lane->ranks->rank == 0)
    tsl_log(TSL_LOG_PLAN, "ranks' messages pass through host memory: %s", why);
  lane->is_refused = true;
  release_transport(lane, true);
}

/* Makes this rank's transport, or marks it as refused. Collective. */
static void gpu_transport_make(tsl_ranks *ranks, const tsl_rank_place *place) {
  void *block = NULL;
  card own = {0}, *cards = calloc((size_t)ranks->size, sizeof *cards);
  tsl_lane *lane = ranks->lane;
  tesela_status status =
      cards ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for %d ranks' devices", ranks->size);
  if (lane)
    release_transport(lane, false);
  else if (status == TESELA_OK)
    status = tsl_alloc_zeroed(sizeof *lane, "messages between devices", &block);
  lane = lane ? lane : block;
  if (lane) {
    *lane = (tsl_lane){.ranks = ranks};
    snprintf(lane->device, sizeof lane->device, "%s", place->device);
    ranks->lane = lane;
  }
  if (status == TESELA_OK)
    status = gpu_transport_prepare(lane, &own);
  status = tsl_agree(ranks, status);
  if (status == TESELA_OK)
    status = make_with(lane, &own, cards);
  if (status != TESELA_OK && lane)
    gpu_transport_give_up(lane, tesela_last_error());
  else if (status == TESELA_OK && ranks->rank == 0)
    tsl_log(TSL_LOG_PLAN, "ranks' messages go from device to device by %s", lane->name);
  free(cards);
}

tesela_status tsl_lane_find(tsl_ranks *ranks, const tsl_rank_place *place, tsl_lane **out, bool *on_devices) {
  enum { HOST, NONE, WANTED, THERE };
  const tsl_lane *lane = ranks->lane;
  const bool is_same = lane && strcmp(lane->device, place->device) == 0;
  const int own = !tsl_place_is_device(place)   ? HOST
                  : is_same && lane->is_refused ? NONE
                  : is_same                     ? THERE
                                                : WANTED;
  double least;
  *out = NULL;
  TSL_TRY(ranks->ops->least(ranks, own, &least));
  if (least == WANTED) {
    tsl_status_saved saved;
    tsl_status_save(&saved);
    gpu_transport_make(ranks, place);
    tsl_status_restore(&saved);
  }
  *on_devices = least > HOST;
  if (least > NONE && ranks->lane && !ranks->lane->is_refused)
    *out = ranks->lane;
  return TESELA_OK;
}

const char *tsl_lane_name(const tsl_lane *lane) {
  return lane->name;
}

void tsl_lane_free(tsl_lane *lane) {
  if (!lane)
    return;
  release_transport(lane, false);
  tsl_free(lane);
}

tesela_status tsl_lane_start(tsl_lane *lane, tesela_context *context) {
  lane->is_over = false;
  lane->status = TESELA_OK;
  lane->is_broken = false;
  memset(lane->is_marked, 0, sizeof lane->is_marked);
  TSL_TRY(tesela_stream_create(context, lane->device, &lane->stream));
  for (int i = 0; i < TSL_LANE_BATCHES; i++)
    TSL_TRY(tesela_event_create(lane->stream, &lane->marks[i]));
  return TESELA_OK;
}

tesela_status tsl_lane_arm(tsl_lane *lane) {
  return tsl_failure_broadcast_start(&lane->alarm, lane->ranks);
}

/* Waits for all ranks; if any failed, marks the transport as broken and aborts the messages. */
static tesela_status end_failure_broadcast(tsl_lane *lane) {
  bool raised;
  TSL_TRY(tsl_failure_broadcast_end(&lane->alarm, &raised));
  lane->is_broken = lane->is_broken || raised;
  if (raised)
    abort_messages(lane);
  return TESELA_OK;
}

tesela_status tsl_lane_meet(tsl_lane *lane) {
  TSL_TRY(end_failure_broadcast(lane));
  return tsl_lane_arm(lane);
}

tesela_status tsl_lane_end(tsl_lane *lane) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  for (int i = 0; i < TSL_LANE_BATCHES; i++)
    TSL_TRY(tsl_lane_wait(lane, i));
  TSL_TRY(end_failure_broadcast(lane));
  /* Copies may still run after the messages were aborted. */
  (void)tesela_stream_wait(lane->stream);
  if (lane->is_broken)
    gpu_transport_give_up(lane, "messages between devices have failed");
  tsl_status_restore(&saved);
  return TESELA_OK;
}

void tsl_lane_stop(tsl_lane *lane) {
  for (int i = 0; i < TSL_LANE_BATCHES; i++) {
    tesela_event_destroy(lane->marks[i]);
    lane->marks[i] = NULL;
  }
  tesela_stream_destroy(lane->stream);
  lane->stream = NULL;
}

bool tsl_lane_reaches(const tsl_lane *lane, const tesela_buffer *buffer) {
  return tsl_api_is_of(lane->stream, buffer);
}

tesela_status tsl_lane_copy(tsl_lane *lane, const tsl_api_rows *rows) {
  return lane->is_over ? TESELA_OK : gpu_transport_keep(lane, tsl_api_copy_rows(lane->stream, rows));
}

bool tsl_lane_rounds(const tsl_lane *lane, tesela_type type) {
  return tsl_api_rounds(lane->stream, type);
}

tesela_status tsl_lane_round(tsl_lane *lane, const tsl_api_rounded_sum *rounding) {
  return lane->is_over ? TESELA_OK : gpu_transport_keep(lane, tsl_api_round(lane->stream, rounding));
}

bool tsl_lane_adds(const tsl_lane *lane, tesela_type type) {
  return tsl_api_adds(lane->stream, type);
}

tesela_status tsl_lane_add(tsl_lane *lane, const tsl_api_adding *adding) {
  return lane->is_over ? TESELA_OK : gpu_transport_keep(lane, tsl_api_add(lane->stream, adding));
}

static tesela_status gpu_transport_exchange(const tsl_lane *lane, const tsl_message *parcels, int count) {
  void *stream = tesela_stream_native(lane->stream);
  TSL_TRY(tsl_nccl_group(&lane->nccl));
  tesela_status status = TESELA_OK;
  for (int i = 0; i < count && status == TESELA_OK; i++) {
    const tsl_message *p = &parcels[i];
    char *address = (char *)tesela_buffer_native(p->buffer) + p->offset;
    status = p->is_send ? tsl_nccl_send(&lane->nccl, p->other, address, p->bytes, stream)
                        : tsl_nccl_receive(&lane->nccl, p->other, address, p->bytes, stream);
  }
  /* The thread that began a group must end it, even after a failure. */
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status ended = tsl_nccl_group_end(&lane->nccl);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return status != TESELA_OK ? status : ended;
}

tesela_status tsl_lane_exchange(tsl_lane *lane, const tsl_message *parcels, int count) {
  if (lane->is_over || count == 0)
    return TESELA_OK;
  for (int i = 0; i < count; i++)
    *(parcels[i].is_send ? &lane->ranks->sent : &lane->ranks->received) += parcels[i].bytes;
  tesela_status status = tsl_api_enter(lane->home);
  if (status == TESELA_OK) {
    status = gpu_transport_exchange(lane, parcels, count);
    tsl_api_leave(lane->home);
  }
  TSL_TRY(gpu_transport_keep(lane, status));
  return wait_until(lane, is_ready, 0);
}

tesela_status tsl_lane_mark(tsl_lane *lane, int batch) {
  if (lane->is_over)
    return TESELA_OK;
  lane->is_marked[batch] = true;
  return gpu_transport_keep(lane, tesela_event_record(lane->marks[batch], lane->stream));
}

tesela_status tsl_lane_wait(tsl_lane *lane, int batch) {
  const bool waits = lane->is_marked[batch];
  lane->is_marked[batch] = false;
  return waits ? wait_until(lane, is_complete, batch) : TESELA_OK;
}

tesela_status tsl_lane_status(const tsl_lane *lane) {
  if (lane->status != TESELA_OK)
    tsl_status_restore(&lane->failure);
  return lane->status;
}
