/* NCCL, NVIDIA's library of messages between GPUs: loaded at run time, and known to this folder alone. What
 * is used of it are messages from one rank to another; sums are made here, in an order of our own. No call
 * waits for other ranks: what is begun is asked about, so that a rank that has failed keeps nobody waiting
 * (communicators that do not block, NCCL 2.14).
 *
 * The rank's device is entered (api/device_p2p.h) for all calls but tsl_nccl_load(). One thread at a time
 * uses a communicator. Errors: TESELA_NO_DEVICE where there is no such library, else TESELA_DEVICE_FAILED
 * with NCCL's words. */
#ifndef TSL_COMM_NCCL_H
#define TSL_COMM_NCCL_H

#include "comm/nccl/nccl_api.h"

#include <stdbool.h>
#include <tesela/tesela.h>

/* Blocks of the kernels that carry messages, each on a multiprocessor, at most, as products run beside them:
 * more carry little more, and cost products more than their own multiprocessors. NCCL_MAX_CTAS sets another
 * number; before 2.17 NCCL takes what it likes. */
enum { TSL_NCCL_BLOCKS = 16 };

/* A rank's part of a communicator. */
typedef struct tsl_nccl {
  tsl_nccl_api api;
  int version;             /* 22703 is 2.27.3 */
  struct ncclComm *handle; /* NULL: there is none */
} tsl_nccl;

/* Bytes by which ranks find each other: made on one of them. */
typedef struct tsl_nccl_id {
  char bytes[TSL_NCCL_ID_BYTES];
} tsl_nccl_id;

/* Loads the library that TESELA_NCCL names, or the system's. */
tesela_status tsl_nccl_load(tsl_nccl *nccl);
tesela_status tsl_nccl_make_id(const tsl_nccl *nccl, tsl_nccl_id *id);
/* Begins to meet the other ranks. */
tesela_status tsl_nccl_join(tsl_nccl *nccl, int ranks, int rank, const tsl_nccl_id *id);
/* Whether what was begun is under way in the stream, or the ranks have met; and what has failed since. */
tesela_status tsl_nccl_ready(const tsl_nccl *nccl, bool *ready);

/* Messages between these two travel together; they are in order of the stream once tsl_nccl_ready() says so.
 * Between two ranks those of a direction meet in the order in which they were given. After a failure between
 * the two, the communicator is only good to be ended. */
tesela_status tsl_nccl_group(const tsl_nccl *nccl);
tesela_status tsl_nccl_send(const tsl_nccl *nccl, int end, const void *address, size_t bytes, void *stream);
tesela_status tsl_nccl_receive(const tsl_nccl *nccl, int from, void *address, size_t bytes, void *stream);
tesela_status tsl_nccl_group_end(const tsl_nccl *nccl);

/* Frees it: at once, with messages that have not come to an end, where it `aborts`. */
void tsl_nccl_end(tsl_nccl *nccl, bool aborts);

#endif
