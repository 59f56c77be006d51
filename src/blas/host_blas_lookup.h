/* The program's own BLAS. */
#ifndef TSL_BLAS_HOST_BLAS_LOOKUP_H
#define TSL_BLAS_HOST_BLAS_LOOKUP_H

#include "blas/blas_symbol.h"

/* Any function that the program has, or that stands behind this library; the one that a symbol stands in
 * front of, NULL where there is none that is believed; and what that one is. */
tsl_blas_function *tsl_blas_find(tsl_blas_lazy_symbol *late, const char *name, bool program_first);
tsl_blas_function *tsl_blas_host_function(tsl_blas_symbol *symbol);
tsl_blas_peer tsl_host_blas_kind(tsl_blas_symbol *symbol);

/* What the program itself, else the first of the libraries that it was started with, has by this name; NULL:
 * nobody. */
void *tsl_blas_program_has(const char *name);

/* Whether all calls of a symbol pass; looked for once. */
static inline bool tsl_blas_is_wide(tsl_blas_symbol *symbol) {
  if (!atomic_load_explicit(&symbol->asked, memory_order_relaxed)) {
    atomic_store_explicit(&symbol->asked, true, memory_order_relaxed);
    (void)tsl_host_blas_kind(symbol);
  }
  return atomic_load_explicit(&symbol->peer, memory_order_relaxed) == TSL_BLAS_PEER_WIDE;
}

#endif
