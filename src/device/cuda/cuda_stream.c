#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

struct tsl_event {
  tsl_device *device;
  tsl_cu_event handle;
};

tesela_status tsl_cuda_stream_create(tsl_device *device, tsl_stream **stream) {
  tesela_status status;
  void *block;
  *stream = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_stream), "a stream", &block));
  tsl_stream *made = block;
  made->device = device;
  TSL_GO(tsl_cuda_enter(device));
  TSL_GO(tsl_cuda_leave(device, "cuStreamCreate",
                        tsl_cuda.stream_create(&made->handle, TSL_CU_STREAM_NON_BLOCKING)));
  *stream = made;
  return TESELA_OK;
out:
  tsl_free(made);
  return status;
}

void tsl_cuda_stream_destroy(tsl_stream *stream) {
  if (!stream)
    return;
  if (!stream->adopted && tsl_cuda_enter_quietly(stream->device)) {
    tsl_cuda.stream_finish(stream->handle);
    tsl_cuda.stream_destroy(stream->handle);
    tsl_cuda_leave_quietly();
  }
  tsl_free(stream);
}

tesela_status tsl_cuda_finish(tsl_stream *stream) {
  TSL_TRY(tsl_cuda_enter(stream->device));
  return tsl_cuda_leave(stream->device, "cuStreamSynchronize", tsl_cuda.stream_finish(stream->handle));
}

tesela_status tsl_cuda_event_create(tsl_device *device, tsl_event **event) {
  tesela_status status;
  void *block;
  *event = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_event), "an event", &block));
  tsl_event *made = block;
  made->device = device;
  TSL_GO(tsl_cuda_enter(device));
  TSL_GO(tsl_cuda_leave(device, "cuEventCreate", tsl_cuda.event_create(&made->handle, TSL_CU_EVENT_DEFAULT)));
  *event = made;
  return TESELA_OK;
out:
  tsl_free(made);
  return status;
}

void tsl_cuda_event_destroy(tsl_event *event) {
  if (!event)
    return;
  if (tsl_cuda_enter_quietly(event->device)) {
    tsl_cuda.event_destroy(event->handle);
    tsl_cuda_leave_quietly();
  }
  tsl_free(event);
}

tesela_status tsl_cuda_event_record(tsl_stream *stream, tsl_event *event) {
  TSL_TRY(tsl_cuda_enter(stream->device));
  return tsl_cuda_leave(stream->device, "cuEventRecord",
                        tsl_cuda.event_record(event->handle, stream->handle));
}

tesela_status tsl_cuda_stream_wait(tsl_stream *stream, tsl_event *event) {
  TSL_TRY(tsl_cuda_enter(stream->device));
  return tsl_cuda_leave(stream->device, "cuStreamWaitEvent",
                        tsl_cuda.stream_wait(stream->handle, event->handle, 0));
}

tesela_status tsl_cuda_event_wait(tsl_event *event) {
  TSL_TRY(tsl_cuda_enter(event->device));
  return tsl_cuda_leave(event->device, "cuEventSynchronize", tsl_cuda.event_wait(event->handle));
}

tesela_status tsl_cuda_event_done(tsl_event *event, bool *done) {
  *done = false;
  TSL_TRY(tsl_cuda_enter(event->device));
  const int code = tsl_cuda.event_query(event->handle);
  *done = code == TSL_CU_SUCCESS;
  return tsl_cuda_leave(event->device, "cuEventQuery", code == TSL_CU_NOT_READY ? TSL_CU_SUCCESS : code);
}

tesela_status tsl_cuda_event_seconds(tsl_event *begin, tsl_event *end, double *seconds) {
  float milliseconds = 0;
  *seconds = 0;
  TSL_TRY(tsl_cuda_enter(end->device));
  const char *call = "cuEventSynchronize";
  int code = tsl_cuda.event_wait(end->handle);
  if (code == TSL_CU_SUCCESS) {
    call = "cuEventElapsedTime";
    code = tsl_cuda.event_elapsed(&milliseconds, begin->handle, end->handle);
  }
  TSL_TRY(tsl_cuda_leave(end->device, call, code));
  *seconds = 1e-3 * (double)milliseconds;
  return TESELA_OK;
}
