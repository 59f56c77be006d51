#include "cublas/cublas_counts.h"

#include "core/env.h"
#include "core/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic(tsl_cublas_symbol *) newest; /* names with calls, linked by `older` */

void tsl_cublas_count(tsl_cublas_symbol *symbol, bool is_ours) {
  if (!tsl_log_may_want(TSL_LOG_CALLS) || !tsl_log_wants(TSL_LOG_CALLS))
    return;
  if (!atomic_exchange(&symbol->is_listed, true)) {
    tsl_cublas_symbol *older = atomic_load(&newest);
    do
      symbol->older = older;
    while (!atomic_compare_exchange_weak(&newest, &older, symbol));
  }
  atomic_fetch_add_explicit(&symbol->calls[is_ours], 1, memory_order_relaxed);
}

/* Returns true in the process that the tool started with --log, not in its children. */
static bool is_awaited(void) {
  return strtol(tsl_env_get(TSL_ENV_RUN), NULL, 10) == (long)getpid();
}

__attribute__((destructor)) static void print_counts(void) {
  if (!atomic_load(&newest) && is_awaited())
    fputs("tesela calls: no calls of cuBLAS's products\n", stderr);
  for (const tsl_cublas_symbol *symbol = atomic_load(&newest); symbol; symbol = symbol->older)
    fprintf(stderr, "tesela calls: %s: %lu by tesela, %lu by cuBLAS\n", symbol->name,
            atomic_load(&symbol->calls[true]), atomic_load(&symbol->calls[false]));
}
