/* The library that would have served a symbol without this one. Behind a library in LD_PRELOAD that is RTLD_NEXT. But
 * what a program has opened for itself (Python its modules, and they their BLAS) is in no list that RTLD_NEXT walks:
 * then every loaded library is asked. */
#include "blas/blas.h"

#include "base/library.h"
#include "base/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Libraries whose products are plain loops, by a part of their path. */
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

/* Whether an address is in this library, or in another copy of it. */
static bool is_ours(void *address) {
  Dl_info mark, theirs;
  if (!dladdr(address, &theirs) || !theirs.dli_fname)
    return false;
  void *library = dlopen(theirs.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return false;
  const void *found = dlsym(library, "tesela_blas_copy");
  const bool ours = found && dladdr(found, &mark) && mark.dli_fbase == theirs.dli_fbase;
  dlclose(library);
  return ours;
}

/* Names of all loaded libraries, a line each: they are opened after the walk, which holds the linker's lock. */
static int add_name(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  if (info->dlpi_name && *info->dlpi_name)
    tsl_text_add(argument, "%s\n", info->dlpi_name);
  return 0;
}

/* A library that serves us stays open. */
static void *find_in(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return NULL;
  void *address = dlsym(handle, name);
  if (address && !is_ours(address))
    return address;
  dlclose(handle);
  return NULL;
}

static void *find_anywhere(const char *name) {
  tsl_text names = {0};
  void *address = NULL;
  dl_iterate_phdr(add_name, &names);
  char *all = tsl_text_take(&names), *rest = all;
  for (char *line; rest && !address && (line = strsep(&rest, "\n")) != NULL;)
    address = *line ? find_in(line, name) : NULL;
  free(all);
  return address;
}

static tsl_blas_function *search(const char *name, bool program_first) {
  void *address = dlsym(program_first ? RTLD_DEFAULT : RTLD_NEXT, name);
  if (!address || is_ours(address))
    address = find_anywhere(name);
  return as_function(address);
}

tsl_blas_function *tsl_blas_find(tsl_blas_late *late, const char *name, bool program_first) {
  tsl_blas_function *function = atomic_load_explicit(&late->found, memory_order_acquire);
  if (function)
    return function;
  const unsigned tries = atomic_fetch_add_explicit(&late->tries, 1, memory_order_relaxed);
  if ((tries & (tries + 1)) != 0)
    return NULL;
  function = search(name, program_first);
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

tsl_blas_peer tsl_blas_next_peer(tsl_blas_symbol *symbol) {
  int peer = atomic_load_explicit(&symbol->peer, memory_order_relaxed);
  if (peer != TSL_BLAS_PEER_NONE)
    return (tsl_blas_peer)peer;
  tsl_blas_function *next = tsl_blas_next(symbol);
  if (!next)
    return TSL_BLAS_PEER_NONE;
  peer = peer_of(next);
  atomic_store_explicit(&symbol->peer, peer, memory_order_relaxed);
  return (tsl_blas_peer)peer;
}
