/* NCCL's functions, structs and numbers, from its documentation. */
#ifndef TSL_COMM_NCCL_API_H
#define TSL_COMM_NCCL_API_H

#include <limits.h>
#include <stddef.h>

enum { TSL_NCCL_ID_BYTES = 128 };

typedef struct tsl_nccl_unique_id {
  char internal[TSL_NCCL_ID_BYTES];
} tsl_nccl_unique_id;

/* Settings of a communicator: 2.14's, and 2.17's from `cluster` on. Later versions accept shorter structs. */
typedef struct tsl_nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking, cluster, blocks_min, blocks_max;
} tsl_nccl_config;

enum {
  TSL_NCCL_VERSION_MIN = 21400,
  TSL_NCCL_VERSION_WITH_BLOCKS = 21700,
  TSL_NCCL_BY_ITSELF = INT_MIN,
  TSL_NCCL_SUCCESS = 0,
  TSL_NCCL_IN_PROGRESS = 7,
  TSL_NCCL_INT8 = 0
};
#define TSL_NCCL_MAGIC 0xcafebeefu

struct ncclComm;

/* X(type, member, symbol, parameters). */
#define TSL_NCCL_LIST(X)                                                                                     \
  X(int, version, ncclGetVersion, (int *version))                                                            \
  X(int, unique_id, ncclGetUniqueId, (tsl_nccl_unique_id * id))                                              \
  X(int, join, ncclCommInitRankConfig,                                                                       \
    (struct ncclComm * *comm, int ranks, tsl_nccl_unique_id id, int rank, tsl_nccl_config *config))          \
  X(int, state, ncclCommGetAsyncError, (struct ncclComm * comm, int *state))                                 \
  X(int, abort, ncclCommAbort, (struct ncclComm * comm))                                                     \
  X(int, destroy, ncclCommDestroy, (struct ncclComm * comm))                                                 \
  X(int, group_start, ncclGroupStart, (void))                                                                \
  X(int, group_end, ncclGroupEnd, (void))                                                                    \
  X(int, send, ncclSend,                                                                                     \
    (const void *address, size_t count, int type, int peer, struct ncclComm *comm, void *stream))            \
  X(int, receive, ncclRecv,                                                                                  \
    (void *address, size_t count, int type, int peer, struct ncclComm *comm, void *stream))                  \
  X(const char *, error_text, ncclGetErrorString, (int result))                                              \
  X(const char *, last_error, ncclGetLastError, (struct ncclComm * comm))

typedef struct tsl_nccl_api {
#define TSL_NCCL_MEMBER(type, member, symbol, parameters) type(*member) parameters;
  TSL_NCCL_LIST(TSL_NCCL_MEMBER)
#undef TSL_NCCL_MEMBER
} tsl_nccl_api;

#endif
