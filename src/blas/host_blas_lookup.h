#ifndef TSL_BLAS_HOST_BLAS_LOOKUP_H
#define TSL_BLAS_HOST_BLAS_LOOKUP_H

#include "blas/blas_symbol.h"

/* Returns the host BLAS function that this symbol interposes; NULL: none is trusted so far. */
tsl_blas_function *tsl_blas_host_function(tsl_blas_symbol *symbol);
/* Searches the host BLAS if needed and returns its kind. */
tsl_blas_peer tsl_host_blas_kind(tsl_blas_symbol *symbol);

/* Returns true if all calls of a symbol are forwarded. Searches the host BLAS once. */
static inline bool tsl_blas_is_wide(tsl_blas_symbol *symbol) {
  if (!atomic_load_explicit(&symbol->asked, memory_order_relaxed)) {
    atomic_store_explicit(&symbol->asked, true, memory_order_relaxed);
    (void)tsl_host_blas_kind(symbol);
  }
  return atomic_load_explicit(&symbol->peer, memory_order_relaxed) == TSL_BLAS_PEER_WIDE;
}

#endif
