/* Functions of the libraries that a process has loaded. What a program opens for itself (Python its modules,
 * and they their libraries) is in no list that dlsym(RTLD_NEXT) or dlsym(RTLD_DEFAULT) walks: here every
 * library is asked. */
#ifndef TSL_BASE_SYMBOL_SEARCH_H
#define TSL_BASE_SYMBOL_SEARCH_H

#include <stdbool.h>

typedef enum tsl_loaded_answer {
  TSL_LOADED_NO,
  TSL_LOADED_KEEP, /* no, but its library stays open: the address will be used */
  TSL_LOADED_TAKE
} tsl_loaded_answer;
typedef tsl_loaded_answer tsl_loaded_ask(void *address, void *state);

/* Shows `ask` what each loaded library has, or those that it needs, under a name, until one is taken, whose
 * library stays open. NULL: none. */
void *tsl_loaded_find(const char *name, tsl_loaded_ask *ask, void *state);

/* What the library that an address is in has itself under a name; NULL: nothing. */
void *tsl_loaded_beside(void *address, const char *name);

/* Whether the library that an address is in was loaded before another's. */
bool tsl_loaded_before(const void *address, const void *other);

#endif
