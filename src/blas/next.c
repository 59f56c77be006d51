/* The library that would have served a symbol without this one. Behind a library in LD_PRELOAD that is RTLD_NEXT. But
 * what a program has opened for itself (Python its modules, and they their BLAS) is in no list that RTLD_NEXT walks:
 * then every loaded library is asked. */
#include "blas/next.h"

#include "base/cancel.h"
#include "base/library.h"
#include "base/text.h"
#include "blas/follow.h"
#include "blas/width.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Libraries whose products are plain loops, by a piece of their path. */
static const char *const plain_libraries[] = {"/blas/libblas", "/lib/libblas.so", "/lib64/libblas.so",
                                              "libblas.so.3.", "libblas64.so.3.", "libcblas.so",
                                              "libgslcblas.so"};

static tsl_blas_function *as_function(void *address) {
  tsl_blas_function *function;
  memcpy(&function, &address, sizeof function);
  return function;
}

/* By this name another copy of this library knows one: two that passed a call to each other would never end. */
TESELA_API extern const char tesela_blas_copy[];
const char tesela_blas_copy[] = "tesela";

/* What the library that an address is in has itself under a name; NULL: nothing. */
static void *beside(void *address, const char *name) {
  Dl_info of, found;
  if (!dladdr(address, &of) || !of.dli_fname)
    return NULL;
  void *library = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return NULL;
  void *there = dlsym(library, name);
  if (there && (!dladdr(there, &found) || found.dli_fbase != of.dli_fbase))
    there = NULL; /* it is a library's that this one needs */
  dlclose(library);
  return there;
}

/* Whether an address is in this library, or in another copy of it. */
static bool is_ours(void *address) {
  return beside(address, "tesela_blas_copy") != NULL;
}

/* --- what is believed --- */

/* A search under way: of any function where there is no symbol. */
typedef struct quest {
  const char *name;
  const tsl_blas_symbol *symbol;
  void *wide; /* the first that would have served but for its integers, which have 64 bits */
} quest;

/* Libraries have stray names (NumPy's OpenBLAS exports cblas_dgemm_batch_strided beside scipy_cblas_dgemm64_, with 64-bit
 * integers): one without its family tells nothing. */
static bool serves(void *address, quest *of) {
  if (!address || is_ours(address))
    return false;
  if (!of->symbol)
    return true;
  if (!beside(address, of->symbol->family))
    return false;
  void *probe = beside(address, of->symbol->probe);
  const int bits = probe ? tsl_blas_width_of(as_function(probe), of->symbol->cblas) : 0;
  if (bits == 0 || bits == of->symbol->bits)
    return true;
  if (bits == 64 && !of->wide)
    of->wide = address;
  return false;
}

/* Names of all loaded libraries, a line each: they are opened after the walk, which holds the linker's lock. */
static int add_name(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  if (info->dlpi_name && *info->dlpi_name)
    tsl_text_add(argument, "%s\n", info->dlpi_name);
  return 0;
}

/* A library that serves us stays open. */
static void *find_in(const char *library, quest *of) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return NULL;
  void *address = dlsym(handle, of->name);
  if (serves(address, of))
    return address;
  if (!address || address != of->wide)
    dlclose(handle);
  return NULL;
}

static void *find_anywhere(quest *of) {
  tsl_text names = {0};
  void *address = NULL;
  dl_iterate_phdr(add_name, &names);
  char *all = tsl_text_take(&names), *left = all;
  for (char *line; left && !address && (line = strsep(&left, "\n")) != NULL;)
    address = *line ? find_in(line, of) : NULL;
  free(all);
  return address;
}

static void *search(quest *of, bool program_first) {
  TSL_NOT_CANCELLED;
  void *address = dlsym(program_first ? RTLD_DEFAULT : RTLD_NEXT, of->name);
  if (serves(address, of))
    return address;
  /* What the program would have called: nobody else is asked. */
  return of->wide ? NULL : find_anywhere(of);
}

/* Whether it is time to search (again). */
static bool is_due(tsl_blas_late *late) {
  const unsigned tries = atomic_fetch_add_explicit(&late->tries, 1, memory_order_relaxed);
  return (tries & (tries + 1)) == 0;
}

tsl_blas_function *tsl_blas_find(tsl_blas_late *late, const char *name, bool program_first) {
  tsl_blas_function *function = atomic_load_explicit(&late->found, memory_order_acquire);
  if (function || !is_due(late))
    return function;
  function = as_function(search(&(quest){.name = name}, program_first));
  if (function)
    atomic_store_explicit(&late->found, function, memory_order_release);
  return function;
}

static tsl_blas_peer peer_of(tsl_blas_function *function) {
  char path[PATH_MAX];
  tsl_library_file(function, path, sizeof path);
  for (size_t i = 0; i < sizeof plain_libraries / sizeof *plain_libraries; i++)
    if (strstr(path, plain_libraries[i]))
      return TSL_BLAS_PEER_PLAIN;
  return TSL_BLAS_PEER_TUNED;
}

tsl_blas_function *tsl_blas_next(tsl_blas_symbol *symbol) {
  tsl_blas_function *function = atomic_load_explicit(&symbol->next.found, memory_order_acquire);
  if (function || !is_due(&symbol->next))
    return function;
  quest of = {.name = symbol->name, .symbol = symbol};
  void *address = search(&of, false);
  const bool wide = !address && of.wide;
  function = as_function(wide ? of.wide : address);
  if (!function)
    return NULL;
  tsl_blas_follow(function);
  atomic_store_explicit(&symbol->peer, (int)(wide ? TSL_BLAS_PEER_WIDE : peer_of(function)),
                        memory_order_relaxed);
  atomic_store_explicit(&symbol->next.found, function, memory_order_release);
  return function;
}

tsl_blas_peer tsl_blas_next_peer(tsl_blas_symbol *symbol) {
  return tsl_blas_next(symbol) ? (tsl_blas_peer)atomic_load_explicit(&symbol->peer, memory_order_relaxed)
                               : TSL_BLAS_PEER_NONE;
}
