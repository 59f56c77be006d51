/* Devices, streams and workspaces of queued products. */
#ifndef TSL_CUBLAS_CUBLAS_QUEUE_H
#define TSL_CUBLAS_CUBLAS_QUEUE_H

#include "cublas/cublas_call.h"

#include <tesela/tesela.h>

enum { TSL_CUBLAS_DEVICES = 64, TSL_CUBLAS_DEVICE_NAME = 16 };

/* Device of the process, opened once and never closed. */
typedef struct tsl_cublas_device {
  tesela_context *context;
  char name[TSL_CUBLAS_DEVICE_NAME];
  int ordinal;
  tesela_buffer *anchor; /* memory from which addresses are counted */
  size_t workspace_most; /* bytes of a plan's workspace that are not too many for a program with other uses */
} tsl_cublas_device;

/* Opens a device, which may take long. Returns NULL after a failure. */
const tsl_cublas_device *tsl_cublas_device_open(int ordinal);

/* Stream of the program, wrapped once and never freed: streams may end and begin at one address. */
typedef struct tsl_cublas_stream {
  const tsl_cublas_device *device;
  void *native;
  tesela_stream *stream;
  _Atomic(tesela_buffer *) workspace; /* own workspace; NULL: none yet */
} tsl_cublas_stream;

/* Returns the wrapped stream; NULL: it is refused, or there are too many. */
tsl_cublas_stream *tsl_cublas_stream_get(const tsl_cublas_device *device, void *native);

/* Returns the stream's own workspace with at least `bytes`; NULL: no memory. Earlier ones stay, because
 * queued work may use them. Not for streams that are recorded. */
tesela_buffer *tsl_cublas_stream_workspace(tsl_cublas_stream *stream, size_t bytes);

/* Drops everything in the child of a fork. */
void tsl_cublas_queue_forget(void);

#endif
