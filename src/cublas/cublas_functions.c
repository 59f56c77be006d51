#include "cublas/cublas_functions.h"

#include "cublas/cublas_route.h"

#include <pthread.h>
#include <string.h>

typedef int get_pointer(const void *handle, void **value);
typedef int get_int(const void *handle, int *value);

typedef struct getters {
  get_pointer *stream;
  get_int *pointer_mode, *math_mode, *sm_count;
} getters;

static getters found_getters;
static pthread_once_t getters_once = PTHREAD_ONCE_INIT;
static tsl_next_function *_Atomic some_function; /* any function of the program's cuBLAS */

tsl_next_function *tsl_cublas_beside(tsl_next_function *function, const char *name) {
  void *address;
  memcpy(&address, &function, sizeof address);
  return tsl_interpose_function(tsl_loaded_in_library_of(address, name));
}

static void find_getters(void) {
  tsl_next_function *function = atomic_load(&some_function);
  found_getters = (getters){.stream = (get_pointer *)tsl_cublas_beside(function, "cublasGetStream_v2"),
                            .pointer_mode = (get_int *)tsl_cublas_beside(function, "cublasGetPointerMode_v2"),
                            .math_mode = (get_int *)tsl_cublas_beside(function, "cublasGetMathMode"),
                            .sm_count = (get_int *)tsl_cublas_beside(function, "cublasGetSmCountTarget")};
}

bool tsl_cublas_handle_read(tsl_next_function *next, const void *handle, tsl_cublas_handle *out) {
  if (!atomic_load_explicit(&some_function, memory_order_relaxed))
    atomic_store(&some_function, next);
  pthread_once(&getters_once, find_getters);
  const getters *get = &found_getters;
  out->sm_count = 0; /* unknown to older versions */
  return get->stream && get->pointer_mode && get->math_mode &&
         get->pointer_mode(handle, &out->pointer_mode) == TSL_CUBLAS_SUCCESS &&
         get->math_mode(handle, &out->math_mode) == TSL_CUBLAS_SUCCESS &&
         get->stream(handle, &out->stream) == TSL_CUBLAS_SUCCESS &&
         (!get->sm_count || get->sm_count(handle, &out->sm_count) == TSL_CUBLAS_SUCCESS);
}

/* CUDA's driver; int results are codes, 0 for success. */
typedef int get_context(void **context);
typedef int get_device(int *ordinal);
typedef int retain_primary(void **context, int ordinal);
typedef int capture_status(const void *stream, int *status);
typedef int query_stream(const void *stream);
typedef int exchange_capture_mode(int *mode);

typedef struct driver {
  get_context *current;
  get_device *device;
  retain_primary *retain;
  capture_status *status;
  query_stream *query;
  exchange_capture_mode *exchange;
} driver;

static driver found_driver;
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

static tsl_next_function *driver_function(const char *name) {
  tsl_lazy_symbol symbol = {.found = NULL};
  return tsl_interpose_program(&symbol, name);
}

static void find_driver(void) {
  found_driver =
      (driver){.current = (get_context *)driver_function("cuCtxGetCurrent"),
               .device = (get_device *)driver_function("cuCtxGetDevice"),
               .retain = (retain_primary *)driver_function("cuDevicePrimaryCtxRetain"),
               .status = (capture_status *)driver_function("cuStreamIsCapturing"),
               .query = (query_stream *)driver_function("cuStreamQuery"),
               .exchange = (exchange_capture_mode *)driver_function("cuThreadExchangeStreamCaptureMode")};
}

static const driver *get_driver(void) {
  pthread_once(&driver_once, find_driver);
  return &found_driver;
}

enum { DEVICES = 64 };
static _Atomic(void *) primary_contexts[DEVICES]; /* by ordinal; kept alive by find_device() */

/* Returns the ordinal of the current context's device if that context is the primary one; else -1. */
static int find_device(const void *context) {
  const driver *cuda = get_driver();
  void *primary = NULL;
  int ordinal = -1;
  if (cuda->device(&ordinal) != 0 || ordinal < 0 || ordinal >= DEVICES ||
      (!atomic_load(&primary_contexts[ordinal]) && cuda->retain(&primary, ordinal) != 0))
    return -1;
  if (primary)
    atomic_store_explicit(&primary_contexts[ordinal], primary, memory_order_relaxed);
  return primary == context ? ordinal : -1;
}

int tsl_cublas_current_device(void) {
  void *context = NULL;
  if (tsl_cublas_on_host())
    return 0;
  const driver *cuda = get_driver();
  if (!cuda->current || !cuda->device || !cuda->retain || cuda->current(&context) != 0 || !context)
    return -1;
  for (int i = 0; i < DEVICES; i++)
    if (atomic_load_explicit(&primary_contexts[i], memory_order_relaxed) == context)
      return i;
  return find_device(context);
}

bool tsl_cublas_is_capturing(const void *stream) {
  int status = 0;
  if (tsl_cublas_on_host())
    return false;
  const driver *cuda = get_driver();
  return !cuda->status || cuda->status(stream, &status) != 0 || status != 0;
}

/* A query spoils graphs that other threads record, but for the relaxed mode. */
bool tsl_cublas_is_idle(const void *stream) {
  if (tsl_cublas_on_host())
    return true;
  const driver *cuda = get_driver();
  const int mode = tsl_cublas_capture_mode(TSL_CAPTURE_RELAXED);
  const bool is_idle = cuda->query && cuda->query(stream) == 0;
  (void)tsl_cublas_capture_mode(mode);
  return is_idle;
}

int tsl_cublas_capture_mode(int mode) {
  const driver *cuda = tsl_cublas_on_host() ? NULL : get_driver();
  if (cuda && cuda->exchange)
    (void)cuda->exchange(&mode);
  return mode;
}
