#include "blas/vectors.h"

#include "blas/threads.h"

tsl_blas_function *tsl_blas_ask_vectors(tsl_blas_call *call, tsl_blas_class class, double elements) {
  if (tsl_blas_route_class(class, call->symbol, elements) == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  if (tsl_blas_listens)
    tsl_blas_hear(call);
  return NULL;
}

tsl_team tsl_blas_team(double bytes) {
  return bytes < TSL_VECTOR_TEAM_FROM ? (tsl_team){0} : tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
}
