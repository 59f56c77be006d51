/* Who computes Level 3 beside gemm. */
#include "blas/level3.h"
#include "blas/next.h"
#include "blas/standing_level3.h"

enum { PEERS = TSL_BLAS_PEER_TUNED + 1 };

/* Multiply-adds from which on a routine is tesela's: always faster than plain loops, but where a call takes less time than
 * it does to look at it. Beside a tuned library they are whose they are sooner done by. */
static const double plain_from = 8.0 * 8 * 8;

/* Calls with less work are not worth a measurement. */
static const double asked_from = 32.0 * 32 * 32;

/* Threads that find it out at the same time find the same, nearly. */
static double ours_from(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  double from = atomic_load_explicit(&symbol->ours_from, memory_order_relaxed);
  if (from == 0 && volume < asked_from)
    return volume + 1;
  if (from == 0) {
    from = tsl_blas_standing_of_level3(routine, symbol, tsl_blas_next(symbol));
    atomic_store_explicit(&symbol->ours_from, from, memory_order_relaxed);
  }
  return from;
}

tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  double from[PEERS] = {[TSL_BLAS_PEER_PLAIN] = plain_from};
  if (tsl_blas_may_measure(symbol))
    from[TSL_BLAS_PEER_TUNED] = ours_from(routine, symbol, volume);
  return tsl_blas_route_from(symbol, from, volume);
}
