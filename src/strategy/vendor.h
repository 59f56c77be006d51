/* Helpers for strategies that call a vendor's BLAS: finding the library, and saying a product in BLAS's
 * terms. */
#ifndef TSL_STRATEGY_VENDOR_H
#define TSL_STRATEGY_VENDOR_H

#include "base/env.h"
#include "base/library.h"
#include "strategy/strategy.h"

#include <pthread.h>

/* A library to look for, and what becomes of it. */
typedef struct tsl_vendor_library {
  const char *what;         /* for sentences: "a CBLAS library" */
  tsl_env path;             /* the variable that names another */
  const char *const *names; /* file names or paths, best first, ended by NULL */
  const tsl_library_symbol *symbols;
  int count;
  void *table;                     /* of functions, the first of which is not optional */
  void (*name)(tsl_vendor *found); /* fills found->name, once the table is there */
  bool was_looked_for;
  tsl_vendor found;
} tsl_vendor_library;

/* What a descriptor's vendor.load() answers. The first call in the process fills the table and names what was
 * found, or says why not, with the variable that would help; what was found stays loaded. Any thread. */
const tsl_vendor *tsl_vendor_find(tsl_vendor_library *library);

/* C (m x n) = alpha op(A) op(B) + beta C as BLAS says it: column-major, each operand with a leading
 * dimension, the elements from a column's start to the next one's. A row-major C is the column-major C',
 * which is B' A': then m, n and the operands here are those of that product. alpha = 0 and k = 0 both arrive
 * as alpha = 0 and k = 0, for which BLAS reads neither A nor B; their buffers may then be missing. */
typedef struct tsl_blas_product {
  int64_t m, n, k;
  const tsl_operand *a, *b, *c;
  bool a_transposed, b_transposed;
  int64_t a_leading, b_leading, c_leading;
  double alpha, beta;
} tsl_blas_product;

/* Why BLAS cannot say the problem: an operand without a unit stride, or whose other stride is less than it is
 * long; a size or a leading dimension above `most`. Or NULL, also where C is empty and nothing is to be done.
 */
const char *tsl_blas_refuse(const tsl_problem *problem, int64_t most);
/* A descriptor's refuse() for libraries whose integers have 64 bits. */
const char *tsl_blas_refuse_wide(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);
/* Whether there is a product of A and B at all. */
bool tsl_blas_reads_products(const tsl_problem *problem);
/* The product of a run, whose operands may be packed copies. TESELA_UNSUPPORTED where tsl_blas_refuse() says
 * no of these strides. What it points to is the operands'. */
tesela_status tsl_blas_product_of(const tsl_work *work, const tsl_operands *operands, tsl_blas_product *out);

/* What a library that keeps its order of sums to itself can be held to: any order of k terms, and no two runs
 * alike. */
tsl_accuracy tsl_vendor_accuracy(const tsl_problem *problem, const tsl_config *config);

/* --- libraries with handles, on devices with native_buffer() and enter() --- */

/* What build() leaves in work->state, first in a struct of the strategy's own. */
typedef struct tsl_vendor_handle {
  pthread_mutex_t lock; /* one thread at a time uses the handle to enqueue */
  void *handle;
} tsl_vendor_handle;

/* Makes a zeroed struct of `bytes` bytes and prepares it with the device entered; prepare() leaves nothing
 * behind where it fails. `what` is for sentences. */
tesela_status tsl_vendor_build(tsl_work *work, size_t bytes, const char *what,
                               tesela_status (*prepare)(const tsl_work *work, tsl_vendor_handle *handle));
/* Ends it and frees the struct. A device that cannot be entered any more has let go of the handle already. */
void tsl_vendor_release(tsl_work *work, void (*end)(tsl_vendor_handle *handle, bool entered));

/* Element (0, 0) on the device, of an operand of this type. */
void *tsl_vendor_address(const tsl_work *work, const tsl_operand *operand, tesela_type type);

/* A code of cuBLAS or cuBLASLt, with its name, as a status and a sentence; `found` says which library. One
 * that the driver is too old for does not start: a reason, as if it were absent. */
enum {
  TSL_CUBLAS_SUCCESS = 0,
  TSL_CUBLAS_NOT_INITIALIZED = 1,
  TSL_CUBLAS_ALLOC_FAILED = 3,
  TSL_CUBLAS_NOT_SUPPORTED = 15
};
tesela_status tsl_vendor_cublas_check(const tsl_device *device, const char *call, int code,
                                      const char *(*name_of)(int code), const tsl_vendor *found);

/* Where cuBLAS is looked for, and its name and version by its cublasGetProperty(). */
extern const char *const tsl_vendor_cublas_names[];
void tsl_vendor_cublas_name(int (*property)(int what, int *value), tsl_vendor *found);

/* The model of a tuned library: `efficiency` of the peak, or the bandwidth, after `start` seconds; and at
 * most what its tiles of `tile` x `tile` elements of C keep busy. */
double tsl_vendor_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          double start, int64_t tile);

#endif
