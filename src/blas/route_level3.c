/* Who computes Level 3 beside gemm. */
#include "blas/level3.h"

enum { PEERS = TSL_BLAS_PEER_TUNED + 1 };

/* Multiply-adds from which on a routine is tesela's: always faster than plain loops, but where a call takes less time than
 * it does to look at it. A tuned library has all of them. */
static const double plain_from = 8.0 * 8 * 8;

tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  (void)routine;
  const double from[PEERS] = {[TSL_BLAS_PEER_PLAIN] = plain_from};
  return tsl_blas_route_from(symbol, from, volume);
}
