#include "cublas/cublas_queue.h"

#include "api/queue.h"
#include "cublas/cublas_functions.h"
#include "cublas/cublas_route.h"
#include "interpose/contexts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 512, WORKSPACE_MIN = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects additions to the tables below */
static _Atomic(tsl_cublas_device *) devices[TSL_CUBLAS_DEVICES];
static _Atomic(tsl_cublas_stream *)
    streams[STREAMS]; /* by the hash of the handle, then the next free place */

/* Returns the part of the device's memory that a stream's workspace may take. */
static size_t find_workspace_most(const tsl_cublas_device *device) {
  enum { PART = 128 };
  tesela_device info;
  for (int i = 0; tesela_device_info(device->context, i, &info) == TESELA_OK; i++)
    if (strcmp(info.name, device->name) == 0)
      return (size_t)(info.memory_bytes / PART);
  return 0;
}

/* Returns NULL after a failure. Needs the lock. */
static tsl_cublas_device *open_device(int ordinal) {
  tsl_cublas_device *device = calloc(1, sizeof *device);
  if (!device)
    return NULL;
  device->context = tsl_interpose_context(0);
  device->ordinal = ordinal;
  if (tsl_cublas_on_host())
    snprintf(device->name, sizeof device->name, "cpu");
  else
    snprintf(device->name, sizeof device->name, "cuda:%d", ordinal);
  if (device->context)
    device->anchor = tsl_queue_anchor(device->context, device->name);
  if (!device->anchor) {
    free(device);
    return NULL;
  }
  device->workspace_most = find_workspace_most(device);
  return device;
}

const tsl_cublas_device *tsl_cublas_device_open(int ordinal) {
  if (ordinal < 0 || ordinal >= TSL_CUBLAS_DEVICES)
    return NULL;
  tsl_cublas_device *device = atomic_load_explicit(&devices[ordinal], memory_order_acquire);
  if (device)
    return device;
  pthread_mutex_lock(&lock);
  device = atomic_load_explicit(&devices[ordinal], memory_order_relaxed);
  if (!device) {
    device = open_device(ordinal);
    atomic_store_explicit(&devices[ordinal], device, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return device;
}

static tesela_status wrap_stream(const tsl_cublas_device *device, void *native, tesela_stream **stream) {
  return tsl_cublas_on_host() ? tesela_stream_create(device->context, device->name, stream)
                              : tesela_stream_wrap(device->context, device->name, native, stream);
}

static unsigned first_place(const tsl_cublas_device *device, const void *native) {
  const uint64_t hash =
      ((uint64_t)(uintptr_t)native + (uint64_t)device->ordinal) * UINT64_C(0x9e3779b97f4a7c15);
  return (unsigned)(hash >> 32) % STREAMS;
}

/* Finds a stream, or the free place where it belongs. Returns -1: all places are taken. */
static int find_stream(const tsl_cublas_device *device, const void *native, tsl_cublas_stream **found) {
  const unsigned first = first_place(device, native);
  for (unsigned i = 0; i < STREAMS; i++) {
    const unsigned place = (first + i) % STREAMS;
    *found = atomic_load_explicit(&streams[place], memory_order_acquire);
    if (!*found || ((*found)->native == native && (*found)->device == device))
      return (int)place;
  }
  *found = NULL;
  return -1;
}

/* Returns NULL after a failure. Needs the lock. */
static tsl_cublas_stream *add_stream(const tsl_cublas_device *device, void *native) {
  tsl_cublas_stream *known;
  const int place = find_stream(device, native, &known);
  if (known || place < 0)
    return known;
  tsl_cublas_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    return NULL;
  stream->device = device;
  stream->native = native;
  if (wrap_stream(device, native, &stream->stream) != TESELA_OK) {
    free(stream);
    return NULL;
  }
  atomic_store_explicit(&streams[place], stream, memory_order_release);
  return stream;
}

tsl_cublas_stream *tsl_cublas_stream_get(const tsl_cublas_device *device, void *native) {
  tsl_cublas_stream *stream;
  (void)find_stream(device, native, &stream);
  if (stream)
    return stream;
  pthread_mutex_lock(&lock);
  stream = add_stream(device, native);
  pthread_mutex_unlock(&lock);
  return stream;
}

/* Needs the lock. */
static tesela_buffer *grow_workspace(tsl_cublas_stream *stream, size_t bytes) {
  tesela_buffer *now = atomic_load(&stream->workspace), *larger = NULL;
  size_t size = WORKSPACE_MIN;
  while (size < bytes)
    size *= 2;
  if (now && tesela_buffer_memory(now).bytes >= bytes)
    return now;
  const int mode = tsl_cublas_capture_mode(TSL_CAPTURE_RELAXED);
  if (tesela_buffer_create(stream->device->context, stream->device->name, size, &larger) == TESELA_OK)
    atomic_store_explicit(&stream->workspace, larger, memory_order_release);
  (void)tsl_cublas_capture_mode(mode);
  return larger;
}

tesela_buffer *tsl_cublas_stream_workspace(tsl_cublas_stream *stream, size_t bytes) {
  tesela_buffer *workspace = atomic_load_explicit(&stream->workspace, memory_order_acquire);
  if (workspace && tesela_buffer_memory(workspace).bytes >= bytes)
    return workspace;
  pthread_mutex_lock(&lock);
  workspace = grow_workspace(stream, bytes);
  pthread_mutex_unlock(&lock);
  return workspace;
}

void tsl_cublas_queue_forget(void) {
  pthread_mutex_init(&lock, NULL);
  for (int i = 0; i < TSL_CUBLAS_DEVICES; i++)
    atomic_store(&devices[i], NULL);
  for (int i = 0; i < STREAMS; i++)
    atomic_store(&streams[i], NULL);
}
