#ifndef TSL_BLAS_BLAS_VECTORS_H
#define TSL_BLAS_BLAS_VECTORS_H

#include "blas/blas_route.h"
#include "vector/vector_number.h"

/* Returns true if tesela computes a call of `elements` elements without further checks. */
static inline bool tsl_blas_is_own(const tsl_blas_symbol *symbol, double elements) {
  return elements < atomic_load_explicit(&symbol->own_below, memory_order_acquire) &&
         elements >= atomic_load_explicit(&symbol->own_from, memory_order_relaxed) && !tsl_blas_is_nested();
}

/* Decides the route, and begins logging the call. */
tsl_blas_function *tsl_blas_ask_vectors(tsl_blas_call *call, tsl_blas_class class, double elements);

/* Returns the host BLAS function; NULL: tesela computes until tsl_blas_vectors_done(). Needs call->shape. */
static inline tsl_blas_function *tsl_blas_begin_vectors(tsl_blas_call *call, tsl_blas_class class,
                                                        double elements) {
  return tsl_blas_is_own(call->symbol, elements) ? NULL : tsl_blas_ask_vectors(call, class, elements);
}
static inline void tsl_blas_vectors_done(tsl_blas_call *call) {
  if (call->began)
    tsl_blas_end(call, "tesela");
}

/* Returns the threads for operands of `bytes` bytes. */
tsl_team tsl_blas_team(double bytes);

static inline tsl_vector_number tsl_blas_real_number(double value) {
  return (tsl_vector_number){value, 0};
}

#endif
