/* Search of all loaded libraries; dlsym(RTLD_NEXT) omits libraries that a program opened itself. */
#ifndef TSL_CORE_SYMBOL_SEARCH_H
#define TSL_CORE_SYMBOL_SEARCH_H

#include <stdbool.h>

typedef enum tsl_loaded_answer {
  TSL_LOADED_NO,
  TSL_LOADED_KEEP, /* not wanted, but its library must stay open */
  TSL_LOADED_TAKE
} tsl_loaded_answer;
typedef tsl_loaded_answer tsl_loaded_ask(void *address, void *state);

/* Calls `ask` with the address of `name` in each loaded library and its dependencies until it returns TAKE.
 * Returns that address, whose library stays open; NULL: none. */
void *tsl_loaded_find_symbol(const char *name, tsl_loaded_ask *ask, void *state);

/* Returns the address of `name` in the library that contains `address`; NULL: it has none. */
void *tsl_loaded_in_library_of(void *address, const char *name);

/* Returns true if the library of `address` was loaded before the library of `other`. */
bool tsl_loaded_is_earlier(const void *address, const void *other);

#endif
