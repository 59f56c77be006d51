/* NCCL, loaded at run time, for point-to-point messages only. No call blocks on other ranks: communicators
 * are non-blocking (NCCL 2.14) and are polled. The rank's device must be entered (api/device_p2p.h) for all
 * calls except tsl_nccl_load(). One thread at a time uses a communicator. Errors: TESELA_NO_DEVICE without
 * the library, else TESELA_DEVICE_FAILED with NCCL's message. */
#ifndef TSL_COMM_NCCL_H
#define TSL_COMM_NCCL_H

#include "comm/nccl/nccl_api.h"

#include <stdbool.h>
#include <tesela/tesela.h>

/* Maximum blocks of NCCL's kernels, each on one multiprocessor: more slow down products. NCCL_MAX_CTAS
 * overrides it; NCCL before 2.17 has no limit. */
enum { TSL_NCCL_BLOCKS = 16 };

typedef struct tsl_nccl {
  tsl_nccl_api api;
  int version;             /* 22703 is 2.27.3 */
  struct ncclComm *handle; /* NULL: none */
} tsl_nccl;

/* Made on one rank and broadcast. */
typedef struct tsl_nccl_id {
  char bytes[TSL_NCCL_ID_BYTES];
} tsl_nccl_id;

/* Loads the library named by TESELA_NCCL, or the system's. */
tesela_status tsl_nccl_load(tsl_nccl *nccl);
tesela_status tsl_nccl_make_id(const tsl_nccl *nccl, tsl_nccl_id *id);
/* Begins to join the communicator. */
tesela_status tsl_nccl_join_begin(tsl_nccl *nccl, int ranks, int rank, const tsl_nccl_id *id);
/* Sets *ready to whether the last operation is in the stream, or all ranks have joined; returns failures. */
tesela_status tsl_nccl_ready(const tsl_nccl *nccl, bool *ready);

/* Begins a group, which is in the stream when tsl_nccl_ready() sets true. Messages of one direction between
 * two ranks match in order. After a failure within a group, end the communicator. */
tesela_status tsl_nccl_group_begin(const tsl_nccl *nccl);
tesela_status tsl_nccl_send(const tsl_nccl *nccl, int destination, const void *address, size_t bytes,
                            void *stream);
tesela_status tsl_nccl_receive(const tsl_nccl *nccl, int from, void *address, size_t bytes, void *stream);
tesela_status tsl_nccl_group_end(const tsl_nccl *nccl);

/* Frees the communicator; if `aborts`, aborts pending messages. */
void tsl_nccl_end(tsl_nccl *nccl, bool aborts);

#endif
