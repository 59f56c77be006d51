#include "blas/blas_vectors.h"

#include "blas/blas_threads.h"
#include "core/clock.h"

tsl_blas_function *tsl_blas_ask_vectors(tsl_blas_call *call, tsl_blas_class class, double elements) {
  if (tsl_blas_route_class(class, call->symbol, elements) == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  if (tsl_blas_logging)
    tsl_blas_log_begin(call);
  return NULL;
}

/* Returns true if a woken thread is still awake at the next call. Races only disturb an estimate. */
static bool calls_are_dense(void) {
  static const double closely = 30e-6;
  enum { MANY = 8 };
  static _Atomic double last;
  static atomic_int in_a_row;
  const double now = tsl_clock();
  const double before = atomic_exchange_explicit(&last, now, memory_order_relaxed);
  const int seen = now - before < closely ? atomic_load_explicit(&in_a_row, memory_order_relaxed) : 0;
  atomic_store_explicit(&in_a_row, seen < MANY ? seen + 1 : seen, memory_order_relaxed);
  return seen >= MANY;
}

tsl_team tsl_blas_team(double bytes) {
  if (bytes < TSL_VECTOR_AWAKE_FROM)
    return (tsl_team){0};
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
  const bool is_worth_it = bytes >= TSL_VECTOR_TEAM_FROM || (team.threads > 1 && calls_are_dense());
  return is_worth_it ? team : (tsl_team){0};
}
