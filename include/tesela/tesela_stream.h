/** @file tesela_stream.h
 * @brief Streams of devices, in which work is queued in order, and events, which measure times. Part of
 * tesela.h.
 *
 * Only one thread at a time may use a stream and its events.
 *
 *     tesela_stream *stream;
 *     tesela_stream_create(context, "cuda:0", &stream);
 *     tesela_plan_enqueue(plan, stream, &(tesela_operands){&desc.a, &desc.b, &desc.c}, workspace);
 *     tesela_stream_wait(stream); */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_STREAM_H
#define TESELA_TESELA_STREAM_H

#ifdef __cplusplus
extern "C" {
#endif

/** Creates a stream on a device, named as in tesela_context_desc; NULL as in tesela_buffer_create(). Free it
 * with tesela_stream_destroy(). On the cpu queued work is finished before the queuing call returns. */
TESELA_API tesela_status tesela_stream_create(tesela_context *context, const char *device,
                                              tesela_stream **stream);

/** Wraps an existing queue in a stream. The caller keeps ownership of the queue. On "cuda:0" it is a
 * CUstream or cudaStream_t (NULL, 1 and 2 are the default streams). On "opencl:0" it is an in-order
 * cl_command_queue of the context's opencl_context, which is retained. The call checks the device and
 * the context of a valid handle. A destroyed handle is undefined behaviour.
 *
 * @return TESELA_BAD_CALL if the queue belongs to another device or context; TESELA_UNSUPPORTED on the
 * cpu. */
TESELA_API tesela_status tesela_stream_wrap(tesela_context *context, const char *device, void *native,
                                            tesela_stream **stream);

/** Returns the CUstream or cl_command_queue, which the stream keeps; NULL on the cpu. */
TESELA_API void *tesela_stream_native(const tesela_stream *stream);

/** Reserves device memory as the workspace of runs that are queued without one. It is freed with the
 * stream. If the stream must grow its memory, the call first waits for queued work. */
TESELA_API tesela_status tesela_stream_reserve(tesela_stream *stream, size_t bytes);

/** Waits until all queued work is done. Returns TESELA_DEVICE_FAILED if queued work has failed. */
TESELA_API tesela_status tesela_stream_wait(tesela_stream *stream);

/** Waits for queued work if tesela created the queue or the stream has reserved memory, then frees the
 * stream. A wrapped queue is not destroyed. NULL is allowed. */
TESELA_API void tesela_stream_destroy(tesela_stream *stream);

/** Queues a run of the plan and returns. C is complete when the stream has finished the run; on the cpu at
 * return.
 *
 * Operands are as in tesela_plan_run(), in buffers of the plan's device. On the cpu they are in host memory
 * if the plan is for it. Operands and workspace must not change until the run is finished. A wrapped buffer's
 * handle may be destroyed at once. workspace has tesela_plan_workspace() bytes; NULL: the memory that
 * tesela_stream_reserve() took. The call allocates nothing and waits for nothing, so it can be captured into
 * a CUDA graph; vendors' libraries may differ. Any number of threads may queue one plan at once, each with
 * its own workspace.
 *
 * @return TESELA_BAD_CALL if stream, buffers or workspace are of another device or context, or the workspace
 * is too small; TESELA_UNSUPPORTED if the strategy cannot be queued. Nothing was queued after a failure. */
static inline tesela_status tesela_plan_enqueue(tesela_plan *plan, tesela_stream *stream,
                                                const tesela_operands *operands, tesela_buffer *workspace) {
  return tesela_plan_enqueue_sized(plan, stream, operands, workspace, sizeof *operands);
}

/** Creates an event for the streams of this stream's device. It may be recorded again and again. Free it
 * with tesela_event_destroy(). OpenCL needs a queue that was created with profiling. */
TESELA_API tesela_status tesela_event_create(tesela_stream *stream, tesela_event **event);
/** Records the event in the stream: its time is the end of all work that was queued before. */
TESELA_API tesela_status tesela_event_record(tesela_event *event, tesela_stream *stream);
/** Writes the seconds between two recorded events, by the device's clock. Waits for the later event. */
TESELA_API tesela_status tesela_event_seconds(tesela_event *begin, tesela_event *end, double *seconds);
/** Frees an event. NULL is allowed. */
TESELA_API void tesela_event_destroy(tesela_event *event);

#ifdef __cplusplus
}
#endif

#endif
