/** @file tesela_buffer.h
 * @brief Memory of devices that holds operands: creation, wrapping, copies. Part of tesela.h.
 *
 * Any number of calls may use a buffer at once, unless one of these calls writes memory that another call
 * reads or writes. Copies of one buffer run one after another.
 *
 *     tesela_buffer *a;
 *     tesela_buffer_create(context, "cuda:0", bytes, &a);
 *     tesela_buffer_write(a, 0, host, bytes);
 *     desc.a.buffer = a; */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_BUFFER_H
#define TESELA_TESELA_BUFFER_H

#ifdef __cplusplus
extern "C" {
#endif

/** Allocates at least `bytes` bytes on a device, named as in tesela_context_desc. NULL: the context's device,
 * or the device with the highest peak speed if that is "auto". Free the buffer with tesela_buffer_destroy().
 *
 * @return TESELA_BAD_CALL, TESELA_NO_DEVICE, TESELA_OUT_OF_MEMORY. */
TESELA_API tesela_status tesela_buffer_create(tesela_context *context, const char *device, size_t bytes,
                                              tesela_buffer **buffer);

/** Wraps existing memory in a buffer. The caller keeps ownership: destroying the buffer does not free
 * the memory, and the memory must outlive the work that uses it. Takes at most a microsecond, so it may
 * be done for every call.
 *
 * The device determines the kind of `native`. On "cuda:0" it is a CUDA address (CUdeviceptr of any library in
 * the process; contexts are shared), or host memory that is registered with CUDA. On "opencl:0" it is a
 * cl_mem of the context's opencl_context, which is retained. On "cpu" it is host memory. A NULL device means
 * an address; CUDA tells its device, and an address unknown to CUDA is host memory. bytes = 0 means the size
 * of the allocation; not allowed for host memory, whose size is unknown.
 *
 * @return TESELA_BAD_CALL if the memory belongs to another device or context, or is smaller than bytes. */
TESELA_API tesela_status tesela_buffer_wrap(tesela_context *context, const char *device, void *native,
                                            size_t bytes, tesela_buffer **buffer);

/** Memory of a buffer, for other libraries. */
typedef struct tesela_memory {
  void *native;       /**< CUDA address, cl_mem, or host address; the buffer keeps ownership */
  const char *device; /**< name of the buffer's device, owned by the context */
  size_t bytes;       /**< size in bytes */
} tesela_memory;

/** Returns the buffer's memory; NULL, "" and 0 if buffer is NULL. */
TESELA_API tesela_memory tesela_buffer_memory(const tesela_buffer *buffer);

/** Copies rows of row_bytes bytes each: from `source` in host memory into the buffer, or from the buffer to
 * `target` in host memory. The other address is NULL. Row i is offset + i * pitch bytes from the buffer's
 * start, and i * host_pitch bytes from source or target. Bytes between rows do not change. The copy is
 * complete on return.
 *
 * @return TESELA_BAD_CALL if both addresses are given, a pitch is less than a row, or the last row
 * exceeds the buffer's end. */
TESELA_API tesela_status tesela_buffer_copy_rows(const tesela_buffer *buffer, size_t offset, size_t pitch,
                                                 const void *source, void *target, size_t host_pitch,
                                                 size_t rows, size_t row_bytes);

/** Copies host memory into a buffer, `offset` bytes from its start. The host memory may be changed when
 * the call returns. */
static inline tesela_status tesela_buffer_write(tesela_buffer *buffer, size_t offset, const void *host,
                                                size_t bytes) {
  return tesela_buffer_copy_rows(buffer, offset, bytes, host, NULL, bytes, 1, bytes);
}

/** Copies from a buffer, `offset` bytes from its start, to host memory; complete on return. */
static inline tesela_status tesela_buffer_read(const tesela_buffer *buffer, size_t offset, void *host,
                                               size_t bytes) {
  return tesela_buffer_copy_rows(buffer, offset, bytes, NULL, host, bytes, 1, bytes);
}

/** Frees a buffer. No running call may use it. NULL is allowed. */
TESELA_API void tesela_buffer_destroy(tesela_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
