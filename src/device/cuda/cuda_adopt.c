/* Memory and streams of the caller, checked first: a wrong address ends the process's context. */
#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

typedef struct pointer_facts {
  unsigned memory; /* TSL_CU_MEMORY_...; 0: unknown address */
  int ordinal;
  unsigned is_managed, is_from_mem_alloc;
  tsl_cu_address address, allocation_start;
  size_t bytes;
} pointer_facts;

/* Queries an address; returns a result code. Needs no context. */
static int cuda_adopt_query(tsl_cu_address address, pointer_facts *out) {
  int questions[] = {TSL_CU_POINTER_MEMORY,        TSL_CU_POINTER_ORDINAL, TSL_CU_POINTER_IS_MANAGED,
                     TSL_CU_POINTER_IS_PLAIN,      TSL_CU_POINTER_START,   TSL_CU_POINTER_BYTES,
                     TSL_CU_POINTER_DEVICE_ADDRESS};
  void *answers[] = {&out->memory,           &out->ordinal, &out->is_managed, &out->is_from_mem_alloc,
                     &out->allocation_start, &out->bytes,   &out->address};
  *out = (pointer_facts){.ordinal = -1};
  return tsl_cuda.pointer_attributes(sizeof questions / sizeof *questions, questions, answers, address);
}

bool tsl_cuda_owns(const tsl_device *device, const void *address) {
  pointer_facts at;
  return cuda_adopt_query((tsl_cu_address)(uintptr_t)address, &at) == TSL_CU_SUCCESS &&
         (at.memory == TSL_CU_MEMORY_DEVICE || at.is_managed) &&
         at.ordinal == ((const tsl_cuda_device *)device->impl)->ordinal;
}

/* Checks an address. `bytes_left`: bytes to the end of its memory; SIZE_MAX: unknown. */
static tesela_status cuda_adopt_check(const tsl_device *device, const pointer_facts *facts,
                                      tsl_cu_address address, size_t bytes, size_t *bytes_left) {
  const tsl_cuda_device *own = device->impl;
  const void *shown = (const void *)(uintptr_t)address;
  if (facts->memory == 0)
    return tsl_fail(
        TESELA_BAD_CALL,
        "%s: CUDA does not know the address %p: register host memory (cuMemHostRegister), or pass it as "
        "data",
        device->name, shown);
  if (facts->memory == TSL_CU_MEMORY_DEVICE && !facts->is_managed && facts->ordinal != own->ordinal)
    return tsl_fail(TESELA_BAD_CALL, "%s: %p is memory of CUDA device %d, but this is CUDA device %d",
                    device->name, shown, facts->ordinal, own->ordinal);
  const bool is_bounded = facts->bytes > 0 && address >= facts->allocation_start &&
                          address - facts->allocation_start <= facts->bytes;
  const size_t there = is_bounded ? facts->bytes - (size_t)(address - facts->allocation_start) : SIZE_MAX;
  *bytes_left = there;
  if (bytes == 0 && !is_bounded)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: CUDA does not know the size of the memory at %p: bytes must be "
                    "set",
                    device->name, shown);
  /* The driver knows one part only of memory that is mapped in parts. */
  if (bytes > there && (facts->is_from_mem_alloc || facts->memory == TSL_CU_MEMORY_HOST))
    return tsl_fail(TESELA_BAD_CALL, "%s: %zu bytes at %p are requested, but only %zu exist", device->name,
                    bytes, shown, there);
  return TESELA_OK;
}

tesela_status tsl_cuda_buffer_adopt(tsl_device *device, void *native, size_t bytes, tsl_buffer **buffer) {
  const tsl_cu_address address = (tsl_cu_address)(uintptr_t)native;
  pointer_facts at;
  size_t bytes_left = 0;
  void *block;
  *buffer = NULL;
  TSL_TRY(tsl_cuda_enter(device));
  TSL_TRY(tsl_cuda_leave(device, "cuPointerGetAttributes", cuda_adopt_query(address, &at)));
  TSL_TRY(cuda_adopt_check(device, &at, address, bytes, &bytes_left));
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_cuda_buffer), "a buffer's description", &block));
  tsl_cuda_buffer *made = block;
  made->base = (tsl_buffer){.device = device, .bytes = bytes ? bytes : bytes_left};
  made->address = at.memory == TSL_CU_MEMORY_HOST && at.address ? at.address : address;
  made->base.askew = made->address % TSL_TEXEL_BYTES != 0;
  made->adopted = true;
  *buffer = &made->base;
  return TESELA_OK;
}

/* Returns true for default streams, which belong to the current context. */
static bool is_default(tsl_cu_stream handle) {
  return (uintptr_t)handle <= TSL_CU_STREAM_PER_THREAD;
}

/* Fails with TESELA_BAD_CALL unless the stream belongs to the device's primary context. */
static tesela_status check_stream(tsl_device *device, tsl_cu_stream handle) {
  const tsl_cuda_device *own = device->impl;
  tsl_cu_context context = NULL;
  tsl_cu_device ordinal = -1;
  if (is_default(handle))
    return TESELA_OK;
  TSL_TRY(tsl_cuda_enter(device));
  TSL_TRY(tsl_cuda_leave(device, "cuStreamGetCtx", tsl_cuda.stream_context(handle, &context)));
  if (context == own->context)
    return TESELA_OK;
  if (tsl_cuda.context_push(context) == TSL_CU_SUCCESS) {
    (void)tsl_cuda.context_device(&ordinal);
    tsl_cuda_leave_quietly();
  }
  if (ordinal == own->ordinal)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: the stream belongs to another context; it must belong to the device's primary "
                    "context, which CUDA's runtime uses",
                    device->name);
  return tsl_fail(TESELA_BAD_CALL, "%s: the stream belongs to CUDA device %d, but this is CUDA device %d",
                  device->name, ordinal, own->ordinal);
}

tesela_status tsl_cuda_stream_adopt(tsl_device *device, void *native, tsl_stream **stream) {
  void *block;
  *stream = NULL;
  TSL_TRY(check_stream(device, native));
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_stream), "a stream", &block));
  *stream = block;
  **stream = (tsl_stream){.device = device, .handle = native, .adopted = true};
  return TESELA_OK;
}
