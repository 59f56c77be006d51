/* Who computes. */
#ifndef TSL_BLAS_BLAS_ROUTE_H
#define TSL_BLAS_BLAS_ROUTE_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"
#include "blas/host_blas_lookup.h"

typedef enum tsl_blas_route { TSL_BLAS_TESELA, TSL_BLAS_OTHER, TSL_BLAS_LOOPS } tsl_blas_route;

/* What routines are called by class, in blas_route.c's table. */
typedef enum tsl_blas_class {
  TSL_BLAS_CLASS_DOT,
  TSL_BLAS_CLASS_ADD, /* axpy, rot, swap, copy */
  TSL_BLAS_CLASS_SCALE,
  TSL_BLAS_CLASS_SUM,    /* nrm2, asum, iamax */
  TSL_BLAS_CLASS_MATRIX, /* gemv */
  TSL_BLAS_CLASS_UPDATE, /* ger, syr, syr2 */
  TSL_BLAS_CLASS_SYMMETRIC,
  TSL_BLAS_CLASS_TRIANGLE, /* trmv, trsv */
  TSL_BLAS_CLASS_OTHER,    /* bands and packed triangles */
  TSL_BLAS_CLASSES
} tsl_blas_class;

extern bool tsl_blas_owns_small; /* whether small products are tesela's, whoever else there is */

tsl_blas_route tsl_blas_route_gemm(tsl_blas_symbol *symbol, int64_t m, int64_t n, int64_t k);
/* Whether a product that is another library's by its size may go to another device, if that is sooner done
 * (TESELA_DEVICE=auto). */
bool tsl_blas_may_go_elsewhere(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Whether a product that is another library's now is so by its size alone, whenever it comes. */
bool tsl_blas_is_always_forwarded(const tsl_blas_symbol *symbol);
/* Of each product of a batch: those of at most `small` multiply-adds are tesela's where they may be done at
 * once. */
tsl_blas_route tsl_blas_route_batch(tsl_blas_symbol *symbol, const tsl_blas_multiply *product, double small);
/* Of a dot or a transpose, as `op` says. */
tsl_blas_route tsl_blas_route_vector(int op, tsl_blas_symbol *symbol, double elements);

/* Of vectors, and matrices times vectors, with so many elements of the largest operand: TSL_BLAS_LOOPS is
 * tesela, too. */
tsl_blas_route tsl_blas_route_class(tsl_blas_class class, tsl_blas_symbol *symbol, double elements);
/* Whether somebody asked for sums of a certain accuracy, or for bits that come again. */
bool tsl_blas_asks_of_sums(void);
/* Whether a call may measure who is the faster one: where it is not decided beforehand, beside a tuned
 * library. */
bool tsl_blas_may_measure(tsl_blas_symbol *symbol);
/* Whose a call is beside a peer: work below which none is tesela's (0: none at all is), and this one. */
typedef struct tsl_blas_share {
  double from;
  bool is_ours;
} tsl_blas_share;
tsl_blas_route tsl_blas_route_by(tsl_blas_symbol *symbol,
                                 const tsl_blas_share shares[TSL_BLAS_PEER_TUNED + 1]);

/* Begins a call that is forwarded: when nobody listens it costs nothing. */
static inline tsl_blas_function *tsl_blas_forward(tsl_blas_call *call) {
  if (tsl_blas_logging)
    tsl_blas_log_begin(call);
  return tsl_blas_host_function(call->symbol);
}
/* Whom a call that has begun is forwarded to, where tesela was asked and cannot: NULL leaves it to the loops.
 */
static inline tsl_blas_function *tsl_blas_otherwise(tsl_blas_call *call, tsl_blas_route route) {
  return route == TSL_BLAS_TESELA ? tsl_blas_host_function(call->symbol) : NULL;
}

#endif
