/* Who computes what the room vector has, in few nanoseconds; and with how many threads. */
#ifndef TSL_BLAS_VECTORS_H
#define TSL_BLAS_VECTORS_H

#include "blas/route.h"
#include "vector/vector.h"

/* The long way, which also begins what is listened to. */
tsl_blas_function *tsl_blas_ask_vectors(tsl_blas_call *call, tsl_blas_class class, double elements);

/* Whom a call is forwarded to, or NULL: it is computed here, and ends by tsl_blas_vectors_done(). The call's shape is said. */
static inline tsl_blas_function *tsl_blas_begin_vectors(tsl_blas_call *call, tsl_blas_class class,
                                                        double elements) {
  tsl_blas_symbol *of = call->symbol;
  if (elements < atomic_load_explicit(&of->own_below, memory_order_acquire) &&
      elements >= atomic_load_explicit(&of->own_from, memory_order_relaxed) && !tsl_blas_is_nested())
    return NULL;
  return tsl_blas_ask_vectors(call, class, elements);
}
static inline void tsl_blas_vectors_done(tsl_blas_call *call) {
  if (call->began)
    tsl_blas_end(call, "tesela");
}

/* The threads for operands of so many bytes. */
tsl_team tsl_blas_team(double bytes);

/* A scalar of a type where it lies. */
static inline tsl_number tsl_blas_number(tesela_type type, const void *at) {
  switch (type) {
  case TESELA_F32:
    return (tsl_number){(double)*(const float *)at, 0};
  case TESELA_F64:
    return (tsl_number){*(const double *)at, 0};
  case TESELA_C64:
    return (tsl_number){(double)((const float *)at)[0], (double)((const float *)at)[1]};
  default:
    return (tsl_number){((const double *)at)[0], ((const double *)at)[1]};
  }
}

#endif
