#ifndef TSL_BLAS_BLAS_ROUTE_H
#define TSL_BLAS_BLAS_ROUTE_H

#include "blas/blas_arguments.h"
#include "blas/call_log.h"
#include "blas/host_blas_lookup.h"

#include <stdatomic.h>

typedef enum tsl_blas_route { TSL_BLAS_TESELA, TSL_BLAS_OTHER, TSL_BLAS_LOOPS } tsl_blas_route;

/* Classes of vector routines. */
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

extern atomic_bool tsl_blas_owns_small;
/* Returns true if small products are tesela's. */
static inline bool tsl_blas_takes_small(void) {
  return atomic_load_explicit(&tsl_blas_owns_small, memory_order_relaxed);
}

tsl_blas_route tsl_blas_route_gemm(tsl_blas_symbol *symbol, int64_t m, int64_t n, int64_t k);
/* Returns true if TESELA_DEVICE=auto may move a product that its size makes the host BLAS's on the CPU. */
bool tsl_blas_may_go_elsewhere(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Returns true if only the size decides about forwarding, not the time of the call. */
bool tsl_blas_is_always_forwarded(const tsl_blas_symbol *symbol);
/* Returns the route of a batch's products. tesela computes the small ones without a plan. */
tsl_blas_route tsl_blas_route_batch(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Returns the route of TSL_BLAS_DOT or TSL_BLAS_TRANSPOSE. */
tsl_blas_route tsl_blas_route_vector(int op, tsl_blas_symbol *symbol, double elements);

/* Returns the route for `elements` elements in the largest operand. TSL_BLAS_LOOPS also means tesela. */
tsl_blas_route tsl_blas_route_class(tsl_blas_class class, tsl_blas_symbol *symbol, double elements);
/* Returns true if TESELA_ACCURACY or TESELA_BITS is set. */
bool tsl_blas_asks_of_sums(void);
/* Returns the route of a call of Level 3 with `volume` multiply-adds. */
tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume);

/* Begins a call that is forwarded, with call logging, and returns the host BLAS function. */
static inline tsl_blas_function *tsl_blas_forward(tsl_blas_call *call) {
  if (tsl_blas_logging)
    tsl_blas_log_begin(call);
  return tsl_blas_host_function(call->symbol);
}
/* Returns the function to forward to after tesela failed; NULL: loops. */
static inline tsl_blas_function *tsl_blas_otherwise(tsl_blas_call *call, tsl_blas_route route) {
  return route == TSL_BLAS_TESELA ? tsl_blas_host_function(call->symbol) : NULL;
}

#endif
