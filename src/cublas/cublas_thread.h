/* State of each thread that calls: its recent kinds of calls, descriptions, and wrapped workspaces. */
#ifndef TSL_CUBLAS_CUBLAS_THREAD_H
#define TSL_CUBLAS_CUBLAS_THREAD_H

#include "cublas/cublas_problem.h"

#include <stddef.h>

enum { TSL_CUBLAS_SETS = 256, TSL_CUBLAS_WAYS = 4, TSL_CUBLAS_WRAPPED = 4 };
enum { TSL_LT_KNOWN = 256, TSL_LT_LAYOUT_WORDS = 14 };

/* cublasLt's descriptions as bytes, which may be copied and compared. Its getters take 25 ns for each of
 * about thirty attributes. */
typedef struct tsl_lt_bytes {
  uint64_t words[32 + 3 * TSL_LT_LAYOUT_WORDS]; /* operation, then layouts of the library's size */
} tsl_lt_bytes;
typedef struct tsl_lt_known {
  tsl_lt_bytes bytes;
  uint64_t hash;
  bool is_product;
  tsl_cublas_call call; /* without addresses, apart from the bias */
} tsl_lt_known;

/* Calls with one hash (apart from scalars and addresses) that go on to cuBLAS without being read: a wrong one
 * is only computed by cuBLAS. */
enum { TSL_CUBLAS_PASSED = 512, TSL_CUBLAS_PASSED_CALLS = 63 };
typedef struct tsl_cublas_passed {
  uint64_t hash;
  const struct tsl_cublas_kind *undecided; /* kind that may take calls later; NULL: none */
  unsigned calls;                          /* calls that go on before one is read again */
} tsl_cublas_passed;

/* Kind of recent calls. */
typedef struct tsl_cublas_recent {
  tsl_cublas_key key;
  uint64_t hash;
  unsigned calls;               /* calls of this kind in this thread while `kind` is NULL */
  struct tsl_cublas_kind *kind; /* NULL: too few calls */
} tsl_cublas_recent;

/* Caller's workspace as a buffer. */
typedef struct tsl_cublas_wrapped {
  const void *memory;
  size_t bytes;
  int device;
  tesela_buffer *buffer; /* NULL: free */
} tsl_cublas_wrapped;

typedef struct tsl_cublas_thread {
  tsl_cublas_recent recent[TSL_CUBLAS_SETS][TSL_CUBLAS_WAYS];
  unsigned char next_way[TSL_CUBLAS_SETS]; /* way that the next unknown call of a set replaces */
  tsl_cublas_passed passed[TSL_CUBLAS_PASSED];
  tsl_lt_known known[TSL_LT_KNOWN];
  tsl_cublas_wrapped wrapped[TSL_CUBLAS_WRAPPED];
  int next_wrapped;
  int forwarding; /* calls of the program's cuBLAS in progress: its own calls pass through */
} tsl_cublas_thread;

/* Returns the calling thread's state; NULL: no memory. */
tsl_cublas_thread *tsl_cublas_thread_get(void);

/* Returns the entry of a hash, which is new if another one had its place. */
static inline tsl_cublas_passed *tsl_cublas_passed_get(tsl_cublas_thread *thread, uint64_t hash) {
  tsl_cublas_passed *passed = &thread->passed[hash % TSL_CUBLAS_PASSED];
  if (passed->hash != hash)
    *passed = (tsl_cublas_passed){.hash = hash};
  return passed;
}

/* Drops the state in the child of a fork. */
void tsl_cublas_thread_forget(void);

/* Returns the caller's workspace as a buffer, valid until the thread's next call; NULL: it is refused. */
tesela_buffer *tsl_cublas_thread_wrap(tsl_cublas_thread *thread, tesela_context *context,
                                      const char *device_name, int device, const void *memory, size_t bytes);

/* Stores a handle's workspace; bytes 0: cuBLAS's own. */
void tsl_cublas_workspace_set(const void *handle, const void *memory, size_t bytes);
/* Returns a handle's workspace; NULL: cuBLAS's own. */
const void *tsl_cublas_workspace_get(const void *handle, size_t *bytes);

#endif
