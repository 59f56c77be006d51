#include "core/env.h"
#include "core/library.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

#include <pthread.h>

tsl_cu_api tsl_cuda;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(member, symbol, parameters) {#symbol, offsetof(tsl_cu_api, member), 0},
    TSL_CU_LIST(SYMBOL)
#undef SYMBOL
#define SYMBOL(member, symbol, parameters) {#symbol, offsetof(tsl_cu_api, member), 1},
        TSL_CU_NEWER_LIST(SYMBOL)
#undef SYMBOL
};

typedef struct result_row {
  int code;
  tesela_status status;
  bool ends_context;
} result_row;

static const result_row results[] = {
#define RESULT(name, code, status, ends) {code, status, ends},
    TSL_CU_RESULT_LIST(RESULT)
#undef RESULT
};

tesela_status tsl_cuda_load(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  static const char *const names[] = {"libcuda.so.1", NULL};
  const char *chosen = tsl_env_get(TSL_ENV_CUDA);
  tsl_cu_api found;
  TSL_TRY(tsl_library_load("the CUDA driver", *chosen ? chosen : NULL, names, symbols,
                           sizeof symbols / sizeof *symbols, &found));
  pthread_mutex_lock(&lock);
  if (!loaded)
    tsl_cuda = found;
  loaded = true;
  pthread_mutex_unlock(&lock);
  return TESELA_OK;
}

static const char *driver_name_of(int code) {
  const char *text = NULL;
  return tsl_cuda.error_name(code, &text) == TSL_CU_SUCCESS && text ? text : "a result without a name";
}
static const char *driver_text_of(int code) {
  const char *text = NULL;
  return tsl_cuda.error_text(code, &text) == TSL_CU_SUCCESS && text ? text : "unknown to this driver";
}

tesela_status tsl_cuda_fail(tsl_device *device, const char *call, int code, const char *more) {
  const char *who = device ? device->name : "cuda";
  const result_row *row = NULL;
  for (size_t i = 0; i < sizeof results / sizeof *results && !row; i++)
    row = results[i].code == code ? &results[i] : NULL;
  const tesela_status status = row ? row->status : TESELA_DEVICE_FAILED;
  if (code == TSL_CU_NOT_INITIALIZED)
    return tsl_fail(status, "%s: %s: %s (%s)%s; after a fork, a child process cannot use its parent's CUDA",
                    who, call, driver_name_of(code), driver_text_of(code), more);
  if (row && row->ends_context && device) {
    tsl_cuda_device *own = device->impl;
    atomic_store(&own->ended, code);
    return tsl_fail(status, "%s: %s: %s (%s)%s; the device cannot be used any more in this process", who,
                    call, driver_name_of(code), driver_text_of(code), more);
  }
  return tsl_fail(status, "%s: %s: %s (%s)%s", who, call, driver_name_of(code), driver_text_of(code), more);
}

int tsl_cuda_attribute(tsl_cu_device ordinal, tsl_cu_attribute attribute) {
  int value = 0;
  return tsl_cuda.device_attribute(&value, attribute, ordinal) == TSL_CU_SUCCESS ? value : 0;
}

tesela_status tsl_cuda_enter(tsl_device *device) {
  tsl_cuda_device *own = device->impl;
  const int ended = atomic_load(&own->ended);
  if (ended != 0)
    return tsl_fail(TESELA_DEVICE_FAILED,
                    "%s: cannot be used any more in this process, since an earlier call ended with %s (%s)",
                    device->name, driver_name_of(ended), driver_text_of(ended));
  const int code = tsl_cuda.context_push(own->context);
  return code == TSL_CU_SUCCESS ? TESELA_OK : tsl_cuda_fail(device, "cuCtxPushCurrent", code, "");
}

tesela_status tsl_cuda_leave(tsl_device *device, const char *call, int code) {
  tsl_cuda_leave_quietly();
  return code == TSL_CU_SUCCESS ? TESELA_OK : tsl_cuda_fail(device, call, code, "");
}

bool tsl_cuda_is_entered(tsl_device *device) {
  const tsl_cuda_device *own = device->impl;
  tsl_cu_context current = NULL;
  return atomic_load(&own->ended) == 0 && tsl_cuda.context_current(&current) == TSL_CU_SUCCESS &&
         current == own->context;
}

bool tsl_cuda_enter_quietly(tsl_device *device) {
  tsl_cuda_device *own = device->impl;
  return atomic_load(&own->ended) == 0 && tsl_cuda.context_push(own->context) == TSL_CU_SUCCESS;
}

void tsl_cuda_leave_quietly(void) {
  tsl_cu_context ours;
  tsl_cuda.context_pop(&ours);
}
