/* Search for the library that would serve a symbol without this one: RTLD_NEXT in LD_PRELOAD, else every
 * loaded library (core/symbol_search.h). */
#include "scalapack/next.h"

#include "core/cancel.h"
#include "core/symbol_search.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Marker by which copies of this library detect each other: they would forward to each other forever. */
TESELA_API extern const char tesela_scalapack_copy[];
const char tesela_scalapack_copy[] = "tesela";

/* Returns false for NULL and for functions of this library or of a copy of it. */
static bool is_foreign_function(void *address) {
  return address && !tsl_loaded_in_library_of(address, "tesela_scalapack_copy");
}

static tsl_loaded_answer next_accept(void *address, void *state) {
  (void)state;
  return is_foreign_function(address) ? TSL_LOADED_TAKE : TSL_LOADED_NO;
}

/* Returns the function, cached once found; NULL: none. `program_first`: else only in later libraries. */
static tsl_scalapack_function *find_next_function(tsl_scalapack_lookup *lookup, const char *name,
                                                  bool program_first) {
  tsl_scalapack_function *function = atomic_load_explicit(&lookup->found, memory_order_acquire);
  if (function)
    return function;
  TSL_NOT_CANCELLED;
  void *address = dlsym(program_first ? RTLD_DEFAULT : RTLD_NEXT, name);
  if (!is_foreign_function(address))
    address = tsl_loaded_find_symbol(name, next_accept, NULL);
  memcpy(&function, &address, sizeof function);
  atomic_store_explicit(&lookup->found, function, memory_order_release);
  return function;
}

tsl_scalapack_function *tsl_scalapack_next(tsl_scalapack_symbol *symbol) {
  return find_next_function(&symbol->next, symbol->name, false);
}

tsl_scalapack_function *tsl_scalapack_find(tsl_scalapack_lookup *lookup, const char *name) {
  return find_next_function(lookup, name, true);
}
