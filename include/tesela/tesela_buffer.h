/**
 * @file tesela_buffer.h
 * @brief Memory of devices, in which operands may lie: made, taken over from other libraries, written and
 * read. Part of tesela.h.
 *
 * A buffer may be used by any number of calls at once as long as none of them writes what another reads or
 * writes; its copies are made one after the other.
 */
#ifndef TESELA_TESELA_BUFFER_H
#define TESELA_TESELA_BUFFER_H

#include <tesela/tesela.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Takes device memory of at least `bytes` bytes on a device named as in tesela_context_desc. NULL: the
 * context's device; where that is "auto", the one with the highest peak. */
TESELA_API tesela_status tesela_buffer_create(tesela_context *context, const char *device, size_t bytes,
                                              tesela_buffer **buffer);

/** A buffer over memory that is there already, and stays the caller's: it is not freed with the buffer, and
 * outlives the work that uses it. device says what native is: "cuda:0": an address of CUDA (a CUdeviceptr, of
 * any library in the process: contexts are shared), or host memory that is registered there; "opencl:0": a
 * cl_mem of the context's opencl_context, retained; "cpu": host memory. NULL: an address, of which CUDA is
 * asked whose it is; what it does not know is host memory. bytes 0: as many as there are, which host memory
 * does not tell. Takes a microsecond or less, so that it may be done for every call.
 *  @return TESELA_BAD_CALL where the memory is another device's or context's, or ends sooner. */
TESELA_API tesela_status tesela_buffer_wrap(tesela_context *context, const char *device, void *native,
                                            size_t bytes, tesela_buffer **buffer);

/** The buffer's memory for other libraries: CUDA's address, the cl_mem, or the host's address. It stays the
 * buffer's. */
TESELA_API void *tesela_buffer_native(const tesela_buffer *buffer);
/** The name of its device; "" for NULL. */
TESELA_API const char *tesela_buffer_device(const tesela_buffer *buffer);
/** Its bytes; 0 for NULL. */
TESELA_API size_t tesela_buffer_bytes(const tesela_buffer *buffer);

/** Copies host memory into a buffer, `offset` bytes from its start; host may be used again on return. */
TESELA_API tesela_status tesela_buffer_write(tesela_buffer *buffer, size_t offset, const void *host,
                                             size_t bytes);

/** Copies from a buffer to host memory. */
TESELA_API tesela_status tesela_buffer_read(const tesela_buffer *buffer, size_t offset, void *host,
                                            size_t bytes);

/** Copies rows of row_bytes bytes each into a buffer: row i from host + i * host_pitch to offset + i * pitch
 * bytes from the buffer's start. What lies between rows stays as it is.
 *  @return TESELA_BAD_CALL where the last row passes the buffer's end, or a pitch is less than a row. */
TESELA_API tesela_status tesela_buffer_write_rows(tesela_buffer *buffer, size_t offset, size_t pitch,
                                                  const void *host, size_t host_pitch, size_t rows,
                                                  size_t row_bytes);

/** Copies rows from a buffer to host memory. */
TESELA_API tesela_status tesela_buffer_read_rows(const tesela_buffer *buffer, size_t offset, size_t pitch,
                                                 void *host, size_t host_pitch, size_t rows,
                                                 size_t row_bytes);

/** Frees a buffer that no running call uses. NULL is allowed. */
TESELA_API void tesela_buffer_destroy(tesela_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
