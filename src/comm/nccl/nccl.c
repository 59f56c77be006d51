#include "comm/nccl/nccl.h"

#include "core/env.h"
#include "core/library.h"
#include "core/status.h"

#include <string.h>

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_nccl_api, member), 0},
    TSL_NCCL_LIST(SYMBOL)
#undef SYMBOL
};

/* Fails with NCCL's texts for the result and the last error. */
static tesela_status nccl_check(const tsl_nccl *nccl, const char *call, int result) {
  if (result == TSL_NCCL_SUCCESS || result == TSL_NCCL_IN_PROGRESS)
    return TESELA_OK;
  const char *text = nccl->api.error_text(result), *last = nccl->api.last_error(nccl->handle);
  return tsl_fail(TESELA_DEVICE_FAILED, "NCCL: %s: %s%s%s", call, text ? text : "a result without a name",
                  last && *last ? ": " : "", last ? last : "");
}

tesela_status tsl_nccl_load(tsl_nccl *nccl) {
  static const char *const names[] = {"libnccl.so.2", NULL};
  const char *chosen = tsl_env_get(TSL_ENV_NCCL);
  *nccl = (tsl_nccl){.handle = NULL};
  TSL_TRY(tsl_library_load("NCCL", *chosen ? chosen : NULL, names, symbols, sizeof symbols / sizeof *symbols,
                           &nccl->api));
  return nccl_check(nccl, "ncclGetVersion", nccl->api.version(&nccl->version));
}

tesela_status tsl_nccl_make_id(const tsl_nccl *nccl, tsl_nccl_id *id) {
  tsl_nccl_unique_id own;
  TSL_TRY(nccl_check(nccl, "ncclGetUniqueId", nccl->api.unique_id(&own)));
  memcpy(id->bytes, own.internal, sizeof id->bytes);
  return TESELA_OK;
}

tesela_status tsl_nccl_join_begin(tsl_nccl *nccl, int ranks, int rank, const tsl_nccl_id *id) {
  tsl_nccl_unique_id own;
  tsl_nccl_config config = {.size = sizeof config,
                            .magic = TSL_NCCL_MAGIC,
                            .version = TSL_NCCL_VERSION_WITH_BLOCKS,
                            .cluster = TSL_NCCL_BY_ITSELF,
                            .blocks_min = TSL_NCCL_BY_ITSELF,
                            .blocks_max = TSL_NCCL_BLOCKS};
  if (nccl->version < TSL_NCCL_VERSION_WITH_BLOCKS) {
    config.size =
        /* 2.14's size: ends with `blocking` and padding */
        offsetof(tsl_nccl_config, blocks_min);
    config.version = TSL_NCCL_VERSION_MIN;
  }
  memcpy(own.internal, id->bytes, sizeof own.internal);
  return nccl_check(nccl, "ncclCommInitRankConfig", nccl->api.join(&nccl->handle, ranks, own, rank, &config));
}

tesela_status tsl_nccl_ready(const tsl_nccl *nccl, bool *ready) {
  int state = TSL_NCCL_SUCCESS;
  *ready = false;
  TSL_TRY(nccl_check(nccl, "ncclCommGetAsyncError", nccl->api.state(nccl->handle, &state)));
  *ready = state == TSL_NCCL_SUCCESS;
  return nccl_check(nccl, "messages", state);
}

tesela_status tsl_nccl_group_begin(const tsl_nccl *nccl) {
  return nccl_check(nccl, "ncclGroupStart", nccl->api.group_start());
}

tesela_status tsl_nccl_send(const tsl_nccl *nccl, int destination, const void *address, size_t bytes,
                            void *stream) {
  return nccl_check(nccl, "ncclSend",
                    nccl->api.send(address, bytes, TSL_NCCL_INT8, destination, nccl->handle, stream));
}

tesela_status tsl_nccl_receive(const tsl_nccl *nccl, int from, void *address, size_t bytes, void *stream) {
  return nccl_check(nccl, "ncclRecv",
                    nccl->api.receive(address, bytes, TSL_NCCL_INT8, from, nccl->handle, stream));
}

tesela_status tsl_nccl_group_end(const tsl_nccl *nccl) {
  return nccl_check(nccl, "ncclGroupEnd", nccl->api.group_end());
}

void tsl_nccl_end(tsl_nccl *nccl, bool aborts) {
  if (nccl->handle)
    (void)(aborts ? nccl->api.abort : nccl->api.destroy)(nccl->handle);
  nccl->handle = NULL;
}
