/* Search for the library that would serve a symbol without this one: RTLD_NEXT in LD_PRELOAD, else every
 * loaded library (core/symbol_search.h). */
#include "blas/host_blas_lookup.h"

#include "blas/blas_thread_limit.h"
#include "blas/int_width.h"
#include "core/cancel.h"
#include "core/library.h"
#include "core/symbol_search.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* Parts of paths of libraries with plain loops. */
static const char *const plain_libraries[] = {"/blas/libblas", "/lib/libblas.so", "/lib64/libblas.so",
                                              "libblas.so.3.", "libblas64.so.3.", "libcblas.so",
                                              "libgslcblas.so"};
static tsl_blas_function *as_function(void *address) {
  tsl_blas_function *function;
  memcpy(&function, &address, sizeof function);
  return function;
}

/* Marker by which copies of this library detect each other: they would forward to each other forever. */
TESELA_API extern const char tesela_blas_copy[];
const char tesela_blas_copy[] = "tesela";

static bool is_ours(void *address) {
  return tsl_loaded_in_library_of(address, "tesela_blas_copy") != NULL;
}

/* Libraries that forward to a BLAS of the user's choice (FlexiBLAS, libblastrampoline), by a unique name. A
 * switch loaded before us may have chosen us, and would forward each call back. */
static const char *const switches[] = {"flexiblas_current_backend", "lbt_forward"};

static bool may_forward_to_us(void *address) {
  bool is_switch = false;
  for (size_t i = 0; i < sizeof switches / sizeof *switches && !is_switch; i++)
    is_switch = tsl_loaded_in_library_of(address, switches[i]) != NULL;
  return is_switch && tsl_loaded_is_earlier(address, tesela_blas_copy);
}

/* RTLD_DEFAULT would search this library first (-Bsymbolic). */
void *tsl_blas_program_has(const char *name) {
  void *program = dlopen(NULL, RTLD_LAZY);
  void *address = program ? dlsym(program, name) : NULL;
  if (program)
    dlclose(program);
  return address;
}

/* Returns true for a library that receives calls before us (a tracer in LD_PRELOAD) and would return them. */
static bool receives_calls_first(void *address, const char *name) {
  return tsl_loaded_is_earlier(address, tesela_blas_copy) && tsl_blas_program_has(name) == address;
}

/* symbol NULL: any function. */
typedef struct symbol_search {
  const char *name;
  const tsl_blas_symbol *symbol;
  void *wide; /* first match whose integers have 64 bits */
} symbol_search;

/* Returns true if an address may serve. The family must be there, too, since some libraries export stray
 * names with 64-bit integers, such as NumPy's OpenBLAS. */
static bool host_blas_lookup_serves(void *address, symbol_search *search) {
  if (!address || is_ours(address) || may_forward_to_us(address))
    return false;
  if (!search->symbol)
    return true;
  if (receives_calls_first(address, search->name) ||
      !tsl_loaded_in_library_of(address, search->symbol->family))
    return false;
  void *probe = tsl_loaded_in_library_of(address, search->symbol->probe);
  const int bits = probe ? tsl_blas_width_of(as_function(probe), search->symbol->cblas) : 0;
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

static void *host_blas_lookup_search(symbol_search *search, bool program_first) {
  TSL_NOT_CANCELLED;
  void *address = program_first ? tsl_blas_program_has(search->name) : dlsym(RTLD_NEXT, search->name);
  if (host_blas_lookup_serves(address, search))
    return address;
  /* The program would have called it, so the search ends. */
  return search->wide ? NULL : tsl_loaded_find_symbol(search->name, host_blas_lookup_accept, search);
}

/* Returns true if it is time to search again. Not atomic: a lost count is harmless, and an atomic addition
 * takes 20 clocks in each call without a host BLAS. */
static bool is_due(tsl_blas_lazy_symbol *late) {
  const unsigned tries = atomic_load_explicit(&late->tries, memory_order_relaxed);
  atomic_store_explicit(&late->tries, tries + 1, memory_order_relaxed);
  return (tries & (tries + 1)) == 0;
}

tsl_blas_function *tsl_blas_find(tsl_blas_lazy_symbol *late, const char *name, bool program_first) {
  tsl_blas_function *function = atomic_load_explicit(&late->found, memory_order_acquire);
  if (function || !is_due(late))
    return function;
  function = as_function(host_blas_lookup_search(&(symbol_search){.name = name}, program_first));
  if (function)
    atomic_store_explicit(&late->found, function, memory_order_release);
  return function;
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
  if (function || !is_due(&symbol->next))
    return function;
  symbol_search search = {.name = symbol->name, .symbol = symbol};
  void *address = host_blas_lookup_search(&search, false);
  const bool wide = !address && search.wide;
  function = as_function(wide ? search.wide : address);
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
