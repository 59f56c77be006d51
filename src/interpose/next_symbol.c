/* Search for the library that would serve a symbol without this one: RTLD_NEXT in LD_PRELOAD, else every
 * loaded library (core/symbol_search.h). */
#include "interpose/next_symbol.h"

#include "core/cancel.h"
#include "interpose/entry_lists.h"

#include <dlfcn.h>
#include <string.h>

/* Exported variable, named by the front end's build, by which copies of a front end detect each other: they
 * would forward to each other forever. */
TESELA_API extern const char TSL_INTERPOSE_COPY[];
const char TSL_INTERPOSE_COPY[] = "tesela";

tsl_next_function *tsl_interpose_function(void *address) {
  tsl_next_function *function;
  memcpy(&function, &address, sizeof function);
  return function;
}

bool tsl_interpose_is_earlier(const void *address) {
  return tsl_loaded_is_earlier(address, TSL_INTERPOSE_COPY);
}

/* Libraries that forward to a BLAS of the user's choice (FlexiBLAS, libblastrampoline), by a unique name. A
 * switch loaded before us may have chosen us, and would forward each call back. */
static const char *const switches[] = {"flexiblas_current_backend", "lbt_forward"};

static bool may_forward_to_us(void *address) {
  bool is_switch = false;
  for (size_t i = 0; i < sizeof switches / sizeof *switches && !is_switch; i++)
    is_switch = tsl_loaded_in_library_of(address, switches[i]) != NULL;
  return is_switch && tsl_interpose_is_earlier(address);
}

bool tsl_interpose_is_foreign(void *address) {
  return address && !tsl_loaded_in_library_of(address, STRING(TSL_INTERPOSE_COPY)) &&
         !may_forward_to_us(address);
}

/* RTLD_DEFAULT would search this library first (-Bsymbolic). */
void *tsl_interpose_program_has(const char *name) {
  void *program = dlopen(NULL, RTLD_LAZY);
  void *address = program ? dlsym(program, name) : NULL;
  if (program)
    dlclose(program);
  return address;
}

void *tsl_interpose_search(const char *name, bool program_first, tsl_loaded_ask *ask, void *state) {
  TSL_NOT_CANCELLED;
  void *address = program_first ? tsl_interpose_program_has(name) : dlsym(RTLD_NEXT, name);
  const tsl_loaded_answer answer = address ? ask(address, state) : TSL_LOADED_NO;
  /* The program would have called an address to keep, so the search ends. */
  return answer == TSL_LOADED_TAKE   ? address
         : answer == TSL_LOADED_KEEP ? NULL
                                     : tsl_loaded_find_symbol(name, ask, state);
}

/* Not atomic: a lost count is harmless, and an atomic addition takes 20 clocks in each call without a host
 * library. */
bool tsl_interpose_is_due(tsl_lazy_symbol *late) {
  if (atomic_load_explicit(&late->found, memory_order_relaxed))
    return true;
  const unsigned tries = atomic_load_explicit(&late->tries, memory_order_relaxed);
  atomic_store_explicit(&late->tries, tries + 1, memory_order_relaxed);
  return (tries & (tries + 1)) == 0;
}

static tsl_loaded_answer take_foreign(void *address, void *state) {
  (void)state;
  return tsl_interpose_is_foreign(address) ? TSL_LOADED_TAKE : TSL_LOADED_NO;
}

static tsl_next_function *find_foreign(tsl_lazy_symbol *late, const char *name, bool program_first) {
  tsl_next_function *function = atomic_load_explicit(&late->found, memory_order_acquire);
  if (function)
    return function;
  function = tsl_interpose_function(tsl_interpose_search(name, program_first, take_foreign, NULL));
  if (function)
    atomic_store_explicit(&late->found, function, memory_order_release);
  return function;
}

tsl_next_function *tsl_interpose_next(tsl_lazy_symbol *late, const char *name) {
  return find_foreign(late, name, false);
}

tsl_next_function *tsl_interpose_program(tsl_lazy_symbol *late, const char *name) {
  return find_foreign(late, name, true);
}
