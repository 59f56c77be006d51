/* Contexts, queues and memory of the caller, retained during use. A wrong handle cannot be detected. */
#include "device/opencl/opencl.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>

bool tsl_opencl_adopt(tsl_device *device, void *context) {
  tsl_opencl_device *self = device->impl;
  size_t bytes = 0;
  void *block;
  if (tsl_opencl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes) != CL_SUCCESS ||
      tsl_alloc(bytes, "a context's devices", &block) != TESELA_OK)
    return false;
  const cl_device_id *ids = block;
  bool is_in = false;
  if (tsl_opencl.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, block, NULL) == CL_SUCCESS)
    for (size_t i = 0; i < bytes / sizeof *ids; i++)
      is_in |= ids[i] == self->id;
  tsl_free(block);
  if (is_in)
    self->given = context;
  return is_in;
}

static tesela_status fail_other_context(const tsl_device *device, const char *what) {
  return tsl_fail(TESELA_BAD_CALL,
                  "%s: the %s belongs to another cl_context than the open device: set desc.opencl_context "
                  "of the tesela context",
                  device->name, what);
}

tesela_status tsl_opencl_buffer_adopt(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer) {
  cl_context context = NULL;
  cl_mem_object_type kind = 0;
  size_t there = 0;
  *buffer = NULL;
  if (native == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: native is NULL; it must be a cl_mem", device->name);
  TSL_TRY(TSL_CL(device, clGetMemObjectInfo, native, CL_MEM_CONTEXT, sizeof context, &context, NULL));
  TSL_TRY(TSL_CL(device, clGetMemObjectInfo, native, CL_MEM_TYPE, sizeof kind, &kind, NULL));
  TSL_TRY(TSL_CL(device, clGetMemObjectInfo, native, CL_MEM_SIZE, sizeof there, &there, NULL));
  if (context != tsl_opencl_of(device)->context)
    return fail_other_context(device, "cl_mem");
  if (kind != CL_MEM_OBJECT_BUFFER)
    return tsl_fail(TESELA_BAD_CALL, "%s: the cl_mem is not a buffer", device->name);
  if (bytes > there)
    return tsl_fail(TESELA_BAD_CALL, "%s: %zu bytes are requested, but the cl_mem has %zu", device->name,
                    bytes, there);
  tsl_opencl_buffer *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a buffer's record", device->name);
  tsl_opencl.clRetainMemObject(native);
  self->base = (tsl_buffer){.device = device, .bytes = bytes > 0 ? bytes : there};
  self->memory = native;
  *buffer = &self->base;
  return TESELA_OK;
}

tesela_status tsl_opencl_stream_adopt(tsl_device *device, void *native, tsl_stream **stream) {
  const tsl_opencl_device *own = tsl_opencl_of(device);
  cl_context context = NULL;
  cl_device_id id = NULL;
  cl_command_queue_properties properties = 0;
  *stream = NULL;
  if (native == NULL)
    return tsl_fail(TESELA_BAD_CALL, "%s: native is NULL; it must be a cl_command_queue", device->name);
  TSL_TRY(TSL_CL(device, clGetCommandQueueInfo, native, CL_QUEUE_CONTEXT, sizeof context, &context, NULL));
  TSL_TRY(TSL_CL(device, clGetCommandQueueInfo, native, CL_QUEUE_DEVICE, sizeof id, &id, NULL));
  TSL_TRY(TSL_CL(device, clGetCommandQueueInfo, native, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                 NULL));
  if (context != own->context)
    return fail_other_context(device, "queue");
  if (id != own->id)
    return tsl_fail(TESELA_BAD_CALL, "%s: the queue belongs to another device of its context", device->name);
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    return tsl_fail(TESELA_BAD_CALL, "%s: the queue is out of order; an in-order queue is required",
                    device->name);
  tsl_stream *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a stream's record", device->name);
  tsl_opencl.clRetainCommandQueue(native);
  *self = (tsl_stream){.device = device, .queue = native, .adopted = true};
  *stream = self;
  return TESELA_OK;
}
