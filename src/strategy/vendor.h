/* Helpers for strategies that call a vendor's BLAS: finding the library, and saying a product in BLAS's terms. */
#ifndef TSL_STRATEGY_VENDOR_H
#define TSL_STRATEGY_VENDOR_H

#include "base/env.h"
#include "base/library.h"
#include "strategy/strategy.h"

/* A library to look for. */
typedef struct tsl_vendor_library {
  const char *what;         /* for sentences: "a CBLAS library" */
  tsl_env path;             /* the variable that names another */
  const char *const *names; /* file names or paths, best first, ended by NULL */
  const tsl_library_symbol *symbols;
  int count;
} tsl_vendor_library;

/* Fills the table of functions, and out->file by the first of them, which is not optional; or out->why_not, with the
 * variable that would help. Once a process: what was found stays loaded. */
bool tsl_vendor_load(const tsl_vendor_library *library, void *table, tsl_vendor *out);

/* C (m x n) = alpha op(A) op(B) + beta C as BLAS says it: column-major, each operand with a leading dimension, the
 * elements from a column's start to the next one's. A row-major C is the column-major C', which is B' A': then m, n
 * and the operands here are those of that product. alpha = 0 and k = 0 both arrive as alpha = 0 and k = 0, for which
 * BLAS reads neither A nor B; their buffers may then be missing. */
typedef struct tsl_blas_product {
  int64_t m, n, k;
  const tsl_operand *a, *b, *c;
  bool a_transposed, b_transposed;
  int64_t a_leading, b_leading, c_leading;
  double alpha, beta;
} tsl_blas_product;

/* Why BLAS cannot say the problem: an operand without a unit stride, or whose other stride is less than it is long;
 * a size or a leading dimension above `most`. Or NULL, also where C is empty and nothing is to be done. */
const char *tsl_blas_refuse(const tsl_problem *problem, int64_t most);
/* The product of a run, whose operands may be packed copies. TESELA_UNSUPPORTED where tsl_blas_refuse() says no of
 * these strides. What it points to is the operands'. */
tesela_status tsl_blas_product_of(const tsl_work *work, const tsl_operands *operands, tsl_blas_product *out);

/* What a library that keeps its order of sums to itself can be held to: any order of k terms, and no two runs alike. */
tsl_accuracy tsl_vendor_accuracy(const tsl_problem *problem, const tsl_config *config);

/* The model of a tuned library: `efficiency` of the peak, or the bandwidth, after `start` seconds; and at most what
 * its tiles of `tile` x `tile` elements of C keep busy. */
double tsl_vendor_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          double start, int64_t tile);

#endif
