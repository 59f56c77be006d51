#include "blas/blas_level3.h"
#include "blas/host_blas_lookup.h"
#include "blas/peer_rating_level3.h"

#include "core/clock.h"
#include "dispatch/crossovers.h"

#include <time.h>

enum { PEERS = TSL_BLAS_PEER_TUNED + 1 };

/* true while a thread measures and others wait, so that they do not disturb it. After `wait_most` seconds
 * they stop waiting, and the host BLAS has the routine for good. Otherwise a library whose threads call our
 * names would wait for itself, and a child of a fork for a missing thread. */
static atomic_bool is_measuring;
static const double wait_most = 1;

static unsigned get_standing(const tsl_blas_symbol *symbol) {
  return atomic_load_explicit(&symbol->standing, memory_order_relaxed);
}
/* Stores the result of a measurement, unless one is stored already. */
static void store_standing(tsl_blas_symbol *symbol, unsigned standing) {
  unsigned unknown = 0;
  atomic_compare_exchange_strong(&symbol->standing, &unknown, standing);
}

/* Waits for other measurements. Returns true if this thread shall measure; false: the result is stored. */
static bool begin_measurement(tsl_blas_symbol *symbol) {
  static const struct timespec pause = {.tv_nsec = 200 * 1000};
  const double start = tsl_clock();
  while (atomic_exchange_explicit(&is_measuring, true, memory_order_acquire)) {
    if (tsl_clock() - start > wait_most)
      store_standing(symbol, TSL_BLAS_STANDING_NOWHERE);
    if (get_standing(symbol) != 0)
      return false;
    nanosleep(&pause, NULL);
  }
  return true;
}

static tsl_blas_share route_level3_share_of(tsl_blas_routine routine, tsl_blas_symbol *symbol,
                                            double volume) {
  if (get_standing(symbol) == 0 && volume < TSL_BLAS_STANDING_FROM)
    return (tsl_blas_share){.from = TSL_BLAS_STANDING_FROM};
  if (get_standing(symbol) == 0 && begin_measurement(symbol)) {
    if (get_standing(symbol) == 0)
      store_standing(symbol, tsl_blas_standing_of_level3(routine, symbol, tsl_blas_host_function(symbol)));
    atomic_store_explicit(&is_measuring, false, memory_order_release);
  }
  return tsl_blas_standing_share(get_standing(symbol), symbol->type, volume);
}

tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  const double plain_from = (double)tsl_crossovers.peer_plain_level3;
  tsl_blas_share shares[PEERS] = {[TSL_BLAS_PEER_PLAIN] = {plain_from, volume >= plain_from}};
  if (tsl_blas_may_measure(symbol))
    shares[TSL_BLAS_PEER_TUNED] = route_level3_share_of(routine, symbol, volume);
  return tsl_blas_route_by(symbol, shares);
}
