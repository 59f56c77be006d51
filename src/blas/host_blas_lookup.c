/* Which library is trusted as the host BLAS (interpose/next_symbol.h searches). */
#include "blas/host_blas_lookup.h"

#include "blas/blas_thread_limit.h"
#include "blas/int_width.h"
#include "core/library.h"

#include <limits.h>
#include <string.h>

/* Parts of paths of libraries with plain loops. */
static const char *const plain_libraries[] = {"/blas/libblas", "/lib/libblas.so", "/lib64/libblas.so",
                                              "libblas.so.3.", "libblas64.so.3.", "libcblas.so",
                                              "libgslcblas.so"};

/* Returns true for a library that receives calls before us (a tracer in LD_PRELOAD) and would return them. */
static bool receives_calls_first(void *address, const char *name) {
  return tsl_interpose_is_earlier(address) && tsl_interpose_program_has(name) == address;
}

typedef struct symbol_search {
  const tsl_blas_symbol *symbol;
  void *wide; /* first match whose integers have 64 bits */
} symbol_search;

/* Returns true if an address may serve. The family must be there, too, since some libraries export stray
 * names with 64-bit integers, such as NumPy's OpenBLAS. */
static bool host_blas_lookup_serves(void *address, symbol_search *search) {
  if (!tsl_interpose_is_foreign(address) || receives_calls_first(address, search->symbol->name) ||
      !tsl_loaded_in_library_of(address, search->symbol->family))
    return false;
  void *probe = tsl_loaded_in_library_of(address, search->symbol->probe);
  const int bits = probe ? tsl_blas_width_of(tsl_interpose_function(probe), search->symbol->cblas) : 0;
  if (bits == 0 || bits == search->symbol->bits)
    return true;
  if (bits == 64 && !search->wide)
    search->wide = address;
  return false;
}

/* Keeps a library that serves us open. */
static tsl_loaded_answer host_blas_lookup_accept(void *address, void *argument) {
  symbol_search *search = argument;
  return host_blas_lookup_serves(address, search) ? TSL_LOADED_TAKE
         : address == search->wide                ? TSL_LOADED_KEEP
                                                  : TSL_LOADED_NO;
}

static tsl_blas_peer host_blas_lookup_peer_of(tsl_blas_function *function) {
  char path[PATH_MAX];
  tsl_library_file(function, path, sizeof path);
  for (size_t i = 0; i < sizeof plain_libraries / sizeof *plain_libraries; i++)
    if (strstr(path, plain_libraries[i]))
      return TSL_BLAS_PEER_PLAIN;
  return TSL_BLAS_PEER_UNKNOWN;
}

/* The first thread stores the kind; a measured rating is not overwritten. */
static void store_peer(tsl_blas_symbol *symbol, tsl_blas_peer peer) {
  int none = TSL_BLAS_PEER_NONE;
  atomic_compare_exchange_strong(&symbol->peer, &none, (int)peer);
}

tsl_blas_function *tsl_blas_host_function(tsl_blas_symbol *symbol) {
  tsl_blas_function *function = atomic_load_explicit(&symbol->next.found, memory_order_acquire);
  if (function || !tsl_interpose_is_due(&symbol->next))
    return function;
  symbol_search search = {.symbol = symbol};
  void *address = tsl_interpose_search(symbol->name, false, host_blas_lookup_accept, &search);
  const bool wide = !address && search.wide;
  function = tsl_interpose_function(wide ? search.wide : address);
  if (!function)
    return NULL;
  tsl_blas_follow(function);
  store_peer(symbol, wide ? TSL_BLAS_PEER_WIDE : host_blas_lookup_peer_of(function));
  atomic_store_explicit(&symbol->next.found, function, memory_order_release);
  return function;
}

tsl_blas_peer tsl_host_blas_kind(tsl_blas_symbol *symbol) {
  return tsl_blas_host_function(symbol)
             ? (tsl_blas_peer)atomic_load_explicit(&symbol->peer, memory_order_relaxed)
             : TSL_BLAS_PEER_NONE;
}
