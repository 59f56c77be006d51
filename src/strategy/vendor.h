/* Helpers for strategies that call a vendor's BLAS: load the library, and express a product in BLAS terms. */
#ifndef TSL_STRATEGY_VENDOR_H
#define TSL_STRATEGY_VENDOR_H

#include "core/env.h"
#include "core/library.h"
#include "strategy/strategy.h"

#include <pthread.h>

typedef struct tsl_vendor_library {
  const char *what;         /* for messages: "a CBLAS library" */
  tsl_env path;             /* environment variable that names another file */
  const char *const *names; /* file names or paths, best first, ended by NULL */
  const tsl_library_symbol *symbols;
  int count;
  void *table;                     /* table of functions; the first function is mandatory */
  void (*name)(tsl_vendor *found); /* fills found->name after the table is loaded */
  bool was_looked_for;
  tsl_vendor found;
} tsl_vendor_library;

/* Loads a library, for vendor.load() of a descriptor. The first call in the process fills the table and the
 * name, or sets the reason with the variable that would help. The library stays loaded. Thread-safe. */
const tsl_vendor *tsl_vendor_find(tsl_vendor_library *library);

/* C (m x n) = alpha op(A) op(B) + beta C in BLAS terms: column-major, the leading dimension in elements. For
 * a row-major C, m, n and the operands belong to C' = B' A'. If alpha = 0 or k = 0, both are 0, BLAS reads
 * neither A nor B, and their buffers may be NULL. */
typedef struct tsl_blas_product {
  int64_t m, n, k;
  const tsl_operand *a, *b, *c;
  bool a_transposed, b_transposed;
  int64_t a_leading, b_leading, c_leading;
  double alpha, beta;
} tsl_blas_product;

/* Returns NULL, or the reason why BLAS cannot express the problem: an operand without a unit stride, or with
 * a leading dimension below its length; a size or leading dimension above `max`. An empty C is accepted. */
const char *tsl_blas_refuse(const tsl_problem *problem, int64_t max);
/* Implements refuse() for libraries with 64-bit integers. */
const char *tsl_blas_refuse_wide(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);
/* Returns true if BLAS reads A and B: alpha and k are not 0. */
bool tsl_blas_reads_products(const tsl_problem *problem);
/* Converts a run, whose operands may be packed copies. `out` points to the operands. TESELA_UNSUPPORTED: BLAS
 * cannot express these strides. */
tesela_status tsl_blas_product_of(const tsl_work *work, const tsl_operands *operands, tsl_blas_product *out);

/* Returns the bound of a library with an unknown summation order: any order of k terms, not reproducible. */
tsl_accuracy tsl_vendor_accuracy(const tsl_problem *problem, const tsl_config *config);

/* State of a strategy whose library has handles: first member of the struct in work->state. */
typedef struct tsl_vendor_handle {
  pthread_mutex_t lock; /* serializes the use of the handle */
  void *handle;
} tsl_vendor_handle;

/* Allocates a zeroed struct of `bytes` bytes and calls prepare() with the device entered. A failing prepare()
 * must free all but the struct. `what` is the name in messages. */
tesela_status tsl_vendor_build(tsl_work *work, size_t bytes, const char *what,
                               tesela_status (*prepare)(const tsl_work *work, tsl_vendor_handle *handle));
/* Calls end() and frees the struct. `entered` is false if the device is lost: the handle is already gone. */
void tsl_vendor_release(tsl_work *work, void (*end)(tsl_vendor_handle *handle, bool entered));

/* Returns the device address of element (0, 0) of an operand of `type`. */
void *tsl_vendor_address(const tsl_work *work, const tsl_operand *operand, tesela_type type);

enum {
  TSL_CUBLAS_SUCCESS = 0,
  TSL_CUBLAS_NOT_INITIALIZED = 1,
  TSL_CUBLAS_ALLOC_FAILED = 3,
  TSL_CUBLAS_NOT_SUPPORTED = 15
};
/* Converts a code of cuBLAS or cuBLASLt into a status with a message; NOT_INITIALIZED, a library too new for
 * the driver, is TESELA_UNSUPPORTED. */
tesela_status tsl_vendor_cublas_check(const tsl_device *device, const char *call, int code,
                                      const char *(*name_of)(int code), const tsl_vendor *found);

extern const char *const tsl_vendor_cublas_names[];
/* Sets the name and the version from cublasGetProperty(). */
void tsl_vendor_cublas_name(int (*property)(int what, int *value), tsl_vendor *found);

/* Predicts the seconds of a tuned library: `start` plus the larger of operations / (`efficiency` * peak) and
 * bytes / bandwidth. The peak counts only units that have a tile of `tile` x `tile` elements of C. */
double tsl_vendor_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          double start, int64_t tile);

#endif
