/**
 * @file tesela_stream.h
 * @brief Streams of devices, in which work is queued one behind the other, and marks in them. Part of
 * tesela.h.
 */
#ifndef TESELA_TESELA_STREAM_H
#define TESELA_TESELA_STREAM_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A stream of the device, named as in tesela_context_desc; NULL as in tesela_buffer_create(). One thread at
 * a time uses a stream and its events. On the cpu work that is queued is done before the call returns. */
TESELA_API tesela_status tesela_stream_create(tesela_context *context, const char *device,
                                              tesela_stream **stream);

/** A stream over a queue that is there already, and stays the caller's: on "cuda:0" a CUstream or
 * cudaStream_t (NULL, 1 and 2 are the default streams), on "opencl:0" an in-order cl_command_queue of the
 * context's opencl_context, retained. What it is beside a valid handle is checked; a handle that was
 * destroyed is not one.
 *  @return TESELA_BAD_CALL where it is another device's or context's; TESELA_UNSUPPORTED on the cpu. */
TESELA_API tesela_status tesela_stream_wrap(tesela_context *context, const char *device, void *native,
                                            tesela_stream **stream);

/** The CUstream or cl_command_queue; NULL on the cpu. */
TESELA_API void *tesela_stream_native(const tesela_stream *stream);

/** Takes memory on the device, in which work on this stream that is given no workspace works; kept until the
 * stream is destroyed. Waits for the stream where it had less. */
TESELA_API tesela_status tesela_stream_reserve(tesela_stream *stream, size_t bytes);

/** Waits until all that was queued is done. What failed meanwhile is told here: TESELA_DEVICE_FAILED. */
TESELA_API tesela_status tesela_stream_wait(tesela_stream *stream);

/** Waits for the work of a stream that tesela made or that has reserved memory, and frees it. A wrapped queue
 * stays. NULL is allowed. */
TESELA_API void tesela_stream_destroy(tesela_stream *stream);

/** A mark for streams of this one's device; recorded where the stream's earlier work is done, again and
 * again. OpenCL's queues tell times only where they were made with profiling. */
TESELA_API tesela_status tesela_event_create(tesela_stream *stream, tesela_event **event);
/** Marks where the stream is now. */
TESELA_API tesela_status tesela_event_record(tesela_event *event, tesela_stream *stream);
/** Seconds between two marks by the device's clock; waits for the later one. */
TESELA_API tesela_status tesela_event_seconds(tesela_event *begin, tesela_event *end, double *seconds);
/** NULL is allowed. */
TESELA_API void tesela_event_destroy(tesela_event *event);

#ifdef __cplusplus
}
#endif

#endif
