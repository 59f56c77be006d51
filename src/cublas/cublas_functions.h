/* Functions of the program's cuBLAS and of CUDA's driver, found at their first use. */
#ifndef TSL_CUBLAS_CUBLAS_FUNCTIONS_H
#define TSL_CUBLAS_CUBLAS_FUNCTIONS_H

#include "cublas/cublas_call.h"

/* Returns the function of this name in the library of another function; NULL: none. */
tsl_next_function *tsl_cublas_beside(tsl_next_function *function, const char *name);

/* State of a handle at a call. */
typedef struct tsl_cublas_handle {
  void *stream;
  int pointer_mode, math_mode, sm_count;
} tsl_cublas_handle;

/* Reads a handle by the functions of the library that has `next`. Returns false if cuBLAS refuses it. */
bool tsl_cublas_handle_read(tsl_next_function *next, const void *handle, tsl_cublas_handle *out);

/* Returns the ordinal of the device whose primary context is current; -1: another context, or none. */
int tsl_cublas_current_device(void);
/* Returns true if work on the stream is being recorded into a graph, or if this is unknown. */
bool tsl_cublas_is_capturing(const void *stream);
/* Returns true if the stream has no work. Not for streams that are recorded. */
bool tsl_cublas_is_idle(const void *stream);
/* Exchanges the calling thread's mode of capture; TSL_CAPTURE_RELAXED lets it allocate and load while another
 * thread records a graph. Returns the mode before. */
enum { TSL_CAPTURE_RELAXED = 2 };
int tsl_cublas_capture_mode(int mode);

#endif
