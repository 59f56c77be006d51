/* Messages between GPUs of a communicator by NCCL. The transport is made once for a communicator and
 * its devices, if each rank has its own GPU and NCCL is installed. Either all ranks have it, or no rank.
 *
 * A stream of the rank's device, separate from the products' streams, orders a call's copies and messages.
 * The host waits for data before a product reads it, and a product ends before its result is sent. Nothing is
 * added on the way.
 *
 * Failures: a rank's first failure is recorded and broadcast (comm/gpu_transport.c). Then the transport
 * does nothing on this rank and returns TESELA_OK, so that the rank reaches the next agreement. A rank that
 * receives the broadcast aborts its messages and does the same. A call's functions return only failures of
 * the ranks' own messages, which have no remedy. */
#ifndef TSL_COMM_GPU_TRANSPORT_H
#define TSL_COMM_GPU_TRANSPORT_H

#include "api/device_p2p.h"
#include "comm/comm.h"
#include "comm/rank_memory.h"

#include <stdbool.h>

typedef struct tsl_gpu_transport tsl_gpu_transport;

/* Groups of messages that are waited for separately. */
enum { TSL_GPU_TRANSPORT_BATCHES = 3 };

/* Finds or makes the transport. Collective. *transport is NULL if messages must pass through host memory;
 * rank 0 logs the reason. *on_devices: all ranks multiply on devices. */
tesela_status tsl_gpu_transport_find(tsl_ranks *ranks, const tsl_rank_device *rank_device,
                                     tsl_gpu_transport **transport, bool *on_devices);
/* Returns "NCCL 2.27.3". */
const char *tsl_gpu_transport_name(const tsl_gpu_transport *transport);
/* Frees the transport while the ranks exist. NULL is allowed. */
void tsl_gpu_transport_free(tsl_gpu_transport *transport);

/* Multiprocessors that a product leaves to messages. */
extern const int tsl_gpu_transport_units;

/* Order of calls: start (each rank alone), arm (collective, after all starts), end (collective), stop. */

/* Makes the stream and events of a call. TESELA_OUT_OF_MEMORY, TESELA_DEVICE_FAILED. */
tesela_status tsl_gpu_transport_start(tsl_gpu_transport *transport, tesela_context *context);
/* Begins the failure broadcast of a call. Collective. */
tesela_status tsl_gpu_transport_arm(tsl_gpu_transport *transport);
/* Waits for all ranks to call it, before they wait by means that do not poll the broadcast. */
tesela_status tsl_gpu_transport_barrier(tsl_gpu_transport *transport);
/* Waits for the call's work. Collective. After any failure the communicator never uses a transport again. */
tesela_status tsl_gpu_transport_end(tsl_gpu_transport *transport);
/* Frees the stream and events of tsl_gpu_transport_start(). */
void tsl_gpu_transport_stop(tsl_gpu_transport *transport);

/* Returns true if a buffer belongs to the call's context, between start and stop. */
bool tsl_gpu_transport_has_buffer(const tsl_gpu_transport *transport, const tesela_buffer *buffer);

tesela_status tsl_gpu_transport_copy(tsl_gpu_transport *transport, const tsl_api_rows *rows);

/* Returns true if the device can round f32 numbers to a type. */
bool tsl_gpu_transport_can_round(const tsl_gpu_transport *transport, tesela_type type);
tesela_status tsl_gpu_transport_round(tsl_gpu_transport *transport, const tsl_api_rounded_sum *rounding);

/* Returns true if the device can add sums of a type. */
bool tsl_gpu_transport_can_add(const tsl_gpu_transport *transport, tesela_type type);
tesela_status tsl_gpu_transport_add(tsl_gpu_transport *transport, const tsl_api_adding *adding);

typedef struct tsl_message {
  int other; /* the other rank */
  bool is_send;
  const tesela_buffer *buffer; /* written by a receive */
  size_t offset, bytes;
} tsl_message;
/* Enqueues all messages as one group. In each direction between two ranks they match in their order. */
tesela_status tsl_gpu_transport_exchange(tsl_gpu_transport *transport, const tsl_message *gpu_messages,
                                         int count);
/* Records a batch's end in the stream. */
tesela_status tsl_gpu_transport_mark(tsl_gpu_transport *transport, int batch);
/* Waits for a batch's last mark, if any. */
tesela_status tsl_gpu_transport_wait(tsl_gpu_transport *transport, int batch);
/* Returns this rank's first failure and its message. */
tesela_status tsl_gpu_transport_status(const tsl_gpu_transport *transport);

#endif
