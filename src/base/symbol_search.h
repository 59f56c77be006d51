/* Functions of all libraries that a process has loaded. Libraries that a program opens itself (Python's
 * modules and their dependencies) are not searched by dlsym(RTLD_NEXT) or dlsym(RTLD_DEFAULT). These
 * functions search every library. */
#ifndef TSL_BASE_SYMBOL_SEARCH_H
#define TSL_BASE_SYMBOL_SEARCH_H

#include <stdbool.h>

typedef enum tsl_loaded_answer {
  TSL_LOADED_NO,
  TSL_LOADED_KEEP, /* not wanted, but its library must stay open, since the address will be used */
  TSL_LOADED_TAKE
} tsl_loaded_answer;
typedef tsl_loaded_answer tsl_loaded_ask(void *address, void *state);

/* Calls `ask` with the address of `name` in each loaded library and its dependencies, until the answer
 * is TAKE. Returns that address, whose library stays open; NULL: none. */
void *tsl_loaded_find(const char *name, tsl_loaded_ask *ask, void *state);

/* Returns the address of `name` in the library that contains `address`; NULL: it has none. */
void *tsl_loaded_beside(void *address, const char *name);

/* Returns true if the library that contains `address` was loaded before the library that contains `other`. */
bool tsl_loaded_before(const void *address, const void *other);

#endif
